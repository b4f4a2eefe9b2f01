#!/usr/bin/env python3
"""A tool call that needs approval, in the middle of an answer: held, kept alive, released or replaced."""
import concurrent.futures
import json
import threading
import time
import unittest

from approvals_support import ApprovalsTest
from model_answers import APIS, CHAT, MESSAGES, RESPONSES, Answer, accumulate, call, say
from model_provider import Provider
from model_support import ModelTest, guards

ANSWER = Answer(say("I write it."), call("write_file", {"path": "a"}, id="call_1"), seed="hold")


class Holds(ModelTest, ApprovalsTest):
    def gate(self, hold_s, provider=None):
        people = self.init("user:ada")
        reviewers = people.split("- ", 1)[1].strip()
        policy = f"version: 1\nautonomy: {{tier: act_auto}}\nrules: [{{id: ask, then: ask, when: {{tool: write_file}}}}]\nmodel: {{hold_s: {hold_s}}}\n" \
                 f"approvals:\n  reviewers:\n    - {reviewers}\n"
        return self.proxy(provider or Provider(self, otherwise=ANSWER), policy=policy)

    def say_when_asked(self, verb, count=1):
        def answer():
            done = set()
            end = time.monotonic() + 60
            while len(done) < count and time.monotonic() < end:
                for one in self.pending("--all"):
                    if one["request_id"] not in done and one["state"] == "pending":
                        done.add(one["request_id"])
                        self.good(*self.answer(verb, one["request_id"]))
                time.sleep(0.05)
        person = threading.Thread(target=answer, daemon=True)
        person.start()
        self.addCleanup(person.join)

    # MP-60
    def test_a_yes_releases_the_call(self):
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    self.setUp()
                    proxy = self.gate(30)
                    self.say_when_asked("approve")
                    answered = proxy.ask(api, stream=stream)
                    if stream:
                        self.assertEqual(answered.object(api), accumulate(api, ANSWER.events(api)))
                    self.assertIn("call_1", answered.text())

    # MP-60
    def test_a_no_gives_a_notice(self):
        for api in APIS:
            with self.subTest(api=api):
                self.setUp()
                proxy = self.gate(30)
                self.say_when_asked("deny")
                answered = proxy.ask(api, stream=True)
                self.assertNotIn("call_1", answered.text())
                self.assertIn(" it.", answered.text())
                self.assertEqual(proxy.audit()["calls"][0]["tool_call_id"], "call_1")

    # MP-60
    def test_without_an_answer_the_notice_names_the_question(self):
        proxy = self.gate(0)
        for api in APIS:
            for stream in (False, True):
                answered = proxy.ask(api, stream=stream)
                with self.subTest(api=api, stream=stream):
                    self.assertIn("pending_approval", answered.text())
                    self.assertRegex(answered.text(), f"{proxy.url}/api/v1/approvals/apr_[0-9a-f-]+")
                    self.assertNotIn('"write_file"', answered.text())

    # MP-15
    def test_a_held_stream_is_kept_alive(self):
        proxy = self.gate(12)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = dict(zip(APIS, pool.map(lambda api: proxy.ask(api, stream=True), APIS)))
        events = answers[MESSAGES].events()
        self.assertGreater(sum(name == "ping" for name, _ in events), sum(name == "ping" for name, _ in ANSWER.events(MESSAGES)))
        chunks = [json.loads(data) for _, data in answers[CHAT].events() if data != "[DONE]"]
        self.assertTrue(any(choice["delta"] == {} and choice["finish_reason"] is None for chunk in chunks for choice in chunk["choices"]))
        names = [name for name, _ in answers[RESPONSES].events()]
        self.assertEqual(names.count("response.in_progress"), 2)
        for api in APIS:
            self.assertIn("pending_approval", answers[api].text())
            answers[api].object(api)

    # MP-63, MP-79
    def test_a_client_that_leaves_takes_its_question_back(self):
        proxy = self.gate(60)
        begun = proxy.begin(MESSAGES, stream=True)
        begun.until(b" it.")
        question = self.pending()[0]["request_id"]
        begun.leave()
        end = time.monotonic() + 20
        while any(one["request_id"] == question and one["state"] == "pending" for one in self.good("approvals", "list", "--json", "--all").lines()) and time.monotonic() < end:
            time.sleep(0.1)
        self.assertNotIn(question, [one["request_id"] for one in self.good("approvals", "list", "--json").lines() if one["state"] == "pending"])
        self.assertEqual(proxy.audit()["outcome"], "cancelled")


if __name__ == "__main__":
    unittest.main()
