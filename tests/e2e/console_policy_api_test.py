#!/usr/bin/env python3
"""Policies, explanations and counts over the HTTP API: each equals its command's output, and only a file that was seen is replaced."""
import json
import os
import pathlib
import subprocess
import time
import unittest

from cli_support import BIN
from console_api_support import ApiTest, TOKENS
from serve_support import events


class Explained(ApiTest):
    def call(self):
        session = self.start(self.policy(more="rules:\n  - {id: no-motd, then: deny, when: {tool: write_file}, message: not there}\n"))
        session.said("write_file", {"path": "very-secret-name.txt", "text": "hi"})
        return self.get("calls")["items"][0]["call_id"]

    # CO-47 (partly) CO-50 (partly)
    def test_a_call_is_explained_as_the_command_explains_it(self):
        call = self.call()
        shown = self.get(f"calls/{call}/explain", role="auditor")
        self.assertEqual(shown, self.told("policy", "explain", call)[0])
        self.assertEqual(self.get(f"calls/{call}/explain?policy=now", role="auditor"), self.told("policy", "explain", call, "--now")[0])
        policy = self.get("policies")["items"][0]["hash"]
        self.assertEqual(self.get(f"calls/{call}/explain?policy={policy}", role="auditor"), self.told("policy", "explain", call, "--policy", policy)[0])
        self.assertEqual((shown["verdict"], shown["decided_by"]["rule"]), ("refused", "no-motd"))
        hidden = self.get(f"calls/{call}/explain")
        self.assertEqual((hidden["verdict"], hidden["decided_by"]), (shown["verdict"], shown["decided_by"]))
        self.assertIn("call", hidden["withheld"])
        self.assertNotIn("very-secret-name", json.dumps(hidden))
        for wrong in ("/etc/passwd", "policy.yaml", "../policy.yaml"):
            self.assertEqual(self.api("GET", f"calls/{call}/explain?policy={wrong}", role="auditor")[2]["code"], "invalid")
        self.assertEqual(self.api("GET", "calls/none/explain")[0], 404)

    # CO-47 (partly)
    def test_a_call_that_is_given_is_explained_and_nothing_runs(self):
        self.call()
        call = {"agent": "agent:bot", "server": "effects", "tool": "write_file", "input": {"path": "/srv/a"}}
        status, _, said = self.api("POST", "explain", {"call": call}, role="controller")
        self.assertEqual(status, 200, said)
        policy = self.get("policies")["items"][0]["hash"]
        self.assertEqual(said, self.told("policy", "explain", json.dumps(call), "--policy", policy)[0])
        self.assertEqual(self.api("POST", "explain", {"call": call, "policy": "starter"})[2]["policy"]["name"], "starter")
        self.assertEqual(self.api("POST", "explain", {"call": {"no": 1}})[2]["code"], "invalid")
        self.assertEqual(self.api("POST", "explain", {"call": call, "policy": "/etc/passwd"})[2]["code"], "invalid")
        self.assertFalse(self.effects.exists())


