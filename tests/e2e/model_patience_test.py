#!/usr/bin/env python3
"""Providers that never begin, slow clients, and a proxy that is killed while it is busy."""
import concurrent.futures
import http.client
import json
import os
import random
import re
import socket
import time
import unittest
import urllib.parse

from model_answers import APIS, CHAT, MESSAGES, MODELS, PATHS, Answer, say
from model_provider import STALL, STREAM, Provider, Reply, wait
from model_support import ModelTest, guards, question

LIMIT = 1_000_000  # tokens of a budget


class Patience(ModelTest):
    # MP-78, MP-81
    def test_a_provider_that_never_begins_gives_504_and_one_record(self):
        provider = Provider(self, otherwise=Reply(before=STALL))
        proxy = self.proxy(provider, model_settings="    answer_s: 1\n    silence_s: 1\n")
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    answered = proxy.ask(api, stream=stream)
                    self.assertEqual((answered.status, answered.header("x-should-retry")), (504, "false"), answered.body)
                    self.assertIn("did not answer in time", answered.json()["error"]["message"])
        entries = proxy.entries(count=2 * len(APIS))
        self.assertEqual([(entry["outcome"], entry["status"]) for entry in entries], [("failed", 504)] * 2 * len(APIS))

    # MP-78, MP-79, MP-80: a head without an end, a body without an end, an answer that is not read.
    def test_slow_clients_are_left_behind_and_do_not_stop_the_others(self):
        provider = Provider(self)
        proxy = self.proxy(provider, apis=[CHAT])
        where = urllib.parse.urlsplit(proxy.url)
        folder = f"/proc/{proxy.server.process.pid}/fd"
        before = len(os.listdir(folder))
        body = json.dumps(question(CHAT, stream=True)).encode()
        head = (f"POST {PATHS[CHAT]} HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {proxy.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        peers = {name: [socket.create_connection((where.hostname, where.port), 60) for _ in range(60)] for name in ("head", "body", "answer")}
        self.addCleanup(lambda: [peer.close() for some in peers.values() for peer in some])
        for peer in peers["head"]:
            peer.sendall(head[:30])
        for peer in peers["body"]:
            peer.sendall(head + body[:10])
        for peer in peers["answer"]:
            peer.sendall(head + body)
        for _ in range(20):  # each slow client sends a byte now and then; the others are served at once
            for peer in peers["head"] + peers["body"]:
                peer.sendall(b"a")
            self.assertEqual(proxy.ask(CHAT).status, 200)
        for peer in peers["head"]:  # the time for a head is over
            peer.settimeout(30)
            self.assertEqual(peer.recv(1000), b"")
        for some in peers.values():
            for peer in some:
                peer.close()
        end = time.monotonic() + 30
        while len(os.listdir(folder)) > before + 5 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLessEqual(len(os.listdir(folder)), before + 5)
        entries = proxy.entries(count=140)  # a head without an end is no request; a body without an end is one that its client left
        self.assertEqual((len(entries), len({entry["request_id"] for entry in entries})), (140, 140))
        self.assertLessEqual({entry["outcome"] for entry in entries}, {"completed", "cancelled"})


class Killed(ModelTest):
    def load(self, proxy, chance):
        """Runs eight clients at once, until the proxy has ended."""
        def ask(_):
            try:
                return proxy.ask(MESSAGES, stream=chance.random() < 0.7).status
            except (OSError, http.client.HTTPException, AssertionError):
                return None
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(ask, number) for number in range(24)]
            time.sleep(chance.uniform(0.05, 0.6))
            proxy.kill()
            return [one.result() for one in asked]

    # MP-66, MP-68, MP-72
    def test_each_request_of_a_killed_proxy_has_one_record_and_budgets_are_what_the_records_say(self):
        chance = random.Random(72)
        events = [piece + b"\n\n" for piece in Answer(say("one two three four five six seven eight"), usage=(25, 40)).stream(MESSAGES).split(b"\n\n") if piece]
        slow = Reply(*[step for event in events for step in (event, wait(0.02))], type=STREAM)
        whole = Answer(say("one two"), usage=(25, 40))
        provider = Provider(self, otherwise=lambda request: slow if request.json().get("stream") else whole)
        proxy = self.proxy(provider, policy=guards(model={"budgets": [{"agent": "*", "per": "month", "tokens": LIMIT}]}), apis=[MESSAGES])
        for _ in range(5):
            self.load(proxy, chance)
            proxy.start()
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        entries = proxy.entries(count=1)
        ids = [entry["request_id"] for entry in entries]
        self.assertEqual(len(ids), len(set(ids)))
        begun = [event for event in proxy.rows("event") if event["body"]["kind"] == "model_request_started"]
        self.assertEqual({event["entry"]["call_id"] for event in begun}, {entry["request_id"] for entry in entries if entry["attempts"] > 0})
        lost = [entry for entry in entries if entry["outcome"] == "failed" and "interrupted" in (entry["reason"] or "")]
        self.assertGreater(len(lost), 0)  # otherwise the test would prove nothing
        reserved = 1024 + len(MODELS[MESSAGES] + "user" + "hello") // 4  # the limit of the output, and a quarter of the bytes of all strings
        used = 0
        for entry in entries:
            usage = entry["usage"]
            used += reserved if entry in lost else usage["input_tokens"] + usage["output_tokens"] if usage else 0
        page = proxy.send("GET", "/metrics").text()
        ratio = float(re.search(r'sallyport_model_budget_used_ratio\{agent="\*",model="\*",per="month"\} (\S+)\n', page)[1])
        self.assertEqual(round(ratio * LIMIT), used)
        proxy.stop()
        self.good("ledger", "verify", "--json")


if __name__ == "__main__":
    unittest.main()
