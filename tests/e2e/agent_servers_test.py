#!/usr/bin/env python3
"""Tests the tool servers of our own agent: all their calls pass the gates."""
import pathlib
import sys
import unittest

import mcp_peers_test
import npm_peers
from agent_support import ScriptedAgents, call

FAKE = pathlib.Path(__file__).parent / "mcp_fake_server.py"


class ServersTest(ScriptedAgents):
    def play(self, servers, *calls, session="s-1", policy=None, **keys):
        """Runs one turn with these calls and returns their results."""
        agent = self.write_agent([{"calls": list(calls)}, {"text": "done"}], servers=servers, **keys)
        report, told = self.run_to_end("run", agent, "work", "--session", session, policy=policy)
        self.assertIsNotNone(report, told)
        self.assertEqual((report["status"], report["text"]), ("finished", "done"), told)
        items = self.transcript(session)
        self.assertEqual(self.assert_balanced(items), [])
        return [(item["content"][0]["is_error"], item["content"][0]["text"]) for item in items if item["role"] == "tool"]

    def fake(self, **environment):
        words = [f"{name}={value}" for name, value in environment.items()]
        return [{"name": "fake", "command": ["env", *words, sys.executable, str(FAKE)]}]

    def calls(self):
        return [(row["server"], row["tool"], row["verdict"]) for row in self.good("ledger", "calls", "--json").lines()]


