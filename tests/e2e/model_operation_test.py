#!/usr/bin/env python3
"""The model proxy in operation: credentials, attempts, other upstreams, reload, readiness, and hooks beside it."""
import json
import signal
import subprocess
import time
import unittest

from cli_support import BIN
from hook_support import HOST, claude
from model_answers import APIS, CHAT, MESSAGES, MODELS, Answer, call, say
from model_provider import Provider, Reply, wait
from model_support import ModelTest, Proxy, guards


def kinds(proxy):
    return [event["kind"] for event in proxy.entries("event") if event["kind"].startswith(("model", "policy"))]


class Credentials(ModelTest):
    # MP-19
    def test_the_clients_own_key_goes_upstream_and_its_token_does_not(self):
        provider = Provider(self)
        upstreams = [{"name": api, "api": api, "url": provider.url, "key": "client"} for api in APIS]
        proxy = Proxy(self, upstreams, guards())
        for api, header, value in ((MESSAGES, "x-api-key", "sk-own"), (CHAT, "authorization", "Bearer sk-own")):
            body = {"model": MODELS[api], "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
            path = {MESSAGES: "/v1/messages", CHAT: "/v1/chat/completions"}[api]
            answer = proxy.send("POST", path, body, [(header, value), ("x-sallyport-token", proxy.token)])
            self.assertEqual(answer.status, 200)
            asked = provider.requests[-1]
            self.assertEqual(asked.header(header), value)
            self.assertNotIn(proxy.token, str(asked.headers) + asked.body.decode())
            self.assertEqual(proxy.audit()["credential"], "client")
            count = len(provider.requests)
            answer = proxy.send("POST", path, body, proxy.headers(api))  # the token in place of the key
            self.assertEqual((answer.status, len(provider.requests)), (401, count))
            self.assertIn("x-sallyport-token", answer.json()["error"]["message"])


class Attempts(ModelTest):
    # MP-82
    def test_the_overhead_is_without_the_time_of_the_provider(self):
        provider = Provider(self)
        body = json.dumps(Answer(say("slow")).body(MESSAGES)).encode()
        provider.otherwise = Reply(wait(1.5), body)
        proxy = self.proxy(provider, apis=(MESSAGES,))
        answer = proxy.ask(MESSAGES)
        self.assertEqual(answer.status, 200)
        self.assertLess(int(answer.header("x-sallyport-overhead-ms")), 1000)

    # EV-105, MP-74
    def test_there_is_one_attempt_unless_the_policy_says_otherwise(self):
        provider = Provider(self)
        provider.otherwise = Reply.error(503, b'{"error":"busy"}', [("retry-after", "7")])
        proxy = self.proxy(provider, apis=(MESSAGES,))
        answer = proxy.ask(MESSAGES)
        self.assertEqual((answer.status, answer.header("retry-after"), answer.body, len(provider.requests)), (503, "7", b'{"error":"busy"}', 1))
        self.assertEqual(kinds(proxy), ["model_request_started", "model_request_finished"])

    # EV-104, MP-74
    def test_with_retries_each_attempt_is_announced_and_nothing_is_retried_behind_an_opened_answer(self):
        provider = Provider(self, Reply.error(503, b"{}"), Answer(say("hello")))
        proxy = self.proxy(provider, policy=guards(model={"retries": 2}), apis=(MESSAGES,))
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        self.assertEqual([event["attempt"] for event in proxy.entries("event") if event["kind"] == "model_request_started"], [1, 2])
        self.assertEqual(proxy.audit()["attempts"], 2)

    # MP-75: the proxy has tried again, even if the provider asked for no repetition.
    def test_the_last_error_behind_own_retries_is_not_retried_by_clients(self):
        provider = Provider(self, otherwise=Reply.error(503, b"{}", [("x-should-retry", "true")]))
        proxy = self.proxy(provider, policy=guards(model={"retries": 1}), apis=(MESSAGES,))
        answer = proxy.ask(MESSAGES)
        self.assertEqual((answer.status, answer.header("x-should-retry"), len(provider.requests)), (503, "false", 2))

    # EV-47
    def test_a_blocked_stream_tells_the_veto_between_request_and_response(self):
        provider = Provider(self)
        provider.otherwise = Answer(say("a forbidden word"))
        proxy = self.proxy(provider, policy=guards({"type": "blocklist", "stage": "output", "id": "no", "words": ["forbidden"]}), apis=(MESSAGES,))
        proxy.ask(MESSAGES, stream=True)
        for _ in range(200):
            if len(kinds(proxy)) == 4:
                break
            time.sleep(0.02)
        self.assertEqual(kinds(proxy), ["model_request_started", "model_request_finished", "policy_denied", "model_response_finished"])
        self.assertIs(proxy.entries("event")[-1]["success"], False)

    # MP-77
    def test_with_failover_the_next_upstream_is_tried_before_the_first_byte(self):
        broken, good = Provider(self), Provider(self)
        broken.otherwise = Reply.error(500, b"{}")
        upstreams = [{"name": name, "api": MESSAGES, "url": one.url, "key": "none"} for name, one in (("first", broken), ("second", good))]
        proxy = Proxy(self, upstreams, guards(model={"failover": True}))
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        record = proxy.audit()
        self.assertEqual((record["upstream"], record["attempts"], len(broken.requests), len(good.requests)), ("second", 2, 1, 1))
        # Signed blocks are valid only for the provider that signed them.
        signed = {"model": MODELS[MESSAGES], "max_tokens": 5, "messages": [
            {"role": "user", "content": "go"}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"}]},
            {"role": "user", "content": "on"}]}
        self.assertEqual(proxy.ask(MESSAGES, signed).status, 500)
        self.assertEqual(len(good.requests), 1)


class Daemon(ModelTest):
    # MP-23
    def test_a_model_that_only_a_wildcard_names_is_told_by_its_name(self):
        proxy = self.proxy(Provider(self), policy=guards(model={"allow": ["claude-*"]}), apis=(MESSAGES,))
        known = proxy.send("GET", "/v1/models/claude-opus-5", None, proxy.headers(MESSAGES))
        self.assertEqual((known.status, known.json()["id"], known.json()["type"]), (200, "claude-opus-5", "model"))
        self.assertEqual(proxy.send("GET", "/v1/models/gpt-5", None, proxy.headers(MESSAGES)).status, 404)

    # MP-84
    def test_a_reload_takes_up_upstreams_and_a_refused_file_changes_nothing(self):
        first, second = Provider(self), Provider(self)
        proxy = self.proxy(first, apis=(MESSAGES,))
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        text = self.folder.joinpath("serve.yaml").read_text()
        self.folder.joinpath("serve.yaml").write_text(text.replace('"api": "anthropic_messages"', '"api": "nonsense"'))
        proxy.server.process.send_signal(signal.SIGHUP)
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        self.folder.joinpath("serve.yaml").write_text(text.replace(first.url, second.url))
        proxy.server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while not second.requests and time.monotonic() < end:
            self.assertEqual(proxy.ask(MESSAGES).status, 200)
        self.assertTrue(second.requests)

    # MP-84
    def test_a_changed_file_is_taken_up_without_a_signal_and_not_half(self):
        first, second = Provider(self), Provider(self)
        proxy = self.proxy(first, apis=(MESSAGES,))
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        file = self.folder.joinpath("serve.yaml")
        text = file.read_text().replace(first.url, second.url)
        # The body grows in parts: none of them is read.
        for part in range(1, 5):
            file.write_text(text[:len(text) * part // 5])
            time.sleep(0.1)
        file.write_text(text)
        end = time.monotonic() + 20
        while not second.requests and time.monotonic() < end:
            self.assertEqual(proxy.ask(MESSAGES).status, 200)
        self.assertTrue(second.requests)
        file.write_text(text.replace('"api": "anthropic_messages"', '"api": "nonsense"'))
        end = time.monotonic() + 20
        refused = lambda: [line for line in proxy.server.errors if "the configuration was refused" in line]
        while not refused() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertEqual(len(refused()), 1, proxy.server.errors)
        self.assertEqual(proxy.ask(MESSAGES).status, 200)

    # Every agent got 401, although the section counts from the next start.
    # MP-84
    def test_agents_keep_their_tokens_when_the_section_of_models_is_removed(self):
        proxy = self.proxy(Provider(self), apis=(MESSAGES,))
        file = self.folder.joinpath("serve.yaml")
        file.write_text(file.read_text().partition("  models:\n")[0])
        proxy.server.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 20
        while not [line for line in proxy.server.errors if "counts from the next start" in line] and time.monotonic() < end:
            time.sleep(0.1)
        self.assertTrue([line for line in proxy.server.errors if "`models`" in line], proxy.server.errors)
        self.assertEqual(proxy.ask(MESSAGES).status, 200)

    # MP-69
    def test_requests_and_answers_are_committed_to_and_not_stored(self):
        provider = Provider(self)
        provider.otherwise = Answer(say("the answer is xylophone"))
        proxy = self.proxy(provider, apis=(MESSAGES,))
        proxy.ask(MESSAGES, "the question is glockenspiel", stream=True)
        record = proxy.audit()
        for name in ("request", "released"):
            self.assertEqual((record[name]["state"], record[name]["$sealed"][:7]), ("withheld", "sha256:"))
        proxy.stop()
        stored = b"".join(path.read_bytes() for path in (self.folder / "data").rglob("*") if path.is_file())
        self.assertNotIn(b"glockenspiel", stored)
        self.assertNotIn(b"xylophone", stored)

    # MP-86
    def test_readiness_depends_on_the_ledger_and_names_open_circuits(self):
        provider = Provider(self)
        provider.otherwise = Reply.error(500, b"{}")
        proxy = self.proxy(provider, apis=(MESSAGES,))
        for _ in range(5):
            self.assertEqual(proxy.ask(MESSAGES).status, 500)
        ready = proxy.send("GET", "/readyz")
        self.assertEqual((ready.status, ready.json()["open_circuits"]), (200, ["messages"]))
        refused = proxy.ask(MESSAGES)
        self.assertEqual((refused.status, len(provider.requests)), (503, 5))
        self.assertTrue(1 <= int(refused.header("retry-after")) <= 15)

    # MP-61
    def test_a_hook_that_sees_the_same_call_continues_it(self):
        provider = Provider(self)
        provider.otherwise = Answer(call("Bash", {"command": "ls"}, id="toolu_same"))
        agents = {"claude-code": "token-of-claude-0123456789"}
        proxy = self.proxy(provider, apis=(MESSAGES,), agents=agents)
        session = claude("PreToolUse")["session_id"]
        proxy.ask(MESSAGES, stream=True, headers=[("x-claude-code-session-id", session)])
        event = claude("PreToolUse", "toolu_same") | {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        for said in (event, event | {"hook_event_name": "PostToolUse", "tool_response": {"stdout": "a file", "stderr": ""}}):
            hook = subprocess.run([*HOST, BIN, "hook", "--agent", "claude-code", "--data-dir", str(self.folder / "data"), "--policy", str(self.folder / "policy.yaml")],
                                  input=json.dumps(said).encode(), capture_output=True, env=proxy.environment, cwd=self.folder, timeout=60)
            self.assertEqual(hook.returncode, 0, hook.stderr)
            self.assertNotIn(b"deny", hook.stdout)
        self.assertEqual([intent["tool_call_id"] for intent in proxy.entries("intent")], ["toolu_same"])
        records = proxy.entries("tool_audit", count=1)
        self.assertEqual([(record["tool_call_id"], record["outcome"]["kind"]) for record in records], [("toolu_same", "completed")])


if __name__ == "__main__":
    unittest.main()