class Steps(ApiTest):
    GUARD = "#!/bin/sh\nexit 3\n"
    POLICY = """rules:
  - {{id: no-write, then: deny, when: {{tool: write_file}}, message: not today}}
  - {{id: customers, then: redact, result: {{text: 'C-[0-9]{{6}}'}}, replacement: "[customer]"}}
  - {{id: hush, then: withhold, result: {{words: [forbidden]}}, message: Do not ask.}}
results: [{{hook: output-sanitizer}}]
external:
  - {{id: shaky, kind: guard, command: {guard}, on_error: allow}}
"""

    def steps(self, session, tool, given, role="auditor"):
        """Returns the stages of a new call by their names."""
        session.said(tool, given)
        call = self.get("calls")["items"][0]["call_id"]
        return {stage["stage"]: stage for stage in self.get(f"calls/{call}", role=role)["timeline"]}

    @staticmethod
    def guards(stage):
        return [(one["guard"], one["verdict"] or "skipped: " + one["skipped"], one.get("rule"), one.get("decided", False)) for one in stage["guards"]]

    # CO-46, CO-48 (partly): the second door was once empty, rules were no step, a guard that failed open was shown as the decider, and an input looked
    # redacted if its result was
    def test_every_step_of_both_doors_is_told(self):
        guard = self.write("guard.sh", self.GUARD)
        guard.chmod(0o755)
        session = self.start(self.policy(more=self.POLICY.format(guard=guard)))
        first = [("tool-pins", "allow", None, False), ("server-forms", "allow", None, False)]
        told = self.steps(session, "write_file", {"path": "a", "text": "hi"})
        self.assertEqual(self.guards(told["first_door"]), [*first, ("rules", "deny", "no-write", True), ("external:shaky", "skipped", None, False)])
        self.assertEqual((told["autonomy"]["reached"], told["second_door"]["reached"], told["second_door"]["guards"]), (False, False, []))
        self.assertIn("policy.yaml:", told["first_door"]["guards"][2]["place"])
        say = lambda words: {"command": ["sh", "-c", f"echo {words} >&2"]}
        told = self.steps(session, "shell", say("C-123456"))
        self.assertEqual(self.guards(told["first_door"]), [*first, ("rules", "not_applicable", None, False), ("external:shaky", "error", None, False)])
        self.assertTrue(told["autonomy"]["reached"])
        door = told["second_door"]
        self.assertEqual(self.guards(door), [("rule customers", "redact", "customers", False), ("rule hush", "allow", None, False), ("output-sanitizer", "allow", None, False)])
        self.assertTrue(all(isinstance(one["us"], int) for one in door["guards"]))
        self.assertEqual((door["verdict"], door["output_state"], door["output_bytes"] == len(door["output"])), ("redact", "open", True))
        self.assertIn("[customer]", door["output"])
        door = self.steps(session, "shell", say("forbidden"))["second_door"]
        self.assertEqual(self.guards(door)[1:], [("rule hush", "block", "hush", True), ("output-sanitizer", "skipped: not_reached", None, False)])
        door = self.steps(session, "shell", say("forbidden"), role="viewer")["second_door"]
        self.assertEqual((self.guards(door)[1], door["output"], door["output_state"]), (("rule hush", "block", "hush", True), None, "withheld"))
        self.assertNotIn("why", door["guards"][1])
        self.file.write_text(self.policy())
        self.wait_until(lambda: self.get("policies")["total"] == 2)
        told = self.steps(session, "shell", {"command": ["sh", "-c", "printf AKIAIOSFODNN7 >&2; echo EXAMPLE >&2"]})
        self.assertEqual((told["asked"]["input_state"], told["second_door"]["output_state"]), ("open", "redacted"))
        told = self.steps(session, "shell", {"command": ["sh", "-c", "printf %20000d 7 >&2"]})["second_door"]
        self.assertEqual((len(told["output"]), told["output_bytes"] > 20000), (16384, True))


REFUSES = "rules:\n  - {id: no-write, then: deny, when: {tool: write_file}, message: not today}\n"


