#!/usr/bin/env python3
"""Edges of the command line: empty values, values that do not fit, files that are not there, no ledger yet."""
import json
import signal
import subprocess
import unittest

from cli_support import BIN, CliTest, within


class NoLedgerYet(CliTest):
    def started(self, *arguments):
        process = subprocess.Popen([BIN, *arguments, "--data-dir", self.data], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment(), cwd=self.folder)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, 30)
        self.addCleanup(process.kill)
        return process

    # Commands that watch once ended where there was no ledger yet, so they could not be started first.
    # LE-62, AP-28
    def test_commands_that_watch_wait_for_the_first_call(self):
        waiting = b"waiting for the first call\n"
        tail, watch = self.started("ledger", "tail", "-f", "--json"), self.started("approvals", "watch")
        for process in (tail, watch):
            self.assertTrue(process.stderr.readline().endswith(waiting))
        self.assertFalse(self.data.exists())
        self.make_ledger(1)
        self.assertEqual(json.loads(tail.stdout.readline())["entry"]["sequence"], 0)
        watch.send_signal(signal.SIGINT)
        self.assertEqual(watch.wait(within(30)), 0)

    def test_all_other_commands_say_how_one_is_made(self):
        for words in (["ledger", "calls"], ["ledger", "tail"], ["ledger", "show"], ["ledger", "stats"], ["approvals", "list"],
                      ["pins", "list"], ["grants", "list"], ["trust", "show"], ["keys", "show"]):
            self.assertIn("there is no ledger yet", self.refused(1, *words))
        self.assertFalse(self.data.exists())


if __name__ == "__main__":
    unittest.main()
