#!/usr/bin/env python3
"""Rules from outside: rules for results, and the messages to refused agents and to approvers."""
import json
import time
import unittest

from hook_support import HookTest, claude, ran
from mcp_approvals_support import Approvals
from mcp_support import McpTest

CUSTOMERS = """version: 1
autonomy: {tier: act_auto}
rules:
  - {id: cust, result: {text: '\\bC-[0-9]{6}\\b'}, when: {server: fake}, then: redact, replacement: "[customer]"}
  - {id: quiet, result: {words: [swordfish]}, then: withhold, message: The word is not for you.}
  - {id: tell, result: {words: [herring]}, then: escalate, message: A herring was seen.}
  - {id: other, result: {any: true}, when: {server: crm}, then: withhold}
"""
ASKS = """rules:
  - {id: no-etc, then: deny, when: {path: '/etc/**'}, message: 'Leave ${path} alone.'}
  - {id: files, then: ask, when: {class: fs.write}, message: Say why%s}
"""


class OverMcp(McpTest):
    def wrapped(self, policy):
        client = self.client(options=["--name", "fake", "--policy", str(self.write("policy.yaml", policy))])
        client.open()
        return client

    # RU-62 RU-63 PI-41
    def test_results_are_redacted_withheld_and_escalated_as_the_rules_say(self):
        client = self.wrapped(CUSTOMERS)
        self.assertIn("a [customer] b", client.said("echo", {"message": "a C-123456 b"}))
        withheld = client.result("echo", {"message": "Swordfish"})
        self.assertTrue(withheld["isError"])
        self.assertIn("[result withheld by rule `quiet`] The word is not for you.", withheld["content"][0]["text"])
        self.assertIn("herring", client.said("echo", {"message": "herring"}))
        client.close()
        self.assertEqual([(one["kind"], one["message"]) for one in
                          self.good("approvals", "list", "--kind", "escalation", "--json").lines()],
                         [("escalation", "A herring was seen.")])
        posts = [line["body"]["post_invocation"] for line in self.good("ledger", "show", "--kind", "tool_audit", "--json").lines()]
        self.assertEqual([post["verdict"] for post in posts], ["redact", "block", "escalate"])
        self.assertEqual(posts[1]["guard"], "rule quiet")
        self.assertEqual([one["rule"] for one in posts[0]["evidence"]], ["cust"])
        self.assertNotIn("C-123456", json.dumps(posts[0]["released"]))

    # RU-71
    def test_a_refusal_is_structured_and_names_rule_and_message(self):
        policy = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: no-echo, then: deny, when: {tool: echo}, message: Do not echo.}]\n"
        client = self.wrapped(policy)
        result = client.result("echo", {"message": "x"})
        client.close()
        self.assertTrue(result["isError"])
        self.assertTrue(result["content"][0]["text"].startswith("Blocked by rule `no-echo`: Do not echo."))
        said = result["structuredContent"]["sallyport"]
        self.assertEqual((said["status"], said["rule"], said["message"]), ("blocked", "no-echo", "Do not echo."))
        record = self.good("ledger", "show", "--kind", "tool_audit", "--json").lines()[0]
        self.assertEqual((said["call_id"], said["record"]), (record["entry"]["call_id"], record["entry"]["id"]))

    # RU-71: a result without `isError`.
    def test_a_refused_method_is_an_error_with_rule_and_message(self):
        policy = ("version: 1\nautonomy: {tier: act_auto}\n"
                  "rules: [{id: no-secrets, then: deny, when: {tool: resources/read}, message: Do not read it.}]\n")
        client = self.wrapped(policy)
        error = client.request("resources/read", {"uri": "file:///a"})["error"]
        client.close()
        self.assertEqual(error["code"], -31403)
        self.assertEqual((error["data"]["rule"], error["data"]["message"]), ("no-secrets", "Do not read it."))