class Backtested(ApiTest):
    def ended(self, started):
        self.assertEqual(started[0], 202, started)
        self.wait_until(lambda: self.get(f"backtests/{started[2]['id']}")["state"] != "running", seconds=60)
        return self.get(f"backtests/{started[2]['id']}")

    # CO-60 (partly): equals the counts of the command, with examples, and runs and writes nothing
    def test_a_backtest_counts_what_the_command_counts_and_changes_nothing(self):
        session = self.start()
        for number in range(3):
            session.said("write_file", {"path": f"{number}.txt", "text": "hi"})
        session.said("write_file", {"path": "4.txt", "text": "password: hunter2-Zx9!qq"})
        text = self.policy(more=REFUSES)
        size, ran = self.get("health")["size"], self.effects.read_text()
        found = self.ended(self.api("POST", "backtests", {"text": text, "last": 100}, role="controller"))
        told = self.told("policy", "backtest", self.write("candidate.yaml", text), "--last", 100)
        self.assertEqual((found["state"], found["groups"], found["summary"]), ("done", told[:-1], told[-1]["summary"]))
        self.assertEqual((found["groups"][0]["after_by"], found["groups"][0]["change"]), ("rule no-write", "tightened"))
        self.assertGreaterEqual(found["summary"]["newly_refused"], 3)
        self.assertEqual(len(found["groups"][0]["examples"]), 3)
        self.assertEqual((self.get("health")["size"], self.effects.read_text()), (size, ran))
        one = self.ended(self.api("POST", "backtests", {"policy": "starter", "against": self.get("policies")["items"][0]["hash"], "last": 1}, role="controller"))
        self.assertEqual((one["state"], one["summary"]["calls"], one["summary"]["older_calls"]), ("done", 1, 3))
        self.assertEqual([row["id"] for row in self.get("backtests")["items"]], [one["id"], found["id"]])
        self.assertEqual(self.api("DELETE", f"backtests/{one['id']}", role="controller")[0], 204)
        self.assertEqual(self.api("GET", f"backtests/{one['id']}")[0], 404)
        for wrong in ({}, {"text": "nonsense: 1"}, {"policy": "/etc/passwd"}, {"text": text, "last": 0}, {"text": text, "since": "yesterday-ish"}):
            self.assertEqual(self.api("POST", "backtests", wrong, role="controller")[2]["code"], "invalid", wrong)

    # CO-60 (partly): one runs at a time, reports its progress on the stream, and can be stopped
    def test_a_backtest_is_stopped(self):
        self.make_ledger(20000)  # enough calls to run for a while
        self.start()
        stream = self.server.open("GET", "/api/v1/stream?topics=backtests", headers={"Content-Type": None}, token=TOKENS["viewer"])
        heard = events(stream)
        status, _, said = self.api("POST", "backtests", {"text": self.policy(more=REFUSES), "last": 10000}, role="controller")
        self.assertEqual(status, 202, said)
        again = self.api("POST", "backtests", {"policy": "starter"}, role="controller")
        self.assertEqual((again[0], again[2]["code"]), (409, "backtest_runs"))
        self.assertEqual(self.api("DELETE", f"backtests/{said['id']}", role="controller")[0], 204)
        told = (json.loads(frame["data"])["items"] for frame in heard if frame["event"] == "backtests")
        self.assertEqual(next(items for items in told if items)[0]["id"], said["id"])
        self.wait_until(lambda: self.get(f"backtests/{said['id']}")["state"] == "stopped", seconds=60)
        self.assertIsNone(self.get(f"backtests/{said['id']}")["summary"])
        stream.close()


class Counted(ApiTest):
    # CO-66 (partly)
    def test_stats_are_those_of_the_command_and_pieces_of_time_add_up(self):
        session = self.start()
        for number in range(3):
            session.said("write_file", {"path": f"{number}.txt", "text": "hi"})
        told, shown = self.told("ledger", "stats")[0], self.get("stats")
        self.assertEqual(shown.pop("left_out"), 0)
        for name in ("ledger_bytes", "log_bytes"):
            self.assertGreater(shown.pop(name), 0)
            told.pop(name)
        self.assertEqual(shown, told)
        for bucket in ("1m", "1h", "1d"):
            pieces = self.get(f"stats?bucket={bucket}&by=kind")["pieces"]
            self.assertEqual(len(pieces), 60)
            counted = {}
            for piece in pieces:
                for kind, count in piece["counts"].items():
                    counted[kind] = counted.get(kind, 0) + count
            self.assertEqual(counted, told["kinds"], bucket)
        self.assertEqual(sum(sum(piece["counts"].values()) for piece in self.get("stats?bucket=1h")["pieces"]), sum(told["outcomes"].values()))
        self.assertEqual(self.api("GET", "stats?bucket=5s")[2]["code"], "invalid")


