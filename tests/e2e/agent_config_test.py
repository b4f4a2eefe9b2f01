#!/usr/bin/env python3
"""The configuration of an agent, and its schema, from outside."""
import copy
import json
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

from agent_support import ScriptedAgents

SMALL = {"id": "writer", "model": {"provider": "script", "script": "talk.json"}, "roots": []}
GOOD = [
    {},
    {"system": "be brief", "roots": [{"path": "work", "write": False, "deny": ["*.key"]}]},
    {"shell": {}, "background": {"max_running": 1}, "memory": {"recall": False, "edit": True}},
    {"limits": {"tokens": 100000, "deadline_s": 5}, "retry": {"jitter": 0}, "compaction": {"keep_items": 1}},
    {"shell": {"env": ["PATH"], "timeout_s": 1, "max_timeout_s": 2, "sandbox": "off", "network": False}},
]
# Each row also has the key that the refusal must name.
BAD = [
    ({"colour": "red"}, "colour"),
    ({"limits": {"tokens": 0}}, "agent.limits.tokens"),
    ({"limits": {"tool_calls": "5"}}, "agent.limits.tool_calls"),
    ({"shell": {"sandbox": "on"}}, "agent.shell.sandbox"),
    ({"shell": {"env": ["A=B"]}}, "agent.shell.env"),
    ({"memory": {"recall": "yes"}}, "agent.memory.recall"),
    ({"retry": {"jitter": 2}}, "agent.retry.jitter"),
    ({"roots": [{"path": "work"}]}, "write"),
    ({"servers": [{"name": "a b", "command": ["x"]}]}, "agent.servers.name"),
    ({"id": "a b"}, "agent.id"),
]


class AgentConfig(ScriptedAgents):
    def setUp(self):
        super().setUp()
        self.write("talk.json", json.dumps({"turns": [{"text": "done"}]}))

    def documents(self, changes):
        for change, *key in changes:
            document = copy.deepcopy(SMALL)
            document.update(change)
            yield {"agent": document}, *key

    def run_with(self, document):
        file = self.write("agent.json", json.dumps(document, indent=1))
        return self.run_bare(*self.command("run", file, "work"))

    # RT-89 RT-71 (partly)
    def test_a_wrong_file_is_refused_with_its_line_and_key_and_nothing_starts(self):
        for document, key in self.documents(BAD):
            outcome = self.run_with(document)
            self.assertEqual((outcome.code, outcome.out), (64, ""), outcome.err)
            self.assertIn(key, outcome.err)
            self.assertRegex(outcome.err, r"agent\.json:\d+:\d+")
        self.assertFalse((self.data / "agents.db").exists())

    # RT-94
    def test_a_script_with_a_bad_turn_fails_at_load(self):
        self.write("talk.json", '{"turns": [{"text": "a"},\n{"txt": "b"}]}')
        outcome = self.run_with({"agent": SMALL})
        self.assertEqual((outcome.code, outcome.out), (64, ""))
        self.assertIn("talk.json:2:", outcome.err)

    # RT-90
    def test_a_key_that_is_not_set_is_an_error_before_anything_starts(self):
        model = {"provider": "openai", "model": "m", "api_key_env": "NO_SUCH_KEY", "base_url": "http://127.0.0.1:1/v1"}
        outcome = self.run_with({"agent": {**SMALL, "model": model}})
        self.assertEqual((outcome.code, outcome.out), (64, ""))
        self.assertIn("NO_SUCH_KEY", outcome.err)
        self.assertFalse(self.data.exists())

    # RT-4
    def test_the_schema_agrees_with_the_reader(self):
        for document, in self.documents((one,) for one in GOOD):
            outcome = self.run_with(document)
            self.assertEqual(outcome.code, 0, outcome.err)
        if jsonschema is None:
            self.skipTest("python has no jsonschema")
        schema = self.good("policy", "schema", "agent", "--json").json()
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for document, in self.documents((one,) for one in GOOD):
            self.assertEqual([error.message for error in validator.iter_errors(document)], [])
        for document, _ in self.documents(BAD):
            self.assertFalse(validator.is_valid(document), document)


if __name__ == "__main__":
    unittest.main()
