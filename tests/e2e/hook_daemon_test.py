#!/usr/bin/env python3
"""Hooks beside `sallyport serve`: the daemon decides as they would alone, and its failures do not affect them."""
import concurrent.futures
import json
import os
import random
import signal
import socket
import sqlite3
import stat
import struct
import subprocess
import time
import unittest

import hook_test
from cli_support import BIN
from hook_support import HOST, claude, ran
from serve_support import Server

GREETING = b"sallyport-hook/1"
NO_FORCE = ("version: 1\nautonomy: {tier: act_auto}\nguardrails: {checks: [{type: regex, stage: tool_use, id: no-force, "
            "args: [/command], patterns: ['--force']}]}\n")


class BesideDaemon:
    """The common part of the classes below: each data folder has a daemon."""

    def serve(self, data=None, more=""):
        config = self.write("serve.yaml", f"version: 1\ndata_dir: {data or self.data}\nserve:\n  listen: 127.0.0.1:0\n" + more)
        server = Server(self, config)

        def end():
            if server.process.poll() is None:
                server.process.send_signal(signal.SIGCONT)
                server.stop()
            for connection in server.connections:
                connection.close()
            server.process.stdout.close()
            server.process.stderr.close()
        self.addCleanup(end)
        return server

    def use(self, data):
        super().use(data)
        self.server = self.serve()

    @property
    def socket_file(self):
        return self.data / "hook.sock"

    def judges(self):
        """Returns the roles of the processes that wrote calls; `None` for hooks without a start entry."""
        roles = {line["entry"]["instance_id"]: line["body"]["role"] for line in self.shown("--kind", "control")
                 if line["body"]["control"] == "started"}
        return {roles.get(line["entry"]["instance_id"]) for line in self.shown("--kind", "intent")}

    def connect(self):
        peer = socket.socket(socket.AF_UNIX)
        self.addCleanup(peer.close)
        peer.settimeout(20)
        peer.connect(str(self.socket_file))
        return peer

    def frame(self, peer):
        """Returns the daemon's answer, or nothing if it closes the connection."""
        said = b""
        while len(said) < 4 or len(said) < 4 + struct.unpack(">I", said[:4])[0]:
            piece = peer.recv(65536)
            if not piece:
                return None
            said += piece
        return said[4:]

    def start_hook(self, event, policy=None):
        command = [*HOST, BIN, "hook", "--agent", "claude-code", "--data-dir", str(self.data)]
        command += ["--policy", str(policy)] if policy else []
        hook = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=self.environment(), cwd=self.folder)
        hook.stdin.write(json.dumps(event).encode())
        hook.stdin.close()
        hook.stdin = None
        return hook

    def ended(self, hook):
        out, err = hook.communicate(timeout=60)
        self.assertEqual(hook.returncode, 0, err)
        return out.decode(), err.decode()


class SameAnswers(BesideDaemon, hook_test.Hook):
    """Everything that holds for a hook alone, with a daemon that decides."""

    def tearDown(self):
        if self.server.process.poll() is None and self.shown("--kind", "intent"):
            self.assertEqual(self.judges(), {"serve"})

    # These tests are about the hook process itself.
    test_a_process_that_is_stuck_answers_when_its_time_is_over = None
    test_a_ledger_that_cannot_be_written_denies_in_time = None


