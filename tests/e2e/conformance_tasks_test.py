#!/usr/bin/env python3
"""Runs the conformance suite of the tasks extension against a server that supports it, then through the gate."""
import concurrent.futures
import unittest

from cli_support import CliTest
from conformance_support import PEERS, Listening, http_gate, run_server_scenario, tasks_fixture

# One more scenario, about notifications, checks nothing yet by its own statement.
SCENARIOS = ("lifecycle", "capability-negotiation", "wire-fields", "request-state-removal", "mrtr-input", "request-headers", "dispatch-and-envelope",
             "required-task-error", "mrtr-composition")


class Tasks(CliTest):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        PEERS.need()

    def setUp(self):
        super().setUp()
        self.fixture = Listening(tasks_fixture(), self.environment(), self.folder)
        self.addCleanup(self.fixture.stop)

    def passed(self, title, url):
        """Returns the checks that passed, by scenario; a scenario mostly waits."""
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            run = lambda name: run_server_scenario(title, f"tasks-{name}", url, self.folder, self.environment(), timeout=240)
            scenarios = dict(zip(SCENARIOS, pool.map(run, SCENARIOS)))
        self.assertEqual({name: one.failed + one.warned for name, one in scenarios.items()}, {name: [] for name in SCENARIOS})
        self.assertTrue(all(one.good() for one in scenarios.values()))
        return {name: one.passed for name, one in scenarios.items()}

    def test_the_gate_loses_nothing_of_them(self):
        direct = self.passed("the fixture itself", self.fixture.url)
        self.assertEqual(self.passed("gate before HTTP", http_gate(self, {"url": self.fixture.url}, folder="http").url), direct)
        streams = http_gate(self, {"command": tasks_fixture("stdio")}, folder="streams")
        self.assertEqual(self.passed("gate before standard streams", streams.url), direct)


if __name__ == "__main__":
    unittest.main()
