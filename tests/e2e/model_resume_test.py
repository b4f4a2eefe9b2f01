#!/usr/bin/env python3
"""Streams of stored responses that a client resumes."""
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

    # MP-2: a request that names no event goes to the provider unchanged.
    def test_other_queries_stay_as_they_are(self):
        proxy = self.proxy(self.provider, policy=guards(), apis=(RESPONSES,))
        self.provider.otherwise = Answer(say("hello"), call("now", {}))
        id = proxy.ask(RESPONSES).json()["id"]
        self.read(proxy, id, "include%5B%5D=a&include=b")
        self.assertEqual(self.provider.request().target, f"/v1/responses/{id}?include%5B%5D=a&include=b")

    # A name in another spelling resumed a stream behind what the checks had seen.
    # MP-65
    def test_a_place_to_resume_at_is_found_in_any_spelling(self):
        answer = Answer(say("the key is sk-abcdefgh and more"), grain=3)
        proxy = self.proxy(self.provider, policy=guard("output", "sk-[a-z]{8}", on_fail="redact"), apis=(RESPONSES,))
        self.provider.then(answer)
        id = json.loads(proxy.ask(RESPONSES, stream=True).events()[0][1])["response"]["id"]
        self.provider.request()
        for query in ("stream=true&starting%5Fafter=6", "stream=true&starting_after=%36"):
            self.provider.then(Reply(answer.stream(RESPONSES), type="text/event-stream"))
            self.assertNotIn("abcdefgh", str(self.read(proxy, id, query).events()))
            self.assertEqual(self.provider.request().target, f"/v1/responses/{id}?stream=true")
        for query in ("starting_after=x", "starting_after=+6", "starting_after=1&starting_after=2"):
            self.assertEqual(self.read(proxy, id, "stream=true&" + query).status, 400, query)


if __name__ == "__main__":
    unittest.main()
