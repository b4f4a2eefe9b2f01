#!/usr/bin/env python3
"""Attacks by a program without any key on the data beside the signed entries: openings, checkpoints, facts and their seals."""
import contextlib
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import time
import unittest

from approvals_support import HELD_CALL, ApprovalsTest
from cli_support import CliTest

PATIENCE = 60


def openings(packed):
    """Returns (form, state, path, salt, value) of each, as the store packs them."""
    at, found = 0, []

    def sized():
        nonlocal at
        size = struct.unpack_from(">I", packed, at)[0]
        at += 4 + size
        return packed[at - size:at]

    while at < len(packed):
        form, state = packed[at:at + 1], packed[at + 1:at + 2]
        at += 2
        path = sized()
        salt, value = b"", b""
        if state != b"e":
            salt = packed[at:at + 32]
            at += 32
        if state == b"o":
            value = sized()
        found.append((form, state, path, salt, value))
    return found


def packed(found):
    out = b""
    for form, state, path, salt, value in found:
        out += form + state + struct.pack(">I", len(path)) + path
        out += salt if state != b"e" else b""
        out += struct.pack(">I", len(value)) + value if state == b"o" else b""
    return out


class Beside(CliTest):
    def database(self):
        return contextlib.closing(sqlite3.connect(self.data / "ledger.db", isolation_level=None))

    def sql(self, *statement):
        with self.database() as database:
            return database.execute(*statement).fetchall()

    def verified(self):
        report = self.cli("ledger", "verify", "--json")
        self.assertEqual(report.code, 0 if report.json()["ok"] else 1)
        return report.json().get("first_bad", {})

    def remark(self, state):
        """Sets the state of every opening to `state` and returns the number of openings with content."""
        count = 0
        for sequence, column in self.sql("SELECT sequence, openings FROM entries WHERE openings IS NOT NULL"):
            found = openings(column)
            self.assertEqual(packed(found), column)
            count += sum(opening[1] == b"o" for opening in found)
            changed = packed([(form, state, path, salt, b"") for form, _, path, salt, _ in found])
            self.sql("UPDATE entries SET openings = ? WHERE sequence = ?", (changed, sequence))
        return count


