#!/usr/bin/env python3
"""Scopes of autonomy, statements of hosts about a call, and clients that `serve` refuses: from outside, on every front."""
import hashlib
import json
import sys
import unittest

from hook_test import Hook, claude
from mcp_support import FAKE, McpTest
from serve_support import ServeTest, Session, modern

DISPATCH = "sallyport/dispatch"
ACTS = """version: 1
autonomy: {tier: act_auto}
"""


def tiers(records):
    return [(record["autonomy"], record["autonomy_source"]) for record in records if record["terminal"]]


class McpScopes(McpTest):
    def opened(self, policy, *command):
        client = self.client(*command, options=("--name", "fake", "--policy", str(self.write("policy.yaml", policy))))
        client.open()
        return client

    # AT-7 AT-13 AT-14 AT-29
    def test_a_client_puts_a_scope_around_its_call(self):
        heard = self.folder / "heard"
        client = self.opened(ACTS, "sh", "-c", f"tee {heard} | {sys.executable} {FAKE}")
        result = client.result("echo", {"message": "hi"}, _meta={DISPATCH: {"scope": {"tier": "shadow"}}})
        self.assertEqual(result["structuredContent"]["sallyport"]["status"], "skipped")
        self.assertEqual(client.said("echo", {"message": "wide"}, _meta={DISPATCH: {"scope": {"tier": "act_auto"}}}), "wide")
        client.close()
        self.assertEqual(tiers(self.records()), [("shadow", "scope"), ("act_auto", "tier")])
        calls = [json.loads(line) for line in heard.read_text().splitlines() if '"tools/call"' in line]
        self.assertEqual(len(calls), 1)
        self.assertNotIn(DISPATCH, json.dumps(calls))

    # AT-14
    def test_a_scope_of_a_client_never_widens(self):
        client = self.opened("version: 1\nautonomy: {tier: shadow}\n")
        result = client.result("echo", {"message": "hi"}, _meta={DISPATCH: {"scope": {"tier": "act_auto", "requires_human": False}}})
        self.assertEqual(result["structuredContent"]["sallyport"]["status"], "skipped")
        client.close()
        self.assertEqual(tiers(self.records()), [("shadow", "tier")])

    # The id of a question, its facts and the notice on standard error showed it.
    # AU-81 (partly) AU-84 (partly)
    def test_a_trigger_that_holds_a_secret_is_refused_and_stored_nowhere(self):
        secret = "ghp_" + "a1" * 18
        client = self.opened("version: 1\nautonomy: {tier: act_with_approval}\napprovals: {hold_s: 0}\n")
        error = client.call("echo", {"message": "hi"}, _meta={DISPATCH: {"trigger": {"id": secret}}})["error"]
        self.assertEqual(error["code"], -32602)
        self.assertIn("`trigger_id` holds what looks like a secret", error["message"])
        self.assertNotIn(secret, error["message"])
        client.close()
        self.assertNotIn(secret, "".join(client.errors))
        for file in self.data.rglob("*"):
            self.assertFalse(file.is_file() and secret.encode() in file.read_bytes(), file)

    # AT-11 AT-12
    def test_turn_model_and_trigger_are_on_record_as_the_client_tells_them(self):
        client = self.opened(ACTS)
        said = {"turn": 3, "provider": "anthropic", "model": "small",
                "trigger": {"id": "evt-7", "provider": "github", "kind": "push", "trace_id": "trace-of-evt"}}
        self.assertEqual(client.said("echo", {"message": "hi"}, _meta={DISPATCH: said}), "hi")
        self.assertEqual(client.said("echo", {"message": "plain"}), "plain")
        client.close()
        told, plain = self.good("ledger", "show", "--kind", "tool_audit", "--json").lines()
        self.assertTrue(plain["entry"]["trace_id"].startswith("trace-"))
        self.assertNotIn("dispatch", plain["body"])
        record = self.records()[0]
        self.assertEqual(record["turn"], 3)
        self.assertEqual(record["provenance"], {"provider": "anthropic", "model": "small"})
        entry = told["entry"]
        self.assertEqual(entry["trace_id"], "trace-of-evt")
        body = told["body"]
        self.assertEqual(body["dispatch"], {
            "dispatch_id": entry["call_id"], "binding_id": "mcp", "binding_version": 1, "agent_id": entry["agent_id"],
            "action": "echo", "autonomy_tier": None,
            "trigger": {"id": "evt-7", "provider": "github", "kind": "push", "trace_id": "trace-of-evt", "headers": {}}})

    # AT-12 AT-32
    def test_what_is_no_dispatch_refuses_the_call_and_names_the_member(self):
        client = self.opened(ACTS)
        for said, named in ((7, DISPATCH), ({"colour": "red"}, "colour"), ({"turn": -1}, "turn"), ({"turn": "3"}, "turn"),
                            ({"model": "m" * 200}, "model"), ({"scope": {"tier": "some"}}, "tier"),
                            ({"scope": {"agent_id": "somebody"}}, "somebody"), ({"trigger": {"id": "no id!"}}, "trigger_id"),
                            ({"trigger": {"id": "e", "headers": {}}}, "headers")):
            with self.subTest(said=said):
                error = client.call("echo", {"message": "hi"}, _meta={DISPATCH: said})["error"]
                self.assertEqual(error["code"], -32602)
                self.assertIn(named, error["message"])
        self.assertEqual(client.said("echo", {"message": "on"}), "on")
        client.close()

    # AT-13
    def test_a_policy_puts_a_scope_around_calls_of_a_front(self):
        client = self.opened(ACTS + "scopes:\n  - {for: {front: mcp, server: 'fa*'}, autonomy: {tier: suggest}}\n")
        result = client.result("echo", {"message": "hi"})
        self.assertEqual(result["structuredContent"]["sallyport"]["status"], "proposed")
        client.close()
        self.assertEqual(self.records()[-1]["autonomy_source"], "scope")

    # EV-84
    def test_the_working_directory_of_a_gateway_is_in_its_events(self):
        client = self.opened(ACTS)
        client.said("echo", {"message": "hi"})
        client.close()
        rows = self.good("ledger", "show", "--kind", "event", "--json").lines()
        started = [row["body"] for row in rows if row["body"].get("kind") == "tool_authorization_started"]
        self.assertEqual(started[0]["preview"]["working_directory"], str(self.folder.resolve()))


