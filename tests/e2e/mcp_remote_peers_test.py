#!/usr/bin/env python3
"""A third-party server over HTTP, behind the gate of a client on standard streams."""
import pathlib
import subprocess
import unittest

import mcp_peers_test
from cli_support import BIN

HERE = pathlib.Path(__file__).parent


class RemotePeers(mcp_peers_test.Peers):
    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen(
            [self.node_path, "--require", HERE / "mcp_loopback.cjs", self.server("everything"), "streamableHttp"], stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, env={**self.environment(), "PORT": "0"}, text=True)
        self.addCleanup(self.end)
        port = next(line.split()[1] for line in self.process.stderr if line.startswith("LISTENING"))
        self.gate_words = [BIN, "mcp", "--data-dir", str(self.data), "--name", "everything", "--url", f"http://127.0.0.1:{port}/mcp"]

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()

    def test_the_sdk_client_gets_the_same_as_from_the_server_itself(self):
        script = HERE / "mcp_sdk_client.mjs"
        direct = self.node(script, self.node_path, self.server("everything"), "stdio")
        self.maxDiff = 4000
        self.assertEqual(self.node(script, *self.gate_words), direct)
        self.assertGreaterEqual(len(self.ends()), 4)
        self.good("ledger", "verify", "--json")

    def test_a_client_of_both_eras_finds_the_new_one(self):
        seen = self.node(HERE / "mcp_auto_client.mjs", *self.gate_words)
        self.assertEqual((seen["version"], seen["echo"]), ("2026-07-28", "Echo: hi"))

    def test_the_inspector_calls_a_tool(self):
        said = self.inspect(*self.gate_words, "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi")
        self.assertEqual(said["content"][0]["text"], "Echo: hi")


# The stdio cases run in their own file.
for inherited in [name for name in dir(mcp_peers_test.Peers) if name.startswith("test_")]:
    setattr(RemotePeers, inherited, None)
del mcp_peers_test


if __name__ == "__main__":
    unittest.main()
