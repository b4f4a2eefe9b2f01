"""The gallery and the schema of guardrail documents, from outside."""
import json
import unittest

from cli_support import CliTest

try:
    import jsonschema
except ImportError:
    jsonschema = None

PRESETS = ["secrets", "pii", "prompt-injection", "dangerous-shell", "no-shell", "profanity-starter"]
METADATA = {"id", "name", "description", "version", "digest", "stages", "check_types", "actions", "languages",
            "deterministic", "data_egress", "known_misses", "known_false_alarms"}


def check(**more):
    return {"checks": [{"type": "regex", "stage": "output", "patterns": ["a"], **more}]}


VALID = [
    None, {}, {"checks": []}, {"mode": "advisory", "max_hold_bytes": 64}, {"max_hold_bytes": 1048576}, check(),
    check(id="ж" * 64, replacement="r" * 2000, severity="critical", on_fail="redact", unicode=True),
    check(stage="tool_use", tools=["*"], args=["/a/*/b~0~1", "/"], views=["strip", "hex"], decode_depth=3),
    check(stage="tool_output", tools=["x"], patterns=["x" * 512] * 64),
    check(replacement="", **{"except": ["b"]}),
    {"checks": [{"type": "blocklist", "stage": "input", "words": ["w"], "case_sensitive": True, "whole_word": False}]},
    {"checks": [{"type": "tool_pattern", "stage": "tool_use", "tools": ["bash*"], "on_fail": "log"}]},
    {"checks": check()["checks"] * 64},
]
INVALID = [
    [], 1, {"Mode": "active"}, {"mode": "Active"}, {"checks": {}}, {"checks": [{}]}, {"max_hold_bytes": 63}, {"max_hold_bytes": 1048577},
    {"checks": check()["checks"] * 65}, check(bogus=1), check(id=""), check(id="x" * 65), check(id="a\u0000b"), check(patterns=[]),
    check(patterns=[""]), check(patterns=["x" * 513]), check(patterns=["a"] * 65), check(replacement="r" * 2001), check(words=["w"]),
    check(tools=["x"]), check(args=["/a"]), check(decode_depth=2), check(views=["hex", "hex"]), check(views=["hex"], decode_depth=4),
    check(views=[]), check(stage="tool_use", args=["a"]), check(stage="tool_output", args=["/a"]), check(severity="High"),
    {"checks": [{"type": "regex", "stage": "output", "words": ["w"]}]},
    {"checks": [{"type": "blocklist", "stage": "output", "words": ["w"], "unicode": True}]},
    {"checks": [{"type": "tool_pattern", "stage": "output", "tools": ["x"]}]},
    {"checks": [{"type": "tool_pattern", "stage": "tool_use", "tools": ["x"], "on_fail": "redact"}]},
    {"checks": [{"type": "tool_pattern", "stage": "tool_use", "tools": ["x"], "views": ["hex"]}]},
]


class Gallery(CliTest):
    # GR-69 (partly)
    def test_lists_every_preset_with_its_metadata(self):
        rows = self.good("policy", "gallery", "--json").lines()
        self.assertEqual([row["id"] for row in rows], PRESETS)
        for row in rows:
            self.assertEqual(set(row), METADATA)
            self.assertIs(row["deterministic"], True)
            self.assertEqual(row["data_egress"], "none")
        for name in PRESETS:
            self.assertIn(name, self.good("policy", "gallery").out)

    # GR-69 (partly)
    def test_prints_one_document_that_is_used_as_it_is(self):
        digests = {row["id"]: row["digest"] for row in self.good("policy", "gallery", "--json").lines()}
        for name in PRESETS:
            document = self.good("policy", "gallery", name, "--json").json()
            self.assertEqual(self.good("policy", "gallery", name).json(), document)
            self.assertEqual(set(document), {"checks"})
            file = self.write("document.json", self.good("policy", "gallery", name).out)
            for config in (file, f"gallery:{name}"):
                seen = self.good("guard", "check", "--config", config, "--stage", "input", "--json", stdin=b"hello").json()
                self.assertEqual(seen["config_hash"], digests[name])

    # GR-69 (partly)
    def test_an_unknown_preset_is_not_found(self):
        self.assertIn("did you mean `secrets`", self.refused(1, "policy", "gallery", "secret"))

    # GR-70
    def test_the_capability_and_its_parts_have_names_in_both_languages(self):
        english = self.good("policy", "gallery", "--names", "--json").json()
        ukrainian = self.good("policy", "gallery", "--names", "--locale", "uk", "--json").json()
        self.assertEqual(english["capability"]["name"], "Guardrails")
        self.assertEqual(ukrainian["capability"]["name"], "Запобіжники")
        for member in ("name", "description", "category", "icon"):
            self.assertTrue(english["capability"][member] and ukrainian["capability"][member], member)
        for member in ("id", "icon"):
            self.assertEqual(english["capability"][member], ukrainian["capability"][member])
        for part in ("stages", "types", "actions", "reason_codes"):
            self.assertEqual([one["code"] for one in english[part]], [one["code"] for one in ukrainian[part]])
            for one, other in zip(english[part], ukrainian[part]):
                self.assertNotEqual(one["name"], other["name"])
        self.assertIn("guardrail.engine_error", self.good("policy", "gallery", "--names").out)
        self.refused(64, "policy", "gallery", "secrets", "--names")

    # GR-70
    def test_names_are_translated_and_codes_are_not(self):
        english = self.good("policy", "gallery", "--json").lines()
        ukrainian = self.good("policy", "gallery", "--locale", "uk", "--json").lines()
        self.assertEqual(self.good("policy", "gallery", "--locale", "de", "--json").lines(), english)
        self.assertEqual(self.good("policy", "gallery", "--locale", "en", "--json").lines(), english)
        for one, other in zip(english, ukrainian):
            for key in METADATA:
                same = key not in {"name", "description", "known_misses", "known_false_alarms"}
                self.assertEqual(one[key] == other[key], same, key)
        self.assertEqual(self.good("policy", "gallery", "pii", "--locale", "uk", "--json").out,
                         self.good("policy", "gallery", "pii", "--json").out)


class Schema(CliTest):
    def accepts(self, document):
        file = self.write("document.json", json.dumps(document))
        outcome = self.cli("guard", "check", "--config", file, "--stage", "input", "--json", stdin=b"")
        return outcome.code == 0

    # GR-71
    def test_the_schema_agrees_with_the_reader(self):
        if jsonschema is None:
            self.skipTest("python has no jsonschema")
        schema = self.good("policy", "schema", "guardrails", "--json").json()
        self.assertEqual(self.good("policy", "schema", "guardrails").json(), schema)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        documents = [self.good("policy", "gallery", name, "--json").json() for name in PRESETS]
        for document in VALID + documents:
            self.assertTrue(self.accepts(document), document)
            self.assertEqual([error.message for error in validator.iter_errors(document)], [])
        for document in INVALID:
            self.assertFalse(self.accepts(document), document)
            self.assertFalse(validator.is_valid(document), document)

    # GR-71 (partly)
    def test_other_schemas_are_wrong_usage(self):
        self.refused(64, "policy", "schema", "guardrail")


if __name__ == "__main__":
    unittest.main()
