#!/usr/bin/env python3
"""Calls of our own agent that wait for a person."""
import fcntl
import json
import os
import pty
import select
import subprocess
import termios
import time
import unittest

from agent_support import ScriptedAgents, call
from cli_support import BIN

ASKS = {"version": 1, "autonomy": {"tier": "act_with_approval"}}
ONE_WRITE = [{"calls": [call("write_file", path="a", content="1")]}, {"text": "done"}]


class Waiting(ScriptedAgents):
    def setUp(self):
        super().setUp()
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        self.key = self.folder / "ada.key"
        self.good("approvals", "init", "--name", "user:ada", "--key-file", self.key, "--passphrase-file", self.words,
                  "--register")
        self.use(ASKS)
        self.name = "s-1"  # of the session

    def use(self, policy):
        self.POLICY = self.write("policy.json", json.dumps(policy))

    def pending(self):
        listed = self.cli("approvals", "list", "--json")
        return listed.lines() if listed.code == 0 else []  # at first there is no ledger

    def asked(self, tool):
        """Waits until a person is asked about this tool, and returns the question."""
        found = []
        self.wait_until(lambda: found.extend(one for one in self.pending() if one["tool_name"] == tool) or found)
        return found[0]

    def answer(self, verb, question):
        self.good("approvals", verb, question["request_id"], "--key-file", self.key, "--passphrase-file", self.words)

    def start(self, turns, **keys):
        self.agent = self.write_agent(turns, **keys)
        return self.start_agent("run", self.agent, "work", "--session", self.name)

    def park(self, turns, **keys):
        self.agent = self.write_agent(turns, **keys)
        report, _ = self.run_to_end("run", self.agent, "work", "--session", self.name, "--park")
        return report

    def resume(self, *more):
        return self.run_to_end("resume", self.agent, self.name, *more)[0]

    def results(self):
        return [item["content"][0]["text"] for item in self.transcript(self.name) if item["role"] == "tool"]

    def records(self):
        rows = self.good("ledger", "show", "--kind", "tool_audit", "--limit", "1000", "--json").lines()
        return [(row["record"]["tool_call_id"], row["record"]["outcome"]["kind"], row["record"]["terminal"]) for row in rows]

    @staticmethod
    def kill(process):
        process.kill()
        process.wait(30)


class Terminal(Waiting):
    # The record named a form of an MCP client.
    # AP-3 (partly)
    def test_an_answer_at_the_terminal_of_the_agent_says_so(self):
        (self.data / "reviewers.yaml").write_text(
            "reviewers:\n  - {name: \"user:ada\", client: \"agent:worker\", roles: [approver]}\n")
        agent = self.write_agent(ONE_WRITE)
        master, slave = pty.openpty()
        command = [BIN, "agent", "run", "work", "--session", "s-1", "--agent", agent, "--policy", self.POLICY, "--data-dir", self.data]
        process = subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=self.environment(), cwd=self.folder,
                                   start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.addCleanup(process.kill)
        os.close(slave)
        shown, answered = "", False
        while True:
            ready, _, _ = select.select([master], [], [], 60)
            try:
                piece = os.read(master, 65536) if ready else b""
            except OSError:
                piece = b""
            if not piece:
                break
            shown += piece.decode("utf-8", "replace")
            if not answered and "/N]" in shown:
                answered = True
                time.sleep(0.3)  # what was typed before the question is no answer
                os.write(master, b"y\n")
        os.close(master)
        self.assertEqual(process.wait(60), 0, shown)
        self.assertTrue((self.work / "a").exists(), shown)
        bodies = [row["body"] for row in self.good("ledger", "show", "--kind", "approval", "--limit", "100", "--json").lines()]
        self.assertEqual({body["door"] for body in bodies if body.get("door")}, {"cli:client"})


if __name__ == "__main__":
    unittest.main()
