#!/usr/bin/env python3
"""The first minutes of a new user, at the terminal and with approvals."""
import os
import stat
import time
import unittest

from cli_support import CliTest
from mcp_approvals_support import FORMS, Approvals

POLICY = "version: 1\nautonomy: {tier: act_with_approval}\n"


class Help(CliTest):
    # The message once said only that a command is missing.
    def test_the_bare_program_prints_its_help(self):
        bare = self.run_bare()
        self.assertEqual((bare.code, bare.err), (0, ""))
        self.assertEqual(bare.out, self.run_bare("--help").out)
        self.assertIn("init", bare.out)

    def test_the_help_of_serve_names_the_option_without_which_it_does_not_start(self):
        self.assertIn("--config", self.run_bare("serve", "--help").out)


class Registering(CliTest):
    def setUp(self):
        super().setUp()
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)

    def init(self, *more):
        return self.cli("approvals", "init", "--passphrase-file", self.words, "--json", *more)

    # A new user once had to copy a line with a key into a file that did not exist yet.
    def test_a_key_is_registered_by_the_command_that_makes_it(self):
        said = self.init("--register", "--name", "user:ada").json()
        file = self.data / "reviewers.yaml"
        self.assertEqual(said["registered_in"], str(file))
        self.assertEqual(file.read_text(), f'reviewers:\n  - {{name: "user:ada", key: "{said["key"]}", roles: [approver, controller]}}\n')
        self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)
        self.assertEqual(self.init("--register", "--name", "user:bo").code, 0)
        self.assertEqual(file.read_text().count("- {name:"), 2)
        twice = self.init("--register", "--name", "user:ada")
        self.assertEqual(twice.code, 1)
        self.assertIn("`user:ada` is registered already", twice.err)
        shown = self.cli("approvals", "init", "--register", "--name", "user:cy", "--passphrase-file", self.words).out
        self.assertIn("`sallyport approvals watch`", shown)

    def test_a_key_that_is_there_is_registered_later(self):
        made = self.init("--name", "user:ada").json()
        self.assertFalse((self.data / "reviewers.yaml").exists())
        self.assertEqual(self.init("--name", "user:ada", "--register").json()["key"], made["key"])
        self.assertIn(made["key"], (self.data / "reviewers.yaml").read_text())

    def test_a_list_of_another_form_is_left_alone_and_the_line_is_printed(self):
        self.data.mkdir(mode=0o700)
        file = self.data / "reviewers.yaml"
        for text in ("reviewers: []\n", "approvals:\n  reviewers:\n    - {name: a, token: 'sha256:" + "0" * 64 + "', roles: [approver]}\n"):
            file.write_text(text)
            outcome = self.init("--register", "--name", "user:x")
            self.assertEqual(outcome.code, 1, outcome.out)
            self.assertIn('by hand:   - {name: "user:x"', outcome.err)
            self.assertEqual(file.read_text(), text)
            self.assertEqual(sorted(path.name for path in self.data.iterdir()), ["approvers", "reviewers.yaml"])
            (self.data / "approvers" / "user-x.key").unlink()

    # A misspelled key made an empty list.
    def test_a_list_with_an_unknown_key_is_refused_before_a_key_is_made(self):
        self.data.mkdir(mode=0o700)
        (self.data / "reviewers.yaml").write_text("reviewer: []\n")
        outcome = self.init("--register", "--name", "user:x")
        self.assertEqual(outcome.code, 64, outcome.out)
        self.assertIn("`reviewer` is unknown", outcome.err)
        self.assertEqual([path.name for path in self.data.iterdir()], ["reviewers.yaml"])


