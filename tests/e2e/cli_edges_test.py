#!/usr/bin/env python3
"""Edges of the command line: empty values, values that do not fit, files that are not there, no ledger yet."""
import json
import signal
import subprocess
import unittest

from cli_support import BIN, CliTest, within

ESCAPE = "\x1b[31m"


class Words(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    # `--reason= --call X` once took `--call` as the reason.
    def test_an_empty_value_behind_an_equals_sign_does_not_take_the_next_word(self):
        self.assertIn("--reason is empty", self.refused(64, "ledger", "erase", "--reason=", "--call", "call-00000"))
        self.assertIn("--agent `` is not an id", self.refused(64, "ledger", "tail", "--agent=", "-n", "1"))
        self.assertIn("--grant is empty", self.refused(64, "mcp", "--grant=", "--", "true"))
        self.assertIn("--file is empty; name a file", self.refused(64, "trust", "show", "--file="))
        self.assertIn("--data-dir is empty; name a folder", self.run_bare("ledger", "tail", "--data-dir=").err)
        # Behind `--` the words belong to another program.
        self.assertNotIn("is empty", self.cli("mcp", "--", "no-such-program", "--name=", "x").err)

    def test_what_is_said_about_an_option_is_so(self):
        again = self.run_bare("mcp", "--policy", "starter", "--policy", "starter", "--", "true")
        self.assertEqual((again.code, again.err), (64, "sallyport: --policy is given more than once; give it once\n"))
        self.assertIn("--gaps takes no value, and `x` is one; write --gaps alone", self.refused(64, "ledger", "verify", "--gaps=x"))
        login = ("mcp", "login", "--url", "https://a.example/mcp", "--redirect-port")
        for port in ("", " ", "-1", "65536", "1.5", "x"):
            self.assertIn(f"--redirect-port is `{port}`; use a number from 0 to 65535", self.refused(64, *login, port))

    # An empty token was once none, and the calls ran as if nothing restricted them.
    # CG-70
    def test_an_empty_grant_is_no_absent_one(self):
        empty = self.write("empty.json", "\n")
        call = json.dumps({"tool": "t", "input": {}})
        self.assertIn("there is no token in it", self.refused(1, "mcp", "--grant", empty, "--", "true"))
        self.assertIn("there is no token in it", self.refused(1, "policy", "explain", call, "--policy", "starter", "--grant", "-"))
        self.assertIn("--grant is empty", self.refused(64, "mcp", "--grant", "", "--", "true"))
        self.assertIn("--grant cannot be standard input", self.refused(64, "mcp", "--grant", "-", "--", "true"))
        self.assertIn("SALLYPORT_GRANT cannot be standard input", self.refused(64, "mcp", "--", "true", env=self.environment(SALLYPORT_GRANT="-")))

    # These were once accepted, and did nothing or something else.
    def test_values_that_cannot_be_meant_are_refused(self):
        for words in (["mcp", "--name", "", "--", "true"], ["mcp", "--name", "a\nb", "--", "true"], ["mcp", "--name", "x" * 513, "--", "true"],
                      ["ledger", "tables", "--gateway", ""], ["ledger", "tables", "--gateway", "x" * 64],
                      ["ledger", "tables", "--gateway", "gate", "--keeper", ""], ["ledger", "tables", "--gateway", "a" + ESCAPE],
                      ["ledger", "move", "--to", ""], ["ledger", "move", "--to", "host=elsewhere"],
                      ["ledger", "hold", "add", "--id", " ", "--call", "c", "--reason", "r"],
                      ["policy", "backtest", "starter", "--fail-on", ""], ["policy", "backtest", "starter", "--fail-on", "refused,"],
                      ["policy", "backtest", "starter", "--last", "0"], ["trust", "show", ""], ["trust", "show", "--limit", "0"],
                      ["trust", "show", "--action", ""], ["trust", "verify", "--origin", "ledger.example.com"]):
            said = self.refused(64, *words)
            self.assertNotIn("\x1b", said, words)
        self.assertIn('"gate"', self.good("ledger", "tables", "--gateway", "gate").out)

    # A script that misspelled a tool once passed.
    def test_changes_of_a_tool_that_is_not_pinned_are_not_found(self):
        self.assertIn("no tool of that name is pinned", self.refused(1, "pins", "diff", "fiels"))
        self.assertEqual(self.good("pins", "diff").out, "nothing has changed\n")


class Files(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger(1)

    def test_a_file_that_is_not_there_is_not_found(self):
        login = ("mcp", "login", "--url", "https://a.example/mcp", "--client-id", "c")
        for words in (["policy", "check"], ["policy", "lint"], ["policy", "test"], ["trust", "verify"], ["trust", "show", "--file"],
                      [*login, "--client-secret-file"], [*login, "--client-key-file"]):
            self.assertIn("no", self.refused(1, *words, "nothing.json"))
        # A missing list of cases once passed: there was nothing to fail.
        self.assertIn("no such file", self.refused(1, "policy", "test", "nothing.jsonl"))

    # GR-67
    def test_a_dry_run_of_guardrails_that_cannot_read_is_wrong_usage(self):
        for words in (["--config", "nothing.json"], ["--config", "gallery:secrets", "--text-file", "nothing.txt"]):
            self.refused(64, "guard", "check", "--stage", "output", *words)

    def test_a_folder_where_a_file_belongs_is_wrong_usage(self):
        login = ("mcp", "login", "--url", "https://a.example/mcp", "--client-id", "c")
        for words in (["policy", "check"], ["policy", "lint"], ["mcp", "--policy"], ["trust", "verify"], ["trust", "show", "--file"],
                      [*login, "--client-secret-file"], ["trust", "promote", "bot", "--to", "act_auto", "--key-file"]):
            said = self.refused(64, *words, self.folder, *(["--", "true"] if words[0] == "mcp" and words[1] != "login" else []))
            self.assertIn("this is a folder", said)
            self.assertIn("name a file", said)

    # AP-39
    def test_names_of_files_are_shown_without_hidden_characters(self):
        name = f"a{ESCAPE}b"
        for words in (["guard", "check", "--stage", "output", "--config", name], ["policy", "test", name],
                      ["guard", "check", "--stage", "output", "--config", f"gallery:{name}"], ["policy", "check", name]):
            said = self.cli(*words)
            self.assertIn("a\\u{001B}[31mb", said.err, words)
            self.assertNotIn("\x1b", said.err, words)


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
