#!/usr/bin/env python3
"""Runs the recipes of the documents unchanged."""
import json
import os
import pwd
import re
import shlex
import subprocess
import sys
import time
import unittest

import npm_peers
from cli_support import BIN
from document_support import ROOT, DocumentTest, at_terminal, blocks
from mcp_peers_test import PEERS
from mcp_support import FAKE, LEGACY

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
INSPECTOR = npm_peers.Peers("inspector", {"@modelcontextprotocol/inspector": "2.12.0"})
SECRET = "AKIAIOSFODNN7EXAMPLE"


class Documents(DocumentTest):
    def helps(self, words):
        """Returns the options in the help, of the command and of the program."""
        key = tuple(words)
        if key not in self.known:
            self.known[key] = self.run_bare(*words, "--help").out
        return self.known[key]

    # A document once named a removed option, and no test detected it.
    def test_every_command_that_a_page_shows_is_there_with_its_options(self):
        self.known = {}
        everywhere = self.run_bare("--help").out
        seen = 0
        for page in PAGES:
            for line in re.findall(r"^(?:\$ )?sallyport ((?!:).*)$", page.read_text(), re.MULTILINE):
                if page.name == "performance.md" or "COMMAND ..." in line or line.startswith("--data-dir backup"):
                    continue  # no command, a usage form, or a command after its options
                line = re.split(r" \| | > | >> |  +#|\s#\s", line)[0].strip().rstrip("\\")
                if line.startswith("ledger tial"):  # shows the reply to a typing error
                    continue
                with self.subTest(page=page.name, line=line):
                    words = shlex.split(line)
                    words = words[:words.index("--")] if "--" in words else words
                    path = []
                    for word in words:
                        shown = self.run_bare(*path, word, "--help") if re.fullmatch(r"[a-z]+", word) else None
                        if shown is None or shown.code != 0 or f"sallyport {' '.join([*path, word])} " not in shown.out + " ":
                            break
                        path.append(word)
                    self.assertTrue(path, line)
                    for option in (word.split("=")[0] for word in words if re.match(r"--[a-z]", word)):
                        self.assertRegex(self.helps(path) + everywhere, rf"{option}\b")
                    seen += 1
        self.assertGreater(seen, 60)

    def test_the_minute_of_the_readme(self):
        script = self.block("README.md", "export PATH=$PWD/build/bin") + self.block("README.md", "sallyport ledger receipt 62")
        shown = self.shell(script)
        self.assertIn("removed 'scratch.txt'", shown)
        self.assertIn("verified", shown)
        key = next(word for word in shown.split() if word.startswith("sallyport.local/") and word.count("+") >= 2)
        verify = re.sub(r"--key \S+", lambda _: f"--key {key}", self.block("README.md", "sallyport verify receipt.json"))
        self.assertTrue(self.shell(verify).endswith("verified\n"))
        demo = self.shell("sallyport demo --yes")
        for line in self.block("README.md", "1. ten calls", "").splitlines():  # the output equals the text on the page
            words = [word for word in line.split() if not re.search(r"\d", word)]
            if words and "..." not in line and not any(part in line for part in ("you are asked", "y or n", "found:")):
                self.assertTrue(any(all(word in shown for word in words) for shown in demo.splitlines()), line)

    def hook(self, event):
        done = subprocess.run([BIN, "hook", "--agent", "claude-code", "--policy", self.folder / "policy.yaml"], input=json.dumps(event), text=True, capture_output=True,
                              env={**self.env, "CLAUDE_PROJECT_DIR": str(self.folder / "project")}, cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else {}

    # RU-80 (partly)
    def test_the_first_policy_of_the_rules_is_put_in_force_and_grants_the_four_wishes(self):
        (self.folder / "project").mkdir()
        self.write("policy.yaml", self.block("docs/rules.md", "name: mine", "yaml"))
        check, explain, init = (line.removeprefix("$ ") for line in self.block("docs/rules.md", "sallyport init --agent claude-code", "console").splitlines())
        self.assertIn("3 rules, 0 warnings", self.shell(check))
        self.assertIn("Rule `push` asks", self.shell(explain, code=1))
        self.shell(init)
        self.assertIn(str(self.folder / "policy.yaml"), (self.home / ".claude" / "settings.json").read_text())

        def event(number, command, kind="PreToolUse", **more):
            return {"session_id": "s", "hook_event_name": kind, "cwd": str(self.folder / "project"), "permission_mode": "default", "tool_name": "Bash",
                    "tool_input": {"command": command}, "tool_use_id": f"t{number}", **more}

        def verdict(number, command):
            return self.hook(event(number, command)).get("hookSpecificOutput", {}).get("permissionDecision", "allow")
        self.assertEqual([verdict(i, line) for i, line in enumerate(["cat a", "grep -r x . | head", "git push", "rm -rf ../x", "rm -rf /srv"])],
                         ["allow", "allow", "ask", "deny", "deny"])
        said = self.hook(event(0, "cat a", "PostToolUse", tool_response={"stdout": f"key {SECRET}\n", "stderr": ""}))
        self.assertIn("key ****", json.dumps(said))
        self.assertNotIn(SECRET, json.dumps(said))

    # A minute of approvals: register, list the waiting requests, answer.
    def test_the_minute_of_approvals(self):
        me = pwd.getpwuid(os.geteuid()).pw_name
        page = self.block("docs/approvals.md", "$ sallyport approvals init --register", "").replace("ada", me).replace("~/.local/state/sallyport", str(self.data))
        command, first, again, *made = page.splitlines()
        printed, _ = at_terminal(command.removeprefix("$ "), [(first, "correct horse"), (again, "correct horse")], env=self.env, cwd=self.folder)
        self.assertEqual(printed.splitlines(), made)
        policy = self.write("ask.yaml", "version: 1\nautonomy: {tier: act_with_approval}\n")
        gate = subprocess.Popen([BIN, "mcp", "--policy", policy, "--name", "fake", "--", sys.executable, FAKE], env=self.env, cwd=self.folder, text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        for close in (gate.wait, gate.kill, gate.stdout.close, gate.stdin.close):
            self.addCleanup(close)
        for message in ({"id": 1, "method": "initialize", "params": {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
                        {"method": "notifications/initialized"}, {"id": 2, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": "hi"}}}):
            gate.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            gate.stdin.flush()
        answering = self.block("docs/approvals.md", "$ sallyport approvals approve", "").replace("ada", me)
        console = [line.removeprefix("$ ") for line in answering.splitlines() if line.startswith("$")]
        self.assertEqual([line.split()[2] for line in console], ["list", "show", "approve"])
        end = time.monotonic() + 60
        while "pending" not in self.shell(console[0] + " 2>&1 || true") and time.monotonic() < end:
            time.sleep(0.1)
        request = re.search(r"apr_\S+", self.shell(console[0]))[0]
        self.assertIn("echo", self.shell(console[1].replace("apr_019a...", request[:-4])))
        approve, asked, approved = answering.replace("apr_019a...", request).splitlines()[-3:]
        printed, _ = at_terminal(approve.removeprefix("$ "), [(asked, "correct horse")], env=self.env, cwd=self.folder)
        self.assertEqual(printed.strip(), approved)
        answer = next(json.loads(line) for line in gate.stdout if json.loads(line).get("id") == 2)
        self.assertEqual(answer["result"]["content"][0]["text"], "hi")

    # The inspector took the `--` of an earlier version of this command as its own.
    def test_the_inspector_is_run_as_the_page_says(self):
        PEERS.need()
        INSPECTOR.need()
        (self.folder / "node_modules").symlink_to(PEERS.modules)
        command = self.block("docs/mcp.md", "@modelcontextprotocol/inspector").strip().replace(
            "npx @modelcontextprotocol/inspector --cli", f"{INSPECTOR.modules}/.bin/mcp-inspector --cli --connect-timeout 120000")
        tools = json.loads(self.shell(command, MEMORY_FILE_PATH=str(self.folder / "memory.json")))["tools"]
        self.assertIn("read_graph", [tool["name"] for tool in tools])

    def test_serving_over_http_and_asking_with_the_inspector(self):
        PEERS.need()
        INSPECTOR.need()
        (self.folder / "node_modules").symlink_to(PEERS.modules)
        notes = self.folder / "notes"
        notes.mkdir()
        text = blocks("docs/serve.md", "yaml")[0].replace("/var/lib/sallyport", str(self.data)).replace("/srv/notes", str(notes)).replace(":8765", ":0")
        self.write("sallyport.yaml", text)
        console = self.block("docs/serve.md", "$ sallyport serve --config", "")
        serve = next(line for line in console.splitlines() if "sallyport serve" in line).removeprefix("$ ").split()
        server = subprocess.Popen([*serve, "--json"], env=self.env, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for close in (server.wait, server.kill, server.stdout.close):
            self.addCleanup(close)
        url = json.loads(server.stdout.readline())["url"]
        asked = console[console.index("npx"):].replace("npx @modelcontextprotocol/inspector --cli", f"{INSPECTOR.modules}/.bin/mcp-inspector --cli --connect-timeout 120000")
        asked = asked.replace("http://127.0.0.1:8765/mcp", url).replace("/var/lib/sallyport", str(self.data))
        self.assertIn("read_text_file", [tool["name"] for tool in json.loads(self.shell(asked))["tools"]])

    def test_guardrails_are_checked_and_tested_as_the_page_says(self):
        for line in self.block("docs/guardrails.md", "policy test examples", "console").splitlines():
            self.shell(f"cd {ROOT} && {line.removeprefix('$ ')}")


if __name__ == "__main__":
    unittest.main()