class Openings(Beside):
    def setUp(self):
        super().setUp()
        self.make_ledger(6)

    # LE-46, LE-48, LE-50
    def test_content_that_is_called_withheld_is_found(self):
        self.assertGreater(self.remark(b"w"), 10)
        self.assertEqual(self.verified()["check"], "opening")
        self.assertEqual(self.cli("ledger", "verify").code, 1)

    # LE-46, LE-57
    def test_content_that_is_called_erased_is_found_also_where_an_erasure_covers_it(self):
        self.good("ledger", "erase", "--kind", "tool_audit", "--path", "/body/outcome", "--reason", "asked for")
        for kind in ("intent", "tool_audit"):
            sequence, column = self.sql("SELECT sequence, openings FROM entries WHERE openings IS NOT NULL AND "
                                        "CAST(bytes AS TEXT) LIKE ? ORDER BY sequence", (f'%"kind":"{kind}"%',))[0]
            self.sql("UPDATE entries SET openings = ? WHERE sequence = ?",
                     (packed([(form, b"e", path, b"", b"") for form, _, path, _, _ in openings(column)]), sequence))
            bad = self.verified()
            self.assertEqual((bad["check"], bad["sequence"]), ("opening", sequence))
            self.sql("UPDATE entries SET openings = ? WHERE sequence = ?", (column, sequence))
        self.assertEqual(self.verified(), {})

    # LE-46: the salt allows a guess to be checked
    def test_the_salt_of_a_withheld_opening_is_bound(self):
        self.good("demo", "--yes", "--no-pause", "--plain")
        rows = self.sql("SELECT sequence, openings FROM entries WHERE openings IS NOT NULL")
        sequence, found = next((row[0], openings(row[1])) for row in rows if any(o[1] == b"w" for o in openings(row[1])))
        self.sql("UPDATE entries SET openings = ? WHERE sequence = ?",
                 (packed([(form, state, path, bytes(32) if state == b"w" else salt, value)
                          for form, state, path, salt, value in found]), sequence))
        self.assertEqual((self.verified()["check"], self.verified()["sequence"]), ("opening", sequence))

    # LE-46, LE-57, LE-60
    def test_what_was_erased_or_pruned_does_not_come_back_unseen(self):
        before = self.sql("SELECT * FROM entries WHERE sequence > 3 AND sequence < 12")
        self.good("ledger", "erase", "--call", "call-00002", "--reason", "asked for")
        self.good("ledger", "prune", "--before", "5", "--reason", "old")
        self.assertEqual(self.verified(), {})
        for row in before:
            after = self.sql("SELECT * FROM entries WHERE sequence = ?", (row[0],))[0]
            if after == row:
                continue
            self.sql("REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", row)
            self.assertEqual(self.verified()["check"], "opening")
            self.sql("REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)", after)
        self.assertEqual(self.verified(), {})

    # LE-24, LE-46
    def test_a_checkpoint_inside_the_log_that_is_taken_away_is_found(self):
        inside = self.sql("SELECT sequence FROM entries WHERE checkpoint IS NOT NULL ORDER BY sequence")[2][0]
        self.sql("UPDATE entries SET checkpoint = NULL WHERE sequence = ?", (inside,))
        self.assertEqual(self.verified()["sequence"], inside)

    # LE-31, LE-50, LE-54
    def test_nothing_is_handed_out_of_an_entry_that_is_not_as_it_was_sealed(self):
        sequence, column = self.sql("SELECT sequence, openings FROM entries WHERE openings IS NOT NULL ORDER BY sequence")[1]
        value = openings(column)[0]
        for changed in (packed([(form, b"w", path, salt, b"") for form, _, path, salt, _ in openings(column)]),
                        packed([(value[0], b"o", value[2], value[3], b'"another"'), *openings(column)[1:]])):
            self.sql("UPDATE entries SET openings = ? WHERE sequence = ?", (changed, sequence))
            for command in (["ledger", "show", sequence], ["ledger", "show", "--json"], ["ledger", "tail"], ["ledger", "export"],
                            ["ledger", "receipt", sequence], ["ledger", "export", "--format", "cef", "--with-openings"],
                            ["ledger", "erase", "--kind", "tool_audit", "--reason", "r"],
                            ["ledger", "prune", "--before", sequence + 1, "--reason", "r"]):
                outcome = self.cli(*command)
                self.assertEqual(outcome.code, 1, command)
                self.assertRegex(outcome.err, f"corrupt: entry {sequence}: ", command)
                self.assertNotIn("another", outcome.out)

    # LE-46: each entry was once reported as damaged
    def test_another_secret_is_told_as_such(self):
        (self.data / "keys" / "digest.key").write_text("5a" * 32 + "\n")
        self.assertRegex(self.verified()["detail"], "keys/digest.key is not the key that sealed this ledger")
        self.assertIn("keys/digest.key is not the key", self.refused(1, "keys", "rotate"))
        self.assertRegex(self.cli("doctor").out, "fail facts +.*keys/digest.key is not the key that sealed")
        self.good("ledger", "acknowledge", "--reason", "the key was lost")
        self.assertEqual(self.verified(), {})
        (self.data / "keys" / "digest.key").unlink()
        self.assertRegex(self.verified()["detail"], "keys/digest.key is not the key that sealed this ledger")
        # An auditor's copy holds no secrets at all.
        shutil.rmtree(self.data / "keys")
        self.assertEqual(self.verified(), {})

    # LE-46
    def test_a_trigger_stops_writers(self):
        self.sql("CREATE TRIGGER t AFTER INSERT ON entries BEGIN UPDATE entries SET openings = NULL; END")
        self.assertRegex(self.refused(1, "keys", "rotate"), "corrupt: `t` in .* is not of this program")
        self.assertEqual(self.verified()["check"], "storage")

    # LE-46, LE-53
    def test_an_earlier_log_file_that_is_put_back_is_found(self):
        wal, kept = self.data / "ledger.db-wal", self.folder / "kept-wal"
        with self.database() as reader:
            # While a reader is active, the log is not copied into the database.
            reader.execute("BEGIN")
            reader.execute("SELECT COUNT(*) FROM entries").fetchone()
            self.good("ledger", "hold", "add", "--call", "call-00001", "--reason", "one")
            if wal.exists():
                shutil.copyfile(wal, kept)
            self.good("ledger", "hold", "add", "--call", "call-00002", "--reason", "two")
        if not kept.exists():
            self.skipTest("there was no log beside the database")
        shutil.copyfile(kept, wal)
        for name in ("ledger.db-shm",):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.data / name)
        # Either the file is ignored, or the log is shorter than its witness.
        bad = self.verified()
        entries = self.sql("SELECT COUNT(*) FROM facts WHERE space = 'hold'")[0][0]
        self.assertTrue(entries == 2 and bad == {} or bad != {}, (entries, bad))

    # LE-46, LE-52, LE-81
    def test_a_ledger_of_an_earlier_release_asks_to_be_acknowledged(self):
        with self.database() as database:
            database.execute("PRAGMA writable_schema = ON")
            for table in ("entries", "blocks"):
                (text,) = database.execute("SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()
                database.execute(f"ALTER TABLE {table} DROP COLUMN seal")
                database.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text.replace(",\n  seal BLOB", ""), table))
            database.execute("PRAGMA user_version = 1")
        self.good("ledger", "show")
        self.assertRegex(self.verified()["detail"], "has no seals: an earlier release wrote it")
        self.assertRegex(self.refused(1, "keys", "rotate"), "corrupt: this ledger has no seals: an earlier release wrote it")
        self.good("ledger", "show")
        self.good("ledger", "acknowledge", "--reason", "checked")
        self.assertEqual(self.verified(), {})
        self.good("keys", "rotate")
        self.remark(b"w")
        self.assertEqual(self.verified()["check"], "opening")


