#!/usr/bin/env python3
"""Third-party programs through the gate: the public servers, the public SDK client and the inspector.

Without a registry these tests are skipped with a loud message.
"""
import json
import pathlib
import subprocess
import unittest

import npm_peers
from cli_support import BIN, CliTest

HERE = pathlib.Path(__file__).parent
SCOPE = "@modelcontextprotocol/"
PEERS = npm_peers.Peers("mcp", {f"{SCOPE}{name}": version for name, version in {
    "sdk": "1.32.2", "client": "2.4.0", "inspector": "0.22.0", "server-everything": "2026.8.31",
    "server-filesystem": "2026.8.31", "server-memory": "2026.8.31"}.items()})


class Peers(CliTest):
    @classmethod
    def setUpClass(cls):
        PEERS.need()
        cls.node_path = npm_peers.node(20)

    def server(self, name):
        return PEERS.modules / SCOPE / f"server-{name}" / "dist" / "index.js"

    def gate(self, name, *arguments):
        return [BIN, "mcp", "--data-dir", str(self.data), "--name", name, "--", self.node_path, str(self.server(name)), *map(str, arguments)]

    def node(self, script, *arguments, timeout=120, **env):
        done = subprocess.run([self.node_path, script, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              env={**self.environment(**env), "MCP_MODULES": str(PEERS.modules)}, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def inspect(self, *words):
        program = PEERS.modules / ".bin" / "mcp-inspector"
        done = subprocess.run([program, "--cli", *map(str, words)], capture_output=True, text=True, timeout=120,
                              env={**self.environment(), "PATH": f"{pathlib.Path(self.node_path).parent}:{self.environment()['PATH']}"}, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def ends(self):
        rows = self.good("ledger", "show", "--terminal", "true", "--limit", "10000", "--json").lines()
        return [(row["record"]["tool_name"], row["record"]["outcome"]["kind"]) for row in rows]

    def test_the_inspector_reads_files_through_the_gate(self):
        folder = self.folder / "files"
        folder.mkdir()
        (folder / "a.txt").write_text("hello AKIAIOSFODNN7EXAMPLE\n")
        gate = self.gate("filesystem", folder)
        direct = [self.node_path, str(self.server("filesystem")), str(folder)]
        self.assertEqual(self.inspect(*gate, "--method", "tools/list"), self.inspect(*direct, "--method", "tools/list"))
        read = self.inspect(*gate, "--method", "tools/call", "--tool-name", "read_text_file", "--tool-arg", f"path={folder}/a.txt")
        self.assertEqual(read["content"][0]["text"], "hello ****\n")
        self.assertEqual(self.ends(), [("read_text_file", "completed")])

    def test_the_inspector_keeps_a_memory_through_the_gate(self):
        gate = self.gate("memory")
        made = self.inspect(*gate, "--method", "tools/call", "--tool-name", "create_entities",
                            "--tool-arg", 'entities=[{"name":"n","entityType":"t","observations":["o"]}]')
        self.assertFalse(made.get("isError", False), made)
        self.assertEqual(self.ends(), [("create_entities", "completed")])

    def test_the_sdk_client_gets_the_same_through_the_gate_as_without(self):
        script = HERE / "mcp_sdk_client.mjs"
        direct = self.node(script, self.node_path, self.server("everything"), "stdio")
        gated = self.node(script, *self.gate("everything", "stdio"))
        self.maxDiff = 4000
        self.assertEqual(gated, direct)
        self.assertGreaterEqual(len(self.ends()), 4)
        self.good("ledger", "verify", "--json")

    def test_tasks_on_both_sides_are_the_same_through_the_gate_as_without(self):
        script = HERE / "mcp_tasks_client.mjs"
        direct = self.node(script, self.node_path, self.server("everything"), "stdio")
        self.assertEqual((direct["research"][-1][0], len(direct["asked"])), ("result", 3))
        self.maxDiff = 4000
        self.assertEqual(self.node(script, *self.gate("everything", "stdio")), direct)
        self.good("ledger", "verify", "--json")

    def test_a_client_of_both_eras_finds_the_new_one_before_an_old_server(self):
        seen = self.node(HERE / "mcp_auto_client.mjs", *self.gate("everything", "stdio"))
        self.assertEqual((seen["version"], seen["echo"]), ("2026-07-28", "Echo: hi"))


if __name__ == "__main__":
    unittest.main()
