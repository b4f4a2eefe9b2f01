#!/usr/bin/env python3
"""The same bytes of a provider, cut in every way, give the client the same events, and both forms of an answer the same object.

SALLYPORT_ALL_CUTS=1 cuts each stream at every byte and in a thousand random ways; without it a sample does.
"""
import http.client
import os
import random
import unittest
import urllib.parse

import model_answers
from model_answers import APIS, Answer, call, say, think
from model_provider import Provider, Reply
from model_support import ModelTest, comparable, guards, in_turn, without_ids

ALL = bool(os.environ.get("SALLYPORT_ALL_CUTS"))
CHECKS = [{"type": "regex", "stage": "output", "id": "words", "on_fail": "redact", "patterns": ["(?i)quick|forty-[a-z]+", "help with"]},
          {"type": "regex", "stage": "output", "id": "never", "on_fail": "block", "patterns": ["WITHHELD-[0-9]{3}"]},
          {"type": "regex", "stage": "tool_use", "id": "paths", "on_fail": "redact", "patterns": ["/etc/[a-z]+"]},
          {"type": "tool_pattern", "stage": "tool_use", "id": "no-write", "tools": ["write_*"]},
          {"type": "regex", "stage": "tool_output", "id": "results", "on_fail": "redact", "patterns": ["animal"]}]


def answers():
    """The repertoire, and messages that a check ends."""
    return {**model_answers.repertoire(),
            "blocked": Answer(say("Now this WITHHELD-123 is not for you."), seed="blocked"),
            "blocked thought": Answer(think("First a thought with WITHHELD-456 in it."), say("Then an end."), call("now", {}), seed="late"),
            "blocked choice": Answer(choices=[[say("This one is fine.")], [say("This WITHHELD-789 is not.")], [say("And this is quick.")]], seed="choice")}


class Cuts(ModelTest):
    def through(self, api, body):
        """What a client gets when the provider sends these pieces."""
        self.provider.then(body)
        answered = self.front.ask(api, stream=True, connection=self.connection)
        self.assertEqual((answered.status, answered.whole), (200, True), answered.body)
        return without_ids(answered.events())

    def start(self, policy):
        self.provider = Provider(self)
        self.front = self.proxy(self.provider, policy=policy)
        where = urllib.parse.urlsplit(self.front.url)
        self.connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        self.addCleanup(self.connection.close)

    # MP-39, MP-42, MP-43
    def test_every_way_of_cutting_the_bytes_gives_the_same_events(self):
        chance = random.Random(39)
        self.start(guards(*CHECKS))
        for api in APIS:
            for name, answer in answers().items():
                body = answer.stream(api)
                places = range(1, len(body)) if ALL else chance.sample(range(1, len(body)), 2)
                ways = [[place] for place in places] + [range(len(body))]
                ways += [chance.sample(range(1, len(body)), chance.randrange(2, min(40, len(body)))) for _ in range(1000 if ALL else 1)]
                with self.subTest(api=api, answer=name):
                    whole = self.through(api, Reply.cut(body, []))
                    if name == "text":
                        self.assertNotEqual(whole, without_ids(answer.events(api)))  # something was changed, so the comparison means something
                    for cuts in ways:
                        self.assertEqual(self.through(api, Reply.cut(body, cuts)), whole, f"cut at {list(cuts)[:50]}")

    # MP-38, MP-42
    def test_an_unstreamed_answer_is_what_the_stream_adds_up_to(self):
        self.start(guards(*CHECKS))
        for api in APIS:
            for name, answer in answers().items():
                answer.with_usage = True
                self.provider.then(answer, answer)
                streamed = self.front.ask(api, stream=True).object(api)
                whole = self.front.ask(api).object(api)
                with self.subTest(api=api, answer=name):
                    self.assertEqual(without_ids(comparable(api, streamed)), without_ids(comparable(api, whole)))

    # MP-39
    def test_with_an_empty_policy_the_events_are_those_of_the_provider_for_every_cut(self):
        chance = random.Random(40)
        self.start(guards())
        for api in APIS:
            for name, answer in answers().items():
                body = answer.stream(api)
                for cuts in (range(len(body)), chance.sample(range(1, len(body)), min(30, len(body) - 1))):
                    with self.subTest(api=api, answer=name):
                        self.assertEqual(in_turn(api, self.through(api, Reply.cut(body, cuts))), without_ids(in_turn(api, answer.events(api))))


if __name__ == "__main__":
    unittest.main()
