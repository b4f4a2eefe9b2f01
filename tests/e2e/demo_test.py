"""The demo, as a newcomer runs it."""
import json
import os
import pty
import re
import select
import subprocess
import tempfile
import time
import unittest

BIN = os.environ["SALLYPORT_BIN"]


def run(*words):
    return subprocess.run([BIN, *words], capture_output=True, text=True, timeout=60)


class DemoTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data = os.path.join(folder.name, "data")

    # LE-70, LE-69
    def test_every_story_is_told_and_the_ledger_agrees(self):
        told = run("demo", "--data-dir", self.data, "--json")
        self.assertEqual(told.returncode, 0, told.stderr)
        summary = json.loads(told.stdout)
        self.assertEqual([(c["story"], c["outcome"], c["effect_state"]) for c in summary["calls"]],
                         [("allowed", "completed", "done"), ("cached", "cached", "none"),
                          ("denied", "blocked", "none"), ("rejected", "blocked", "none"),
                          ("approved", "completed", "done"), ("in the shadow", "blocked", "none"),
                          ("redacted", "completed", "done"), ("withheld after run", "completed", "done"),
                          ("escalated", "completed", "done"), ("failed", "completed", "done"),
                          ("killed, recovered", "persistence_failed", "unknown")])
        for promise in ("ledger_clean", "receipt_verified", "tampering_found"):
            self.assertIs(summary[promise], True)
        for call in summary["calls"]:
            shown = json.loads(run("ledger", "show", str(call["record"]), "--data-dir", self.data, "--json").stdout)
            self.assertEqual(shown["entry"]["outcome"], call["outcome"])
            self.assertIs(shown["body"]["terminal"], True)
        controls = [json.loads(line)["body"]["control"] for line in
                    run("ledger", "show", "--kind", "control", "--data-dir", self.data, "--json").stdout.splitlines()]
        self.assertEqual(controls, ["key_created", "started", "policy_loaded", "stopped", "gap", "started", "policy_loaded",
                                    "gap", "started", "policy_loaded", "stopped"])

    # LE-55, AU-84: no file of the data folder contains the planted key.
    def test_the_secret_reaches_neither_agent_nor_disk(self):
        told = run("demo", "--data-dir", self.data)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertNotIn("AKIAIOSFODNN7EXAMPLE", told.stdout)
        for folder, _, files in os.walk(self.data):
            for name in files:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(b"AKIAIOSFODNN7EXAMPLE", file.read(), name)

    # PI-81, PI-82, AP-25
    def test_an_escalation_waits_until_a_person_settles_it(self):
        run("demo", "--data-dir", self.data, "--json")
        listed = [json.loads(line) for line in run("approvals", "list", "--data-dir", self.data, "--json").stdout.splitlines()]
        self.assertEqual([(i["tool_name"], i["guard"], i["message"], i["agent_id"], i["count"]) for i in listed],
                         [("read_file", "payments", "the agent has read about a payment", "agent:demo", 1)])
        shown = run("approvals", "list", "--data-dir", self.data).stdout
        self.assertIn("the agent has read about a payment", shown)
        self.assertIn(f"approvals accept {listed[0]['request_id']}", shown)
        for verb in ("approve", "deny", "cancel"):
            wrong = run("approvals", verb, listed[0]["request_id"], "--data-dir", self.data)
            self.assertEqual(wrong.returncode, 64)
            self.assertIn(f"is an escalation: `sallyport approvals accept {listed[0]['request_id']}`", wrong.stderr)
        page = run("approvals", "show", listed[0]["request_id"], "--data-dir", self.data)
        self.assertEqual((page.returncode, "the agent has read about a payment" in page.stdout), (0, True))
        done = run("approvals", "accept", listed[0]["request_id"], "--note", "seen", "--data-dir", self.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(run("approvals", "list", "--data-dir", self.data, "--json").stdout, "")
        again = run("approvals", "dismiss", listed[0]["request_id"], "--data-dir", self.data)
        self.assertEqual(again.returncode, 1)
        last = json.loads(run("ledger", "tail", "-n", "1", "--data-dir", self.data, "--json").stdout)
        self.assertEqual((last["body"]["state"], last["body"]["reason"]), ("accepted", "seen"))

    # LE-25
    def test_nothing_it_leaves_can_be_read_by_others(self):
        run("demo", "--data-dir", self.data)
        for folder, folders, files in os.walk(self.data):
            for name in files + folders:
                self.assertEqual(os.stat(os.path.join(folder, name)).st_mode & 0o077, 0, name)

    def at_a_terminal(self, answer, *words):
        """Runs it at a terminal, where a person types `answer` at the prompt."""
        master, slave = pty.openpty()
        process = subprocess.Popen([BIN, "demo", "--data-dir", self.data, "--no-pause", *words], stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        told, end = b"", time.monotonic() + 120
        while time.monotonic() < end:
            if not select.select([master], [], [], 1)[0]:
                continue
            try:
                told += os.read(master, 65536)
            except OSError:
                break
            if answer and b"you are asked: " in told:
                os.write(master, answer)
                answer = None
        self.assertEqual(process.wait(60), 0)
        os.close(master)
        return told.decode()

    # AP-21 (partly) AT-27 (partly) AT-29 (partly)
    def test_the_user_is_asked_and_his_answer_counts(self):
        self.assertIn("approved: a person said yes", self.at_a_terminal(b"y\n"))
        self.assertIn("refused by you: you said no", self.at_a_terminal(b"n\n"))
        by_script = self.at_a_terminal(None, "--yes")
        self.assertIn("answered yes by the script", by_script)
        self.assertNotIn("you are asked", by_script)

    def test_in_a_pipe_it_is_plain_text_and_waits_for_nobody(self):
        told = run("demo")
        self.assertIn("answered yes by the script", told.stdout)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertNotIn("\x1b", told.stdout)

    # It once printed a command about a deleted folder, lines of 160 columns, and phrases such as `effect none`.
    def test_what_it_prints_fits_a_terminal_says_what_happened_and_can_be_copied(self):
        gone = run("demo").stdout
        self.assertEqual([line for line in gone.splitlines() if len(line) > 80], [])
        self.assertIn("denied: a rule refused it before it ran", gone)
        self.assertEqual(re.findall(r"sallyport \w+ .*", gone), ["sallyport demo --data-dir DIR`."])
        kept = run("demo", "--data-dir", self.data).stdout
        commands = re.findall(r"^     sallyport ((?:.*\\\n)*.*)", kept, re.MULTILINE)
        self.assertEqual([command.split()[0] for command in commands], ["approvals", "verify"])
        for command in commands:
            done = run(*command.replace("\\\n", " ").split())
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_it_can_be_run_again_on_the_same_ledger(self):
        for _ in range(2):
            self.assertEqual(run("demo", "--data-dir", self.data).returncode, 0)
        report = json.loads(run("ledger", "verify", "--data-dir", self.data, "--json").stdout)
        self.assertIs(report["ok"], True)


if __name__ == "__main__":
    unittest.main()
