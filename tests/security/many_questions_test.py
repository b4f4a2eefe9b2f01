#!/usr/bin/env python3
"""One agent opens so many approval requests that people could miss the requests of other agents."""
import unittest

from mcp_approvals_support import Approvals


class ManyQuestions(Approvals):
    def many(self, client, first, last):
        for number in range(first, last):
            self.write_file(client, {"path": f"{number}.txt", "text": "hi"})

    # AP-43
    def test_questions_beyond_the_limit_of_an_agent_are_refused_and_recorded(self):
        client = self.session(self.policy(more="  pending_per_agent: 3"))
        self.many(client, 0, 8)
        refused = [client.next(lambda m: "result" in m)["result"] for _ in range(5)]
        for result in refused:
            self.assertIn("too_many_open_approvals", result["content"][0]["text"])
        waiting = self.pending(3)
        self.assertEqual(len(waiting), 3)
        ended = [line["body"] for line in
                 self.good("ledger", "show", "--kind", "tool_audit", "--limit", "1000", "--json").lines()]
        self.assertEqual(sum("too_many_open_approvals" in str(body) for body in ended), 5)
        # An answer frees one place.
        self.answer("deny", waiting[0])
        client.next(lambda m: "result" in m)
        self.many(client, 8, 9)
        self.assertEqual(len(self.pending(3)), 3)
        self.assertEqual(self.ran(), [])

    # AP-43
    def test_the_limit_is_64_unless_the_policy_says_otherwise(self):
        client = self.session(self.policy())
        self.many(client, 0, 66)
        for _ in range(2):
            self.assertIn("too_many_open_approvals",
                          client.next(lambda m: "result" in m)["result"]["content"][0]["text"])
        self.assertEqual(len(self.pending(64)), 64)

    # AP-43
    def test_those_that_look_alike_are_listed_once_with_their_number(self):
        client = self.session(self.policy())
        self.many(client, 0, 12)
        ids = self.pending(12)
        out = self.good("approvals", "list").out
        self.assertIn("x 12", out)
        self.assertEqual(sum(request_id in out for request_id in ids), 1)
        whole = self.good("approvals", "list", "--all").out
        self.assertTrue(all(request_id in whole for request_id in ids))

    # AP-43
    def test_no_agent_fills_the_first_page(self):
        clients = []
        for name in ("loud", "quiet"):
            policy = self.policy(autonomy=f", agent_id: 'agent:{name}'")
            clients.append(self.session(policy.rename(policy.with_name(f"{name}.yaml"))))
        self.many(clients[0], 0, 40)
        self.pending(40)
        self.many(clients[1], 0, 1)
        self.pending(41)
        listed = [item["agent_id"] for item in self.good("approvals", "list", "--json").lines()]
        self.assertLess(listed.index("agent:quiet"), 17)


if __name__ == "__main__":
    unittest.main()
