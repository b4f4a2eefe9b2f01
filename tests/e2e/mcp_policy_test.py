#!/usr/bin/env python3
"""Policies before an MCP server: in force, changed at run time, refused."""
import sys
import time
import unittest

from mcp_support import McpTest

POLICY = """version: 1
autonomy: {tier: act_auto}
guardrails:
  checks:
    - {type: blocklist, stage: tool_use, id: word, words: [%s]}
"""

EVERY_STAGE = """version: 1
autonomy: {tier: act_auto}
guardrails:
  checks:
    - {type: regex, stage: tool_use, id: account, patterns: ["12345678901234567890123"]}
    - {type: regex, stage: tool_use, id: customer, patterns: ["C-[0-9]{6}"]}
    - {type: blocklist, stage: tool_use, id: given, on_fail: log, words: [hush]}
    - {type: blocklist, stage: tool_output, id: read, on_fail: log, words: [tool echo, AKIA]}
"""

METHODS = ("resources/read", "prompts/get", "completion/complete", "tasks/result", "tasks/get")
# The names of its tools look like protocol methods, and each tool leaves a file when it runs.
DISGUISED = f"""
import io, json, pathlib, sys
for line in io.TextIOWrapper(sys.stdin.buffer):  # as the SDK does it: every line end ends a line
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if message["method"] == "tools/call":
        pathlib.Path("ran").touch()
    results = {{"initialize": {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "n", "version": "1"}}}},
               "tools/list": {{"tools": [{{"name": name, "inputSchema": {{"type": "object"}}}} for name in {METHODS}]}}}}
    if "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": results.get(message["method"], {{"content": []}})}}), flush=True)
"""


