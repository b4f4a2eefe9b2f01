#!/usr/bin/env python3
"""Tools with an output schema: the public SDK client checks every result, also the gate's replacements."""
import json
import pathlib
import subprocess
import sys
import unittest

import npm_peers
from cli_support import BIN, CliTest

HERE = pathlib.Path(__file__).parent
# The first version that checks results, one in the middle, and the current version.
VERSIONS = {version: npm_peers.Peers(f"sdk-{version}", {"@modelcontextprotocol/sdk": version}) for version in ("1.13.0", "1.20.2", "1.32.2")}
SERVER = '''
import json, sys
tool = {"name": "write_note", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object", "properties": {"bytes": {"type": "number"}}, "required": ["bytes"], "additionalProperties": False}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [tool]}
    else:
        result = {"content": [{"type": "text", "text": "2 bytes"}], "structuredContent": {"bytes": 2}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
'''
TIERS = {"skipped": "autonomy: {tier: shadow}\n", "proposed": "autonomy: {tier: suggest}\n",
         "pending_approval": "autonomy: {tier: act_with_approval}\napprovals: {hold_s: 0}\n",
         "blocked": "autonomy: {tier: act_auto}\nrules: [{id: never, then: deny, when: {tool: write_note}, message: Not here.}]\n",
         None: "autonomy: {tier: act_auto}\n"}


class OutputSchemas(CliTest):
    @classmethod
    def setUpClass(cls):
        for peers in VERSIONS.values():
            peers.need()
        cls.node = npm_peers.node(20)

    def call(self, version, policy):
        server = self.write("server.py", SERVER)
        gate = [BIN, "mcp", "--data-dir", str(self.data), "--policy", str(policy), "--", sys.executable, str(server)]
        done = subprocess.run([self.node, HERE / "mcp_output_schema_client.mjs", *gate], capture_output=True, text=True, timeout=120, cwd=self.folder,
                              env={**self.environment(), "MCP_MODULES": str(VERSIONS[version].modules),
                                   "MCP_CALL": json.dumps({"name": "write_note", "arguments": {"text": "hi"}})})
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    # A pending or skipped call of such a tool once made the client throw: it had no structured content, or another form.
    # AT-27 (partly) AP-35 (partly) RU-71 (partly)
    def test_whatever_became_of_a_call_the_client_takes_the_result_and_the_model_reads_it(self):
        words = {"skipped": "was not run and will not be", "proposed": "was not run", "pending_approval": "waits for a person",
                 "blocked": "Not here.", None: "2 bytes"}
        for status, policy in TIERS.items():
            for version in VERSIONS if status in ("pending_approval", "blocked") else ("1.32.2",):
                with self.subTest(status=status, version=version):
                    seen = self.call(version, self.write("policy.yaml", "version: 1\n" + policy))
                    self.assertTrue(seen["schema"])
                    said = seen["said"]
                    self.assertNotIn("failed", said)
                    self.assertIn(words[status], said["content"][0]["text"])
                    if status is None:
                        self.assertEqual(said["structuredContent"], {"bytes": 2})
                        continue
                    self.assertTrue(said["isError"])
                    self.assertNotIn("structuredContent", said)
                    self.assertEqual(said["_meta"]["sallyport"]["status"], status)
                    self.assertIn("call_id", said["_meta"]["sallyport"])


if __name__ == "__main__":
    unittest.main()
