#!/usr/bin/env python3
"""Two processes with governed traffic on one data folder, killed again and again.

AU-32, AU-35, AU-77, AU-78, EV-51. SALLYPORT_CRASH_ROUNDS (10) sets how often.
"""

import collections
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest

import writer

TRAFFIC = os.environ.get("CALL_TRAFFIC", "build/dev/bin/call_traffic")
ROUNDS = int(os.environ.get("SALLYPORT_CRASH_ROUNDS", "10"))
SEED = int(os.environ.get("SALLYPORT_CRASH_SEED", str(random.randrange(1 << 30))))
ROUNDS_BETWEEN_CHECKS = 5

# The guard of the program names a call in its evidence in this form.
IN_LETTERS = str.maketrans("0123456789", "ghijklmnop")

LETTERS = {
    "tool_authorization_started": "s",
    "tool_authorization_finished(allow)": "a",
    "tool_authorization_finished(prompt)": "p",
    "tool_authorization_finished(deny)": "d",
    "tool_authorization_blocked(prompt)": "q",
    "tool_authorization_blocked(deny)": "n",
    "policy_denied": "D",
    "tool_execution_blocked": "X",
    "tool_execution_started": "E",
    "tool_execution_finished": "F",
}
# The permitted events of a call by the outcome of its last record; the text distinguishes cases.
SEQUENCES = {
    "completed": r"(spq)?saED?F",
    "cached": r"(spq)?sa",
    # Last alternative: the process died while the call waited for approval, and a later start closed the call.
    "blocked": r"(spq)?(saX|sD?dn)|spq",
    "requires_confirmation": r"spq",
    "persistence_failed": r"(spq)?saEF",
}


def letter(event):
    name = event["kind"]
    if "outcome" in event:
        name += f"({event['outcome']})"
    return LETTERS.get(name, "?")


class Story:
    """The entries of one call in the ledger."""

    def __init__(self):
        self.entries = []

    def of(self, kind):
        return [entry for entry in self.entries if entry["kind"] == kind]

    @property
    def records(self):
        return self.of("tool_audit")

    @property
    def only_joined(self):
        """Returns true if its process died while the call waited for the approval of a similar call."""
        return not self.records and any(entry["body"]["record"] == "approval_joined" for entry in self.of("approval"))

    @property
    def letters(self):
        return "".join(letter(entry["body"]) for entry in self.of("event"))


def parse_lines(text):
    """Returns complete lines only; the kill may have cut the last one."""
    return text[: text.rfind("\n") + 1].splitlines()


