#!/usr/bin/env python3
"""Coding agents from npm, with their model behind the proxy and their tools behind the hook: both doors see one call."""
import json
import os
import platform
import subprocess
import threading
import unittest

import coding_agents_peers_test
import npm_peers
from coding_agents_peers_test import CLAUDE, CODEX
from model_answers import MESSAGES, RESPONSES, Answer, call, say
from model_provider import Provider
from model_support import ModelTest, guards

TOKEN = "token-of-the-coding-agent-0123456789"
MAKES = "touch made-by-agent"


class OneCall(ModelTest):
    def setUp(self):
        super().setUp()
        self.work = self.folder / "work"
        self.work.mkdir()
        subprocess.run(["git", "init", "-q", self.work], check=True)
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        made = self.good("approvals", "init", "--name", "user:ada", "--key-file", self.folder / "ada.key", "--passphrase-file", self.words, "--json").json()
        self.people = {"approvals": {"reviewers": [{"name": "user:ada", "key": made["key"], "roles": ["approver"]}]}}

    def model(self, tool, arguments):
        """Proposes the call until the request contains a result."""
        def choose(request):
            body = request.json()
            offered = any(tool in json.dumps(one) for one in body.get("tools", []))
            answered = '"tool_result"' in request.body.decode() or "_call_output" in request.body.decode()
            return Answer(call(tool, arguments, id="toolu_one"), seed="first") if offered and not answered else Answer(say("done"), seed="last")
        return Provider(self, otherwise=choose)

    def gate(self, agent, provider, api, **sections):
        """Both doors use one policy."""
        policy = guards(**sections, **self.people)
        proxy = self.proxy(provider, policy=policy, apis=[api], agents={agent: TOKEN})
        said = self.run_bare("init", "--agent", agent, "--policy", self.folder / "policy.yaml", "--data-dir", self.data)
        self.assertEqual(said.code, 0, said.err)
        return proxy

    def approve_when_asked(self):
        """Approves every request; there must be one."""
        self.asked, self.over = [], threading.Event()

        def look():
            while not self.over.wait(0.1):
                listed = self.cli("approvals", "list", "--json", "--all")
                for question in listed.lines() if listed.code == 0 else []:
                    if question["state"] == "pending" and question["request_id"] not in self.asked:
                        self.asked.append(question["request_id"])
                        self.cli("approvals", "approve", question["request_id"], "--key-file", self.folder / "ada.key", "--passphrase-file", self.words)
        person = threading.Thread(target=look, daemon=True)
        person.start()
        self.addCleanup(person.join)
        self.addCleanup(self.over.set)

    def run_agent(self, program, *words, **environment):
        env = self.environment(PATH=f"{os.path.dirname(npm_peers.node(20))}:{os.environ['PATH']}", **environment)
        done = subprocess.run([program, *map(str, words)], env=env, cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240)
        self.over.set()
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:] + "".join(self.front.server.errors))

    def one_act_and_record(self):
        """Checks that the command ran and that one record shows it; returns the record."""
        self.assertTrue((self.work / "made-by-agent").exists())
        records = [{**row["body"], "call_id": row["entry"]["call_id"]} for row in self.good("ledger", "show", "--kind", "tool_audit", "--limit", "1000", "--json").lines()]
        # The record that asked for approval ends with `approval_used`; the call that ran has its own record.
        ends = [record for record in records if record["terminal"] and record["outcome"].get("reason") != "approval_used"]
        self.assertEqual([(end["tool_call_id"], end["outcome"]["kind"]) for end in ends], [("toolu_one", "completed")])
        self.good("ledger", "verify", "--json")
        return ends[0]

    # MP-61 (partly)
    def test_claude_code(self):
        CLAUDE.need()
        self.front = self.gate("claude-code", self.model("Bash", {"command": MAKES, "description": "x"}), MESSAGES,
                               rules=[{"id": "make", "then": "ask", "when": {"tool": "*"}}])
        self.approve_when_asked()
        self.run_agent(CLAUDE.modules / "@anthropic-ai" / f"claude-code-linux-{npm_peers.MACHINES.get(platform.machine())}" / "claude", "-p", "go", "--allowedTools", "Bash",
                       ANTHROPIC_BASE_URL=self.front.url, ANTHROPIC_API_KEY=TOKEN, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1")
        record = self.one_act_and_record()
        self.assertEqual(len(self.asked), 1)
        calls = [one for entry in self.front.entries() for one in entry["calls"]]
        self.assertEqual([(one["call_id"], one["verdict"]) for one in calls], [(record["call_id"], "handed_off")])

    # Codex sends its hook another input than the model gave, so the proxy leaves its calls to the hook.
    def test_codex(self):
        CODEX.need()
        self.front = self.gate("codex", self.model("exec_command", {"cmd": MAKES}), RESPONSES, model={"tool_calls": {"codex": "defer"}})
        (self.home / ".codex").mkdir(exist_ok=True)
        (self.home / ".codex" / "config.toml").write_text('model = "scripted"\nmodel_provider = "local"\n\n[model_providers.local]\nname = "local"\n'
                                                          f'base_url = "{self.front.url}/v1"\nwire_api = "responses"\nenv_key = "PROXY_TOKEN"\n')
        coding_agents_peers_test.Codex.trust(self)
        self.approve_when_asked()
        self.run_agent(CODEX.modules / ".bin" / "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go", PROXY_TOKEN=TOKEN)
        self.one_act_and_record()
        calls = [one for entry in self.front.entries() for one in entry["calls"]]
        self.assertEqual([(one["tool_call_id"], one["verdict"]) for one in calls], [("toolu_one", "deferred")])


if __name__ == "__main__":
    unittest.main()
