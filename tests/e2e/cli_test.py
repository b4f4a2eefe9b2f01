#!/usr/bin/env python3
"""Tests commands from outside: their output, refusals and exit codes."""
import os
import re
import signal
import subprocess
import time
import unittest

from cli_support import BIN, CliTest

ESCAPES = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f]")


class Usage(CliTest):
    def test_version_and_help_go_to_stdout(self):
        version = self.run_bare("--version")
        self.assertRegex(version.out, r"^sallyport \d+\.\d+\.\d+\n$")
        self.assertEqual(version.code, 0)
        self.assertIn("version", self.run_bare("--version", "--json").json())
        for words in ([], ["ledger"], ["ledger", "tail"], ["ledger", "hold", "add"], ["verify"], ["keys", "rotate"], ["demo"]):
            shown = self.run_bare(*words, "--help")
            self.assertEqual((shown.code, shown.err), (0, ""), words)
            self.assertIn("Exit codes", shown.out)

    def test_wrong_usage_is_64_and_one_line(self):
        for words in ([], ["ledger"], ["ledger", "hold"], ["keys"], ["ledger", "tail", "--nope"], ["ledger", "show", "1", "2"],
                      ["ledger", "export", "--format", "xml"], ["completion", "tcsh"], ["completion"], ["--color", "blue", "doctor"],
                      ["ledger", "receipt"], ["ledger", "proof", "1"], ["ledger", "erase", "--call", "x"], ["verify"]):
            self.refused(64, *words)

    def test_unknown_verbs_are_answered_with_the_right_one(self):
        for words, answer in (("ledgr", "ledger"), ("tail", "ledger tail"), ("ledger tial", "ledger tail"), ("ledger hold ad", "ledger hold add"),
                              ("audit", "ledger show"), ("wrap", "mcp"), ("validate", "policy check"), ("lint", "policy lint"),
                              ("pin", "pins list"), ("scan", "guard check"), ("approve", "approvals approve"),
                              ("frobnicate", "--help")):
            error = self.refused(64, *words.split())
            self.assertIn(answer, error.split(";", 1)[1], words)

    def test_unknown_options_are_answered_with_the_nearest(self):
        self.assertIn("did you mean `--since`", self.refused(64, "ledger", "tail", "--sinc", "2026-01-01"))
        self.assertIn("did you mean `--json`", self.refused(64, "doctor", "--jsno"))
        self.assertIn("--era is `old`; use auto", self.refused(64, "mcp", "--era", "old", "--", "cat"))

    def test_global_options_stand_before_or_after_the_verb(self):
        self.make_ledger(1)
        after = self.run_bare("ledger", "stats", "--json", "--data-dir", self.data)
        before = self.run_bare("--data-dir", self.data, "--json", "ledger", "stats")
        between = self.run_bare("ledger", "--json", "--data-dir", self.data, "stats")
        self.assertEqual(after.out, before.out)
        self.assertEqual(after.out, between.out)

    def test_the_data_folder_is_found(self):
        self.make_ledger(1)
        self.assertEqual(self.run_bare("ledger", "stats", env=self.environment(SALLYPORT_DATA_DIR=self.data)).code, 0)
        (self.home / "state").mkdir()
        os.rename(self.data, self.home / "state" / "sallyport")
        self.assertEqual(self.run_bare("ledger", "stats", env=self.environment(XDG_STATE_HOME=self.home / "state")).code, 0)
        (self.home / ".local").mkdir()
        os.rename(self.home / "state", self.home / ".local" / "state")
        self.assertEqual(self.run_bare("ledger", "stats").code, 0)

    def test_reading_never_makes_a_data_folder(self):
        for words in (["ledger", "tail"], ["ledger", "show", "1"], ["ledger", "stats"], ["ledger", "verify"], ["ledger", "export"], ["ledger", "receipt", "0"],
                      ["keys", "show"], ["keys", "rotate"], ["ledger", "erase", "--call", "x", "--reason", "y"], ["ledger", "hold", "list"],
                      ["ledger", "acknowledge", "--reason", "x"], ["ledger", "checkpoint"]):
            self.assertIn(str(self.data), self.refused(1, *words))
        self.assertEqual(self.run_bare("doctor", "--data-dir", self.data).code, 0)
        self.assertFalse(self.data.exists())
        self.assertEqual(self.run_bare("ledger", "tail", "--data-dir", "").code, 64)

    # LE-25 (partly)
    def test_a_folder_that_was_made_for_us_is_closed_and_one_that_is_in_use_is_not_touched(self):
        grant = self.write("g.json", '{"server":"*","tool":"*","operations":["invoke"]}')
        issue = ("grants", "issue", "--subject", "a", "--grant", grant)
        self.data.mkdir()
        self.data.chmod(0o755)
        self.good(*issue)
        self.assertEqual(self.data.stat().st_mode & 0o777, 0o700)
        self.data.chmod(0o755)
        self.assertIn("chmod 0700", self.refused(1, *issue))
        self.assertEqual(self.data.stat().st_mode & 0o777, 0o755)

    def test_output_that_cannot_be_written_is_an_error(self):
        self.make_ledger(1)
        with open("/dev/full", "wb") as full:
            for words in (["ledger", "tail"], ["ledger", "export"], ["--help"], ["ledger", "receipt", "0"]):
                process = subprocess.run([BIN, *words, "--data-dir", self.data], stdout=full, stderr=subprocess.PIPE, env=self.environment())
                self.assertEqual(process.returncode, 1, words)
                self.assertIn(b"standard output", process.stderr)

    def test_colours_only_where_asked_for(self):
        self.make_ledger()
        self.assertNotIn("\x1b", self.good("ledger", "tail").out)
        self.assertIn("\x1b[32m", self.good("ledger", "tail", "--color", "always").out)
        self.assertNotIn("\x1b", self.good("ledger", "verify", env=self.environment(NO_COLOR="1")).out)


