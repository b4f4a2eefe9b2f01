#!/usr/bin/env python3
"""An answer in another person's name changes nothing: the request stays pending, and the real approver can still answer."""
import hashlib
import json
import unittest

from mcp_approvals_support import Approvals

TOKEN = "a-token-of-some-length"


class Answers(Approvals):
    def setUp(self):
        super().setUp()
        self.list = self.data / "reviewers.yaml"

    def forge(self, name="user:ada"):
        """Makes a key that its owner created himself under another person's name."""
        file = self.folder / "forged.key"
        made = self.good("approvals", "init", "--name", name, "--key-file", file,
                         "--passphrase-file", self.words, "--json").json()
        return file, f'    - {{name: "{name}", key: "{made["key"]}", roles: [approver, controller]}}'

    def say(self, verb, request_id, key, *more):
        return ["approvals", verb, request_id, "--key-file", key, "--passphrase-file", self.words, *more]

    def wait_until_refused(self, client, call, count=1):
        """Waits until the waiting process has rejected the answer and continues to wait."""
        for _ in range(1200):
            refused = self.entries("approval_response_refused")
            if len(refused) >= count:
                return refused
            if not client.messages.empty():
                self.fail(f"the call ended: {client.answer(call)}")
        self.fail("nobody looked at it")

    # AP-44 AP-10
    def test_a_list_that_only_the_caller_names_lets_nobody_answer(self):
        client = self.session(self.policy())
        call = self.write_file(client)
        [request] = self.pending()
        key, person = self.forge()
        mine = self.write("mine.yaml", "reviewers:\n" + person + "\n")
        for verb in ("deny", "approve", "cancel"):
            self.refused(1, *self.say(verb, request, key, "--reviewers", mine))
        self.assertEqual(self.pending(), [request])
        tried = [line["body"] for line in self.good("ledger", "show", "--kind", "control", "--json").lines()
                 if line["body"]["control"] == "refused_control"]
        self.assertEqual([body["what"] for body in tried], ["approvals deny", "approvals approve", "approvals cancel"])
        self.answer("approve", request)
        self.assertIn("written", json.dumps(client.answer(call)))
        [said] = self.entries("approval_response")
        self.assertRegex(said["known_by"], "^key:[0-9a-f]{16}$")

    # AP-44 AP-10: the policy of the gate names ada's key, and another process on the ledger trusts another list.
    def test_what_another_process_took_for_an_answer_leaves_the_question_pending(self):
        client = self.session(self.policy())
        call = self.write_file(client)
        [request] = self.pending()
        key, person = self.forge()
        self.list.write_text("reviewers:\n" + person + "\n")
        self.good(*self.say("deny", request, key))
        [refused] = self.wait_until_refused(client, call)
        self.assertEqual((refused["reviewer"], refused["approved"]), ("user:ada", False))
        self.assertEqual(self.pending(), [request])
        self.good(*self.say("approve", request, key))
        self.wait_until_refused(client, call, 2)
        self.assertEqual(self.ran(), [])
        self.list.write_text("reviewers:\n" + self.ada + "\n")
        self.answer("approve", request)
        self.assertIn("written", json.dumps(client.answer(call)))
        self.assertEqual(len(self.ran()), 1)
        self.good("ledger", "verify")

    # AP-44 AP-22: no process waits for a proposal, and a forged yes does not run it.
    def test_a_proposal_does_not_run_on_a_forged_yes(self):
        policy = self.policy(tier="suggest")
        client = self.session(policy)
        client.answer(self.write_file(client))
        [request] = self.pending()
        key, person = self.forge()
        self.list.write_text("reviewers:\n" + person + "\n")
        self.good(*self.say("approve", request, key))
        self.wait_until_refused(client, None)
        self.assertEqual((self.ran(), self.pending()), ([], [request]))
        self.list.write_text("reviewers:\n" + self.ada + "\n")
        self.answer("approve", request)
        for _ in range(1200):
            if self.ran():
                break
            self.cli("approvals", "list")
        self.assertEqual(len(self.ran()), 1)

    # AP-14: two names with one token once counted as two people.
    def test_one_credential_under_two_names_is_refused_at_load(self):
        digest = "sha256:" + hashlib.sha256(TOKEN.encode()).hexdigest()
        for first, second in ((f'token: "{digest}"', f'token: "{digest}"'),
                              ('client: "agent:x"', 'client: "agent:x"')):
            people = [f'    - {{name: "user:{name}", {known}, roles: [approver]}}' for name, known in (("bo", first), ("cy", second))]
            checked = self.cli("policy", "check", self.policy(people=people, more="  dual_control: [write_file]"))
            self.assertEqual(checked.code, 1)
            self.assertRegex(checked.err, r"policy.yaml:4:3: `reviewers\[1\]\.\w+` is registered for another reviewer too")
        people = [f'    - {{name: "{name}", token: "sha256:{n * 64}", roles: [approver]}}' for name, n in (("user:bo", "1"), ("user:BO", "2"))]
        self.assertIn("capital", self.cli("policy", "check", self.policy(people=people)).err)


if __name__ == "__main__":
    unittest.main()
