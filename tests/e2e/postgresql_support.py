"""A PostgreSQL server for a test: a folder under /tmp, a Unix socket, no network."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAMS = max(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda each: int(each.parent.name))


class Postgresql:
    """One server. `kill` is a crash, `start` recovers from it."""

    def __init__(self, primary=None, inside=(), addresses=()):
        """`primary`: the new server is its standby. `inside`: a command that runs another in its own network, where
        the server listens at these addresses."""
        self.inside, self.addresses = list(inside), list(addresses)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-postgresql-"))
        self.data = self.folder / "data"
        self.process = None
        # PostgreSQL does not run as root.
        self.account = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.account = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        if primary:
            self.run("pg_basebackup", "-h", primary.folder, "-U", "owner", "-D", self.data, "-R", "--no-sync", "-c", "fast")
            self.start()
            return
        self.run("initdb", "--no-sync", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-D", self.data)
        if self.addresses:
            with (self.data / "pg_hba.conf").open("a") as rules:
                rules.write("host all all 10.0.0.0/8 trust\n")
        self.start()

    def run(self, program, *arguments):
        subprocess.run(["setpriv", *self.account, PROGRAMS / program, *arguments], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        self.process = subprocess.Popen(
            [*self.inside, "setpriv", *self.account, "--pdeathsig=QUIT", PROGRAMS / "postgres", "-D", self.data, "-k", self.folder,
             "-c", "listen_addresses=" + ",".join(self.addresses), "-c", "shared_buffers=16MB",
             "-c", "recovery_init_sync_method=syncfs"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        for _ in range(400):
            if subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder]).returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")

    def promote(self):
        self.run("pg_ctl", "promote", "-w", "-D", self.data)

    def kill(self):
        """Simulates a crash: its processes end at once, without cleanup."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)

    def processes(self):
        """Returns the server and its child processes."""
        own = {self.process.pid}
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                if int(stat.read_text().rpartition(")")[2].split()[1]) == self.process.pid:
                    own.add(int(stat.parent.name))
            except (OSError, IndexError):
                pass
        return own

    def freeze(self):
        """Suspends the server: connections stay open, and nothing is answered."""
        for _ in range(2):  # the second pass finds processes that the first has missed
            for pid in self.processes():
                try:
                    os.kill(pid, signal.SIGSTOP)
                except ProcessLookupError:
                    pass

    def thaw(self):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass  # it has ended

    def stop(self):
        if self.process.poll() is None:
            self.thaw()
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database="postgres"):
        return f"postgresql:///{database}?host={self.folder}&user=owner"

    def sql(self, statement, database="postgres"):
        said = subprocess.run([PROGRAMS / "psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url(database)],
                              check=True, capture_output=True, text=True)
        return said.stdout.strip()

    def dump(self, database):
        """Makes a logical copy, as a backup does."""
        return subprocess.run([PROGRAMS / "pg_dump", "-h", self.folder, "-U", "owner", database], check=True, capture_output=True).stdout

    def restore(self, dumped, database):
        self.database(database)
        subprocess.run([PROGRAMS / "psql", "-qX", "-v", "ON_ERROR_STOP=1", self.url(database)], input=dumped, check=True,
                       stdout=subprocess.DEVNULL)

    def database(self, name):
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)
