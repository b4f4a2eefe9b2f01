#!/usr/bin/env python3
"""One data folder under concurrent use: a server, gates over standard streams, hooks, approvers, and processes that erase, prune,
hold, export, verify, rotate keys and change the policy, in random order, while any of them may be killed at any moment.

SALLYPORT_SHARED_ROUNDS (3) and SALLYPORT_SHARED_SECONDS (3, of each round) set the size, SALLYPORT_CRASH_SEED the order of things.
"""
import collections
import contextlib
import json
import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))
from cli_support import BIN  # noqa: E402
from mcp_approvals_support import SERVER as EFFECTS_SERVER  # noqa: E402
from mcp_support import PATIENCE, Client  # noqa: E402
from serve_support import Server, ServeTest, messages, modern, modern_headers  # noqa: E402

ROUNDS = int(os.environ.get("SALLYPORT_SHARED_ROUNDS", "3"))
SECONDS = float(os.environ.get("SALLYPORT_SHARED_SECONDS", "3"))
SEED = int(os.environ.get("SALLYPORT_CRASH_SEED", str(random.randrange(1 << 30))))
POLICIES = ["version: 1\nautonomy: {tier: act_auto}\n" + more for more in ("", "name: two\n", "limits: {call_ms: 30000}\n", "nonsense: 1\n")]
CONFIG = """version: 1
data_dir: data
serve:
  listen: 127.0.0.1:0
  policy: policy.yaml
  upstreams:
    - {name: effects, command: [%s, %s]}
"""


class Seen:
    """The results that clients received, over all rounds."""

    def __init__(self):
        self.written = set()        # ids of calls whose result reached the client
        self.hooked = set()         # ids of a coding agent's calls whose result was accepted
        self.ends = collections.Counter()  # terminal records of a call, by its id
        self.intents = set()
        self.calls = []             # calls of earlier rounds that have content and were neither erased nor pruned
        self.erased = {}            # call id -> its result text
        self.last = 0              # the last entry that was checked
        self.kept = []              # (checkpoint, receipt, key) that were exported
        self.lock = threading.Lock()

# Runs the hook as a coding agent does, and dies together with it. This process must not be the hook's parent, because
# processes that an agent started may not change evidence.
HOST = [sys.executable, "-c", "import ctypes, subprocess, sys; "
        "sys.exit(subprocess.run(sys.argv[1:], preexec_fn=lambda: ctypes.CDLL(None).prctl(1, 9)).returncode)"]


