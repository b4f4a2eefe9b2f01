#!/usr/bin/env python3
"""The excerpts in the ledger for a check's matches: none, unless the policy keeps excerpts."""
import json
import unittest

from cli_support import CliTest

POLICY = """version: 1
autonomy: {tier: act_auto}
guardrails:
  checks:
    - {type: blocklist, stage: input, id: said, on_fail: log, words: [nightingale]}
    - {type: blocklist, stage: input, id: out, on_fail: redact, words: [hunter2]}
"""


class GuardExcerpts(CliTest):
    def prompted(self, policy):
        """Returns the excerpts of two hits, by check, and whether a file contains the words."""
        file = self.write("policy.yaml", policy)
        event = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "Nightingale and Hunter2", "cwd": "/tmp"}
        self.cli("hook", "--agent", "claude-code", "--policy", file, stdin=json.dumps(event).encode())
        hits = self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()
        excerpts = {hit["body"]["check"]: hit["body"]["excerpt"] for hit in hits}
        self.assertEqual(set(excerpts), {"said", "out"})
        stored = b"".join(path.read_bytes() for path in self.data.glob("ledger.db*"))
        return excerpts, b"Nightingale" in stored, b"Hunter2" in stored

    # GR-72
    def test_they_are_withheld_unless_the_policy_says_otherwise(self):
        excerpts, first, second = self.prompted(POLICY)
        self.assertEqual([excerpts[name].get("state") for name in ("said", "out")], ["withheld", "withheld"])
        self.assertEqual((first, second), (False, False))

    # GR-72
    def test_a_policy_keeps_them_but_never_what_is_taken_out(self):
        excerpts, first, second = self.prompted(POLICY + "keep_excerpts: true\n")
        self.assertEqual(excerpts["said"], "Nightingale")
        self.assertEqual(excerpts["out"].get("state"), "withheld")
        self.assertEqual((first, second), (True, False))
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
