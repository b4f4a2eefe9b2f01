#!/usr/bin/env python3
"""Approval requests that a client shows to its user, on servers of both eras."""
import pathlib
import sys
import time
import unittest

from mcp_approvals_support import FORMS, TASKS, Approvals
from mcp_eras_test import META


class InTheClient(Approvals):
    def form(self, client):
        return client.next(lambda m: m.get("method") == "elicitation/create")

    # AP-31 (partly) AP-38 (partly) AP-39 (partly)
    def test_a_user_whom_the_policy_names_answers_in_his_client(self):
        client = self.session(self.policy(people=[self.ada, self.user]), FORMS)
        call = self.write_file(client, {"path": "a\u202etxt", "text": "hi"})
        asked = self.form(client)
        message = asked["params"]["message"]
        self.assertIn("a\\u{202E}txt", message)
        self.assertNotIn("\u202e", message)
        request_id = self.pending()[0]
        binding = self.good("approvals", "show", request_id, "--json").json()["request"]["binding"]
        self.assertTrue(message.endswith(binding[7:15]), message)
        self.assertEqual(asked["params"]["requestedSchema"]["properties"]["decision"]["enum"], ["approve", "deny"])
        client.send({"id": asked["id"], "result": {"action": "accept", "content": {"decision": "approve", "note": "ok"}}})
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        decision = self.entries("approval_decision")[0]
        self.assertEqual((decision["reviewers"], decision["door"]), (["user:dana"], "mcp:elicitation"))
        self.assertEqual(len(self.ran()), 1)

    # AP-31 (partly) AP-12 (partly)
    def test_what_is_no_plain_yes_is_a_no(self):
        client = self.session(self.policy(people=[self.ada, self.user]), FORMS)
        for i, answer in enumerate([{"action": "accept", "content": {"decision": "deny", "note": "no way"}},
                                    {"action": "accept", "content": {"decision": True}}, {"action": "decline"}]):
            call = self.write_file(client, {"path": str(i)})
            client.send({"id": self.form(client)["id"], "result": answer})
            self.assertTrue(client.answer(call)["result"]["isError"])
        self.assertEqual(self.ran(), [])

    # AP-27
    def test_the_form_is_taken_back_when_somebody_else_answers_first(self):
        client = self.session(self.policy(people=[self.ada, self.user]), FORMS)
        call = self.write_file(client)
        asked = self.form(client)
        self.answer("approve", self.pending()[0])
        before = time.monotonic()
        taken = client.next(lambda m: m.get("method") == "notifications/cancelled")
        self.assertLess(time.monotonic() - before, 20)
        self.assertEqual(taken["params"]["requestId"], asked["id"])
        client.answer(call)
        client.send({"id": asked["id"], "result": {"action": "accept", "content": {"decision": "deny"}}})
        self.assertEqual(len(self.ran()), 1)
        self.assertEqual(self.entries("approval_decision")[0]["reviewers"], ["user:ada"])

    # AP-31 (partly) AP-13 AT-17 (partly)
    def test_nobody_is_asked_in_a_client_that_the_policy_does_not_name_or_where_a_person_is_needed(self):
        both = [self.ada, self.user]
        for policy, capabilities in ((self.policy(hold=0), FORMS), (self.policy(hold=0, people=both), {}),
                                     (self.policy(hold=0, people=both), {"elicitation": {"url": {}}}),
                                     (self.policy(hold=0, people=both, autonomy=", requires_human: true"), FORMS),
                                     (self.policy(hold=0, people=both, more="  dual_control: [fs.write]"), FORMS)):
            client = self.session(policy, capabilities)
            self.assertEqual(self.status(client.answer(self.write_file(client)))["status"], "pending_approval")
            client.close()
            self.assertNotIn("elicitation/create", "".join(client.lines))
        self.assertEqual(self.ran(), [])

    # AP-13
    def test_a_reviewer_who_is_the_requester_is_no_valid_policy(self):
        people = [self.ada, f'    - {{name: "{self.principal}", client: "{self.principal}", roles: [approver]}}']
        refused = self.cli("policy", "check", self.policy(people=people))
        self.assertNotEqual(refused.code, 0)
        self.assertIn("a reviewer cannot approve their own calls", refused.out + refused.err)

    def wanted(self, client, **more):
        result = client.answer(self.write_file(client, **more))["result"]
        self.assertEqual(result["resultType"], "input_required")
        asked = result["inputRequests"]["sallyport.approval"]
        self.assertEqual((asked["method"], asked["params"]["mode"]), ("elicitation/create", "form"))
        return result["requestState"]

    def said(self, decision):
        return {"sallyport.approval": {"action": "accept", "content": {"decision": decision}}}

    # AP-31 AP-32 (partly) AP-36
    def test_a_stateless_client_brings_the_answer_with_the_same_request(self):
        client = self.stateless(self.policy(people=[self.ada, self.user]), FORMS)
        state = self.wanted(client)
        self.assertEqual(self.ran(), [])
        done = client.answer(self.write_file(client, requestState=state, inputResponses=self.said("approve")))
        self.assertEqual((done["result"]["content"][0]["text"], done["result"]["resultType"]), ("written", "complete"))
        self.assertEqual(len(self.ran()), 1)
        self.assertEqual(self.entries("approval_decision")[0]["reviewers"], ["user:dana"])
        again = client.answer(self.write_file(client, requestState=state, inputResponses=self.said("approve")))
        self.assertIn("was used before", again["error"]["message"])
        refused = self.wanted(client)
        answer = client.answer(self.write_file(client, requestState=refused, inputResponses=self.said("deny")))
        self.assertTrue(answer["result"]["isError"])
        self.assertEqual(len(self.ran()), 1)

    # The answer of a stateless client was once dropped if the data folder, and no policy, names its user. AP-31
    def test_a_user_whom_the_data_folder_names_answers_in_his_client_of_either_era(self):
        (self.data / "reviewers.yaml").write_text(f"reviewers:\n{self.ada}\n{self.user}\n")
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_with_approval}\n")
        client = self.stateless(policy, FORMS)
        done = client.answer(self.write_file(client, requestState=self.wanted(client),
                                             inputResponses=self.said("approve")))
        self.assertEqual(done["result"]["content"][0]["text"], "written")
        client = self.session(policy, FORMS)
        call = self.write_file(client, {"path": "b.txt", "text": "hi"})
        client.send({"id": self.form(client)["id"], "result": {"action": "accept", "content": {"decision": "approve"}}})
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        self.assertEqual([entry["reviewers"] for entry in self.entries("approval_decision")], [["user:dana"]] * 2)

    # AP-32 (partly)
    def test_a_changed_or_strange_request_state_is_refused(self):
        client = self.stateless(self.policy(people=[self.ada, self.user]), FORMS)
        state = self.wanted(client)
        middle = len(state) // 2
        changed = state[:middle] + ("A" if state[middle] != "A" else "B") + state[middle + 1:]
        yes = self.said("approve")
        for answer in (client.answer(self.write_file(client, requestState=changed, inputResponses=yes)),
                       client.answer(self.write_file(client, requestState="sallyport.", inputResponses=yes)),
                       client.answer(self.write_file(client, {"path": "b"}, requestState=state, inputResponses=yes))):
            self.assertEqual(answer["error"]["code"], -32602)
        self.assertEqual(self.ran(), [])
        client.close()
        other = self.stateless(self.policy(people=[self.ada, self.user]), FORMS)
        late = other.answer(self.write_file(other, requestState=state, inputResponses=yes))
        self.assertEqual(late["error"]["code"], -32602)
        self.assertEqual(self.ran(), [])

    # AP-27 AP-31 (partly)
    def test_a_stateless_client_that_comes_late_gets_what_was_decided(self):
        client = self.stateless(self.policy(people=[self.ada, self.user]), FORMS)
        state = self.wanted(client)
        self.answer("approve", self.pending()[0])
        done = client.answer(self.write_file(client, requestState=state, inputResponses=self.said("deny")))
        self.assertEqual(done["result"]["content"][0]["text"], "written")
        self.assertEqual(self.entries("approval_decision")[0]["reviewers"], ["user:ada"])
        self.assertEqual(len(self.ran()), 1)

    # MRTR: questions without an answer are asked again
    def test_a_stateless_client_without_an_answer_is_asked_again(self):
        client = self.stateless(self.policy(people=[self.ada, self.user]), FORMS)
        state = self.wanted(client)
        again = self.wanted(client, requestState=state)
        self.assertNotEqual(again, state)
        self.assertEqual(len(self.pending()), 1)
        closed = {"sallyport.approval": {"action": "cancel"}}
        call = self.write_file(client, requestState=again, inputResponses=closed)
        self.answer("approve", self.pending()[0])
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")


