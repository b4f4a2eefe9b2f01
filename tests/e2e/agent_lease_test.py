#!/usr/bin/env python3
"""A runtime that is suspended past its lease loses its session."""
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
        # While the lease is valid, no other process may work on the session.
        report, told = self.run_to_end("resume", agent, "s-1")
        self.assertIsNone(report)
        self.assertRegex(told, r"20\d\d-\d\d-\d\dT")
        # The new owner has its own script, so that its actions are known.
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
        # The sleeping process's command may have ended; no other command began.
        self.assertLessEqual(len(self.lines()), len(effects) + 1)
        self.assertEqual(self.assert_balanced(after), [])
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
