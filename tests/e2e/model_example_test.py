#!/usr/bin/env python3
"""The configuration and policy of docs/model-proxy.md, with a scripted provider in place of the real ones."""
import pathlib
import re
import unittest

from model_answers import CHAT, MESSAGES, RESPONSES, Answer, call, say
from model_provider import Provider
from model_support import ModelTest

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "models"


class Example(ModelTest):
    def start(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=(FOLDER / "policy.yaml").read_text())
        return provider, proxy

    def test_the_policy_is_valid_and_the_configuration_is_read(self):
        self.write("policy.yaml", (FOLDER / "policy.yaml").read_text())
        self.good("policy", "check", str(self.folder / "policy.yaml"))
        config = re.sub(r"listen: .*", "listen: 127.0.0.1:0", (FOLDER / "sallyport.yaml").read_text())
        from serve_support import Server
        server = Server(self, self.write("sallyport.yaml", config), env=self.environment(ANTHROPIC_API_KEY="a", OPENAI_API_KEY="b"))
        self.addCleanup(server.process.stdout.close)
        self.addCleanup(server.process.stderr.close)
        self.assertTrue(server.started["models_url"].endswith("/v1"))
        server.stop()

    def test_keys_leave_neither_way(self):
        provider, proxy = self.start()
        provider.otherwise = Answer(say("it is AKIAIOSFODNN7EXAMPLE indeed"))
        for api in (MESSAGES, CHAT, RESPONSES):
            answer = proxy.ask(api, "my key is AKIAIOSFODNN7EXAMPLE", stream=True)
            self.assertNotIn(b"AKIAIOSFODNN7EXAMPLE", answer.body)
            self.assertIn(b"[redacted]", answer.body)
            self.assertNotIn(b"AKIA", provider.requests[-1].body)

    def test_a_project_name_ends_the_answer_and_a_forced_push_is_refused(self):
        provider, proxy = self.start()
        provider.otherwise = Answer(say("We call it Project Heron."))
        self.assertEqual(proxy.ask(MESSAGES, stream=True).object(MESSAGES)["stop_reason"], "refusal")
        provider.otherwise = Answer(call("bash", {"command": "git push origin --force"}))
        self.assertEqual(proxy.ask(MESSAGES, stream=True).object(MESSAGES)["stop_reason"], "end_turn")


if __name__ == "__main__":
    unittest.main()