class StatelessServer(Approvals):
    """The same paths if the server is stateless too, or only the client is not."""

    def connect(self, kind, policy):
        server = pathlib.Path(__file__).with_name("mcp_modern_server.py")
        return kind(self, (sys.executable, server), options=("--name", "server", "--policy", str(policy)))

    # AP-31 (partly) AP-46 (partly)
    def test_stateless_on_both_sides(self):
        policy = self.policy(people=[self.ada, self.user])
        client = self.stateless(policy, {**FORMS, **TASKS})
        arguments = {"name": "echo", "arguments": {"message": "hi"}}
        asked = client.request("tools/call", arguments)["result"]
        self.assertEqual(asked["resultType"], "input_required")
        yes = {"sallyport.approval": {"action": "accept", "content": {"decision": "approve"}}}
        done = client.request("tools/call", {**arguments, "requestState": asked["requestState"], "inputResponses": yes})["result"]
        self.assertEqual((done["content"][0]["text"], done["resultType"]), ("hi", "complete"))
        client.capabilities = TASKS
        self.assertEqual(client.request("tools/call", arguments)["result"]["resultType"], "task")

    # AP-46
    def test_one_subscription_for_what_the_server_tells_and_for_tasks_of_ours(self):
        client = self.stateless(self.policy(), TASKS)
        task = client.request("tools/call", {"name": "echo", "arguments": {"message": "hi"}})["result"]["taskId"]
        id = client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True, "taskIds": ["theirs", task]}})
        granted = client.next(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")["params"]
        self.assertEqual(granted, {"_meta": {META + "subscriptionId": id},
                                   "notifications": {"toolsListChanged": True, "taskIds": ["theirs", task]}})
        self.answer("approve", self.pending()[0])
        told = [client.next(lambda m: m.get("method") == "notifications/tasks")["params"] for _ in range(2)]
        self.assertEqual([(one["taskId"], one["status"], one["_meta"]) for one in told],
                         [(task, status, {META + "subscriptionId": id}) for status in ("working", "completed")])
        self.assertEqual(told[1]["result"]["content"][0]["text"], "hi")

    # AP-35 (partly)
    def test_a_client_of_sessions(self):
        client = self.session(self.policy(hold=0))
        pending = client.call("echo", {"message": "hi"})
        self.assertEqual(self.status(pending)["status"], "pending_approval")
        self.assertNotIn("resultType", pending["result"])
        self.answer("approve", self.status(pending)["approval_id"])
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")


if __name__ == "__main__":
    unittest.main()
