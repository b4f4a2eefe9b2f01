#!/usr/bin/env python3
"""The public conformance suite acts as the server, and the gate is the tested client."""
import concurrent.futures
import pathlib
import sys
import unittest

from cli_support import BIN, CliTest
from conformance_support import PEERS, REVISIONS, Score, required, run_client_scenario

DRIVER = pathlib.Path(__file__).with_name("conformance_client.py")
AT_ONCE = 3
REQUIRED = {"2025-11-25": 18, "2026-07-28": 32}  # of the client, logins among them
# The supported extensions; the others of the suite (DPoP, enterprise-managed authorization, workload identity) are missing.
EXTENSIONS = ("auth/client-credentials-basic", "auth/client-credentials-jwt")


class ClientConformance(CliTest):
    @classmethod
    def setUpClass(cls):
        PEERS.need()

    def scenario(self, name, revision):
        data = self.folder / f"data-{name.replace('/', '-')}-{revision}"
        command = [sys.executable, DRIVER, BIN, "mcp", "--policy", "transparent", "--data-dir", data, "--name", "suite", "--url"]
        # Extensions belong to no revision, so the suite requires an explicit request for them.
        more = ["--force"] if name in EXTENSIONS else []
        return run_client_scenario(name, revision, command, self.folder, self.environment(), more)

    def score(self, title, names, revision):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            score = Score(f"{title}, {revision}", pool.map(lambda name: self.scenario(name, revision), names))
        print(score.line(), flush=True)
        self.assertEqual(score.faults(), [])
        self.assertEqual([warning for scenario in score.scenarios.values() for warning in scenario.warned], [])
        return score

    def test_the_gate_is_a_good_client(self):
        for revision in REVISIONS:
            with self.subTest(revision):
                score = self.score("the gate as client", sorted(required(revision, "client")), revision)
                self.assertEqual(len(score.good()), REQUIRED[revision])

    def test_a_client_may_be_let_in_by_itself(self):
        for revision in REVISIONS:
            with self.subTest(revision):
                self.score("clients by themselves", EXTENSIONS, revision)


if __name__ == "__main__":
    unittest.main()
