#!/usr/bin/env python3
"""`sallyport setup --system` under a real systemd, which runs as process 1 of a PID namespace over a copy of this machine's
files: the unit starts, its restrictions leave the service all it needs, and the service comes back when it is killed."""
import json
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import time
import unittest

from system_support import (DATA, ETC, MARK, PATIENCE, MachineTest, claude, furnish_machine, options_of, ran, run, setup)

INIT = "/lib/systemd/systemd"
UNIT = "sallyport.service"
# Writes go to memory. Services of the machine that runs the test are not started.
BOOT = r'''
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
cd "$1/root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mount -t tmpfs -o mode=0755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
mkdir -p opt/test && cp "$2" opt/test/sallyport && cp -r "$3/." opt/test/
rm -f etc/systemd/system/*.wants/* etc/systemd/system/sallyport.service
rm -rf etc/sallyport srv/*
# The kernel is that of the machine: nothing of it is set here.
for unit in systemd-sysctl systemd-binfmt systemd-modules-load systemd-remount-fs systemd-udevd systemd-udev-trigger \
    systemd-random-seed systemd-timesyncd; do
  ln -sf /dev/null "etc/systemd/system/$unit.service"
done
ln -sf /dev/null etc/systemd/system/proc-sys-fs-binfmt_misc.automount
mkdir before && pivot_root . before && umount -l /before
exec env -i container=other PATH=/usr/sbin:/usr/bin:/sbin:/bin ''' + INIT + r''' --system --unit=basic.target --show-status=no
'''


def skip(why):
    sys.stderr.write(f"SKIPPED: {why}. CI runs it where root may make namespaces.\n")
    sys.exit(77)


def enter(pid, *words):
    namespaces = ["--mount", "--pid", "--uts", "--ipc", "--cgroup"]
    return ["nsenter", f"--target={pid}", *namespaces, "--wd=/", "--", *words]


def child_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None