class Waiting(Approvals):
    def shipped(self):
        """A policy that names no people."""
        return self.write("policy.yaml", POLICY)

    def id(self):
        return self.pending()[0]

    def test_an_id_may_be_abbreviated_where_it_stays_the_only_one(self):
        client = self.session(self.shipped())
        call = self.write_file(client)
        whole = self.id()
        for short in (whole[:-6], whole[4:-6], whole):
            self.assertEqual(self.good("approvals", "show", short, "--json").json()["request"]["request_id"], whole)
        second = self.write_file(client, {"path": "b.txt", "text": "hi"})
        self.pending(2)
        self.assertIn("2 ids begin with `apr_01`", self.refused(64, "approvals", "show", "apr_01"))
        self.assertIn("2 ids begin with `apr_01`", self.refused(64, "approvals", "approve", "apr_01", "--key-file", self.key, "--passphrase-file", self.words))
        self.assertIn("there is no approval `apr`", self.refused(1, "approvals", "show", "apr"))
        self.good("approvals", "approve", whole[:-4], "--key-file", self.key, "--passphrase-file", self.words)
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        other = next(item["request_id"] for item in self.good("approvals", "list", "--json").lines())
        self.good("approvals", "deny", other[:-4], "--key-file", self.key, "--passphrase-file", self.words)
        self.assertTrue(client.answer(second)["result"]["isError"])
        calls = [row["call_id"] for row in self.good("ledger", "calls", "--json").lines()]
        for words in (("ledger", "show"), ("ledger", "receipt"), ("ledger", "show", "--call")):
            self.assertIn(calls[0], self.good(*words, calls[0][:-5], "--json").out)
        explained = self.cli("policy", "explain", calls[0][:-5], "--json").json()
        self.assertEqual(explained["call"]["input"]["path"], "a.txt")
        self.assertEqual(len(self.good("ledger", "calls", "--call", calls[0][:-5], "--json").lines()), 1)
        self.assertIn("ids begin with", self.refused(64, "ledger", "calls", "--call", calls[0][:4]))

    # The list once showed `Confirm write_file?` without the text to be written.
    def test_the_list_and_standard_error_say_what_waits_and_what_to_run(self):
        client = self.session(self.shipped())
        self.write_file(client, {"path": "notes/\u202ea.txt", "text": "hi"})
        whole = self.id()
        self.assertIn("\n  notes/\\u{202E}a.txt\n", self.good("approvals", "list").out)
        client.wait_for_error("waits for approval")
        line = next(line for line in client.errors if "waits for approval" in line)
        self.assertIn("`write_file` of `effects` waits for approval: notes/\\u{202E}a.txt; ", line)
        self.assertIn(f"run `sallyport approvals approve {whole} --data-dir {self.data}`", line)
        self.assertEqual(sum("waits for approval" in line for line in client.errors), 1)

    def test_a_text_of_several_lines_is_shown_in_lines_that_pass_for_nothing_else(self):
        client = self.session(self.shipped())
        self.write_file(client, {"path": "a", "text": "one\nreviewers  none\n\u202etwo\n"})
        page = self.good("approvals", "show", self.id()).out
        self.assertRegex(page, r'"text": *\n +\| one\n +\| reviewers  none\n +\| \\u\{202E\}two\n +\| *\n')
        self.assertEqual(len([line for line in page.splitlines() if line.startswith("reviewers")]), 1)

    # AP-31 (partly)
    def test_a_client_that_the_data_folder_registers_is_asked_under_a_policy_that_names_nobody(self):
        (self.data / "reviewers.yaml").write_text(f"reviewers:\n{self.user}\n")
        client = self.session(self.shipped(), FORMS)
        call = self.write_file(client)
        asked = client.next(lambda m: m.get("method") == "elicitation/create")
        client.send({"id": asked["id"], "result": {"action": "accept", "content": {"decision": "approve"}}})
        self.assertEqual(client.answer(call)["result"]["content"][0]["text"], "written")
        self.assertEqual(self.entries("approval_decision")[0]["reviewers"], ["user:dana"])
        (self.data / "reviewers.yaml").write_text(f"reviewers:\n{self.ada}\n")  # struck off while it runs
        self.write_file(client, {"path": "b", "text": "x"})
        self.pending()
        client.request("ping")
        self.assertEqual([m for m in client.kept if m.get("method") == "elicitation/create"], [])

    def notified(self, **environment):
        """Returns the arguments that a notifier in the path got, one list of words a run."""
        told = self.folder / "told"
        programs = self.folder / "programs"
        programs.mkdir(exist_ok=True)
        script = programs / "notify-send"
        script.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {told}\necho end >> {told}\n')
        script.chmod(0o755)
        before = self.environment
        self.environment = lambda **more: {**before(**more), "PATH": f"{programs}:{os.environ['PATH']}", **environment}
        client = self.session(self.shipped())
        self.write_file(client, {"path": "a", "text": "AKIAIOSFODNN7EXAMPLE <b>x</b>"})
        self.id()
        client.wait_for_error("waits for approval")
        end = time.monotonic() + (30 if environment else 1)
        while time.monotonic() < end and not (told.exists() and told.read_text().endswith("end\n")):
            time.sleep(0.02)
        self.environment = before
        return told.read_text() if told.exists() else ""

    def test_a_desktop_is_told_where_there_is_one_and_no_content_reaches_it(self):
        told = self.notified(DISPLAY=":0", DBUS_SESSION_BUS_ADDRESS="unix:path=/nowhere")
        self.assertIn("Sallyport: write_file waits for approval", told)
        self.assertIn("sallyport approvals show apr_", told)
        for secret in ("AKIA", "<b>"):
            self.assertNotIn(secret, told)

    def test_nothing_is_started_where_there_is_no_desktop(self):
        self.assertEqual(self.notified(), "")


if __name__ == "__main__":
    unittest.main()
