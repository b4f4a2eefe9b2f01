"""Worked examples of the rules page through the fronts themselves: some of each kind through hooks and through a gateway."""
import json
import pathlib
import subprocess
import sys
import time
import unittest

from cli_support import BIN, CliTest
from mcp_support import McpTest

EXAMPLES = [json.loads(line) for line in
            pathlib.Path(__file__).resolve().parents[2].joinpath("tests/golden/rules/examples.jsonl").read_text().splitlines()]
SHIPPED = {"coding", "strict", "starter", "read-only", "ask-before-effects", "transparent"}
HOST = [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"]

# A server with the one tool that an example calls.
SERVER = """
import json, sys
tool, hints = sys.argv[1], json.loads(sys.argv[2])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"content": [{"type": "text", "text": "ran"}]}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "one", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": tool, "description": tool, "inputSchema": {"type": "object"}, "annotations": hints}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def kind(example):
    return example["id"].rsplit("-", 1)[0]


class Examples(CliTest):
    def policy(self, example):
        text = example["policy"]
        return text if text in SHIPPED else self.write(example["id"] + ".yaml", text)


class OverHooks(Examples):
    """This machine has no /w, so paths stay unchanged."""

    def judge(self, example):
        call = example["call"]
        event = {"session_id": example["id"], "hook_event_name": "PreToolUse", "cwd": call["cwd"], "permission_mode": "default",
                 "tool_name": call["tool"], "tool_input": call["input"], "tool_use_id": "toolu_" + example["id"]}
        command = [*HOST, BIN, "hook", "--agent", "claude-code", "--data-dir", str(self.data), "--policy", str(self.policy(example))]
        env = {**self.environment(), "HOME": "/home/user", "CLAUDE_PROJECT_DIR": call["workspace"] or ""}
        process = subprocess.run(command, input=json.dumps(event).encode(), capture_output=True, timeout=120, env=env, cwd=self.folder)
        self.assertEqual(process.returncode, 0, process.stderr)
        said = json.loads(process.stdout)["hookSpecificOutput"] if process.stdout else {}
        return said.get("permissionDecision"), said.get("permissionDecisionReason", "")

    # RU-75, RU-78, RU-79
    def test_examples_of_each_kind_and_verdict(self):
        chosen = {}
        for example in EXAMPLES:
            call = example["call"]
            if call["front"] == "hook" and call["agent"] == "claude-code" and "given" not in example and "result" not in example:
                chosen.setdefault((kind(example), example["expect"]["verdict"]), example)
        self.assertGreaterEqual({name for name, _ in chosen}, {"use", "shell", "path", "host", "rules", "shipped"})
        for example in chosen.values():
            with self.subTest(example["id"]):
                expect = example["expect"]
                decision, reason = self.judge(example)
                if expect["verdict"] == "runs":
                    self.assertIsNone(decision, reason)
                    continue
                self.assertIn(decision, ("ask", "deny") if expect["verdict"] == "asks" else ("deny",))
                named = {"asks": "Rule `{}` asks: ", "refused": "Blocked by rule `{}`: "}.get(expect["verdict"])
                if expect["rule"] and named:
                    self.assertIn(named.format(expect["rule"]), reason)
                else:
                    self.assertNotIn("rule `", reason.lower())


class OverAGateway(McpTest, Examples):
    def opened(self, example):
        server = self.write("server.py", SERVER)
        hints = json.dumps(example.get("given", {}).get("hints", {}))
        call = example["call"]
        client = self.client(sys.executable, server, call["tool"], hints,
                             options=("--name", call["server"], "--policy", str(self.policy(example))))
        client.open()
        client.request("tools/list")
        return client

    def waiting(self):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            rows = self.cli("approvals", "list", "--json").out.splitlines()
            if rows:
                return rows
            time.sleep(0.05)
        return []

    # RU-75, RU-78, RU-79: the examples that depend neither on the agent's name nor on a folder of this machine
    def test_examples_of_calls_of_tool_servers(self):
        for number, name in enumerate(("rules-012", "rules-013", "rules-014", "rules-037", "rules-040", "rules-044")):
            example = next(each for each in EXAMPLES if each["id"] == name)
            with self.subTest(name):
                self.data = self.folder / f"data{number}"
                client = self.opened(example)
                call, expect = example["call"], example["expect"]
                if expect["verdict"] == "asks":
                    client.ask("tools/call", {"name": call["tool"], "arguments": call["input"]})
                    self.assertTrue(self.waiting())
                    continue
                said = client.said(call["tool"], call["input"])
                self.assertEqual(said == "ran", expect["verdict"] == "runs", said)
                if expect["verdict"] == "refused":
                    self.assertIn(f"Blocked by rule `{expect['rule']}`: ", said)


if __name__ == "__main__":
    unittest.main()
