#!/usr/bin/env python3
"""Writers that are killed and stopped at random moments lose nothing they have acknowledged.

LE-41, LE-42, LE-43. SALLYPORT_CRASH_ROUNDS (15) and SALLYPORT_CRASH_ENTRIES (1000) set the size.
"""

import os
import pathlib
import random
import signal
import subprocess
import tempfile
import time
import unittest

import writer

ROUNDS = int(os.environ.get("SALLYPORT_CRASH_ROUNDS", "15"))
ENTRIES = int(os.environ.get("SALLYPORT_CRASH_ENTRIES", "1000"))
SEED = int(os.environ.get("SALLYPORT_CRASH_SEED", str(random.randrange(1 << 30))))


class CrashTest(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory(prefix="sallyport-crash-")
        self.folder = pathlib.Path(self.keep.name) / "data"
        self.output = pathlib.Path(self.keep.name)
        self.running = []

    def tearDown(self):
        for process in self.running:
            process.kill()
            process.wait()
        self.keep.cleanup()

    def start(self, name, threads, count=0):
        process, acknowledged = writer.start_writing(
            self.folder, self.output / name, threads, count
        )
        self.running.append(process)
        return process, acknowledged

    def assert_clean(self):
        report = writer.verify(self.folder)
        self.assertTrue(report.get("ok"), report)
        self.assertEqual(report["exit"], 0, report)
        return report

    # LE-41
    def test_nothing_acknowledged_is_lost_by_kill_minus_9(self):
        chance = random.Random(SEED)
        acknowledged = {}
        began = time.monotonic()
        for number in range(ROUNDS):
            pair = [self.start(f"{number}-{i}", threads=4) for i in range(2)]
            # From "has not opened yet" to "hundreds of commits".
            time.sleep(chance.choice([0.01, 0.05, 0.3]) * chance.random() + 0.02)
            for process, _ in pair:
                time.sleep(chance.random() * 0.02)
                process.send_signal(signal.SIGKILL)
            for process, said in pair:
                self.assertEqual(process.wait(), -signal.SIGKILL, "it ended by itself")
                ids, complaints = said.read()
                self.assertEqual(complaints, [])
                acknowledged.update(ids)
            if not (self.folder / "ledger.db").exists():
                continue
            report = writer.verify(self.folder)
            if not report.get("ok") and not acknowledged and report["exit"] == 2:
                continue  # killed before there was a first entry
            self.assertTrue(report["ok"], f"seed {SEED}, round {number}: {report}")
            stored = writer.entries(self.folder)
            lost = {key: at for key, at in acknowledged.items() if stored.get(key) != at}
            self.assertEqual(lost, {}, f"seed {SEED}, round {number}")
        self.assertGreater(len(acknowledged), 0)
        spent = time.monotonic() - began
        print(
            f"{ROUNDS} rounds in {spent:.1f} s, {len(acknowledged)} acknowledged, "
            f"{report['tree_size']} entries, seed {SEED}"
        )

    # LE-42
    def test_eight_processes_write_one_tree(self):
        began = time.monotonic()
        writers = [self.start(f"many-{i}", threads=4, count=ENTRIES // 4) for i in range(8)]
        acknowledged = {}
        for process, said in writers:
            self.assertEqual(process.wait(timeout=500), 0, said.read()[1])
            acknowledged.update(said.read()[0])
        spent = time.monotonic() - began
        self.assertEqual(len(acknowledged), 8 * ENTRIES)
        report = self.assert_clean()
        stored = writer.entries(self.folder)
        self.assertEqual(
            [key for key, at in acknowledged.items() if stored.get(key) != at], []
        )
        self.assertEqual(sorted(stored.values()), list(range(report["tree_size"])))
        print(f"8 x {ENTRIES} entries in {spent:.1f} s")

    # LE-43
    def test_a_stopped_process_that_holds_nothing_blocks_nobody(self):
        with writer.Commanded(self.folder) as stopped, writer.Commanded(self.folder) as going:
            self.assertTrue(stopped.do("announce")["ok"])
            stopped.process.send_signal(signal.SIGSTOP)
            try:
                began = time.monotonic()
                for _ in range(50):
                    self.assertTrue(going.do("announce")["ok"])
                self.assertLess(time.monotonic() - began, 60)
            finally:
                stopped.process.send_signal(signal.SIGCONT)
            self.assertTrue(stopped.do("announce")["ok"])
        self.assert_clean()

    # LE-43
    def test_writers_stopped_at_random_moments_cost_a_bounded_wait_at_most(self):
        chance = random.Random(SEED)
        with writer.Commanded(self.folder, "--lock-wait", "300") as going:
            stopped, said = self.start("stopped", threads=2)
            while not said.read()[0]:
                time.sleep(0.01)
            for _ in range(10):
                time.sleep(chance.random() * 0.02)
                stopped.send_signal(signal.SIGSTOP)
                began = time.monotonic()
                answer = going.do("announce")
                self.assertLess(time.monotonic() - began, 20)
                if not answer["ok"]:
                    self.assertEqual(answer["cause"], "busy")
                stopped.send_signal(signal.SIGCONT)
            stopped.kill()
            stopped.wait()
            self.assertTrue(going.do("announce")["ok"], "the lock died with its holder")
            self.assertTrue(going.do("health")["ok"])
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
