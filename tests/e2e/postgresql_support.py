"""A PostgreSQL server of a test's own: a folder under /tmp, a Unix socket, no network."""
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

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-postgresql-"))
        self.data = self.folder / "data"
        self.process = None
        # PostgreSQL does not run as root.
        self.account = []
        if os.geteuid() == 0:
            user = pwd.getpwnam("postgres")
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self.account = [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        self.run("initdb", "--no-sync", "-A", "trust", "-U", "owner", "-E", "UTF8", "--locale=C", "-D", self.data)
        self.start()

    def run(self, program, *arguments):
        subprocess.run(["setpriv", *self.account, PROGRAMS / program, *arguments], check=True,
                       stdout=subprocess.DEVNULL, cwd="/")

    def start(self):
        self.process = subprocess.Popen(
            ["setpriv", *self.account, "--pdeathsig=QUIT", PROGRAMS / "postgres", "-D", self.data, "-k", self.folder,
             "-c", "listen_addresses=", "-c", "shared_buffers=16MB"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        for _ in range(400):
            if subprocess.run([PROGRAMS / "pg_isready", "-q", "-h", self.folder]).returncode == 0:
                return
            time.sleep(0.05)
        raise AssertionError("PostgreSQL did not start")

    def kill(self):
        """As a crash: its processes end at once, and nothing is put in order."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(30)

    def stop(self):
        if self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database="postgres"):
        return f"postgresql:///{database}?host={self.folder}&user=owner"

    def sql(self, statement, database="postgres"):
        said = subprocess.run([PROGRAMS / "psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", statement, self.url(database)],
                              check=True, capture_output=True, text=True)
        return said.stdout.strip()

    def database(self, name):
        self.sql(f"CREATE DATABASE {name}")
        return self.url(name)
