#!/usr/bin/env python3
"""`init` puts the gate into the settings of other programs, keeps all other settings, and removes the gate again."""
import hashlib
import json
import os
import pathlib
import re
import stat
import unittest

from cli_support import BIN, CliTest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
AGENTS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json",
          "cursor": ".cursor/hooks.json", "copilot": ".copilot/hooks/sallyport.json"}
OTHERS = '{ "model":"opus",\n   "hooks": {"PreToolUse": [{"matcher":"Bash","hooks":[{"type":"command","command":"mine.sh"}]}],\n' \
         '  "Stop":[] }, "n": 1.5 }'


class Init(CliTest):
    def setUp(self):
        super().setUp()
        self.program = os.path.realpath(BIN)

    def init(self, *arguments, code=0):
        outcome = self.run_bare("init", *arguments)
        self.assertEqual(outcome.code, code, outcome.err)
        return outcome

    def settings(self, agent):
        return self.home / AGENTS[agent]

    def test_each_agent_gets_its_own_settings_and_loses_them_again(self):
        for agent in AGENTS:
            with self.subTest(agent):
                file = self.settings(agent)
                self.init("--agent", agent)
                text = file.read_text()
                self.assertIn(self.program, text)
                self.assertIn(agent, text)
                self.assertIn("nothing to do", self.init("--agent", agent).out)
                self.assertEqual(file.read_text(), text)
                printed = json.loads(self.init("--agent", agent, "--print").out)
                self.assertEqual(printed, json.loads(text))
                self.init("--agent", agent, "--undo")
                self.assertFalse(file.exists())

    def test_an_agent_and_a_client_are_set_up_one_by_one(self):
        said = self.init("--agent", "cursor", "--client", "cursor", code=64).err
        self.assertIn("--agent and --client are settings of different programs; run `init` once for each", said)
        self.assertEqual(list(self.home.iterdir()), [])
        self.assertRegex(self.init(code=64).err, "`sallyport init --agent claude-code`; --agent takes claude-code, codex.*--client takes ")

    def test_settings_of_others_stay_and_come_back_byte_for_byte(self):
        file = self.settings("claude-code")
        file.parent.mkdir()
        file.write_text(OTHERS)
        file.chmod(0o640)
        self.init("--agent", "claude-code", "--policy", "ask-before-effects")
        after = json.loads(file.read_text())
        self.assertEqual((after["model"], after["n"], after["hooks"]["Stop"]), ("opus", 1.5, []))
        mine, ours = after["hooks"]["PreToolUse"]
        self.assertEqual(mine["hooks"][0]["command"], "mine.sh")
        self.assertEqual(ours, {"matcher": "*", "hooks": [
            {"type": "command", "command": self.program,
             "args": ["hook", "--agent", "claude-code", "--policy", "ask-before-effects"], "timeout": 10, "onFailure": "block"}]})
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o640)
        backup = file.with_name("settings.json.before-sallyport")
        self.assertEqual(backup.read_text(), OTHERS)
        self.init("--agent", "claude-code")
        self.assertEqual(backup.read_text(), OTHERS)
        self.assertEqual(json.loads(file.read_text()), after)
        self.init("--agent", "claude-code", "--undo")
        self.assertEqual(file.read_text(), OTHERS)
        self.assertFalse(backup.exists())

    def test_what_was_changed_since_is_kept_when_we_go(self):
        file = self.settings("gemini")
        file.parent.mkdir()
        file.write_text("{}")
        self.init("--agent", "gemini")
        changed = json.loads(file.read_text())
        changed["theme"] = "dark"
        file.write_text(json.dumps(changed))
        self.init("--agent", "gemini", "--undo")
        self.assertEqual(json.loads(file.read_text()), {"theme": "dark"})

    def test_a_dry_run_writes_nothing_and_json_says_what_it_would(self):
        said = json.loads(self.init("--agent", "codex", "--dry-run", "--json").out)
        self.assertEqual((said["changed"], said["would_change"]), (False, True))
        self.assertFalse(self.settings("codex").exists())
        said = json.loads(self.init("--agent", "codex", "--json").out)
        self.assertEqual(said["file"], str(self.settings("codex")))
        self.assertTrue(said["changed"])

    def test_a_file_that_is_no_plain_json_is_left_alone(self):
        for text in ('{"a": 1, // why\n "b": 2}', "[]", '{"hooks": []}', '{"hooks": {"PreToolUse": {}}}', '{"n": 12345678901234567890123}'):
            file = self.settings("claude-code")
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
            outcome = self.init("--agent", "claude-code", code=64)
            self.assertIn("left alone", outcome.err)
            self.assertEqual(file.read_text(), text)
            self.assertEqual(os.listdir(file.parent), ["settings.json"])

    def test_a_link_stays_a_link(self):
        real = self.write("dotfiles.json", "{}")
        file = self.settings("claude-code")
        file.parent.mkdir()
        file.symlink_to(real)
        self.init("--agent", "claude-code")
        self.assertTrue(file.is_symlink())
        self.assertIn("PreToolUse", real.read_text())

    def test_the_servers_of_a_client_go_through_the_gateway(self):
        before = {"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "server-files", "/tmp"], "env": {"A": "b"}},
            "bare": {"command": "bare-server"},
            "far": {"url": "https://example.org/mcp"}}, "theme": "x"}
        text = json.dumps(before)
        file = self.write("client.json", text)
        said = json.loads(self.init("--client", "claude-desktop", "--file", file, "--json").out)
        self.assertEqual((said["servers"], said["left_alone"]), (["files", "bare"], ["far"]))
        after = json.loads(file.read_text())
        self.assertEqual(after["mcpServers"]["files"], {
            "command": self.program, "args": ["mcp", "--name", "files", "--policy", "coding", "--", "npx", "-y", "server-files", "/tmp"], "env": {"A": "b"}})
        self.assertEqual(after["mcpServers"]["bare"]["args"], ["mcp", "--name", "bare", "--policy", "coding", "--", "bare-server"])
        self.assertEqual((after["mcpServers"]["far"], after["theme"]), ({"url": "https://example.org/mcp"}, "x"))
        self.assertIn("nothing to do", self.init("--client", "claude-desktop", "--file", file).out)
        self.init("--client", "claude-desktop", "--file", file, "--undo")
        self.assertEqual(file.read_text(), text)
        vscode = self.write("mcp.json", json.dumps({"servers": {"x": {"type": "stdio", "command": "x"}}}))
        self.init("--client", "vscode", "--file", vscode)
        self.assertEqual(json.loads(vscode.read_text())["servers"]["x"]["args"][:3], ["mcp", "--name", "x"])

    # After a fourth server is added, `init` runs again: the others must neither return to the starter policy nor be wrapped twice.
    def test_servers_behind_the_gate_keep_what_was_chosen_for_them(self):
        near = ["mcp", "--name", "notes", "--policy", "strict", "--era", "legacy", "--", "npx", "server", "--policy", "its own"]
        far = ["mcp", "--name", "tickets", "--url", "https://example.org/mcp", "--bearer-env", "T"]
        file = self.write("client.json", json.dumps({"mcpServers": {
            "files": {"command": "/old/bin/sallyport", "args": near}, "tickets": {"command": "sallyport", "args": far}, "new": {"command": "n"}}}))

        def args():
            servers = json.loads(file.read_text())["mcpServers"]
            self.assertEqual({server["command"] for server in servers.values()}, {self.program})
            return {name: server["args"] for name, server in servers.items()}
        self.init("--client", "cursor", "--file", file)
        self.assertEqual(args(), {"files": near, "tickets": far, "new": ["mcp", "--name", "new", "--policy", "coding", "--", "n"]})
        self.init("--client", "cursor", "--file", file, "--policy", "read-only")
        changed = [*near]
        changed[4] = "read-only"
        self.assertEqual(args(), {"files": changed, "tickets": [*far, "--policy", "read-only"], "new": ["mcp", "--name", "new", "--policy", "read-only", "--", "n"]})

    def test_the_document_shows_what_is_printed_and_tested(self):
        text = (ROOT / "docs" / "coding-agents.md").read_text()
        blocks = re.findall(r"<!-- (\w+): ([\w/ -]+) -->\n```json\n(.*?)```\n", text, re.DOTALL)
        self.assertEqual({name for kind, name, _ in blocks if kind == "init"}, set(AGENTS))
        for kind, name, block in blocks:
            with self.subTest(name):
                if kind == "init":
                    printed = self.init("--agent", name, "--print").out
                    self.assertEqual(block, printed.replace(self.program, "/usr/local/bin/sallyport"))
                else:
                    file, member = name.split(" ")
                    steps = json.loads((ROOT / "tests" / "golden" / "hook" / (file + ".json")).read_text())["steps"]
                    self.assertIn(json.loads(block), [step[member] for step in steps])

    def test_doctor_looks_at_the_hooks_that_are_installed(self):
        def checks():
            return {check["check"]: check for check in self.cli("doctor", "--json").json()["checks"]
                    if check["check"].startswith("hook of")}
        self.assertEqual(checks(), {})
        for agent in AGENTS:
            self.init("--agent", agent)
        found = {name.removeprefix("hook of "): check["state"] for name, check in checks().items()}
        self.assertEqual(found, {"claude-code": "ok", "cursor": "ok", "codex": "fail", "gemini": "warn", "copilot": "ok"})
        file = self.settings("codex")
        file.write_text(file.read_text().replace(self.program, "/nowhere/sallyport"))
        self.assertEqual(checks()["hook of codex"]["state"], "fail")
        self.init("--agent", "codex")
        self.assertIn("it is not trusted", checks()["hook of codex"]["detail"])

    # A settings file without the hook before a tool passed, or was not mentioned.
    def test_doctor_names_each_event_that_lacks_the_hook(self):
        self.init("--agent", "claude-code")
        file = self.settings("claude-code")
        whole = json.loads(file.read_text())
        for event in whole["hooks"]:
            rest = {name: groups for name, groups in whole["hooks"].items() if name != event}
            file.write_text(json.dumps({**whole, "hooks": rest}))
            check = next(check for check in self.cli("doctor", "--json").json()["checks"] if check["check"] == "hook of claude-code")
            self.assertEqual(check["state"], "fail", event)
            self.assertIn(f"the hook is missing for {event} in ", check["detail"])
            self.assertIn("sallyport init --agent claude-code", check["advice"])
            self.init("--agent", "claude-code")
            self.assertEqual(json.loads(file.read_text())["hooks"].keys(), whole["hooks"].keys())

    # Codex once ran none of our hooks without any report.
    def test_doctor_knows_whether_codex_trusts_each_hook_as_it_stands(self):
        self.init("--agent", "codex", "--policy", "coding")
        file = self.settings("codex")

        def trust(**more):
            tables = []
            for event, groups in json.loads(file.read_text())["hooks"].items():
                name = re.sub(r"(?<!^)([A-Z])", r"_\1", event).lower()
                hook = {"async": False, **groups[0]["hooks"][0]}
                identity = {"event_name": name, **groups[0], "hooks": [hook]}
                text = json.dumps(identity, separators=(",", ":"), sort_keys=True)
                said = {"trusted_hash": "sha256:" + hashlib.sha256(text.encode()).hexdigest(), **more}
                lines = [f"{key} = {json.dumps(value)}" for key, value in said.items()]
                tables.append("\n".join([f'[hooks.state."{file}:{name}:0:0"]', *lines, ""]))
            file.with_name("config.toml").write_text('model = "x"\n\n' + "\n".join(tables) + '\n[other]\ntrusted_hash = "y"\n')

        def check():
            return next(check for check in self.cli("doctor", "--json").json()["checks"] if check["check"] == "hook of codex")
        self.assertEqual(check()["state"], "fail")
        self.assertIn("PreToolUse, PostToolUse, UserPromptSubmit", check()["detail"])
        self.assertIn("/hooks", check()["advice"])
        trust()
        self.assertEqual((check()["state"], "runs the tool anyway if its hook fails" in check()["detail"]), ("warn", True))
        trust(enabled=False)
        self.assertEqual(check()["state"], "fail")
        trust()
        self.init("--agent", "codex", "--policy", "read-only")  # a different command is a different hook
        self.assertEqual(check()["state"], "fail")

    # The output once ended with a file name, and a new user had no next step.
    def test_it_decides_by_coding_unless_told_otherwise_and_ends_with_the_next_step(self):
        for agent in AGENTS:
            said = self.init("--agent", agent).out
            self.assertIn("coding", self.settings(agent).read_text())
            self.assertIn("next:\n  1. ", said)
            self.assertIn("`sallyport ledger calls`", said)
            self.assertEqual("`/hooks`" in said, agent == "codex")
        said = json.loads(self.init("--agent", "gemini", "--policy", "strict", "--json", "--data-dir", self.data).out)
        self.assertIn(f"--data-dir {self.data}", said["next"][-1])
        self.assertIn("strict", self.settings("gemini").read_text())
        self.assertNotIn("coding", self.settings("gemini").read_text())
        self.assertEqual(json.loads(self.init("--agent", "gemini", "--undo", "--json").out)["next"], [])

    # A second run without --policy once reset the policy to the starter policy.
    def test_a_second_run_keeps_what_was_chosen_and_replaces_what_is_named(self):
        policy = self.home / "it's mine.yaml"
        policy.write_text("version: 1\n")
        for agent in AGENTS:
            words = ["--agent", agent, "--policy", policy, "--data-dir", self.data]
            self.init(*words)
            first = self.settings(agent).read_text()
            self.assertIn("nothing to do", self.init("--agent", agent).out, agent)
            self.assertEqual(self.settings(agent).read_text(), first)
            self.init("--agent", agent, "--policy", "read-only")
            now = self.settings(agent).read_text()
            self.assertNotIn("mine.yaml", now)
            self.assertEqual(now.count("read-only"), first.count("mine.yaml"))
            self.assertEqual(now.count(str(self.data)), first.count(str(self.data)))

    def test_usage(self):
        self.assertIn("--agent", self.init(code=64).err)
        self.init("--agent", "codex", "--client", "cursor", code=64)
        self.init("--client", "cursor", code=1)
        self.init("--agent", "emacs", code=64)

    def test_what_is_installed_is_what_answers(self):
        self.init("--agent", "claude-code", "--policy", "ask-before-effects", "--data-dir", self.data)
        hook = json.loads(self.settings("claude-code").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
        event = {"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}, "tool_use_id": "t"}
        outcome = self.run_bare(*hook["args"], stdin=json.dumps(event).encode())
        self.assertEqual(outcome.json()["hookSpecificOutput"]["permissionDecision"], "ask")
        self.assertTrue((self.data / "ledger.db").exists())


if __name__ == "__main__":
    unittest.main()
