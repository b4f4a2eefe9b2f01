#!/usr/bin/env python3
"""Many approval requests at once, answered in random order by three approvers, two of whom must say yes, while the processes that
hold the calls and the processes that answer are killed again and again.

SALLYPORT_APPROVALS (60) sets how many requests wait at once, SALLYPORT_CRASH_SEED the random order.
"""
import collections
import json
import os
import pathlib
import random
import select
import subprocess
import tempfile
import time
import unittest

HELD_CALL = os.environ.get("HELD_CALL_BIN", "build/bin/held_call")
BIN = os.environ.get("SALLYPORT_BIN", "build/bin/sallyport")
COUNT = int(os.environ.get("SALLYPORT_APPROVALS", "60"))
SEED = int(os.environ.get("SALLYPORT_CRASH_SEED", str(random.randrange(1 << 30))))
PEOPLE = ("user:ada", "user:bo", "user:cy")
PATIENCE = 540


class ApprovalsUnderKill(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sallyport-fault-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data, self.effects = self.folder / "data", self.folder / "effects"
        reviewers = "".join(f'    - {{name: "{name}", token: "sha256:{index:064x}", roles: [approver]}}\n'
                            for index, name in enumerate(PEOPLE))
        self.policy = self.folder / "policy.yaml"
        self.policy.write_text("version: 1\nautonomy: {tier: suggest, agent_action_tiers: {}}\n"
                               f"approvals:\n  quorum: 2\n  use_within_s: 604800\n  reviewers:\n{reviewers}")
        self.running = {}
        self.addCleanup(lambda: [self.kill(name) for name in list(self.running)])

    def start(self, name, *arguments):
        self.running[name] = subprocess.Popen(
            [HELD_CALL, self.data, "--effects", self.effects, "--within", "86400", "--policy", self.policy, *map(str, arguments)],
            stdout=subprocess.PIPE, env={**os.environ, "HOME": str(self.folder)})

    def kill(self, name):
        process = self.running.pop(name)
        process.kill()
        process.wait()
        process.stdout.close()

    def restart(self, name):
        if name == "holder":
            return self.start(name, "--follow")
        self.start(name, "--answer", name, "--seed", self.random.randrange(1 << 30))

    def wait_for(self, name, member):
        """Reads the lines of a process until one has this member."""
        process, rest, end = self.running[name], b"", time.monotonic() + PATIENCE
        while time.monotonic() < end:
            ready, _, _ = select.select([process.stdout], [], [], 1)
            if not ready:
                continue
            piece = os.read(process.stdout.fileno(), 65536)
            rest += piece
            *lines, rest = rest.split(b"\n")
            for line in lines:
                said = json.loads(line)
                self.assertNotIn("error", said, (name, SEED))
                if member in said:
                    return said
            self.assertTrue(piece, f"{name} ended; seed {SEED}")
        self.fail(f"{name} does not come to an end; seed {SEED}")

    def cli(self, *arguments):
        done = subprocess.run([BIN, *arguments, "--data-dir", self.data], capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "HOME": str(self.folder)})
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return done.stdout

    def waiting(self):
        """Returns the number of waiting requests. A ledger that its first process is still creating has none."""
        done = subprocess.run([BIN, "approvals", "list", "--json", "--data-dir", self.data], capture_output=True, text=True,
                              timeout=PATIENCE, env={**os.environ, "HOME": str(self.folder)})
        if done.returncode == 1 and "no ledger" in done.stderr:
            return 0
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        return len(done.stdout.splitlines())

    # AP-4 AP-8 AP-10 AP-20 AP-21 AP-22
    def test_what_is_approved_runs_once_and_what_is_refused_never_whoever_is_killed(self):
        self.random = random.Random(SEED)
        self.start("holder", "--propose", COUNT)
        self.wait_for("holder", "proposed")
        for name in PEOPLE:
            self.restart(name)
        for _ in range(10):
            time.sleep(self.random.uniform(0.05, 0.6))
            victim = self.random.choice(["holder", "holder", *PEOPLE])
            self.kill(victim)
            self.restart(victim)
        for name in (*PEOPLE, "holder"):
            self.wait_for(name, "done")
        ran = collections.Counter(json.loads(line)["number"] for line in self.effects.read_text().splitlines())
        questions = [json.loads(line) for line in self.cli("approvals", "list", "--state", "all", "--json").splitlines()]
        self.assertEqual(len(questions), COUNT, SEED)
        ends = collections.defaultdict(list)
        used = collections.Counter()
        decided = {}
        for line in self.cli("ledger", "show", "--limit", "10000000", "--json").splitlines():
            row = json.loads(line)
            body = row["body"]
            if row["entry"]["kind"] == "tool_audit" and body.get("terminal"):
                ends[row["entry"]["call_id"]].append((body["effective_input"]["number"], body["outcome"], body["effect_state"]))
            if row["entry"]["kind"] == "intent":
                used[body["request_id"]] += 1
            if body.get("record") == "approval_decision":
                self.assertNotIn(body["request_id"], decided, SEED)
                decided[body["request_id"]] = body
        unknown = 0
        for question in questions:
            (number, outcome, effect), = ends[question["call_id"]]
            decision = decided[question["request_id"]]
            self.assertLessEqual(ran[number], 1, (number, SEED))
            if number % 4 == 0:
                self.assertEqual((question["state"], ran[number], used[question["request_id"]]), ("denied", 0, 0), SEED)
                self.assertEqual(decision["approved"], False)
                continue
            self.assertEqual((question["state"], used[question["request_id"]]), ("used", 1), (number, outcome, SEED))
            self.assertEqual(len(set(decision["reviewers"])), 2, SEED)
            if effect == "unknown":
                unknown += 1
            else:
                self.assertEqual((outcome["kind"], ran[number]), ("completed", 1), (number, SEED))
        # A kill ends at most one effect between its intent and its outcome.
        self.assertLessEqual(unknown, 10)
        self.cli("ledger", "verify")
        print(f"{COUNT} questions: {sum(ran.values())} ran, {unknown} with unknown outcome, seed {SEED}", flush=True)

    # AP-18 (partly) AP-21
    def test_a_held_call_whose_process_is_killed_does_not_run_whatever_people_say_later(self):
        self.random = random.Random(SEED)
        self.policy.write_text(self.policy.read_text().replace("tier: suggest", "tier: act_with_approval"))
        self.start("holder", "--calls", 8)
        end = time.monotonic() + PATIENCE
        while self.waiting() < 8:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)
        self.kill("holder")
        for name in PEOPLE:
            self.restart(name)
        for name in PEOPLE:
            self.wait_for(name, "done")
        self.assertFalse(self.effects.exists() and self.effects.read_text())
        states = {question["state"] for question in map(json.loads, self.cli("approvals", "list", "--state", "all", "--json").splitlines())}
        self.assertEqual(states, {"approved", "denied"})


if __name__ == "__main__":
    unittest.main()
