#!/usr/bin/env python3
"""`policy backtest`: recorded calls under another policy; undecidable calls are counted separately, and first."""
import pathlib
import sys
import time
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
        # Refused as before, but by another check.
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

    # WB-4: the same verdict with another released text is `other`; a result that was not kept is counted separately.
    def test_results_that_are_known_are_judged_again(self):
        then = self.write("then.yaml", HEAD % "act_auto")
        self.run_calls(then, ("echo", {"message": "a swordfish"}), ("echo", {"message": "b"}), ("echo", {"message": f"key {AWS}"}))
        redacts = self.write("redacts.yaml", HEAD % "act_auto" + "guardrails:\n  checks:\n    - {type: blocklist, stage: tool_output, id: fish, words: "
                             "[swordfish], on_fail: redact, replacement: '[fish]'}\n")
        groups, summary = self.backtest(redacts)
        self.assertEqual([[group[name] for name in ("change", "before", "after", "differs", "after_by", "calls")] for group in groups],
                         [["other", "runs", "runs", "released", "result guardrails-output", 1]])
        self.assertEqual((summary["same"], summary["other"], summary["results_compared"], summary["result_not_kept"]), (2, 1, 2, 1))
        withholds = self.write("rule.yaml", HEAD % "act_auto" + "rules:\n  - {id: no-fish, then: withhold, result: {words: [swordfish]}}\n")
        groups, _ = self.backtest(withholds)
        self.assertIn(("other", "released", "result rule no-fish"), [(group["change"], group["differs"], group["after_by"]) for group in groups])
        self.assertIn("runs, other text  echo", self.good("policy", "backtest", str(redacts)).out)

    # WB-10 (partly): the recorded facts advance from call to call, and a budget that was used up then is used up again.
    def test_facts_of_many_calls_are_those_of_then(self):
        then = self.write("then.yaml", "version: 1\nautonomy: {tier: act_auto, budget: {max_per_hour: 3}}\n")
        self.run_calls(then, *[("echo", {"message": str(i)}) for i in range(3)])
        client = self.client(options=["--policy", str(then), "--name", "fake"])
        client.open()
        client.ask("tools/call", {"name": "echo", "arguments": {"message": "fourth"}})
        end = time.monotonic() + 60
        while not self.good("approvals", "list", "--json").lines() and time.monotonic() < end:
            time.sleep(0.1)
        _, summary = self.backtest(then)
        self.assertEqual((summary["calls"], summary["same"], summary["undecided"], summary["not_reproduced"]), (4, 4, 0, 0))
        groups, _ = self.backtest(self.write("open.yaml", HEAD % "act_auto"))
        self.assertEqual([(group["change"], group["before"], group["after"], group["calls"]) for group in groups if group["change"] == "loosened"],
                         [("loosened", "asks", "runs", 1)])

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

    # A call that was recorded without rules was judged in the folders of today, and counted as tightened or as the same.
    # WB-5 WB-33
    def test_a_call_whose_folder_is_not_on_record_is_undecided_under_rules_about_paths(self):
        then = self.write("then.yaml", HEAD % "act_auto")
        server = pathlib.Path(__file__).with_name("mcp_effects_server.py")
        client = self.client(sys.executable, server, options=["--policy", str(then), "--name", "effects"], env={"EFFECTS": str(self.folder / "effects")})
        client.open()
        client.result("write_file", {"path": "here.txt", "text": ""})
        client.result("shell", {"command": ["true"]})
        client.close()
        paths = self.write("paths.yaml", HEAD % "act_auto" + "rules:\n  - {id: tmp, then: deny, when: {path: /tmp/**, class: fs.write}}\n")
        _, summary = self.backtest(paths)
        self.assertEqual((summary["calls"], summary["undecided_by"], summary["tightened"]), (2, {"state_unknown": 1}, 0))

    # A call whose input was erased was decided about the mark in its place, and its explanation found text in it.
    # WB-2 WB-5 WB-33
    def test_a_call_whose_input_was_erased_is_undecided_where_it_matters(self):
        then = self.recorded()
        ids = [row["entry"]["call_id"] for row in self.audits() if row["body"].get("terminal")]
        self.good("ledger", "erase", "--call", ids[1], "--reason", "request 4711")
        self.assertEqual(self.backtest(then)[1]["undecided_by"], {"input_gone": 1})
        letters = self.write("letters.yaml", HEAD % "act_auto" + WORD % ("any", "sealed", "block"))
        seen = self.cli("policy", "explain", ids[1], "--policy", str(letters), "--json")
        self.assertEqual((seen.code, seen.json()["verdict"], seen.json()["reason"], seen.json()["missing"]), (1, "undecided", "input_gone", "input"))
        self.assertEqual(seen.json()["call"]["input"]["state"], "erased")
        # Tiers look at names only.
        shown = self.cli("policy", "explain", ids[1], "--policy", str(self.write("shut.yaml", HEAD % "shadow")), "--json").json()
        self.assertEqual((shown["verdict"], shown["call"]["input"]["state"]), ("shadow", "erased"))

    # WB-5 (partly): other failures, and bounds.
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
