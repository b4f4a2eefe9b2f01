#!/usr/bin/env python3
"""A key that an agent made gives no autonomy: a tier counts only with the signature of a registered controller."""
import getpass
import json
import unittest

from mcp_approvals_support import Approvals


class Promotion(Approvals):
    def setUp(self):
        super().setUp()
        self.list = self.data / "reviewers.yaml"
        self.ada = self.ada.replace("[approver]", "[approver, controller]")
        self.register(self.ada)
        self.mallory = self.person("user:mallory")
        self.agent = "uid:" + getpass.getuser()
        self.calls = 0

    def person(self, name):
        file = self.folder / (name.replace(":", "-") + ".key")
        made = self.good("approvals", "init", "--name", name, "--key-file", file,
                         "--passphrase-file", self.words, "--json").json()
        return f'    - {{name: "{name}", key: "{made["key"]}", roles: [approver, controller]}}'

    def register(self, *people):
        self.list.write_text("\n".join(["reviewers:", *people, ""]))

    def change(self, verb, tier, *more, name="user-mallory"):
        key = self.key if name == "user-ada" else self.folder / f"{name}.key"
        return ["trust", verb, self.agent, "--to", tier, "--key-file", key, "--passphrase-file", self.words, *more]

    def policy_with(self, *people, tier="act_with_approval"):
        named = ["  reviewers:", *people] if people else []
        return self.write("policy.yaml", "\n".join(
            ["version: 1", f"autonomy: {{tier: {tier}}}", "approvals:", "  hold_s: 0", *named, ""]))

    def held(self, policy):
        """Returns true if the agent's next call waits for an approver."""
        client = self.session(policy)
        self.calls += 1
        before = len(self.ran())
        answer = client.answer(self.write_file(client, {"path": "a.txt", "text": str(self.calls)}))
        self.end(client)
        ran = len(self.ran()) - before
        waits = "pending_approval" in json.dumps(answer)
        self.assertEqual(ran, 0 if waits else 1, answer)
        return waits

    # TR-15
    def test_reviewers_that_only_the_caller_names_are_not_believed(self):
        policy = self.policy_with()
        self.assertTrue(self.held(policy))
        mine = self.write("mine.yaml", "reviewers:\n" + self.mallory + "\n")
        self.assertIn("mine.yaml", self.refused(1, *self.change("promote", "act_auto", "--reviewers", mine)))
        self.assertIn("user:mallory", self.refused(1, *self.change("promote", "act_auto")))
        self.assertTrue(self.held(policy))
        self.assertEqual(self.good("trust", "export").json()["records"], [])

    # TR-15 TR-18 TR-21
    def test_a_promotion_by_nobody_who_is_registered_counts_for_nothing_and_is_told(self):
        policy = self.policy_with()
        self.assertTrue(self.held(policy))
        self.register(self.ada, self.mallory)
        self.good(*self.change("promote", "act_auto"))
        kept = self.write("reviewers-of-then.yaml", self.list.read_text())
        self.assertFalse(self.held(policy))
        self.register(self.ada)
        self.assertTrue(self.held(policy))
        [told] = [check for check in self.cli("doctor", "--json").json()["checks"] if check["check"] == "trust"]
        self.assertIn("user:mallory", told["detail"])
        found = self.cli("ledger", "verify", "--json")
        self.assertEqual(found.code, 1)
        self.assertEqual(found.json()["first_bad"]["check"], "trust_chain")
        self.assertIn("unauthorized control", found.json()["first_bad"]["detail"])
        self.assertEqual(self.cli("trust", "verify").code, 1)
        # A verifier may trust the list of that time: an honest ledger stays valid.
        self.good("ledger", "verify", "--reviewers", kept)
        self.good("trust", "verify", "--reviewers", kept)
        export = self.folder / "export.jsonl"
        self.good("ledger", "export", "--out", export)
        key = self.keys()[0]
        self.assertEqual(self.cli("ledger", "verify", export, "--key", key).code, 1)
        self.good("ledger", "verify", export, "--key", key, "--reviewers", kept)
        self.assertEqual(self.good("trust", "show", self.agent, "--json").json()["effective_tier"], "act_with_approval")

    # TR-15 TR-18
    def test_where_the_policy_names_people_those_of_the_folder_promote_nobody(self):
        policy = self.policy_with(self.ada)
        self.assertTrue(self.held(policy))
        self.register(self.mallory)
        self.good(*self.change("promote", "act_auto"))
        self.assertTrue(self.held(policy))
        # A policy that a gate has loaded may be named, and its controller counts.
        self.good(*self.change("promote", "act_auto", "--reviewers", policy, name="user-ada"))
        self.assertFalse(self.held(policy))

    # AT-6 TR-18
    def test_a_control_that_stops_counting_gives_back_what_held_before_it(self):
        policy = self.policy_with(tier="act_auto")
        self.assertFalse(self.held(policy))
        self.good(*self.change("demote", "act_with_approval", "--declared", "act_auto", name="user-ada"))
        self.assertTrue(self.held(policy))
        self.register(self.ada, self.mallory)
        self.good(*self.change("promote", "act_auto"))
        self.assertFalse(self.held(policy))
        self.register(self.ada)
        self.assertTrue(self.held(policy))

    # TR-15: if the folder has no list, the people of a policy that a gate has loaded count.
    def test_people_of_a_loaded_policy_control_without_being_named(self):
        self.list.unlink()
        policy = self.policy_with(self.ada)
        self.assertTrue(self.held(policy))
        self.refused(1, *self.change("promote", "act_auto"))
        self.good(*self.change("promote", "act_auto", name="user-ada"))
        self.assertFalse(self.held(policy))
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
