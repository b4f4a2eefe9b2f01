#!/usr/bin/env python3
"""The shipped policies with third-party programs: public tool servers read, and coding agents read and plan."""
import json
import os
import sys
import unittest

from cli_support import CliTest
from mcp_peers_test import PEERS
from mcp_support import LEGACY, Client

POLICIES = ("ask-before-effects", "read-only", "coding")
# Tools that change nothing, by their names in the hosts.
AGENTS = {
    "claude-code": (("Read", {"file_path": "/w/a"}), ("Glob", {"pattern": "*"}), ("Grep", {"pattern": "x", "path": "/w"}), ("TodoWrite", {"todos": []}),
                    ("TaskCreate", {"subject": "x"}), ("TaskList", {}), ("Agent", {"prompt": "x"}), ("AskUserQuestion", {"questions": []}),
                    ("EnterPlanMode", {}), ("ExitPlanMode", {"plan": "x"}), ("Skill", {"skill": "x"}), ("ToolSearch", {"query": "x"}), ("Bash", {"command": "cat a"})),
    "codex": (("update_plan", {"plan": []}), ("view_image", {"path": "/w/a.png"}), ("request_user_input", {"questions": []}), ("Bash", {"command": "cat a"})),
    "gemini": (("read_file", {"file_path": "/w/a"}), ("read_many_files", {"include": ["*"]}), ("list_directory", {"dir_path": "/w"}), ("glob", {"pattern": "*"}),
               ("search_file_content", {"pattern": "x"}), ("grep_search", {"pattern": "x"}), ("write_todos", {"todos": []}), ("ask_user", {"questions": []}),
               ("enter_plan_mode", {}), ("exit_plan_mode", {"plan_path": "p"}), ("update_topic", {"title": "x"}), ("run_shell_command", {"command": "cat a"})),
    "copilot": (("view", {"path": "/w/a"}), ("grep", {"pattern": "x"}), ("glob", {"pattern": "*"}), ("update_todo", {"todos": "x"}),
                ("report_intent", {"intent": "x"}), ("ask_user", {"question": "x"}), ("bash", {"command": "cat a"})),
    "cursor": (("Read", {"file_path": "/w/a"}), ("Grep", {"pattern": "x"}), ("Glob", {"pattern": "*"}), ("TodoWrite", {"todos": []}),
               ("Task", {"prompt": "x"}), ("Shell", {"command": "cat a"})),
}
WRITES = {"claude-code": ("Write", {"file_path": "/elsewhere/a", "content": "x"}), "codex": ("apply_patch", {"command": "*** Begin Patch\n*** Add File: /elsewhere/a\n+x\n*** End Patch"}),
          "gemini": ("write_file", {"file_path": "/elsewhere/a", "content": "x"}), "copilot": ("create", {"path": "/elsewhere/a", "file_text": "x"}),
          "cursor": ("Write", {"file_path": "/elsewhere/a", "contents": "x"})}
# The public Git server is a Python program from another registry: this server has its name and its tools.
GIT = '''#!{python}
import json, sys
names = ["git_status", "git_diff_unstaged", "git_diff_staged", "git_diff", "git_log", "git_show", "git_branch", "git_commit", "git_add", "git_reset", "git_checkout"]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {{"content": [{{"type": "text", "text": "done"}}]}}
    if message["method"] == "initialize":
        result = {{"protocolVersion": message["params"]["protocolVersion"], "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "mcp-git", "version": "1"}}}}
    if message["method"] == "tools/list":
        result = {{"tools": [{{"name": name, "inputSchema": {{"type": "object"}}}} for name in names]}}
    print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], "result": result}}), flush=True)
'''


def event(agent, session, number, tool, arguments):
    common = {"session_id": session, "cwd": "/w", "tool_name": tool, "tool_input": arguments}
    if agent == "copilot":
        return {"sessionId": session, "timestamp": 1763208000000 + number, "cwd": "/w", "toolName": tool, "toolArgs": json.dumps(arguments)}
    if agent == "cursor":
        return {**common, "hook_event_name": "preToolUse", "conversation_id": session, "workspace_roots": ["/w"], "tool_use_id": f"u-{number}"}
    if agent == "gemini":
        return {**common, "hook_event_name": "BeforeTool", "timestamp": f"2026-11-15T12:00:{number:02}Z"}
    return {**common, "hook_event_name": "PreToolUse", "tool_use_id": f"u-{number}", "permission_mode": "default"}


