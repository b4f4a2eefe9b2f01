#!/usr/bin/env python3
"""Coding agents from npm on a scripted model: the settings of `init` make them ask, and a refusal reaches the model."""
import json
import os
import platform
import subprocess
import unittest

import npm_peers
from cli_support import CliTest
from scripted_model import ScriptedModel

# One folder each, so that a test downloads only its own packages.
CLAUDE = npm_peers.Peers("claude-code", {"@anthropic-ai/claude-code": "2.1.325"})
CODEX = npm_peers.Peers("codex", {"@openai/codex": "0.166.0"})
GEMINI = npm_peers.Peers("gemini", {"@google/gemini-cli": "0.61.0"})
COPILOT = npm_peers.Peers("copilot", {"@github/copilot": "1.0.102"})
MAKES = "touch made-by-agent"
WIPES = "rm -rf /srv/sallyport-nobody"
REFUSED = "Blocked by rule `no-wipe`: Delete folders only inside the project."


class AgentTest(CliTest):
    def setUp(self):
        super().setUp()
        self.work = self.folder / "work"
        self.work.mkdir()
        subprocess.run(["git", "init", "-q", self.work], check=True)

    def init(self, agent):
        said = self.run_bare("init", "--agent", agent)
        self.assertEqual(said.code, 0, said.err)
        return said.out

    def run_agent(self, program, *words, code=0, **environment):
        env = self.environment(PATH=f"{os.path.dirname(npm_peers.node(20))}:{os.environ['PATH']}", **environment)
        done = subprocess.run([program, *map(str, words)], env=env, cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr[-2000:])

    def calls(self):
        outcome = self.run_bare("ledger", "calls", "--json")
        return [(row["what"], row["verdict"]) for row in outcome.lines()] if outcome.code == 0 else []

    def check(self, run, tool, argument, kind):
        """One command that runs and is recorded, and one that is refused with a sentence that the model reads."""
        model = ScriptedModel(self, tool, {argument: MAKES, "description": "x"})
        run(model)
        self.assertTrue((self.work / "made-by-agent").exists())
        self.assertEqual(self.calls(), [(MAKES, "runs")])
        model = ScriptedModel(self, tool, {argument: WIPES, "description": "x"})
        run(model)
        self.assertEqual(self.calls()[1], (WIPES, "refused"))
        self.assertTrue(any(REFUSED in text for text in model.results(kind)), model.results(kind))


class Agents(AgentTest):
    def test_claude_code(self):
        CLAUDE.need()
        self.init("claude-code")
        self.check(lambda model: self.run_agent(
            CLAUDE.modules / "@anthropic-ai" / f"claude-code-linux-{npm_peers.MACHINES.get(platform.machine())}" / "claude", "-p", "go", "--allowedTools", "Bash", ANTHROPIC_BASE_URL=model.url, ANTHROPIC_API_KEY="none",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1"), "Bash", "command", "tool_result")

    def test_gemini(self):
        GEMINI.need()
        settings = self.home / ".gemini" / "settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"security": {"auth": {"selectedType": "gemini-api-key"}}}))
        self.init("gemini")
        self.check(lambda model: self.run_agent(
            GEMINI.modules / ".bin" / "gemini", "-p", "go", "--yolo", "--skip-trust", GEMINI_API_KEY="none", GOOGLE_GEMINI_BASE_URL=model.url),
            "run_shell_command", "command", "functionResponse")

    def test_copilot(self):
        COPILOT.need()
        self.init("copilot")
        self.check(lambda model: self.run_agent(
            COPILOT.modules / ".bin" / "copilot", "-p", "go", "--allow-all-tools", "--no-color", COPILOT_PROVIDER_BASE_URL=model.url + "/v1",
            COPILOT_PROVIDER_TYPE="openai", COPILOT_PROVIDER_API_KEY="none", COPILOT_MODEL="gpt-5-mini", COPILOT_OFFLINE="true"), "bash", "command", "tool")


class Codex(AgentTest):
    def codex(self, model):
        (self.home / ".codex").mkdir(exist_ok=True)
        config = self.home / ".codex" / "config.toml"
        trusted = config.read_text().split("[hooks.state]", 1)[-1] if config.exists() and "[hooks.state]" in config.read_text() else ""
        config.write_text('model = "scripted"\nmodel_provider = "local"\n\n[model_providers.local]\nname = "local"\n'
                          f'base_url = "{model.url}/v1"\nwire_api = "responses"\n\n[hooks.state]\n{trusted}')
        self.run_agent(CODEX.modules / ".bin" / "codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "go")

    def trust(self):
        """Does what `/hooks` does: asks the program for its hooks, and stores the hash of each."""
        server = subprocess.Popen([CODEX.modules / ".bin" / "codex", "app-server"], env=self.environment(), cwd=self.work,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.addCleanup(server.stdin.close)
        self.addCleanup(server.stdout.close)

        def ask(number, method, params):
            server.stdin.write(json.dumps({"id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == number:
                    return answer["result"]
            self.fail("codex ended")
        ask(1, "initialize", {"clientInfo": {"name": "t", "version": "1"}, "capabilities": {"experimentalApi": True}})
        hooks = ask(2, "hooks/list", {"cwds": [str(self.work)]})["data"][0]["hooks"]
        for number, hook in enumerate(hooks, 3):
            value = {hook["key"]: {"trusted_hash": hook["currentHash"]}}
            ask(number, "config/batchWrite", {"edits": [{"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}]})
        return [hook["trustStatus"] for hook in hooks]

    def doctor(self):
        return next(check for check in self.run_bare("doctor", "--json").json()["checks"] if check["check"] == "hook of codex")

    # Codex runs hooks only after they are trusted: it once silently ran every command without the gate.
    def test_codex_asks_once_its_hooks_are_trusted_and_doctor_knows(self):
        CODEX.need()
        self.assertIn("type `/hooks` and trust the hooks of sallyport", self.init("codex"))
        self.codex(ScriptedModel(self, "exec_command", {"cmd": "touch past-the-gate"}))
        self.assertEqual(((self.work / "past-the-gate").exists(), self.calls()), (True, []))
        self.assertEqual(self.doctor()["state"], "fail")
        self.assertEqual(self.trust(), ["untrusted"] * 3)
        self.assertEqual(self.doctor()["state"], "warn")  # codex continues if a hook fails
        self.check(self.codex, "exec_command", "cmd", "function_call_output")


if __name__ == "__main__":
    unittest.main()
