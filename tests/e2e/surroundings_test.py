#!/usr/bin/env python3
"""Closed streams, signals, limits and unusable files: no waiting host gets a wrong yes, and people get useful messages."""
import contextlib
import json
import os
import pathlib
import resource
import signal
import sqlite3
import subprocess
import time
import unittest

from cli_support import BIN, CliTest
from mcp_support import PATIENCE
from serve_support import Server, ServeTest, Session

EVENT = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": "t", "cwd": "/",
         "tool_input": {"command": "git push --force"}}


def limited(what, value):
    return lambda: resource.setrlimit(what, (value, value))


class Hook(CliTest):
    def start(self, policy="ask-before-effects", **options):
        given = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.Popen([BIN, "hook", "--agent", "claude-code", "--interactive", "no", "--policy", policy, "--data-dir", str(self.data)],
                                env=self.environment(), cwd=self.folder, **given)

    def assert_denied(self, code, out):
        """Checks for a denial by its words, or by the one exit code that hosts accept as a denial."""
        if code == 2:
            return
        self.assertEqual(code, 0)
        self.assertEqual(json.loads(out)["hookSpecificOutput"]["permissionDecision"], "deny")

    def test_what_cannot_be_said_is_a_denial(self):
        # it once was exit code 1, or death by SIGPIPE, after which hosts let the call run
        reader, writer = os.pipe()
        os.close(reader)
        self.addCleanup(os.close, writer)
        full = open("/dev/full", "wb")
        self.addCleanup(full.close)
        for name, options in (("closed", {"stdout": None, "preexec_fn": lambda: os.close(1)}), ("full", {"stdout": full}),
                              ("nobody reads", {"stdout": writer})):
            _, errors = (process := self.start(**options)).communicate(json.dumps(EVENT).encode(), timeout=PATIENCE)
            self.assertEqual(process.returncode, 2, name)
            self.assertIn("cannot be written to standard output", errors.decode(), name)

    def test_silence_that_is_meant_is_no_denial(self):
        process = self.start("starter", stdout=None, preexec_fn=lambda: os.close(1))
        process.communicate(json.dumps(EVENT).encode(), timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)

    def test_one_that_is_ended_before_it_decided_denies(self):
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGABRT, signal.SIGSEGV):
            process = self.start()
            self.wait_until_it_reads(process)
            process.send_signal(how)
            out, _ = process.communicate(timeout=PATIENCE)
            self.assert_denied(process.returncode, out)
            self.assertIn("ended before it decided", out.decode(), how)

    def wait_until_it_reads(self, process):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            blocked = pathlib.Path(f"/proc/{process.pid}/syscall").read_text().split()
            if blocked[:2] == ["0", "0x0"]:  # bytes read from standard input
                return
            time.sleep(0.01)
        self.fail("it does not read")

    def test_too_little_memory_or_too_few_files_deny(self):
        self.good("demo", "--yes", "--no-pause", "--plain")
        large = json.dumps({**EVENT, "tool_input": {"content": "x" * (15 << 20)}}).encode()
        for limit in (limited(resource.RLIMIT_AS, 150 << 20), limited(resource.RLIMIT_AS, 200 << 20),
                      limited(resource.RLIMIT_NOFILE, 6), limited(resource.RLIMIT_NOFILE, 10)):
            process = self.start("starter", preexec_fn=limit)
            out, errors = process.communicate(large, timeout=PATIENCE)
            if process.returncode == 127:
                self.skipTest("it cannot even be loaded: " + errors.decode())
            self.assert_denied(process.returncode, out)


class Streams(CliTest):
    def test_an_answer_that_cannot_be_written_is_no_success(self):
        self.make_ledger()
        for command in (["ledger", "tail"], ["ledger", "verify"], ["keys", "show"], ["ledger", "export"], ["ledger", "stats"], ["--version"]):
            done = subprocess.run([BIN, *command, "--data-dir", str(self.data)], stderr=subprocess.PIPE, env=self.environment(),
                                  preexec_fn=lambda: os.close(1), timeout=PATIENCE)
            self.assertEqual(done.returncode, 1, command)
            self.assertIn(b"cannot write: Bad file descriptor, standard output", done.stderr)

    def test_a_gate_on_standard_streams_needs_them(self):
        # it once was exit code 70 and "please report this"
        for number, name in ((0, "input"), (1, "output")):
            outcome = subprocess.run([BIN, "mcp", "--data-dir", str(self.data), "--", "true"], stderr=subprocess.PIPE, timeout=PATIENCE,
                                     env=self.environment(), preexec_fn=lambda: os.close(number), text=True)
            self.assertEqual(outcome.returncode, 64)
            self.assertIn(f"sallyport: standard {name} is closed; an MCP client starts this command", outcome.stderr)

    def test_what_is_said_into_closed_streams_ends_up_in_no_file(self):
        # the next opened file once got the number of a closed standard stream
        closed = lambda: os.closerange(0, 3)
        done = subprocess.run([BIN, "demo", "--yes", "--no-pause", "--plain", "--data-dir", str(self.data)], env=self.environment(),
                              preexec_fn=closed, timeout=PATIENCE)
        self.assertEqual(done.returncode, 1)
        self.good("ledger", "verify")
        for file in self.data.rglob("*"):
            if file.is_file():
                self.assertNotIn(b"a scripted agent", file.read_bytes(), file)


