#!/usr/bin/env python3
"""The official clients from npm, against the scripted provider and through the proxy.

With an empty policy they see the same. With a block, a redaction, a refused or rewritten call and with errors they see the shapes of the
second table of section 5 of the specification, and they repeat no refusal. Without a registry these tests are skipped with a loud message.
"""
import unittest

from model_answers import MESSAGES, Answer, call, repertoire, say, think
from model_clients_support import Client, by_name, cases
from model_provider import RESET, STREAM, Provider, Reply
from model_support import ModelTest, guard, guards

OPENAI = ["chat", "chat_stream", "chat_helper", "chat_parse", "chat_run", "responses", "responses_stream", "responses_helper", "responses_parse", "embeddings"]
ANTHROPIC = ["messages", "messages_stream", "messages_helper", "beta", "beta_helper", "runner", "count"]
AI = [f"{model}_{way}" for model in ("responses", "chat", "compatible", "messages") for way in ("generate", "stream")]
WITHHELD = "[This answer was withheld by a guardrail.]"
REFUSED = "[This tool call was refused by a guardrail.]"
NO_WRITE = {"type": "tool_pattern", "stage": "tool_use", "id": "no-write", "tools": ["write_*"]}
ANSWERS = {
    "secret": Answer(say("The code is SECRET-123 and more text."), seed="secret"),
    "thought": Answer(think("I know that it is SECRET-123."), say("I say nothing."), seed="thought"),
    "both": Answer(say("I look."), call("read_file", {"path": "a"}), call("write_file", {"path": "b"}), call("now", {}), seed="both"),
    "alone": Answer(call("write_file", {"path": "b"}), seed="alone"),
    "rewritten": Answer(call("read_file", {"path": "SECRET-123", "n": 1}), seed="rewritten"),
}


def text_of(message):
    """The text of a message of Anthropic's API, or of a response."""
    parts = message["content"] if "content" in message else [part for item in message["output"] for part in item.get("content", [])]
    return "".join(part.get("text", "") for part in parts)


def ordered(seen):
    """Returns the events in every order that is promised while calls are held: each choice has its own order."""
    events = seen.get("value")
    if isinstance(events, list) and events and isinstance(events[0], dict) and "choices" in events[0]:
        return {"value": sorted(events, key=lambda chunk: chunk["choices"][0]["index"] if chunk["choices"] else 1000)}
    return seen


