#!/usr/bin/env python3
"""Runs the recipes of the pages about models unchanged, except for the address of the provider."""
import json
import subprocess
import unittest

from document_support import DocumentTest
from model_provider import Provider
from scripted_model import ScriptedModel

SECRET = "AKIAIOSFODNN7EXAMPLE"


class ModelRecipes(DocumentTest):
    def test_the_agent_works_with_a_model_of_each_provider(self):
        project = self.folder / "project"
        project.mkdir()
        (project / "notes.txt").write_text("a shop for boats")
        key, run, chat = self.block("docs/agent.md", "agent chat --model").splitlines()
        model = ScriptedModel(self, "read_file", {"path": "notes.txt"})
        self.assertIn("done", self.shell(f"cd project\n{key}\n{run} --base-url {model.url}"))
        self.assertEqual([(path, body["model"]) for path, body in model.requests], [("/v1/messages", "claude-sonnet-5")] * 2)
        self.assertIn("a shop for boats", model.results("tool_result")[0])
        model = ScriptedModel(self, "read_file", {"path": "notes.txt"})
        said = self.shell("cd project\n" + chat.replace("http://127.0.0.1:8000", model.url), stdin="What does this project do?\n\n")
        self.assertIn("done", said)
        self.assertEqual([(path, body["model"]) for path, body in model.requests], [("/v1/chat/completions", "qwen3")] * 2)
        self.assertEqual(self.shell("sallyport ledger calls").count("read_file"), 2)

    def test_the_proxy_keeps_a_key_from_the_model(self):
        provider = Provider(self)
        config = self.block("docs/model-proxy.md", "name: claude,", "yaml").replace("https://api.anthropic.com", provider.url).replace(":8765", ":0")
        self.write("sallyport.yaml", config)
        self.write("policy.yaml", self.block("docs/model-proxy.md", "name: models", "yaml"))
        keys, serve = self.commands("docs/model-proxy.md", "sallyport serve --config sallyport.yaml")
        server = subprocess.Popen(["bash", "-c", f"{keys}\nexec {serve} --json"], env=self.env, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for close in (server.wait, server.kill, server.stdout.close):
            self.addCleanup(close)
        url = json.loads(server.stdout.readline())["models_url"]
        ask, show = self.commands("docs/model-proxy.md", "curl -s http://127.0.0.1:8765/v1/messages")
        self.assertIn(SECRET, ask)
        self.assertIn("Hello from the model.", self.shell(ask.replace("http://127.0.0.1:8765/v1", url)))
        self.assertIn(b"[redacted]", provider.requests[0].body)
        self.assertNotIn(SECRET.encode(), provider.requests[0].body)
        self.assertIn("keys-out", self.shell(show))


if __name__ == "__main__":
    unittest.main()
