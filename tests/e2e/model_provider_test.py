#!/usr/bin/env python3
"""Tests the scripted provider itself: both forms of each answer are equal, and each fault behaves as its name says."""
import json
import unittest

import model_answers
from model_answers import APIS, CHAT, MESSAGES, PATHS, RESPONSES, Answer, say
from model_provider import CLOSE, RESET, STREAM, Provider, Reply, refusing
from model_support import question, send


def expected(api, answer):
    """Returns the object of an answer, as far as a stream can express it."""
    body = json.loads(answer.json(api))
    if api == CHAT:
        for choice in body["choices"]:  # a stream has no empty list
            if not choice["message"]["annotations"]:
                del choice["message"]["annotations"]
    return body


class ScriptedProvider(unittest.TestCase):
    def test_the_events_of_each_answer_add_up_to_its_object(self):
        for name, answer in model_answers.repertoire().items():
            for api in APIS:
                with self.subTest(name=name, api=api):
                    answer.with_usage = True
                    self.assertEqual(model_answers.accumulate(api, answer.events(api)), expected(api, answer))

    def test_it_answers_in_the_form_that_is_asked_for_and_remembers_the_question(self):
        provider = Provider(self)
        for api in APIS:
            for stream in (False, True):
                body = json.dumps(question(api, stream=stream)).encode()
                got = send(provider.url, "POST", PATHS[api] + "?beta=true", body, [("X-First", "1"), ("x-second", "2"), ("X-First", "3")])
                self.assertEqual((got.status, got.header("content-type")), (200, STREAM if stream else "application/json"))
                self.assertEqual(got.body, provider.otherwise.stream(api) if stream else provider.otherwise.json(api))
                asked = provider.requests[-1]
                self.assertEqual((asked.target, asked.body, asked.header("x-first")), (PATHS[api] + "?beta=true", body, ["1", "3"]))
                self.assertEqual([name for name, _ in asked.headers if name.lower().startswith("x-")], ["X-First", "x-second", "X-First"])

    def test_replies_come_in_turn_and_faults_are_faults(self):
        body = Answer(say("one two three")).stream(MESSAGES)
        provider = Provider(self, Reply.cut(body, range(len(body))), Reply(body[:100], RESET, type=STREAM), Reply(body[:100], CLOSE, type=STREAM),
                            Reply(before=CLOSE), Reply.error(429, {"error": {}}, [("retry-after", "7")]))
        answers = [send(provider.url, "POST", PATHS[MESSAGES], question(MESSAGES, stream=True)) for _ in range(3)]
        self.assertEqual([(one.body, one.whole) for one in answers[:1]], [(body, True)])
        self.assertEqual([one.whole for one in answers[1:]], [False, False])
        with self.assertRaises(OSError):
            send(provider.url, "POST", PATHS[MESSAGES], question(MESSAGES))
        got = send(provider.url, "POST", PATHS[MESSAGES], question(MESSAGES))
        self.assertEqual((got.status, got.header("retry-after")), (429, "7"))
        with self.assertRaises(OSError):
            send(refusing(), "POST", PATHS[RESPONSES], question(RESPONSES))


if __name__ == "__main__":
    unittest.main()
