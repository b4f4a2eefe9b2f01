#!/usr/bin/env python3
"""Tests `policy explain`: it prints the gate's decision, decides as the gate does, writes nothing and runs nothing."""
import hashlib
import json
import pathlib
import re
import shlex
import unittest

from mcp_support import McpTest

POLICY = """version: 1
autonomy:
  tier: suggest
  agent_tiers: {"agent:free": act_auto, "agent:shy": shadow}
  agent_action_tiers: {"agent:asked": {echo: act_with_approval}}
  ceiling: act_auto
  reviewers: ["user:ada"]
  quorum: 1
  deadline_s: 60
tools: [{server: fake, tool: pid, tier: observe, class: none}]
servers: [{server: files, profile: mcp-filesystem}]
guardrails:
  checks:
    - {type: blocklist, stage: tool_use, id: word, words: [swordfish]}
    - {type: regex, stage: tool_use, id: digits, on_fail: redact, patterns: ["[0-9]{16}"]}
"""


class Explain(McpTest):
    def setUp(self):
        super().setUp()
        self.policy = self.write("policy.yaml", POLICY)

    def explain(self, call, *more, policy=None):
        words = call if isinstance(call, str) else json.dumps(call)
        outcome = self.cli("policy", "explain", words, "--policy", policy or self.policy, "--json", *more)
        self.assertEqual(outcome.err, "")
        seen = outcome.json()
        self.assertEqual(outcome.code, 0 if seen["would_run"] else 1)
        self.assertTrue(all(change["verdict"] == "runs" for change in seen["changes"]))
        return seen

    def call(self, agent="agent:free", tool="echo", server="fake", **input):
        return {"agent": agent, "server": server, "tool": tool, "input": input}

    # AT-3 AT-8 (partly)
    def test_each_tier_and_where_it_comes_from(self):
        wanted = {"agent:free": ("runs", "act_auto", "agent_tiers"), "agent:shy": ("shadow", "shadow", "agent_tiers"),
                  "agent:asked": ("asks", "act_with_approval", "agent_action_tiers"), "agent:any": ("proposed", "suggest", "tier")}
        for agent, expected in wanted.items():
            seen = self.explain(self.call(agent))
            self.assertEqual((seen["verdict"], seen["autonomy"]["tier"], seen["autonomy"]["source"]), expected)
            by = seen["decided_by"]
            self.assertEqual((by["stage"], by["guard"], by["rule"]), ("autonomy", None, expected[2]))
        self.assertEqual(seen["autonomy"]["steps"], [{"source": "tier", "tier": "suggest"}, {"source": "ceiling", "tier": "act_auto"}])
        asked = self.explain(self.call("agent:asked"))["approval"]
        self.assertEqual((asked["reviewers"], asked["approvers_required"], asked["proposal"]), (["user:ada"], 1, False))

    def test_one_policy_has_one_hash_whichever_front_it_judges_for(self):
        wanted = self.good("policy", "check", self.policy, "--json").json()["hash"]
        client = self.client(options=("--name", "fake", "--policy", str(self.policy)))
        client.open()
        client.call("pid")
        self.end(client)
        for agent, call in (("claude-code", "t-1"), ("codex", "t-2")):
            event = {"session_id": "s-1", "hook_event_name": "PreToolUse", "tool_name": "Grep", "tool_input": {"pattern": "x"},
                     "tool_use_id": call}
            self.good("hook", "--agent", agent, "--policy", self.policy, stdin=json.dumps(event).encode())
        shown = self.good("ledger", "show", "--limit", "1000", "--json").lines()
        judged = [line["entry"] for line in shown if line["entry"]["kind"] in ("tool_audit", "intent")]
        self.assertEqual({entry["server"] for entry in judged}, {"fake", "claude-code", "codex"})
        self.assertEqual({entry["policy_hash"] for entry in judged}, {wanted})
        self.assertEqual(self.explain(self.call())["policy"]["hash"], wanted)
        loaded = [line for line in shown if line["body"].get("control") == "policy_loaded"]
        self.assertEqual(len(loaded), 1)

    # AT-21 AT-22 (partly) AT-24 (partly)
    def test_what_a_tool_is_and_who_says_so(self):
        for call, expected in ((self.call(tool="pid"), ("Observe", "none", "none", "policy")),
                               (self.call(tool="read_file", server="files"), ("Observe", "none", "none", "profile")),
                               (self.call(tool="read_file", server="other"), ("Confirm", "unknown", "unknown", "unknown")),
                               (self.call(tool="write_file"), ("Confirm", "fs.write", "workspace.write_text", "table"))):
            seen = self.explain(call)["classification"]
            self.assertEqual(seen, dict(zip(("tier", "class", "capability", "source"), expected)))

    def test_the_value_that_matched_is_named_and_what_would_have_to_differ(self):
        seen = self.explain(self.call(message="a Swordfish here"))
        by = seen["decided_by"]
        self.assertEqual((seen["verdict"], by["stage"], by["guard"], by["rule"]), ("refused", "tool_use", "guardrails", "word"))
        self.assertEqual([(hit["check"], hit["path"], hit["excerpt"].lower()) for hit in seen["findings"]], [("word", "/message", "swordfish")])
        self.assertIn([{"place": "/message", "text": "remove what the check found"}], [change["edits"] for change in seen["changes"]])
        self.assertFalse(seen["autonomy"]["reached"])
        rewritten = self.explain(self.call(message="1234567812345678"))
        self.assertEqual((rewritten["verdict"], rewritten["input_rewritten"]), ("runs", True))
        self.assertNotIn("12345678", rewritten["call"]["input"]["message"])

    def test_people_read_it_too(self):
        page = self.cli("policy", "explain", json.dumps(self.call("agent:shy", message="a\u202eb")), "--policy", self.policy).out
        self.assertTrue(page.startswith("shadow by tier `agent_tiers`, %s:4:" % self.policy), page)
        for words in ("\\u{202E}", "shadow, from agent_tiers", "agent:shy: shadow -> act_auto  tried: runs", "from: unknown"):
            self.assertIn(words, page)
        self.assertTrue(self.cli("policy", "explain", json.dumps(self.call()), "--policy", self.policy).out.startswith("runs by tier `agent_tiers`"))

    # CG-60 (partly)
    def test_grants_are_checked_as_for_a_call(self):
        issuer = json.loads(self.good("grants", "issue", "--subject", "agent:free", "--grant",
                                      self.write("g.json", '{"server":"fake","tool":"echo","operations":["invoke"],'
                                                 '"constraints":[{"type":"max_args_size","value":30}]}')).out)
        token = self.write("token.json", json.dumps(issuer))
        policy = self.write("grants.yaml", 'version: 1\nautonomy: {tier: act_auto}\ngrants: {required: all, trusted_issuers: ["%s"]}\n'
                            % issuer["issuer"])
        self.assertEqual(self.explain(self.call(), policy=policy)["reason"], "grant_missing")
        fits = self.explain(self.call(), "--grant", token, policy=policy)
        self.assertEqual((fits["verdict"], fits["matched_grant_index"]), ("runs", 0))
        long = self.explain(self.call(message="x" * 40), "--grant", token, policy=policy)
        self.assertEqual(long["reason"], "grant_scope")
        self.assertEqual([(cause["kind"], cause["name"]) for cause in long["causes"]], [("grant", "grant_scope")])
        self.assertEqual(self.explain(self.call("agent:other"), "--grant", token, policy=policy)["reason"], "grant_subject")
        self.good("grants", "revoke", issuer["id"], "--reason", "lost")
        self.assertEqual(self.explain(self.call(), "--grant", token, policy=policy)["reason"], "grant_revoked")

    # The input was once rounded before it was compared, so the answer was another than the gate's.
    # CG-60 LE-10
    def test_a_number_that_a_double_cannot_hold_equals_no_other(self):
        issuer = json.loads(self.good("grants", "issue", "--subject", "agent:free", "--grant",
                                      self.write("g.json", '{"server":"fake","tool":"echo","operations":["invoke"],'
                                                 '"constraints":[{"type":"arg_equals","value":{"at":"/n","value":5}}]}')).out)
        token = self.write("token.json", json.dumps(issuer))
        policy = self.write("grants.yaml", 'version: 1\nautonomy: {tier: act_auto}\ngrants: {required: all, trusted_issuers: ["%s"]}\n'
                            % issuer["issuer"])
        for number, verdict in (("5", "runs"), ("5.00000000000000000001", "refused")):
            text = json.dumps(self.call(n=7)).replace("7", number)
            told = self.cli("policy", "explain", text, "--policy", policy, "--grant", token, "--json")
            self.assertEqual(told.json()["verdict"], verdict, told)

    def test_a_recorded_call_is_explained_beside_what_was_decided_then(self):
        policy = self.write("auto.yaml", POLICY.replace("tier: suggest", "tier: act_auto"))
        client = self.client(options=["--policy", str(policy), "--name", "fake"])
        client.open()
        client.result("echo", {"message": "swordfish"})
        client.result("echo", {"message": "herring"})
        client.close()
        calls = [row["entry"]["call_id"] for row in
                 self.good("ledger", "show", "--kind", "tool_audit", "--tool", "echo", "--json").lines()]
        refused, ran = self.explain(calls[0], policy=policy), self.explain(calls[-1], policy=policy)
        self.assertEqual((refused["recorded"]["outcome"], refused["reason"]), ("blocked", refused["recorded"]["reason"]))
        self.assertTrue(refused["recorded"]["same_policy"])
        self.assertEqual((ran["verdict"], ran["recorded"]["outcome"]), ("runs", "completed"))
        self.assertEqual((ran["recorded"]["autonomy"], ran["recorded"]["autonomy_source"]),
                         (ran["autonomy"]["tier"], ran["autonomy"]["source"]))
        other = self.explain(calls[-1], policy="read-only")
        self.assertFalse(other["recorded"]["same_policy"])
        own = self.cli("policy", "explain", calls[0], "--json").json()
        self.assertEqual((own["policy"]["name"], own["recorded"]["same_policy"], own["reason"]),
                         (str(policy), True, own["recorded"]["reason"]))
        policy.unlink()
        lost = self.cli("policy", "explain", calls[0], "--json").json()
        self.assertEqual((lost["policy"]["name"], lost["policy"]["note"], lost["reason"]),
                         (str(policy), "the policy text at that time", own["reason"]))

    def test_a_changed_tool_is_held_back_here_too(self):
        policy = self.write("auto.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        for suffix in ("", " and more"):
            client = self.client(env={"FAKE_DESCRIPTION": suffix}, options=["--policy", str(policy), "--name", "fake"])
            client.open()
            client.result("echo", {"message": "x"})
            client.close()
        seen = self.explain(self.call(), policy=policy)
        self.assertEqual((seen["verdict"], seen["decided_by"]["rule"]), ("refused", "pin.changed"))
        self.assertEqual([edit["text"] for change in seen["changes"] for edit in change["edits"]],
                         ["accept the changed tool (`sallyport pins accept fake echo`)"])

    def test_nothing_is_written_and_nothing_is_made(self):
        self.explain(self.call())
        self.assertFalse(self.data.exists())
        self.make_ledger()
        before = self.good("ledger", "stats", "--json").out
        digest = hashlib.sha256((self.data / "ledger.db").read_bytes()).hexdigest()
        for agent in ("agent:free", "agent:shy", "agent:asked", "agent:any"):
            self.explain(self.call(agent))
        self.assertEqual(self.good("ledger", "stats", "--json").out, before)
        self.assertEqual(hashlib.sha256((self.data / "ledger.db").read_bytes()).hexdigest(), digest)

    def test_the_example_of_the_guide_is_what_it_says(self):
        text = (pathlib.Path(__file__).parents[2] / "docs" / "cli.md").read_text()
        block = re.search(r"\$ sallyport (policy explain [^\n]*)\n(.*?)```", text, re.DOTALL)
        wanted = "".join(".*" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", block[2]))
        self.assertRegex(self.cli(*shlex.split(block[1])).out, f"^{wanted}$")

    # RU-75 RU-77: the members of `call` in a case.
    def test_the_call_of_a_case_can_be_explained(self):
        policy = self.write("rules.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                            "  - {id: alone, then: deny, when: {interactive: false}}\n"
                            "  - {id: out, then: deny, when: {outside: workspace}}\n")
        call = {"front": "hook", "agent": "claude-code", "server": "claude-code", "tool": "Read", "input": {"file_path": "/b/x"},
                "session": None, "cwd": None, "workspace": ["/a", "/b"], "interactive": True}
        self.assertEqual(self.good("policy", "explain", json.dumps(call), "--policy", policy, "--json").json()["verdict"], "runs")
        for change, rule in (({"interactive": False}, "alone"), ({"workspace": "/a"}, "out")):
            seen = self.cli("policy", "explain", json.dumps({**call, **change}), "--policy", policy, "--json").json()
            self.assertEqual(seen["decided_by"]["name"], rule)
        for wrong in ({"front": "web"}, {"interactive": "yes"}, {"workspace": [1]}, {"cwd": 1}):
            self.refused(64, "policy", "explain", json.dumps({**call, **wrong}), "--policy", policy)

    def test_what_is_no_call_is_refused(self):
        for words, code in (('{"tool":""}', 64), ('{"tool":"x","inptu":{}}', 64), ('{"tool":1}', 64), ("{", 64)):
            self.refused(code, "policy", "explain", words)
        self.refused(1, "policy", "explain", "01966f4c-4000-7000-8000-000000000001")
        self.assertIn("agent, session, server, tool", self.refused(64, "policy", "explain", '{"tool":"x","by":"y"}'))


if __name__ == "__main__":
    unittest.main()
