#!/usr/bin/env python3
"""Calls of our own agent that wait for a person, were refused by one, or are proposed, across runs and kills."""
import fcntl
import json
import os
import pty
import select
import signal
import subprocess
import termios
import time
import unittest

from agent_support import ScriptedAgents, call, shell
from cli_support import BIN

ASKS = {"version": 1, "autonomy": {"tier": "act_with_approval"}}
ONE_SHELL_CALL = [{"calls": [shell("echo once >> log")]}, {"text": "done"}]
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


class Killed(Waiting):
    # A person who had refused a call was asked about it again.
    # RT-86, AU-75 (partly)
    def test_a_no_before_the_kill_is_not_asked_for_again(self):
        process = self.start([{"calls": [call("write_file", path="a", content="1"), shell("echo once >> log")]}, {"text": "done"}])
        self.answer("deny", self.asked("write_file"))
        question = self.asked("shell")
        self.kill(process)
        self.answer("approve", question)
        report = self.resume()
        self.assertEqual((report["status"], report["tool_calls"]), ("finished", 1))
        self.assertEqual(self.results(), ["Blocked: rejected", "[exit code 0]"])
        self.assertEqual(self.lines(), ["once"])
        self.assertFalse((self.work / "a").exists())
        self.assertEqual([one for one in self.records() if one[2]], [("script_0_0", "blocked", True), ("script_0_1", "completed", True)])

    # RT-86, AU-75
    def test_a_no_after_the_kill_reaches_the_model(self):
        process = self.start(ONE_SHELL_CALL)
        question = self.asked("shell")
        self.kill(process)
        self.answer("deny", question)
        self.assertEqual(self.resume()["status"], "finished")
        self.assertEqual((self.results(), self.lines()), (["Blocked: rejected"], []))
        self.assertEqual(self.pending(), [])

    # The call was prepared again, so the yes did not fit, and the person was asked a second time.
    # AU-75, AU-32 (partly), RT-84
    def test_a_yes_after_the_kill_runs_the_call_that_was_asked_about(self):
        for turns, done in ((ONE_WRITE, "a"), (ONE_SHELL_CALL, "log")):
            with self.subTest(done=done):
                self.name = f"s-{done}"
                process = self.start(turns)
                question = self.asked(turns[0]["calls"][0]["tool"])
                self.kill(process)
                self.answer("approve", question)
                report = self.resume()
                self.assertEqual((report["status"], report["tool_calls"]), ("finished", 1))
                self.assertTrue((self.work / done).exists())
                self.assertEqual(self.pending(), [])
                self.assertEqual([one[1:] for one in self.records()][-2:], [("requires_confirmation", False), ("completed", True)])

    # RT-87 (partly)
    def test_a_question_that_is_still_open_is_waited_for(self):
        process = self.start(ONE_WRITE)
        question = self.asked("write_file")
        self.kill(process)
        self.assertEqual(self.resume("--park")["status"], "awaiting_approval")
        process = self.start_agent("resume", self.agent, "s-1")
        time.sleep(1)
        self.assertIsNone(process.poll())
        self.assertEqual([one["request_id"] for one in self.pending()], [question["request_id"]])
        self.answer("approve", question)
        self.assertEqual(self.report_of(process)["status"], "finished")
        self.assertTrue((self.work / "a").exists())

    # The parked turn was forgotten if the run that resumed it did not come to its end.
    # AU-75, RT-84
    def test_a_parked_turn_survives_a_resume_that_was_killed(self):
        for times in range(6):
            with self.subTest(times=times):
                (self.work / "a").unlink(missing_ok=True)
                session = f"s-{times}"
                agent = self.write_agent(ONE_WRITE)
                self.run_to_end("run", agent, "work", "--session", session, "--park")
                (question,) = self.pending()
                self.answer("approve", question)
                process = self.start_agent("resume", agent, session)
                time.sleep(0.02 * times)
                self.kill(process)
                self.run_to_end("resume", agent, session)
                self.assertEqual(self.pending(), [])
                # A run that was killed behind its last message leaves nothing to resume.
                self.assertIn("done", json.dumps(self.transcript(session)[-1]))
                self.assertTrue((self.work / "a").exists())


