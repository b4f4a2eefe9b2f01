#!/usr/bin/env python3
"""Programs and addresses of `external:` decide nothing if an agent may write them, or if they hang, flood, fork or lie."""
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest
import http.server

from cli_support import BIN
from external_support import HEAD, ONCE, OPEN, ExternalTest
from mcp_support import alive

ALLOW = 'say(verdict="allow")\n'
SECRET = "the-secret-of-this-test-0815"


class Programs(ExternalTest):
    def refused(self, path, words, sections=OPEN, command=None):
        """Checks that the policy is refused at load, with the position of the command."""
        entry = self.entry(path)
        if command:
            entry["command"] = command
        policy = self.external_policy(entry, sections=sections)
        done = self.cli("policy", "check", policy)
        self.assertEqual(done.code, 1, done.out)
        self.assertIn(words, done.err)
        self.assertRegex(done.err, r"policy\.yaml:\d+:\d+: ")
        client = self.client(options=("--name", "fake", "--policy", str(policy)))
        self.assertNotEqual(client.process.wait(60), 0)

    # RU-68: a user who may write the program controls its decisions.
    def test_a_program_that_others_may_write_is_refused(self):
        guard = self.program("guard.py", ALLOW)
        for mode in (0o775, 0o757):
            guard.chmod(mode)
            self.refused(guard, "can be written by other users")
        guard.chmod(0o755)
        self.folder.chmod(0o777)
        self.refused(guard, "can be written by other users")
        self.folder.chmod(0o700)

    # RU-68: a script counts as a program, whichever interpreter runs it, and so does the program in its first line.
    def test_a_script_behind_an_interpreter_is_looked_at_too(self):
        script = self.program("guard.py", ALLOW)
        script.chmod(0o777)
        self.refused(None, "can be written by other users", command=[sys.executable, "-SE", str(script)])
        interpreter = self.program("interpreter", "exec /bin/true\n", head="#!/bin/sh\n")
        interpreter.chmod(0o777)
        named = self.program("named", "", head=f"#!{interpreter}\n")
        self.refused(named, "can be written by other users")

    # RU-68
    def test_a_program_of_another_user_is_refused(self):
        self.assertEqual(os.geteuid(), 0, "this test gives files away, which root may")
        guard = self.program("guard.py", ALLOW)
        os.chown(guard, 12345, 12345)
        self.refused(guard, "belongs to user 12345")

    # RU-68: the rule also applies through a link.
    def test_a_program_in_the_workspace_is_refused(self):
        work = self.folder / "work"
        work.mkdir()
        guard = self.program("work/guard.py", ALLOW)
        sections = OPEN + f"workspace: {work}\n"
        self.refused(guard, "lies in the workspace", sections)
        link = self.folder / "link.py"
        link.symlink_to(guard)
        self.refused(link, "lies in the workspace", sections)

    # RU-68: the program is checked again at each start, with the workspace of the call.
    def test_a_program_that_changed_after_loading_is_not_started(self):
        guard = self.program("guard.py", ALLOW)
        client = self.gate(self.entry(guard))
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        guard.chmod(0o777)
        self.assertTrue(self.echo(client)[1])
        client.wait_for_error("can be written by other users")

    # RU-68: the folder that the host calls the agent's project is also a workspace.
    def test_a_program_in_the_project_of_a_coding_agent_is_not_started(self):
        guard = self.program("guard.py", ALLOW + 'open(sys.argv[0] + ".ran", "w")\n')
        policy = self.external_policy(self.entry(guard))
        event = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": str(self.folder), "tool_name": "Bash",
                 "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"}
        said = self.good("hook", "--agent", "claude-code", "--policy", policy, stdin=json.dumps(event).encode(),
                         env=self.environment(HOME="/nowhere")).json()
        self.assertEqual(said["hookSpecificOutput"]["permissionDecision"], "deny")
        self.assertFalse((self.folder / "guard.py.ran").exists())

    # RU-68: no shell runs, not even for a file that the kernel cannot execute.
    def test_a_file_without_an_interpreter_is_given_to_no_shell(self):
        guard = self.program("guard", f"touch {self.folder}/ran\necho '{{\"verdict\":\"allow\"}}'\n", head="")
        client = self.gate(self.entry(guard))
        self.assertTrue(self.echo(client)[1])
        self.assertFalse((self.folder / "ran").exists())

    # RU-68: the program gets only the named variables, descriptors, privileges and limits.
    def test_a_program_gets_only_what_is_named(self):
        guard = self.program("guard.py", """
status = open("/proc/self/status").read()
json.dump({"environment": dict(os.environ), "open": [os.readlink("/proc/self/fd/" + fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 2 and os.path.exists("/proc/self/fd/" + fd)],
           "cwd": os.getcwd(), "privileges": "NoNewPrivs:\\t1" in status, "limits": open("/proc/self/limits").read()}, open(sys.argv[0] + ".seen", "w"))
""" + ALLOW)
        client = self.gate(self.entry(guard, env=["WANTED"]), env={"WANTED": SECRET, "UNWANTED": "x", "AWS_SECRET_ACCESS_KEY": "y"})
        self.assertFalse(self.echo(client)[1])
        seen = json.loads((self.folder / "guard.py.seen").read_text())
        environment = {name: value for name, value in seen["environment"].items() if name != "LC_CTYPE"}
        self.assertEqual(environment, {"WANTED": SECRET, "SALLYPORT_DATA_DIR": str(self.data), "SALLYPORT_AGENT": "external:check"})
        self.assertEqual([name for name in seen["open"] if not name.startswith(("/proc", str(self.folder / "guard.py")))], [])
        self.assertEqual((seen["cwd"], seen["privileges"]), ("/", True))
        self.assertRegex(seen["limits"], r"Max core file size +0 ")
        self.assertRegex(seen["limits"], r"Max open files +256 ")

    # RU-68: no record and no log holds the value of a named variable, whatever the program does with it.
    def test_the_value_of_a_variable_is_in_no_record(self):
        guard = self.program("guard.py", """
print("cannot use", os.environ["TOKEN"], file=sys.stderr)
if q["call"]["input"]["message"] == "fail":
    sys.exit(1)
say(verdict="deny", message="sent " + os.environ["TOKEN"], rule=os.environ["TOKEN"])
""")
        client = self.gate(self.entry(guard, env=["TOKEN"], sees="input"), env={"TOKEN": SECRET})
        self.assertEqual(self.echo(client, "x"), ("sent [REDACTED:TOKEN]", True))
        self.assertTrue(self.echo(client, "fail")[1])
        client.wait_for_error("it says: cannot use")
        client.close()
        everything = json.dumps(self.good("ledger", "show", "--limit", "10000", "--json").lines()) + "".join(client.errors)
        self.assertNotIn(SECRET, everything)


