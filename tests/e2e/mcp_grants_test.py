#!/usr/bin/env python3
"""Calls that need a grant, through `sallyport mcp`: each kind of bad token is refused with its own reason."""
import json
import sys
import time
import unittest
import uuid

from grants_support import GrantTest
from mcp_support import FAKE


class McpGrants(GrantTest):
    def gateway(self, *more, env=None, command=(), policy=""):
        client = self.client(*command, env=env, options=("--policy", str(self.policy(policy)), "--name", "fake", *more))
        client.open()
        return client

    def call(self, client, token=None, message="hi"):
        more = {} if token is None else {"_meta": {"sallyport/grant": token}}
        result = client.result("echo", {"message": message}, **more)
        return result["content"][0]["text"], result.get("isError", False)

    def assert_refused(self, client, token, code):
        text, failed = self.call(client, token)
        self.assertTrue(failed, text)
        self.assertIn(code, text)

    # CG-14 (partly) CG-15 CG-16 (partly) CG-17 (partly) CG-20 CG-21 (partly) CG-24 (partly) CG-28 (partly) CG-66 (partly)
    def test_each_bad_token_is_refused_for_its_own_reason(self):
        client = self.gateway()
        good = self.token()
        self.assertEqual(self.call(client, good), ("hi", False))
        self.assert_refused(client, None, "grant_missing")
        self.assert_refused(client, {**good, "id": str(uuid.uuid4())}, "grant_signature")
        self.assert_refused(client, {**good, "more": 1}, "grant_malformed")
        self.assert_refused(client, self.token("stranger"), "grant_untrusted_issuer")
        now = int(time.time())
        self.assert_refused(client, self.token(issued_at=now - 100, expires_at=now - 1), "grant_expired")
        self.assert_refused(client, self.token(issued_at=now + 100, expires_at=now + 200), "grant_not_yet_valid")
        self.assert_refused(client, self.token(subject={"principal": "agent:somebody"}), "grant_subject")
        self.assert_refused(client, self.token(scope={"server": "other", "tool": "*", "operations": ["invoke"]}), "grant_scope")
        narrow = self.delegable(constraints=[{"type": "arg_equals", "value": {"at": "/message", "value": "bye"}}])
        self.assert_refused(client, self.child(narrow), "grant_delegation")
        client.close()
        blocked = [record for record in self.records("--tool", "echo") if record["outcome"]["kind"] == "blocked"]
        self.assertEqual(len(blocked), 9)
        guard = [next(run for run in record["guards"] if run["guard"] == "grants") for record in blocked]
        self.assertEqual([run["evidence"]["check"] for run in guard],
                         ["form", "signature", "form", "signature", "time", "time", "subject", "scope", "delegation"])
        self.assertTrue(all("signature" not in run["evidence"] for run in guard))
        # All refusals except the one without a token name the grant, also for a malformed token.
        self.assertEqual([run["evidence"]["code"] for run in guard if "grant_id" not in run["evidence"]], ["grant_missing"])

    # PI-21 PI-76 (partly) PI-79 (partly)
    def test_what_a_server_says_during_a_call_with_limited_rows_is_withheld(self):
        self.required = "all"
        client = self.gateway(policy="results: [{hook: query-result}]\n")
        limited = self.token(scope={"server": "fake", "tool": "*", "operations": ["invoke", "read_result"],
                                    "constraints": [{"type": "max_rows_returned", "value": 1}]})
        self.assertEqual(self.call(client, limited, '[{"a":1},{"a":2}]'), ('[{"a":1}]', False))
        self.assertEqual(client.said("log", _meta={"sallyport/grant": limited}), "****")
        self.assertIn("result", client.request("tools/list"))
        client.close()
        self.assertFalse([line for line in client.lines if "notifications/message" in line])

    # Each table counted as one row, and its cells, which have no names of their own, were all shown.
    # PI-75 (partly) PI-76 (partly) PI-77
    def test_the_tables_of_several_statements_are_each_limited(self):
        client = self.gateway(policy="results: [{hook: query-result}]\n")
        limited = self.token(scope={"server": "fake", "tool": "*", "operations": ["invoke", "read_result"],
                                    "constraints": [{"type": "max_rows_returned", "value": 1}, {"type": "column_denylist", "value": ["ssn"]}]})
        for tables, shown in (
                ('[{"columns":["id","SSN"],"rows":[[1,"x"],[2,"y"]]}]', '[{"columns":["id","SSN"],"rows":[[1,"****"]]}]'),
                ('[{"rows":[{"ssn":1}]},{"rows":[{"a":1}]}]', '[{"rows":[{"ssn":"****"}]},{"rows":[]}]'),
                ('[{"a":{"columns":["ssn"],"rows":[["x"]]}}]', '[{"a":{"columns":["ssn"],"rows":[["****"]]}}]')):
            self.assertEqual(self.call(client, limited, tables), (shown, False))
        client.close()

    # CG-18 CG-61
    def test_a_revoked_token_and_every_child_of_a_revoked_one_is_refused_from_the_next_call_on(self):
        client = self.gateway()
        lone, root = self.token(), self.delegable()
        child = self.child(root)
        for token in (lone, root, child):
            self.assertEqual(self.call(client, token), ("hi", False))
        for token in (lone, root):
            self.good("grants", "revoke", token["id"], "--reason", "lost")
        for token in (lone, root, child):
            self.assert_refused(client, token, "grant_revoked")
        client.close()

    # CG-32 CG-48 CG-53 CG-54
    def test_a_budget_is_shared_by_processes_and_by_the_children_of_a_token(self):
        root = self.delegable(max_invocations=2)
        children = [self.child(root, max_invocations=2) for _ in range(2)]
        first, second = self.gateway(), self.gateway()
        self.assertEqual(self.call(first, children[0]), ("hi", False))
        self.assertEqual(self.call(second, children[1]), ("hi", False))
        self.assert_refused(first, children[1], "grant_budget")
        self.assert_refused(second, children[0], "grant_budget")
        hasty = self.token(scope={"server": "*", "tool": "*", "operations": ["invoke", "read_result"], "rate": {"max": 1, "per_seconds": 600}})
        self.assertEqual(self.call(first, hasty), ("hi", False))
        self.assert_refused(second, hasty, "grant_rate")
        first.close()
        second.close()

    # CG-10 CG-11 CG-36
    def test_the_token_is_taken_out_before_the_server_hears_of_the_call_and_no_record_has_its_signature(self):
        heard = self.folder / "heard"
        client = self.gateway(command=("sh", "-c", f"tee {heard} | {sys.executable} {FAKE}"))
        token = self.token()
        both = client.result("echo", {"message": "one"}, _meta={"sallyport/grant": token, "x-mine": [1.0]})
        self.assertEqual(both["content"][0]["text"], "one")
        self.assertEqual(self.call(client, token, "two"), ("two", False))
        client.request("x/echo", {"a": 1, "_meta": {"sallyport/grant": token}})
        client.close()
        lines = heard.read_text()
        self.assertNotIn("sallyport/grant", lines)
        self.assertNotIn(token["signature"], lines)
        self.assertIn('"x-mine":[1.0]', lines.replace(" ", ""))
        calls = [record for record in self.records("--tool", "echo")]
        self.assertEqual([record["matched_grant_index"] for record in calls], [0, 0])
        exported = self.good("ledger", "show", "--limit", "100000", "--json").out
        self.assertNotIn(token["signature"], exported)
        self.assertIn(token["id"], exported)

    # CG-10 (partly)
    def test_a_token_of_the_front_serves_calls_that_bring_none(self):
        file = self.write("token.json", json.dumps(self.token()))
        for more, env in ((("--grant", str(file)), {}), ((), {"SALLYPORT_GRANT": file}), ((), {"SALLYPORT_GRANT": file.read_text()})):
            client = self.gateway(*more, env=env)
            self.assertEqual(self.call(client), ("hi", False))
            self.assertNotIn("SALLYPORT_GRANT", client.said("environment"))
            # A call's own token counts instead, even if it is worse.
            self.assert_refused(client, self.token("stranger"), "grant_untrusted_issuer")
            client.close()
        missing = self.client(options=("--policy", str(self.policy()), "--grant", str(self.folder / "none")))
        self.assertEqual(missing.process.wait(60), 1)

    # CG-14 (partly): a waiting call continues only for a client that presents its grant.
    def test_nobody_gets_into_a_waiting_call_without_its_grant(self):
        self.tier = "act_with_approval"
        client = self.gateway(policy=f"approvals:\n  hold_s: 1\n  reviewers: [{{name: \"user:ada\", token: \"sha256:{'0' * 64}\", roles: [approver]}}]\n")
        token = self.token()
        waiting, _ = self.call(client, token)
        self.assertIn("pending_approval", waiting)
        self.assert_refused(client, None, "grant_missing")
        self.assert_refused(client, self.token("stranger"), "grant_untrusted_issuer")
        self.assertEqual(self.call(client, token)[0], waiting)
        client.close()

    # CG-47
    def test_without_read_result_the_call_runs_and_its_result_is_withheld(self):
        client = self.gateway()
        token = self.token(scope={"server": "fake", "tool": "echo", "operations": ["invoke"]})
        self.assertEqual(self.call(client, token, "the secret word"), ("[result withheld by grant]", False))
        client.close()
        self.assertEqual(self.records("--tool", "echo")[0]["outcome"]["kind"], "completed")

    def test_servers_tools_and_agents_can_be_named_and_others_need_no_grant(self):
        self.required = '[{server: other}, {tool: pid, agent: "agent:x"}]'
        client = self.gateway()
        self.assertEqual(self.call(client), ("hi", False))
        self.assertTrue(client.said("pid").isdigit())
        client.close()
        self.required = "all"
        client = self.gateway()
        self.assertTrue(client.result("pid")["isError"])
        self.assertIn("error", client.request("resources/read", {"uri": "file:///x"}))
        client.close()

    # AT-20 (partly): a grant allows nothing that a guard denies, and does not raise a call above its own tier.
    def test_a_grant_lifts_no_guard_and_lowers_the_tier(self):
        checks = "guardrails:\n  checks:\n    - {type: blocklist, stage: tool_use, id: word, words: [swordfish]}\n"
        client = self.gateway(policy=checks)
        text, failed = self.call(client, self.token(), "swordfish")
        self.assertTrue(failed)
        self.assertIn("guardrail check 'word' refused", text)
        shadow = self.token(scope={"server": "fake", "tool": "echo", "operations": ["invoke", "read_result"],
                                   "constraints": [{"type": "autonomy_ceiling", "value": "shadow"}]})
        self.call(client, shadow)
        client.close()
        record = self.records("--tool", "echo")[-1]
        self.assertEqual((record["outcome"]["kind"], record["autonomy"], record["autonomy_source"]), ("blocked", "shadow", "grant"))

    def test_a_policy_that_asks_for_grants_badly_is_refused_with_its_place(self):
        for lines, where in (("grants: {required: all}", "2:"), ("grants: {required: [], trusted_issuers: []}", "2:"),
                             ("grants: {required: some, trusted_issuers: []}", "2:20"),
                             ("grants:\n  required: all\n  trusted_issuers: [\"ed25519:AB\"]", "4:21"),
                             ("grants: {required: all, trusted_issuers: [], leeway: 5}", "2:")):
            path = self.write("bad.yaml", "version: 1\n" + lines + "\n")
            outcome = self.cli("policy", "check", path)
            self.assertEqual(outcome.code, 1, lines)
            self.assertTrue(outcome.err.startswith(f"{path}:{where}"), outcome.err)


if __name__ == "__main__":
    unittest.main()
