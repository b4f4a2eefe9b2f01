"""A machine of its own for `sallyport setup --system`: a mount namespace with a copy of /etc, real accounts, and a
service that is started the way its unit starts it. Nothing of it is left on the machine that runs the test."""
import atexit
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

MARK = "SALLYPORT_TEST_MACHINE"
PROGRAM = "/srv/sallyport/bin/sallyport"
PYTHON = "/usr/bin/python3"
DATA = pathlib.Path("/var/lib/sallyport")
ETC = pathlib.Path("/etc/sallyport")
RUN = pathlib.Path("/run/sallyport")
PATIENCE = 60

# A tool server that reports the account under which it runs.
TOOL_SERVER = r'''
import json, os, sys, time
def status():
    lines = dict(line.split(":", 1) for line in open("/proc/self/status").read().splitlines() if ":" in line)
    fds = sorted(int(fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 2 and os.path.exists("/proc/self/fd/" + fd))
    return {"uid": os.getresuid(), "gid": os.getresgid(), "groups": sorted(os.getgroups()), "cwd": os.getcwd(),
            "fds": fds, "home": os.environ.get("HOME"), "user": os.environ.get("USER"), "pid": os.getpid(),
            **{name: lines[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs")}}
def call(name, arguments):
    if name == "status":
        return json.dumps(status())
    try:
        return open(arguments["file"]).read()
    except OSError as error:
        return "refused: " + error.strerror
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("status", "read")]}
    elif message["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": call(message["params"]["name"], message["params"].get("arguments", {}))}]}
    else:
        result = {}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\n")
    sys.stdout.flush()
if "stubborn" in sys.argv:  # that nobody speaks to it any more is no reason to end
    time.sleep(3600)
'''


def mount(*words):
    subprocess.run(["mount", *words], check=True)


def enter_machine():
    """Starts this program again in a mount namespace; returns in there. Where that cannot be, says so and ends."""
    if os.environ.get(MARK) is None:
        may_mount = os.geteuid() == 0 and subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode == 0
        if not may_mount:
            sys.stderr.write("SKIPPED: the system set-up is tested by root in a mount namespace of its own, and this is not "
                             "allowed here. CI runs it.\n")
            sys.exit(77)
        os.environ[MARK] = "entering"
        program = os.path.abspath(sys.argv[0])
        os.environ["SALLYPORT_BIN"] = os.path.abspath(os.environ.get("SALLYPORT_BIN", "build/bin/sallyport"))
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, program, *sys.argv[1:]])
    if os.environ[MARK] == "entering":
        make_machine()
        os.environ[MARK] = "entered"


def make_machine():
    copy = pathlib.Path("/run") / f"sallyport-test-{os.getpid()}"
    copy.mkdir()
    mount("-t", "tmpfs", "-o", "mode=0755", "none", str(copy))
    subprocess.run(["cp", "-a", "/etc/.", str(copy)], check=True)
    for name in ("sallyport", "systemd/system/sallyport.service"):
        leftover = copy / name
        shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink(missing_ok=True)
    os.chmod(copy, 0o755)
    mount("--bind", str(copy), "/etc")
    subprocess.run(["umount", str(copy)], check=True)
    copy.rmdir()
    mount("-t", "tmpfs", "-o", "mode=0755", "none", "/srv")
    furnish_machine()  # before the program is hidden
    for place in ("/var/lib", "/run"):
        mount("-t", "tmpfs", "-o", "mode=0755", "none", place)


def furnish_machine():
    """The program, a tool server and the accounts of users."""
    pathlib.Path(PROGRAM).parent.mkdir(parents=True)
    pathlib.Path("/srv/home").mkdir()
    shutil.copy(os.environ["SALLYPORT_BIN"], PROGRAM)
    os.chmod(PROGRAM, 0o755)
    server = pathlib.Path("/srv/sallyport/server.py")
    server.write_text(TOOL_SERVER)
    server.chmod(0o644)
    for user in ("agent", "other", "mailbot"):
        subprocess.run(["useradd", "--create-home", "--base-dir", "/srv/home", "--shell", "/bin/bash", user], check=True, capture_output=True)
        os.chmod(f"/srv/home/{user}", 0o700)