class Unchanged(ModelTest):
    def compare(self, name, ways):
        """Runs every client function with every answer, with and without the proxy."""
        client = Client(self, name)
        provider = Provider(self, otherwise=by_name())
        proxy = self.proxy(provider)
        asked = cases(ways, repertoire())
        direct = client.run(provider.url, asked)
        plain = [request.body for request in provider.requests]
        provider.clear()
        through = client.run(proxy.url, asked, proxy.token)
        for one, expected, seen in zip(asked, direct, through):
            with self.subTest(how=one["how"], ask=one["ask"]):
                self.assertEqual(ordered(seen), ordered(expected))
        self.assertEqual([request.body for request in provider.requests], plain)
        self.assertEqual(sum("value" in seen for seen in through) > len(asked) // 2, True)

    def test_openai(self):
        self.compare("openai", OPENAI)

    def test_anthropic(self):
        self.compare("anthropic", ANTHROPIC)

    def test_ai(self):
        self.compare("ai", AI)


class Changed(ModelTest):
    def see(self, name, ways, ask, policy, provider=None, **more):
        """Returns one answer as each client function sees it, and checks the number of requests at the provider."""
        provider = provider or Provider(self, otherwise=by_name(ANSWERS))
        provider.clear()
        proxy = self.proxy(provider, policy=policy)
        seen = Client(self, name).run(proxy.url, cases(ways, [ask], **more), proxy.token)
        self.assertEqual(len(provider.requests), len(ways), "a client repeated its request")
        self.proxy_used = proxy
        return [one["value"] for one in seen]

    # Row `block`, streamed and not; MP-38, MP-45.
    def test_a_block_ends_the_message(self):
        policy = guard("output", "SECRET-[0-9]+")
        text = "The code is " + WITHHELD
        for message in self.see("anthropic", ["messages", "messages_helper", "beta", "beta_helper"], "secret", policy):
            self.assertEqual((text_of(message), message["stop_reason"], message["stop_sequence"]), (text, "refusal", None))
            self.assertEqual((message["stop_details"]["type"], message["stop_details"]["category"]), ("refusal", None))
            self.assertTrue(message["stop_details"]["explanation"])
        for completion in self.see("openai", ["chat", "chat_helper"], "secret", policy):
            choice = completion["choices"][0]
            self.assertEqual((choice["message"]["content"], choice["finish_reason"]), (text, "content_filter"))
        for response in self.see("openai", ["responses", "responses_helper"], "secret", policy):
            self.assertEqual((text_of(response), response["status"], response["incomplete_details"]), (text, "incomplete", {"reason": "content_filter"}))
            self.assertEqual(response["output"][-1]["status"], "incomplete")
        for seen in self.see("ai", AI, "secret", policy):
            self.assertEqual((seen["text"], seen["finish"]), (text, "content-filter"))
        self.assertEqual({entry["outcome"] for entry in self.proxy_used.entries(count=8)}, {"blocked"})

    # Row `block`: after reasoning the notice is a new block or item. Reasoning without a signature is cut where the match begins.
    def test_a_block_in_reasoning_says_so_in_a_text(self):
        policy = guards({"type": "regex", "stage": "output", "id": "test", "patterns": ["SECRET-[0-9]+"]}, model={"signed_reasoning": "end"})
        for message in self.see("anthropic", ["messages", "messages_helper"], "thought", policy):
            self.assertEqual((text_of(message), message["stop_reason"]), (WITHHELD, "refusal"))
        for response in self.see("openai", ["responses", "responses_helper"], "thought", policy):
            self.assertEqual((text_of(response), response["status"]), (WITHHELD, "incomplete"))
            self.assertNotIn("SECRET", str(response))

    # Row `signed block with a hit`; MP-49.
    def test_a_signed_block_with_a_hit_is_left_out(self):
        for message in self.see("anthropic", ["messages", "messages_helper"], "thought", guard("output", "SECRET-[0-9]+")):
            self.assertEqual((message["content"], message["stop_reason"]), ([{"type": "text", "text": "I say nothing."}], "end_turn"))

    # Row `redact`.
    def test_a_redaction_stands_in_the_text(self):
        policy = guard("output", "SECRET-[0-9]+", on_fail="redact")
        text = "The code is [redacted] and more text."
        for message in self.see("anthropic", ["messages", "messages_helper"], "secret", policy):
            self.assertEqual((text_of(message), message["stop_reason"]), (text, "end_turn"))
        for completion in self.see("openai", ["chat", "chat_helper"], "secret", policy):
            self.assertEqual((completion["choices"][0]["message"]["content"], completion["choices"][0]["finish_reason"]), (text, "stop"))
        for response in self.see("openai", ["responses", "responses_helper"], "secret", policy):
            self.assertEqual((text_of(response), response["output_text"], response["status"]), (text, text, "completed"))
        for seen in self.see("ai", AI, "secret", policy):
            self.assertEqual((seen["text"], seen["finish"]), (text, "stop"))

    def notice(self, text):
        self.assertIn(REFUSED, text)
        self.assertIn("guardrail check 'no-write' refused this call (guardrail.tool_pattern)", text)

    # Row `client call refused, others left`; MP-57.
    def test_a_refused_call_leaves_the_others(self):
        policy = guards(NO_WRITE)
        for message in self.see("anthropic", ["messages", "messages_helper"], "both", policy):
            self.assertEqual([block["type"] for block in message["content"]], ["text", "tool_use", "text", "tool_use"])
            self.notice(message["content"][2]["text"])
            self.assertEqual((message["content"][1]["input"], message["content"][3]["name"], message["stop_reason"]), ({"path": "a"}, "now", "tool_use"))
        for completion in self.see("openai", ["chat", "chat_helper"], "both", policy):
            choice = completion["choices"][0]
            self.notice(choice["message"]["content"])
            self.assertEqual([one["function"]["name"] for one in choice["message"]["tool_calls"]], ["read_file", "now"])
            self.assertEqual(choice["finish_reason"], "tool_calls")
        for response in self.see("openai", ["responses", "responses_helper"], "both", policy):
            self.assertEqual([item["type"] for item in response["output"]], ["message", "function_call", "message", "function_call"])
            self.notice(response["output"][2]["content"][0]["text"])
            self.assertEqual(response["status"], "completed")
        for seen in self.see("ai", AI, "both", policy):
            self.assertEqual(([one["name"] for one in seen["calls"]], seen["finish"]), (["read_file", "now"], "tool-calls"))
            self.notice(seen["text"])

    # Row `client call refused, none left`.
    def test_a_refused_call_alone_ends_the_turn(self):
        policy = guards(NO_WRITE)
        for message in self.see("anthropic", ["messages", "messages_helper"], "alone", policy):
            self.assertEqual(([block["type"] for block in message["content"]], message["stop_reason"]), (["text"], "end_turn"))
            self.notice(text_of(message))
        for completion in self.see("openai", ["chat", "chat_helper"], "alone", policy):
            choice = completion["choices"][0]
            self.assertEqual((choice["message"].get("tool_calls"), choice["finish_reason"]), (None, "stop"))
            self.notice(choice["message"]["content"])
        for response in self.see("openai", ["responses", "responses_helper"], "alone", policy):
            self.assertEqual(([item["type"] for item in response["output"]], response["status"]), (["message"], "completed"))
            self.notice(text_of(response))
        for seen in self.see("ai", AI, "alone", policy):
            self.assertEqual((seen["calls"], seen["finish"]), ([], "stop"))
            self.notice(seen["text"])

    # Row `client call rewritten`; MP-58.
    def test_a_rewritten_call_has_the_new_input_under_its_id(self):
        policy = guard("tool_use", "SECRET-[0-9]+", on_fail="redact")
        new = {"path": "[redacted]", "n": 1}
        for message in self.see("anthropic", ["messages", "messages_helper"], "rewritten", policy):
            self.assertEqual([(block["type"], block["input"], block["id"]) for block in message["content"]],
                             [("tool_use", new, ANSWERS["rewritten"].body(MESSAGES)["content"][0]["id"])])
        for way in ("chat", "responses"):
            for seen in self.see("ai", [f"{way}_generate", f"{way}_stream"], "rewritten", policy):
                self.assertEqual([(one["name"], one["input"]) for one in seen["calls"]], [("read_file", new)])

    # The runners execute only calls that were handed out.
    def test_tool_runners_run_what_is_left(self):
        provider = Provider(self, otherwise=by_name({**ANSWERS, "one": Answer(call("read_file", {"path": "SECRET-1"}), seed="one")}))
        proxy = self.proxy(provider, policy=guard("tool_use", "SECRET-[0-9]+", on_fail="redact"))
        for name, way in (("anthropic", "runner"), ("openai", "chat_run")):
            seen = Client(self, name).run(proxy.url, cases([way], ["one"]), proxy.token)[0]["value"]
            self.assertEqual(seen["ran"], [{"path": "[redacted]"}])
            self.assertIn("The tool said it.", str(seen["last"]))


class Errors(ModelTest):
    def see(self, name, ways, proxy):
        seen = Client(self, name).run(proxy.url, cases(ways, ["hello FORBIDDEN"]), proxy.token)
        return [one["error"] for one in seen]

    # Row `refused before the first byte`; MP-28, MP-75.
    def test_a_refused_prompt_is_a_permission_error_that_no_client_repeats(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guard("input", "FORBIDDEN", replacement="Not this word."))
        for error in self.see("anthropic", ["messages", "messages_stream", "messages_helper", "beta", "count"], proxy):
            self.assertEqual((error["name"], error["status"], error["type"]), ("PermissionDeniedError", 403, "permission_error"))
            self.assertIn("Not this word.", error["message"])
        for error in self.see("openai", ["chat", "chat_stream", "chat_helper", "responses", "responses_stream", "responses_helper"], proxy):
            self.assertEqual((error["name"], error["status"], error["type"]), ("PermissionDeniedError", 403, "permission_error"))
            self.assertIn("Not this word.", error["message"])
        for error in self.see("ai", AI, proxy):
            self.assertEqual((error["name"], error["status"], error["retryable"], error["message"]), ("AI_APICallError", 403, False, "Not this word."))
        self.assertEqual(provider.requests, [])
        self.assertEqual(len(proxy.entries(count=19)), 19)  # one for each case: nothing was repeated

    # MP-24: a refused key of the proxy; MP-81: no provider at all. Clients repeat neither.
    def test_failures_of_the_proxy_are_not_repeated(self):
        provider = Provider(self, otherwise=Reply.error(401, {"error": {"message": "bad key"}}))
        proxy = self.proxy(provider)
        for name, ways in (("anthropic", ["messages", "messages_stream"]), ("openai", ["chat", "chat_stream", "responses", "responses_stream"])):
            for error in self.see(name, ways, proxy):
                self.assertEqual(error["status"], 403)
        self.assertEqual(len(provider.requests), 6)

    # MP-75: clients repeat what the provider asks them to repeat.
    def test_an_error_of_the_provider_is_the_clients_to_repeat(self):
        busy = Reply.error(429, {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down", "param": None, "code": None}}, [("retry-after-ms", "1")])
        done = 0
        for name, way in (("anthropic", "messages"), ("openai", "chat"), ("openai", "responses")):
            provider = Provider(self, busy, busy)
            proxy = self.proxy(provider)
            self.assertIn("value", Client(self, name).run(proxy.url, cases([way], ["hello"]), proxy.token)[0])
            done += 3
            self.assertEqual([entry["client_retry"] for entry in proxy.entries(count=done)[-3:]], [0, 1, 2])

    # Row `failure inside a stream`.
    def test_a_stream_that_breaks_is_an_error_for_the_client(self):
        provider = Provider(self, otherwise=lambda request: Reply(*broken(request.api), type=STREAM))
        proxy = self.proxy(provider)
        for error in self.see("anthropic", ["messages_stream", "messages_helper"], proxy):
            self.assertEqual((error["name"], error["type"]), ("APIError", "api_error"))
        for error in self.see("openai", ["chat_stream", "chat_helper", "responses_stream", "responses_helper"], proxy):
            self.assertEqual(error["name"], "APIError")
        self.assertEqual(len(provider.requests), 6)
        self.assertEqual({entry["outcome"] for entry in proxy.entries(count=6)}, {"failed"})


def broken(api):
    """Sends some events, then nothing."""
    whole = [piece + b"\n\n" for piece in Answer(say("one two three four")).stream(api).split(b"\n\n") if piece]
    return [*whole[:5], RESET]


if __name__ == "__main__":
    unittest.main()
