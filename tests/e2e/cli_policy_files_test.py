#!/usr/bin/env python3
"""`policy check|test|show|schema` on files, from outside."""
import pathlib
import unittest

from cli_support import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "guardrails"


class PolicyFiles(CliTest):
    def test_a_good_policy_is_summed_up(self):
        seen = self.good("policy", "check", EXAMPLE / "policy.yaml", "--json").json()
        self.assertEqual((seen["valid"], seen["name"], seen["checks"], seen["tools"]), (True, "support-desk", 4, 1))
        self.assertRegex(seen["hash"], "^sha256:[0-9a-f]{64}$")
        self.assertEqual(seen["guardrails"]["report"]["ascii_classes"],
                         [{"check": "customer-number", "entry": r"\bC-[0-9]{6}\b"}, {"check": "no-drop", "entry": r"(?i)\bdrop\s+table\b"}])
        self.assertIn("is a good policy, `support-desk`", self.good("policy", "check", EXAMPLE / "policy.yaml").out)

    # GR-5 GR-8
    def test_a_bad_policy_is_refused_with_file_line_and_column(self):
        path = self.write("bad.yaml", "version: 1\nguardrails:\n  checks:\n    - type: regexp\n")
        outcome = self.cli("policy", "check", path, "--json")
        self.assertEqual(outcome.code, 1)
        self.assertEqual(outcome.err.count("\n"), 1)
        self.assertTrue(outcome.err.startswith(f"{path}:4:13: "), outcome.err)
        self.assertEqual((outcome.json()["valid"], outcome.json()["error"]["code"]), (False, "shape"))
        self.refused(1, "policy", "check", self.folder / "none.yaml")

    def test_the_cases_of_the_guide_pass(self):
        outcome = self.good("policy", "test", EXAMPLE / "policy.yaml", "--cases", EXAMPLE / "cases.yaml")
        self.assertTrue(outcome.out.endswith("5 passed, 0 failed\n"), outcome.out)

    def test_a_case_that_does_not_hold_says_what_was_seen(self):
        cases = self.write("cases.yaml", "cases:\n  - {name: wrong, stage: output, text: hello, expect: {verdict: block}}\n")
        outcome = self.cli("policy", "test", EXAMPLE / "policy.yaml", "--cases", cases, "--json")
        self.assertEqual((outcome.code, outcome.json()["passed"], outcome.json()["name"]), (1, False, "wrong"))
        self.assertIn("allow", outcome.json()["problem"])
        broken = self.write("broken.yaml", "cases:\n  - {name: x, stage: output, txt: hello, expect: {verdict: block}}\n")
        self.assertIn("broken.yaml:2:", self.refused(1, "policy", "test", EXAMPLE / "policy.yaml", "--cases", broken))

    # GR-69
    def test_every_preset_passes_its_own_cases(self):
        for row in self.good("policy", "gallery", "--json").lines():
            results = self.good("policy", "test", f"gallery:{row['id']}", "--json").lines()
            self.assertGreater(len(results), 3)
            self.assertTrue(all(one["passed"] for one in results), results)

    def test_shipped_policies_are_listed_printed_and_good(self):
        names = [row["name"] for row in self.good("policy", "show", "--json").lines()]
        self.assertEqual(names, ["ask-before-effects", "read-only", "starter", "strict", "transparent"])
        for name in names:
            path = self.write(f"{name}.yaml", self.good("policy", "show", name).out)
            self.assertEqual(self.good("policy", "check", path, "--json").json()["name"], name)
        self.assertIn("did you mean `strict`", self.refused(1, "policy", "show", "strickt"))

    def test_the_schema_of_a_policy_has_its_sections(self):
        schema = self.good("policy", "schema", "--json").json()
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(schema["required"], ["version"])
        self.assertIn("guardrails", schema["properties"])


if __name__ == "__main__":
    unittest.main()
