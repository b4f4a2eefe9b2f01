#!/usr/bin/env python3
"""Tests `approvals watch`: a screen with keys on a terminal, lines elsewhere."""
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from approvals_support import ApprovalsTest, Held
from cli_support import BIN

PATIENCE = 60


class Screen:
    """A terminal of 30 lines and 100 columns, and its present text."""

    def __init__(self, test, *arguments):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.process = subprocess.Popen([BIN, "approvals", "watch", "--data-dir", test.data, *map(str, arguments)],
                                        stdin=slave, stdout=slave, stderr=slave, env=test.environment(), cwd=test.folder,
                                        start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.raw = ""
        test.addCleanup(self.stop)

    def text(self):
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.raw)

    def shows(self, words, since=0):
        """Reads until the words have been drawn; returns their offset."""
        end = time.monotonic() + PATIENCE
        while words not in self.text()[since:]:
            ready, _, _ = select.select([self.master], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise AssertionError(f"{words!r} was not shown: {self.text()[-3000:]}")
            try:
                self.raw += os.read(self.master, 65536).decode("utf-8", "replace")
            except OSError:
                raise AssertionError(f"it ended: {self.text()[-3000:]}") from None
        return len(self.text())

    def press(self, keys):
        os.write(self.master, keys.encode())

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=30)
        os.close(self.master)


class Watch(ApprovalsTest):
    def watched(self, *more):
        return Screen(self, "--key-file", self.folder / "user-ada.key", *more)

    # AP-28 (partly) AP-38 (partly) AP-39 (partly) AP-41 (partly) AP-43 (partly)
    def test_a_person_sees_what_comes_and_answers_it_with_two_keys_and_one_passphrase(self):
        policy = self.policy(self.init("user:ada"))
        self.make_ledger(0)
        screen = self.watched()
        screen.shows("nothing is waiting")
        first = Held(self, "--policy", policy, "--text", "first\u202e" + "x" * 5000 + "END")
        screen.shows("1 waiting")
        screen.shows("\\u{202E}")
        screen.press(" ")
        at = screen.shows("bytes left out")
        question = self.pending()[0]
        screen.press("f")
        screen.shows("[page 1 of 3", at)
        screen.press("  ")
        screen.shows('END"', at)
        screen.press("a")
        screen.shows("passphrase of user:ada: ")
        screen.press("correct horse battery\n")
        screen.shows(f"approve {question['binding'][7:15]}? y or n")
        screen.press("n")
        at = screen.shows("not answered")
        self.assertEqual(self.ran(), [])
        screen.press("a")
        screen.shows("y or n", at)
        screen.press("y")
        screen.shows("approved by user:ada", at)
        self.assertEqual(first.line()["outcome"], "completed")
        second = Held(self, "--policy", policy, "--text", "second")
        at = screen.shows("second", at)
        screen.press("d")
        screen.shows("deny", at)
        screen.press("y")
        screen.shows("denied by user:ada", at)
        self.assertEqual(second.line()["outcome"], "blocked")
        self.assertEqual(screen.text().count("passphrase of user:ada"), 1)
        self.assertEqual(len(self.ran()), 1)
        screen.press("q")
        self.assertEqual(screen.process.wait(30), 0)

    def test_keys_move_and_a_question_that_goes_takes_its_confirmation_with_it(self):
        policy = self.policy(self.init("user:ada"))
        holders = [Held(self, "--policy", policy, "--text", word) for word in ("alpha", "bravo")]
        while len(self.pending()) < 2:
            time.sleep(0.05)
        screen = self.watched("--passphrase-file", self.words)
        screen.shows("2 waiting")
        order = [item["request_id"] for item in self.pending()]
        at = screen.shows("alpha")
        screen.press("j")
        screen.shows("bravo", at)
        screen.press("\x1b[A")
        screen.shows("alpha", at)
        screen.press("a")
        at = screen.shows("y or n", at)
        # Another approver is quicker: keys that are typed now answer nothing.
        self.good(*self.answer("deny", order[0]))
        at = screen.shows("1 waiting", at)
        screen.press("y")
        time.sleep(0.5)
        self.assertEqual([item["request_id"] for item in self.pending()], [order[1]])
        self.assertEqual(self.ran(), [])
        for held in holders:
            held.stop()

    # AP-43
    def test_after_thirty_approvals_a_person_types_what_he_approves(self):
        policy = self.policy(self.init("user:ada"))
        many = Held(self, "--policy", policy, "--calls", 32)
        while len(self.pending()) < 32:
            time.sleep(0.1)
        questions = self.pending()
        answers = self.batch(*({"request_id": one["request_id"], "approved": True, "binding": one["binding"]} for one in questions))
        self.assertEqual([answer["ok"] for answer in answers], [True] * 30 + [False] * 2)
        self.assertIn("one by one", answers[-1]["error"])
        left = self.pending()
        self.good(*self.answer("approve", left[0]["request_id"]), "--binding", left[0]["binding"])
        screen = self.watched("--passphrase-file", self.words)
        screen.shows("1 waiting")
        screen.press("a")
        digits = left[1]["binding"][7:15]
        at = screen.shows(f"type {digits} to approve")
        screen.press("y")
        screen.shows("not answered", at)
        screen.press("a")
        screen.shows(f"type {digits} to approve", at)
        for key in digits:
            screen.press(key)
        screen.shows("approved by user:ada", at)
        outcomes = [many.line()["outcome"] for _ in range(32)]
        self.assertEqual(outcomes, ["completed"] * 32)
        self.assertEqual(len(self.ran()), 32)

    # AP-27 (partly)
    def test_without_a_terminal_each_event_is_a_line(self):
        policy = self.policy(self.init("user:ada"))
        self.make_ledger(0)
        for more in ((), ("--json",)):
            watch = subprocess.Popen([BIN, "approvals", "watch", "--data-dir", self.data, *more], stdout=subprocess.PIPE,
                                     stdin=subprocess.DEVNULL, env=self.environment(), cwd=self.folder, text=True)
            self.addCleanup(watch.stdout.close)
            self.addCleanup(lambda one=watch: one.poll() is None and one.kill())
            held = Held(self, "--policy", policy)
            asked = watch.stdout.readline()
            request_id = self.pending()[0]["request_id"]
            self.good(*self.answer("approve", request_id))
            self.assertEqual(held.line()["outcome"], "completed")
            told = watch.stdout.readline()
            if more:
                first, last = json.loads(asked), json.loads(told)
                self.assertEqual((first["event"], first["request"]["request_id"]), ("asked", request_id))
                self.assertIn(last["event"], ("approved", "used"))
            else:
                self.assertRegex(asked, rf"^\S+Z asked     {request_id}  write_file by agent:deploy-bot, class fs.write, 0 of 1 said yes")
                self.assertRegex(told, rf"^\S+Z (approved |used     ) {request_id}")
            watch.send_signal(signal.SIGTERM)
            self.assertEqual(watch.wait(30), 0)

    # AP-29 (partly)
    def test_an_agent_cannot_watch(self):
        self.make_ledger(1)
        self.assertIn("deploy-bot", self.refused(1, "approvals", "watch", env=self.environment(SALLYPORT_AGENT="deploy-bot")))


if __name__ == "__main__":
    unittest.main()