class Troubles(BesideDaemon, hook_test.Hook):
    for name in [name for name in dir(hook_test.Hook) if name.startswith("test_")]:
        locals()[name] = None
    del name

    def test_what_the_daemon_judges_is_among_its_numbers(self):
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertIsNone(self.hook(ran()))
        numbers = self.server.ask("GET", "/metrics", token=False)[2].decode()
        self.assertRegex(numbers, r'sallyport_calls_total\{outcome="completed",[^}]*agent="[^"]*claude-code",front="hook"\} 1\n')
        self.assertRegex(numbers, r'sallyport_decisions_total\{verdict="allow",[^}]*front="hook"\} [1-9]')
        self.assertNotIn('front="mcp', numbers)

    def test_without_a_daemon_hooks_decide_alone_and_its_socket_is_gone(self):
        self.assertEqual(stat.S_IMODE(self.socket_file.stat().st_mode), 0o600)
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.server.stop()
        self.assertFalse(self.socket_file.exists())
        self.assertIsNone(self.hook(ran()))
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_2")))
        self.assertEqual(self.judges(), {"serve", None})
        record, = self.records("--terminal", "true")
        self.assertEqual(record["outcome"]["kind"], "completed")
        self.good("ledger", "verify")

    def test_a_socket_that_a_dead_daemon_left_is_no_daemon_and_is_replaced(self):
        self.server.process.kill()
        self.server.process.wait()
        self.assertTrue(self.socket_file.exists())
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(self.judges(), {None})
        self.serve()
        self.assertIsNone(self.hook(ran()))
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_2")))
        self.assertEqual(self.judges(), {"serve", None})

    def test_a_daemon_that_does_not_greet_is_asked_nothing(self):
        self.server.process.send_signal(signal.SIGSTOP)
        before = time.monotonic()
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertLess(time.monotonic() - before, 6)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(self.judges(), {None})
        self.assertIsNone(self.hook(ran()))
        self.assertEqual(len(self.shown("--kind", "intent")), 1)

    def asked_but_stuck(self, policy, call="toolu_2"):
        """Runs a hook whose daemon has its question and cannot write."""
        self.assertIsNone(self.hook(claude("PreToolUse", call + "-first"), policy=policy))
        other = sqlite3.connect(self.data / "ledger.db", isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        hook = self.start_hook(claude("PreToolUse", call), policy)
        time.sleep(1.5)
        self.assertIsNone(hook.poll())
        return hook, other

    def test_a_daemon_that_dies_with_the_question_is_a_refusal_or_what_the_policy_says(self):
        lenient = self.write("lenient.yaml", NO_FORCE + "hook: {on_failure: allow}\n")
        for policy, call in ((self.write("strict.yaml", NO_FORCE), "c-1"), (lenient, "c-2")):
            with self.subTest(policy.name):
                hook, other = self.asked_but_stuck(policy, call)
                self.server.process.kill()
                self.server.process.wait()
                out, err = self.ended(hook)
                other.execute("ROLLBACK")
                if policy == lenient:
                    self.assertEqual(out, "")
                    self.assertIn("the daemon was asked and gave no answer", err)
                    self.assertIn("the call is let pass, as the policy says (hook.on_failure)", err)
                else:
                    said = json.loads(out)["hookSpecificOutput"]
                    self.assertEqual(said["permissionDecision"], "deny")
                    self.assertIn("the daemon was asked and gave no answer", said["permissionDecisionReason"])
                self.server = self.serve()
        self.good("ledger", "verify")

    def test_a_daemon_that_does_not_answer_in_time_is_a_refusal_in_time(self):
        before = time.monotonic()
        hook, other = self.asked_but_stuck(self.write("strict.yaml", NO_FORCE))
        out, _ = self.ended(hook)
        self.assertLess(time.monotonic() - before, 20)
        self.assertEqual(json.loads(out)["hookSpecificOutput"]["permissionDecision"], "deny")
        other.execute("ROLLBACK")
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_3")))

    def impostor(self):
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(self.socket_file))
        listening.listen()
        return listening

    def test_only_this_program_is_believed(self):
        policy = self.write("strict.yaml", NO_FORCE)
        self.server.stop()
        impostor = self.impostor()
        heard = []

        def allow_all():
            impostor.settimeout(20)
            peer, _ = impostor.accept()
            answer = b'{"notice":""}\n'
            peer.settimeout(5)
            heard.append(peer.recv(65536))
            try:
                peer.sendall(struct.pack(">I", len(GREETING)) + GREETING + struct.pack(">I", len(answer)) + answer)
            except BrokenPipeError:
                pass
            peer.close()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            serving = pool.submit(allow_all)
            self.assertEqual(self.decision(claude("PreToolUse", command="git push --force"), policy=policy), "deny")
            serving.result(30)
        self.assertEqual(heard, [b""])
        self.assertEqual(len(self.records("--outcome", "blocked")), 1)

    def test_a_folder_that_others_may_enter_is_not_entered(self):
        self.data.chmod(0o755)
        said = self.hook(claude("PreToolUse"))["hookSpecificOutput"]
        self.assertEqual(said["permissionDecision"], "deny")
        self.data.chmod(0o700)
        self.assertEqual(self.shown("--kind", "intent"), [])

    def test_what_is_too_long_or_no_question_gets_no_answer(self):
        header = json.dumps({"agent": "codex", "policy": "starter", "interactive": True}).encode() + b"\n"
        relative = header.replace(b"starter", b"mine.yaml")
        event = json.dumps(claude("PreToolUse")).encode()
        for name, sent in (("length", struct.pack(">I", 1 << 31)),
                           ("no line", struct.pack(">I", 3) + b"abc"),
                           ("no JSON", struct.pack(">I", 5) + b"{}}\n{"),
                           ("no members", struct.pack(">I", 3) + b"{}\n"),
                           ("nobody", struct.pack(">I", len(header)) + header.replace(b"codex", b"nobod")),
                           ("no event", struct.pack(">I", len(header)) + header),
                           ("a file of whose folder", struct.pack(">I", len(relative + event)) + relative + event)):
            with self.subTest(name):
                peer = self.connect()
                self.assertEqual(self.frame(peer), GREETING)
                peer.sendall(sent)
                self.assertIsNone(self.frame(peer))
        # The daemon still works.
        peer = self.connect()
        self.assertEqual(self.frame(peer), GREETING)
        peer.sendall(struct.pack(">I", len(header + event)) + header + event)
        self.assertEqual(self.frame(peer), b'{"notice":""}\n')
        self.assertEqual(len(self.shown("--kind", "intent")), 1)

    def test_whoever_is_silent_is_sent_away_and_whoever_is_too_many_decides_alone(self):
        silent = [self.connect() for _ in range(40)]
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(self.judges(), {None})
        before = time.monotonic()
        greeted = [self.frame(peer) for peer in silent]
        self.assertEqual(greeted.count(GREETING), 32)
        self.assertEqual([self.frame(peer) for peer, said in zip(silent, greeted) if said], [None] * 32)
        self.assertLess(time.monotonic() - before, 15)
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_2")))
        self.assertEqual(self.judges(), {"serve", None})

    def test_a_daemon_for_hooks_alone_has_no_tools_and_no_token_for_them(self):
        self.assertNotIn("token_file", self.server.started)
        self.assertFalse((self.data / "keys" / "local.token").exists())
        for method in ("POST", "GET", "DELETE"):
            status, _, said = self.server.ask(method, body=None if method == "GET" else {"jsonrpc": "2.0", "id": 1, "method": "ping"})
            self.assertEqual((status, said.decode()), (404, "no tool server is behind this gate: its configuration names none "
                                                            "under `serve.upstreams`\n"))
        for path, status in (("/.well-known/oauth-protected-resource/mcp", 404), ("/readyz", 200), ("/metrics", 200),
                             ("/api/v1/approvals", 401)):
            self.assertEqual(self.server.ask("GET", path, token=False)[0], status, path)
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(self.judges(), {"serve"})
        self.assertEqual(self.server.stop(), 0)
        self.assertTrue(any("hooks of coding agents are answered" in line for line in self.server.errors), self.server.errors)

    def test_one_that_cannot_answer_hooks_does_not_start_for_nothing(self):
        config = self.write("second.yaml", f"version: 1\ndata_dir: {self.data}\nserve: {{listen: '127.0.0.1:0'}}\n")
        done = self.run_bare("serve", "--config", config)
        self.assertNotEqual(done.code, 0)
        self.assertIn("hooks of coding agents cannot be answered, and without `upstreams` nothing else is served", done.err)
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(self.judges(), {"serve"})

    def test_a_second_daemon_leaves_the_hooks_to_the_first(self):
        second = self.serve(more="  upstreams: [{name: fake, command: ['true']}]\n")
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(second.stop(), 0)
        self.assertTrue(any("hooks of coding agents decide without this process" in line for line in second.errors),
                        second.errors)
        self.assertTrue(self.socket_file.exists())
        self.assertIsNone(self.hook(ran()))
        self.assertEqual(self.judges(), {"serve"})

    def test_the_policy_is_the_one_that_the_hook_names_as_it_stands_now(self):
        push = claude("PreToolUse", command="git push --force")
        self.assertIsNone(self.hook(push))
        policy = self.write("mine.yaml", NO_FORCE)
        # Names a policy by a path that does not exist in the folder of the daemon.
        self.assertEqual(self.decision({**push, "tool_use_id": "t-2"}, policy="mine.yaml"), "deny")
        self.write("mine.yaml", NO_FORCE.replace("--force", "--mirror"))
        self.assertIsNone(self.hook({**push, "tool_use_id": "t-3"}, policy="mine.yaml"))
        self.write("mine.yaml", "version: 1\nno_such_key: 1\n")
        said = self.hook({**push, "tool_use_id": "t-4"}, policy=policy)["hookSpecificOutput"]
        self.assertEqual(said["permissionDecision"], "deny")
        self.assertIn("mine.yaml:2:1", said["permissionDecisionReason"])
        policy.unlink()
        self.assertEqual(self.decision({**push, "tool_use_id": "t-5"}, policy=policy), "deny")
        self.assertEqual(self.judges(), {"serve"})

    # A daemon that opened a pipe would wait for a writer, and all other hooks for the daemon.
    def test_a_policy_that_would_be_waited_for_holds_nobody_up(self):
        pipe = self.folder / "pipe.yaml"
        os.mkfifo(pipe)
        for policy in (pipe, "/dev/stdin", "/dev/zero"):
            said = self.hook(claude("PreToolUse", f"t-{policy}"), policy=policy)["hookSpecificOutput"]
            self.assertEqual(said["permissionDecision"], "deny")
            self.assertIn("the policy of a hook is a file", said["permissionDecisionReason"])
        self.assertEqual(self.server.ask("GET", "/healthz", token=False)[0], 200)
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(self.judges(), {"serve"})

    def heavy_policy(self, number):
        letters = random.Random(number)

        def word():
            return "".join(letters.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(10))
        checks = "".join(f"    - {{type: regex, stage: tool_use, id: many-{i}, args: [/command], patterns: ["
                         + ", ".join(f"'(?i){word()}[a-z]{{0,250}}{word()}'" for _ in range(64)) + "]}\n" for i in range(64))
        return self.write(f"heavy-{number}.yaml", "version: 1\nautonomy: {tier: act_auto}\nguardrails:\n  checks:\n" + checks)

    # All hooks once waited while the policy of one of them was compiled.
    def test_a_policy_that_takes_long_to_compile_holds_up_nobody_who_names_another(self):
        self.use(self.folder / "other")
        self.assertIsNone(self.hook(claude("PreToolUse", "t-first")))
        overtook = False
        for attempt in range(4):  # a fast machine compiles a policy before the quick hook has started
            slow = [self.start_hook(claude("PreToolUse", f"t-slow-{attempt}-{i}"), policy=self.heavy_policy(8 * attempt + i))
                    for i in range(4)]
            time.sleep(0.1)  # until the daemon has them
            while not overtook and any(hook.poll() is None for hook in slow):
                self.assertIsNone(self.hook(claude("PreToolUse", f"t-{attempt}-{time.monotonic_ns()}")))
                overtook = any(hook.poll() is None for hook in slow)
            for hook in slow:
                self.ended(hook)
            if overtook:
                break
        self.assertTrue(overtook)
        self.assertEqual(self.judges(), {"serve"})

    def test_a_data_folder_with_a_long_name_has_a_socket_too(self):
        far = self.folder / ("x" * 120) / "data"
        far.parent.mkdir()
        self.use(far)
        self.assertIsNone(self.hook(claude("PreToolUse")))
        self.assertEqual(self.judges(), {"serve"})

    def test_an_event_that_is_not_for_us_does_not_reach_the_daemon(self):
        self.server.stop()
        listening = self.impostor()
        listening.setblocking(False)
        self.assertIsNone(self.hook(claude("Stop")))
        self.assertRaises(BlockingIOError, listening.accept)
        self.hook(claude("PreToolUse"))
        listening.accept()[0].close()


if __name__ == "__main__":
    unittest.main()