class TrafficTest(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory(prefix="sallyport-traffic-")
        self.place = pathlib.Path(self.keep.name)
        self.folder = self.place / "data"
        self.effects = self.place / "effects"
        self.effects.touch()
        self.outputs = []
        self.running = []
        self.chance = random.Random(SEED)
        self.checked = collections.Counter()

    def tearDown(self):
        for process in self.running:
            process.kill()
            process.wait()
        self.keep.cleanup()

    def start(self, round_number):
        output = self.place / f"answers-{len(self.outputs)}"
        self.outputs.append(output)
        with open(output, "wb") as out:
            process = subprocess.Popen(
                [TRAFFIC, str(self.folder), "--effects", str(self.effects)]
                + ["--round", str(round_number), "--seed", str(self.chance.randrange(1 << 30))],
                stdout=out,
            )
        self.running.append(process)
        process.output = output
        return process

    def let_work(self, process):
        """Waits a random time, from "has not opened yet" to "hundreds of calls"."""
        if self.chance.random() < 0.15:
            time.sleep(self.chance.random() * 0.2)
            return
        deadline = time.monotonic() + 60
        while process.output.stat().st_size == 0 and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(self.chance.choice([0.02, 0.1, 0.4]) * self.chance.random())

    def kill(self, process):
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL, "it ended by itself")
        self.running.remove(process)

    def recover(self):
        done = subprocess.run(
            [TRAFFIC, str(self.folder), "--recover"], capture_output=True, text=True, timeout=120
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def entries(self):
        done = subprocess.run(
            [TRAFFIC, str(self.folder), "--dump"], capture_output=True, text=True, timeout=300
        )
        self.assertEqual(done.returncode, 0, done.stdout[-500:] + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def answers(self):
        for output in self.outputs:
            for line in parse_lines(output.read_text()):
                answer = json.loads(line)
                self.assertNotIn("cause", answer, "a process could not work")
                if "call_id" in answer:
                    yield answer

    # AU-32 AU-35 AU-77 AU-78 EV-51
    def test_calls_are_told_once_and_in_order_by_processes_that_are_killed(self):
        began = time.monotonic()
        pair = [self.start(0), self.start(0)]
        for number in range(1, ROUNDS + 1):
            which = self.chance.randrange(2)
            self.let_work(pair[which])
            self.kill(pair[which])  # the other process continues
            if self.chance.random() < 0.3:
                self.kill(pair[1 - which])
                pair[1 - which] = self.start(number)
            pair[which] = self.start(number)
            if number % ROUNDS_BETWEEN_CHECKS == 0 or number == ROUNDS:
                for process in pair:
                    self.kill(process)
                self.check(f"seed {SEED}, round {number}")
                pair = [self.start(number), self.start(number)]
        print(f"{ROUNDS} rounds in {time.monotonic() - began:.1f} s, {dict(self.checked)}")
        self.assertGreater(self.checked["answers"], 0)
        self.assertGreater(self.checked["effects"], 0)

    def check(self, where):
        self.checked.clear()
        self.recover()
        report = writer.verify(self.folder)
        self.assertTrue(report.get("ok"), f"{where}: {report}")
        stories = collections.defaultdict(Story)
        entries = self.entries()
        for entry in entries:
            if entry.get("call_id"):
                stories[entry["call_id"]].entries.append(entry)
        for call_id, story in stories.items():
            with self.subTest(where=where, call=call_id):
                self.check_story(call_id, story)
        self.check_starts(where, entries)
        self.check_effects(where, stories)
        self.check_answers(where, stories)
        self.checked["calls"] = len(stories)

    def check_story(self, call_id, story):
        told = [
            (entry["sequence"], entry["kind"], entry["body"].get("kind", entry.get("outcome")))
            for entry in story.entries
        ]
        if story.only_joined:
            return self.assertEqual((story.of("intent"), story.letters), ([], "spq"), told)
        self.assertTrue(story.records, f"no record: {told}")
        last = story.records[-1]
        terminal = [record for record in story.records if record["body"]["terminal"]]
        intents = story.of("intent")
        kind = last["body"]["outcome"]["kind"]
        if kind == "requires_confirmation":
            # The process died while the call waited for approval, so the call still waits.
            self.assertEqual((terminal, intents), ([], []), told)
        else:
            self.assertEqual(terminal, [last], told)
            after = [entry for entry in story.of("event") if entry["sequence"] > last["sequence"]]
            self.assertEqual(after, [], told)
        self.assertRegex(story.letters, f"^(?:{SEQUENCES.get(kind, '$.')})$", told)
        self.assertLessEqual(len(intents), 1, told)
        for record in story.records:
            if record["body"]["effect_state"] != "none":
                self.assertTrue(intents, told)
                self.assertLess(intents[0]["sequence"], record["sequence"], told)
            for run in record["body"]["guards"]:
                if run["evidence"]:
                    self.assertEqual(run["evidence"]["of"], call_id.translate(IN_LETTERS))
        if kind == "persistence_failed":
            self.assertTrue(last["body"]["outcome"]["error"].startswith("interrupted:"), told)
            self.assertEqual(last["body"]["effect_state"], "unknown")
            self.checked["interrupted"] += 1

    # A start closes the entries of dead processes before it writes `recovery_prepared`.
    def check_starts(self, where, entries):
        prepared = set()
        for entry in entries:
            instance = entry["instance_id"]
            if entry["body"].get("kind") == "recovery_prepared":
                self.assertNotIn(instance, prepared, where)
                prepared.add(instance)
            elif entry["kind"] == "intent":
                self.assertIn(instance, prepared, where)
            elif entry["kind"] == "tool_audit":
                error = entry["body"]["outcome"].get("error") or ""
                if error.startswith("interrupted:"):
                    self.assertNotIn(instance, prepared, where)

    # Every side effect has an earlier intent, and no id has two side effects.
    def check_effects(self, where, stories):
        runs = collections.defaultdict(list)
        for line in parse_lines(self.effects.read_text()):
            call_id, tool_call_id = line.split()
            self.assertIn(call_id, stories, f"{where}: an effect that nothing tells of")
            self.assertTrue(stories[call_id].of("intent"), f"{where}: {call_id} had no intent")
            self.assertNotEqual(
                stories[call_id].records[-1]["body"]["effect_state"], "none", where
            )
            runs[tool_call_id].append(call_id)
        twice = {key: calls for key, calls in runs.items() if len(calls) > 1}
        self.assertEqual(twice, {}, where)
        self.checked["effects"] = len(runs)

    # Every answer that a caller got is in a record with the same content.
    def check_answers(self, where, stories):
        for answer in self.answers():
            self.checked["answers"] += 1
            self.checked[answer["kind"]] += 1
            records = stories[answer["call_id"]].records
            self.assertTrue(records, f"{where}: an answer without a record: {answer}")
            record = records[-1]
            outcome = record["body"]["outcome"]
            self.assertEqual(record["sequence"], answer["sequence"], f"{where}: {answer}")
            self.assertEqual(outcome["kind"], answer["kind"], f"{where}: {answer}")
            result = outcome.get("result")
            self.assertEqual(bool(result and result["success"]), answer["success"], where)
            if result and "[REDACTED" not in result["output"]:
                self.assertEqual(result["output"], answer["output"], where)
            if answer["kind"] == "blocked":
                self.assertIn(outcome["reason"], answer["output"], where)
                cause = re.match(r"[a-z ]*:|", outcome["reason"]).group()
                self.checked[f"blocked {cause}".strip()] += 1


if __name__ == "__main__":
    unittest.main()