class SharedFolder(ServeTest):
    def setUp(self):
        super().setUp()
        self.effects = self.folder / "effects"
        self.policy = self.write("policy.yaml", POLICIES[0])
        self.config = self.write("serve.yaml", CONFIG % (json.dumps(sys.executable), json.dumps(str(EFFECTS_SERVER))))
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        self.key = self.folder / "ada.key"
        made = self.good("approvals", "init", "--name", "user:ada", "--key-file", self.key, "--passphrase-file", self.words, "--json")
        ada = f'    - {{name: "user:ada", key: "{made.json()["key"]}", roles: [approver, controller]}}\n'
        self.as_ada = ("--key-file", self.key, "--passphrase-file", self.words)
        self.data.mkdir(mode=0o700, exist_ok=True)
        (self.data / "reviewers.yaml").write_text(f"reviewers:\n{ada}")
        self.asking = self.write("asking.yaml", "version: 1\nautonomy: {tier: act_with_approval}\napprovals:\n"
                                 f"  hold_s: 2\n  reviewers:\n{ada}")
        self.chance = random.Random(SEED)
        self.seen = Seen()
        self.policy_lock = threading.Lock()
        self.faults = queue.Queue()
        self.alive = {}  # the process of each participant
        self.victims = set()  # the processes that were killed
        self.counter = iter(range(1 << 40))
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in list(self.alive.values()):
            process.kill()

    def environment(self, **more):
        return super().environment(EFFECTS=self.effects, **more)

    # The participants. Each works until the time is over, and starts again if it was killed.

    def participant(self, work):
        def run():
            while time.monotonic() < self.until:
                try:
                    work()
                except Exception as fault:  # noqa: BLE001
                    if not self.was_killed(work.__name__):
                        self.faults.put(f"{work.__name__}: {fault!r}")
                        return
        thread = threading.Thread(target=run, name=work.__name__, daemon=True)
        thread.start()
        return thread

    def was_killed(self, name):
        process = self.alive.get(name)
        return process is not None and process.pid in self.victims

    def new_id(self):
        with self.seen.lock:
            # Ids consist of letters: the redactor may take a long number for personal data and remove it.
            return "marked-" + "".join(chr(ord("a") + int(digit)) for digit in f"{next(self.counter):05}")

    def note_written(self, id, result):
        if not result.get("isError") and result["content"][0]["text"] == "written":
            self.seen.written.add(id)

    def served(self):
        with self.good_policy():
            server = Server(self, self.config)
            self.alive["served"] = server.process
        try:
            while time.monotonic() < self.until:
                id = self.new_id()
                message = modern("tools/call", {"name": "write_file", "arguments": {"id": id}})
                said = messages(server.open(body=message, headers=modern_headers(message)))
                self.note_written(id, said[-1]["result"])
            self.assertEqual(server.stop(), 0, "".join(server.errors))
        finally:
            self.end_server(server)

    def gate(self, name, policy):
        with self.good_policy():
            client = Client(self, (sys.executable, EFFECTS_SERVER), options=("--name", "effects", "--policy", str(policy)))
            self.alive[name] = client.process
            client.open()
        try:
            while time.monotonic() < self.until:
                id = self.new_id()
                self.note_written(id, client.result("write_file", {"id": id}))
            self.assertEqual(client.close(), 0, "".join(client.errors))
        finally:
            self.end(client)

    def gated(self):
        self.gate("gated", self.policy)

    def asked(self):
        self.gate("asked", self.asking)

    def hooked(self):
        """Runs both hook events of one tool call of a coding agent."""
        id = self.new_id()
        event = {"session_id": "s", "cwd": "/", "tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": id}}
        for kind in ({"hook_event_name": "PreToolUse"}, {"hook_event_name": "PostToolUse", "tool_response": {"text": "x"}}):
            code, out, error = self.command("hooked", "hook", "--agent", "claude-code", stdin=json.dumps({**event, **kind}), host=HOST)
            if code == -signal.SIGKILL:
                return
            self.assertEqual(code, 0, error)
            if out:  # the daemon was killed, so the hook refuses the call or withholds its result
                self.assertRegex(out, "could not (judge|check)")
                return
        self.seen.hooked.add(id)

    def command(self, name, *arguments, stdin="", mortal=True, host=()):
        """Returns exit code, output and errors; a mortal process is sometimes killed."""
        process = subprocess.Popen([*host, BIN, *map(str, arguments), "--data-dir", str(self.data)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment(), cwd=self.folder, text=True)
        self.alive[name] = process
        if mortal and self.chance.random() < 0.15:
            threading.Timer(self.chance.random() * 0.03, process.kill).start()
        with contextlib.suppress(BrokenPipeError):
            out, error = process.communicate(stdin, timeout=PATIENCE)
            return process.returncode, out, error
        return process.wait(PATIENCE), "", ""

    def answers(self):
        code, out, _ = self.command("answers", "approvals", "list", "--json")
        for item in [json.loads(line) for line in out.splitlines()] if code == 0 else []:
            verb = self.chance.choice(["approve", "approve", "deny"])
            self.command("answers", "approvals", verb, item["request_id"], "--key-file", self.key, "--passphrase-file", self.words)
        time.sleep(0.05)

    @contextlib.contextmanager
    def good_policy(self):
        """Prevents process starts while the policy file is invalid."""
        with self.policy_lock:
            self.policy.write_text(POLICIES[0])
            yield

    def changes_policy(self):
        with self.policy_lock:
            self.change_policy()
        time.sleep(self.chance.random() * 0.3)

    def change_policy(self):
        other = self.folder / "policy.new"
        other.write_text(self.chance.choice(POLICIES))
        other.rename(self.policy)

    def maintains(self):
        self.maintenance("maintains")

    def maintains_too(self):
        self.maintenance("maintains_too")

    def maintenance(self, name):
        act = self.chance.choice([self.erase, self.erase, self.prune, self.hold, self.rotate, self.export, self.verify, self.look])
        code, error = act(name)
        # Two writers wait for each other, at most five seconds.
        self.assertIn(code, (0, -signal.SIGKILL), f"{act.__name__}: {error}")

    def a_call(self):
        """Picks a call that no participant prunes: its id and its result text."""
        with self.seen.lock:
            there = [call for call in self.seen.calls if call[2] >= self.seen.last // 2]
            call = self.chance.choice(there) if there else None
            if call:
                self.seen.calls.remove(call)
            return call

    def erase(self, name):
        call = self.a_call()
        if call is None:
            return 0, ""
        code, _, error = self.command(name, "ledger", "erase", "--call", call[0], "--reason", "asked for", *self.as_ada)
        if code == 1 and "read" in error:  # a reader is active: the values are removed but not yet overwritten
            return 0, ""
        if code == 0:
            self.seen.erased[call[0]] = call[1]
        return code, error

    def prune(self, name):
        before = self.chance.randrange(max(1, self.seen.last // 2))
        code, _, error = self.command(name, "ledger", "prune", "--before", before, "--reason", "old", *self.as_ada)
        if code == 1 and any(word in error for word in ("hold", "read", "to prune", "is still open", "is still needed")):
            return 0, ""
        return code, error

    def hold(self, name):
        """A call under a hold is not erased until the hold is released."""
        call = self.a_call()
        if call is None:
            return 0, ""
        id = "h-" + self.new_id()
        code, _, error = self.command(name, "ledger", "hold", "add", "--id", id, "--call", call[0], "--reason", "kept", *self.as_ada, mortal=False)
        if code != 0:
            return code, error
        code, _, error = self.command(name, "ledger", "erase", "--call", call[0], "--reason", "asked for", *self.as_ada, mortal=False)
        if code != 1 or id not in error:
            return 99, f"erased in spite of a hold: {code} {error}"
        code, _, error = self.command(name, "ledger", "hold", "lift", id, "--reason", "settled", *self.as_ada, mortal=False)
        return code, error

    def rotate(self, name):
        code, _, error = self.command(name, "keys", "rotate", *self.as_ada)
        return code, error

    def export(self, name):
        code, _, error = self.command(name, "ledger", "export", "--out", self.folder / f"{name}.jsonl")
        return code, error

    def verify(self, name):
        code, out, error = self.command(name, "ledger", "verify")
        return code, out + error

    def look(self, name):
        words = self.chance.choice([("ledger", "stats"), ("ledger", "tail", "-n", "50"), ("keys", "show"), ("ledger", "checkpoint")])
        code, _, error = self.command(name, *words)
        return code, error

    # The conditions that must hold afterwards.

    def play(self):
        self.until = time.monotonic() + SECONDS
        threads = [self.participant(work) for work in (
            self.served, self.gated, self.asked, self.hooked, self.answers, self.changes_policy, self.maintains, self.maintains_too)]
        while time.monotonic() < self.until:
            time.sleep(self.chance.random() * SECONDS / 4)
            victim = self.alive.get(self.chance.choice(["served", "gated", "asked"]))
            if victim is not None and self.chance.random() < 0.7:
                self.victims.add(victim.pid)
                victim.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join(PATIENCE)
            self.assertFalse(thread.is_alive(), f"{thread.name} does not end; seed {SEED}")
        self.assertEqual(list(self.faults.queue), [], f"seed {SEED}")

    def settle(self):
        """The next process that starts closes the entries that dead processes left open."""
        client = Client(self, (sys.executable, EFFECTS_SERVER), options=("--name", "effects"))
        client.open()
        self.assertEqual(client.close(), 0, "".join(client.errors))
        self.end(client)

    def check_calls(self):
        seen, said = self.seen, {}
        rows = self.good("ledger", "show", "--after", seen.last, "--limit", 1000000, "--json").lines()
        for row in rows:
            entry, call = row["entry"], row["entry"].get("call_id")
            seen.last = entry["sequence"]
            if entry["kind"] == "intent" and entry["tool_name"] != "Read":  # intents of hooks end when the agent reports the result
                seen.intents.add(call)
            if entry["kind"] == "tool_audit" and row["body"]["terminal"]:
                seen.ends[call] += 1
                said[row["body"]["tool_call_id"]] = row["body"]
                said[(row["body"]["requested_input"] or {}).get("id")] = row["body"]
                if (row["body"]["requested_input"] or {}).get("id"):
                    seen.calls.append((call, row["body"]["requested_input"]["id"], entry["sequence"]))
        self.assertEqual([call for call, ends in seen.ends.items() if ends != 1], [], f"seed {SEED}")
        for id in seen.written:
            self.assertTrue(id in said, f"an answer without a record: {id}; seed {SEED}")
            self.assertEqual(said[id]["outcome"]["kind"], "completed")
            self.assertTrue(said[id]["outcome"]["result"]["success"])
        for id in seen.hooked:
            self.assertTrue(id in said, f"a hook without a record: {id}; seed {SEED}")
        ran = [json.loads(line)["id"] for line in self.effects.read_text().splitlines()]
        self.assertEqual(len(ran), len(set(ran)), f"something ran twice; seed {SEED}")
        self.assertEqual(set(ran) - set(said) - self.told_before, set(), f"an effect without a record; seed {SEED}")
        self.told_before |= set(ran)
        self.assertEqual(seen.intents - set(seen.ends), set(), f"open calls; seed {SEED}")
        seen.written.clear()
        seen.hooked.clear()
        return len(seen.ends)

    def check_proofs(self):
        report = self.good("ledger", "verify", "--json").json()
        self.assertTrue(report["ok"], f"seed {SEED}: {report}")
        exported = self.folder / "all.jsonl"
        self.good("ledger", "export", "--out", exported)
        self.good("ledger", "verify", exported, "--key", self.keys()[-1])
        self.check_kept(self.seen.kept[-2:])
        number = len(self.seen.kept)
        note = self.write(f"kept-{number}.note", self.good("ledger", "checkpoint").out)
        call = self.seen.calls[-1][0]
        receipt = self.folder / f"kept-{number}.json"
        self.good("ledger", "receipt", call, "--out", receipt)
        self.seen.kept.append((note, receipt, self.keys()[-1]))

    def check_kept(self, kept):
        """Earlier exports remain valid, regardless of later erasures, prunes and rotations."""
        for note, receipt, key in kept:
            self.good("ledger", "verify", "--since", note, "--json")
            self.good("verify", receipt, "--key", key, "--json")

    def check_erased(self):
        held = b"".join(path.read_bytes() for path in self.data.rglob("*") if path.is_file())
        for call, text in self.seen.erased.items():
            self.assertNotIn(text.encode() + b'"', held, f"erased, and still there; seed {SEED}")
            for row in self.cli("ledger", "show", "--call", call, "--json").lines():
                self.assertEqual({opening["state"] for opening in row.get("openings", [])} - {"erased"}, set(), f"seed {SEED}")

    # LE-41 LE-42 LE-57..LE-61
    def test_nobody_loses_anything_whoever_is_killed(self):
        self.told_before = set()
        self.settle()
        calls, began = 0, time.monotonic()
        for _ in range(ROUNDS):
            self.play()
            self.policy.write_text(POLICIES[0])
            self.settle()
            calls = self.check_calls()
            self.check_proofs()
            self.check_erased()
        self.check_kept(self.seen.kept)
        self.assertRegex(self.good("doctor").out, "ok +writers +0 live")
        self.assertEqual(list((self.data / "instances").iterdir()), [], "of processes that are dead")
        print(f"{ROUNDS} rounds in {time.monotonic() - began:.0f} s, {calls} calls, {self.seen.last + 1} entries, "
              f"{len(self.seen.erased)} erased, {len(self.keys())} keys, seed {SEED}")


if __name__ == "__main__":
    unittest.main()
