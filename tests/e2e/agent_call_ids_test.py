#!/usr/bin/env python3
"""Tool calls whose ids or names a model server chooses badly."""
import unittest

from agent_support import AgentTest
from model_answers import Answer, call, say
from model_provider import Provider

LONG = "x" * 513


class CallIds(AgentTest):
    def setUp(self):
        super().setUp()
        (self.work / "a.txt").write_text("first")

    def run_on(self, *answers, **more):
        provider = Provider(self, *answers)
        model = {"provider": "openai", "model": "any", "base_url": provider.url + "/v1"}
        return self.run_agent([], model=model, **more)

    def results(self, session="s-1"):
        return [text for role, text in self.said(session) if role == "tool"]

    def ids(self, session="s-1"):
        return [item["tool_call_id"] for item in self.items(session) if item["role"] == "tool"]

    # A server that counts the calls of each message from zero got `idempotency conflict`, or an old result.
    # RT-9, RT-24, AU-7
    def test_an_id_that_comes_again_is_another_call(self):
        read = call("read_file", {"path": "a.txt"}, id="call_0")
        write = call("write_file", {"path": "a.txt", "content": "second"}, id="call_0")
        report = self.run_on(Answer(read), Answer(write), Answer(read), Answer(say("done")))
        self.assertEqual((report["status"], report["text"]), ("finished", "done"))
        results = self.results()
        self.assertIn("first", results[0])
        self.assertIn("second", results[2])
        self.assertEqual(self.ids()[0], "call_0")
        self.assertEqual(len(set(self.ids())), 3)
        self.assertEqual(self.check_balanced(), [])
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["completed"] * 3)
        # Each request of the model names the calls that it led to.
        self.assertEqual([made["tool_call_id"] for row in self.models() for made in row.get("calls", [])], self.ids())

    # RT-66
    def test_an_id_is_known_again_after_a_compaction(self):
        read = call("read_file", {"path": "a.txt"}, id="call_0")

        def used(part, tokens=10):
            return Answer(part, usage=(tokens, 1), with_usage=True)
        self.run_on(used(read), used(read), used(read, 9_000), used(say("a summary")), used(read), used(say("done")),
                    compaction={"at_tokens": 1_000, "keep_items": 2, "keep_snapshots": 3})
        self.assertIn("memory_compaction_applied", self.kinds(without=()))
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["completed"] * 4)
        self.assertEqual(len({record["tool_call_id"] for record in self.records()}), 4)

    # One such call made every later run of its session fail.
    # RT-21, RT-22, RT-27
    def test_a_call_that_the_governor_does_not_take_costs_only_itself(self):
        deep = {}
        for _ in range(110):
            deep = {"path": deep}
        report = self.run_on(
            Answer(call("read_file", {"path": "a.txt"}, id=LONG), call(LONG, {}, id="named"), call("read_file", deep, id="deep"),
                   call("read_file", {"path": "a.txt"}, id="good")),
            Answer(say("done")))
        self.assertEqual((report["status"], report["text"]), ("finished", "done"))
        long, named, deep_result, good = self.results()
        self.assertIn("first", long)
        self.assertIn("unknown tool", named)
        self.assertIn("Blocked", deep_result)
        self.assertIn("first", good)
        self.assertLess(len(self.ids()[0]), 100)
        self.assertEqual(self.check_balanced(), [])
        self.assertEqual(sorted(record["outcome"]["kind"] for record in self.records()), ["blocked"] * 2 + ["completed"] * 2)


if __name__ == "__main__":
    unittest.main()
