#!/usr/bin/env python3
"""Erasing, pruning, holds and exports from outside."""
import contextlib
import os
import sqlite3
import unittest

from cli_support import CliTest


class Erasure(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    def stored(self, needle):
        return [file.name for file in self.data.rglob("*") if file.is_file() and needle in file.read_bytes()]

    # LE-57, LE-58, LE-59
    def test_erased_values_are_gone_and_receipts_still_verify(self):
        key = self.keys()[0]
        before = self.write("before.json", self.good("ledger", "receipt", "call-00000").out)
        self.assertNotEqual(self.stored(b"content number 0"), [])
        dry = self.good("ledger", "erase", "--call", "call-00000", "--reason", "asked to", "--dry-run", "--json").json()
        self.assertEqual((dry["dry_run"], dry["count"]), (True, 4))
        self.assertNotEqual(self.stored(b"content number 0"), [])
        done = self.good("ledger", "erase", "--call", "call-00000", "--reason", "asked to", "--json").json()
        self.assertEqual((done["dry_run"], done["count"]), (False, 4))
        self.assertEqual(self.stored(b"content number 0"), [])
        entry = self.good("ledger", "show", done["sequence"], "--json").json()
        self.assertEqual(entry["body"]["control"], "erased")
        self.assertRegex(entry["body"]["who"], r"^uid:\w+$")
        self.assertEqual(entry["body"]["reason"], "asked to")
        self.assertEqual(entry["body"]["selection"], {"call_id": "call-00000"})
        self.assertEqual(entry["body"]["count"], 4)
        shown = self.good("ledger", "show", 3, "--json").json()
        self.assertEqual({o["state"] for o in shown["openings"]}, {"erased"})
        self.assertEqual(shown["body"]["effective_input"]["state"], "erased")
        self.assertIn("erased    /body/effective_input", self.good("ledger", "show", 3).out)
        self.good("ledger", "verify")
        after = self.write("after.json", self.good("ledger", "receipt", "call-00000").out)
        for receipt in (before, after):
            self.assertEqual(self.run_bare("verify", receipt, "--key", key).code, 0)
        self.refused(1, "ledger", "erase", "--call", "nobody", "--reason", "r")

    # The command that scrubbed at last once said only that there was nothing to erase.
    # LE-58
    def test_an_erasure_that_a_reader_kept_in_the_files_is_completed_by_the_next_run(self):
        erase = ("ledger", "erase", "--call", "call-00000", "--reason", "asked to")
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db", isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM entries").fetchone()
            for _ in range(2):
                outcome = self.cli(*erase)
                self.assertEqual(outcome.code, 1, outcome)
                self.assertIn("close readers and run the command again", outcome.err)
            self.assertNotEqual(self.stored(b"content number 0"), [])
        self.assertEqual(self.good(*erase).out, "what was erased before is now gone from the files\n")
        self.assertEqual(self.stored(b"content number 0"), [])
        self.assertEqual(self.good(*erase, "--json").json(), {"dry_run": False, "count": 0})
        self.assertIn("no entry with content matches", self.refused(1, *erase, "--dry-run"))

    # LE-57 (partly)
    def test_a_field_a_session_an_agent_or_a_time_can_be_erased(self):
        one = self.good("ledger", "erase", "--call", "call-00000", "--path", "/body/outcome", "--reason", "r", "--json").json()
        self.assertEqual(one["fields"], ["/body/outcome/result"])
        self.good("ledger", "erase", "--agent", "agent-1", "--reason", "r")
        self.good("ledger", "erase", "--session", "session-0", "--kind", "intent", "--reason", "r")
        self.good("ledger", "erase", "--since", "2020-01-01", "--until", "2100-01-01", "--reason", "r")
        self.good("ledger", "verify")

    def test_wrong_selections_are_usage_errors(self):
        for words in ([], ["--call", ""], ["--since", "x"], ["--path", "body"], ["--path", "/a~2", "--call", "c"], ["--kind", "nothing"]):
            self.refused(64, "ledger", "erase", "--reason", "r", *words)
        self.refused(64, "ledger", "erase", "--call", "call-00000", "--reason", "  ")
        self.assertIn("erase", self.refused(64, "ledger", "erase", "--call", "call-00000"))

    def test_a_span_that_holds_nothing_is_a_usage_error(self):
        # LE-61, LE-82: a hold on it was once accepted but kept nothing
        span = ["--since", "2026-11-16", "--until", "2026-11-15"]
        for command in (["ledger", "hold", "add"], ["ledger", "erase"]):
            self.assertIn("--until is before --since", self.refused(64, *command, *span, "--reason", "r"))
        self.assertIn("not valid UTF-8", self.refused(64, "ledger", "erase", "--kind", "event", "--reason", os.fsdecode(b"\xff")))

    # LE-61
    def test_a_hold_forbids_erasing_and_pruning(self):
        hold = self.good("ledger", "hold", "add", "--call", "call-00001", "--reason", "a lawsuit", "--id", "case-7", "--json").json()
        self.assertEqual(hold["hold"], "case-7")
        self.refused(1, "ledger", "hold", "add", "--call", "x", "--reason", "r", "--id", "case-7")
        self.assertEqual(self.good("ledger", "hold", "list", "--json").lines()[0]["selection"], {"call_id": "call-00001"})
        self.assertIn("case-7", self.refused(1, "ledger", "erase", "--call", "call-00001", "--reason", "r"))
        self.assertIn("case-7", self.refused(1, "ledger", "erase", "--agent", "agent-1", "--reason", "r", "--dry-run"))
        self.assertIn("case-7", self.refused(1, "ledger", "prune", "--before", 8, "--reason", "r"))
        self.good("ledger", "erase", "--call", "call-00000", "--reason", "r")
        self.good("ledger", "hold", "lift", "case-7", "--reason", "settled")
        self.refused(1, "ledger", "hold", "lift", "case-7", "--reason", "settled")
        self.good("ledger", "erase", "--call", "call-00001", "--reason", "r")
        self.assertEqual(self.good("ledger", "hold", "list", "--json").out, "")
        self.assertIn("no holds", self.good("ledger", "hold", "list").out)
        controls = [row["body"]["control"] for row in self.good("ledger", "show", "--kind", "control", "--json").lines()]
        self.assertEqual(controls[-4:], ["hold_set", "erased", "hold_lifted", "erased"])

    # LE-61
    def test_a_hold_on_nothing_yet_says_so(self):
        add = ("ledger", "hold", "add", "--reason", "r")
        self.assertIn("warning: no entry matches it yet\n", self.good(*add, "--call", "nobody").out)
        self.assertEqual(self.good(*add, "--agent", "nobody", "--json").json()["warning"], "no entry matches it yet")
        self.assertNotIn("warning", self.good(*add, "--call", "call-00001").out)
        self.assertNotIn("--path", self.refused(64, *add))
        self.assertIn("--until or --path", self.refused(64, "ledger", "erase", "--reason", "r"))

    # LE-60 (partly)
    def test_pruned_entries_leave_their_hashes(self):
        receipt = self.write("r.json", self.good("ledger", "receipt", 3).out)
        self.good("ledger", "prune", "--before", 6, "--reason", "old", "--dry-run")
        self.good("ledger", "show", 3)
        done = self.good("ledger", "prune", "--before", 6, "--reason", "old", "--json").json()
        self.assertEqual(done["minimum_index"], 6)
        self.assertIn("pruned", self.good("ledger", "show", 3).out)
        self.assertEqual(self.good("ledger", "show", 3, "--json").json()["sequence"], 3)
        self.assertIn("pruned", self.refused(1, "ledger", "receipt", 3))
        self.assertEqual(self.run_bare("verify", receipt, "--key", self.keys()[0]).code, 0)
        self.assertIn("pruned", self.good("ledger", "verify").out)
        self.refused(64, "ledger", "prune", "--before", 9999, "--reason", "r")
        self.refused(64, "ledger", "prune", "--before", "x", "--reason", "r")