class Queries(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    # LE-62 (partly)
    def test_tail_shows_the_newest_in_order(self):
        rows = self.good("ledger", "tail", "-n", 5, "--json").lines()
        sequences = [row["entry"]["sequence"] for row in rows]
        self.assertEqual(sequences, sorted(sequences))
        self.assertEqual(len(rows), 5)
        self.assertEqual(rows[-1]["body"]["control"], "stopped")
        self.assertEqual(set(rows[0]), {"entry", "openings", "body"})
        self.assertEqual(self.good("ledger", "tail", "--limit", 5, "--json").lines(), rows)
        text = self.good("ledger", "tail", "-n", 2).out.splitlines()
        self.assertEqual(len(text), 3)
        self.assertTrue(text[0].startswith("time"))

    # LE-62
    def test_every_filter_is_joined_by_and(self):
        def found(*words):
            return [row["entry"] for row in self.good("ledger", "show", "--json", *words).lines()]
        everything = found()
        self.assertEqual([e["sequence"] for e in everything], list(range(len(everything))))
        for option, member, value in (("--call", "call_id", "call-00003"), ("--session", "session_id", "session-0"), ("--agent", "agent_id", "agent-1"),
                                      ("--server", "server", "files"), ("--tool", "tool_name", "read_file"), ("--outcome", "outcome", "blocked"),
                                      ("--kind", "kind", "intent")):
            self.assertEqual(found(option, value), [e for e in everything if e.get(member) == value], option)
        both = found("--agent", "agent-0", "--kind", "tool_audit")
        self.assertEqual(both, [e for e in everything if e.get("agent_id") == "agent-0" and e["kind"] == "tool_audit"])
        self.assertEqual([e["sequence"] for e in found("--after", 4, "--limit", 3)], [5, 6, 7])
        middle = everything[6]["recorded_at"]
        self.assertEqual(found("--since", middle), [e for e in everything if e["recorded_at"] >= middle])
        self.assertEqual(found("--until", middle), [e for e in everything if e["recorded_at"] < middle])
        self.assertEqual(found("--since", "2020-01-01"), everything)
        self.assertIn("no entry matches", self.refused(1, "ledger", "show", "--topic", "nothing"))
        self.refused(1, "ledger", "tail", "--agent", "nobody")

    # AU-90 (partly)
    def test_show_takes_an_id_a_sequence_or_a_call(self):
        by_sequence = self.good("ledger", "show", 3, "--json").lines()
        self.assertEqual(len(by_sequence), 1)
        entry_id = by_sequence[0]["entry"]["id"]
        self.assertEqual(self.good("ledger", "show", entry_id, "--json").lines(), by_sequence)
        self.assertEqual(self.good("ledger", "show", entry_id.upper(), "--json").lines(), by_sequence)
        by_call = self.good("ledger", "show", "call-00000", "--json").lines()
        self.assertEqual([row["entry"]["kind"] for row in by_call], ["intent", "tool_audit"])
        page = self.good("ledger", "show", 3).out
        for word in ("entry 3", entry_id, "call-00000", "content number 0", "open      /body/effective_input", "ledger receipt 3"):
            self.assertIn(word, page)
        for target in ("9999", "01966f4c-2000-7000-8000-000000000001"):
            self.refused(1, "ledger", "show", target)
        self.refused(64, "ledger", "show", "call-00000", "--call", "call-00001")

    # LE-82
    def test_malformed_queries_are_usage_errors(self):
        for words in (["--since", "yesterday"], ["--until", "2026-13-01"], ["--since", "2026-11-15T25:00:00Z"], ["--since", ""], ["--after", "-1"],
                      ["--after", "x"], ["--after", "99999999999999999999"], ["--limit", "many"], ["--kind", "evnt"], ["--call", ""],
                      ["--call", "a\x01b"], ["--call", "x" * 2000], ["01966f4c-2000-7000-8000-00000000000g"], ["99999999999999999999"], [""],
                      ["no-such-call"], ["-1"], ["--call", "no-such-call"]):
            self.refused(64, "ledger", "show", *words)
        self.refused(64, "ledger", "show", b"--call=\xff\xfe".decode("utf-8", "surrogateescape"))
        for command in ("show", "tail"):
            for limit in ("0", "-1"):
                self.assertIn("-n must be from 1 to ", self.refused(64, "ledger", command, f"--limit={limit}"))
            self.assertIn("--after `9007199254740992` is not between 0 and 9007199254740991",
                          self.refused(64, "ledger", command, "--after", "9007199254740992"))
        self.refused(64, "ledger", "tail", "-n", "x")
        self.refused(64, "ledger", "tail", "-n", "100001")
        self.refused(64, "ledger", "tail", "--call", "no-such-call")
        self.refused(1, "ledger", "tail", "--call", "01966f4c-2000-7000-8000-000000000001")

    # AP-39 (partly)
    def test_hidden_characters_of_content_are_shown(self):
        for words in (["tail"], ["show", "call-00002"], ["show", "6"]):
            out = self.good("ledger", *words).out
            self.assertIsNone(ESCAPES.search(out), words)
            self.assertIn("\\u{001B}[31mred", out)
        self.assertIn("\\u{202E}", self.good("ledger", "show", "6").out)
        raw = self.good("ledger", "show", "6", "--json")
        self.assertIsNone(ESCAPES.search(raw.out))
        self.assertEqual(raw.json()["body"]["effective_input"]["path"], "/tmp/\x1b[31mred\u202e")

    # LE-55 (partly)
    def test_secrets_are_not_in_any_answer(self):
        for words in (["ledger", "show", "--json"], ["ledger", "export"], ["ledger", "export", "--format", "cef", "--with-openings"]):
            self.assertNotIn("sk-live-", self.good(*words).out)
        for file in self.data.rglob("*"):
            self.assertNotIn(b"sk-live-", file.read_bytes() if file.is_file() else b"")

    # LE-63 (partly)
    def test_follow_shows_what_others_append(self):
        with subprocess.Popen([BIN, "ledger", "tail", "-n", "0", "--follow", "--json", "--data-dir", self.data],
                              stdout=subprocess.PIPE, env=self.environment()) as process:
            try:
                time.sleep(0.5)
                self.make_ledger(1)
                first = process.stdout.readline()
                self.assertIn(b'"gap"', first)
            finally:
                process.send_signal(signal.SIGINT)

    # LE-62 (partly)
    def test_stats_count(self):
        stats = self.good("ledger", "stats", "--json").json()
        self.assertEqual(stats["size"], 18)
        self.assertEqual(stats["kinds"], {"control": 3, "intent": 8, "tool_audit": 7})
        self.assertEqual(stats["outcomes"], {"blocked": 1, "completed": 6})
        self.assertEqual(sum(stats["tools"].values()), 15)
        self.assertEqual(stats["key"], self.keys()[0])
        self.assertGreater(stats["ledger_bytes"], 0)
        self.assertLessEqual(stats["first_at"], stats["last_at"])
        self.assertIn("tool_audit", self.good("ledger", "stats").out)

    # LE-14 (partly), LE-2 (partly), LE-68 (partly)
    def test_schema_lists_members_kinds_and_sealed_names(self):
        schema = self.good("ledger", "schema", "--json").json()
        self.assertEqual(self.good("ledger", "schema").json(), schema)
        members = {member["name"] for member in schema["members"]}
        self.assertIn("model_audit", schema["kinds"])
        for row in self.good("ledger", "show", "--json").lines():
            self.assertLessEqual(set(row["entry"]), members)
            self.assertIn(row["entry"]["kind"], schema["kinds"])
        for name in ("input", "result", "nonce", "undo_metadata", "listen_context", "cwd"):
            self.assertIn(name, schema["sealed_names"])
        self.assertEqual(len(schema["controls"]), 27)


class Installation(CliTest):
    def test_doctor_finds_nothing_wrong_with_a_fresh_ledger(self):
        self.make_ledger()
        report = self.good("doctor", "--json").json()
        self.assertTrue(report["ok"])
        states = {check["check"]: check["state"] for check in report["checks"]}
        for name in ("config", "file system", "data folder", "free space", "ledger", "checkpoint", "witness", "clock", "writers", "detectors", "policy"):
            self.assertEqual(states.get(name), "ok", name)
        self.assertIn("none was loaded yet", self.good("doctor").out)

    # LE-25 (partly)
    def test_a_key_that_others_can_read_stops_writing(self):
        self.make_ledger(1)
        os.chmod(self.data / "keys" / "signing.key", 0o644)
        self.assertIn("0600", self.refused(1, "keys", "rotate"))
        # It was verified without a pinned key.
        self.assertIn("0600", self.refused(1, "ledger", "verify"))
        report = self.cli("doctor")
        self.assertEqual(report.code, 1)
        self.assertRegex(report.out, r"fail signing.key .*chmod 0600")

    def test_doctor_finds_what_is_odd(self):
        self.make_ledger(1)
        self.write("data/config.yaml", "version: 1\nledgr: {}\n")
        bad = self.cli("doctor").out
        self.assertRegex(bad, r"fail config .*config.yaml:2:1")
        self.assertRegex(bad, r"ok +data folder .*modes and owners are right")
        # Only the file could name the folder, so nothing else is examined.
        unknown = self.run_bare("doctor", "--config", self.folder / "none.yaml")
        self.assertEqual((unknown.code, len(unknown.out.splitlines())), (1, 1), unknown.out)
        self.write("data/config.yaml", "version: 1\nledger: {witness_path: off}\n")
        self.assertRegex(self.good("doctor").out, r"warn witness")
        os.remove(self.data / "keys" / "signing.key")
        outcome = self.cli("doctor")
        self.assertEqual(outcome.code, 1)
        self.assertRegex(outcome.out, r"fail signing key .*restore")

    def test_a_wrong_configuration_is_named_with_its_place(self):
        self.make_ledger(1)
        config = self.write("c.yaml", "version: 1\nledger:\n  lock_wait_sm: 5\n")
        error = self.refused(64, "ledger", "stats", "--config", config)
        self.assertIn("did you mean `lock_wait_ms`", error)
        self.assertIn("c.yaml:3:3", error)
        self.refused(64, "ledger", "stats", "--config", self.write("b.yaml", os.urandom(4096)))
        self.refused(64, "ledger", "stats", "--config", self.write("big.yaml", b"#" * (1 << 20) + b"\nversion: 1\n"))
        self.refused(64, "ledger", "stats", "--config", self.folder)
        self.refused(1, "ledger", "stats", "--config", self.folder / "missing.yaml")
        self.good("ledger", "stats", "--config", self.write("g.json", '{"version": 1, "ledger": {"lock_wait_ms": 100}}'))
        # The default file is read from its own place.
        self.write("data/config.yaml", "version: 3\n")
        self.assertIn("config.yaml:1:10", self.refused(64, "ledger", "stats"))

    def test_a_file_that_is_no_ledger_is_refused(self):
        self.data.mkdir(mode=0o700)
        self.write("data/ledger.db", os.urandom(8192))
        self.refused(1, "ledger", "tail")
        report = self.cli("ledger", "verify", "--json")
        self.assertEqual(report.code, 1)
        self.assertEqual(report.json()["first_bad"]["check"], "storage")
        self.assertEqual(self.cli("doctor").code, 1)


class Completion(CliTest):
    def complete(self, *words):
        script = "source <(\"$0\" completion bash)\nCOMP_WORDS=(\"$@\")\nCOMP_CWORD=$(($# - 1))\n_sallyport\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n"
        process = subprocess.run(["bash", "-u", "-c", script, BIN, "sallyport", *words], capture_output=True, text=True,
                                 env=self.environment(), cwd=self.folder, check=True)
        self.assertEqual(process.stderr, "")
        return process.stdout.split()

    def test_bash_completes_verbs_options_values_and_files(self):
        self.assertEqual(self.complete("le"), ["ledger"])
        self.assertEqual(set(self.complete("ledger", "s")), {"show", "stats", "schema"})
        self.assertEqual(set(self.complete("--json", "keys", "")) & {"show", "rotate"}, {"show", "rotate"})
        self.assertEqual(self.complete("ledger", "hold", "l"), ["lift", "list"])
        self.assertEqual(self.complete("ledger", "export", "--form"), ["--format"])
        self.assertEqual(self.complete("ledger", "export", "--format", ""), ["jsonl", "tlog-tiles", "cef"])
        self.assertEqual(self.complete("ledger", "receipt", "--format", ""), ["json", "tlog-proof"])
        self.assertEqual(self.complete("--color", "a"), ["auto", "always"])
        self.assertEqual(self.complete("completion", "b"), ["bash"])
        self.assertIn("--data-dir", self.complete("ledger", "tail", "--da"))
        self.write("receipt.json", "{}")
        self.assertEqual(self.complete("verify", "rec"), ["receipt.json"])
        self.assertEqual(self.complete("verify", "--ke"), ["--key"])
        self.assertNotIn("--stage", self.complete("demo", "--"))

    def test_every_shell_knows_every_command(self):
        commands = re.findall(r"^  (\w+) ", self.run_bare("--help").out.split("Subcommands:")[1], re.M)
        self.assertGreaterEqual(len(commands), 6)
        for shell in ("bash", "zsh", "fish"):
            script = self.run_bare("completion", shell).out
            for command in commands + ["acknowledge", "--with-openings"]:
                self.assertIn(command.lstrip("-"), script, shell)


if __name__ == "__main__":
    unittest.main(verbosity=1)
