#!/usr/bin/env python3
"""A client and a server of the session era, with the gate between them."""
import json
import time
import unittest

from mcp_support import McpTest


class Relay(McpTest):
    def test_an_opening_passes_as_it_is_and_the_policy_in_force_is_named(self):
        client = self.client()
        opened = client.open()
        self.assertEqual(opened["serverInfo"]["name"], "fake")
        self.assertIn('"x-unknown":12345678901234567890123', client.lines[0])
        client.wait_for_error("starter policy is in force")
        self.assertEqual(client.close(), 0)

    def test_methods_that_the_policy_names_and_fields_that_nobody_knows_pass_with_every_digit(self):
        client = self.client(options=("--name", "fake", "--policy", "transparent"))
        client.open()
        client.send_text('{"jsonrpc":"2.0","method":"x/echo","id":"a-string","params":{"z":1.50,"big":12345678901234567890123,"a":[1e2]}}')
        got = client.answer("a-string")
        self.assertIn("got", got["result"])
        self.assertIn('12345678901234567890123', client.lines[-1])

    # PI-27
    def test_a_result_that_no_guard_touches_is_the_bytes_that_came(self):
        client = self.client()
        client.open()
        client.call("exact")
        self.assertIn('"result":{"structuredContent":{"z":12345678901234567890123,"a":1.50,"n":1e2},"content":[],"x-unknown":{"k":[1.0]}}',
                      client.lines[-1])

    def test_arguments_reach_the_server_with_every_digit(self):
        client = self.client()
        client.open()
        client.send_text('{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"error","arguments":{"key":12345678901234567890123},"x-more":1}}')
        error = client.answer(7)["error"]
        self.assertEqual((error["code"], error["data"]["key"]), (-32050, 12345678901234567890123))

    # AU-19
    def test_a_call_is_one_record_with_what_was_asked_and_answered(self):
        client = self.client()
        client.open()
        self.assertEqual(client.said("echo", {"message": "hello"}), "hello")
        failed = client.result("structured", {"fails": True})
        self.assertTrue(failed["isError"])
        client.close()
        ends = self.one_end_for_each_call(2)
        self.assertEqual((ends[0]["server"], ends[0]["tool_name"], ends[0]["requested_input"]), ("fake", "echo", {"message": "hello"}))
        self.assertTrue(ends[0]["agent_id"].startswith("uid:"))
        self.assertEqual(ends[0]["outcome"]["result"]["output"], "hello")
        result = ends[1]["outcome"]["result"]
        self.assertEqual((result["success"], result["output"], result["data"]), (False, "two\nparts", {"rows": [1, 2]}))
        self.assertEqual([d["media_type"] for d in result["documents"]], ["text/uri-list"])

    # PI-27 PI-28 PI-29
    def test_secrets_are_taken_out_of_results_resources_progress_and_log_messages(self):
        client = self.client()
        client.open()
        client.call("secret")
        client.request("resources/read", {"uri": "file:///s"})
        client.call("progress", _meta={"progressToken": "t"})
        client.call("log")
        progress = [m for m in client.kept if m.get("method") == "notifications/progress"]
        self.assertEqual([m["params"]["progress"] for m in progress], [0, 1, 2])
        self.assertEqual(len([m for m in client.kept if m.get("method") == "notifications/message"]), 1)
        self.assertNotIn("AKIAIOSFODNN7EXAMPLE", "".join(client.lines))
        client.wait_for_error("[fake] a line on stderr")
        client.close()
        self.assertNotIn("AKIAIOSFODNN7EXAMPLE", json.dumps(self.records()))

    def test_an_error_of_the_server_stays_the_error_it_was(self):
        client = self.client()
        client.open()
        self.assertEqual(client.call("error", {"key": "k"})["error"], {"code": -32050, "message": "no such row", "data": {"key": "k"}})
        client.close()
        result = self.one_end_for_each_call(1)[0]["outcome"]["result"]
        self.assertEqual((result["success"], result["output"]), (False, "no such row"))

    # AU-23
    def test_a_tool_that_is_not_listed_is_denied_in_words_for_the_model(self):
        client = self.client()
        client.open()
        result = client.result("format_disk")
        self.assertTrue(result["isError"])
        self.assertIn("unknown tool", result["content"][0]["text"])
        self.assertEqual(result["structuredContent"]["sallyport"]["status"], "blocked")
        client.close()
        self.assertEqual(self.one_end_for_each_call(1)[0]["outcome"]["kind"], "blocked")

    def test_questions_of_the_server_reach_the_client_and_its_answer_the_server(self):
        client = self.client()
        client.open({"roots": {}})
        id = client.ask("tools/call", {"name": "ask_roots", "arguments": {}})
        question = client.next(lambda m: m.get("method") == "roots/list")
        client.send({"id": question["id"], "result": {"roots": [{"uri": "file:///r"}]}})
        self.assertIn("file:///r", client.answer(id)["result"]["content"][0]["text"])

    def test_a_question_that_the_client_cannot_answer_is_answered_here(self):
        client = self.client()
        client.open({"roots": {}})
        self.assertIn("-32601", client.said("ask_sampling"))
        self.assertEqual([m for m in client.kept if m.get("method") == "sampling/createMessage"], [])

    # AU-28
    def test_a_cancelled_call_gets_no_answer_and_one_record(self):
        heard = self.folder / "heard"
        client = self.client(env={"FAKE_HEARD": heard})
        client.open()
        id = client.ask("tools/call", {"name": "stall", "arguments": {}})
        client.said("echo", {"message": "x"})
        client.tell("notifications/cancelled", {"requestId": id, "reason": "changed my mind"})
        client.said("echo", {"message": "y"})
        client.close()
        self.assertEqual([m for m in client.kept if m.get("id") == id], [])
        self.assertIn("changed my mind", heard.read_text())
        ends = {r["tool_name"]: r for r in self.one_end_for_each_call(3)}
        self.assertEqual((ends["stall"]["outcome"]["result"]["output"], ends["stall"]["effect_state"]), ("cancelled", "unknown"))

    def test_an_answer_after_the_end_of_its_call_is_recorded_and_reaches_nobody(self):
        # PI-31
        client = self.client(env=self.noting_calls())
        client.open()
        id = client.ask("tools/call", {"name": "slow", "arguments": {"seconds": 2}})
        self.wait_until_called("slow")
        client.tell("notifications/cancelled", {"requestId": id})
        self.assertEqual(client.said("echo", {"message": "y"}), "y")  # the server answers one call after another
        end = time.monotonic() + 20
        late = []
        while not late and time.monotonic() < end:
            late = self.good("ledger", "show", "--kind", "topic", "--topic", "late_results", "--json").lines()
            time.sleep(0.1)
        client.close()
        self.assertEqual([m for m in client.kept if m.get("id") == id], [])
        ends = {r["tool_name"]: r for r in self.one_end_for_each_call(2)}
        self.assertEqual(ends["slow"]["outcome"]["result"]["output"], "cancelled")
        self.assertEqual(len(late), 1)
        self.assertEqual(late[0]["entry"]["call_id"], ends["slow"]["call_id"])
        body = late[0]["entry"]["body"]
        self.assertEqual((body["record"], body["post_invocation"]["verdict"]), ("late_result", "allow"))
        self.assertIn("slept", json.dumps(late[0]))

    def test_a_request_that_is_only_passed_on_can_be_cancelled_too(self):
        heard = self.folder / "heard"
        client = self.client(env={"FAKE_HEARD": heard})
        client.open()
        id = client.ask("resources/templates/list", {"never": True})
        client.tell("notifications/cancelled", {"requestId": id})
        client.request("tasks/list", {})
        client.close()
        self.assertIn("notifications/cancelled", heard.read_text())

    def test_nonsense_of_the_client_is_answered_and_nothing_breaks(self):
        client = self.client()
        client.open()
        for text, code in (("hello", -32700), ("[1,", -32700), ("{}", -32600), ('{"jsonrpc":"2.0","id":{},"method":"x"}', -32600),
                           ('{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}', -32700), ("[" * 1000 + "]" * 1000, -32600)):
            client.send_text(text)
            said = client.next(lambda m: m.get("id", 0) is None)
            self.assertEqual(said["error"]["code"], code, text[:60])
        self.assertEqual(client.request("tools/call", {"arguments": {}})["error"]["code"], -32602)
        self.assertEqual(client.request("tools/call", {"name": "echo", "arguments": [1]})["error"]["code"], -32602)
        self.assertEqual(client.said("echo", {"message": "still here"}), "still here")

    # The client waits for that id, sometimes for minutes.
    def test_a_request_that_is_refused_unread_is_answered_under_its_id(self):
        client = self.client()
        client.open()
        call = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"echo","arguments":%s}}'
        deep = '{"a":' + "[" * 200 + "]" * 200 + "}"
        for id, arguments, code in ((71, '{"a":1,"a":2}', -32700), ('"b"', r'{"a":"\ud83d"}', -32700), (72, '{"a":1e400}', -32700), (73, deep, -32600)):
            client.send_text(call % (id, arguments))
            self.assertEqual(client.answer(json.loads(str(id)))["error"]["code"], code, arguments[:60])
        client.send_text('{"jsonrpc":"2.0","id":74,"method":5}')
        self.assertEqual(client.answer(74)["error"]["code"], -32600)
        # An id among the arguments is not the id of the message.
        client.send_text('{"jsonrpc":"2.0","method":"notifications/x","params":{"id":74,"id":75}}')
        self.assertEqual(client.next(lambda m: m.get("id", 0) is None)["error"]["code"], -32700)
        # Neither is the id of an answer.
        client.send_text('{"jsonrpc":"2.0","id":76,"result":{"a":1,"a":2}}')
        self.assertEqual(client.next(lambda m: m.get("id", 0) is None)["error"]["code"], -32700)

    def test_a_batch_is_split(self):
        client = self.client()
        client.open(version="2025-03-26")
        client.send_text(json.dumps([{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": str(i)}}}
                                     for i in (101, 102)]))
        self.assertEqual([client.answer(i)["result"]["content"][0]["text"] for i in (102, 101)], ["102", "101"])
        client.close()
        self.one_end_for_each_call(2)

    def test_a_batch_of_another_revision_is_refused(self):
        client = self.client()
        client.open()
        for text in ('[{"jsonrpc":"2.0","id":7,"method":"ping"}]', "[]"):
            client.send_text(text)
            said = client.next(lambda m: "id" in m)
            self.assertEqual((said["id"], said["error"]["code"]), (None, -32600))


if __name__ == "__main__":
    unittest.main()
