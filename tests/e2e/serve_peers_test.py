#!/usr/bin/env python3
"""Third-party programs over HTTP: the public SDK clients of both eras and the inspector."""
import json
import pathlib
import unittest

import mcp_peers_test
from serve_support import ServeTest

HERE = pathlib.Path(__file__).parent


class ServedPeers(ServeTest, mcp_peers_test.Peers):
    def served(self):
        return self.serve(command=(self.node_path, self.server("everything"), "stdio"))

    def test_the_sdk_client_gets_the_same_over_http_as_from_the_server_itself(self):
        script = HERE / "mcp_sdk_client.mjs"
        direct = self.node(script, self.node_path, self.server("everything"), "stdio")
        server = self.served()
        self.maxDiff = 4000
        self.assertEqual(self.node(script, server.started["url"], MCP_TOKEN=server.token), direct)
        server.stop()
        self.assertGreaterEqual(len(self.ends()), 4)
        self.good("ledger", "verify", "--json")

    def test_a_client_of_both_eras_finds_the_new_one(self):
        server = self.served()
        seen = self.node(HERE / "mcp_auto_client.mjs", server.started["url"], MCP_TOKEN=server.token)
        self.assertEqual((seen["version"], seen["echo"]), ("2026-07-28", "Echo: hi"))

    def test_the_inspector_calls_a_tool(self):
        server = self.served()
        said = self.inspect(server.started["url"], "--transport", "http", "--header", f"Authorization: Bearer {server.token}",
                            "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hi")
        self.assertEqual(said["content"][0]["text"], "Echo: hi")
        listed = self.inspect(server.started["url"], "--transport", "http", "--header", f"Authorization: Bearer {server.token}",
                              "--method", "tools/list")
        self.assertIn("echo", [tool["name"] for tool in listed["tools"]])
        self.assertNotIn(server.token, json.dumps(self.good("ledger", "show", "--limit", "1000", "--json").out))


# The stdio cases run in their own file.
for inherited in [name for name in dir(mcp_peers_test.Peers) if name.startswith("test_")]:
    setattr(ServedPeers, inherited, None)
del mcp_peers_test


if __name__ == "__main__":
    unittest.main()
