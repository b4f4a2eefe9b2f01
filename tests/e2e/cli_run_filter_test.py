#!/usr/bin/env python3
"""Entries of one run of an agent, found from outside."""
import unittest

from agent_support import ScriptedAgents, shell

ROW = {"sequence", "scope", "event_type", "session_id", "run_id", "call_id", "trace_id", "instance_id", "policy_hash",
       "recorded_at", "payload"}
ALL = ["--limit", "10000", "--json"]


class RunFilter(ScriptedAgents):
    def setUp(self):
        super().setUp()
        agent = self.write_agent([{"calls": [shell("echo one")]}, {"text": "first"}, {"calls": [shell("echo two")]}, {"text": "second"}])
        self.runs = []
        for task, session in (("a", "s-1"), ("b", "s-1"), ("c", "s-2")):
            report, told = self.run_to_end("run", agent, task, "--session", session)
            self.assertEqual(report["status"], "finished", told)
            self.runs.append(report)
        self.all = self.good("ledger", "show", *ALL).lines()

    def sequences(self, *arguments, verb="show", **options):
        return [line["entry"]["sequence"] for line in self.good("ledger", verb, *arguments, *ALL, **options).lines()]

    # EV-81 EV-82 (partly)
    def test_every_reader_finds_exactly_the_entries_of_a_run(self):
        for run in self.runs:
            of_run = [line["entry"] for line in self.all if line["entry"].get("run_id") == run["run_id"]]
            expected = [entry["sequence"] for entry in of_run]
            self.assertGreater(len(expected), 4)
            self.assertEqual({entry["session_id"] for entry in of_run}, {run["session_id"]})
            self.assertLessEqual(run["first_sequence"], expected[0])
            self.assertLessEqual(expected[-1], run["last_sequence"])
            for verb in ("show", "tail"):
                self.assertEqual(self.sequences("--run", run["run_id"], verb=verb), expected)
            exported = self.good("ledger", "export", "--format", "cef", "--run", run["run_id"]).out.splitlines()
            self.assertEqual(len(exported), len(expected))
            calls = self.good("ledger", "calls", "--run", run["run_id"], "--json").lines()
            self.assertEqual([(call["server"], call["tool"]) for call in calls], [("sallyport-agent", "shell")])

    # EV-79
    def test_rows_of_events_name_their_run(self):
        rows = [line["record"] for line in self.all if line["entry"]["kind"] == "event"]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(set(row), ROW)
            self.assertEqual(row["payload"]["kind"], row["event_type"])
        runs = {row["run_id"] for row in rows}
        self.assertEqual(runs - {None}, {run["run_id"] for run in self.runs})
        # An entry that belongs to no run is reported as such.
        self.assertEqual({row["event_type"] for row in rows if row["run_id"] is None}, {"recovery_prepared"})

    # EV-81
    def test_filters_are_joined_by_and(self):
        first, _, other = self.runs
        of_first = self.sequences("--run", first["run_id"])
        self.refused(1, "ledger", "show", "--run", first["run_id"], "--session", other["session_id"])
        self.assertEqual(self.sequences("--run", first["run_id"], "--session", "s-1"), of_first)
        self.assertLess(set(self.sequences("--run", first["run_id"], "--kind", "tool_audit")), set(of_first))
        types = [line["record"]["event_type"] for line in
                 self.good("ledger", "show", "--run", first["run_id"], "--event-type", "model_request_finished", *ALL).lines()]
        self.assertEqual(types, ["model_request_finished"] * 2)
        after = of_first[3]
        self.assertEqual(self.sequences("--run", first["run_id"], "--after", after), of_first[4:])
        calls = {line["entry"]["call_id"] for line in self.all
                 if line["entry"].get("run_id") == first["run_id"] and line["entry"]["kind"] == "tool_audit"}
        (call,) = calls
        self.assertLess(set(self.sequences("--run", first["run_id"], "--call", call)), set(of_first))
        times = [line["entry"]["recorded_at"] for line in self.all]
        self.assertEqual(self.sequences("--run", first["run_id"], "--since", times[0]), of_first)
        self.refused(1, "ledger", "show", "--run", first["run_id"], "--until", times[0])
        limited = self.good("ledger", "show", "--run", first["run_id"], "--limit", "2", "--json").lines()
        self.assertEqual([line["entry"]["sequence"] for line in limited], of_first[:2])

    # EV-111
    def test_wrong_questions_are_errors(self):
        run = self.runs[0]["run_id"]
        self.refused(64, "ledger", "show", "--runs", run)
        self.refused(64, "ledger", "show", "--run", "")
        self.refused(64, "ledger", "show", "--run", run, "--since", "2026-11-18", "--until", "2026-11-17")
        self.refused(64, "ledger", "calls", "--run", run, "--kind", "nothing")
        self.refused(1, "ledger", "show", "--run", "01a1e6e5-0000-7000-8000-000000000000")


if __name__ == "__main__":
    unittest.main()
