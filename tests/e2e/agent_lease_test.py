#!/usr/bin/env python3
"""A runtime that sleeps past its lease has lost its session."""
import signal
import time
import unittest

from agent_support import ScriptedAgents, shell


class Lease(ScriptedAgents):
    # RT-78 (partly) RT-79 RT-80 RT-81
    def test_a_process_that_slept_past_its_lease_writes_no_more(self):
        rounds = [{"calls": [shell(f"echo {i} >> log; sleep 0.2")]} for i in range(200)]
        agent = self.write_agent([*rounds, {"text": "the end"}])
        sleeper = self.start_agent("run", agent, "work", "--session", "s-1")
        self.wait_until(lambda: len(self.lines()) >= 2, "it does not work")
        sleeper.send_signal(signal.SIGSTOP)
        # While its lease is valid, nobody else may work on the session.
        report, told = self.run_to_end("resume", agent, "s-1")
        self.assertIsNone(report)
        self.assertRegex(told, r"20\d\d-\d\d-\d\dT")
        # A script of its own, so that what the new owner does is known.
        other = self.write_agent([*rounds[:0], *[{"text": "taken over"}] * 201], "other.json")
        end = time.monotonic() + 60
        while report is None:
            self.assertLess(time.monotonic(), end, "the lease does not run out")
            report, told = self.run_to_end("resume", other, "s-1")
            if report is None:
                self.assertRegex(told, r"20\d\d-\d\d-\d\dT")
                time.sleep(0.5)
        self.assertEqual((report["status"], report["text"]), ("finished", "taken over"))
        after, effects = self.transcript("s-1"), self.lines()
        sleeper.send_signal(signal.SIGCONT)
        lost = self.report_of(sleeper)
        self.assertEqual(lost["status"], "aborted", lost)
        self.assertTrue(lost["reason"].startswith("lease_lost"), lost)
        self.assertEqual(self.transcript("s-1"), after)
        # The command that was asleep with it may have ended; no other one began.
        self.assertLessEqual(len(self.lines()), len(effects) + 1)
        self.assertEqual(self.assert_balanced(after), [])
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
