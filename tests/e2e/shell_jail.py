"""An empty jail with only bash: it records each program that a line starts, and runs none."""
import contextlib
import ctypes
import os
import pathlib
import re
import resource
import select
import shutil
import subprocess
import tempfile

# Builtins that change the shell stay; every other name is looked up, not found, and recorded.
KEPT = "eval set shift export unset read declare local readonly let break continue cd wait enable"

DRIVER = r"""
command_not_found_handle() {
  local line
  enable printf
  # One line for each command, so that commands of a pipeline do not mix.
  printf -v line '%s\001' "${@//$'\n'/$'\002'}"
  printf '%s\n' "$line" >&9
  enable return
  return $(( ($# + ${#1} + SEED) % 2 ))
}
builtins=$(compgen -b)
for name in $builtins; do
  case " KEPT " in *" $name "*) ;; *) enable -n "$name" ;; esac
done
PATH=/nonexistent
number=0
while IFS= read -r -d '' line <&7; do
  for SEED in 0 1; do
    ( eval "$line"; wait ) </dev/null >/dev/null 2>&1 9>>"/log/$number"
  done
  number=$((number + 1))
done
"""

FILES = ["a.c", "b.c", "x.txt", ".hidden", "-n", "sub/d.c", "sub/e.h", "two words", "[odd]", "lib/sub/f.c"]
CAPABILITIES = (1, 2, 3)  # to write where the owner may not
PR_CAPBSET_DROP = 24
SECONDS = 2  # processor seconds for each process; the limit ends an endless loop


def libraries(program):
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+)", listed)


class Jail:
    def __init__(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="jail-"))
        bash = os.path.realpath(shutil.which("bash"))
        for path in [bash, *libraries(bash)]:
            target = self.root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        self.bash = bash
        for name in FILES:
            path = self.root / "w" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("")
        for folder in ("log", "out", "dev", "home/user", "tmp"):
            (self.root / folder).mkdir(parents=True)
        (self.root / "dev/null").write_text("")
        os.chmod(self.root / "dev/null", 0o666)
        (self.root / "driver").write_text(DRIVER.replace("KEPT", KEPT))
        for folder in ("w", "w/sub", "w/lib", "w/lib/sub"):
            os.chmod(self.root / folder, 0o555)

    def close(self):
        for folder in ("w", "w/sub", "w/lib", "w/lib/sub"):
            os.chmod(self.root / folder, 0o755)
        shutil.rmtree(self.root)

    def _enter(self):
        libc = ctypes.CDLL(None)
        os.chroot(self.root)
        os.chdir("/w")
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for capability in CAPABILITIES:
            libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)

    def works(self):
        try:
            return subprocess.run([self.bash, "-c", ":"], preexec_fn=self._enter, env={}, timeout=20).returncode == 0
        except (OSError, subprocess.SubprocessError):
            return False

    def run(self, lines):
        """Returns the commands that each line starts, as lists of words; None if a line did not end in time."""
        text = self.root / "lines"
        text.write_bytes(b"".join(line.encode() + b"\0" for line in lines))
        source = os.open(text, os.O_RDONLY)
        ended, alive = os.pipe()
        os.set_inheritable(alive, True)

        def enter():
            os.dup2(source, 7)
            self._enter()

        environment = {"HOME": "/home/user", "PWD": "/w", "LC_ALL": "C", "PATH": "/nonexistent"}
        process = subprocess.Popen([self.bash, "/driver"], preexec_fn=enter, env=environment, pass_fds=(7, alive),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        os.close(alive)
        os.close(source)
        try:
            process.wait(timeout=10 + 0.1 * len(lines))
            self._await_end(ended)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            self._await_end(ended)
            self._clear()
            if len(lines) == 1:
                return [None]
            half = len(lines) // 2
            return self.run(lines[:half]) + self.run(lines[half:])
        finally:
            os.close(ended)
            # A background process of a line may run forever.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
        out = [self._commands(number) for number in range(len(lines))]
        self._clear()
        return out

    def _await_end(self, ended):
        """Waits until every process that holds the other end has ended: commands may outlive their line."""
        ready, _, _ = select.select([ended], [], [], 10)
        if ready:
            os.read(ended, 1)

    def _commands(self, number):
        path = self.root / "log" / str(number)
        if not path.exists():
            return []
        lines = path.read_bytes().decode("utf-8", "surrogateescape").split("\n")[:-1]
        return [line.replace("\2", "\n").split("\1")[:-1] for line in dict.fromkeys(lines)]

    def _clear(self):
        for folder in ("log", "out"):
            for path in (self.root / folder).iterdir():
                path.unlink()
