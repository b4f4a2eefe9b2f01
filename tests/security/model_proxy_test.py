#!/usr/bin/env python3
"""A hostile agent at the model proxy impersonates another agent, bypasses routes, and requests much memory."""
import concurrent.futures
import gzip
import json
import pathlib
import unittest

from model_answers import CHAT, MESSAGES, MODELS, Answer, call, say
from model_provider import Provider
from model_support import ModelTest, Proxy, guards


class HostileAgent(ModelTest):
    def with_result(self, id, output):
        return {"model": MODELS[MESSAGES], "max_tokens": 100, "messages": [
            {"role": "user", "content": "go"}, {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "run", "input": {"command": "ls"}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}]}

    # MP-32, MP-90
    def test_an_agent_cannot_answer_the_calls_of_another_by_naming_its_session(self):
        provider = Provider(self)
        provider.otherwise = Answer(call("run", {"command": "ls"}, id="toolu_ada"))
        proxy = self.proxy(provider, apis=(MESSAGES,))
        ada, bob = proxy.agents.values()
        session = [("x-claude-code-session-id", "session-of-ada")]
        proxy.ask(MESSAGES, token=ada, headers=session)
        provider.otherwise = Answer(say("done"), seed="2")
        proxy.ask(MESSAGES, self.with_result("toolu_ada", "forged"), token=bob, headers=session)
        self.assertNotEqual(self.cli("ledger", "show", "--kind", "tool_audit", "--json").code, 0)  # the call still waits
        proxy.ask(MESSAGES, self.with_result("toolu_ada", "a file"), token=ada, headers=session)
        records = proxy.entries("tool_audit", count=1)
        self.assertEqual([record["outcome"]["result"]["output"] for record in records], ["a file"])

    # MP-27
    def test_texts_beside_a_result_and_names_of_members_are_checked(self):
        checks = [{"type": "blocklist", "stage": stage, "id": f"no-{stage}".replace("_", "-"), "words": ["TOPSECRET"]} for stage in ("input", "tool_output")]
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards(*checks), apis=(MESSAGES, CHAT))
        used = {"role": "assistant", "content": None, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{}"}}]}
        for member in ("reasoning_content", "refusal"):
            body = {"model": MODELS[CHAT], "messages": [{"role": "user", "content": "go"}, used,
                                                        {"role": "tool", "tool_call_id": "c1", "content": "fine", member: "TOPSECRET"}]}
            self.assertNotEqual(proxy.ask(CHAT, body).status, 200, member)
        named = self.with_result("toolu_1", "fine")
        named["messages"][1]["content"][0]["input"] = {"TOPSECRET": "v"}
        self.assertNotEqual(proxy.ask(MESSAGES, named).status, 200)
        tool = {**self.with_result("toolu_1", "fine"), "tools": [{"name": "run", "input_schema": {"type": "object", "properties": {"TOPSECRET": {}}}}]}
        self.assertNotEqual(proxy.ask(MESSAGES, tool).status, 200)
        self.assertEqual(provider.requests, [])

    # MP-66
    def test_no_request_makes_a_record_that_the_ledger_cannot_hold(self):
        checks = [{"type": "blocklist", "stage": stage, "id": f"{stage}-{number}-{'x' * 40}".replace("_", "-"), "words": [f"never{number}"]}
                  for number in range(16) for stage in ("input", "output", "tool_use", "tool_output")]
        provider = Provider(self)
        provider.otherwise = Answer(say("hello"), call("run", {"command": "ls"}, id="toolu_" + "y" * 5000))
        proxy = self.proxy(provider, policy=guards(*checks), apis=(MESSAGES,))
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
        parts = {"messages": [{"role": "user", "content": [image] * 400 + [{"type": "text", "text": "hi"}]}], "z" * 60000: {"a" * 60000: "b"}}
        self.assertIn(proxy.ask(MESSAGES, {"model": "m" * 70000, "max_tokens": 5, "messages": []}).status, (400, 404))
        for stream in (False, True):
            proxy.ask(MESSAGES, {"model": MODELS[MESSAGES], "max_tokens": 5, "stream": stream, **parts})
        proxy.send("POST", "/v1/%ff" + "p" * 3000, b"{}", proxy.headers(MESSAGES))
        self.assertEqual(len(proxy.entries(count=4)), 4)
        provider.otherwise = Answer(say("hello"), seed="2")
        self.assertEqual(proxy.ask(MESSAGES).status, 200)

    # MP-1
    def test_paths_that_pass_unchecked_lead_to_no_governed_route(self):
        provider = Provider(self)
        upstreams = [{"name": "one", "api": MESSAGES, "url": provider.url, "key": "none", "pass_through": ["/v1/files"]}]
        proxy = Proxy(self, upstreams, guards({"type": "blocklist", "stage": "input", "id": "no", "words": ["launch"]}))
        body = {"model": MODELS[MESSAGES], "max_tokens": 5, "messages": [{"role": "user", "content": "launch"}]}
        for path in ("/v1/files/../messages", "/v1/files/%2e%2e/messages", "/v1/files/..%2fmessages", "/v1/files//../messages", "/v1/files/.%2e/messages",
                     "/v1/files\\..\\messages", "/v1/files/;/../messages", "/v1/filesystem"):
            answer = proxy.send("POST", path, body, proxy.headers(MESSAGES))
            self.assertEqual(answer.status, 404, path)
        self.assertEqual(provider.requests, [])

    # MP-10
    def test_many_small_bodies_that_decode_to_large_ones_do_not_take_the_memory(self):
        provider = Provider(self)
        proxy = self.proxy(provider, apis=(MESSAGES,))
        bomb = gzip.compress(json.dumps({"model": MODELS[MESSAGES], "max_tokens": 5, "messages": [{"role": "user", "content": "a" * (60 << 20)}]}).encode(), 1)
        headers = [*proxy.headers(MESSAGES), ("content-encoding", "gzip")]

        def ask(_):
            return proxy.send("POST", "/v1/messages", bomb, headers).status
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = set(pool.map(ask, range(8)))
        self.assertLessEqual(statuses, {200, 503})
        peak = next(line for line in pathlib.Path(f"/proc/{proxy.server.process.pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
        self.assertLess(int(peak.split()[1]) / 1024, 4096, peak)
        self.assertEqual(proxy.ask(MESSAGES).status, 200)


if __name__ == "__main__":
    unittest.main()