class Keys(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    def test_a_key_that_others_can_read_is_told_by_doctor_and_by_whoever_writes(self):
        for name in ("signing.key", "digest.key", "box.key", "origin"):
            file = self.data / "keys" / name
            if not file.exists():
                continue
            file.chmod(0o644)
            self.assertEqual(self.refused(1, "keys", "rotate"),
                             f"sallyport: {file} is open to others (mode 0644); run `chmod 0600 {file}`\n")
            doctor = self.cli("doctor")
            self.assertEqual(doctor.code, 1)
            self.assertRegex(doctor.out, f"fail {name} +.* has mode 0644, other users can read it; chmod 0600")
            self.assertEqual(doctor.out.count("fail "), 1, doctor.out)
            file.chmod(0o600)

    def test_a_key_that_is_spoiled_is_damage_and_no_wrong_usage(self):
        for name in ("signing.key", "digest.key", "box.key"):
            file = self.data / "keys" / name
            before = file.read_bytes() if file.exists() else None
            file.write_text("garbage\n")
            file.chmod(0o600)
            self.assertRegex(self.refused(1, "keys", "rotate"), f"{name} is spoiled: .*; restore it from a copy")
            self.assertRegex(self.cli("doctor").out, "fail " + ("signing key" if name == "signing.key" else name))
            if name == "signing.key":
                self.assertIn("or pin a key with --key", self.refused(1, "ledger", "verify"))
            file.write_bytes(before) if before else file.unlink()
        self.good("keys", "rotate")


class Leftovers(CliTest):
    def test_what_killed_processes_left_is_removed_by_the_next_start(self):
        # locks of killed hooks and partial files once stayed forever
        self.make_ledger()
        old = [self.data / "instances" / "0123.lock", self.data / "witness.77.tmp", self.data / "keys" / "signing.key.next.78.tmp"]
        new = [self.data / "witness.79.tmp", self.data / "witness.notes.tmp"]
        for file in old + new:
            file.write_text("PRIVATE")
        for file in old + new[1:]:
            os.utime(file, (time.time() - 3600,) * 2)
        self.good("keys", "rotate")
        self.assertEqual([file for file in old if file.exists()], [])
        self.assertEqual([file for file in new if not file.exists()], [])

    def test_a_folder_in_the_place_of_a_file_is_called_one(self):
        self.make_ledger()
        (self.data / "witness").unlink(missing_ok=True)
        (self.data / "witness").mkdir()
        self.assertIn("witness is not a file; move it away", self.refused(1, "keys", "rotate"))

    def test_an_emptied_ledger_is_seen_by_doctor(self):
        self.make_ledger()
        for file in self.data.glob("ledger.db-*"):
            file.unlink()
        os.truncate(self.data / "ledger.db", 0)
        self.assertIn("restore the ledger file", self.refused(1, "keys", "rotate"))
        self.assertRegex(self.cli("doctor").out, "fail ledger +")


class Limits(CliTest):
    # LE-48 LE-73
    def test_what_could_not_be_read_is_not_called_invalid(self):
        # the report once was NOT VALID if the process only lacked descriptors
        self.make_ledger()
        seen = set()
        for files in range(4, 16):
            outcome = self.cli("ledger", "verify", preexec_fn=limited(resource.RLIMIT_NOFILE, files))
            if outcome.code == 127:
                continue  # its libraries could not be loaded
            seen.add(outcome.code)
            self.assertNotIn("NOT VALID", outcome.out, files)
            self.assertIn(outcome.code, (0, 1), outcome.err)
            if outcome.code == 1:
                self.assertIn("Too many open files", outcome.err)
        self.assertEqual(seen, {0, 1})

    def test_limits_of_the_process_are_no_fault_of_ours(self):
        # it once was exit code 70 and "please report this"
        self.make_ledger()
        config = self.write("serve.yaml", "version: 1\nserve: {listen: \"127.0.0.1:0\"}\n")
        for files in (12, 14, 16):
            done = subprocess.run([BIN, "serve", "--config", str(config), "--data-dir", str(self.data)], capture_output=True, text=True,
                                  env=self.environment(), preexec_fn=limited(resource.RLIMIT_NOFILE, files), timeout=PATIENCE)
            self.assertEqual(done.returncode, 1, (files, done.stderr))
            self.assertIn("Too many open files", done.stderr)
            self.assertNotIn("report", done.stderr)


class Releases(CliTest):
    # LE-81
    def test_a_ledger_of_a_newer_release_is_read_and_not_written(self):
        self.make_ledger()
        self.sql("PRAGMA user_version = 3")
        self.sql("ALTER TABLE facts ADD COLUMN later TEXT")
        for command in (["ledger", "tail"], ["ledger", "verify"]):
            read = self.cli(*command)
            self.assertEqual(read.code, 0, read.err)
            self.assertRegex(read.err, "written by a newer release, and is read only here")
        self.assertIn("newer release (schema 3, this one knows 2); use that release to write", self.refused(1, "keys", "rotate"))
        doctor = self.cli("doctor")
        self.assertEqual(doctor.code, 1)
        self.assertRegex(doctor.out, "fail ledger +.* written by a newer release")

    # LE-81
    def test_one_that_cannot_be_read_says_who_can(self):
        self.make_ledger()
        self.sql("PRAGMA user_version = 3")
        self.sql("ALTER TABLE entries RENAME COLUMN openings TO seals")
        for command in (["ledger", "tail"], ["ledger", "verify"], ["keys", "rotate"], ["ledger", "export"]):
            outcome = self.cli(*command)
            self.assertEqual(outcome.code, 1, command)
            self.assertIn("newer release (schema 3)", outcome.err, command)
            self.assertIn("use that release", outcome.err, command)

    def sql(self, statement):
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db")) as database, database:
            database.execute(statement)


class Serving(ServeTest):
    def heard(self, server, words):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if any(words in line for line in list(server.errors)):
                return
            time.sleep(0.02)
        self.fail(f"{words!r} was not said: {''.join(server.errors)}")

    # LE-77
    def test_the_log_says_when_calls_are_refused_and_when_they_are_accepted_again(self):
        config = self.configure()
        config.write_text(config.read_text() + "ledger: {lock_wait_ms: 50}\n")
        server = self.start(config)
        session = Session(server)
        session.said("echo", {"message": "before"})
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db", isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            session.call("echo", {"message": "meanwhile"})
            self.heard(server, "calls are refused until the ledger can be written: ledger_unavailable: busy")
            database.execute("ROLLBACK")
        self.heard(server, "the ledger takes entries again")
        self.assertEqual(session.said("echo", {"message": "after"}), "after")
        self.assertEqual(server.stop(), 0)
        self.heard(server, "SIGTERM: shutting down")
        self.assertEqual(len([line for line in server.errors if "takes entries again" in line]), 1)

    def start(self, config, **options):
        server = Server(self, config, **options)
        self.addCleanup(self.end_server, server)
        return server

    def test_who_was_started_to_outlive_a_terminal_does(self):
        # SIGHUP once ended it, even under `nohup`
        process = subprocess.Popen([BIN, "serve", "--json", "--config", str(self.configure())], env=self.environment(), cwd=self.folder,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        process.send_signal(signal.SIGHUP)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(1)
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_policy_whose_file_goes_stays_in_force_and_that_is_told(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        server = self.serve("policy: policy.yaml")
        policy.unlink()
        self.heard(server, f"the file of the policy is not there, the last good one stays in force: {policy}")
        self.assertEqual(Session(server).said("echo", {"message": "x"}), "x")
        policy.write_text("version: 1\nautonomy: {tier: act_auto}\nlimits: {call_ms: 30000}\n")
        self.heard(server, "a new policy is in force")

    def test_a_port_and_a_socket_that_are_taken_are_named(self):
        server = self.serve()
        taken = self.write("taken.yaml", f"version: 1\ndata_dir: data\nserve: {{listen: '127.0.0.1:{server.url.port}'}}\n")
        self.assertIn("Address already in use; end the process that does, or name another port", self.refused(1, "serve", "--config", taken))
        other = self.write("other.yaml", "version: 1\ndata_dir: data\nserve: {listen: '127.0.0.1:0'}\n")
        self.assertIn(f"another process listens on {self.data}/hook.sock", self.refused(1, "serve", "--config", other))
        server.process.kill()
        server.process.wait()
        again = self.serve()  # the leftovers of a dead process do no harm
        self.assertEqual(Session(again).said("echo", {"message": "x"}), "x")

    def test_closed_standard_streams_are_nobody_elses(self):
        config = self.configure()
        process = subprocess.Popen([BIN, "serve", "--config", str(config)], env=self.environment(), cwd=self.folder,
                                   preexec_fn=lambda: os.closerange(0, 3))
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        socket = self.data / "hook.sock"
        end = time.monotonic() + PATIENCE
        while not socket.exists() and time.monotonic() < end:
            time.sleep(0.02)
        self.assertTrue(socket.exists())
        self.assertEqual([os.readlink(f"/proc/{process.pid}/fd/{number}") for number in range(3)], ["/"] * 3)
        process.terminate()
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_idle_connections_give_way_when_no_descriptors_are_left(self):
        server = self.limited_server(64)
        for _ in range(60):
            server.connection().connect()
        status, _, _ = server.ask("GET", "/healthz")
        self.assertEqual(status, 200)
        self.heard(server, "new connections wait: Too many open files")

    def limited_server(self, files):
        program = self.write("limited", f'#!/bin/sh\nulimit -n {files}\nexec "{pathlib.Path(BIN).resolve()}" "$@"\n')
        program.chmod(0o755)
        return self.start(self.configure(), program=program)


if __name__ == "__main__":
    unittest.main()
