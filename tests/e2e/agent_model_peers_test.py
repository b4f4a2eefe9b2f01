#!/usr/bin/env python3
"""Runs our agent on a third-party model server: aimock speaks the APIs of OpenAI and of Anthropic, offline."""
import json
import re
import subprocess
import threading
import unittest

import npm_peers
from agent_support import ScriptedAgents

AIMOCK = npm_peers.Peers("aimock", {"@copilotkit/aimock": "1.43.0"})
FIXTURES = {"fixtures": [
    {"match": {"userMessage": "write the note", "hasToolResult": False},
     "response": {"toolCalls": [{"name": "write_file", "arguments": {"path": "note.txt", "content": "höchste Zeit\n"}}]}},
    {"match": {"userMessage": "write the note", "hasToolResult": True}, "response": {"content": "The note is written, and this text is long enough for pieces."}},
]}


class ModelPeers(ScriptedAgents):
    POLICY = "transparent"

    @classmethod
    def setUpClass(cls):
        AIMOCK.need()

    def setUp(self):
        super().setUp()
        fixtures = self.write("fixtures.json", json.dumps(FIXTURES))
        self.server = subprocess.Popen(
            ["node", AIMOCK.modules / "@copilotkit/aimock/dist/cli.js", "-p", "0", "-f", fixtures, "-c", "7", "--strict"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.addCleanup(self.server.stdout.close)
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.kill)
        said = []
        for line in self.server.stdout:
            said.append(line)
            found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
            if found:
                break
        self.assertTrue(found, said)
        self.address = f"http://127.0.0.1:{found.group(1)}"
        threading.Thread(target=lambda: [None for _ in self.server.stdout], daemon=True).start()

    # RT-13 RT-14 RT-17
    def test_a_tool_call_and_an_answer_of_both_apis(self):
        for provider, base in (("openai", self.address + "/v1"), ("anthropic", self.address)):
            with self.subTest(provider=provider):
                session = f"s-{provider}"
                agent = self.write_agent([], name=f"{provider}.json", model={"provider": provider, "model": "any-model", "base_url": base})
                report, told = self.run_to_end("run", agent, "write the note", "--session", session)
                self.assertIsNotNone(report, told)
                self.assertEqual((report["status"], report["text"]),
                                 ("finished", "The note is written, and this text is long enough for pieces."), told)
                self.assertEqual((self.work / "note.txt").read_text(), "höchste Zeit\n")
                (self.work / "note.txt").unlink()
                self.assertEqual(self.assert_balanced(self.transcript(session)), [])
                audits = self.good("ledger", "show", "--kind", "model_audit", "--session", session, "--json").lines()
                self.assertEqual([row["body"]["outcome"] for row in audits], ["completed"] * 2)
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
