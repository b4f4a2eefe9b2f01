#!/usr/bin/env python3
"""Under `sallyport setup --system` no program can take the place of the service. Its tool servers run under their own accounts
and end with it."""
import json
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import time
import unittest

from system_support import (ETC, PATIENCE, PROGRAM, PYTHON, RUN, MachineTest, Service, claude, enter_machine, options_of,
                            sallyport, setup)


class Forged(MachineTest):
    """A process that only pretends to be the daemon."""

    def tearDown(self):
        self.service.stop()
        if RUN.is_dir():
            shutil.rmtree(RUN)
        setup()
        self.service.start()

    def denied(self, said):
        self.assertEqual(said["permissionDecision"], "deny", said)
        return said["permissionDecisionReason"]

    LISTENER = r'''
import os, socket, struct, sys
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
os.chmod(sys.argv[1], 0o666)
listening.listen(8)
print("listens", flush=True)
while True:
    peer, _ = listening.accept()
    greeting = sys.argv[2].encode()
    peer.sendall(struct.pack(">I", len(greeting)) + greeting)
    peer.recv(65536)
    answer = b'{"notice":""}\n'
    peer.sendall(struct.pack(">I", len(answer)) + answer)
    peer.close()
'''

    def listen(self, user, path, greeting="sallyport-hook/1"):
        daemon = subprocess.Popen([PYTHON, "-c", self.LISTENER, str(path), greeting], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, **options_of(user))
        said = daemon.stdout.readline()

        def end():
            daemon.kill()
            daemon.communicate()
        self.addCleanup(end)
        return said == b"listens\n"

    def test_without_the_service_every_call_is_refused_whatever_the_agent_says(self):
        self.service.stop()
        allow = pathlib.Path("/srv/home/agent/allow.yaml")
        allow.write_text("version: 1\nautonomy: {tier: act_auto}\nhook: {on_failure: allow}\n")
        for words in ((), ("--policy", allow), ("--data-dir", "/srv/home/agent/own")):
            self.assertIn("does not answer", self.denied(self.hook(claude("PreToolUse"), *words)))
        self.assertFalse(pathlib.Path("/srv/home/agent/own").exists())
        said = sallyport("agent", "mcp", "--name", "tools")
        self.assertEqual(said.code, 1)
        said = sallyport("agent", "approvals", "list")
        self.assertEqual(said.code, 1)
        self.assertIn("not on record", said.err)

    def test_the_agent_cannot_listen_where_the_service_listens(self):
        self.assertFalse(self.listen("agent", RUN / "hook.sock"))
        self.assertFalse(self.listen("agent", RUN / "other.sock"))
        self.service.stop()
        self.assertFalse(self.listen("agent", RUN / "hook.sock"))

    def test_a_listener_of_another_account_in_the_place_of_the_service_is_refused_and_told(self):
        self.service.stop()
        # Only root can create this state: the service owns the folder, and the agent owns the name in it.
        RUN.chmod(0o777)
        self.assertTrue(self.listen("agent", RUN / "hook.sock"))
        self.assertTrue(self.listen("agent", RUN / "mcp.sock", "sallyport-mcp/1"))
        self.denied(self.hook(claude("PreToolUse")))  # other users could write in the folder
        RUN.chmod(0o755)
        self.assertIn("another user", self.denied(self.hook(claude("PreToolUse"))))
        said = sallyport("agent", "mcp", "--name", "tools")
        self.assertEqual(said.code, 1)
        self.assertIn("another user", said.err)
        self.service.start(wait=False)
        self.assertEqual(self.service.process.wait(PATIENCE), 1)
        told = [body for body in self.controls() if body["what"] == "socket"]
        self.assertEqual(told[-1]["place"], str(RUN / "hook.sock"))
        self.assertIn(f"uid {pwd.getpwnam('agent').pw_uid}", told[-1]["reason"])

    def test_a_folder_of_another_account_is_refused(self):
        self.service.stop()
        entry = pwd.getpwnam("agent")
        shutil.rmtree(RUN)
        RUN.mkdir()
        os.chown(RUN, entry.pw_uid, entry.pw_gid)
        self.assertTrue(self.listen("agent", RUN / "hook.sock"))
        self.assertIn("must belong to uid", self.denied(self.hook(claude("PreToolUse"))))
        self.service.start(wait=False)
        self.assertEqual(self.service.process.wait(PATIENCE), 1)
        self.assertIn("must belong to uid", [body for body in self.controls() if body["what"] == "socket"][-1]["reason"])

    def test_a_file_that_others_can_write_is_not_believed(self):
        file = ETC / "system.json"
        text = file.read_text()
        for change in (lambda: file.chmod(0o666), lambda: os.chown(file, pwd.getpwnam("agent").pw_uid, 0),
                       lambda: ETC.chmod(0o777), lambda: file.write_text("{}"), lambda: file.write_text(text.replace('"version":1', '"version":2'))):
            change()
            self.assertIn("cannot be believed", self.denied(self.hook(claude("PreToolUse"))))
            self.assertIn("cannot be believed", sallyport("agent", "approvals", "list").err)
            self.assertIn("cannot be believed", sallyport("agent", "mcp", "--name", "tools").err)
            file.write_text(text)
            file.chmod(0o644)
            os.chown(file, 0, 0)
            ETC.chmod(0o755)
        file.unlink()
        file.symlink_to("/srv/home/agent/mine.json")
        self.assertIn("cannot be believed", self.denied(self.hook(claude("PreToolUse"))))
        file.unlink()
        file.write_text(text)
        file.chmod(0o644)

    def test_no_variable_of_the_environment_leads_elsewhere(self):
        self.service.stop()
        fake = pathlib.Path("/srv/home/agent/fake")
        fake.mkdir(mode=0o755, exist_ok=True)
        os.chown(fake, pwd.getpwnam("agent").pw_uid, -1)
        self.assertTrue(self.listen("agent", fake / "hook.sock"))
        env = {name: str(fake) for name in ("SALLYPORT_DATA_DIR", "SALLYPORT_CONFIG", "SALLYPORT_SYSTEM", "SALLYPORT_SOCKET_DIR",
                                            "XDG_RUNTIME_DIR", "XDG_STATE_HOME", "RUNTIME_DIRECTORY")}
        self.denied(self.hook(claude("PreToolUse"), env=env))


