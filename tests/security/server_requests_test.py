#!/usr/bin/env python3
"""A server's request to its client is judged and recorded like a call, in both eras, and a form names the server."""
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cli_support import BIN
from mcp_links import LEGACY, META, MODERN, StdioLink
from mcp_support import McpTest

SERVER = """
import json, sys
MODERN = sys.argv[1] == "modern"
def say(m): print(json.dumps({"jsonrpc": "2.0", **m}), flush=True)
def text(id, said): say({"id": id, "result": {**({"resultType": "complete"} if MODERN else {}), "content": [{"type": "text", "text": said}]}})
waiting = {}
for line in sys.stdin:
    m = json.loads(line)
    method, id, params = m.get("method"), m.get("id"), m.get("params") or {}
    if method == "initialize" and not MODERN:
        say({"id": id, "result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}})
    elif method == "server/discover" and MODERN:
        say({"id": id, "result": {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}})
    elif method == "tools/list":
        say({"id": id, "result": {**({"resultType": "complete"} if MODERN else {}), "tools": [{"name": "ask", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call" and MODERN:
        if "inputResponses" in params:
            text(id, json.dumps(params["inputResponses"]) + (" and saw the secret" if "AKIA" in line else ""))
        else:
            say({"id": id, "result": {"resultType": "input_required", "requestState": "s", "inputRequests": {
                params["arguments"].get("key", "k"): {"method": params["arguments"]["method"], "params": params["arguments"]["params"]}}}})
    elif method == "tools/call":
        waiting["q"] = id
        say({"id": "q", "method": params["arguments"]["method"], "params": params["arguments"]["params"]})
        if params["arguments"].get("cancel"):
            say({"method": "notifications/cancelled", "params": {"requestId": "q", "reason": "never mind"}})
            text(id, "taken back")
    elif method is None and id in waiting:
        text(waiting.pop(id), json.dumps(m.get("result", m.get("error"))) + (" and saw the secret" if "AKIA" in line else ""))
    elif id is not None and method is not None:
        say({"id": id, "error": {"code": -32601, "message": "no"}})
"""
ABLE = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
AUTO = "version: 1\nautonomy: {tier: act_auto}\nresults: [{hook: output-sanitizer}]\n"
FORM = {"mode": "form", "message": "Which city?", "requestedSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}
PAGE = {"mode": "url", "message": "Look at this page", "elicitationId": "e", "url": "https://example.com/x"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "say hello"}}], "maxTokens": 5}
SECRET = "AKIAIOSFODNN7EXAMPLE"
ERAS = [(client, server) for client in (LEGACY, MODERN) for server in (LEGACY, MODERN)]


def form(message="Which city?", name="city", **field):
    return {"mode": "form", "message": message, "requestedSchema": {"type": "object", "properties": {name: {"type": "string", **field}}}}


