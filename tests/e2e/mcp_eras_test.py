#!/usr/bin/env python3
"""Clients and servers of both eras in all combinations."""
import json
import pathlib
import sys
import unittest

from mcp_support import FAKE, Client, McpTest

MODERN = pathlib.Path(__file__).with_name("mcp_modern_server.py")
META = "io.modelcontextprotocol/"
VERSION = "2026-07-28"

# Sends the user to a page if the client that opened it can show one.
PAGE = """
import json, sys
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, id = message.get("method"), message.get("id")
    if method == "initialize":
        modes = message["params"]["capabilities"].get("elicitation")
        say({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [{"name": "login", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call" and "url" in (modes or {}):
        call = id
        say({"id": "q", "method": "elicitation/create", "params": {"mode": "url", "message": "m", "url": "https://example.org/", "elicitationId": "e"}})
    elif method == "tools/call":
        say({"id": id, "result": {"content": [{"type": "text", "text": "opened with " + json.dumps(modes)}]}})
    elif id == "q":
        say({"id": call, "result": {"content": [{"type": "text", "text": json.dumps(message["result"])}]}})
    elif id is not None:
        say({"id": id, "error": {"code": -32601, "message": "no"}})
"""


class ModernClient(Client):
    capabilities = {}

    def meta(self, **more):
        return {META + "protocolVersion": VERSION, META + "clientCapabilities": self.capabilities,
                META + "clientInfo": {"name": "stateless", "version": "1"}, **more}

    def ask(self, method, params=None):
        params = dict(params or {})
        params.setdefault("_meta", self.meta())
        return super().ask(method, params)


class Eras(McpTest):
    def stateless(self, server, capabilities=None):
        client = ModernClient(self, (sys.executable, server), options=("--name", "server"))
        client.capabilities = capabilities or {}
        self.addCleanup(self.end, client)
        return client

    def session(self, server, capabilities=None):
        client = self.client(sys.executable, server, options=("--name", "server"))
        client.opened = client.open(capabilities)
        return client


