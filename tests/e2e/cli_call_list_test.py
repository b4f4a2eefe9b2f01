#!/usr/bin/env python3
"""`ledger calls`: one line for each call, with its verdict and the reason."""
import unittest

from cli_support import CliTest


class CallList(CliTest):
    def setUp(self):
        super().setUp()
        self.good("demo", "--no-pause", "--yes", "--json")

    def rows(self, *options):
        return self.good("ledger", "calls", "--json", *options).lines()

    # LE-62
    def test_each_call_is_one_line_with_its_verdict_and_why(self):
        rows = self.rows()
        self.assertEqual([row["verdict"] for row in rows], [
            "runs", "cached", "refused", "refused", "runs", "skipped", "runs", "withheld", "runs", "failed", "unknown"])
        self.assertEqual(len({row["call_id"] for row in rows}), len(rows))
        refused = rows[2]
        self.assertEqual((refused["tool"], refused["what"], refused["why"]),
                         ("write_file", "/etc/motd", "workspace-paths: path.outside"))
        self.assertIn("the document is marked as confidential", rows[7]["why"])
        self.assertIn("No such file", rows[9]["why"])
        self.assertEqual(self.good("ledger", "stats", "--json").json()["calls"], len(rows))

    def test_lines_for_people_say_the_same(self):
        lines = self.good("ledger", "calls").out.splitlines()
        self.assertEqual(len(lines), 12)
        self.assertTrue(lines[0].startswith("when (UTC)"))
        self.assertRegex(lines[3], r"write_file +/etc/motd +refused +workspace-paths: path.outside")
        self.assertRegex(lines[1], r"\.\.\..*notes\.txt +runs")

    def test_the_newest_are_shown_and_filters_narrow(self):
        self.assertEqual([row["verdict"] for row in self.rows("-n", "2")], ["failed", "unknown"])
        self.assertEqual({row["tool"] for row in self.rows("--tool", "shell")}, {"shell"})
        self.assertEqual(len(self.rows("--since", "1h")), 11)
        self.assertIn("no entry matches", self.refused(1, "ledger", "calls", "--until", "1h"))

    # LE-82
    def test_what_is_no_time_and_no_number_is_a_usage_error(self):
        self.assertIn("1h for an hour ago", self.refused(64, "ledger", "calls", "--since", "5x"))
        self.assertIn("from 1 to 10000", self.refused(64, "ledger", "calls", "-n", "0"))


if __name__ == "__main__":
    unittest.main()