class Asked(Approvals):
    def asking(self, more="", **options):
        path = self.policy(**options)
        path.write_text(path.read_text() + ASKS % more)
        return path

    # RU-71 AP-35 RU-73
    def test_a_pending_call_names_the_rule_and_every_door_shows_what_it_matched(self):
        client = self.session(self.asking(hold=0))
        answer = client.answer(self.write_file(client, {"path": "/srv/a.txt", "text": "hi"}))
        status = self.status(answer)
        self.assertEqual((status["status"], status["rule"], status["message"]), ("pending_approval", "files", "Say why"))
        self.assertIn("Rule `files` asks: Say why.", answer["result"]["content"][0]["text"])
        request_id = self.pending()[0]
        item = self.good("approvals", "list", "--json").lines()[0]
        shown = self.good("approvals", "show", request_id, "--json").json()
        for rules in (item["rules"], shown["rules"]):
            self.assertEqual((rules["rule"], rules["message"]), ("files", "Say why"))
            self.assertRegex(rules["place"], r"policy\.yaml:\d+:\d+$")
            self.assertEqual(rules["effects"][0]["class"], "fs.write")
            self.assertEqual(rules["effects"][0]["path"], {"written": "/srv/a.txt", "resolved": "/srv/a.txt"})
            self.assertEqual(rules["opaque"], [])
        page = self.good("approvals", "show", request_id).out
        self.assertRegex(page, r"rule +`files` at .*policy\.yaml:\d+:\d+")
        self.assertRegex(page, r"message +Say why")
        self.assertRegex(page, r"effect +fs\.write `/srv/a\.txt`, resolved `/srv/a\.txt`")
        client.close()

    # RU-73 AP-31 RU-18
    def test_the_form_of_a_client_shows_the_rule_and_wants_the_reason(self):
        people = [self.ada, self.user]
        client = self.session(self.asking(", reason: required", people=people), {"elicitation": {}})
        call = self.write_file(client, {"path": "/srv/a.txt", "text": "hi"})
        form = client.next(lambda m: m.get("method") == "elicitation/create")
        for words in ("rule: `files` at ", "message: Say why", "effect: fs.write `/srv/a.txt`, resolved `/srv/a.txt`"):
            self.assertIn(words, form["params"]["message"])
        self.assertEqual(form["params"]["requestedSchema"]["required"], ["decision", "note"])
        client.send({"id": form["id"], "result": {"action": "accept", "content": {"decision": "approve"}}})
        client.wait_for_error("asks for a reason")
        self.assertEqual(self.ran(), [])
        self.answer("approve", self.pending()[0], "--reason", "it is a test")
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        client.close()

    # RU-18
    def test_an_approval_without_a_reason_is_rejected_and_one_with_it_counts(self):
        client = self.session(self.asking(", reason: required"))
        call = self.write_file(client)
        request_id = self.pending()[0]
        self.assertIn("--reason TEXT", self.good("approvals", "show", request_id).out)
        login = ("--key-file", self.key, "--passphrase-file", self.words)
        self.assertIn("asks for a reason", self.refused(64, "approvals", "approve", request_id, *login))
        self.assertIn("asks for a reason", self.refused(64, "approvals", "approve", request_id, *login, "--reason", "  "))
        shown = self.good("approvals", "show", request_id, "--json").json()
        self.assertTrue(shown["reason_required"])
        batch = self.write("batch.json", json.dumps([{"request_id": request_id, "approved": True,
                                                      "binding": shown["request"]["binding"]}]))
        self.assertIn("asks for a reason", self.cli("approvals", "answer", "--batch", batch, *login, "--json").out)
        self.assertEqual(self.ran(), [])
        self.answer("approve", request_id, "--reason", "the file is mine")
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        client.close()
        self.assertEqual([body["reason"] for body in self.entries("approval_response")], ["the file is mine"])

    def with_bo(self, after_s, to="user:bo", roles="approver"):
        bo = self.folder / "bo.key"
        made = self.good("approvals", "init", "--name", "user:bo", "--key-file", bo, "--passphrase-file", self.words, "--json").json()
        people = [self.ada, f'    - {{name: "user:bo", key: "{made["key"]}", roles: [{roles}]}}']
        (self.data / "reviewers.yaml").write_text("reviewers:\n" + "\n".join(people) + "\n")
        more = ", reviewers: ['user:ada'], escalate: {after_s: %d, to: '%s'}" % (after_s, to)
        return self.asking(more, people=people), ("--key-file", bo, "--passphrase-file", self.words)

    # RU-19
    def test_before_its_time_nobody_else_may_answer(self):
        policy, bo = self.with_bo(600)
        client = self.session(policy)
        call = self.write_file(client)
        request_id = self.pending()[0]
        self.assertIn("is not among the reviewers", self.cli("approvals", "approve", request_id, *bo).err)
        self.assertRegex(self.good("approvals", "show", request_id).out, r"later +from .* on user:bo may answer too, says rule `files`")
        self.answer("approve", request_id)
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        client.close()

    # RU-19 AP-26
    def test_after_its_time_a_rule_lets_others_answer_too(self):
        policy, bo = self.with_bo(1)
        client = self.session(policy)
        call = self.write_file(client)
        request_id = self.pending()[0]
        before = self.good("approvals", "show", request_id, "--json").json()["request"]
        self.wait_until(lambda: self.entries("approval_escalated"))
        passed = self.entries("approval_escalated")[0]
        self.assertEqual((passed["reviewer"], passed["escalated_to"], passed["door"]), ("rule files", ["user:bo"], "clock"))
        self.assertEqual((passed["binding"], passed["deadline"]), (before["binding"], before["deadline"]))
        self.good("approvals", "approve", request_id, *bo)
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        client.close()

    # RU-19: a role stands for the approvers who have it when approval is requested.
    def test_after_its_time_a_rule_lets_a_role_answer_too(self):
        policy, bo = self.with_bo(1, "role:controller", "approver, controller")
        client = self.session(policy)
        call = self.write_file(client)
        request_id = self.pending()[0]
        self.wait_until(lambda: self.entries("approval_escalated"))
        self.assertEqual(self.entries("approval_escalated")[0]["escalated_to"], ["user:bo"])
        self.good("approvals", "approve", request_id, *bo)
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        client.close()

    def wait_until(self, holds):
        end = time.monotonic() + 60
        while not holds():
            self.assertLess(time.monotonic(), end, "it did not happen")
            time.sleep(0.05)


