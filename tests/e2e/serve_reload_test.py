#!/usr/bin/env python3
"""SIGHUP: configuration, tokens and policy are reloaded while the daemon runs."""
import hashlib
import json
import signal
import sys
import time
import unittest

from mcp_support import FAKE
from serve_support import ServeTest, Server

OPEN = "version: 1\nautonomy: {tier: act_auto}\n"
SHUT = "version: 1\nautonomy: {tier: act_auto}\nrules: [{id: never, then: deny, when: {tool: echo}, message: Not today.}]\n"


class Reload(ServeTest):
    def configure_agents(self, policy, port=0, **tokens):
        agents = ", ".join(f'{{name: "agent:{name}", token_sha256: "{hashlib.sha256(token.encode()).hexdigest()}"}}' for name, token in tokens.items())
        command = ", ".join(json.dumps(str(word)) for word in (sys.executable, FAKE))
        return self.write("serve.yaml", f"version: 1\ndata_dir: data\nserve:\n  listen: 127.0.0.1:{port}\n  policy: {policy}\n  agents: [{agents}]\n"
                                        f"  upstreams: [{{name: fake, command: [{command}]}}]\n")

    def heard(self, server, words, count=1):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if sum(words in line for line in list(server.errors)) >= count:
                return
            time.sleep(0.02)
        self.fail(f"{words!r} was not said: {''.join(server.errors)}")

    def hang_up(self, server, words):
        before = sum(words in line for line in server.errors)
        server.process.send_signal(signal.SIGHUP)
        self.heard(server, words, before + 1)

    def status(self, server, token):
        body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        return server.ask(body=body, token=token)[0]

    # SIGHUP once ended it.
    def test_tokens_and_policy_change_while_it_runs_and_what_cannot_is_named(self):
        self.write("open.yaml", OPEN)
        self.write("shut.yaml", SHUT)
        server = Server(self, self.configure_agents("open.yaml", a="token-of-a-0123456789", b="token-of-b-0123456789"))
        self.addCleanup(self.end_server, server)
        self.assertEqual([self.status(server, f"token-of-{name}-0123456789") for name in "abc"], [200, 200, 401])
        self.configure_agents("shut.yaml", port=1, b="token-of-b-0123456789", c="token-of-c-0123456789")
        self.hang_up(server, "a change of `listen` counts from the next start")
        self.assertEqual([self.status(server, f"token-of-{name}-0123456789") for name in "abc"], [401, 200, 200])
        self.heard(server, f"the policy {self.folder}/shut.yaml is in force")
        loads = [row["body"] for row in self.good("ledger", "show", "--kind", "control", "--limit", "100", "--json").lines() if row["body"]["control"] == "policy_loaded"]
        self.assertEqual([(load["generation"], load["source"].rsplit("/", 1)[-1]) for load in loads], [(1, "open.yaml"), (2, "shut.yaml")])

    def test_a_wrong_configuration_or_policy_leaves_what_was_in_force(self):
        self.write("open.yaml", OPEN)
        config = self.configure_agents("open.yaml", a="token-of-a-0123456789")
        server = Server(self, config)
        self.addCleanup(self.end_server, server)
        good = config.read_text()
        for text in (good.replace("upstreams", "upstrems"), good.replace("open.yaml", "missing.yaml"), "serve: ["):
            config.write_text(text)
            self.hang_up(server, "the configuration was refused, what was in force stays")
            self.assertEqual(self.status(server, "token-of-a-0123456789"), 200)
        config.write_text(good)
        self.hang_up(server, "open.yaml is in force")
        server.process.terminate()
        self.assertEqual(server.process.wait(60), 0)


if __name__ == "__main__":
    unittest.main()
