#!/usr/bin/env python3
"""Tokens and logins by third-party programs: `jose` signs, and the public SDK client discovers how to get a token."""
import json
import pathlib
import shutil
import subprocess
import unittest
import urllib.request

import mcp_peers_test
import npm_peers
from serve_security_test import OPENING
from serve_support import ServeTest, Session
from token_authority import TokenAuthority

HERE = pathlib.Path(__file__).parent
JOSE = npm_peers.Peers("jose", {"jose": "6.2.17"})


class Jose(ServeTest):
    @classmethod
    def setUpClass(cls):
        JOSE.need()
        cls.node_path = npm_peers.node(20)

    def setUp(self):
        super().setUp()
        self.process = subprocess.Popen([self.node_path, HERE / "jose_authority.mjs"], stdout=subprocess.PIPE, text=True,
                                        env={**self.environment(), "JOSE_MODULES": str(JOSE.modules)})
        self.addCleanup(self.end)
        self.issuer = self.process.stdout.readline().strip()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def sign(self, algorithm, audience, **claims):
        body = json.dumps({"alg": algorithm, "audience": audience, "claims": {"client_id": "jose", **claims}}).encode()
        with urllib.request.urlopen(f"{self.issuer}/sign", body, timeout=60) as answer:
            return answer.read().decode()

    def test_tokens_of_each_kind_are_taken(self):
        server = self.serve(f"authorization: {{issuers: [{{name: peer, issuer: '{self.issuer}'}}]}}")
        url = server.started["url"]
        for algorithm in ("RS256", "PS256", "ES256", "EdDSA", "Ed25519"):
            session = Session(server, token=self.sign(algorithm, [url, "x"]))
            self.assertEqual(session.said("echo", {"message": algorithm}), algorithm)
        self.assertEqual(server.ask(body=OPENING, token=self.sign("ES384", url))[0], 401)
        self.assertEqual(server.ask(body=OPENING, token=self.sign("ES256", "x"))[0], 401)
        server.stop()
        self.assertEqual({end["agent_id"] for end in self.one_end_for_each_call(5)}, {"peer/jose"})


@unittest.skipIf(shutil.which("openssl") is None, "openssl signs the tokens of this test")
class SdkClient(ServeTest, mcp_peers_test.Peers):
    def test_it_logs_in_with_nothing_but_the_address(self):
        authority = TokenAuthority(self.folder)
        self.addCleanup(authority.stop)
        server = self.serve(f"authorization: {{scopes: [tools, more], issuers: [{{name: corp, issuer: '{authority.origin}'}}]}}")
        seen = self.node(HERE / "mcp_oauth_client.mjs", server.started["url"])
        self.assertEqual((seen["said"], seen["scope"], seen["resource"]), ("hi", "tools more", server.started["url"]))
        self.assertIn("/register", authority.paths())
        server.stop()
        self.assertEqual([end["agent_id"] for end in self.one_end_for_each_call(1)], [f"corp/{seen['client']}"])
        self.assertNotIn(seen["token"], self.good("ledger", "show", "--limit", "1000", "--json").out)


# The stdio cases run in their own file.
for inherited in [name for name in dir(mcp_peers_test.Peers) if name.startswith("test_")]:
    setattr(SdkClient, inherited, None)
del mcp_peers_test


if __name__ == "__main__":
    unittest.main()