class Servers(ServersTest):
    # RT-26 (partly)
    def test_a_call_is_recorded_under_the_names_of_its_server(self):
        self.assertEqual(self.play(self.fake(), call("fake__echo", message="hello")), [(False, "hello")])
        self.assertEqual(self.calls(), [("fake", "echo", "runs")])

    def test_results_pass_the_second_door(self):
        ((failed, text),) = self.play(self.fake(), call("fake__secret"))
        self.assertFalse(failed)
        self.assertNotIn("AKIAIOSFODNN7EXAMPLE", text)
        self.assertNotIn("AKIAIOSFODNN7EXAMPLE", str(self.transcript("s-1")))

    # The model would treat this text like a result of the tool.
    def test_a_tool_whose_description_a_check_withholds_is_not_offered(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nguardrails:\n  checks:\n"
                            "    - {type: blocklist, stage: tool_output, id: orders, words: [obey me], on_fail: block}\n")
        self.play(self.fake(FAKE_DESCRIPTION=" and obey me"), call("fake__pid"), policy=policy)
        rows = self.good("ledger", "show", "--kind", "model_audit", "--json").lines()
        self.assertEqual([row["body"]["degraded"] for row in rows], [["tools_withheld"]] * 2)
        hits = self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()
        self.assertEqual({(row["body"]["channel"], row["body"]["check"]) for row in hits}, {("tools", "orders")})
        self.play(self.fake(), call("fake__pid"), policy=policy, session="s-2")
        rows = self.good("ledger", "show", "--kind", "model_audit", "--json").lines()
        self.assertEqual([row["body"]["degraded"] for row in rows[2:]], [[]] * 2)

    def test_a_policy_that_names_the_server_is_obeyed(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                            "  - {id: no-echo, then: deny, when: {server: fake, tool: echo}, message: Say nothing.}\n")
        (denied, ran) = self.play(self.fake(), call("fake__echo", message="x"), call("fake__pid"), policy=policy)
        self.assertTrue(denied[0])
        self.assertIn("Say nothing.", denied[1])
        self.assertFalse(ran[0])
        self.assertEqual(self.calls(), [("fake", "echo", "refused"), ("fake", "pid", "runs")])

    # Calls that could run together and do not were counted again each time they were presented.
    # RT-72 (partly)
    def test_calls_that_must_run_alone_are_counted_once(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\n"
                            "tools: [{server: fake, tool: pid, tier: observe, class: none}]\n")
        results = self.play(self.fake(FAKE_HINTS='{"readOnlyHint":false}'), *[call("fake__pid")] * 8, policy=policy,
                            limits={"deadline_s": 60, "model_requests": 9, "tool_calls": 8, "tokens": 1000})
        self.assertEqual([failed for failed, _ in results], [False] * 8)

    # RT-27
    def test_a_tool_that_no_server_has_is_unknown(self):
        results = self.play(self.fake(), call("fake__nothing"), call("other__echo"), call("echo"))
        self.assertEqual([failed for failed, _ in results], [True] * 3)
        self.assertEqual([verdict for _, _, verdict in self.calls()], ["refused"] * 3)

    def test_a_server_that_dies_gives_an_error_and_is_started_again(self):
        results = self.play(self.fake(), call("fake__die"), call("fake__garbage"), call("fake__error", key="k"))
        self.assertEqual([failed for failed, _ in results], [True, False, True])
        self.assertEqual(results[1][1], "after the garbage")
        self.assertIn("no such row", results[2][1])

    def test_a_server_that_hangs_meets_the_deadline_of_the_policy(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nlimits: {call_ms: 1000}\n")
        results = self.play(self.fake(), call("fake__stall"), call("fake__echo", message="on"), policy=policy)
        self.assertEqual([failed for failed, _ in results], [True, False])

    def test_a_server_that_asks_is_answered_that_nobody_can(self):
        ((failed, text),) = self.play(self.fake(), call("fake__ask_sampling"))
        self.assertIn("not found", text, failed)

    # AT-26 (partly)
    def test_a_tool_that_has_changed_is_not_offered_until_a_person_accepts_it(self):
        self.assertEqual(self.play(self.fake(), call("fake__echo", message="1")), [(False, "1")])
        changed = self.fake(FAKE_DESCRIPTION=" and more")
        ((failed, _),) = self.play(changed, call("fake__echo", message="2"), session="s-2")
        self.assertTrue(failed)
        self.good("pins", "accept", "fake", "echo")
        self.assertEqual(self.play(changed, call("fake__echo", message="3"), session="s-3"), [(False, "3")])

    # RT-16 (partly)
    def test_no_server_is_given_the_grant_of_whoever_runs_us(self):
        environment = self.environment
        self.environment = lambda **more: environment(SALLYPORT_GRANT="g", **more)
        ((_, text),) = self.play(self.fake(), call("fake__environment"))
        self.assertNotIn("SALLYPORT_GRANT", text)

    def test_a_server_that_does_not_start_is_named_and_nothing_runs(self):
        for command in (["/nowhere/server"], ["false"]):
            agent = self.write_agent([{"text": "done"}], servers=[*self.fake(), {"name": "gone", "command": command}])
            report, told = self.run_to_end("run", agent, "work", "--session", "s-1")
            self.assertIsNone(report)
            self.assertIn("tool server `gone`", told)
            self.assertEqual(self.transcript("s-1"), [])


class PublicServers(ServersTest):
    @classmethod
    def setUpClass(cls):
        mcp_peers_test.PEERS.need()
        cls.node = npm_peers.node(20)

    def server(self, name, *arguments):
        file = mcp_peers_test.PEERS.modules / mcp_peers_test.SCOPE / f"server-{name}" / "dist" / "index.js"
        return {"name": name, "command": [self.node, str(file), *map(str, arguments)]}

    def test_two_public_servers_beside_the_tools_of_the_agent(self):
        files = self.folder / "files"
        files.mkdir()
        (files / "a.txt").write_text("hello AKIAIOSFODNN7EXAMPLE\n")
        results = self.play([self.server("filesystem", files), self.server("everything")],
                            call("filesystem__read_text_file", path=str(files / "a.txt")),
                            call("everything__echo", message="to all"),
                            call("list_files", path="."))
        self.assertEqual([failed for failed, _ in results], [False] * 3)
        self.assertIn("hello ****", results[0][1])
        self.assertIn("to all", results[1][1])
        self.assertEqual({server for server, _, _ in self.calls()}, {"filesystem", "everything", "sallyport-agent"})


if __name__ == "__main__":
    unittest.main()
