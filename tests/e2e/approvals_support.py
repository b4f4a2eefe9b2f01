"""Approvers, and processes with calls that wait for them."""
import json
import os
import subprocess
import time

from cli_support import CliTest

HELD_CALL = os.environ.get("HELD_CALL_BIN", "build/tests/e2e/held_call")


class Held:
    """A process with a call that waits for an approver."""

    def __init__(self, test, *arguments):
        self.process = subprocess.Popen(
            [HELD_CALL, test.data, "--effects", test.effects, "--within", "600", *map(str, arguments)],
            stdout=subprocess.PIPE, env=test.environment(), cwd=test.folder, text=True)
        test.addCleanup(self.stop)
        started = json.loads(self.process.stdout.readline())
        assert "waiting" in started, started

    def line(self):
        return json.loads(self.process.stdout.readline())

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(timeout=30)
        self.process.stdout.close()


class ApprovalsTest(CliTest):
    def setUp(self):
        super().setUp()
        self.effects = self.folder / "effects"
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)

    def init(self, *names):
        people = []
        for name in names:
            key_file = self.folder / (name.replace(":", "-") + ".key")
            made = self.good("approvals", "init", "--name", name, "--key-file", key_file,
                             "--passphrase-file", self.words, "--json").json()
            people.append(f'    - {{name: "{name}", key: "{made["key"]}", roles: [approver]}}')
        lines = "\n".join(["approvals:", "  reviewers:", *people, ""])
        self.data.mkdir(mode=0o700, exist_ok=True)
        (self.data / "reviewers.yaml").write_text(lines)
        return lines

    def policy(self, lines):
        return self.write("policy.yaml", "version: 1\n" + lines)

    def pending(self, *more):
        for _ in range(600):
            found = self.good("approvals", "list", "--json", *more).lines()
            if found:
                return found
            time.sleep(0.05)
        self.fail("nobody asked")

    def answer(self, verb, request_id, name="user:ada", *more):
        return ["approvals", verb, request_id, "--key-file", self.folder / (name.replace(":", "-") + ".key"),
                "--passphrase-file", self.words, *more]

    def ran(self):
        return self.effects.read_text().splitlines() if self.effects.exists() else []

    def entries(self, record):
        found = []
        for line in self.good("ledger", "show", "--kind", "approval", "--limit", "1000", "--json").lines():
            if line["body"].get("record") == record:
                found.append(line["body"])
        return found

    def batch(self, *items, name="user:ada"):
        path = self.write("batch.json", json.dumps(items))
        outcome = self.cli("approvals", "answer", "--batch", path, "--key-file", self.folder / (name.replace(":", "-") + ".key"),
                           "--passphrase-file", self.words, "--json")
        self.assertEqual(outcome.err, "")
        answers = outcome.lines()
        self.assertEqual(outcome.code, 0 if all(answer["ok"] for answer in answers) else 1)
        return answers