class Policies(ApiTest):
    def activate(self, text, replaces, role="controller"):
        return self.api("POST", "policies/activate", {"text": text, "replaces": replaces}, role=role)

    # CO-62 CO-50 (partly)
    def test_the_text_behind_every_hash_can_be_read_and_compared(self):
        first = self.policy()
        self.start(first)
        second = self.policy("act_with_approval")
        self.file.write_text(second)
        self.wait_until(lambda: self.get("policies")["total"] == 2)
        rows = self.get("policies")["items"]
        self.assertEqual([row["in_force"] for row in rows], [True, False])
        for row, text in zip(rows, (second, first)):
            shown = self.get("policies/" + row["hash"], role="auditor")
            self.assertEqual((shown["text"], shown["text_state"], shown["in_force"]), (text, "open", row["in_force"]))
            told = subprocess.run([BIN, "--data-dir", self.data, "policy", "show", row["hash"]], capture_output=True, text=True, env=self.environment())
            self.assertEqual(told.stdout, text)
            hidden = self.get("policies/" + row["hash"])
            self.assertEqual((hidden["text"], hidden["text_state"]), (None, "withheld"))
        self.assertEqual(self.get("policies/" + rows[0]["hash"], role="controller")["text"], second)
        self.assertEqual(self.api("GET", "policies/sha256:0")[0], 404)
        for name in ("policy", "guardrails", "config", "agent"):
            told = subprocess.run([BIN, "policy", "schema", *(["--of", name] if name != "policy" else []), "--json"], capture_output=True, text=True,
                                  env=self.environment())
            if told.returncode == 0:
                self.assertEqual(self.get("schemas/" + name), json.loads(told.stdout), name)
        self.assertEqual(self.api("GET", "schemas/none")[0], 404)

    # CO-59 (partly)
    def test_a_text_is_checked_and_tested_as_the_commands_do(self):
        self.start()
        good = "version: 1\nautonomy: {tier: act_auto}\n" + "rules:\n  - {id: no-write, then: deny, when: {tool: write_file}, message: no}\n"
        file = self.write("other.yaml", good)
        status, _, said = self.api("POST", "policies/check", {"text": good}, role="controller")
        self.assertEqual(status, 200, said)
        # Positions in warnings name the file; everything else is equal.
        self.assertEqual({**said, "warnings": len(said["warnings"])}, {**(told := self.told("policy", "check", file)[0]), "warnings": len(told["warnings"])})
        _, _, bad = self.api("POST", "policies/check", {"text": good + "nonsense: 1\n"}, role="controller")
        self.write("other.yaml", good + "nonsense: 1\n")
        told = self.told("policy", "check", file)[0]
        self.assertEqual((bad["valid"], bad["error"]["message"], bad["error"]["where"].split(":")[1:]),
                         (False, told["error"]["message"], told["error"]["where"].split(":")[-2:]))
        cases = ("- {name: refused, call: {agent: a, server: s, tool: write_file, input: {path: x}}, expect: {verdict: refused, rule: no-write}}\n"
                 "- {name: wrong, call: {agent: a, server: s, tool: write_file, input: {path: x}}, expect: {verdict: runs}}\n")
        _, _, said = self.api("POST", "policies/test", {"text": good, "cases": cases}, role="controller")
        self.assertEqual((said["passed"], said["failed"]), (1, 1), said)
        self.assertEqual([(one["name"], one["passed"], one["line"]) for one in said["cases"]], [("refused", True, 1), ("wrong", False, 2)])
        took = []
        for _ in range(3):  # a busy machine may be late with one
            start = time.monotonic()
            self.api("POST", "policies/check", {"text": good}, role="controller")
            took.append(time.monotonic() - start)
        self.assertLess(min(took), 0.3)
        secret = self.write("secret.yaml", "version: 1\nname: very-secret\n")
        for text in (f"version: 1\nextends: {secret}\n", "version: 1\nextends: secret.yaml\n"):
            _, _, said = self.api("POST", "policies/check", {"text": text}, role="controller")
            self.assertIn("does not extend", said["error"]["message"])
        named = f"policy: {secret}\ncases:\n  - {{name: x, call: {{agent: a, tool: b, input: {{}}}}, expect: {{verdict: runs}}}}\n"
        self.assertEqual(self.api("POST", "policies/test", {"text": good, "cases": named}, role="controller")[2]["code"], "invalid")
        for role in ("viewer", "approver", "auditor"):
            self.assertEqual(self.api("POST", "policies/check", {"text": good}, role=role)[2]["code"], "role")

    # CO-61 (partly)
    def test_read_only_keeps_no_draft_and_activates_nothing(self):
        self.start()
        before = self.file.read_text()
        self.assertEqual(self.get("policies")["writes"], "read_only")
        self.assertEqual(self.api("PUT", "policies/drafts/one", {"text": before}, role="controller")[2]["code"], "policies_read_only")
        self.assertEqual(self.activate(before + "# more\n", self.get("policies")["items"][0]["hash"])[2]["code"], "policies_read_only")
        self.assertEqual((self.file.read_text(), self.get("policies")["drafts"]), (before, []))

    # CO-61 CO-66 (partly)
    def test_drafts_are_kept_and_changed_only_as_they_were_seen(self):
        self.start(config="\n  console: {policies: propose}")
        route, text = "policies/drafts/next-week", "version: 1\n"
        self.assertEqual(self.api("GET", route)[0], 404)
        self.assertEqual(self.api("PUT", route, {"text": text}, role="controller")[0], 200)
        status, got, said = self.api("GET", route, role="controller")
        self.assertEqual((status, said["text"], self.get("policies")["drafts"]), (200, text, ["next-week"]))
        self.assertEqual(self.get(route)["text"], None)
        self.assertEqual(self.api("PUT", route, {"text": "version: 1\nname: a\n"}, role="controller", headers={"If-Match": got["etag"]})[0], 200)
        late = self.api("PUT", route, {"text": "version: 1\nname: b\n"}, role="controller", headers={"If-Match": got["etag"]})
        self.assertEqual((late[0], late[2]["code"]), (412, "precondition_failed"))
        self.assertEqual(self.api("GET", route, role="controller")[2]["text"], "version: 1\nname: a\n")
        for name in ("UP", "a%2Fb", "..", "a" * 65):
            self.assertIn(self.api("PUT", f"policies/drafts/{name}", {"text": text}, role="controller")[0], (400, 404), name)
        long = "version: 1\n# " + "x" * 900_000
        self.assertEqual(self.api("PUT", route, {"text": long}, role="controller")[0], 200)
        self.assertEqual(self.api("GET", route, role="controller")[2]["text"], long)
        self.assertEqual(self.api("PUT", route, {"text": "x" * (1 << 20)}, role="controller")[0], 413)
        self.assertEqual(self.activate(text, self.get("policies")["items"][0]["hash"])[2]["code"], "policies_read_only")
        self.assertEqual(oct((pathlib.Path(self.data) / "drafts/next-week.yaml").stat().st_mode & 0o777), "0o600")

    # CO-61 (partly)
    def test_activation_replaces_the_policy_that_was_seen_and_names_the_person(self):
        session = self.start(self.policy(), config="\n  console: {policies: activate}")
        before = self.get("policies")["items"][0]["hash"]
        refusing = self.policy(more="rules:\n  - {id: no-write, then: deny, when: {tool: write_file}, message: not today}\n")
        for role in ("viewer", "approver", "auditor"):
            self.assertEqual(self.activate(refusing, before, role)[2]["code"], "role")
        self.assertEqual(self.activate(refusing, "sha256:0")[0], 412)
        bad = self.activate("version: 1\nnonsense: 1\n", before)
        self.assertEqual((bad[0], bad[2]["code"], bad[2]["place"].split(":")[-2:]), (400, "invalid", ["2", "1"]))
        self.assertEqual(self.file.read_text(), self.policy())
        status, _, said = self.activate(refusing, before)
        self.assertEqual((status, said["hash_before"], said["in_force"]), (200, before, True), said)
        self.assertEqual((self.file.read_text(), self.get("policies")["items"][0]["hash"]), (refusing, said["hash"]))
        self.assertIn("not today", session.said("write_file", {"path": "a", "text": "hi"}))
        late = self.activate(self.policy(), before)
        self.assertEqual((late[0], late[2]["code"]), (412, "precondition_failed"))
        # Another person edits the file at the same time: the edit is not lost.
        os.utime(self.file)
        self.file.write_text(refusing + "# a word of git\n")
        meanwhile = self.activate(self.policy(), said["hash"])
        self.assertEqual(meanwhile[0], 412)
        self.assertTrue(self.file.read_text().endswith("# a word of git\n"))
        notes = [one["body"] for one in self.told("ledger", "show", "--kind", "control") if one["body"]["control"] == "policy_activated"]
        self.assertEqual([(one["who"], one["hash_before"], one["hash"]) for one in notes], [("user:controller", before, said["hash"])])


if __name__ == "__main__":
    unittest.main()
