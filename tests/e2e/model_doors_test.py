#!/usr/bin/env python3
"""Calls that the model proxy handed out, at the MCP doors behind it; stored messages; time limits for a silent provider.

SALLYPORT_ANSWER_MIB sets the size of the long answer; 1100 exceeds the limit of a stream.
"""
import http.client
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import urllib.parse

from approvals_support import ApprovalsTest
from cli_support import BIN
from hook_support import HOST, claude
from mcp_support import FAKE, McpTest
from model_answers import APIS, CHAT, MESSAGES, Answer, call, say
from model_provider import STALL, STREAM, Provider, Reply
from model_support import ModelTest, guards, question
from serve_support import Session

MEBIBYTES = int(os.environ.get("SALLYPORT_ANSWER_MIB", "2"))  # 1100 is over the limit of a stream
AGENT = {"claude-code": "token-of-claude-0123456789"}
TOOLS = f'  upstreams:\n    - {{name: files, command: ["{sys.executable}", "{FAKE}"]}}\n'
META = {"_meta": {"claudecode/toolUseId": "toolu_mcp"}}
PROPOSED = Answer(call("mcp__files__echo", {"message": "hi"}, id="toolu_mcp"), seed="doors")


class Doors(ModelTest, McpTest, ApprovalsTest):
    def gate(self, policy=None, agents=AGENT, otherwise=PROPOSED):
        self.provider = Provider(self, otherwise=otherwise)
        return self.proxy(self.provider, policy=policy, apis=(MESSAGES,), more=TOOLS, agents=agents)

    def with_result(self, proxy, said="hi"):
        """Returns the request after the call, with its result."""
        messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": PROPOSED.body(MESSAGES)["content"]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_mcp", "content": said}]}]
        self.provider.then(Answer(say("done")))
        return proxy.ask(MESSAGES, {"model": "claude-x", "max_tokens": 10, "messages": messages})

    def one_act(self, proxy, records=1):
        self.assertEqual([intent["tool_call_id"] for intent in proxy.entries("intent")], ["toolu_mcp"])
        ended = proxy.entries("tool_audit", count=records)
        self.assertEqual([(one["tool_call_id"], one["outcome"]["kind"]) for one in ended if one["outcome"]["kind"] != "requires_confirmation"],
                         [("toolu_mcp", "completed")])
        return ended

    # MP-61
    def test_a_call_at_the_mcp_door_of_serve_is_the_one_that_was_handed_out(self):
        proxy = self.gate()
        self.assertIn("toolu_mcp", proxy.ask(MESSAGES, stream=True).text())
        session = Session(proxy.server, token=proxy.token)
        self.assertEqual(session.said("echo", {"message": "hi"}, **META), "hi")
        self.one_act(proxy)
        # The result that comes back with the next request is a copy, and makes no record (MP-33).
        self.assertEqual(self.with_result(proxy).status, 200)
        self.one_act(proxy)
        # The same call is not made again; another call with its id is refused.
        self.assertEqual(session.said("echo", {"message": "hi"}, **META), "hi")
        self.assertIn("idempotency conflict:", session.said("echo", {"message": "other"}, **META))
        self.assertEqual([one["outcome"]["kind"] for one in proxy.entries("tool_audit")], ["completed", "cached", "blocked"])
        self.assertEqual(len(proxy.entries("intent")), 1)
        self.assertEqual(self.good("ledger", "verify").code, 0)

    # MP-61
    def test_a_call_at_a_gateway_on_standard_streams_is_the_one_that_was_handed_out(self):
        proxy = self.gate(agents={})
        proxy.token = proxy.server.token
        self.assertIn("toolu_mcp", proxy.ask(MESSAGES, stream=True).text())
        client = self.client(options=("--name", "files", "--policy", "policy.yaml"))
        client.open()
        self.assertEqual(client.said("echo", {"message": "hi"}, **META), "hi")
        self.one_act(proxy)

    # MP-61
    def test_a_hook_that_reports_what_the_gateway_ran_adds_no_record(self):
        proxy = self.gate()
        event = claude("PreToolUse", "toolu_mcp") | {"tool_name": "mcp__files__echo", "tool_input": {"message": "hi"}}
        proxy.ask(MESSAGES, stream=True, headers=[("x-claude-code-session-id", event["session_id"])])

        def hook(said):
            done = subprocess.run([*HOST, BIN, "hook", "--agent", "claude-code", "--data-dir", str(self.data), "--policy", str(self.folder / "policy.yaml")],
                                  input=json.dumps(said).encode(), capture_output=True, env=proxy.environment, cwd=self.folder, timeout=60)
            self.assertEqual((done.returncode, b"deny" in done.stdout), (0, False), done.stdout + done.stderr)
        hook(event)
        self.assertEqual(Session(proxy.server, token=proxy.token).said("echo", {"message": "hi"}, **META), "hi")
        hook(event | {"hook_event_name": "PostToolUse", "tool_response": [{"type": "text", "text": "hi"}]})
        self.one_act(proxy)

    # MP-60, MP-61
    def test_one_question_for_both_doors_and_the_call_that_was_asked_about_is_the_one_that_runs(self):
        people = self.init("user:ada")
        reviewers = people.split("- ", 1)[1].strip()
        proxy = self.gate(f"version: 1\nautonomy: {{tier: act_auto}}\nrules: [{{id: ask, then: ask, when: {{tool: echo}}}}]\nmodel: {{hold_s: 60}}\n"
                          f"approvals:\n  reviewers:\n    - {reviewers}\n")
        answered = proxy.begin(MESSAGES, stream=True)
        end = time.monotonic() + 60
        while not self.pending("--all") and time.monotonic() < end:
            time.sleep(0.05)
        self.good(*self.answer("approve", self.pending("--all")[0]["request_id"]))
        self.assertIn("toolu_mcp", answered.finish().text())
        session = Session(proxy.server, token=proxy.token)
        self.assertEqual(session.said("echo", {"message": "hi"}, **META), "hi")
        asked = {one["request_id"] for one in proxy.entries("approval") if "request_id" in one}
        self.assertEqual(len(asked), 1, asked)
        self.one_act(proxy, records=2)
        rows = self.good("ledger", "show", "--kind", "tool_audit", "--limit", "100", "--json").lines()
        self.assertEqual(len({row["record"]["call_id"] for row in rows}), 1, rows)
        self.assertEqual(self.good("ledger", "verify").code, 0)

    # MP-62
    def test_a_call_that_was_left_to_the_gateway_is_not_bypassed(self):
        proxy = self.gate(guards(model={"tool_calls": "defer", "bypass": "withhold"}))
        self.assertIn("toolu_mcp", proxy.ask(MESSAGES, stream=True).text())
        proxy.entries(count=1)
        session = Session(proxy.server, token=proxy.token)
        self.assertEqual(session.said("echo", {"message": "hi"}, **META), "hi")
        self.with_result(proxy)
        self.assertIn(b'"content": "hi"', self.provider.requests[-1].body)
        self.assertEqual(proxy.entries(count=2)[-1]["calls"], [])