class Exports(Beside):
    # LE-37, LE-64
    def test_an_export_says_how_many_openings_were_left_out(self):
        self.good("demo", "--yes", "--no-pause", "--plain")
        self.make_ledger(6)
        # Content that was never kept or was erased is not missing.
        states = {opening[1] for (column,) in self.sql("SELECT openings FROM entries WHERE openings IS NOT NULL") for opening in openings(column)}
        self.assertEqual(states, {b"o", b"w"})
        self.good("ledger", "erase", "--call", "call-00002", "--reason", "asked for")
        whole = self.good("ledger", "export").out
        key = self.keys()[-1]

        def missing(text):
            file = self.write("log.jsonl", text)
            report = self.cli("ledger", "verify", file, "--key", key, "--json")
            self.assertEqual((report.code, report.json()["ok"]), (0, True), report.out)
            count = report.json()["openings_missing"]
            self.assertIn(f"openings   {count} are left out" if count else "openings   all that the log has",
                          self.cli("ledger", "verify", file, "--key", key).out)
            return count

        self.assertEqual(missing(whole), 0)
        lines = [json.loads(line) for line in whole.splitlines()]
        left_out = sum(len(line.get("openings", [])) for line in lines)
        self.assertGreater(left_out, 20)
        stripped = ""
        for text, line in zip(whole.splitlines(), lines):
            at = text.index(',"openings":[') if "openings" in line else None
            stripped += (text if at is None else text[:at] + ',"openings":[]}') + "\n"
        self.assertEqual(missing(stripped), left_out)


class Facts(ApprovalsTest, Beside):
    POLICY = """version: 1
autonomy: {tier: suggest}
approvals:
  use_within_s: 604800
"""

    def held(self, *arguments):
        return subprocess.Popen([HELD_CALL, self.data, "--effects", self.effects, "--within", "600", "--policy", self.policy_file,
                                 *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.folder, text=True)

    def said(self, process, member):
        while line := process.stdout.readline():
            if member in json.loads(line):
                return
        self.fail(process.stderr.read())

    def end(self, process):
        process.kill()
        process.wait(30)
        process.stdout.close()
        process.stderr.close()

    def follow(self):
        """Runs approved calls as long as calls wait."""
        process = self.held("--follow")
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and not self.ran() and time.monotonic() < deadline:
            time.sleep(0.05)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
        self.end(process)

    # AP-8, LE-46, LE-54
    def test_one_yes_runs_once_whatever_facts_are_put_back(self):
        reviewers = self.init("user:ada").replace("[approver]", "[approver, controller]")
        (self.data / "reviewers.yaml").write_text(reviewers)
        self.policy_file = self.write("policy.yaml", self.POLICY + reviewers.split("\n", 1)[1])
        holder = self.held("--propose", "1")
        self.said(holder, "proposed")
        self.end(holder)
        (item,) = self.pending()
        self.good(*self.answer("approve", item["request_id"]))
        approved = self.sql("SELECT * FROM facts")
        (seal,) = self.sql("SELECT seal FROM entries ORDER BY sequence DESC LIMIT 1")
        self.follow()
        self.assertEqual(len(self.ran()), 1)
        self.assertEqual(self.verified(), {})
        used = self.sql("SELECT * FROM facts")
        restored = [row for row in approved if row[0] == "approval" and row not in used]
        self.assertEqual(len(restored), 1, restored)
        for with_seal in (False, True):
            for row in restored:
                self.sql("REPLACE INTO facts VALUES (?, ?, ?)", row)
            if with_seal:
                self.sql("DELETE FROM facts")
                for row in approved:
                    self.sql("INSERT INTO facts VALUES (?, ?, ?)", row)
                self.sql("UPDATE entries SET seal = ? WHERE sequence = (SELECT MAX(sequence) FROM entries)", seal)
            self.follow()
            self.assertEqual(len(self.ran()), 1)
            self.assertEqual(self.cli("ledger", "verify").code, 1)
            self.assertIn("corrupt", self.refused(1, "keys", "rotate", "--key-file", self.folder / "user-ada.key",
                                                  "--passphrase-file", self.words))
            doctor = self.cli("doctor")
            self.assertEqual(doctor.code, 1)
            if not with_seal:
                self.assertRegex(doctor.out, f"fail facts +the fact `{restored[0][1]}` of `approval` was restored to its state of entry \\d+")


if __name__ == "__main__":
    unittest.main()
