#!/usr/bin/env python3
"""JSON answers: clients read strings unescaped, so the checks see them unescaped."""
import json
import unittest

from model_answers import APIS, CHAT, MESSAGES, RESPONSES, Answer, say
from model_provider import Provider
from model_support import ModelTest, guards, question

ESCAPED = r'{"say": "the \u0073\u0077ordfish is \"here\"", "n": 1}'
FORMATS = {MESSAGES: {"output_format": {"type": "json_schema", "schema": {"type": "object"}}},
           CHAT: {"response_format": {"type": "json_object"}},
           RESPONSES: {"text": {"format": {"type": "json_object"}}}}


def word(on_fail, **more):
    return guards({"type": "blocklist", "stage": "output", "id": "fish", "words": ["swordfish"], "on_fail": on_fail, **more})


def text_in(api, whole):
    if api == MESSAGES:
        return "".join(block.get("text", "") for block in whole["content"])
    if api == CHAT:
        return whole["choices"][0]["message"]["content"] or ""
    return "".join(part.get("text", "") for item in whole["output"] for part in item.get("content", []))


class JsonAnswers(ModelTest):
    def answers(self, policy, with_format):
        provider = Provider(self)
        provider.otherwise = Answer(say(ESCAPED))
        proxy = self.proxy(provider, policy=policy)
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    answer = proxy.ask(api, {**question(api, stream=stream), **(FORMATS[api] if with_format else {})})
                    self.assertEqual(answer.status, 200)
                    yield text_in(api, answer.object(api)), proxy
        proxy.kill()

    # MP-52
    def test_a_word_that_is_escaped_in_json_is_taken_out_and_the_json_stays_whole(self):
        for text, proxy in self.answers(word("redact", replacement='"out"'), True):
            self.assertEqual(json.loads(text), {"say": 'the "out" is "here"', "n": 1})
            self.assertNotIn("json_view", proxy.entries()[-1]["degraded"])

    # MP-52
    def test_a_word_that_is_escaped_in_json_blocks_the_answer(self):
        for text, _ in self.answers(word("block"), True):
            self.assertNotIn("ordfish", text)

    # Text that is not JSON is checked literally.
    def test_without_a_json_format_a_text_is_what_it_is(self):
        for text, _ in self.answers(word("block"), False):
            self.assertEqual(text, ESCAPED)


if __name__ == "__main__":
    unittest.main()