class Exports(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    # LE-64, LE-67 (partly)
    def test_json_lines_verify_offline(self):
        file = self.folder / "export.jsonl"
        self.good("ledger", "export", "--out", file)
        first = file.read_bytes()
        self.assertEqual(self.good("ledger", "export", "--format", "jsonl").raw, first)
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)
        key = self.keys()[0]
        report = self.run_bare("ledger", "verify", file, "--key", key, "--json").json()
        self.assertEqual((report["ok"], report["tree_size"]), (True, 18))
        text = self.run_bare("ledger", "verify", file, "--key", key)
        self.assertEqual(text.code, 0)
        self.assertIn("unknown_outcome", text.out)
        self.assertEqual(self.run_bare("ledger", "verify", file).code, 64)
        part = self.good("ledger", "export", "--after", 10).raw.splitlines()
        self.assertEqual(part, first.splitlines()[11:])
        bad = self.write("bad.jsonl", first.replace(b'"outcome":"blocked"', b'"outcome":"allowed"'))
        self.assertEqual(self.run_bare("ledger", "verify", bad, "--key", key).code, 1)
        for content in (b"", b"\n", b"{}\n", os.urandom(10000), b"[" * 100000, first[:-100]):
            self.assertEqual(self.run_bare("ledger", "verify", self.write("bad.jsonl", content), "--key", key).code, 1)
        self.assertEqual(self.run_bare("ledger", "verify", self.folder / "none", "--key", key).code, 1)
        self.assertEqual(self.run_bare("ledger", "verify", self.folder, "--key", key).code, 64)

    # LE-66 (partly)
    def test_cef_takes_filters_and_hides_sealed_values(self):
        out = self.good("ledger", "export", "--format", "cef", "--outcome", "blocked").out
        self.assertEqual(out.count("\n"), 1)
        self.assertTrue(out.startswith("CEF:0|Sallyport|sallyport|"), out)
        self.assertIn("|tool_audit.blocked|write_file|", out)
        self.assertNotIn("outside of the project", out)
        opened = self.good("ledger", "export", "--format", "cef", "--outcome", "blocked", "--with-openings").out
        self.assertIn("outside of the project", opened)

    # LE-65 (partly)
    def test_tiles_are_a_folder(self):
        tiles = self.folder / "tiles"
        self.good("ledger", "export", "--format", "tlog-tiles", "--out", tiles)
        self.assertEqual((tiles / "checkpoint").read_text(), self.good("ledger", "checkpoint").out)
        self.assertTrue((tiles / "tile" / "0" / "000.p" / "18").is_file())
        self.assertTrue((tiles / "tile" / "entries" / "000.p" / "18").is_file())
        self.good("ledger", "export", "--format", "tlog-tiles", "--out", tiles)

    def test_options_that_do_not_fit_are_usage_errors(self):
        for words in (["--tool", "x"], ["--with-openings"], ["--format", "tlog-tiles"], ["--format", "tlog-tiles", "--out", "t", "--after", "1"],
                      ["--after", "x"], ["--format", "cef", "--since", "x"]):
            self.refused(64, "ledger", "export", *words)
        self.refused(64, "ledger", "export", "--out", self.folder)


if __name__ == "__main__":
    unittest.main(verbosity=1)
