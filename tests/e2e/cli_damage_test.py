#!/usr/bin/env python3
"""Damaged or missing ledgers: an error with its position, never a crash, a hang or a usage error."""
import contextlib
import os
import resource
import shutil
import sqlite3
import subprocess
import unittest

from cli_support import BIN, CliTest


class Damage(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    def sql(self, statement):
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db")) as database, database:
            database.execute(statement)

    def test_a_damaged_opening_is_no_wrong_usage(self):
        # LE-50: it once was exit 64, without a position
        self.sql("UPDATE entries SET openings = x'ffffffffffffffff' WHERE openings IS NOT NULL")
        for command in (["ledger", "show", "--json"], ["ledger", "tail"], ["ledger", "export"],
                        ["ledger", "receipt", "call-00001"],
                        ["ledger", "erase", "--call", "call-00001", "--reason", "r"]):
            error = self.cli(*command)
            self.assertEqual(error.code, 1, command)
            self.assertRegex(error.err, r"ledger_unavailable: corrupt: entry \d+: an opening is damaged", command)

    def test_a_position_beyond_all_reason_is_not_counted_up_to(self):
        # LE-54: `doctor` and every writer once looped forever over the width of that tree
        self.sql("INSERT INTO entries SELECT 9223372036854775807, bytes, leaf, openings, checkpoint, seal FROM entries LIMIT 1")
        self.assertEqual(self.cli("doctor").code, 1)
        self.assertEqual(self.cli("ledger", "verify").code, 1)
        self.refused(1, "keys", "rotate")

    def test_a_spoiled_count_is_damage(self):
        # LE-54: a text in place of a number once aborted the process
        self.good("demo", "--yes", "--no-pause", "--plain")
        self.sql("UPDATE facts SET value = 'many' WHERE space = 'topic'")
        outcome = self.cli("demo", "--yes", "--no-pause", "--plain")
        self.assertEqual(outcome.code, 1)
        self.assertNotIn("terminate", outcome.err)

    def test_a_ledger_that_is_gone_is_not_one_that_never_was(self):
        # LE-51
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.data / name)
        report = self.cli("ledger", "verify", "--json")
        self.assertEqual((report.code, report.json()["ok"]), (1, False))
        self.assertEqual(report.json()["first_bad"]["check"], "checkpoint_consistency")
        doctor = self.cli("doctor")
        self.assertEqual(doctor.code, 1)
        self.assertRegex(doctor.out, "fail ledger +it is gone")

    def test_a_checkpoint_that_is_none_stops_an_export_as_damage(self):
        # LE-65
        self.sql("UPDATE entries SET checkpoint = NULL")
        self.assertIn("corrupt", self.refused(1, "ledger", "export", "--format", "tlog-tiles", "--out", self.folder / "t"))


    def test_a_table_that_is_missing_is_damage_with_its_place(self):
        # LE-49 LE-73: it was once reported as an I/O error, and `doctor` did not detect every case
        for table in ("entries", "nodes", "blocks", "facets", "facts"):
            with self.subTest(table):
                self.sql(f"DROP TABLE {table}")
                words = f"the table `{table}` is missing in {self.data / 'ledger.db'}; keep the file and restore a backup"
                for command in (["ledger", "tail"], ["keys", "rotate"], ["ledger", "stats"], ["approvals", "list"]):
                    self.assertIn("corrupt: " + words, self.refused(1, *command))
                report = self.cli("ledger", "verify", "--json")
                self.assertEqual((report.code, report.json()["first_bad"]["check"]), (1, "storage"))
                self.assertIn(words, report.json()["first_bad"]["detail"])
                self.assertRegex(self.cli("doctor").out, f"fail ledger +.*{table}` is missing")
                shutil.rmtree(self.data)
                self.make_ledger()

    def test_a_table_that_goes_while_somebody_writes_is_damage(self):
        # LE-54
        with subprocess.Popen([BIN, "ledger", "tail", "-f", "--data-dir", str(self.data)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.environment()) as reader:
            reader.stdout.readline()
            self.sql("DROP TABLE entries")
            self.assertRegex(reader.stderr.readline().decode(), "corrupt: no such table: entries")
            self.assertEqual(reader.wait(timeout=60), 1)

    def damage_entry(self, sequence):
        """Changes one letter in the text of an entry; the entry stays readable."""
        self.sql(f"UPDATE entries SET bytes = CAST(replace(CAST(bytes AS TEXT), 'agent-', 'agenT-') AS BLOB) WHERE sequence = {sequence}")

    def test_nobody_is_handed_what_was_never_signed(self):
        # LE-31, LE-50: once it was shown, exported and given a receipt, with exit 0
        self.damage_entry(4)
        for command in (["ledger", "receipt", 4], ["ledger", "receipt", 4, "--format", "tlog-proof"], ["ledger", "export"],
                        ["ledger", "export", "--format", "cef"], ["ledger", "show", 4], ["ledger", "show"], ["ledger", "tail"],
                        ["ledger", "export", "--format", "tlog-tiles", "--out", self.folder / "tiles"]):
            outcome = self.cli(*command)
            self.assertEqual(outcome.code, 1, command)
            self.assertRegex(outcome.err, r"ledger_unavailable: corrupt: entry 4 ", command)
        for line in self.cli("doctor").out.splitlines():
            self.assertLessEqual(line.count("sallyport ledger verify"), 1, line)
        self.good("ledger", "receipt", 3)
        out = self.folder / "log.jsonl"
        self.refused(1, "ledger", "export", "--out", out)
        self.assertFalse(out.exists())

    def test_an_entry_that_cannot_be_read_has_a_place(self):
        # LE-50: the error once was `an entry is not a JSON object`
        self.sql("UPDATE entries SET bytes = x'7b22' WHERE sequence = 4")
        for command in (["ledger", "show", 4], ["ledger", "tail"], ["ledger", "stats"], ["ledger", "receipt", 4]):
            self.assertIn("entry 4", self.refused(1, *command))

    def test_a_ledger_of_a_newer_release_is_read_with_a_message(self):
        # LE-81
        self.sql("PRAGMA user_version = 3")
        self.sql("ALTER TABLE facts ADD COLUMN later TEXT")
        read = self.cli("ledger", "tail", "-n", 1, "--json")
        self.assertEqual((read.code, len(read.lines())), (0, 1))
        self.assertRegex(read.err, "written by a newer release, and is read only here")
        self.assertIn("read_only", self.refused(1, "keys", "rotate"))
        self.assertRegex(self.cli("doctor").out, "fail ledger .*written by a newer release")

    def test_an_empty_file_in_the_place_of_a_ledger_is_a_lost_one(self):
        # LE-51: doctor once accepted it as a ledger with 0 entries
        for name in ("ledger.db", "ledger.db-wal", "ledger.db-shm"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.data / name)
        self.assertIn("the ledger is gone", self.refused(1, "ledger", "tail"))
        self.run_bare("mcp", "--data-dir", self.data, "--", "true")
        self.assertRegex(self.cli("doctor").out, "fail ledger +it is empty, and its key has signed one before")

    def test_a_name_that_the_ledger_never_had_fails_the_doctor(self):
        # LE-23
        (self.data / "config.yaml").write_text("version: 1\nledger: {origin: example.com/other}\n")
        self.refused(1, "keys", "rotate")
        self.assertRegex(self.cli("doctor").out, "fail origin +ledger.origin is `example.com/other`")


class Sql(CliTest):
    """Changes of another program with SQL."""

    def setUp(self):
        super().setUp()
        self.good("demo", "--yes", "--no-pause", "--plain")
        self.whole = self.folder / "whole"
        shutil.copytree(self.data, self.whole)

    def after(self, statement):
        """Returns the first fault after this change to a copy of the ledger."""
        shutil.rmtree(self.data)
        shutil.copytree(self.whole, self.data)
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db")) as database, database:
            database.execute(statement)
        report = self.cli("ledger", "verify", "--json")
        self.assertEqual(report.code, 1, statement)
        return report.json()["first_bad"]["check"]

    def test_every_fact_is_sealed(self):
        # LE-46: data that the entries do not repeat could once be changed
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db")) as database:
            spaces = [row[0] for row in database.execute("SELECT DISTINCT space FROM facts")]
        self.assertIn("approval", spaces)
        for space in spaces:
            self.assertEqual(self.after(f"DELETE FROM facts WHERE space = '{space}'"), "storage", space)
            self.assertEqual(self.after(f"UPDATE facts SET value = value || '1' WHERE space = '{space}'"), "storage", space)
            self.assertEqual(self.after(f"INSERT INTO facts VALUES ('{space}', 'another', '1')"), "storage", space)
            # The next writer does not seal the change.
            self.assertIn("corrupt", self.refused(1, "ledger", "hold", "add", "--kind", "event", "--reason", "r"))
            self.assertRegex(self.cli("doctor").out, f"fail facts +the fact `another` of `{space}` was written by no entry")

    def test_a_damaged_fact_is_told_as_damage_by_whoever_starts(self):
        # LE-46: it once ended the process with an internal error
        for value in ("[]", "{}", '{"instance":1}'):
            self.after(f"INSERT INTO facts VALUES ('fail_open', 'another', '{value}')")
            outcome = self.run_bare("mcp", "--data-dir", self.data, "--", "true")
            self.assertEqual(outcome.code, 1, outcome.err)
            self.assertIn("corrupt: the facts beside the entries are not those that were written", outcome.err)
            # A person's acknowledgement does not make it readable.
            self.good("ledger", "acknowledge", "--reason", "it was me")
            outcome = self.run_bare("mcp", "--data-dir", self.data, "--", "true")
            self.assertEqual(outcome.code, 1, outcome.err)
            self.assertIn("corrupt: a fact `fail_open` is damaged", outcome.err)

    def test_what_could_not_be_checked_is_said(self):
        # LE-46, LE-48
        (self.data / "keys" / "digest.key").chmod(0o644)
        report = self.cli("ledger", "verify")
        self.assertEqual(report.code, 0)
        self.assertRegex(report.err, "the facts beside the entries were not checked: .*digest.key is open to others")

    def test_tables_triggers_and_views_of_others_are_found(self):
        # LE-46
        for statement in ("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM facts; END", "CREATE TABLE another (a)",
                          "CREATE VIEW v AS SELECT 1", "CREATE INDEX i ON entries (leaf)", "ALTER TABLE facts ADD COLUMN more TEXT"):
            self.assertEqual(self.after(statement), "storage", statement)

    def test_facts_that_were_changed_can_be_acknowledged(self):
        # LE-52
        self.after("DELETE FROM facts WHERE space = 'idempotency'")
        self.good("ledger", "acknowledge", "--reason", "it was me")
        self.good("ledger", "verify")
        self.assertIn("nothing to acknowledge", self.refused(1, "ledger", "acknowledge", "--reason", "again"))

    def test_an_acknowledgement_says_who(self):
        # LE-52, LE-68
        self.after("DELETE FROM entries WHERE sequence >= (SELECT max(sequence) FROM entries)")
        done = self.good("ledger", "acknowledge", "--reason", "restored", "--json").json()
        body = self.good("ledger", "show", done["sequence"], "--json").json()["body"]
        self.assertEqual((body["control"], body["reason"], body["size"]), ("rollback_acknowledged", "restored", done["sequence"]))
        self.assertRegex(body["who"], "^uid:.+")
        self.good("ledger", "verify")

    def test_an_erase_leaves_nothing_in_the_folder_of_the_demo(self):
        # LE-58: its receipt once held the content
        self.good("ledger", "erase", "--agent", "agent:demo", "--reason", "asked for")
        for file in (file for file in self.data.rglob("*") if file.is_file()):
            self.assertNotIn(b"REGION=eu-central-1", file.read_bytes(), file)


class Folders(CliTest):
    def test_a_file_in_the_place_of_the_folder_is_named(self):
        self.data.write_text("x")
        self.assertIn("Not a directory", self.refused(1, "ledger", "tail"))
        self.assertRegex(self.cli("doctor").out, "fail data folder +.* is not a folder")

    @unittest.skipIf(os.geteuid() == 0, "root may look everywhere")
    def test_who_may_not_look_does_not_hear_that_there_is_none(self):
        # LE-73
        self.make_ledger()
        os.chmod(self.data, 0)
        self.addCleanup(os.chmod, self.data, 0o700)
        self.assertIn("not_owner", self.refused(1, "ledger", "tail"))

    def test_a_file_that_may_not_grow_is_a_disk_that_refuses(self):
        # LE-73: SIGXFSZ once ended the process
        self.make_ledger()
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        outcome = self.cli("keys", "rotate", preexec_fn=limit)
        self.assertEqual(outcome.code, 1)
        self.assertIn("ledger_unavailable", outcome.err)
        self.good("ledger", "verify")


class Lists(CliTest):
    def test_a_list_of_next_to_nothing_takes_little_memory(self):
        # LE-78: 15 MiB of `{}` once took 6 GB
        self.make_ledger()
        receipts = self.write("r.json", "[" + "{}," * 1_000_000 + "{}]")
        key = self.keys()[-1]
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
        with open(os.devnull, "wb") as nowhere:
            done = subprocess.run([BIN, "verify", str(receipts), "--key", key, "--json"], stdout=nowhere,
                                  stderr=subprocess.PIPE, preexec_fn=limit, timeout=120, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (1, b""))


if __name__ == "__main__":
    unittest.main()
