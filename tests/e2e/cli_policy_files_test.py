#!/usr/bin/env python3
"""`policy check|test|show|schema` on files, from outside."""
import copy
import json
import pathlib
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

from cli_support import CliTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "guardrails"


# Every key of a policy once.
WHOLE = {
    "version": 1, "name": "n", "about": "a", "durability": "strict", "redaction_notice": True, "keep_excerpts": False,
    "tools": [{"server": "s", "tool": "t", "tier": "observe", "class": "none", "title": "x"}],
    "results": [{"hook": "output-sanitizer", "settings": {}, "on_error": "deny"}],
    "servers": [{"server": "s", "profile": "mcp-git"}],
    "autonomy": {"tier": "act_auto", "ceiling": "act_auto", "action_tiers": {"fs.write": "suggest"}, "agent_tiers": {"a": "suggest"},
                 "agent_action_tiers": {"a": {"fs.write": "suggest"}}, "reviewers": ["user:ada", "user:bob"], "requires_human": True,
                 "requires_human_actions": ["fs.write"], "requires_human_agents": ["a"], "quorum": 1, "deadline_s": 5, "use_within_s": 5,
                 "budget": {"max_per_hour": 1, "max_per_day": 2}},
    "trust": {"enforce": True},
    "approvals": {"reviewers": [{"name": "user:ada", "token": "sha256:" + "a" * 64, "roles": ["approver"]},
                                {"name": "user:bob", "client": "x", "roles": ["approver"]}],
                  "quorum": 1, "deadline_s": 5, "use_within_s": 5, "hold_s": 5, "dual_control": ["t"]},
    "grants": {"required": [{"server": "s", "tool": "t", "agent": "a"}], "trusted_issuers": ["ed25519:" + "a" * 64]},
    "limits": {"call_ms": 5, "stream_ms": 5, "stream_bytes": 5, "stream_chunks": 5},
    "hook": {"on_failure": "deny"},
    "guardrails": {"mode": "active", "max_hold_bytes": 100, "checks": [{"type": "regex", "stage": "tool_use", "id": "i", "patterns": ["a"]}]},
}


def changed(value):
    """Yields the document with one part replaced, for each part and each of a few replacements."""
    if isinstance(value, (dict, list)):
        for key in (value if isinstance(value, dict) else range(len(value))):
            for other in changed(value[key]):
                whole = copy.copy(value)
                whole[key] = other
                yield whole
    for other in (None, 1, [None]):
        yield other


def references(schema):
    for value in schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ():
        yield from references(value)
    if isinstance(schema, dict) and "$ref" in schema:
        yield schema["$ref"]


class PolicyFiles(CliTest):
    def test_a_good_policy_is_summed_up(self):
        seen = self.good("policy", "check", EXAMPLE / "policy.yaml", "--json").json()
        self.assertEqual((seen["valid"], seen["name"], seen["checks"], seen["tools"]), (True, "support-desk", 4, 1))
        self.assertRegex(seen["hash"], "^sha256:[0-9a-f]{64}$")
        self.assertEqual(seen["guardrails"]["report"]["ascii_classes"],
                         [{"check": "customer-number", "entry": r"\bC-[0-9]{6}\b"}, {"check": "no-drop", "entry": r"(?i)\bdrop\s+table\b"}])
        self.assertIn("is valid, `support-desk`", self.good("policy", "check", EXAMPLE / "policy.yaml").out)

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

    # RU-79: no warnings, by name and as a file.
    def test_shipped_policies_are_listed_printed_and_good(self):
        names = [row["name"] for row in self.good("policy", "show", "--json").lines()]
        self.assertEqual(names, ["ask-before-effects", "coding", "read-only", "starter", "strict", "transparent"])
        for name in names:
            path = self.write(f"{name}.yaml", self.good("policy", "show", name).out)
            self.assertEqual(self.good("policy", "check", path, "--json").json()["name"], name)
            self.assertIn(f"{name} is valid", self.good("policy", "check", name, "--fail-on", "warning").out)
        self.assertIn("did you mean `strict`", self.refused(1, "policy", "show", "strickt"))

    def test_the_schema_of_a_policy_has_its_sections(self):
        schema = self.good("policy", "schema", "--json").json()
        self.assertEqual(schema["$schema"], "https://json-schema.org/draft/2020-12/schema")
        self.assertEqual(schema["required"], ["version"])
        self.assertIn("guardrails", schema["properties"])

    # The schema of a policy once named definitions that it did not contain.
    def test_what_a_schema_refers_to_is_in_it(self):
        for document in ("policy", "guardrails", "config"):
            schema = self.good("policy", "schema", document, "--json").json()
            for reference in references(schema):
                found = schema
                for part in reference.removeprefix("#/").split("/"):
                    found = found[part]

    # `autonomy: {tier: null}` was once accepted as a policy but not by its schema.
    def test_what_the_loader_takes_the_schema_takes(self):
        if jsonschema is None:
            self.skipTest("python has no jsonschema")
        schema = jsonschema.Draft202012Validator(self.good("policy", "schema", "--json").json())
        self.good("policy", "check", self.write("whole.yaml", json.dumps(WHOLE)))
        self.assertTrue(schema.is_valid(WHOLE))
        for document in changed(WHOLE):
            if self.cli("policy", "check", self.write("changed.yaml", json.dumps(document))).code == 0:
                self.assertTrue(schema.is_valid(document), document)

    def test_a_value_that_was_forgotten_is_no_value_that_was_left_out(self):
        for text, said in (("autonomy: {tier: }", "2:12: `tier` has no value"),
                           ("autonomy: {budget: {max_per_day: }}", "`max_per_day` has no value"),
                           ('approvals: {reviewers: [{name: "user:ada", key: , roles: [approver]}]}', "has no value, leave it out"),
                           ("name: 1", "put `1` in quotes")):
            self.assertIn(said, self.cli("policy", "check", self.write("p.yaml", f"version: 1\n{text}\n")).err)
        # A section that was begun and left empty has no effect.
        self.good("policy", "check", self.write("p.yaml", "version: 1\nautonomy:\napprovals:\ntools:\nguardrails:\n"))


if __name__ == "__main__":
    unittest.main()
