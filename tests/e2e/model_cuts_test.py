#!/usr/bin/env python3
"""The same bytes of a provider, cut in every way, give the client the same events, and both forms of an answer the same object.

Through the program a sample of the cuts is tried. tests/unit/llm/every_cut_test.cc tries every cut inside one process, with the streams of
tests/golden/model/streams.jsonl; `python3 tests/e2e/model_cuts_test.py --record` rewrites that file.
"""
import copy
import http.client
import json
import pathlib
import random
import sys
import unittest
import urllib.parse

import model_answers
from model_answers import APIS, CHAT, Answer, call, say, think
from model_provider import Provider, Reply
from model_support import ModelTest, comparable, guards, in_turn, without_ids

RECORDED = pathlib.Path(__file__).resolve().parent.parent / "golden" / "model" / "streams.jsonl"
# The words and tools to which the checks and the Governor of tests/unit/llm/fake_doors.h react.
ACTED_ON = {"quick": "SECRET", "forty-two": "SECRET", "help with": "SECRET", "WITHHELD": "FORBIDDEN", "read_file": "rewritten_tool", "write_file": "refused_tool"}
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


def acted_on(value):
    """The repertoire with words and tools to which a fake door reacts."""
    if isinstance(value, str):
        for ours, theirs in ACTED_ON.items():
            value = value.replace(ours, theirs)
        return value
    if isinstance(value, dict):
        return {name: acted_on(member) for name, member in value.items()}
    return type(value)(acted_on(element) for element in value) if isinstance(value, (list, tuple)) else value


def recorded():
    """Returns one line for each API and answer: its stream, in deltas of seven characters, so that words span several deltas."""
    lines = []
    for api in APIS:
        for name, plain in answers().items():
            answer = copy.copy(plain)
            answer.choices = [acted_on(parts) for parts in plain.choices]
            answer.parts, answer.grain = answer.choices[0], 7
            lines.append(json.dumps({"api": api, "name": name, "choices": len(answer.choices) if api == CHAT else 1, "json": name == "json",
                                     "stream": answer.stream(api).decode()}, ensure_ascii=False))
    return "\n".join(lines) + "\n"


class Cuts(ModelTest):
    def through(self, api, body):
        """Returns the client's answer when the provider sends these pieces."""
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
                ways = [[place] for place in chance.sample(range(1, len(body)), 2)] + [range(len(body))]
                ways.append(chance.sample(range(1, len(body)), chance.randrange(2, min(40, len(body)))))
                with self.subTest(api=api, answer=name):
                    whole = self.through(api, Reply.cut(body, []))
                    if name == "text":
                        self.assertNotEqual(whole, without_ids(answer.events(api)))  # a check changed the answer, so the comparison is meaningful
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

    # MP-39: the streams that one process cuts at every byte are the answers of this file.
    def test_the_recorded_streams_are_current(self):
        self.assertTrue(RECORDED.read_text() == recorded(), f"write it anew: python3 {pathlib.Path(__file__).name} --record")


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        RECORDED.write_text(recorded())
    else:
        unittest.main()