class RunAs(MachineTest):
    """A tool server never runs under the account of the service."""

    def fails(self, upstreams, why):
        self.service.stop()
        self.configure(upstreams)
        service = Service(self.service.command).start(wait=False)
        self.assertNotEqual(service.process.wait(PATIENCE), 0)
        service.hearing.join(PATIENCE)  # the last line may arrive after the process has ended
        self.assertIn(why, "".join(service.errors))

    def test_the_account_of_the_service_root_and_one_that_is_not_there_are_refused(self):
        self.addCleanup(self.service.start)
        self.addCleanup(self.configure)
        for account, why in (("sallyport", "the account of the gate itself"), ("root", "names root"), ("nobody-here", "no account")):
            with self.subTest(account):
                self.fails("  upstreams:\n    - {name: t, command: [/bin/true], run_as: %s}\n" % account, why)

    def test_a_command_without_an_account_is_refused(self):
        text = (ETC / "sallyport.yaml").read_text()
        (ETC / "sallyport.yaml").write_text(text.replace("  run_as: sallyport-tools\n", ""))
        self.addCleanup(self.service.start)
        self.addCleanup((ETC / "sallyport.yaml").write_text, text)
        self.fails(None, "never runs as the service")

    def test_without_the_privilege_to_switch_the_server_does_not_start(self):
        self.service.stop()
        self.addCleanup(self.service.start)
        bare = Service(["setpriv", "--reuid", "sallyport", "--regid", "sallyport", "--init-groups", "--inh-caps", "-all",
                        "--bounding-set", "-all", "--no-new-privs", PROGRAM, "serve", "--config", str(ETC / "sallyport.yaml")]).start()
        self.addCleanup(bare.stop)
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}}
        said = sallyport("agent", "mcp", "--name", "tools", stdin=json.dumps(opening).encode() + b"\n")
        self.assertNotIn('"serverInfo"', said.out)
        end = time.monotonic() + PATIENCE
        while not any("may not switch accounts" in line for line in bare.errors):
            self.assertLess(time.monotonic(), end, "".join(bare.errors))
            time.sleep(0.02)

    def open_relay(self, server):
        relay = subprocess.Popen([PROGRAM, "mcp", "--name", server], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, **options_of("agent"))
        opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "hand", "version": "1"}}}
        relay.stdin.write(json.dumps(opening).encode() + b"\n")
        relay.stdin.flush()
        self.assertIn(b"serverInfo", relay.stdout.readline())
        return relay

    def test_a_service_that_ends_in_order_ends_its_relays(self):
        relay = self.open_relay("tools")
        self.service.stop()
        self.addCleanup(self.service.start)
        self.assertEqual(self.service.process.returncode, 0, "".join(self.service.errors))
        relay.wait(PATIENCE)
        out, err = relay.communicate(timeout=PATIENCE)
        self.assertEqual((relay.returncode, out), (1, b""))
        self.assertIn(b"ended the connection", err)

    def test_tool_servers_end_with_the_service(self):
        relay = self.open_relay("stubborn")

        def is_ours(path):
            try:
                return b"stubborn" in (path / "cmdline").read_bytes() and b"mcp" not in (path / "cmdline").read_bytes() and \
                    os.readlink(path / "ns/mnt") == os.readlink("/proc/self/ns/mnt")
            except OSError:
                return False

        def servers():
            return [path for path in pathlib.Path("/proc").glob("[0-9]*") if is_ours(path)]

        def end_all():
            for path in servers():
                os.kill(int(path.name), signal.SIGKILL)
        self.addCleanup(end_all)
        self.assertTrue(servers())
        self.service.process.kill()
        self.service.process.wait()
        end = time.monotonic() + PATIENCE
        while servers():
            self.assertLess(time.monotonic(), end, "a tool server outlives the service")
            time.sleep(0.02)
        relay.wait(PATIENCE)  # before its input ends, which would be a normal end
        out, err = relay.communicate(timeout=PATIENCE)
        self.assertEqual(relay.returncode, 1)
        self.assertIn(b"ended the connection", err)
        self.service.start()


if __name__ == "__main__":
    enter_machine()
    unittest.main()
