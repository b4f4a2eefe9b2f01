#!/usr/bin/env python3
"""The public conformance suite as the server: the gate is the client that it judges."""
import concurrent.futures
import pathlib
import sys
import unittest

from cli_support import BIN, CliTest
from conformance_support import PEERS, REVISIONS, Score, required, run_client_scenario

DRIVER = pathlib.Path(__file__).with_name("conformance_client.py")
AT_ONCE = 3


class ClientConformance(CliTest):
    @classmethod
    def setUpClass(cls):
        PEERS.need()

    def scenario(self, name, revision):
        data = self.folder / f"data-{name}-{revision}"
        command = [sys.executable, DRIVER, BIN, "mcp", "--policy", "transparent", "--data-dir", data, "--name", "suite", "--url"]
        return run_client_scenario(name, revision, command, self.folder, self.environment())

    def test_the_gate_is_a_good_client(self):
        for revision in REVISIONS:
            with self.subTest(revision):
                names = sorted(name for name in required(revision, "client") if not name.startswith("auth/"))
                with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
                    score = Score(f"the gate as client, {revision}", pool.map(lambda name: self.scenario(name, revision), names))
                print(score.line(), flush=True)
                self.assertEqual(score.faults(), [])


if __name__ == "__main__":
    unittest.main()