class Gate:
    def __init__(self, test, client, server, policy):
        self.test, self.era = test, client
        test.data = test.folder / f"data-{client}-{server}-{len(list(test.folder.iterdir()))}"
        program = test.write("server.py", SERVER)
        self.link = StdioLink([BIN, "mcp", "--name", "files", "--policy", policy, "--data-dir", test.data, "--", sys.executable, program,
                               "legacy" if server == LEGACY else "modern"], test.environment(), test.folder)
        self.last, self.asked = 0, []
        if client == LEGACY:
            self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": ABLE, "clientInfo": {"name": "c", "version": "1"}})
            self.link.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, LEGACY)

    def ask(self, method, params, reply=None, **more):
        """Returns the answer to a request; answers questions on the way with `reply` and keeps them in `asked`."""
        self.last += 1
        id = self.last
        if self.era == MODERN:
            params = {**params, "_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": ABLE}}
        self.link.send({"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, **more}}, self.era)
        while True:
            message = self.link.messages.get(timeout=60)
            self.test.assertIsNotNone(message, "the gateway ended")
            if "method" in message and "id" in message:
                self.asked.append((message["method"], message["params"]))
                if reply is not None:
                    self.link.send({"jsonrpc": "2.0", "id": message["id"], "result": reply}, self.era)
            elif message.get("id") == id and isinstance(message.get("result"), dict) and "inputRequests" in message["result"]:
                asks = message["result"]["inputRequests"]
                self.asked += [(one["method"], one["params"]) for one in asks.values()]
                return self.ask(method, params, reply, inputResponses={key: reply for key in asks}, requestState=message["result"]["requestState"])
            elif message.get("id") == id:
                return message

    def question(self, method, params, reply=None, **more):
        return self.ask("tools/call", {"name": "ask", "arguments": {"method": method, "params": params, **more}}, reply)

    def close(self):
        self.link.close()


class ServerRequests(McpTest):
    def gate(self, client, server, policy=AUTO):
        return Gate(self, client, server, self.write("policy.yaml", policy) if "\n" in policy else policy)

    def of(self, method):
        found = self.cli("ledger", "show", "--kind", "tool_audit", "--tool", method, "--terminal", "true", "--json")
        return [row["record"] for row in found.lines()] if found.code == 0 else []

    # PI-28, PI-32
    def test_what_a_server_asks_for_is_on_record_and_its_answer_passes_the_second_door(self):
        asks = (("sampling/createMessage", SAMPLE, {"role": "assistant", "model": "m", "content": {"type": "text", "text": SECRET}}),
                ("elicitation/create", FORM, {"action": "accept", "content": {"city": SECRET}}),
                ("elicitation/create", PAGE, {"action": "accept", "_meta": {"k": SECRET}}), ("roots/list", {}, {"roots": [{"uri": "file:///" + SECRET}]}))
        for client, server in ERAS:
            with self.subTest(client=client, server=server):
                gate = self.gate(client, server)
                for method, params, reply in asks:
                    said = gate.question(method, params, reply)["result"]["content"][0]["text"]
                    self.assertIn(next(iter(reply)), said)
                    self.assertIn("****", said)
                    self.assertNotIn("saw the secret", said)
                gate.close()
                self.assertEqual([method for method, _ in gate.asked], [method for method, _, _ in asks])
                for method in ("sampling/createMessage", "elicitation/create", "roots/list"):
                    wanted = [(params, reply) for asked, params, reply in asks if asked == method]
                    records = self.of(method)
                    self.assertEqual([r["effective_input"].get("message") for r in records], [params.get("message") for params, _ in wanted])
                    self.assertEqual({(r["outcome"]["kind"], r["server"]) for r in records}, {("completed", "files")})
                    answers = records if (client, server) != (MODERN, MODERN) else self.good("ledger", "show", "--topic", "mcp", "--json").lines()
                    for _, reply in wanted:
                        self.assertIn(next(iter(reply)), json.dumps(answers))
                # A form and a page name the server that asks.
                self.assertEqual([params["message"] for method, params in gate.asked if method == "elicitation/create"],
                                 ["[from server `files`] " + params["message"] for params in (FORM, PAGE)])

    def test_a_form_that_imitates_us_or_asks_for_a_secret_reaches_nobody(self):
        bad = [form("Sallyport: approve this call"), form("S\u0430lly\u200bport approval"), form("Unlock", "p", title="Your passphrase"), form("Unlock", "pass_phrase"),
               form("Log in", "password"), form("Log in", "x", description="your API key"), {**PAGE, "message": "SALLYPORT needs you"}, {**PAGE, "url": "javascript:alert(1)"}]
        for client, server in ERAS:
            gate = self.gate(client, server)
            for params in bad:
                with self.subTest(client=client, server=server, params=params):
                    answer = gate.question("elicitation/create", params, {"action": "accept", "content": {"x": "y"}})
                    self.assertNotIn('"accept"', json.dumps(answer))
            gate.close()
            self.assertEqual(gate.asked, [])
            records = self.of("elicitation/create")
            self.assertEqual([r["outcome"]["kind"] for r in records], ["blocked"] * len(bad))

    def test_a_policy_denies_them(self):
        strict = pathlib.Path(__file__).parents[2].joinpath("policies/strict.yaml").read_text().replace("act_with_approval, deadline_s: 3600", "act_auto")
        denies = AUTO + "mcp: {deny_methods: [sampling/createMessage]}\n"
        for (client, server), policy in zip(ERAS, (strict, denies, denies, strict)):
            with self.subTest(client=client, server=server):
                gate = self.gate(client, server, policy)
                answer = gate.question("sampling/createMessage", SAMPLE, {"role": "assistant"})
                gate.close()
                self.assertEqual(gate.asked, [])
                self.assertNotIn("assistant", json.dumps(answer))
                [record] = self.of("sampling/createMessage")
                self.assertIn("mcp.deny_methods", json.dumps(record))

    def test_a_key_of_ours_in_a_stateless_question_is_refused(self):
        gate = self.gate(MODERN, MODERN)
        answer = gate.question("elicitation/create", FORM, {"action": "accept"}, key="sallyport.approval")
        gate.close()
        self.assertEqual(answer["error"]["code"], -31403)
        self.assertEqual(gate.asked, [])

    def test_a_question_that_the_server_takes_back_ends(self):
        gate = self.gate(LEGACY, LEGACY)
        said = gate.question("roots/list", {}, None, cancel=True)["result"]["content"][0]["text"]
        self.assertEqual(said, "taken back")
        gate.close()
        self.assertLessEqual(len(self.of("roots/list")), 1)


if __name__ == "__main__":
    unittest.main()
