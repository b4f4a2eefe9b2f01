#!/usr/bin/env python3
"""`policy backtest`: recorded calls under another policy; what cannot be decided is counted apart, and first."""
import unittest

from explain_support import RecordedCalls

AWS = "AKIAIOSFODNN7EXAMPLE"
HEAD = "version: 1\nautonomy: {tier: %s}\n"
WORD = "guardrails:\n  checks:\n    - {type: blocklist, stage: tool_use, id: %s, words: [%s], on_fail: %s}\n"


class Backtest(RecordedCalls):
    def backtest(self, policy, *more, code=0):
        outcome = self.cli("policy", "backtest", str(policy), "--json", *more)
        self.assertEqual((outcome.code, outcome.err), (code, ""))
        *groups, last = outcome.lines()
        summary = last["summary"]
        parts = ("undecided", "not_reproduced", "same", "loosened", "tightened", "other")
        self.assertEqual(sum(summary[part] for part in parts), summary["calls"])
        return groups, summary

    def recorded(self):
        policy = self.write("then.yaml", HEAD % "act_auto" + WORD % ("word", "swordfish", "block"))
        self.run_calls(policy, ("echo", {"message": "a"}), ("echo", {"message": "swordfish"}), ("echo", {"message": "b"}))
        return policy

    # WB-4 WB-5 WB-3 (partly)
    def test_what_opens_and_what_closes_is_told_apart(self):
        then = self.recorded()
        before = self.good("ledger", "stats", "--json").out
        groups, summary = self.backtest(then)
        self.assertEqual((groups, summary["calls"], summary["same"]), ([], 3, 3))
        groups, summary = self.backtest(self.write("open.yaml", HEAD % "act_auto"))
        (group,) = groups
        self.assertEqual([group[name] for name in ("change", "before", "after", "tool", "calls", "sessions")],
                         ["loosened", "refused", "runs", "echo", 1, 1])
        self.assertEqual((summary["same"], summary["loosened"]), (2, 1))
        groups, summary = self.backtest(self.write("shut.yaml", HEAD % "shadow" + WORD % ("word", "swordfish", "block")))
        self.assertEqual([(group["change"], group["before"], group["after"], group["calls"]) for group in groups],
                         [("tightened", "runs", "shadow", 2)])
        # Refused as before, by another check.
        groups, summary = self.backtest(self.write("other.yaml", HEAD % "act_auto" + WORD % ("fish", "swordfish", "block")))
        self.assertEqual([(group["change"], group["before_by"], group["after_by"]) for group in groups],
                         [("other", "check word", "check fish")])
        self.assertEqual(self.good("ledger", "stats", "--json").out, before)

    # WB-4
    def test_it_may_be_compared_with_another_policy(self):
        self.recorded()
        shut = self.write("shut.yaml", HEAD % "suggest")
        groups, _ = self.backtest(self.write("open.yaml", HEAD % "act_with_approval"), "--against", str(shut))
        self.assertEqual([(group["change"], group["before"], group["after"], group["calls"]) for group in groups],
                         [("loosened", "proposed", "asks", 3)])

    # WB-5
    def test_what_cannot_be_decided_is_counted_first_and_never_as_the_same(self):
        then = self.write("then.yaml", HEAD % "act_auto" + WORD % ("word", "swordfish", "block"))
        self.run_calls(then, ("echo", {"message": "a"}), ("echo", {"message": f"key {AWS}"}))
        asks = self.write("asks.yaml", HEAD % "act_auto" + WORD % ("some", "AKIAIOSFODNN7", "block"))
        _, summary = self.backtest(asks)
        self.assertEqual((summary["undecided"], summary["undecided_by"], summary["same"]), (1, {"input_redacted": 1}, 1))
        names = [line.split()[0] for line in self.good("policy", "backtest", str(asks)).out.splitlines()]
        self.assertEqual(names[:4], ["calls", "undecided", "reproduced", "same"])
        self.backtest(asks, "--fail-on", "undecided:50")
        self.backtest(asks, "--fail-on", "undecided:49.9", code=1)

    # WB-5 (partly): what else makes it fail, and bounds.
    def test_it_fails_on_what_is_named(self):
        then = self.recorded()
        open_ = self.write("open.yaml", HEAD % "act_auto")
        self.backtest(open_, "--fail-on", "refused")
        self.backtest(open_, "--fail-on", "refused,loosened", code=1)
        strict = self.write("strict.yaml", HEAD % "act_auto" + WORD % ("word", "a, b, swordfish", "block"))
        self.backtest(strict, "--fail-on", "refused", code=1)
        _, summary = self.backtest(then, "--last", "2")
        self.assertEqual((summary["calls"], summary["older_calls"]), (2, 1))
        _, summary = self.backtest(then, "--tool", "nothing")
        self.assertEqual(summary["calls"], 0)
        for wrong in (("--fail-on", "worse"), ("--fail-on", "undecided:101"), ("--last", "100001")):
            self.refused(64, "policy", "backtest", str(then), *wrong)


if __name__ == "__main__":
    unittest.main()