class Agents(CliTest):
    def verdicts(self, agent, policy, calls):
        said = []
        for number, (tool, arguments) in enumerate(calls):
            outcome = self.run_bare("hook", "--agent", agent, "--policy", policy, "--data-dir", self.data,
                                    stdin=json.dumps(event(agent, f"{agent}-{policy}", number, tool, arguments)).encode())
            self.assertEqual(outcome.code, 0, outcome.err)
            answer = json.loads(outcome.out) if outcome.out.strip() else {}
            said.append(answer.get("permission") or answer.get("decision") or answer.get("permissionDecision") or
                        answer.get("hookSpecificOutput", {}).get("permissionDecision") or "allow")
        return said

    # RU-28 (partly) RU-31 (partly)
    def test_reading_and_planning_tools_of_all_agents_run_and_writing_ones_do_not(self):
        for agent, calls in AGENTS.items():
            for policy in POLICIES:
                with self.subTest(agent=agent, policy=policy):
                    *looked, wrote = self.verdicts(agent, policy, [*calls, WRITES[agent]])
                    self.assertEqual([call[0] for call, verdict in zip(calls, looked) if verdict != "allow"], [])
                    self.assertNotEqual(wrote, "allow")


class Servers(CliTest):
    def server(self, policy, name, *command):
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        git = programs / "mcp-server-git"
        git.write_text(GIT.format(python=sys.executable))
        git.chmod(0o755)
        modules = self.folder / "node_modules"
        if not modules.exists() and PEERS.installed():
            modules.symlink_to(PEERS.modules)
        client = Client(self, command, env=self.environment(PATH=f"{programs}:{os.environ['PATH']}", MEMORY_FILE_PATH=self.folder / "memory.json"),
                        options=("--policy", policy, "--name", name))
        self.addCleanup(client.process.wait)
        self.addCleanup(client.process.kill)
        client.request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        client.tell("notifications/initialized")
        client.request("tools/list")
        return client

    def calls(self, name, *command):
        """Every reading call runs under each policy; the writing call does not run under policies that permit no writing."""
        *looks, (tool, arguments) = command[-1]
        for policy in POLICIES:
            client = self.server(policy, name, *command[:-1])
            for look, asked in looks:
                with self.subTest(policy=policy, tool=look):
                    said = client.request("tools/call", {"name": look, "arguments": asked}, timeout=30)["result"]
                    self.assertFalse(said.get("isError", False), said)
                    self.assertNotIn("sallyport", said.get("structuredContent", {}))
            number = client.ask("tools/call", {"name": tool, "arguments": arguments})
            if policy == "read-only":
                self.assertIn("was not run", client.answer(number)["result"]["content"][0]["text"])
            elif policy == "ask-before-effects":
                client.wait_for_error(f"`{tool}` of `{name}` waits for approval")
            client.process.stdin.close()
            client.process.wait(60)

    # RU-28 (partly)
    def test_the_public_git_server_reads(self):
        self.calls("git", "mcp-server-git", [("git_status", {"repo_path": "/w"}), ("git_log", {"repo_path": "/w"}), ("git_show", {"repo_path": "/w", "revision": "HEAD"}),
                                             ("git_diff", {"repo_path": "/w", "target": "main"}), ("git_commit", {"repo_path": "/w", "message": "x"})])

    # RU-28 (partly)
    def test_the_public_filesystem_server_reads(self):
        PEERS.need()
        work = self.folder / "work"
        work.mkdir()
        (work / "a.txt").write_text("hi")
        path = {"path": str(work / "a.txt")}
        self.calls("files", "npx", "-y", "@modelcontextprotocol/server-filesystem", work, [
            ("read_text_file", path), ("read_multiple_files", {"paths": [str(work / "a.txt")]}), ("list_directory", {"path": str(work)}),
            ("directory_tree", {"path": str(work)}), ("search_files", {"path": str(work), "pattern": "a"}), ("get_file_info", path),
            ("list_allowed_directories", {}), ("write_file", {"path": str(work / "b.txt"), "content": "x"})])

    # RU-28 (partly)
    def test_the_public_memory_server_reads(self):
        PEERS.need()
        self.calls("memory", "npx", "-y", "@modelcontextprotocol/server-memory", [
            ("read_graph", {}), ("search_nodes", {"query": "x"}), ("open_nodes", {"names": ["x"]}),
            ("create_entities", {"entities": [{"name": "n", "entityType": "t", "observations": []}]})])


if __name__ == "__main__":
    unittest.main()
