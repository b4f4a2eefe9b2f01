#!/usr/bin/env python3
"""Secrets at random places of random answers of three model APIs: no byte of them reaches the client, the data folder or a log.

SALLYPORT_SECRET_ANSWERS sets the number of answers; a release is tested with 10,000.
"""
import base64
import http.client
import json
import os
import random
import re
import unittest
import urllib.parse

from model_answers import APIS, Answer, call, custom, frames, refuse, remote, say, search, strange, think
from model_provider import Provider, Reply
from model_support import ModelTest, guards

COUNT = int(os.environ.get("SALLYPORT_SECRET_ANSWERS", "300"))
VIEWS = {"views": ["json", "base64"], "patterns": ["AKIA[0-9A-Z]{16}"]}
LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# The forms that a secret can take when the policy covers it. Ordinary texts here have no capital letters.
FORMS = [lambda secret: secret, lambda secret: base64.b64encode(f"the key is {secret} ok".encode()).decode()]


class Planter:
    """Makes answers with one secret each, at a random place of a random channel."""

    def __init__(self, seed):
        self.chance = random.Random(seed)

    def words(self):
        return " ".join(self.chance.choice(["the", "quick", "brown", "fox", "says", "ä世界", "key", "ak", "is"]) for _ in range(self.chance.randrange(1, 8)))

    def secret(self):
        return "AKIA" + "".join(self.chance.choice(LETTERS) for _ in range(16))

    def text(self, planted):
        return f"{self.words()} {planted} {self.words()}" if planted else self.words()

    def part(self, planted):
        text = self.text(planted)
        kinds = [lambda: say(text), lambda: think(text), lambda: refuse(text), lambda: call("read_file", {"path": text, "n": [1, {"deep": self.words()}]}),
                 lambda: call("read_file", {"list": [self.words(), text]}), lambda: custom("patch", text), lambda: search(text, (self.words(), "https://example.com/a")),
                 lambda: search(self.words(), (text, "https://example.com/b")), lambda: remote("lookup", {"word": text}, self.words()), lambda: remote("lookup", {"word": "a"}, text),
                 lambda: say(self.words(), (self.words(), text, "https://example.com/c")), lambda: say(self.words(), (text, self.words(), "https://example.com/d")),
                 lambda: strange(text)]
        return self.chance.choice(kinds)()

    def answer(self, api):
        """Returns an answer with a secret in this form, and the text that must not appear."""
        while True:
            answer, secret, planted = self.any_answer()
            if any(planted in text for text in texts_of(answer.body(api))):
                return answer, secret, planted

    def any_answer(self):
        secret = self.secret()
        planted = self.chance.choice(FORMS)(secret)
        before = [self.part(None) for _ in range(self.chance.randrange(3))]
        parts = [*before, self.part(planted), *(self.part(None) for _ in range(self.chance.randrange(2)))]
        more = {"logprobs": self.chance.random() < 0.2, "with_usage": self.chance.random() < 0.5}
        if self.chance.random() < 0.1:
            more["strange_events"] = (self.text(planted),)
        if self.chance.random() < 0.15:
            more["choices"] = [[say(self.words())], parts, [say(self.words())]]
        return Answer(*parts, grain=self.chance.choice([None, 1, 3, self.chance]), seed=str(self.chance.random()), **more), secret, planted

    def spelled(self, text):
        """Returns JSON with some capital letters escaped; they occur only in strings."""
        share = self.chance.choice([0, 0.3, 1])
        return re.sub("[A-Z]", lambda found: f"\\u{ord(found.group()):04x}" if self.chance.random() < share else found.group(), text)

    def reply(self, answer, api, stream):
        if stream:
            body = frames([(name, self.spelled(data) if data != "[DONE]" else data) for name, data in answer.events(api)])
            return Reply.cut(body, [self.chance.randrange(len(body)) for _ in range(self.chance.randrange(30))])
        return Reply(self.spelled(answer.json(api).decode()).encode(), framing="length")


