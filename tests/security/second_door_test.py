#!/usr/bin/env python3
"""No secret of a server reaches the client, wherever in a message it occurs, and the record shows that one was removed."""
import base64
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from cli_support import BIN
from mcp_links import HttpLink, StdioLink
from mcp_support import McpTest
from planted_peer import CAPABILITIES, LEGACY, MARK, META, MODERN, HttpPeer
from serve_support import ServeTest

PEER = pathlib.Path(__file__).with_name("planted_peer.py")
ABLE = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
CALLS = ("text", "parts", "error", "bad_error", "fails", "tell", "ask", "array", "odd")
REQUESTS = [("tools/list", {}), ("resources/list", {}), ("resources/templates/list", {}), ("resources/read", {"uri": "file:///a"}), ("prompts/list", {}),
            ("prompts/get", {"name": "p"}), ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "x", "value": "y"}}),
            ("x/allowed", {}), ("x/none", {}), *(("tools/call", {"name": name, "arguments": {}}) for name in CALLS)]
SESSION_REQUESTS = [("logging/setLevel", {"level": "debug"}), ("resources/subscribe", {"uri": "file:///a"})]


def secrets_in(text):
    """Finds secrets also as base64 and across text blocks."""
    message = json.loads(text)
    if isinstance(message, dict) and isinstance(message.get("result"), dict):
        blocks = message["result"].get("content", [])
        joined = "".join(block.get("text", "") for block in blocks if isinstance(block, dict))
        if MARK.search(joined):
            return MARK.findall(joined)
    found = MARK.findall(text)
    for word in re.findall(r"[A-Za-z0-9+/]{24,}={0,2}", text):
        try:
            found += MARK.findall(base64.b64decode(word + "=" * (-len(word) % 4)).decode())
        except ValueError:
            pass
    return found


class Talk:
    """A client of one era that requests everything and answers every question."""

    def __init__(self, test, link, era):
        self.test, self.link, self.era = test, link, era
        self.heard = []
        self.last = 0

    def ask(self, method, params):
        self.last += 1
        id, retried = self.last, False
        if self.era == MODERN:
            params = {**params, "_meta": {**params.get("_meta", {}), META + "protocolVersion": MODERN, META + "clientCapabilities": ABLE, META + "logLevel": "debug"}}
        params = {**params, "_meta": {**params.get("_meta", {}), "progressToken": f"t{id}"}}
        self.link.send({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, self.era)
        while True:
            message = self.link.messages.get(timeout=60)
            self.test.assertIsNotNone(message, "the gateway ended")
            self.heard.append(message)
            if "method" in message and "id" in message:
                self.link.send({"jsonrpc": "2.0", "id": message["id"], "result": {"action": "cancel"}, "extra": 1}, self.era)
            elif message.get("id") == id:
                asks = (message.get("result") or {}).get("inputRequests") if isinstance(message.get("result"), dict) else None
                if not asks or retried:
                    return message
                retried = True
                self.last += 1
                id = self.last
                answers = {key: {"action": "cancel"} for key in asks}
                self.link.send({"jsonrpc": "2.0", "id": id, "method": method, "params": {
                    **params, "inputResponses": answers, "requestState": message["result"]["requestState"]}}, self.era)

    def ask_everything(self):
        if self.era == LEGACY:
            self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": ABLE, "clientInfo": {"name": "c", "version": "1"}})
            self.link.send({"jsonrpc": "2.0", "method": "notifications/initialized"}, LEGACY)
        else:
            self.ask("server/discover", {})
        for method, params in REQUESTS + (SESSION_REQUESTS if self.era == LEGACY else []):
            self.ask(method, params)


POLICY = "version: 1\nautonomy: {tier: act_auto}\nresults: [{hook: output-sanitizer, settings: {categories: {secret: true}}}]\nmcp: {allow_methods: [x/allowed]}\n"


# PI-27 PI-28 PI-29 PI-32 PI-45 PI-53
class NoMemberOfAMessagePassesTheSecondDoorUnseen(McpTest):
    def check(self, talk):
        talk.ask_everything()
        talk.link.close()
        leaks = [f"{secret} in {json.dumps(message)[:600]}" for message in talk.heard for secret in secrets_in(json.dumps(message))]
        self.assertEqual(leaks, [])
        self.assertGreater(len(talk.heard), len(REQUESTS))
        self.check_record(talk)

    def check_record(self, talk):
        records = self.records("--kind", "tool_audit", "--terminal", "true")
        cleaned = {record["tool_name"] for record in records if (record.get("post_invocation") or {}).get("sanitized")}
        for name in ("text", "parts", "error", "fails", "resources/read", "prompts/get", "completion/complete", "x/allowed"):
            self.assertIn(name, cleaned)
        noted = {(one["what"], one["from"], one["method"]) for entry in self.records("--topic", "mcp")
                 if entry.get("record") == "mcp_messages" for one in entry["messages"]}
        for what in ("redacted", "trimmed"):
            for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "notifications/message", "notifications/progress"):
                self.assertIn((what, "server", method), noted)
            self.assertTrue({(what, "server", "initialize"), (what, "server", "server/discover")} & noted)
        self.assertIn(("refused", "client", "x/none"), noted)
        self.assertIn(("dropped", "server", "notifications/x-unknown"), noted)
        self.assertEqual([secret for entry in self.records() for secret in secrets_in(json.dumps(entry))], [])

    def records(self, *filters):
        rows = self.good("ledger", "show", *filters, "--limit", "100000", "--json").lines()
        return [row.get("record") or row.get("body") or row for row in rows]

    def gate(self, *server):
        policy = self.write("policy.yaml", POLICY)
        return StdioLink([BIN, "mcp", "--name", "planted", "--policy", policy, "--data-dir", self.data, *server], self.environment(), self.folder)

    def test_in_sessions_over_standard_streams(self):
        self.check(Talk(self, self.gate("--", sys.executable, PEER, "legacy"), LEGACY))

    def test_without_sessions_over_standard_streams(self):
        self.check(Talk(self, self.gate("--", sys.executable, PEER, "modern"), MODERN))

    def test_between_a_stateless_client_and_a_server_of_sessions(self):
        self.check(Talk(self, self.gate("--", sys.executable, PEER, "legacy"), MODERN))

    def test_between_a_client_of_sessions_and_a_stateless_server(self):
        self.check(Talk(self, self.gate("--", sys.executable, PEER, "modern"), LEGACY))

    def test_over_http_as_json_and_as_streams_in_both_eras(self):
        for era in (LEGACY, MODERN):
            for streams in (False, True):
                with self.subTest(era=era, streams=streams):
                    peer = HttpPeer(era, streams)
                    self.addCleanup(peer.close)
                    self.data = self.folder / f"data-{era}-{streams}"
                    self.check(Talk(self, self.gate("--url", peer.url), era))


class NoMemberOfAMessageReachesAClientOverHttp(ServeTest):
    # PI-27 PI-32
    def test_of_sessions_and_of_none(self):
        policy = self.write("policy.yaml", POLICY)
        server = self.serve(f"policy: {policy}", command=(sys.executable, PEER, "legacy"))
        for era in (LEGACY, MODERN):
            with self.subTest(era=era):
                link = HttpLink(server.started["url"], {"Authorization": f"Bearer {server.token}"})
                talk = Talk(self, link, era)
                talk.ask_everything()
                link.close()
                self.assertEqual([secret for message in talk.heard for secret in secrets_in(json.dumps(message))], [])


if __name__ == "__main__":
    unittest.main()