class Behaviour(ExternalTest):
    def pids(self, name):
        path = self.folder / name
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def all_gone(self, name, count):
        end = time.monotonic() + 30
        while time.monotonic() < end:
            pids = self.pids(name)
            if len(pids) >= count and not any(alive(pid) for pid in pids):
                return
            time.sleep(0.02)
        self.fail(f"still there: {[pid for pid in self.pids(name) if alive(pid)]}")

    # RU-68 RU-66: the whole group is killed at the deadline.
    def test_a_program_that_hangs_is_killed_with_its_children_at_the_deadline(self):
        guard = self.program("guard.py", """
child = os.fork()
open(sys.argv[0] + ".pids", "a").write(f"{os.getpid()}\\n")
time.sleep(600)
""")
        client = self.gate(self.entry(guard, deadline_ms=1500))
        begin = time.monotonic()
        text, error = self.echo(client)
        self.assertTrue(error)
        self.assertIn("timeout", text)
        self.assertLess(time.monotonic() - begin, 60)
        self.all_gone("guard.py.pids", 2)

    # RU-68: its child processes die with it and do not delay the answer.
    def test_a_child_that_stays_behind_is_killed_and_not_waited_for(self):
        guard = self.program("guard.py", """
child = os.fork()
if child == 0:
    open(sys.argv[0] + ".pids", "a").write(f"{os.getpid()}\\n")
    time.sleep(600)
while not os.path.exists(sys.argv[0] + ".pids"):
    time.sleep(0.01)
""" + ALLOW)
        client = self.gate(self.entry(guard))
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        self.all_gone("guard.py.pids", 1)

    # RU-66: endless output, endless errors or a closed input can only deny the call or give the normal answer.
    def test_floods_and_closed_streams_end_in_a_verdict(self):
        bodies = {"flood": ("while True: os.write(1, b'x' * 65536)\n", True),
                  "errors": ("for _ in range(2000): os.write(2, b'x' * 4096)\n" + ALLOW, False),
                  "deaf": ("os.close(0)\n" + ALLOW, False),
                  "mute": ("os.close(1)\n", True),
                  "twice": (ALLOW + ALLOW, True),
                  "zeros": ("os.write(1, b'\\0' * 100)\n", True)}
        for name, (body, denied) in bodies.items():
            with self.subTest(name):
                client = self.gate(self.entry(self.program(name + ".py", body, head=HEAD), id=name))
                self.assertEqual(self.echo(client, "x" * 300_000)[1], denied)
                client.close()

    # RU-70: an unrequested line or a second answer ends the process and allows nothing.
    def test_a_serving_program_that_answers_what_was_not_asked_is_ended(self):
        server = self.program("server.py", """
for line in sys.stdin:
    q = json.loads(line)
    message = q["call"]["input"]["message"]
    if message == "guess":
        say(id=q["id"] + 1, verdict="allow")
    elif message == "twice":
        say(id=q["id"], verdict="deny", message="no"); say(id=q["id"], verdict="allow")
    elif message == "nameless":
        say(verdict="allow")
    elif message == "hang":
        time.sleep(600)
    else:
        say(id=q["id"], verdict="allow")
""", head=HEAD)
        client = self.gate(self.entry(server, mode="serve", sees="input", deadline_ms=3000))
        for message in ("guess", "twice", "nameless", "hang"):
            self.assertTrue(self.echo(client, message)[1], message)

    # RU-68 AP-29: the program counts as an agent's child.
    def test_a_guard_cannot_answer_approval_requests(self):
        guard = self.program("guard.py", f"""
import subprocess
environment = {{name: value for name, value in os.environ.items() if name != "SALLYPORT_AGENT"}}
for env in (dict(os.environ), environment):
    done = subprocess.run([{BIN!r}, "approvals", "list", "--data-dir", {str(self.data)!r}], env={{**env, "HOME": "/nowhere"}}, capture_output=True, text=True)
    open(sys.argv[0] + ".said", "a").write(json.dumps([done.returncode, done.stderr]) + "\\n")
""" + ALLOW)
        client = self.gate(self.entry(guard))
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        said = self.lines_of("guard.py.said")
        self.assertEqual(len(said), 2)
        for code, words in said:
            self.assertEqual(code, 1, words)
            self.assertIn("agent", words)


if __name__ == "__main__":
    unittest.main()