class HookScopes(Hook):
    # AT-13 AT-16
    def test_a_policy_puts_a_scope_around_sessions_of_a_coding_agent(self):
        policy = self.write("policy.yaml", ACTS + "scopes:\n  - {for: {front: hook, session: 'night-*'}, autonomy: {tier: shadow}}\n")
        self.assertNotEqual(self.decision(claude("PreToolUse", call="a", session="day"), policy=policy), "deny")
        self.assertEqual(self.decision(claude("PreToolUse", call="b", session="night-1"), policy=policy), "deny")
        # A sub-agent of that session is inside the same scope.
        self.assertEqual(self.decision(claude("PreToolUse", call="c", session="night-1", agent_id="sub"), policy=policy), "deny")
        night = self.records("--session", "night-1")
        self.assertEqual({record["autonomy_source"] for record in night}, {"scope"})

    # EV-84
    def test_the_folder_and_the_model_of_the_host_are_on_record(self):
        policy = self.write("policy.yaml", ACTS)
        self.decision(claude("PreToolUse", model="opus"), policy=policy)
        started = [row["body"] for row in self.shown("--kind", "event") if row["body"].get("kind") == "tool_authorization_started"]
        self.assertEqual(started[0]["preview"]["working_directory"], "/src")
        self.decision(claude("PreToolUse", call="toolu_2", session="s-2"), policy=policy)
        self.hook(claude("PostToolUse", call="toolu_2", session="s-2", tool_response={"stdout": "x"}), policy=policy)
        self.assertEqual(self.records("--session", "s-2")[-1]["provenance"]["model"], "unknown")


class ServeScopes(ServeTest):
    def agents(self, **tokens):
        return "agents: [" + ", ".join(
            f"{{name: {name}, token_sha256: {hashlib.sha256(token.encode()).hexdigest()}}}" for name, token in tokens.items()) + "]"

    # AT-13 AT-14
    def test_a_policy_puts_a_scope_around_one_agent_of_serve(self):
        self.write("policy.yaml", ACTS + "scopes:\n  - {for: {agent: ci, front: http}, autonomy: {tier: shadow}}\n")
        server = self.serve("policy: ./policy.yaml\n  " + self.agents(ci="token-of-ci-0123456789", dev="token-of-dev-0123456789"))
        self.assertEqual(Session(server, token="token-of-dev-0123456789").said("echo", {"message": "hi"}), "hi")
        ci = Session(server, token="token-of-ci-0123456789")
        self.assertEqual(ci.call("echo", {"message": "hi"})[-1]["result"]["structuredContent"]["sallyport"]["status"], "skipped")
        # A client may also narrow its own call further.
        dev = Session(server, token="token-of-dev-0123456789")
        narrowed = dev.call("echo", {"message": "hi"}, _meta={DISPATCH: {"scope": {"tier": "suggest"}}})[-1]["result"]
        self.assertEqual(narrowed["structuredContent"]["sallyport"]["status"], "proposed")


class Admission(ServeTest):
    OPENING = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}

    def denied(self):
        rows = self.good("ledger", "show", "--kind", "event", "--limit", "1000", "--json").lines()
        return [row["body"] for row in rows if row["body"].get("kind") == "authorization_denied"]

    # EV-6 EV-10
    def test_a_refused_client_is_a_row_that_does_not_hold_its_token(self):
        server = self.serve()
        self.assertEqual(server.ask(body=self.OPENING, token=False)[0], 401)
        self.assertEqual(server.ask(body=self.OPENING, token="secret-token-of-somebody")[0], 401)
        self.assertEqual(server.ask(body=self.OPENING, headers={"Origin": "https://evil.example"})[0], 403)
        self.assertEqual(server.ask("GET", "/api/v1/approvals", token="nobody")[0], 401)
        rows = self.denied()
        self.assertEqual([(row["agent_id"], row["action"]) for row in rows], 4 * [("unauthenticated", "front_admission")])
        self.assertEqual([row["detail"].split(":")[0] for row in rows],
                         ["401 at /mcp", "401 at /mcp", "403 at other", "401 at /api/v1/approvals"])
        self.assertNotIn("secret-token-of-somebody", json.dumps(rows))
        self.assertEqual(server.ask(body=self.OPENING)[0] != 401, True)
        self.assertEqual(len(self.denied()), 4)

    # EV-10
    def test_a_flood_of_bad_tokens_does_not_fill_the_ledger(self):
        server = self.serve()
        connection = server.connection()
        for number in range(120):
            self.assertEqual(server.ask("GET", token=f"bad-{number}", connection=connection)[0], 401)
        rows = self.denied()
        self.assertLessEqual(len(rows), 40)
        self.assertGreaterEqual(len(rows), 32)


if __name__ == "__main__":
    unittest.main()