class OverHooks(HookTest):
    ENV = ("version: 1\nautonomy: {tier: act_auto}\nrules:\n"
           "  - {id: no-env, result: {any: true}, when: {path: '**/.env'}, then: withhold, message: Ask for the names.}\n"
           "  - {id: cust, result: {text: 'C-[0-9]{6}'}, then: redact, replacement: '[customer]'}\n")

    # RU-62 RU-63 PI-33
    def test_the_result_of_a_host_is_withheld_or_redacted(self):
        policy = self.write("policy.yaml", self.ENV)
        self.assertIsNone(self.hook(claude("PreToolUse", "t1", "cat .env"), policy=policy))
        said = json.dumps(self.hook(ran("t1", "cat .env", "KEY=1"), policy=policy))
        self.assertIn("[result withheld by rule `no-env`] Ask for the names.", said)
        self.assertNotIn("KEY=1", said)
        self.assertIsNone(self.hook(claude("PreToolUse", "t2", "cat a"), policy=policy))
        said = json.dumps(self.hook(ran("t2", "cat a", "C-123456 wrote"), policy=policy))
        self.assertIn("[customer] wrote", said)

    # RU-62: a call that removes the link by which it was judged is still judged by it.
    def test_what_the_first_door_saw_counts_for_the_result(self):
        policy = self.write("policy.yaml", self.ENV)
        (self.folder / ".env").write_text("KEY=1")
        link = self.folder / "link"
        link.symlink_to(self.folder / ".env")
        command = f"cat {link}; rm {link}"
        self.assertIsNone(self.hook(claude("PreToolUse", "t1", command), policy=policy))
        link.unlink()
        self.assertIn("rule `no-env`", json.dumps(self.hook(ran("t1", command, "KEY=1"), policy=policy)))

    # RU-73 RU-71
    def test_the_question_of_the_host_shows_rule_place_effects_and_opaque_spans(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                                           "  - {id: unclear, then: ask, when: {opaque: true}, message: Use plain commands.}\n")
        said = self.hook(claude("PreToolUse", "t1", 'cat /etc/hosts; eval "$x"'), policy=policy)["hookSpecificOutput"]
        self.assertEqual(said["permissionDecision"], "ask")
        reason = said["permissionDecisionReason"]
        for words in ("Rule `unclear` asks: Use plain commands.", "rule: `unclear` at ", "policy.yaml:4:",
                      "effect: fs.read `/etc/hosts`, resolved `/etc/hosts`", "opaque: bytes 16 to "):
            self.assertIn(words, reason)

    # RU-18: a host gives no reason for its user's approval.
    def test_where_a_reason_is_required_the_host_does_not_ask(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nrules:\n"
                                           "  - {id: push, then: ask, when: {class: git.push}, reason: required}\n")
        said = self.hook(claude("PreToolUse", "t1", "git push origin main"), policy=policy)["hookSpecificOutput"]
        self.assertEqual(said["permissionDecision"], "deny")
        self.assertIn("Rule `push` asks: it pushes `main` to `origin`", said["permissionDecisionReason"])
        self.assertIn("--reason TEXT", said["permissionDecisionReason"])


if __name__ == "__main__":
    unittest.main()
