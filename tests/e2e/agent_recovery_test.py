#!/usr/bin/env python3
"""An agent continues after its process was killed, interrupted, cancelled, stopped or parked."""
import json
import os
import random
import signal
import subprocess
import time
import unittest

from agent_support import ScriptedAgents, call, shell

KILLS = int(os.environ.get("SALLYPORT_KILLS", "15"))
SEED = int(os.environ.get("SALLYPORT_SEED", str(random.randrange(1 << 32))))
TURNS = 12
UNKNOWN = "interrupted: outcome unknown"


class Killed(ScriptedAgents):
    def turns(self):
        turns = []
        for i in range(TURNS):
            calls = [shell(f"sleep 0.03; echo {i} >> log; sleep 0.03")]
            if i % 3 == 0:
                calls.append(call("list_files", path="."))
                calls.append(call("write_file", path=f"file-{i}", content=f"{i}\n"))
            if i % 4 == 1:
                calls.append(call("background_start", command=f"sleep 0.2; echo b{i} >> log"))
            turns.append({"text": f"step {i}", "calls": calls, "delay_ms": 10})
        return [*turns, {"text": "all is done"}]

    def check_end(self, session, before):
        items = self.transcript(session)
        self.assertEqual(self.assert_balanced(items), [])
        self.assertEqual(items[:len(before)], before)
        self.assertEqual(items[-1]["content"], [{"type": "text", "text": "all is done"}])
        results = {item["tool_call_id"]: item["content"][0] for item in items if item["role"] == "tool"}
        lines = self.lines()
        self.assertEqual(len(lines), len(set(lines)), "an effect happened twice")
        unknown = 0
        for item in items:
            for block in item["content"]:
                if block["type"] != "tool_call" or block["name"] != "shell":
                    continue
                number = block["input"]["command"].split()[3]
                result = results[block["id"]]
                if result["is_error"]:
                    self.assertIn(UNKNOWN, result["text"])
                    unknown += 1
                else:
                    self.assertIn(number, lines)
        notices = [block["task_id"] for item in items for block in item["content"] if block["type"] == "notice"]
        self.assertEqual(len(notices), len(set(notices)), "a notice was told twice")
        page = self.session(session)
        tasks = {task["task_id"]: task["status"] for task in page["tasks"]}
        self.assertNotIn("running", tasks.values())
        self.assertLessEqual(set(notices), set(tasks))
        for run in page["runs"]:
            self.assertIn(run["status"], ("finished", "aborted"))
            self.assertFalse(run["left_behind"])
            if run["status"] == "aborted":
                self.assertTrue(run["reason"].startswith("interrupted"), run)
        return unknown

    def kill_until_done(self, chance, number, wanted):
        """Runs one session to its end and returns the number of kills."""
        session, agent = f"s-{number}", self.write_agent(self.turns(), f"agent-{number}.json")
        kills, before = 0, []
        (self.work / "log").unlink(missing_ok=True)
        while True:
            begun = bool(before)
            process = (self.start_agent("resume", agent, session) if begun
                       else self.start_agent("run", agent, "do all of it", "--session", session))
            if kills < wanted:
                try:
                    process.wait(chance.uniform(0.02, 1.6))
                except subprocess.TimeoutExpired:  # it works, so it is killed now
                    process.kill()
                    kills += 1
            out, err = process.communicate(timeout=120)
            items = self.transcript(session)
            self.assertEqual(items[:len(before)], before, "a committed item was lost")
            self.assert_balanced(items)
            before = items
            if process.returncode == 0:
                break
            if process.returncode == -signal.SIGKILL:
                continue
            # The kill came between the last answer and the end of the run: no work is left.
            self.assertIn("nothing", err.decode(), out)
            self.assertEqual(items[-1]["content"][0]["text"], "all is done")
            break
        return session, kills, before

    # RT-84 RT-83 RT-85 RT-86 (partly) RT-51 (partly) RT-7 (partly) RT-9 RT-49 (partly)
    def test_a_task_ends_however_often_its_process_is_killed(self):
        chance = random.Random(SEED)
        kills, number, unknown = 0, 0, 0
        while kills < KILLS:
            number += 1
            session, more, before = self.kill_until_done(chance, number, min(KILLS - kills, 25))
            kills += more
            unknown += self.check_end(session, before)
        self.good("ledger", "verify")
        # Every call that was begun has exactly one recorded end.
        ended = {}
        for line in self.good("ledger", "show", "--kind", "tool_audit", "--terminal", "true", "--limit", "100000", "--json").lines():
            ended[line["entry"]["call_id"]] = ended.get(line["entry"]["call_id"], 0) + 1
        self.assertEqual([one for one, times in ended.items() if times != 1], [])
        print(f"{kills} kills in {number} sessions, {unknown} calls with an unknown outcome, seed {SEED}")

    # RT-53 (partly)
    def test_a_command_ends_with_its_runtime(self):
        agent = self.write_agent([{"calls": [shell("echo $$ > pid; exec sleep 60")]}, {"text": "on"}])
        process = self.start_agent("run", agent, "sleep", "--session", "s-1")
        self.wait_until(lambda: self.lines("pid"), "the command did not start")
        pid = int(self.lines("pid")[0])
        process.kill()
        process.wait(30)

        def gone():
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii") as state:
                    return state.read().split()[2] in ("Z", "X")
            except FileNotFoundError:
                return True
        self.wait_until(gone, "the command outlives its runtime", 10)
        report, _ = self.run_to_end("resume", agent, "s-1")
        self.assertEqual((report["status"], report["text"]), ("finished", "on"))
        results = [item["content"][0] for item in self.transcript("s-1") if item["role"] == "tool"]
        self.assertEqual([(result["is_error"], UNKNOWN in result["text"]) for result in results], [(True, True)])


