#!/usr/bin/env python3
"""Streams of stored responses that a client takes up again."""
import json
import unittest

from model_answers import RESPONSES, Answer, call, say
from model_provider import Provider, Reply
from model_support import ModelTest, guard, guards


class ResumedStreams(ModelTest):
    def setUp(self):
        super().setUp()
        self.provider = Provider(self)

    def read(self, proxy, id, query):
        return proxy.send("GET", f"/v1/responses/{id}?{query}", None, [("authorization", f"Bearer {proxy.token}")])

    # MP-65
    def test_a_resumed_stream_is_the_rest_of_the_first_reading(self):
        answer = Answer(say("the key is sk-abcdefgh and more"), say("the end"), grain=3)
        proxy = self.proxy(self.provider, policy=guard("output", "sk-[a-z]{8}", on_fail="redact"), apis=(RESPONSES,))
        self.provider.then(answer)
        first = proxy.ask(RESPONSES, stream=True).events()
        id = json.loads(first[0][1])["response"]["id"]
        for after in (0, 5, len(first) - 2):
            self.provider.then(Reply(answer.stream(RESPONSES), type="text/event-stream"))
            rest = self.read(proxy, id, f"stream=true&starting_after={after}&include_obfuscation=false")
            self.assertEqual(rest.events(), first[after + 1:])
            self.assertEqual(self.provider.request().target, f"/v1/responses/{id}?stream=true&include_obfuscation=false")
        self.assertNotIn("sk-abc", str(first))

    # MP-2: what names no event goes to the provider as it came.
    def test_other_queries_stay_as_they_are(self):
        proxy = self.proxy(self.provider, policy=guards(), apis=(RESPONSES,))
        self.provider.otherwise = Answer(say("hello"), call("now", {}))
        id = proxy.ask(RESPONSES).json()["id"]
        self.read(proxy, id, "include%5B%5D=a&starting_after=x")
        self.assertEqual(self.provider.request().target, f"/v1/responses/{id}?include%5B%5D=a&starting_after=x")


if __name__ == "__main__":
    unittest.main()
