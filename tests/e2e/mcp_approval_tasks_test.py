#!/usr/bin/env python3
"""Calls that wait for an approver, as tasks of a stateless client."""
import time
import unittest

from mcp_approvals_support import TASKS, Approvals
from mcp_eras_test import META


class AsTasks(Approvals):
    def get(self, client, task):
        return client.request("tasks/get", {"taskId": task})["result"]

    def ended(self, client, task):
        for _ in range(400):
            found = self.get(client, task)
            if found["status"] != "working":
                return found
            time.sleep(0.05)
        self.fail("the task does not end")

    # AP-46
    def test_a_client_with_tasks_gets_one_and_the_result_through_it(self):
        client = self.stateless(self.policy(), TASKS)
        found = client.request("server/discover")["result"]
        self.assertIn("io.modelcontextprotocol/tasks", found["capabilities"]["extensions"])
        task = client.answer(self.write_file(client))["result"]
        self.assertEqual((task["resultType"], task["status"]), ("task", "working"))
        request_id = self.pending()[0]
        self.assertIn(request_id, task["statusMessage"])
        self.assertEqual(self.get(client, task["taskId"])["status"], "working")
        self.answer("approve", request_id)
        done = self.ended(client, task["taskId"])
        self.assertEqual((done["status"], done["resultType"]), ("completed", "complete"))
        self.assertEqual(done["result"]["content"][0]["text"], "written")
        self.assertEqual(len(self.ran()), 1)

    # AP-46
    def test_a_refusal_comes_through_the_task_and_a_cancel_ends_it(self):
        client = self.stateless(self.policy(), TASKS)
        task = client.answer(self.write_file(client))["result"]["taskId"]
        self.answer("deny", self.pending()[0], "--reason", "no")
        done = self.ended(client, task)
        self.assertTrue(done["result"]["isError"])
        other = client.answer(self.write_file(client, {"path": "c"}))["result"]["taskId"]
        request_id = self.pending()[0]
        self.assertEqual(client.request("tasks/cancel", {"taskId": other})["result"], {"resultType": "complete"})
        self.assertEqual(self.ended(client, other)["status"], "cancelled")
        for _ in range(200):
            if self.good("approvals", "show", request_id, "--json").json()["state"] == "cancelled":
                break
            time.sleep(0.05)
        self.assertEqual(self.good("approvals", "show", request_id, "--json").json()["state"], "cancelled")
        self.assertEqual(client.request("tasks/get", {"taskId": "sallyport-task-none"})["error"]["code"], -32602)
        self.assertEqual(self.ran(), [])

    def listen(self, client, *tasks):
        """Returns the id of the subscription, and the granted part."""
        id = client.ask("subscriptions/listen", {"notifications": {"taskIds": list(tasks)}})
        granted = client.next(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")["params"]
        self.assertEqual(granted["_meta"], {META + "subscriptionId": id})
        return id, granted["notifications"]

    def told(self, client):
        return client.next(lambda m: m.get("method") == "notifications/tasks")["params"]

    # AP-46
    def test_whoever_listens_to_a_task_hears_of_every_change(self):
        client = self.stateless(self.policy(), TASKS)
        task = client.answer(self.write_file(client))["result"]
        id, granted = self.listen(client, task["taskId"], "sallyport-task-none")
        self.assertEqual(granted, {"taskIds": [task["taskId"]]})
        self.answer("approve", self.pending()[0])
        answered, done = self.told(client), self.told(client)
        for one in (answered, done):
            self.assertEqual((one["taskId"], one["createdAt"], one["_meta"]),
                             (task["taskId"], task["createdAt"], {META + "subscriptionId": id}))
            self.assertNotIn("resultType", one)
        self.assertEqual((answered["status"], answered["statusMessage"]), ("working", "no longer waiting for a person"))
        self.assertEqual((done["status"], done["result"]["content"][0]["text"]), ("completed", "written"))
        self.assertEqual(self.get(client, task["taskId"])["lastUpdatedAt"], done["lastUpdatedAt"])
        # A late subscriber gets the final state, and a closed subscription gets nothing.
        late, _ = self.listen(client, task["taskId"])
        self.assertEqual((self.told(client)["_meta"], late == id), ({META + "subscriptionId": late}, False))
        other = client.answer(self.write_file(client, {"path": "c"}))["result"]["taskId"]
        id, _ = self.listen(client, other)
        client.tell("notifications/cancelled", {"requestId": id})
        client.request("tasks/cancel", {"taskId": other})
        self.assertEqual(self.ended(client, other)["status"], "cancelled")
        self.assertEqual([m for m in client.kept if m.get("method") == "notifications/tasks"], [])

    # AP-46
    def test_a_cancel_and_a_refusal_are_told_once(self):
        client = self.stateless(self.policy(), TASKS)
        task = client.answer(self.write_file(client))["result"]["taskId"]
        self.listen(client, task)
        self.pending()
        client.request("tasks/cancel", {"taskId": task})
        self.assertEqual((self.told(client)["status"], self.ended(client, task)["status"]), ("cancelled", "cancelled"))
        other = client.answer(self.write_file(client, {"path": "c"}))["result"]["taskId"]
        self.listen(client, other)
        for _ in range(400):
            waiting = self.pending()
            if len(waiting) == 1:
                break
            time.sleep(0.05)
        self.answer("deny", waiting[0], "--reason", "no")
        said = [self.told(client) for _ in range(2)]
        self.assertEqual([(one["taskId"], one["status"]) for one in said], [(other, "working"), (other, "completed")])
        self.assertTrue(said[1]["result"]["isError"])
        self.assertEqual([m for m in client.kept if m.get("method") == "notifications/tasks"], [])

    # AP-46 (durable)
    def test_a_task_of_a_gateway_that_died_has_failed(self):
        client = self.stateless(self.policy(), TASKS)
        task = client.answer(self.write_file(client))["result"]["taskId"]
        client.process.kill()
        client.process.wait()
        other = self.stateless(self.policy(), TASKS)
        other.request("tools/list")
        lost = self.get(other, task)
        self.assertEqual(lost["status"], "failed")
        self.assertIn(self.pending()[0], lost["error"]["message"])
        self.assertEqual(self.ran(), [])


if __name__ == "__main__":
    unittest.main()
