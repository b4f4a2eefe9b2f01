#!/usr/bin/env python3
"""Runs the public conformance suite against the fixture server itself, to show that it passes everything, then through
the gate, which must not lose a check."""
import unittest

from cli_support import CliTest
from conformance_support import PEERS, REVISIONS, http_fixture, http_gate, run_suite, stdio_fixture


class Conformance(CliTest):
    known = {}
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        PEERS.need()

    def score(self, title, revision, url):
        score = run_suite(title, revision, ["--url", url], self.folder, self.environment())
        print(score.line(), flush=True)
        return score

    def fixture(self, era="both"):
        fixture = http_fixture(self.environment(), self.folder, era)
        self.addCleanup(fixture.stop)
        return fixture

    def base(self, revision):
        """The results of the fixture alone."""
        if revision not in self.known:
            self.known[revision] = self.score("the fixture itself", revision, self.fixture().url)
        return self.known[revision]

    def nothing_is_lost(self, title, gates):
        for revision, gate in zip(REVISIONS, gates):
            with self.subTest(revision):
                score = self.score(title, revision, gate.url)
                self.assertEqual(score.faults(), [])
                self.assertEqual(score.lost(self.base(revision)), [])

    def test_the_fixture_has_full_marks_by_itself(self):
        for revision in REVISIONS:
            self.assertEqual(self.base(revision).faults(), [])

    def test_the_gate_before_standard_streams_loses_nothing(self):
        # A slow server of both eras is taken for a server with sessions, so its era is configured here.
        gates = [http_gate(self, {"command": stdio_fixture(era)}, folder=era) for era in ("both", "modern")]
        self.nothing_is_lost("gate before standard streams", gates)
        for era in ("both", "modern"):
            self.assertEqual(self.run_bare("ledger", "verify", "--data-dir", self.folder / era).code, 0)

    def test_the_gate_before_http_loses_nothing(self):
        gate = http_gate(self, {"url": self.fixture().url})
        self.nothing_is_lost("gate before HTTP", [gate, gate])
        self.assertEqual(self.cli("ledger", "verify").code, 0)


if __name__ == "__main__":
    unittest.main()