class Interrupted(ScriptedAgents):
    LONG = "touch started; trap '' TERM; sleep 30; sleep 30"

    def started(self):
        return (self.work / "started").exists()

    def start(self, *turns):
        agent = self.write_agent(list(turns))
        process = self.start_agent("run", agent, "work", "--session", "s-1")
        self.wait_until(self.started, "the first command did not start")
        return agent, process

    # RT-74 RT-75
    def test_a_signal_ends_the_run_in_order(self):
        agent, process = self.start({"calls": [shell("touch started; sleep 60")]}, {"text": "on"})
        before = time.monotonic()
        process.send_signal(signal.SIGINT)
        report = self.report_of(process)
        self.assertLess(time.monotonic() - before, 15)
        self.assertEqual(report["status"], "aborted")
        self.assertTrue(report["reason"].startswith("cancelled"), report)
        self.assertEqual(self.assert_balanced(self.transcript("s-1")), [])
        events = self.good("ledger", "show", "--run", report["run_id"], "--kind", "event", "--json").lines()
        self.assertEqual(events[-1]["record"]["payload"]["kind"], "run_aborted")
        report, _ = self.run_to_end("resume", agent, "s-1")
        self.assertEqual((report["status"], report["text"]), ("finished", "on"))

    # RT-76
    def test_a_second_signal_ends_the_process_at_once(self):
        agent = self.write_agent([{"calls": [shell(self.LONG)]}, {"text": "on"}])
        for attempt in range(20):  # a run that ended normally before the second signal proves nothing
            (self.work / "started").unlink(missing_ok=True)
            session = f"s-{attempt}"
            process = self.start_agent("run", agent, "work", "--session", session)
            self.wait_until(self.started, "the command did not start")
            while process.poll() is None:
                process.send_signal(signal.SIGINT)
                time.sleep(0.002)
            status = self.session(session)["runs"][0]["status"]
            if process.returncode == 130 and status == "running":
                break
        self.assertEqual((process.returncode, status), (130, "running"))
        report, _ = self.run_to_end("resume", agent, session)
        self.assertEqual((report["status"], report["text"]), ("finished", "on"))
        first = self.session(session)["runs"][0]
        self.assertEqual(first["status"], "aborted")
        self.assertTrue(first["reason"].startswith("interrupted"), first)

    # RT-74
    def test_another_process_cancels(self):
        _, process = self.start({"calls": [shell("touch started; sleep 60")]}, {"text": "on"})
        before = time.monotonic()
        self.good("agent", "cancel", "s-1")
        report = self.report_of(process)
        self.assertLess(time.monotonic() - before, 15)
        self.assertEqual((process.returncode, report["status"]), (1, "aborted"))
        self.assertTrue(report["reason"].startswith("cancelled"), report)
        self.assertEqual(self.assert_balanced(self.transcript("s-1")), [])
        self.assertIn("aborted", self.refused(1, "agent", "cancel", "s-1"))

    # RT-77
    def test_another_process_stops_after_the_round(self):
        rounds = [{"calls": [shell("touch started; echo x >> log; sleep 0.2")]} for _ in range(100)]
        _, process = self.start(*rounds, {"text": "the end"})
        self.good("agent", "stop", "s-1")
        report = self.report_of(process)
        self.assertEqual(report["status"], "finished", report)
        self.assertLess(report["rounds"], 100)
        self.assertEqual(len(self.lines()), report["rounds"])
        self.assertEqual(self.assert_balanced(self.transcript("s-1")), [])

    # RT-79
    def test_a_second_runtime_is_told_who_works_on_the_session(self):
        agent, process = self.start({"calls": [shell("touch started; sleep 60")]}, {"text": "on"})
        before = self.transcript("s-1")
        report, told = self.run_to_end("resume", agent, "s-1")
        self.assertIsNone(report)
        self.assertRegex(told, r"s-1.*20\d\d-\d\d-\d\dT")
        self.assertEqual(self.transcript("s-1"), before)
        self.assertIsNone(process.poll())

    # RT-88
    def test_nothing_to_resume_is_an_error(self):
        agent = self.write_agent([{"text": "done"}])
        report, _ = self.run_to_end("run", agent, "work", "--session", "s-1")
        self.assertEqual(report["status"], "finished")
        report, told = self.run_to_end("resume", agent, "s-1")
        self.assertIsNone(report)
        self.assertIn("nothing", told)
        self.assertEqual(len(self.session("s-1")["runs"]), 1)

    # The session was created, and then listed.
    # RT-88 (partly)
    def test_a_session_that_is_not_there_is_not_resumed(self):
        agent = self.write_agent([{"text": "done"}])
        for more in ([], ["--message", "go on"]):
            outcome = self.run_bare(*self.command("resume", agent, "s-nope", *more))
            self.assertEqual((outcome.code, outcome.out), (1, ""))
            self.assertIn("there is no session `s-nope`", outcome.err)
        self.assertEqual(self.good("agent", "list", "--json").lines(), [])


