#!/usr/bin/env python3
"""A method that the protocol does not have passes in neither direction unless the policy names it, and it is always recorded."""
import json
import pathlib
import sys
import unittest

from mcp_support import McpTest

SERVER = """
import json, sys
def say(m): print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    with open(sys.argv[1], "a") as heard: heard.write(line)
    method, id = m.get("method"), m.get("id")
    if method == "initialize":
        say({"id": id, "result": {"protocolVersion": m["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in ("ask", "echo", "sampling/createMessage", "tools/call")]}})
    elif method == "tools/call" and m["params"]["name"] == "ask":
        for i in range(3):
            say({"method": "notifications/x-noise", "params": {"i": i}})
        say({"id": "q", "method": "x/question", "params": {"a": 1}})
        waiting = id
    elif id == "q":
        say({"id": waiting, "result": {"content": [{"type": "text", "text": json.dumps(m.get("result", m.get("error")))}]}})
    elif id is not None and method is not None:
        say({"id": id, "result": {"content": [], "did": method}})
"""
ODD = ["Tools/call", "tools//call", "TOOLS/CALL", "tools/call/", "x/call", "tools/Call", "tools/run", "rpc.discover", "resources/write", "sampling/createMessage"]
UNREADABLE = ["tools/call ", " tools/call", "tools/call\u0000", "tools\u2044call", "t\u043eols/call", "tools/\u200bcall", "tools\ncall"]


class Methods(McpTest):
    def start(self, policy="version: 1\nautonomy: {tier: act_auto}\n"):
        self.heard = self.folder / "heard"
        program = self.write("server.py", SERVER)
        client = self.client(sys.executable, program, self.heard, options=("--name", "s", "--policy", str(self.write("policy.yaml", policy))))
        client.open()
        return client

    def reached(self):
        return [json.loads(line) for line in self.heard.read_text().splitlines()]

    def noted(self):
        rows = self.good("ledger", "show", "--topic", "mcp", "--json").lines()
        counts = {}
        for row in rows:
            for one in row["body"]["messages"]:
                key = (one["what"], one["from"], one["method"])
                counts[key] = counts.get(key, 0) + one["count"]
        return counts

    # PI-32
    def test_a_method_that_nobody_knows_is_refused_and_recorded(self):
        client = self.start()
        for method in ODD:
            error = client.request(method, {"name": "echo", "arguments": {}})["error"]
            self.assertEqual(error["code"], -32601, method)
            self.assertIn(f"allow_methods: [{method}]", error["message"])
        for method in UNREADABLE:
            self.assertEqual(client.request(method, {"name": "echo", "arguments": {}})["error"]["code"], -32600, repr(method))
        client.close()
        self.assertEqual({m.get("method") for m in self.reached()} & set(ODD + UNREADABLE), set())
        noted = self.noted()
        for method in ODD:
            self.assertEqual(noted["refused", "client", method], 1)
        self.assertEqual(noted["refused", "client", "(unreadable)"], len(UNREADABLE))
        self.refused(1, "ledger", "show", "--kind", "tool_audit")

    def test_a_method_that_the_policy_names_is_a_call_with_a_record(self):
        client = self.start("version: 1\nautonomy: {tier: act_auto}\nmcp: {allow_methods: [x/ping, notifications/x-mine]}\n")
        self.assertEqual(client.request("x/ping", {"a": 1})["result"]["did"], "x/ping")
        self.assertEqual(client.request("x/ping")["result"]["did"], "x/ping")
        self.assertEqual(client.request("x/other", {})["error"]["code"], -32601)
        client.tell("notifications/x-mine", {"b": 2})
        client.tell("x/ping", {"b": 3})
        client.request("tools/list", {})
        client.close()
        self.assertEqual([r["tool_name"] for r in self.records("--terminal", "true")], ["x/ping", "x/ping"])
        self.assertEqual([m["method"] for m in self.reached() if m.get("method", "").startswith(("x/", "notifications/x"))],
                         ["x/ping", "x/ping", "notifications/x-mine"])
        noted = self.noted()
        self.assertEqual(noted["passed", "client", "notifications/x-mine"], 1)
        self.assertEqual(noted["dropped", "client", "x/ping"], 1)

    def test_it_waits_for_a_person_where_effects_do(self):
        client = self.start("version: 1\nautonomy: {tier: shadow}\nmcp: {allow_methods: [x/ping]}\n")
        error = client.request("x/ping", {})["error"]
        self.assertEqual(error["code"], -31403)
        client.close()
        self.assertNotIn("x/ping", [m.get("method") for m in self.reached()])

    def test_notifications_that_nobody_knows_are_dropped_and_counted_in_both_directions(self):
        client = self.start()
        for _ in range(5):
            client.tell("notifications/x-odd", {"a": 1})
        told = client.result("ask")["content"][0]["text"]
        self.assertEqual(json.loads(told)["code"], -32601)
        client.close()
        self.assertNotIn("notifications/x-odd", [m.get("method") for m in self.reached()])
        self.assertNotIn("x-noise", "".join(client.lines))
        self.assertNotIn('"method"', "".join(client.lines))
        noted = self.noted()
        self.assertEqual(noted["dropped", "client", "notifications/x-odd"], 5)
        self.assertEqual(noted["dropped", "server", "notifications/x-noise"], 3)
        self.assertEqual(noted["refused", "server", "x/question"], 1)

    def test_a_tool_with_the_name_of_a_method_cannot_be_called(self):
        client = self.start()
        for tool in ("sampling/createMessage", "tools/call"):
            self.assertTrue(client.result(tool)["isError"])
        client.close()

    def test_members_that_no_call_has_do_not_reach_the_server(self):
        client = self.start()
        client.send_text('{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"echo","arguments":{"a":1.50},"command":"rm"},"extra":"rm"}')
        client.answer(5)
        client.close()
        [call] = [m for m in self.reached() if m.get("method") == "tools/call"]
        self.assertEqual(sorted(call), ["id", "jsonrpc", "method", "params"])
        self.assertEqual(sorted(call["params"]), ["arguments", "name"])

    def test_a_policy_says_which_methods_and_nothing_else(self):
        for text, words in (("allow_methods: [\"a b\"]", "not a name of a method"), ("allow_methods: [x, x]", "duplicate method"), ("deny_methods: [tools/call]", "tools/call"),
                            ("allowed: [x]", "unknown key")):
            refused = self.cli("policy", "check", str(self.write("bad.yaml", f"version: 1\nmcp: {{{text}}}\n")))
            self.assertEqual(refused.code, 1)
            self.assertIn(words, refused.err + refused.out)


if __name__ == "__main__":
    unittest.main()
