#!/usr/bin/env python3
"""Finds the history of governed calls from the command line."""
import unittest

from cli_support import CliTest


class Calls(CliTest):
    def setUp(self):
        super().setUp()
        self.good("demo", "--no-pause", "--json")

    def shown(self, *words):
        return self.good("ledger", "show", *words, "--json").lines()

    # AU-90
    def test_records_are_found_by_what_only_they_say(self):
        rejected = self.shown("--tool-call-id", "c3", "--kind", "tool_audit")
        self.assertEqual([(r["entry"]["outcome"], r["body"]["terminal"]) for r in rejected],
                         [("requires_confirmation", False), ("blocked", True)])
        approval = rejected[0]["body"]["approval_id"]
        self.assertEqual([r["entry"]["sequence"] for r in self.shown("--approval", approval, "--kind", "tool_audit")],
                         [r["entry"]["sequence"] for r in rejected])
        ends = self.shown("--terminal", "true")
        self.assertEqual(len({r["entry"]["call_id"] for r in ends}), len(ends), "one for each call")
        self.assertEqual({r["entry"]["outcome"] for r in self.shown("--terminal", "false")}, {"requires_confirmation"})
        page = self.shown("--terminal", "true", "--limit", "2", "--after", str(ends[0]["entry"]["sequence"]))
        self.assertEqual([r["entry"]["sequence"] for r in page], [r["entry"]["sequence"] for r in ends[1:3]])

    # EV-81 (partly), AU-91
    def test_the_events_of_a_call_are_found_in_their_order(self):
        call = self.shown("--tool-call-id", "c4", "--terminal", "true")[0]["entry"]["call_id"]
        story = [r["body"].get("kind", r["entry"]["kind"]) for r in self.shown("--call", call)]
        self.assertEqual(story, ["tool_authorization_started", "tool_authorization_finished", "intent",
                                 "tool_execution_started", "tool_execution_finished", "tool_audit"])
        finished = self.shown("--event-type", "tool_execution_finished", "--call", call)
        self.assertEqual([r["body"]["is_error"] for r in finished], [False])
        self.assertEqual(len(self.shown("--event-type", "recovery_prepared")), 3, "one for each start")

    # AU-1, EV-79
    def test_entries_are_shown_in_the_shapes_that_readers_know(self):
        record = self.shown("--tool-call-id", "c4", "--terminal", "true")[0]["record"]
        self.assertEqual(sorted(record), sorted(
            "tool_call_id tool_name display_name tier requested_input effective_input turn provenance outcome recorded_at call_id "
            "session_id trace_id agent_id server sequence terminal policy_hash request_digest call_digest effect_class "
            "recovery_class effect_state autonomy autonomy_source approval_id matched_grant_index guards post_invocation "
            "redactions decided_at as_of class_source caution definition front".split()))
        self.assertEqual((record["tier"], record["tool_name"], record["outcome"]["result"]["success"]), ("Observe", "read_file", True))
        row = self.shown("--event-type", "tool_execution_started")[0]["record"]
        self.assertEqual(sorted(row), sorted("sequence scope event_type session_id run_id call_id trace_id instance_id policy_hash "
                                             "recorded_at payload".split()))
        self.assertEqual(row["payload"]["kind"], row["event_type"])
        self.assertEqual(row["scope"], "agent:demo")

    # EV-111
    def test_a_filter_that_is_none_is_an_error_and_no_empty_answer(self):
        for words, said in ((["--event-type", "tool_exploded"], "tool_exploded"), (["--terminal", "maybe"], "true or false"),
                            (["--since", "2026-02-01", "--until", "2026-01-01"], "before --since"),
                            (["--outcome", "nonsense"], "there is no outcome `nonsense`; one of blocked, "),
                            (["--outcome", "complete"], "did you mean `completed`")):
            for command in ("show", "tail"):
                self.assertIn(said, self.refused(64, "ledger", command, *words))
        # Outcomes of trust records are valid words too: there are none here, and that is no error.
        self.refused(1, "ledger", "tail", "--outcome", "timeout")


if __name__ == "__main__":
    unittest.main()