class Parked(ScriptedAgents):
    POLICY = "ask-before-effects"

    def answer(self, verb):
        (question,) = self.good("approvals", "list", "--json").lines()
        words = self.write("words", "correct horse battery\n")
        words.chmod(0o600)
        key = self.folder / "ada.key"
        self.good("approvals", "init", "--name", "user:ada", "--key-file", key, "--passphrase-file", words, "--register")
        self.good("approvals", verb, question["request_id"], "--key-file", key, "--passphrase-file", words)

    def park(self):
        agent = self.write_agent([{"calls": [shell("echo once >> log")]}, {"text": "done"}])
        report, _ = self.run_to_end("run", agent, "work", "--session", "s-1", "--park")
        self.assertEqual(report["status"], "awaiting_approval", report)
        self.assertIsNotNone(report["continuation"])
        self.assertEqual(self.lines(), [])
        return agent

    # RT-87
    def test_a_parked_run_goes_on_after_a_yes_and_acts_once(self):
        agent = self.park()
        report, _ = self.run_to_end("resume", agent, "s-1", "--park")
        self.assertEqual(report["status"], "awaiting_approval")
        self.assertLessEqual(report["first_sequence"], report["last_sequence"])
        self.answer("approve")
        report, _ = self.run_to_end("resume", agent, "s-1", "--park")
        self.assertEqual((report["status"], report["text"]), ("finished", "done"))
        self.assertEqual(self.lines(), ["once"])
        self.assertEqual(self.assert_balanced(self.transcript("s-1")), [])

    # The message was dropped, and nothing said so.
    # RT-1, RT-87
    def test_a_message_for_a_session_that_waits_is_refused(self):
        agent = self.park()
        before = self.transcript("s-1")
        (question,) = self.good("approvals", "list", "--json").lines()
        for verb, given in (("run", ["more", "--session", "s-1"]), ("resume", ["s-1", "--message", "more"])):
            for park in ([], ["--park"]):
                report, told = self.run_to_end(verb, agent, *given, *park)
                self.assertIsNone(report)
                self.assertIn(f"waits for approval {question['request_id']}", told)
                self.assertIn("the message was not stored", told)
        self.assertEqual(self.transcript("s-1"), before)
        self.assertEqual(len(self.session("s-1")["runs"]), 1)
        self.answer("approve")
        report, _ = self.run_to_end("resume", agent, "s-1", "--message", "more", "--park")
        self.assertEqual((report["status"], report["text"]), ("finished", "done"))
        self.assertIn("more", json.dumps(self.transcript("s-1")))
        self.assertEqual(self.lines(), ["once"])

    # The call of a session that was not resumed was once open for ever, and its content could not be erased.
    # LE-57, LE-58, AP-21
    def test_a_parked_call_whose_approval_was_denied_can_be_erased(self):
        self.park()
        erase = ("ledger", "erase", "--session", "s-1", "--reason", "asked to")
        self.assertIn("is still open: answer or cancel", self.refused(1, *erase))
        self.answer("deny")
        login = ("--key-file", self.folder / "ada.key", "--passphrase-file", self.folder / "words")
        self.good(*erase, "--dry-run")
        self.good(*erase, *login)
        (end,) = self.good("ledger", "show", "--session", "s-1", "--kind", "tool_audit", "--terminal", "true", "--json").lines()
        self.assertEqual((end["entry"]["outcome"], end["body"]["outcome"]["reason"]), ("blocked", "rejected"))
        for file in self.data.rglob("*"):
            self.assertNotIn(b"echo once", file.read_bytes() if file.is_file() else b"", file)
        self.good("ledger", "verify")

    # They once shrank, and an agent without a record that was left was not listed.
    # LE-60, TR-9
    def test_the_sums_of_an_agent_outlive_a_prune(self):
        agent = self.park()
        self.answer("approve")
        self.run_to_end("resume", agent, "s-1", "--park")
        shown = ("trust", "show", "--json")
        (before,) = self.good(*shown).lines()
        self.assertEqual((before["agent"], before["total"], before["successes"]), ("agent:worker", 1, 1))
        size = self.good("ledger", "checkpoint").out.splitlines()[1]
        self.good("ledger", "prune", "--before", size, "--reason", "old", "--key-file", self.folder / "ada.key",
                  "--passphrase-file", self.folder / "words")
        (after,) = self.good(*shown).lines()
        self.assertEqual({**after, "latest_timestamp": before["latest_timestamp"]}, before)

    # RT-87 (partly)
    def test_a_no_is_told_to_the_model(self):
        agent = self.park()
        self.answer("deny")
        report, _ = self.run_to_end("resume", agent, "s-1", "--park")
        self.assertEqual((report["status"], report["text"]), ("finished", "done"))
        self.assertEqual(self.lines(), [])
        self.assertEqual(self.assert_balanced(self.transcript("s-1")), [])


if __name__ == "__main__":
    unittest.main()
