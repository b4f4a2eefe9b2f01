#!/usr/bin/env python3
"""A disk that refuses writes: the ledger reports it, writes nothing partially, and recovers alone.

LE-43, LE-73, LE-74, LE-75, LE-77. The tests that mount a small disk of their own need root.
"""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import writer

RESERVE = 512 * 1024


def may_mount():
    with tempfile.TemporaryDirectory() as folder:
        command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]
        try:
            mounted = subprocess.run(command, capture_output=True).returncode == 0
        except FileNotFoundError:
            return False
        if mounted:
            subprocess.run(["umount", folder], check=True)
        return mounted


CAN_MOUNT = may_mount()
if not CAN_MOUNT:
    print("SKIP: no right to mount: full and read-only disks are NOT tested", file=sys.stderr)


class DiskTest(unittest.TestCase):
    def setUp(self):
        self.keep = tempfile.TemporaryDirectory(prefix="sallyport-disk-")
        self.disk = pathlib.Path(self.keep.name) / "disk"
        self.disk.mkdir()
        self.folder = self.disk / "data"
        self.mounted = False

    def tearDown(self):
        if self.mounted:
            subprocess.run(["umount", "-l", str(self.disk)], check=True)
        self.keep.cleanup()

    def mount(self, megabytes):
        options = f"size={megabytes}m,mode=755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(self.disk)], check=True)
        self.mounted = True

    def fill(self):
        with open(self.disk / "ballast", "ab", buffering=0) as out:
            for size in (65536, 4096, 512):
                try:
                    while True:
                        out.write(b"x" * size)
                except OSError:
                    pass

    def assert_refused(self, answer, cause):
        self.assertFalse(answer["ok"], answer)
        self.assertEqual(answer["cause"], cause, answer)
        self.assertIn("ledger_unavailable", answer["message"])

    def assert_clean(self):
        report = writer.verify(self.folder)
        self.assertTrue(report.get("ok"), report)
        return report

    # Allows the one second of LE-77 and extra time for a loaded machine.
    def assert_health(self, going, ok, cause=""):
        deadline = time.monotonic() + 4
        while True:
            health = going.do("health")
            if health == {"ok": ok, "cause": cause} or time.monotonic() > deadline:
                self.assertEqual(health, {"ok": ok, "cause": cause})
                return
            time.sleep(0.05)

    # LE-73, LE-74, LE-75, LE-77
    @unittest.skipUnless(CAN_MOUNT, "needs the right to mount")
    def test_a_full_disk_refuses_intents_keeps_room_for_outcomes_and_recovers(self):
        self.mount(4)
        with writer.Commanded(self.folder, "--reserve", str(RESERVE)) as going:
            for _ in range(20):
                self.assertTrue(going.do("announce")["ok"])
            self.fill()
            for _ in range(2000):
                answer = going.do("announce")
                if not answer["ok"]:
                    break
            self.assert_refused(answer, "no_space")
            written = [going.do("report")["sequence"] for _ in range(30)]
            self.assertEqual(written, list(range(written[0], written[0] + 30)))
            self.assert_refused(going.do("announce"), "no_space")
            self.assertEqual(going.do("health"), {"ok": False, "cause": "no_space"})
            (self.disk / "ballast").unlink()
            self.assert_health(going, True)
            self.assertEqual(going.do("announce")["sequence"], written[-1] + 1)
            self.assertEqual((self.folder / "reserve").stat().st_size, RESERVE)
        self.assert_clean()

    # LE-76, LE-77
    @unittest.skipUnless(CAN_MOUNT, "needs the right to mount")
    def test_what_is_owed_is_written_when_there_is_room_again(self):
        self.mount(4)
        with writer.Commanded(self.folder, "--reserve", "0") as going:
            first = going.do("announce")["sequence"]
            self.fill()
            while going.do("announce")["ok"]:
                pass
            before = len(writer.entries(self.folder))
            going.do("owe")
            going.do("owe")
            self.assert_refused(going.do("announce"), "no_space")
            (self.disk / "ballast").unlink()
            self.assert_health(going, True)
            self.assertEqual(len(writer.entries(self.folder)), before + 2)
            self.assertGreater(going.do("announce")["sequence"], first)
        self.assert_clean()

    # LE-73
    @unittest.skipUnless(CAN_MOUNT, "needs the right to mount")
    def test_a_read_only_disk_does_not_open_for_writing_and_is_left_as_it_was(self):
        self.mount(4)
        with writer.Commanded(self.folder, "--reserve", "0") as going:
            self.assertTrue(going.do("announce")["ok"])
        before = (self.folder / "ledger.db").read_bytes()
        subprocess.run(["mount", "-o", "remount,ro", str(self.disk)], check=True)
        with writer.Commanded(self.folder, "--reserve", "0") as refused:
            self.assert_refused(refused.opened, "read_only")
        self.assertEqual((self.folder / "ledger.db").read_bytes(), before)
        self.assert_clean()  # an auditor's copy may be on a read-only disk
        subprocess.run(["mount", "-o", "remount,rw", str(self.disk)], check=True)
        with writer.Commanded(self.folder, "--reserve", "0") as going:
            self.assertTrue(going.do("announce")["ok"])
        self.assert_clean()

    # LE-73
    def test_a_read_only_file_is_named_as_such(self):
        options = {}
        if os.geteuid() == 0:
            # Root may write read-only files, so the test runs as another user.
            os.chmod(self.keep.name, 0o755)
            os.chown(self.disk, 65534, 65534)
            tool = pathlib.Path(self.keep.name) / "ledger_writer"
            shutil.copy(writer.WRITER, tool)
            tool.chmod(0o755)
            options = {"user": 65534, "group": 65534, "extra_groups": []}
            self.addCleanup(setattr, writer, "WRITER", writer.WRITER)
            writer.WRITER = str(tool)
        with writer.Commanded(self.folder, **options) as going:
            self.assertTrue(going.do("announce")["ok"])
        (self.folder / "ledger.db").chmod(0o400)
        with writer.Commanded(self.folder, **options) as refused:
            self.assert_refused(refused.opened, "read_only")
        (self.folder / "ledger.db").chmod(0o600)
        with writer.Commanded(self.folder, **options) as going:
            self.assertTrue(going.do("announce")["ok"])

    # LE-43, LE-73, LE-77
    def test_a_locked_database_refuses_within_the_wait_and_works_when_it_is_let_go(self):
        with writer.Commanded(self.folder, "--lock-wait", "400") as going:
            self.assertTrue(going.do("announce")["ok"])
            other = sqlite3.connect(self.folder / "ledger.db", isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
            began = time.monotonic()
            self.assert_refused(going.do("announce"), "busy")
            spent = time.monotonic() - began
            self.assertGreater(spent, 0.3)
            self.assertLess(spent, 3)
            self.assertFalse(going.do("health")["ok"])
            other.execute("ROLLBACK")
            other.close()
            self.assertTrue(going.do("announce")["ok"])
            self.assertEqual(going.do("health"), {"ok": True, "cause": ""})
        self.assert_clean()

    # LE-77
    def test_health_comes_back_without_anybody_appending(self):
        with writer.Commanded(self.folder, "--lock-wait", "100") as going:
            other = sqlite3.connect(self.folder / "ledger.db", isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
            self.assert_refused(going.do("announce"), "busy")
            other.execute("ROLLBACK")
            other.close()
            self.assert_health(going, True)
        self.assert_clean()

    # LE-73
    def test_a_file_that_is_taken_away_is_refused_until_it_is_back(self):
        with writer.Commanded(self.folder) as going:
            self.assertTrue(going.do("announce")["ok"])
            away = self.folder / "away.db"
            (self.folder / "ledger.db").rename(away)
            self.assert_refused(going.do("announce"), "io")
            (self.folder / "ledger.db").write_bytes(b"")
            self.assert_refused(going.do("announce"), "io")
            away.rename(self.folder / "ledger.db")
            self.assertTrue(going.do("announce")["ok"])
        self.assert_clean()


if __name__ == "__main__":
    unittest.main()