class Policies(McpTest):
    def wrapped(self, policy):
        client = self.client(options=["--policy", str(policy)])
        client.open()
        return client

    def refusal(self, client, word):
        result = client.result("echo", {"message": word})
        return result["content"][0]["text"] if result.get("isError") else None

    # GR-31 GR-36
    def test_a_policy_file_is_in_force_and_a_refusal_is_a_result(self):
        client = self.wrapped(self.write("policy.yaml", POLICY % "swordfish"))
        self.assertIn("guardrail check 'word' refused this call (guardrail.blocklist)", self.refusal(client, "Swordfish"))
        self.assertIsNone(self.refusal(client, "herring"))
        client.close()
        hits = self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()
        self.assertEqual([(hit["body"]["check"], hit["body"]["path"]) for hit in hits], [("word", "/message")])

    # Resources, prompts and similar requests are judged by their method names, and run without approval.
    def test_a_tool_that_is_called_like_a_method_is_none(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_with_approval}\n")
        client = self.client(sys.executable, self.write("disguised.py", DISGUISED), options=["--policy", str(policy)])
        client.open()
        for name in METHODS:
            result = client.result(name)
            self.assertTrue(result["isError"])
            self.assertIn("unknown tool", result["content"][0]["text"])
        client.close()
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual({record["outcome"]["kind"] for record in self.one_end_for_each_call(len(METHODS))}, {"blocked"})

    # For readers that accept a carriage return as a line end, the text between two of them was a message.
    def test_no_part_of_a_message_reaches_a_server_as_one(self):
        client = self.client(sys.executable, self.write("disguised.py", DISGUISED))
        client.open()
        call = '{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"run","arguments":{}}}'
        for method in ("tools/list", "resources/read"):
            client.last_id += 1
            client.send_text(f'{{"jsonrpc":"2.0","id":{client.last_id},"method":"{method}","params":{{"_meta":{{"x":\r{call}\r}}}}}}')
            self.assertIn("result", client.answer(client.last_id))
        self.assertFalse((self.folder / "ran").exists())

    # A server that checks only the method also runs messages that expect no answer.
    def test_a_call_without_an_id_reaches_no_server(self):
        client = self.client(sys.executable, self.write("disguised.py", DISGUISED))
        client.open()
        for method in ("tools/call", "resources/read", "anything"):
            client.tell(method, {"name": "run", "arguments": {}})
        client.wait_for_error("a request without an id")
        # Later messages have passed the server by now.
        self.assertIn("result", client.request("tools/list"))
        client.close()
        self.assertFalse((self.folder / "ran").exists())

    # A check saw 1.2345678901234568e+22 in the place of the number that the tool received.
    # GR-32
    def test_a_number_is_checked_as_the_tool_receives_it(self):
        client = self.wrapped(self.write("policy.yaml", EVERY_STAGE))
        client.last_id += 1
        client.send_text('{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"to":12345678901234567890123}}}' % client.last_id)
        self.assertIn("guardrail check 'account' refused", client.answer(client.last_id)["result"]["content"][0]["text"])
        client.close()

    # A name of 70,000 letters before a hit: the call could not be recorded, and the next one was refused.
    # GR-72
    def test_a_hit_in_any_place_is_recorded(self):
        client = self.wrapped(self.write("policy.yaml", EVERY_STAGE))
        self.assertEqual(client.said("echo", {"message": "one", "a": {"k" * 70000: "hush"}}), "one")
        self.assertEqual(client.said("echo", {"message": "two"}), "two")
        client.close()
        hits = self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()
        self.assertEqual([hit["body"]["path"] for hit in hits if hit["body"]["check"] == "given"], ["/a"])
        self.one_end_for_each_call(2)

    # The name of a member that was withheld stood in the path of the entry.
    # GR-56 (partly) PI-47 (partly)
    def test_the_path_of_a_hit_does_not_hold_what_was_withheld(self):
        client = self.wrapped(self.write("policy.yaml", EVERY_STAGE))
        self.assertTrue(client.result("echo", {"a": {"C-123456": {"b": "C-123456"}}})["isError"])
        client.close()
        hits = self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()
        self.assertEqual([hit["body"]["path"] for hit in hits if hit["body"]["check"] == "customer"], ["/a"])

    # A hit in a list or a notification had no entry of its own, and one that changed nothing left no trace.
    # GR-72
    def test_a_hit_in_a_message_that_is_no_result_is_recorded(self):
        client = self.wrapped(self.write("policy.yaml", EVERY_STAGE))
        client.request("tools/list")
        self.assertEqual(client.said("log"), "logged")
        client.next(lambda message: message.get("method") == "notifications/message")
        client.close()
        hits = [hit["entry"] for hit in self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()]
        self.assertEqual({(hit["tool_name"], hit["body"]["check"], hit["body"]["action"], hit["body"]["path"]) for hit in hits},
                         {("tools/list", "read", "log", "/tools/0/description"), ("notifications/message", "read", "log", "/data")})
        topics = [entry["body"] for entry in self.good("ledger", "show", "--topic", "mcp", "--json").lines()]
        noted = {message["method"] for topic in topics for message in topic["messages"] if message["what"] == "noted"}
        self.assertEqual(noted, {"tools/list", "notifications/message"})

    # A server that floods with messages that a check notes filled the memory and the ledger.
    # PI-29 GR-84 (partly)
    def test_progress_messages_whose_hits_have_no_room_are_dropped(self):
        client = self.wrapped(self.write("policy.yaml", EVERY_STAGE))
        self.assertEqual(client.said("progress", {"count": 1500}, _meta={"progressToken": "p"}), "progressed")
        client.close()
        self.assertEqual(len([line for line in client.lines if "notifications/progress" in line]), 1024)
        hits = self.good("ledger", "show", "--kind", "guard_hit", "--limit", "10000", "--json").lines()
        self.assertEqual(len([hit for hit in hits if hit["entry"]["tool_name"] == "progress"]), 1024)

    # AT-10
    def test_the_agent_that_a_policy_names_is_the_one_who_acts(self):
        tiers = "version: 1\nautonomy: {agent_id: %s, agent_tiers: {deploy-bot: act_auto}}\n"
        path = self.write("policy.yaml", tiers % "deploy-bot")
        client = self.wrapped(path)
        self.assertIsNone(self.refusal(client, "one"))
        time.sleep(0.01)
        path.write_text(tiers % "other-bot")
        client.wait_for_error("a new policy is in force")
        self.assertIn("the policy is for agent `other-bot`, but `deploy-bot` is the one who acts", self.refusal(client, "two"))
        client.close()
        self.assertEqual([(one["agent_id"], one["autonomy_source"]) for one in self.records()][0], ("deploy-bot", "agent_tiers"))
        self.assertEqual([one["agent"] for one in self.good("trust", "show", "--records", "--json").lines()], ["deploy-bot"])
        call = '{"tool": "echo", "server": "fake", "input": {}%s}'
        self.assertEqual(self.cli("policy", "explain", call % "", "--policy", path, "--json").json()["call"]["agent_id"], "other-bot")
        other = self.cli("policy", "explain", call % ', "agent": "x"', "--policy", path, "--json").json()
        self.assertEqual((other["verdict"], other["decided_by"]["guard"]), ("refused", "agent"))

    # AT-4 AT-8 (partly) AT-28 (partly)
    def test_a_policy_without_tiers_asks_and_its_calls_are_remembered(self):
        client = self.wrapped(self.write("policy.yaml", "version: 1\napprovals: {hold_s: 20, deadline_s: 1}\n"))
        self.assertIn("approval_expired", self.refusal(client, "hi"))
        client.close()
        self.assertEqual({(one["autonomy"], one["autonomy_source"]) for one in self.records()}, {("act_with_approval", "default")})
        kept = self.good("trust", "show", "--records", "--json").lines()
        self.assertEqual([(one["outcome"], one["metadata"]["autonomy.enforcement"]) for one in kept], [("timeout", "approval_timeout")])

    def test_an_error_instead_of_a_result_names_record_and_rule(self):
        client = self.wrapped(self.write("policy.yaml", POLICY % "swordfish"))
        for method, params in (("resources/read", {"uri": "file:///swordfish"}), ("prompts/get", {"name": "swordfish"}),
                               ("completion/complete", {"ref": {"type": "ref/prompt", "name": "swordfish"}, "argument": {"name": "a", "value": "b"}})):
            error = client.request(method, params)["error"]
            self.assertEqual((error["code"], error["data"]["rule"], error["data"]["retryable"]), (-31403, "word", False))
            self.assertIn(error["data"]["record"], error["message"])

    # GR-8 GR-76 GR-77 GR-79
    def test_a_changed_file_is_taken_up_and_a_bad_one_is_not(self):
        path = self.write("policy.yaml", POLICY % "swordfish")
        client = self.wrapped(path)
        self.assertIsNotNone(self.refusal(client, "swordfish"))
        time.sleep(0.01)
        path.write_text(POLICY % "herring")
        client.wait_for_error("a new policy is in force")
        self.assertIsNone(self.refusal(client, "swordfish"))
        self.assertIsNotNone(self.refusal(client, "herring"))
        path.write_text("version: 1\nguardrails: {checks: [{type: none}]}\n")
        client.wait_for_error("the policy was refused, the last good one stays in force")
        self.assertIsNotNone(self.refusal(client, "herring"))
        client.close()
        generations = [hit["body"]["generation"] for hit in self.good("ledger", "show", "--kind", "guard_hit", "--json").lines()]
        self.assertEqual(generations, [1, 2, 2])
        controls = [entry["body"]["control"] for entry in self.good("ledger", "show", "--kind", "control", "--json").lines()]
        self.assertEqual([one for one in controls if one.startswith("policy")], ["policy_loaded", "policy_loaded", "policy_rejected"])
        policy = next(check for check in self.cli("doctor", "--json").json()["checks"] if check["check"] == "policy")
        self.assertIn("generation 2", policy["detail"])
        self.assertIn("policy.yaml:2:", policy["detail"])

    # PI-69 PI-70 PI-71: a truncated initialization or list is refused
    def test_limits_are_for_results_and_not_for_the_protocol(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nresults: [{hook: size-limiter, settings: "
                            "{max_string_bytes: 20, max_items: 2, max_total_bytes: 120}}]\n")
        client = self.client(options=["--policy", str(policy)])
        self.assertEqual(client.open()["serverInfo"]["name"], "fake")
        tools = client.request("tools/list")["result"]["tools"]
        self.assertGreater(len(tools), 2)
        self.assertIn("tool spoof_progress", [tool["description"] for tool in tools])
        self.assertEqual(client.said("echo", {"message": "x" * 30}), "x" * 20 + "[TRUNCATED: kept 20 of 30 bytes]")
        blocks = client.result("structured")["content"]
        self.assertEqual([block["text"] for block in blocks], ["[OUTPUT TOO LARGE: 180 bytes]"])
        client.close()
        released = self.records()[-1]["post_invocation"]["released"]["value"]
        self.assertEqual(released["content"], blocks)

    # `query-result` withheld the initialize response, every list and every notification: none of them has a grant.
    # PI-73 (partly) PI-74 (partly)
    def test_query_result_leaves_the_protocol_and_calls_without_a_grant_alone(self):
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\nresults: [{hook: output-sanitizer}, "
                            "{hook: size-limiter}, {hook: query-result, on_error: deny}]\n")
        client = self.client(options=["--policy", str(policy)])
        self.assertEqual(client.open()["serverInfo"]["name"], "fake")
        self.assertIn("echo", [tool["name"] for tool in client.request("tools/list")["result"]["tools"]])
        rows = '[{"a":1},{"a":2}]'
        self.assertEqual(client.said("echo", {"message": rows}), rows)
        self.assertEqual(client.said("log"), "logged")
        told = client.next(lambda message: message.get("method") == "notifications/message")
        self.assertEqual(told["params"]["data"], "key ****")

    # LE-68
    def test_what_a_gateway_writes_are_control_entries_of_the_list(self):
        client = self.client()
        client.open({"sampling": {}})
        client.result("echo", {"message": "x"})
        client.close()
        known = {"started", "stopped", "gap", "policy_loaded", "policy_rejected", "key_created", "key_rotated",
                 "fail_open_started", "fail_open_ended", "clock_step", "grant_issued", "grant_revoked", "erased", "pruned",
                 "hold_set", "hold_lifted", "rollback_acknowledged", "refused_control", "content_opened",
                 "policy_activated", "policy_activation_failed", "witness_refused", "passkey_added", "passkey_removed",
                 "moved", "instance_lost", "clock_skew"}
        self.assertEqual(set(self.good("ledger", "schema", "--json").json()["controls"]), known)
        controls = self.good("ledger", "show", "--kind", "control", "--json").lines()
        self.assertLessEqual({entry["body"]["control"] for entry in controls}, known)
        processes = self.good("ledger", "show", "--topic", "processes", "--json").lines()
        self.assertEqual([entry["body"]["kind"] for entry in processes], ["governed", "governed_no_more"])

    # GR-8: at first start there is no valid policy, so nothing is let through
    def test_an_invalid_policy_is_never_replaced_by_another(self):
        path = self.write("policy.yaml", "version: 1\nguardrials: {}\n")
        client = self.client(options=["--policy", str(path)])
        self.assertEqual(client.process.wait(30), 64)
        self.assertIn("policy.yaml:2:1", "".join(client.errors))

    def test_a_shipped_policy_is_named(self):
        client = self.wrapped("read-only")
        result = client.result("echo", {"message": "x"})
        self.assertNotIn("x", result["content"][0]["text"].split())
        client.close()


if __name__ == "__main__":
    unittest.main()
