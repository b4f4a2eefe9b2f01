#!/usr/bin/env python3
"""Events of coding agents are written to the same ledger as all other calls: decided before, recorded once."""
import concurrent.futures
import fcntl
import json
import os
import pathlib
import sqlite3
import struct
import subprocess
import sys
import termios
import time
import unittest

from cli_support import BIN
from hook_support import ASK, HookTest, claude, ran


class Hook(HookTest):
    # AT-12 (partly) AU-52
    def test_a_call_is_on_record_before_it_runs_and_closed_by_its_result(self):
        self.assertIsNone(self.hook(claude("PreToolUse", agent_type="reviewer")))
        intents = self.shown("--kind", "intent")
        self.assertEqual(len(intents), 1)
        self.assertEqual(self.records(), [])
        self.assertIsNone(self.hook(ran(duration_ms=40)))
        line, = self.shown("--kind", "tool_audit")
        record = line["body"]
        self.assertEqual((record["outcome"]["kind"], record["effect_state"]), ("completed", "done"))
        self.assertEqual(record["outcome"]["result"]["data"], {"stdout": "done", "stderr": ""})
        self.assertEqual(record["effect_class"], "process.exec")
        self.assertEqual(line["entry"]["agent_id"], "claude-code")
        self.assertEqual(line["entry"]["server"], "claude-code")
        self.assertEqual(line["entry"]["call_id"], intents[0]["entry"]["call_id"])
        origin = next(guard for guard in record["guards"] if guard["guard"] == "hook.origin")["evidence"]
        self.assertEqual((origin["agent_id"], origin["action"], origin["autonomy_tier"]), ("claude-code", "Bash", None))
        self.assertEqual(origin["trigger"]["provider"], "claude-code")
        self.assertEqual(origin["trigger"]["kind"], "PreToolUse")
        self.assertEqual(origin["trigger"]["headers"]["sub_agent"], "reviewer")
        self.good("ledger", "verify")

    # AT-28
    def test_what_a_host_ran_is_remembered_as_it_ended(self):
        policy = self.write("auto.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        self.hook(claude("PreToolUse"), policy=policy)
        self.assertEqual(self.shown("--kind", "trust"), [])
        self.hook(ran(), policy=policy)
        self.hook(claude("PreToolUse", "toolu_2"), policy=policy)
        self.hook(claude("PostToolUseFailure", "toolu_2", error="exit 1"), policy=policy)
        self.hook(claude("PreToolUse", "toolu_3", tool_name="Grep", tool_input={"pattern": "x"}), policy=policy)
        self.hook(claude("PostToolUse", "toolu_3", tool_name="Grep", tool_input={"pattern": "x"}, tool_response="y"), policy=policy)
        lines = self.shown("--kind", "trust")
        self.assertEqual([(line["body"]["outcome"], line["body"]["autonomy_tier"], line["body"]["metadata"]["autonomy.enforcement"],
                           line["body"]["metadata"]["builtin"]) for line in lines],
                         [("success", "act_auto", "auto", "Bash"), ("failure", "act_auto", "auto", "Bash")])
        records = self.shown("--kind", "tool_audit")
        self.assertEqual(lines[0]["body"]["metadata"]["call_id"], records[0]["entry"]["call_id"])
        self.assertGreater(lines[0]["entry"]["sequence"], records[0]["entry"]["sequence"])
        people = self.people()
        wait = self.hook(claude("PreToolUse", "toolu_4", "make all"), policy=people)
        approval = self.ids(wait)
        self.good(*self.approve(approval))
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_5", "make all"), policy=people))
        self.hook(ran("toolu_5", "make all"), policy=people)
        last = self.shown("--kind", "trust")[-1]["body"]
        self.assertEqual((last["outcome"], last["approver"], last["metadata"]["approval_request_id"]), ("success", "user:ada", approval))
        self.assertTrue(last["metadata"]["approval"]["signatures"][0]["signature"].startswith("ed25519:"))
        self.good("trust", "verify")

    # AT-23 (partly)
    def test_tools_that_only_look_are_known_by_the_front(self):
        policy = self.write("ask.yaml", ASK)
        look = claude("PreToolUse", tool_name="Grep", tool_input={"pattern": "x"})
        self.assertIsNone(self.hook(look, policy=policy))
        self.assertEqual(self.decision(claude("PreToolUse", "toolu_2"), policy=policy), "ask")
        for server in ("x", "claude-code", "gemini"):
            stranger = claude("PreToolUse", f"of-{server}", tool_name=f"mcp__{server}__Grep", tool_input={})
            self.assertEqual(self.decision(stranger, policy=policy), "ask")

    # AP-33
    def test_a_yes_that_the_host_took_is_seen_by_its_result(self):
        policy = self.write("ask.yaml", ASK)
        asked = self.hook(claude("PreToolUse"), policy=policy)
        self.assertEqual(asked["hookSpecificOutput"]["permissionDecision"], "ask")
        approval = self.ids(asked)
        self.assertEqual([item["request_id"] for item in self.good("approvals", "list", "--json").lines()], [approval])
        self.assertIsNone(self.hook(ran(), policy=policy))
        said = [line["body"] for line in self.shown("--kind", "approval")]
        decision, = [body for body in said if body["record"] == "approval_decision"]
        self.assertEqual((decision["state"], decision["reason"], decision["door"]),
                         ("approved", "approved locally, observed", "hook"))
        used = self.good("approvals", "list", "--state", "used", "--json").lines()
        self.assertEqual([item["request_id"] for item in used], [approval])
        terminal = self.records("--terminal", "true")
        self.assertEqual([record["outcome"]["kind"] for record in terminal], ["completed"])
        self.assertEqual(len({line["entry"]["call_id"] for line in self.shown("--kind", "tool_audit")}), 1)
        # The same call needs a new approval.
        again = self.hook(claude("PreToolUse", "toolu_2"), policy=policy)
        self.assertNotEqual(self.ids(again), approval)

    # AP-6 AP-33
    def test_what_ran_under_the_id_of_a_question_is_no_yes_to_it(self):
        policy = self.write("ask.yaml", ASK)
        approval = self.ids(self.hook(claude("PreToolUse"), policy=policy))
        for other in (ran(command="make install"), ran(tool_name="Write"), ran(tool_name="W" * 70000)):
            withheld = self.hook(other, policy=policy)
            self.assertEqual(withheld["decision"], "block")
        self.assertEqual([item["request_id"] for item in self.good("approvals", "list", "--json").lines()], [approval])
        self.assertEqual(len(self.notes("ran_unapproved")), 2)
        # There was no approval, so the same call needs approval again.
        self.assertEqual(self.decision(claude("PreToolUse", "toolu_2"), policy=policy), "ask")

    # AP-33 AP-36
    def test_a_dialog_that_nobody_answered_is_asked_again_with_the_same_question(self):
        policy = self.write("ask.yaml", ASK)
        first = self.hook(claude("PreToolUse"), policy=policy)
        second = self.hook(claude("PreToolUse", "toolu_2"), policy=policy)
        self.assertEqual(self.ids(first), self.ids(second))
        self.assertEqual(len(self.good("approvals", "list", "--json").lines()), 1)
        self.assertIsNone(self.hook(ran("toolu_2"), policy=policy))
        # The first call will never run: the next hook closes it.
        self.hook(claude("PreToolUse", "toolu_3", "ls"), policy=policy)
        ends = sorted(record["outcome"]["kind"] for record in self.records("--terminal", "true"))
        self.assertEqual(ends, ["blocked", "completed"])

    # AT-10 (partly)
    def test_the_agent_that_a_policy_names_is_the_one_who_acts(self):
        policy = self.write("own.yaml", "version: 1\nautonomy: {agent_id: deploy-bot, agent_tiers: {deploy-bot: act_auto}}\n")
        self.assertIsNone(self.hook(claude("PreToolUse"), policy=policy))
        self.assertIsNone(self.hook(ran(), policy=policy))
        [entry] = [line["entry"] for line in self.shown("--kind", "tool_audit")]
        self.assertEqual((entry["agent_id"], entry["server"], entry["outcome"]), ("deploy-bot", "claude-code", "completed"))

    # AP-33
    def test_the_dialog_of_the_host_never_serves_requires_human_or_dual_control(self):
        for name, more in (("human", "autonomy: {tier: act_with_approval, requires_human: true}\n"),
                           ("scope", "autonomy: {tier: act_with_approval}\nscopes: [{for: {front: hook}, autonomy: {requires_human: true}}]\n"),
                           ("scope-alone", "scopes: [{for: {front: hook}, autonomy: {tier: act_with_approval, requires_human: true}}]\n"),
                           ("two", "autonomy: {tier: act_with_approval}\napprovals: {dual_control: [process.exec]}\n")):
            with self.subTest(name):
                self.use(self.folder / name)
                policy = self.write(name + ".yaml", "version: 1\n" + more)
                said = self.hook(claude("PreToolUse"), policy=policy)
                self.assertEqual(said["hookSpecificOutput"]["permissionDecision"], "deny")
                # The result of a host that runs it anyway is withheld.
                withheld = self.hook(ran(text="it ran"), policy=policy)
                self.assertEqual(withheld["decision"], "block")
                self.assertNotIn("it ran", json.dumps(withheld))
                states = {line["body"]["state"] for line in self.shown("--kind", "approval")
                          if line["body"]["record"] == "approval_decision"}
                self.assertNotIn("approved", states)
                self.assertEqual(len(self.notes("ran_unapproved")), 1)

    # AP-33 AP-36 AP-37
    def test_a_denial_with_an_id_is_an_allowance_on_the_identical_retry_once(self):
        policy = self.people()
        said = self.hook(claude("PreToolUse", "c-1"), agent="codex", policy=policy)
        self.assertEqual(said["hookSpecificOutput"]["permissionDecision"], "deny")
        approval = self.ids(said)
        self.assertEqual(self.decision(claude("PreToolUse", "c-2"), agent="codex", policy=policy), "deny")
        self.good(*self.approve(approval))
        other = self.hook(claude("PreToolUse", "c-3", "make install"), agent="codex", policy=policy)
        self.assertNotEqual(self.ids(other), approval)
        self.assertIsNone(self.hook(claude("PreToolUse", "c-4"), agent="codex", policy=policy))
        self.assertIsNone(self.hook(ran("c-4"), agent="codex", policy=policy))
        anew = self.hook(claude("PreToolUse", "c-5"), agent="codex", policy=policy)
        self.assertNotIn(self.ids(anew), (approval, self.ids(other)))
        ends = [record["outcome"]["kind"] for record in self.records("--terminal", "true")]
        self.assertEqual(ends.count("completed"), 1)
        self.good("ledger", "verify")

    # AP-6 AP-38
    def test_an_approval_is_for_one_folder_which_its_page_names(self):
        policy = self.people()
        approval = self.ids(self.hook(claude("PreToolUse", "c-1", "rm -rf build"), agent="codex", policy=policy))
        self.assertRegex(self.good("approvals", "show", approval).out, r"(?m)^folder +/src$")
        self.good(*self.approve(approval))
        elsewhere = self.hook(claude("PreToolUse", "c-2", "rm -rf build") | {"cwd": "/"}, agent="codex", policy=policy)
        self.assertNotEqual(self.ids(elsewhere), approval)
        self.assertIsNone(self.hook(claude("PreToolUse", "c-3", "rm -rf build"), agent="codex", policy=policy))

    # AP-33
    def test_a_run_without_a_terminal_defers_and_goes_on_when_it_is_resumed(self):
        policy = self.people()
        env = self.environment(CLAUDE_CODE_ENTRYPOINT="sdk-cli")
        said = self.hook(claude("PreToolUse"), policy=policy, env=env)
        self.assertEqual(said["hookSpecificOutput"]["permissionDecision"], "defer")
        self.assertEqual(self.decision(claude("PreToolUse"), policy=policy, env=env), "defer")
        self.good(*self.approve(self.ids(said)))
        self.assertIsNone(self.hook(claude("PreToolUse"), policy=policy, env=env))
        self.assertIsNone(self.hook(ran(), policy=policy, env=env))

    def states(self):
        """Returns the last decision of each approval."""
        return {line["body"]["request_id"]: line["body"]["state"] for line in self.shown("--kind", "approval")
                if line["body"]["record"] == "approval_decision"}

    # AP-18
    def test_the_end_of_a_session_takes_back_what_was_asked_for_it(self):
        policy = self.people()
        asked = self.ids(self.hook(claude("PreToolUse"), policy=policy))
        other = self.ids(self.hook(claude("PreToolUse", session="s-2"), policy=policy))
        ended = {"session_id": "s-1", "hook_event_name": "SessionEnd", "cwd": "/src", "reason": "prompt_input_exit"}
        self.assertIsNone(self.hook(ended, policy=policy))
        self.assertEqual(self.states(), {asked: "cancelled"})
        record, = self.records("--terminal", "true")
        self.assertEqual((record["approval_id"], record["outcome"]["kind"]), (asked, "blocked"))
        self.assertNotEqual(self.cli(*self.approve(asked)).code, 0)
        self.good(*self.approve(other))
        # A second end event changes nothing, and a returning agent needs a new approval.
        self.assertIsNone(self.hook(ended, policy=policy))
        self.assertNotIn(self.ids(self.hook(claude("PreToolUse", "toolu_2"), policy=policy)), (asked, other))
        self.assertIsNone(self.hook(claude("PreToolUse", "toolu_3", session="s-2"), policy=policy))
        self.good("ledger", "verify")

    # AP-18
    def test_what_a_run_without_a_terminal_asked_waits_for_whoever_goes_on_with_it(self):
        policy = self.people()
        env = self.environment(CLAUDE_CODE_ENTRYPOINT="sdk-cli")
        asked = self.ids(self.hook(claude("PreToolUse"), policy=policy, env=env))
        ended = {"session_id": "s-1", "hook_event_name": "SessionEnd", "cwd": "/src", "reason": "other"}
        self.assertIsNone(self.hook(ended, policy=policy, env=env))
        self.assertEqual(self.states(), {})
        self.good(*self.approve(asked))
        self.assertIsNone(self.hook(claude("PreToolUse"), policy=policy, env=env))

    # AP-29
    def test_what_the_agent_starts_cannot_approve(self):
        policy = self.people()
        said = self.hook(claude("PreToolUse"), policy=policy)
        self.assertEqual(said["hookSpecificOutput"]["permissionDecision"], "deny")
        # One host runs its hook, and then a command of its agent.
        script = ("import subprocess, sys\n"
                  "cut = sys.argv.index('==')\n"
                  "subprocess.run(sys.argv[1:cut], input=sys.stdin.buffer.read(), stdout=subprocess.DEVNULL)\n"
                  "sys.exit(subprocess.run(['sh', '-c', '\"$@\"', 'sh', *sys.argv[cut + 1:]]).returncode)\n")
        data = ["--data-dir", str(self.data)]
        process = subprocess.run(
            [sys.executable, "-c", script, BIN, "hook", "--agent", "claude-code", "--policy", str(policy), *data, "==",
             BIN, *map(str, self.approve(self.ids(said))), *data],
            input=json.dumps(claude("PreToolUse", "toolu_2")).encode(), capture_output=True, timeout=60,
            env=self.environment(), cwd=self.folder)
        self.assertEqual(process.returncode, 1)
        self.assertIn(b"is for people: this process was started by agent `claude-code`", process.stderr)
        self.assertEqual(len(self.good("approvals", "list", "--json").lines()), 1)
        controls = [line["body"] for line in self.shown("--kind", "control")]
        self.assertIn("refused_control", [body["control"] for body in controls])
        # A person, from a separate process.
        self.good(*self.approve(self.ids(said)))

    # AP-29
    def test_whoever_takes_in_a_hook_without_a_parent_is_no_agent(self):
        # The parent is now a process with the name of the one that adopts all orphans of a login.
        adopter = ("import ctypes, subprocess, sys\n"
                   "ctypes.CDLL(None).prctl(15, b'systemd', 0, 0, 0)\n"
                   "sys.exit(subprocess.run(sys.argv[1:]).returncode)\n")
        # Starts the hook after its own parent has ended.
        orphan = ("import os, subprocess, sys, time\n"
                  "parent = os.getpid()\n"
                  "if os.fork(): os._exit(0)\n"
                  "while os.getppid() == parent: time.sleep(0.01)\n"
                  "os.execv(sys.argv[1], sys.argv[1:])\n")
        command = [str(pathlib.Path(BIN).resolve()), "hook", "--agent", "codex", "--data-dir", str(self.data)]

        def start(script, call):
            process = subprocess.run([sys.executable, "-c", script, *command], capture_output=True, timeout=60,
                                     input=json.dumps(claude("PreToolUse", call)).encode(), env=self.environment(),
                                     cwd=self.folder)
            self.assertEqual(process.returncode, 0, process.stderr)
        start(adopter, "c-1")
        self.assertEqual(self.notes("agent_seen"), [])
        start(orphan, "c-2")
        self.assertNotIn(1, [note["process"] for note in self.notes("agent_seen")])
        self.assertEqual(len(self.shown("--kind", "intent")), 2)

    def test_a_hook_that_is_configured_twice_is_one_call(self):
        for _ in range(2):
            self.assertIsNone(self.hook(claude("PreToolUse")))
        for _ in range(2):
            self.assertIsNone(self.hook(ran()))
        completed = [record for record in self.records() if record["outcome"]["kind"] == "completed"]
        self.assertEqual(len(completed), 1)

    # AU-26 AU-59: the second result was once passed on unchanged
    def test_a_result_that_comes_again_is_the_one_that_was_recorded_first(self):
        self.hook(claude("PreToolUse"))
        first = self.hook(ran(text="key AKIAIOSFODNN7EXAMPLE"))["hookSpecificOutput"]["updatedToolOutput"]
        again = self.hook(ran(text="ASIAIOSFODNN7EXAMPLE is another"))["hookSpecificOutput"]["updatedToolOutput"]
        self.assertEqual(again, first)
        self.assertEqual(again["stdout"], "key ****")
        completed, replayed = [line["record"] for line in self.shown("--kind", "tool_audit")]
        self.assertEqual(replayed["outcome"]["kind"], "replayed")
        self.assertEqual(replayed["outcome"]["result"]["output"], completed["outcome"]["result"]["output"])
        self.assertNotEqual(replayed["call_id"], completed["call_id"])
        self.assertTrue(replayed["terminal"])
        self.assertEqual(replayed["guards"][-1]["guard"], "external.payload_differs")
        # A repeated submission emits no event (EV-44).
        self.assertEqual(self.shown("--kind", "event", "--call", replayed["call_id"]), [])

    # PI-33
    def test_the_record_says_where_the_host_shows_its_own_result(self):
        policy = self.write("redact.yaml", "version: 1\nautonomy: {tier: act_auto}\nguardrails: {checks: [{type: blocklist, "
                            "stage: tool_output, id: w, on_fail: redact, words: [hush]}]}\n")
        self.hook(claude("PreToolUse"), policy=policy)
        replaced = self.hook(ran(text="hush"), policy=policy)
        self.assertEqual(replaced["hookSpecificOutput"]["updatedToolOutput"]["stdout"], "[redacted]")
        self.hook(claude("PreToolUse", "toolu_2"), policy=policy)
        self.hook(claude("PostToolUseFailure", "toolu_2", error="hush"), policy=policy)
        first, second = [record["post_invocation"] for record in self.records()]
        self.assertNotIn("enforcement", first)
        self.assertEqual(second["enforcement"], "advisory")
        self.assertNotIn("hush", json.dumps([first["released"], second["released"]]))

    def test_calls_without_ids_are_told_apart_and_closed_in_turn(self):
        def event(name, **more):
            return {"session_id": "g", "hook_event_name": name, "tool_name": "run_shell_command",
                    "tool_input": {"command": "make"}, **more}
        for round_ in range(5):
            self.assertEqual(self.hook(event("BeforeTool"), agent="gemini"), {})
            self.assertEqual(self.hook(event("AfterTool", tool_response={"llmContent": str(round_)}), agent="gemini"), {})
        # Two identical calls at once.
        for _ in range(2):
            self.assertEqual(self.hook(event("BeforeTool"), agent="gemini"), {})
        for _ in range(2):
            self.assertEqual(self.hook(event("AfterTool", tool_response={"llmContent": "x"}), agent="gemini"), {})
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["completed"] * 7)

    def test_calls_without_ids_that_come_at_once_are_calls_of_their_own(self):
        event = {"session_id": "g", "hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
                 "tool_input": {"command": "make"}}
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            said = list(pool.map(lambda _: self.hook(event, agent="gemini"), range(16)))
        self.assertEqual(said, [{}] * 16)
        self.assertEqual(len(self.shown("--kind", "intent")), 16)

    def test_many_hooks_at_once_share_one_ledger(self):
        def one(n):
            self.assertIsNone(self.hook(claude("PreToolUse", f"t-{n}", f"echo {n}")))
            self.assertIsNone(self.hook(ran(f"t-{n}", f"echo {n}")))
        one(0)
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            list(pool.map(one, range(1, 13)))
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["completed"] * 13)
        self.good("ledger", "verify")

    def test_a_ledger_that_cannot_be_written_denies_in_time(self):
        self.assertIsNone(self.hook(claude("PreToolUse")))
        other = sqlite3.connect(self.data / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        before = time.monotonic()
        self.assertEqual(self.decision(claude("PreToolUse", "toolu_2")), "deny")
        withheld = self.hook(ran(text="seen by nobody"))
        self.assertNotIn("seen by nobody", json.dumps(withheld))
        self.assertLess(time.monotonic() - before, 20)
        other.execute("ROLLBACK")
        other.close()
        self.assertIsNone(self.hook(ran()))

    def test_a_process_that_is_stuck_answers_when_its_time_is_over(self):
        reader, writer = os.pipe()
        command = [BIN, "hook", "--agent", "claude-code", "--data-dir", str(self.data)]
        before = time.monotonic()
        process = subprocess.run(command, stdin=reader, capture_output=True, timeout=60, env=self.environment())
        os.close(reader)
        os.close(writer)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(json.loads(process.stdout)["hookSpecificOutput"]["permissionDecision"], "deny")
        self.assertLess(time.monotonic() - before, 20)

    def test_an_event_over_the_limit_is_denied(self):
        huge = claude("PreToolUse", command="x" * (17 << 20))
        self.assertEqual(self.decision(huge), "deny")

    # A damaged event was answered in the form of another one, so the host showed the result unscanned. Hosts write half
    # of an emoji as it stands in the text.
    # AP-33 PI-33 (partly)
    def test_a_result_that_cannot_be_read_is_withheld_in_the_form_of_its_event(self):
        whole = json.dumps(ran(text="KEY"))
        for damage in (r'"\ud83d"', '{"a":1,"a":2}', "1e999", "[" * 300 + "]" * 300, '"a\nb"', '"' + "x" * (17 << 20) + '"', b'"\xff"'):
            event = whole.encode().replace(b'"KEY"', damage if isinstance(damage, bytes) else damage.encode())
            said = self.hook(event)
            self.assertEqual(said["decision"], "block")
            self.assertEqual(said["hookSpecificOutput"]["hookEventName"], "PostToolUse")
            self.assertIn("The tool ran, but its result is withheld because Sallyport could not check it.", said["reason"])
            self.assertNotIn("AKIA", json.dumps(said))
            self.assertEqual(set(said["hookSpecificOutput"]["updatedToolOutput"]), {"stdout", "stderr"})

    # An event whose end never came was answered as a call, so the host showed the result unscanned.
    # AP-33 PI-33 (partly)
    def test_an_event_that_does_not_end_is_answered_in_its_own_form(self):
        process = subprocess.Popen([BIN, "hook", "--agent", "claude-code", "--data-dir", str(self.data)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self.environment(), cwd=self.folder)
        begun = json.dumps(ran(text="KEY")).encode()[:-1]
        for piece in (begun, b" "):  # the second piece is taken once the first one has been looked at
            process.stdin.write(piece)
            process.stdin.flush()
            end = time.monotonic() + 30
            while struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0] and time.monotonic() < end:
                pass
        process.terminate()
        said = json.loads(process.stdout.read())
        process.stdin.close()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=30), 0)
        self.assertEqual(said["decision"], "block")
        self.assertEqual(said["hookSpecificOutput"]["hookEventName"], "PostToolUse")

    def test_what_the_policy_lets_pass_is_loud_and_recorded(self):
        policy = self.write("lenient.yaml", "version: 1\nautonomy: {tier: act_auto}\nhook: {on_failure: allow}\n")
        outcome = self.cli("hook", "--agent", "codex", "--policy", policy, stdin=b"{")
        self.assertEqual((outcome.code, outcome.out), (0, ""))
        self.assertIn("the call is let pass, as the policy says (hook.on_failure)", outcome.err)
        # A too long identifier is an internal failure with the ledger open.
        outcome = self.cli("hook", "--agent", "codex", "--policy", policy,
                           stdin=json.dumps(claude("PreToolUse", "t" * 600)).encode())
        self.assertEqual((outcome.code, outcome.out), (0, ""))
        self.assertEqual(len(self.notes("let_pass")), 1)
        strict = self.write("strict.yaml", "version: 1\nhook: {on_failure: maybe}\n")
        self.assertEqual(self.decision(claude("PreToolUse"), policy=strict), "deny")


if __name__ == "__main__":
    unittest.main()