class SessionsToStateless(Eras):
    def test_the_opening_is_answered_from_the_discovery(self):
        client = self.session(MODERN)
        self.assertEqual(client.opened, {"protocolVersion": "2025-11-25", "serverInfo": {"name": "modern", "version": "2"}, "instructions": "be kind",
                                         "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}}})

    def test_every_request_says_who_asks_and_results_lose_what_sessions_do_not_know(self):
        client = self.session(MODERN, {"elicitation": {}})
        said = json.loads(client.said("meta", _meta={"mine": 1}))
        self.assertEqual(said, {"mine": 1, META + "protocolVersion": VERSION, META + "clientCapabilities": {"elicitation": {}},
                                META + "clientInfo": {"name": "hand", "version": "1"}})
        listed = client.request("tools/list")["result"]
        self.assertEqual(set(listed), {"tools"})
        self.assertNotIn("outputSchema", listed["tools"][-1])
        self.assertEqual(client.result("list_root"), {"content": [{"type": "text", "text": "a list"}]})
        self.assertEqual(set(client.request("resources/read", {"uri": "u"})["result"]), {"contents"})

    def test_what_the_server_wants_to_know_is_asked_and_the_call_made_again(self):
        client = self.session(MODERN, {"elicitation": {}})
        id = client.ask("tools/call", {"name": "ask", "arguments": {}})
        question = client.next(lambda m: m.get("method") == "elicitation/create")
        self.assertEqual(question["params"]["message"], "[from server `server`] Your name?")
        client.send({"id": question["id"], "result": {"action": "accept", "content": {"name": "Ann"}}})
        self.assertEqual(client.answer(id)["result"]["content"][0]["text"], 'state-1 {"k": {"action": "accept", "content": {"name": "Ann"}}}')
        client.close()
        self.one_end_for_each_call(2)  # and the question

    def test_a_client_that_cannot_answer_is_told_what_is_missing(self):
        result = self.session(MODERN).result("ask")
        self.assertTrue(result["isError"])
        self.assertIn("did not declare what `elicitation/create` needs", result["content"][0]["text"])

    def test_a_server_that_asks_forever_is_stopped(self):
        client = self.session(MODERN, {"elicitation": {}})
        id = client.ask("tools/call", {"name": "ask_forever", "arguments": {}})
        for _ in range(11):
            question = client.next(lambda m: m.get("method") == "elicitation/create")
            client.send({"id": question["id"], "result": {"action": "decline"}})
        self.assertIn("again and again", client.answer(id)["result"]["content"][0]["text"])

    def test_changes_are_heard_through_one_subscription(self):
        client = self.session(MODERN)
        self.assertEqual(client.request("resources/subscribe", {"uri": "file:///a"})["result"], {})
        client.said("change")
        updated = client.next(lambda m: m.get("method") == "notifications/resources/updated")
        self.assertEqual(updated["params"], {"uri": "file:///a"})
        self.assertNotIn("_meta", client.next(lambda m: m.get("method") == "notifications/tools/list_changed").get("params", {}))

    def test_the_log_level_travels_with_each_request(self):
        client = self.session(MODERN)
        self.assertEqual(client.request("logging/setLevel", {"level": "debug"})["result"], {})
        self.assertEqual(json.loads(client.said("meta"))[META + "logLevel"], "debug")

    def test_progress_and_ping(self):
        client = self.session(MODERN)
        client.said("progress", _meta={"progressToken": 5})
        self.assertEqual(client.next(lambda m: m.get("method") == "notifications/progress")["params"], {"progressToken": 5, "progress": 1})
        self.assertEqual(client.request("ping")["result"], {})
        self.assertEqual(client.request("tasks/list")["error"]["code"], -32601)


class StatelessToSessions(Eras):
    def test_the_discovery_is_answered_from_the_opening(self):
        client = self.stateless(FAKE)
        found = client.request("server/discover")["result"]
        self.assertEqual((found["resultType"], found["supportedVersions"], found["ttlMs"], found["cacheScope"]), ("complete", [VERSION], 0, "private"))
        self.assertEqual(found["_meta"][META + "serverInfo"]["name"], "fake")
        self.assertIn("tools", found["capabilities"])

    # A slow server of both eras was once remembered for a week as a server with sessions.
    def test_only_a_server_that_refuses_the_discovery_is_remembered_as_one_of_sessions(self):
        slow = ModernClient(self, ("sh", "-c", f"sleep 4; exec {sys.executable} {FAKE}"), options=("--name", "server"))
        self.addCleanup(self.end, slow)
        self.assertEqual(slow.request("server/discover")["result"]["supportedVersions"], [VERSION])
        slow.close()
        self.assertEqual(list(self.data.glob("eras/*")), [])
        quick = self.stateless(FAKE)
        quick.request("server/discover")
        quick.close()
        self.assertEqual(len(list(self.data.glob("eras/*"))), 1)

    def test_results_say_of_which_kind_they_are(self):
        client = self.stateless(FAKE)
        listed = client.request("tools/list")["result"]
        self.assertEqual((listed["resultType"], listed["ttlMs"], listed["cacheScope"]), ("complete", 0, "private"))
        self.assertEqual(client.result("echo", {"message": "x"})["resultType"], "complete")
        denied = client.result("nothing")
        self.assertEqual((denied["resultType"], denied["isError"]), ("complete", True))
        client.close()
        self.one_end_for_each_call(2)

    def test_a_question_of_the_server_is_a_result_and_the_retry_goes_on(self):
        client = self.stateless(FAKE, {"roots": {}})
        asked = client.result("ask_roots")
        self.assertEqual(asked["resultType"], "input_required")
        (key, question), = asked["inputRequests"].items()
        self.assertEqual(question["method"], "roots/list")
        other = client.call("echo", requestState=asked["requestState"], inputResponses={})
        self.assertEqual(other["error"]["code"], -32602)
        result = client.result("ask_roots", requestState=asked["requestState"], inputResponses={key: {"roots": [{"uri": "file:///r"}]}})
        self.assertIn("file:///r", result["content"][0]["text"])
        again = client.call("ask_roots", requestState=asked["requestState"], inputResponses={})
        self.assertEqual(again["error"]["code"], -32602, "good for one answer only")
        client.close()
        self.one_end_for_each_call(2)  # and the question

    def test_a_retry_without_the_answer_is_asked_again(self):
        client = self.stateless(FAKE, {"roots": {}})
        asked = client.result("ask_roots")
        again = client.result("ask_roots", requestState=asked["requestState"])
        self.assertEqual(again["inputRequests"], asked["inputRequests"])
        self.assertNotEqual(again["requestState"], asked["requestState"])

    def test_what_the_client_cannot_be_asked_is_declined(self):
        self.assertIn("-32601", self.stateless(FAKE).said("ask_sampling"))

    def test_requests_without_their_facts_are_refused(self):
        client = self.stateless(FAKE)
        self.assertEqual(client.request("tools/list", {"_meta": {META + "protocolVersion": VERSION}})["error"]["code"], -32602)
        refused = client.request("tools/list", {"_meta": client.meta(**{META + "protocolVersion": "2030-01-01"})})["error"]
        self.assertEqual((refused["code"], refused["data"]), (-32022, {"supported": [VERSION], "requested": "2030-01-01"}))
        for method in ("ping", "logging/setLevel", "resources/subscribe", "tasks/list"):
            self.assertEqual(client.request(method)["error"]["code"], -32601)

    def test_a_subscription_hears_of_what_it_asked_for(self):
        client = self.stateless(FAKE)
        id = client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True, "promptsListChanged": True, "resourceSubscriptions": ["file:///a"]}})
        granted = client.next(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")["params"]
        self.assertEqual(granted, {"_meta": {META + "subscriptionId": id},
                                   "notifications": {"toolsListChanged": True, "resourceSubscriptions": ["file:///a"]}})
        client.call("rename", {"suffix": ""})
        changed = client.next(lambda m: m.get("method") == "notifications/tools/list_changed")
        self.assertEqual(changed["params"]["_meta"][META + "subscriptionId"], id)
        client.tell("notifications/cancelled", {"requestId": id})
        client.call("rename", {"suffix": ""})
        client.said("echo", {"message": "x"})
        self.assertEqual([m for m in client.kept if m.get("method") == "notifications/tools/list_changed"], [])

    def test_the_server_is_told_the_lowest_level_that_was_asked_for(self):
        heard = self.folder / "heard"
        client = ModernClient(self, (sys.executable, FAKE), env=self.environment(FAKE_HEARD=str(heard)), options=("--name", "server"))
        self.addCleanup(self.end, client)
        for level in ("warning", "error", "debug", "info"):
            client.said("echo", _meta=client.meta(**{META + "logLevel": level}))
        client.close()
        told = [json.loads(line) for line in heard.read_text().splitlines()]
        self.assertEqual([m["params"]["level"] for m in told if m["method"] == "logging/setLevel"], ["warning", "debug"])

    def test_a_level_that_is_none_is_refused(self):
        client = self.stateless(FAKE)
        for level in ("loud", "Debug", 3, None):
            refused = client.call("echo", _meta=client.meta(**{META + "logLevel": level}))
            self.assertEqual(refused["error"]["code"], -32602, level)

    def test_log_messages_only_for_those_who_asked(self):
        client = self.stateless(FAKE)
        client.said("log")
        self.assertEqual([m for m in client.kept if m.get("method") == "notifications/message"], [])
        client.said("log", _meta=client.meta(**{META + "logLevel": "debug"}))
        self.assertEqual(len([m for m in client.kept if m.get("method") == "notifications/message"]), 1)

    # A server that checks the client's capabilities never asked, because the gate did not pass them on.
    def test_a_page_is_asked_for_where_the_client_can_show_one(self):
        server = self.write("page.py", PAGE)
        client = self.stateless(server, {"elicitation": {"form": {}, "url": {}}})
        asked = client.result("login")
        self.assertEqual(list(asked["inputRequests"].values()), [{"method": "elicitation/create", "params": {"mode": "url", "message": "[from server `server`] m", "url": "https://example.org/"}}])
        [key] = asked["inputRequests"]
        done = client.result("login", requestState=asked["requestState"], inputResponses={key: {"action": "accept"}})
        self.assertEqual(done["content"][0]["text"], '{"action": "accept"}')
        self.assertEqual(self.stateless(server, {"elicitation": {}}).said("login"), "opened with {}")


class StatelessToStateless(Eras):
    # A server that turns a call into a task once returned its result to the model without a record.
    def test_the_result_of_a_task_is_recorded_like_any_other_and_comes_no_other_way(self):
        client = self.stateless(MODERN, {"extensions": {META + "tasks": {}}})
        listening = client.ask("subscriptions/listen", {"notifications": {"taskIds": ["t-1"]}})
        client.next(lambda message: message.get("method") == "notifications/subscriptions/acknowledged")
        self.assertEqual(client.result("later")["resultType"], "task")
        pushed = client.next(lambda message: message.get("method") == "notifications/tasks")["params"]
        self.assertEqual((pushed["taskId"], pushed["status"], pushed.get("result")), ("t-1", "completed", None))
        got = client.request("tasks/get", {"taskId": "t-1"})["result"]
        self.assertEqual(got["status"], "completed")
        self.assertNotIn("AKIAIOSFODNN7EXAMPLE", json.dumps(got))
        client.send({"method": "notifications/cancelled", "params": {"requestId": listening}})
        client.close()
        ends = self.one_end_for_each_call(2)
        self.assertEqual([(end["tool_name"], end["outcome"]["kind"]) for end in ends], [("later", "completed"), ("tasks/get", "completed")])

    def test_what_both_sides_understand_passes(self):
        client = self.stateless(MODERN)
        found = client.request("server/discover")["result"]
        self.assertEqual((found["instructions"], found["ttlMs"], found["cacheScope"]), ("be kind", 0, "private"))
        listed = client.request("tools/list")["result"]
        self.assertEqual((listed["cacheScope"], listed["ttlMs"]), ("private", 0))
        self.assertIn("outputSchema", listed["tools"][-1])
        self.assertEqual(client.result("list_root")["structuredContent"], [1, 2])
        said = json.loads(client.said("meta"))
        self.assertEqual(said[META + "clientInfo"]["name"], "stateless")

    def test_questions_pass_and_what_the_server_wants_back_is_sealed(self):
        client = self.stateless(MODERN, {"elicitation": {}})
        asked = client.result("ask")
        self.assertEqual(asked["resultType"], "input_required")
        state, said = asked["requestState"], {"k": {"action": "decline"}}
        self.assertNotIn("state-1", state)
        changed = state[:-2] + ("A" if state[-2] != "A" else "B") + state[-1]
        for bad in ("state-1", changed, state + "x", 7):
            self.assertEqual(client.call("ask", requestState=bad, inputResponses=said)["error"]["code"], -32602, bad)
        other = client.call("ask", {"other": 1}, requestState=state, inputResponses=said)
        self.assertIn("belongs to another request", other["error"]["message"])
        result = client.result("ask", requestState=state, inputResponses=said)
        self.assertEqual(result["content"][0]["text"], 'state-1 {"k": {"action": "decline"}}')
        again = client.call("ask", requestState=state, inputResponses=said)
        self.assertIn("was used before", again["error"]["message"])
        client.close()
        self.one_end_for_each_call(3)  # and the question

    def test_questions_of_a_kind_that_the_client_did_not_declare_are_an_error(self):
        for declared in ({}, {"elicitation": {"url": {}}}, {"sampling": {}}):
            refused = self.stateless(MODERN, declared).call("ask")["error"]
            self.assertEqual((refused["code"], refused["data"]), (-32021, {"requiredCapabilities": {"elicitation": {}}}))
        for declared in ({"elicitation": {}}, {"elicitation": {"form": {}, "url": {}}}):
            self.assertEqual(self.stateless(MODERN, declared).result("ask")["resultType"], "input_required")

    def test_a_request_with_answers_is_judged_by_its_own_capabilities(self):
        """While its answers were recorded, a later request replaced the capabilities that it had declared."""
        client = self.stateless(MODERN, {"elicitation": {}})
        asked = client.result("ask_forever")
        retry = {"name": "ask_forever", "arguments": {}, "requestState": asked["requestState"],
                 "inputResponses": {"k": {"action": "accept", "content": {}}}, "_meta": client.meta()}
        client.capabilities = {}
        other = {"_meta": client.meta()}
        client.send_text("\n".join(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
                                   for id, method, params in (("retry", "tools/call", retry), ("other", "tools/list", other))))
        self.assertEqual(client.answer("retry").get("result", {}).get("resultType"), "input_required")
        self.assertIn("tools", client.answer("other")["result"])

    def test_subscriptions_keep_the_id_that_the_client_knows(self):
        client = self.stateless(MODERN)
        client.said("echo", {"message": "x"})
        id = client.ask("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        granted = client.next(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")
        self.assertEqual(granted["params"]["_meta"][META + "subscriptionId"], id)
        client.said("change")
        changed = client.next(lambda m: m.get("method") == "notifications/tools/list_changed")
        self.assertEqual(changed["params"]["_meta"][META + "subscriptionId"], id)

    def test_a_subscription_outlives_a_process_of_the_server(self):
        """It ended with an error when the server did, and no subscription was made at the next process."""
        client = self.stateless(MODERN)
        client.said("echo", {"message": "x"})
        id = client.ask("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["x://r"]}})
        client.next(lambda m: m.get("method") == "notifications/subscriptions/acknowledged")
        self.assertTrue(client.result("die")["isError"])
        self.assertEqual(client.said("change"), "changed")
        told = client.next(lambda m: "method" in m or m.get("id") == id)
        self.assertEqual((told.get("method"), told.get("params", {}).get("uri")), ("notifications/resources/updated", "x://r"))
        self.assertEqual(told["params"]["_meta"][META + "subscriptionId"], id)
        self.assertEqual(client.close(), 0)

    def test_a_denial_says_of_which_kind_it_is(self):
        denied = self.stateless(MODERN).result("nothing")
        self.assertEqual((denied["resultType"], denied["isError"]), ("complete", True))


class Neither(Eras):
    def test_a_first_request_of_no_era_is_told_the_versions(self):
        client = self.client()
        refused = client.request("tools/list")["error"]
        self.assertEqual((refused["code"], refused["data"]["supported"]),
                         (-32602, [VERSION, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]))
        self.assertEqual(client.open()["serverInfo"]["name"], "fake")

    def test_a_version_that_is_not_spoken_here_is_not_promised(self):
        for asked in ("1999-01-01", VERSION):  # the server agrees to anything
            self.assertEqual(self.client().open(version=asked)["protocolVersion"], "2025-11-25")
        self.assertEqual(self.client().open(version="2024-11-05")["protocolVersion"], "2024-11-05")


if __name__ == "__main__":
    unittest.main()