class Kept(ModelTest):
    def messages(self, proxy):
        rows = self.good("ledger", "show", "--kind", "topic", "--limit", "1000", "--json").lines()
        return [row["body"] for row in rows if row["body"].get("record") == "model_message"]

    # MP-69
    def test_with_keep_content_each_message_of_a_session_is_stored_once_redacted_and_can_be_erased(self):
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    self.setUp()
                    provider = Provider(self, otherwise=Answer(say("the answer is PRIVATE-2"), seed="kept"))
                    checks = [{"type": "regex", "stage": stage, "id": stage, "on_fail": "redact", "patterns": ["PRIVATE-[0-9]"]} for stage in ("input", "output")]
                    proxy = self.proxy(provider, policy=guards(*checks, model={"keep": "content"}), apis=(api,))
                    session = [("x-session-id", "s-1")]
                    proxy.ask(api, "so PRIVATE-1 it is", stream=stream, headers=session)
                    first = self.messages(proxy)
                    self.assertEqual([one["place"] for one in first][-1], "answer")
                    texts = json.dumps(first)
                    self.assertIn("so ", texts)
                    self.assertIn("the answer is ", texts)
                    self.assertNotIn("PRIVATE-", texts)
                    proxy.ask(api, "so PRIVATE-1 it is", stream=stream, headers=session)
                    asked = [one["place"] for one in self.messages(proxy)[len(first):]]
                    self.assertNotIn(first[0]["place"], asked)
                    request = proxy.entries(count=2)[0]["request_id"]
                    self.good("ledger", "erase", "--call", request, "--reason", "asked to")
                    self.assertNotIn("so ", json.dumps(self.messages(proxy)))
                    self.assertEqual(self.good("ledger", "verify").code, 0)

    # MP-69
    def test_without_it_nothing_is_stored(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        proxy.ask(CHAT, "hello there")
        proxy.entries(count=1)
        self.assertEqual(self.messages(proxy), [])


class Limits(ModelTest):
    # MP-78, MP-81
    def test_a_provider_that_falls_silent_or_never_answers_fails_in_time(self):
        provider = Provider(self)
        proxy = self.proxy(provider, model_settings="    answer_s: 2\n    silence_s: 2\n")
        for api in APIS:
            stream = Answer(say("and so it goes on")).stream(api)
            with self.subTest(api=api):
                provider.then(Reply(stream[:len(stream) // 2], STALL, type=STREAM))
                answered = proxy.ask(api, stream=True)
                self.assertIn("fell silent", answered.text())
                record = proxy.audit()
                self.assertEqual((record["outcome"], record["status"]), ("failed", 200))
        self.assertEqual(len(proxy.entries()), len(APIS))

    # MP-78, MP-80
    def test_a_very_long_answer_takes_no_more_memory_and_has_one_record(self):
        piece = "x" * (1 << 16)
        chunk = json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}).encode()
        end = json.dumps({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).encode()
        provider = Provider(self, otherwise=Reply(*[b"data: " + chunk + b"\n\n"] * (MEBIBYTES * 16), b"data: " + end + b"\n\ndata: [DONE]\n\n", type=STREAM))
        checks = [{"type": "regex", "stage": "output", "id": "o", "on_fail": "redact", "patterns": ["AKIA[A-Z0-9]{16}"]}]
        proxy = self.proxy(provider, policy=guards(*checks), apis=(CHAT,))
        where = urllib.parse.urlsplit(proxy.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=600)
        self.addCleanup(connection.close)
        connection.request("POST", "/v1/chat/completions", json.dumps(question(CHAT, stream=True)), dict(proxy.headers(CHAT)))
        response = connection.getresponse()
        came, tail = 0, b""
        while part := response.read1(1 << 20):
            came, tail = came + len(part), (tail + part)[-400:]
        record = proxy.audit()
        status = pathlib.Path(f"/proc/{proxy.server.process.pid}/status").read_text()
        peak = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) >> 10
        print(f"{came >> 20} MiB came, peak {peak} MiB, {record['outcome']}: {record['reason']}", file=sys.stderr)
        self.assertLess(peak, 400)
        self.assertEqual(len(proxy.entries()), 1)
        if MEBIBYTES > 1024:
            self.assertEqual(record["outcome"], "failed")
            self.assertNotIn(b"[DONE]", tail)
            self.assertLess(came, (1 << 30) + (1 << 26))
        else:
            self.assertEqual((record["outcome"], b"[DONE]" in tail), ("completed", True))

    # MP-82
    def test_the_header_says_where_a_policy_has_no_check(self):
        proxy = self.proxy(Provider(self))
        self.assertEqual(proxy.ask(CHAT).header("x-sallyport-guards"), "input=none; output=none; tool_use=armed")
        self.setUp()
        checks = [{"type": "regex", "stage": "output", "id": "o", "patterns": ["NEVER"]}]
        proxy = self.proxy(Provider(self), policy=guards(*checks, model={"tool_calls": "observe"}))
        self.assertEqual(proxy.ask(CHAT).header("x-sallyport-guards"), "input=none; output=armed; tool_use=none")


if __name__ == "__main__":
    unittest.main()