class Parked(Waiting):
    # The calls over the budget ran when the turn was resumed.
    # RT-72
    def test_a_parked_turn_does_not_exceed_the_budget(self):
        calls = [call("write_file", path=name, content="1") for name in "ab"]
        report = self.park([{"calls": calls}, {"text": "done"}],
                           limits={"deadline_s": 60, "model_requests": 9, "tool_calls": 1, "tokens": 1000})
        self.assertEqual((report["status"], report["tool_calls"]), ("awaiting_approval", 1))
        report = self.resume("--park")
        self.assertEqual((report["status"], report["tool_calls"]), ("awaiting_approval", 0))
        self.answer("approve", self.asked("write_file"))
        report = self.resume("--park")
        self.assertEqual((report["status"], report["reason"], report["tool_calls"]), ("aborted", "tool_budget_exceeded: 1 tool calls", 1))
        self.assertEqual(sorted(os.listdir(self.work)), ["a"])
        self.assertEqual([one for one in self.records() if one[2]], [("script_0_0", "completed", True), ("script_0_1", "blocked", True)])
        self.assertEqual(self.assert_balanced(self.transcript("s-1")), [])

    # A turn of over 1 MiB was not kept, so the yes was lost and the person was asked again.
    # RT-87, AU-75
    def test_a_large_turn_goes_on_after_a_yes(self):
        for size in (1_200_000, 6_000_000):
            with self.subTest(size=size):
                self.name = f"s-{size}"
                report = self.park([{"calls": [call("write_file", path="a", content="1" * size)]}, {"text": "done"}],
                                   limits={"deadline_s": 600, "model_requests": 9, "tool_calls": 9, "tokens": 10**9})
                self.assertEqual(report["status"], "awaiting_approval", report["reason"])
                self.assertEqual(self.session(self.name)["runs"][-1]["status"], "awaiting_approval")
                self.answer("approve", self.asked("write_file"))
                self.assertEqual(self.resume()["status"], "finished")
                self.assertEqual((self.work / "a").stat().st_size, size)
                self.assertEqual(self.pending(), [])

    # The run ended as waiting, although nothing had asked it to park.
    # RT-87
    def test_without_park_a_resumed_turn_waits_for_its_next_question(self):
        self.park([{"calls": [call("write_file", path=name, content="1") for name in "ab"]}, {"text": "done"}])
        self.answer("approve", self.asked("write_file"))
        process = self.start_agent("resume", self.agent, "s-1")
        self.wait_until((self.work / "a").exists)
        self.answer("approve", self.asked("write_file"))
        self.assertEqual(self.report_of(process)["status"], "finished")
        self.assertEqual(sorted(os.listdir(self.work)), ["a", "b"])

    # RT-74 (partly), RT-87 (partly)
    def test_a_cancel_of_that_wait_leaves_the_turn_to_the_next_resume(self):
        self.park([{"calls": [call("write_file", path=name, content="1") for name in "ab"]}, {"text": "done"}])
        self.answer("approve", self.asked("write_file"))
        process = self.start_agent("resume", self.agent, "s-1")
        self.wait_until((self.work / "a").exists)
        question = self.asked("write_file")
        process.send_signal(signal.SIGINT)
        self.assertEqual(self.report_of(process)["status"], "aborted")
        self.answer("approve", question)
        self.assertEqual(self.resume()["status"], "finished")
        self.assertEqual(sorted(os.listdir(self.work)), ["a", "b"])
        self.assertEqual(self.pending(), [])


class Proposed(Waiting):
    def setUp(self):
        super().setUp()
        self.use({"version": 1, "autonomy": {"tier": "suggest"}})

    # No process ran an approved proposal of our own agent, and none ended a refused one.
    # AP-22, EV-38, AU-32 (partly)
    def test_the_next_run_of_the_session_runs_an_approved_proposal_once(self):
        turns = [{"calls": [call("write_file", path=name, content="1") for name in "ab"]}, {"text": "one"}, {"text": "two"}, {"text": "three"}]
        report = self.park(turns)
        self.assertEqual((report["status"], report["text"]), ("finished", "one"))
        for result in self.results():
            self.assertIn("proposed: `write_file` was not run", result)
        first, second = sorted(self.pending(), key=lambda one: one["request_id"])
        self.answer("approve", first)
        self.answer("deny", second)
        for task in ("next", "last"):
            report, _ = self.run_to_end("run", self.agent, task, "--session", "s-1")
            self.assertEqual(report["status"], "finished")
        self.assertEqual(sorted(os.listdir(self.work)), ["a"])
        self.assertEqual(sorted(self.records()), [
            ("script_0_0", "completed", True), ("script_0_0", "requires_confirmation", False),
            ("script_0_1", "blocked", True), ("script_0_1", "requires_confirmation", False)])


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