def texts_of(value):
    """Returns every string of a value, decoded."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts_of(one)
    elif isinstance(value, dict):
        for name, one in value.items():
            yield name
            yield from texts_of(one)


def everything_said(answered, api):
    """Returns the bytes, every decoded string, the strings of a kind in the order of their events, and the whole object."""
    seen = [answered.text()]
    if answered.header("content-type").startswith("text/event-stream"):
        joined = {}
        for _, data in answered.events():
            if data != "[DONE]":
                event = json.loads(data)
                seen += texts_of(event)
                for place, text in deltas(event):
                    joined[place] = joined.get(place, "") + text
        seen += joined.values()
        object = answered.object(api)
    else:
        object = answered.json()
    seen += texts_of(object)
    return seen


def deltas(event):
    """Returns place and text of the addition that an event makes."""
    if event.get("type") == "content_block_delta":
        for name, text in event["delta"].items():
            if name != "type" and isinstance(text, str):
                yield (event["index"], name), text
    elif isinstance(event.get("delta"), str):
        yield (event["type"], event.get("item_id")), event["delta"]
    for choice in event.get("choices", []):
        for name, text in choice.get("delta", {}).items():
            if isinstance(text, str):
                yield (choice["index"], name), text
            for one in text if name == "tool_calls" else []:
                for kind in ("function", "custom"):
                    for field, piece in one.get(kind, {}).items():
                        yield (choice["index"], one["index"], field), piece
        for one in ((choice.get("logprobs") or {}).get("content") or []):
            yield (choice["index"], "logprobs"), one["token"]


class Planted(ModelTest):
    def leaks(self, secret, planted, seen):
        """Returns parts of the secret, in either form, of six letters or more."""
        pieces = {form[at:at + 6] for form in (secret,) for at in range(len(form) - 5)}
        if planted != secret:
            middle = planted[16:-8]  # the groups that contain only letters of the secret
            pieces |= {middle[at:at + 6] for at in range(len(middle) - 5)}
        return [piece for piece in pieces for text in seen if piece in text]

    def run_answers(self, action, count, seed):
        planter = Planter(seed)
        provider = Provider(self)
        checks = [{"type": "regex", "stage": stage, "id": f"keys-{stage}", "on_fail": action, **VIEWS} for stage in ("output", "tool_use", "tool_output")]
        proxy = self.proxy(provider, policy=guards(*checks))
        where = urllib.parse.urlsplit(proxy.url)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
        self.addCleanup(connection.close)
        secrets = []
        for number in range(count):
            api, stream = planter.chance.choice(APIS), planter.chance.random() < 0.7
            answer, secret, planted = planter.answer(api)
            secrets.append(secret)
            provider.then(planter.reply(answer, api, stream))
            answered = proxy.ask(api, stream=stream, connection=connection)
            with self.subTest(number=number, api=api, stream=stream, secret=secret, parts=answer.choices):
                self.assertEqual((answered.status, answered.whole), (200, True), answered.body)
                self.assertEqual(self.leaks(secret, planted, everything_said(answered, api)), [], answered.text())
        connection.close()
        self.assertEqual(len(proxy.entries(count=count)), count)
        proxy.stop()
        self.clean(secrets, "".join(proxy.server.errors).encode(), "the log")
        for file in sorted(self.data.rglob("*")):
            if file.is_file():
                self.clean(secrets, file.read_bytes(), file.name)
        return proxy

    def clean(self, secrets, data, where):
        found = [secret for secret in secrets if secret.encode() in data or secret[:12].encode() in data or secret[8:].encode() in data]
        self.assertEqual(found, [], where)

    # MP-41, MP-44, MP-51, MP-90
    def test_redacted_secrets_stay_here(self):
        self.run_answers("redact", COUNT // 2, 1)

    # MP-41, MP-44, MP-45, MP-90
    def test_blocked_secrets_stay_here(self):
        self.run_answers("block", COUNT - COUNT // 2, 2)


if __name__ == "__main__":
    unittest.main()
