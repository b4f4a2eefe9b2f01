#!/usr/bin/env python3
"""The public client of both eras before the fixture server of either era: it must see the same through the gate as
without it, translated or not."""
import json
import pathlib
import subprocess
import unittest

import npm_peers
from cli_support import BIN, CliTest
from conformance_support import PEERS, fixture_environment, http_fixture, http_gate, stdio_fixture

SCRIPT = pathlib.Path(__file__).with_name("mcp_features_client.mjs")


class BothEras(CliTest):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        PEERS.need()
        cls.node_path = npm_peers.node(20)

    def seen(self, era, *target):
        """Returns the output of a client of this era."""
        done = subprocess.run([self.node_path, SCRIPT, era, *map(str, target)], capture_output=True, text=True, timeout=240,
                              env=fixture_environment(self.environment()), cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return json.loads(done.stdout)

    def same(self, era):
        direct = self.seen(era, *stdio_fixture())
        self.assertEqual((direct["opened"]["era"], direct["cancelled"], len(direct["asked"])), (era, "1", 10))
        for other in ("legacy", "modern"):
            with self.subTest(f"mcp, {other} server"):
                self.assertEqual(self.seen(era, BIN, "mcp", "--data-dir", self.folder / f"{era}-{other}", "--policy", "transparent", "--", *stdio_fixture(other)), direct)
            with self.subTest(f"serve, {other} server"):
                fixture = http_fixture(self.environment(), self.folder, other)
                self.addCleanup(fixture.stop)
                self.assertEqual(self.seen(era, http_gate(self, {"url": fixture.url}, folder=f"serve-{era}-{other}").url), direct)

    def test_a_client_of_sessions_sees_the_same_through_the_gate(self):
        self.same("legacy")

    def test_a_stateless_client_sees_the_same_through_the_gate(self):
        self.same("modern")


if __name__ == "__main__":
    unittest.main()