class Said:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


def options_of(user):
    """Returns the environment of a process that runs as this user, in the user's home."""
    known = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}
    if user is None:
        return {"env": {**known, "HOME": "/root"}, "cwd": "/"}
    entry = pwd.getpwnam(user)
    home = entry.pw_dir if user not in ("sallyport", "sallyport-tools") else "/"
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": os.getgrouplist(user, entry.pw_gid),
            "env": {**known, "HOME": entry.pw_dir, "USER": user}, "cwd": home}


def run(user, *words, stdin=b"", env=None, **more):
    options = options_of(user)
    options["env"] = {**options["env"], **(env or {})}
    return Said(subprocess.run([str(word) for word in words], input=stdin, capture_output=True, timeout=PATIENCE,
                               **options, **more))


def sallyport(user, *words, **more):
    return run(user, PROGRAM, *words, **more)


def setup(*words):
    said = sallyport(None, "setup", "--system", "--json", *words)
    assert said.code == 0, said.err
    return json.loads(said.out)


class Service:
    """The daemon, started by the command that `setup` prints if no systemd runs."""

    def __init__(self, command=None):
        self.command = command or setup()["then"][0].split()
        self.process = None
        self.hearing = None
        self.errors = []

    def start(self, wait=True):
        self.errors = []
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}, cwd="/")
        self.hearing = threading.Thread(target=self.hear, args=(self.process.stderr,), daemon=True)
        self.hearing.start()
        atexit.register(self.stop)
        end = time.monotonic() + PATIENCE
        while wait and not any("records are in" in line for line in self.errors):
            assert self.process.poll() is None and time.monotonic() < end, "".join(self.errors)
            time.sleep(0.01)
        return self

    def hear(self, stream):
        with stream:
            for line in stream:
                self.errors.append(line.decode())

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(PATIENCE)


def claude(event, call="toolu_1", command="make", session="s-1", **more):
    return {"session_id": session, "hook_event_name": event, "cwd": "/src", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call, **more}


def ran(call="toolu_1", command="make", text="done", **more):
    return claude("PostToolUse", call, command, tool_response={"stdout": text, "stderr": ""}, **more)


class MachineTest(unittest.TestCase):
    POLICY = """version: 1
autonomy: {tier: act_auto}
guardrails:
  checks:
    - {type: regex, stage: tool_use, id: no-force, args: [/command], patterns: ['--force']}
"""
    UPSTREAMS = """  upstreams:
    - {name: tools, command: [/usr/bin/python3, /srv/sallyport/server.py]}
    - {name: mail, command: [/usr/bin/python3, /srv/sallyport/server.py], run_as: mailbot}
    - {name: stubborn, command: [/usr/bin/python3, /srv/sallyport/server.py, stubborn]}
"""

    @classmethod
    def setUpClass(cls):
        cls.service = Service()
        cls.configure()
        cls.service.start()

    @classmethod
    def tearDownClass(cls):
        cls.service.stop()
        setup("--undo", "--purge")

    @classmethod
    def configure(cls, upstreams=None, policy=None):
        text = (ETC / "sallyport.yaml").read_text()
        before = text[:text.index("  upstreams:")]
        (ETC / "sallyport.yaml").write_text(before + (upstreams or cls.UPSTREAMS))
        (ETC / "policy.yaml").write_text(policy or cls.POLICY)

    def shown(self, *filters):
        said = sallyport("sallyport", "ledger", "show", "--limit", "1000", "--json", *filters)
        if "no entry matches" in said.err:
            return []
        self.assertEqual(said.code, 0, said.err)
        return said.lines()

    def controls(self, name="refused_control"):
        return [line["body"] for line in self.shown("--kind", "control") if line["body"]["control"] == name]

    def records(self, *filters):
        return [line["body"] for line in self.shown("--kind", "tool_audit", *filters)]

    def hook(self, event, *words, user="agent", **more):
        said = sallyport(user, "hook", "--agent", "claude-code", *words, stdin=json.dumps(event).encode(), **more)
        self.assertEqual(said.code, 0, said.err)
        return json.loads(said.out)["hookSpecificOutput"] if said.out.strip() else None