def run_in_machine():
    """Starts systemd, runs this program again beside it, and ends systemd."""
    if os.geteuid() != 0 or not os.path.exists(INIT):
        skip("it takes root and systemd")
    place = pathlib.Path("/run") / f"sallyport-systemd-{os.getpid()}"
    place.mkdir()
    program = os.path.abspath(os.environ.get("SALLYPORT_BIN", "build/bin/sallyport"))
    here = os.path.dirname(os.path.abspath(__file__))
    log = open(place / "log", "w+b")
    outer = subprocess.Popen(["unshare", "--pid", "--fork", "--mount", "--uts", "--ipc", "--cgroup", "--propagation", "private",
                              "--kill-child", "bash", "-c", BOOT, "boot", str(place), program, here],
                             stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        end = time.monotonic() + PATIENCE
        state = ""
        while state not in ("running", "degraded"):
            if outer.poll() is not None or time.monotonic() > end:
                log.seek(0)
                skip(f"systemd does not start in a namespace here: {log.read()[-300:].decode(errors='replace')}")
            time.sleep(0.1)
            init = child_of(outer.pid)
            if init is None:
                continue
            said = subprocess.run(enter(init, "systemctl", "is-system-running"), capture_output=True, text=True)
            state = said.stdout.strip()
        from document_support import block  # the pages are not in there
        env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "SALLYPORT_BIN": "/opt/test/sallyport", MARK: "entered",
               "RESTART": block("docs/operations.md", "systemctl restart").removeprefix("sudo "),
               "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
        inner = subprocess.run(enter(init, "/usr/bin/python3", f"/opt/test/{os.path.basename(__file__)}", *sys.argv[1:]), env=env)
        return inner.returncode
    finally:
        outer.kill()
        outer.wait(PATIENCE)
        log.close()
        (place / "log").unlink()
        place.rmdir()


def systemctl(*words):
    said = run(None, "systemctl", "--no-pager", *words)
    return said.code, said.out.strip()


def main_pid():
    return int(systemctl("show", "--property=MainPID", "--value", UNIT)[1])


class UnderSystemd(MachineTest):
    @classmethod
    def setUpClass(cls):
        furnish_machine()
        said = setup()
        assert said["changed"] and "then" not in said or not said["then"], said
        cls.configure()
        cls.restart()

    @classmethod
    def tearDownClass(cls):
        setup("--undo", "--purge")

    @classmethod
    def restart(cls):
        assert systemctl("restart", UNIT)[0] == 0, run(None, "journalctl", "--unit", UNIT).out
        cls.wait_until_served()

    @classmethod
    def wait_until_served(cls):
        end = time.monotonic() + PATIENCE
        while not pathlib.Path("/run/sallyport/hook.sock").exists() or systemctl("is-active", UNIT)[1] != "active":
            assert time.monotonic() < end, run(None, "journalctl", "--unit", UNIT).out
            time.sleep(0.1)

    def relay(self, name, tool):
        options = options_of("agent")
        asked = [{"jsonrpc": "2.0", "id": 1, "method": "initialize",
                  "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}},
                 {"jsonrpc": "2.0", "method": "notifications/initialized"},
                 {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": {}}}]
        process = subprocess.Popen(["/srv/sallyport/bin/sallyport", "mcp", "--name", name], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        try:
            for message in asked:
                process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                message = json.loads(line)
                if message.get("id") == 2:
                    return message["result"]["content"][0]["text"]
            self.fail(process.stderr.read())
        finally:
            process.kill()
            process.communicate()

    def test_the_service_is_started_and_enabled(self):
        self.assertEqual(systemctl("is-active", UNIT), (0, "active"))
        self.assertEqual(systemctl("is-enabled", UNIT), (0, "enabled"))
        status = pathlib.Path(f"/proc/{main_pid()}/status").read_text()
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("Seccomp:\t2", status)
        self.assertEqual(os.stat(f"/proc/{main_pid()}").st_uid, pwd.getpwnam("sallyport").pw_uid)
        self.assertEqual((DATA.stat().st_uid, DATA.stat().st_mode & 0o777), (pwd.getpwnam("sallyport").pw_uid, 0o700))

    def test_the_service_is_restarted_as_the_page_says(self):
        before = main_pid()
        self.assertEqual(run(None, "bash", "-c", os.environ["RESTART"]).code, 0)
        self.wait_until_served()
        self.assertNotIn(main_pid(), (0, before))

    def test_a_hook_is_judged_and_recorded(self):
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_a", session="s-a")))
        self.assertIsNone(self.hook(ran("toolu_a", session="s-a")))
        denied = self.hook(claude("PreToolUse", "toolu_b", "git push --force", session="s-a"))
        self.assertEqual(denied["permissionDecision"], "deny")
        records = self.records("--session", "agent/s-a")
        self.assertEqual([body["outcome"]["kind"] for body in records], ["completed", "blocked"])

    def test_tool_servers_run_under_their_own_accounts_within_the_restrictions(self):
        for server, account in (("tools", "sallyport-tools"), ("mail", "mailbot")):
            with self.subTest(server):
                status = json.loads(self.relay(server, "status"))
                self.assertEqual(status["uid"], [pwd.getpwnam(account).pw_uid] * 3)
                self.assertEqual({status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}, {"0" * 16})
                self.assertEqual(status["NoNewPrivs"], "1")

    def test_a_service_that_is_killed_comes_back_with_its_ledger(self):
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_k", session="s-k")))
        before = main_pid()
        os.kill(before, signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while main_pid() in (0, before):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.1)
        self.wait_until_served()
        self.assertIsNone(self.hook(ran("toolu_k", session="s-k")))
        self.assertEqual([body["outcome"]["kind"] for body in self.records("--session", "agent/s-k")], ["completed"])

    def test_a_stop_is_clean(self):
        self.assertEqual(systemctl("stop", UNIT)[0], 0)
        self.assertEqual(systemctl("show", "--property=Result", "--value", UNIT), (0, "success"))
        self.restart()
        gaps = [line["body"] for line in self.shown("--kind", "control") if line["body"]["control"] == "gap"]
        self.assertTrue(all(gap["clean"] for gap in gaps[-1:]))

    def test_undo_leaves_no_unit_behind(self):
        setup("--undo")
        self.assertNotEqual(systemctl("is-active", UNIT)[1], "active")
        self.assertFalse(pathlib.Path("/etc/systemd/system", UNIT).exists())
        self.assertFalse((ETC / "system.json").exists())
        self.assertTrue(DATA.exists())
        setup()
        self.configure()
        self.restart()


if __name__ == "__main__":
    if os.environ.get(MARK) is None:
        sys.exit(run_in_machine())
    unittest.main()
