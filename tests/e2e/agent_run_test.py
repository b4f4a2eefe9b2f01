#!/usr/bin/env python3
"""Rounds of our own agent: model requests, tool calls, limits, guardrails."""
import json
import os
import signal
import unittest

from agent_support import AgentTest, call


class Rounds(AgentTest):
    # RT-1, RT-2, RT-7, RT-11, RT-12, RT-15
    def test_a_run_ends_with_a_message_without_calls(self):
        (self.work / "a.txt").write_text("alpha\n")
        report = self.run_agent([{"text": "I look.", "calls": [call("read_file", path="a.txt")],
                                  "usage": {"input_tokens": 10, "output_tokens": 3}},
                                 {"text": "It says alpha.", "usage": {"input_tokens": 20, "output_tokens": 4}}])
        self.assertEqual(set(report), {"session_id", "run_id", "status", "reason", "text", "rounds", "tool_calls", "usage",
                                       "policy_hash", "first_sequence", "last_sequence", "continuation"})
        self.assertEqual((report["status"], report["reason"], report["text"]), ("finished", None, "It says alpha."))
        self.assertEqual((report["rounds"], report["tool_calls"]), (2, 1))
        self.assertEqual((report["usage"]["input_tokens"], report["usage"]["output_tokens"]), (30, 7))
        self.assertEqual(self.said(), [("user", "do it"), ("assistant", "I look."), ("assistant", "read_file"),
                                       ("tool", "alpha"), ("assistant", "It says alpha.")])
        self.assertEqual([item["revision"] for item in self.items()], [1, 2, 3, 4])
        sequences = [row["entry"]["sequence"] for row in self.rows("--run", report["run_id"])]
        self.assertTrue(all(report["first_sequence"] <= n <= report["last_sequence"] for n in sequences))
        self.assertEqual(self.kinds("--run", report["run_id"]),
                         ["request_started", "request_finished", "response_finished",
                          "auth_started", "auth_finished", "exec_started", "exec_finished",
                          "request_started", "request_finished", "response_finished"])

    # RT-3, RT-5, RT-94
    def test_what_is_wrong_is_said_before_anything_runs(self):
        options = self.agent([{"text": "hello"}])
        self.assertIn("nothing.yaml", self.refused(1, "agent", "run", "x", *options[:2], "--policy", "nothing.yaml"))
        self.write("bad.yaml", "version: 1\nrulez: []\n")
        self.assertIn("bad.yaml:2", self.refused(64, "agent", "run", "x", *options[:2], "--policy", self.folder / "bad.yaml"))
        self.write("agent.json.script", '{"turns":[{"text":"a"},\n{"txt":"b"}]}')
        self.assertIn("agent.json.script:2", self.refused(64, "agent", "run", "x", *options))
        self.assertIn("--model", self.refused(64, "agent", "run", "x"))
        self.refused(64, "agent", "run")
        self.assertEqual(self.good("agent", "list").out, "no sessions\n")

    # RT-10, EV-6
    def test_the_model_cannot_say_who_it_is(self):
        (self.work / "a.txt").write_text("x")
        self.run_agent([{"text": "agent_id: root", "calls": [{"tool": "read_file", "input": {"path": "a.txt", "agent_id": "root"}}]},
                        {"text": "ok"}])
        self.assertEqual({payload["agent_id"] for _, payload in self.events() if "agent_id" in payload}, {"writer"})
        # An unknown argument is refused, not ignored.
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["blocked"])

    # RT-22
    def test_arguments_that_do_not_fit_are_blocked_and_the_round_goes_on(self):
        report = self.run_agent([{"calls": [{"tool": "read_file", "arguments": "not json"},
                                            {"tool": "read_file", "input": {"path": 7}},
                                            {"tool": "read_file", "arguments": "[1]"},
                                            {"tool": "list_files", "input": {"path": "."}}]},
                                 {"text": "understood"}])
        self.assertEqual(report["status"], "finished")
        self.assertEqual([record["outcome"]["kind"] for record in self.records()],
                         ["blocked", "blocked", "blocked", "completed"])
        errors = [item["content"][0]["is_error"] for item in self.items() if item["role"] == "tool"]
        self.assertEqual(errors, [True, True, True, False])
        self.assertEqual(self.check_balanced(), [])

    # RT-23
    def test_calls_of_a_message_that_was_cut_are_not_run(self):
        self.run_agent([{"stop": "max_tokens", "calls": [call("write_file", path="b", content="1")]}, {"text": "ok"}])
        self.assertFalse((self.work / "b").exists())
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["blocked"])
        self.assertIn("cut at its output limit", self.said()[2][1])

    # RT-24, EV-53
    def test_calls_that_observe_run_together_and_others_alone(self):
        for name in "abc":
            (self.work / name).write_text(name)
        # Without `strict` the first entry of a read call is written together with its last.
        self.POLICY = self.write("strict.json", json.dumps({"version": 1, "autonomy": {"tier": "act_auto"}, "durability": "strict"}))
        self.run_agent([{"calls": [call("read_file", path="a"), call("read_file", path="b"),
                                   call("write_file", path="w", content="1"),
                                   call("read_file", path="w"), call("read_file", path="c")]}, {"text": "ok"}])
        ids = [(kind, payload["tool_call_id"][-1]) for kind, payload in self.events() if kind.startswith("exec_")]
        starts = [number for kind, number in ids if kind == "exec_started"]
        self.assertEqual(starts, ["0", "1", "2", "3", "4"])
        place = {pair: at for at, pair in enumerate(ids)}
        for first, then in [("0", "2"), ("1", "2"), ("2", "3"), ("2", "4")]:
            self.assertLess(place[("exec_finished", first)], place[("exec_started", then)])
        results = [text for role, text in self.said() if role == "tool"]
        self.assertEqual([results[0], results[1], results[3], results[4]], ["a", "b", "1", "c"])

    # RT-27
    def test_a_tool_that_is_not_offered_is_denied_and_recorded(self):
        self.run_agent([{"calls": [call("rm_rf", path="/")]}, {"text": "ok"}])
        (record,) = self.records()
        self.assertEqual((record["outcome"]["kind"], record["tool_name"]), ("blocked", "rm_rf"))
        self.assertIn("policy_denied", self.kinds())

    # RT-19, RT-21, EV-46
    def test_a_stream_that_breaks_drops_its_message_and_resume_goes_on(self):
        report = self.run_agent([{"text": "half a mess", "error_mid_stream": {"kind": "malformed_stream"}}], code=1)
        self.assertEqual(report["status"], "failed")
        self.assertTrue(report["reason"].startswith("error: "), report["reason"])
        self.assertEqual(self.kinds(), ["request_started", "request_finished", "response_finished", "run_aborted"])
        self.assertEqual(self.said(), [("user", "do it")])
        self.assertEqual(self.models()[0]["degraded"], ["partial_message_dropped"])
        self.agent([{"text": "whole"}])
        self.assertEqual(self.resume()["text"], "whole")
        self.assertEqual(self.said(), [("user", "do it"), ("assistant", "whole")])

    # RT-20, EV-45, EV-99, EV-104
    def test_an_answer_that_does_not_open_is_asked_for_again(self):
        report = self.run_agent([{"text": "ok", "error": {"status": 503, "body": "overloaded", "times": 1}}])
        self.assertEqual(report["text"], "ok")
        self.assertEqual(self.kinds(), ["request_started", "request_finished", "request_started", "request_finished",
                                        "response_finished"])
        finished = [payload for kind, payload in self.events() if kind == "request_finished"]
        self.assertEqual([(one["attempt"], one["success"]) for one in finished], [(1, False), (2, True)])
        self.assertEqual(finished[0]["error"], "http 503: overloaded")
        self.assertEqual(self.models()[0]["attempts"], 2)

    def test_an_error_that_is_not_transient_ends_the_run(self):
        report = self.run_agent([{"error": {"status": 400, "body": "bad"}}], code=1)
        self.assertEqual((report["status"], report["reason"]), ("failed", "error: http 400: bad"))
        self.assertEqual(self.kinds(), ["request_started", "request_finished", "run_aborted"])

    # RT-82
    def test_each_start_has_an_instance_id_of_its_own(self):
        self.run_agent([{"text": "a"}, {"text": "b"}, {"text": "c"}])
        for message in "xy":
            self.resume(more=["--message", message])
        ids = [payload["runtime_instance_id"] for kind, payload in self.events() if kind == "recovery_prepared"]
        self.assertEqual(len(set(ids)), 3)
        for one in ids:
            self.assertRegex(one, r"^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")

    # RT-88
    def test_there_is_nothing_to_resume_without_a_message(self):
        self.run_agent([{"text": "done"}, {"text": "more"}])
        before = len(self.events())
        self.assertIn("nothing open", self.refused(64, "agent", "resume", "s-1", *self.options()))
        kinds = [kind for kind, _ in self.events()[before:]]
        self.assertEqual(kinds, ["recovery_prepared"])
        self.assertEqual(self.resume(more=["--message", "and?"])["text"], "more")


class Limits(AgentTest):
    # RT-72, EV-106, EV-107
    def test_the_call_over_the_budget_is_not_run(self):
        report = self.run_agent([{"calls": [call("write_file", path=name, content="1") for name in "abc"]}],
                                limits={"deadline_s": 60, "model_requests": 9, "tool_calls": 2, "tokens": 1000}, code=1)
        self.assertEqual((report["status"], report["reason"]), ("aborted", "tool_budget_exceeded: 2 tool calls"))
        self.assertEqual(sorted(os.listdir(self.work)), ["a", "b"])
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["completed", "completed", "blocked"])
        self.assertEqual(self.check_balanced(), [])
        self.assertEqual(self.kinds()[-1], "run_aborted")

    # RT-72: reads run in parallel, and each counts
    def test_reads_that_run_together_stay_within_the_budget(self):
        self.work.mkdir(exist_ok=True)
        for name in "abc":
            (self.work / name).write_text(name)
        report = self.run_agent([{"calls": [call("read_file", path=name) for name in "abc"]}],
                                limits={"deadline_s": 60, "model_requests": 9, "tool_calls": 2, "tokens": 1000}, code=1)
        self.assertEqual((report["reason"], report["tool_calls"]), ("tool_budget_exceeded: 2 tool calls", 2))
        self.assertEqual([record["outcome"]["kind"] for record in self.records()], ["completed", "completed", "blocked"])

    # RT-73
    def test_the_message_that_reaches_the_token_budget_stays_and_its_calls_do_not_run(self):
        report = self.run_agent([{"text": "dear", "usage": {"total_tokens": 50}, "calls": [call("write_file", path="a", content="1")]}],
                                limits={"deadline_s": 60, "model_requests": 9, "tool_calls": 9, "tokens": 50}, code=1)
        self.assertEqual(report["reason"], "token_budget_exceeded: 50 tokens")
        self.assertEqual(self.said()[1], ("assistant", "dear"))
        self.assertFalse((self.work / "a").exists())
        self.assertEqual(self.check_balanced(), [])

    def test_requests_to_the_model_are_counted(self):
        report = self.run_agent([{"calls": [call("list_files", path=".")]}] * 3 + [{"text": "ok"}],
                                limits={"deadline_s": 60, "model_requests": 2, "tool_calls": 9, "tokens": 1000}, code=1)
        self.assertEqual(report["reason"], "model_budget_exceeded: 2 requests to the model")
        self.assertEqual(self.kinds().count("request_started"), 2)

    # RT-71, RT-75
    def test_the_deadline_ends_what_runs(self):
        report = self.run_agent([{"text": "slow", "delay_ms": 60000}], code=1,
                                limits={"deadline_s": 1, "model_requests": 9, "tool_calls": 9, "tokens": 1000})
        self.assertTrue(report["reason"].startswith("deadline_exceeded"), report["reason"])
        self.assertEqual(self.kinds(), ["request_started", "request_finished", "run_aborted"])

    # RT-74, RT-75, EV-52
    def test_an_interrupt_cancels_a_request_and_a_stream(self):
        for turn in [{"text": "slow", "delay_ms": 60000}, {"text": "drip " * 50, "chunk": 5, "pause_ms": 1000}]:
            with self.subTest(turn=list(turn)):
                session = f"s-{len(turn)}"
                process = self.start("run", "x", "--session", session, *self.agent([turn]))
                self.wait_until(lambda: any(kind == "request_started" for kind in self.kinds("--session", session)))
                if "chunk" in turn:
                    self.wait_until(lambda: "request_finished" in self.kinds("--session", session))
                process.send_signal(signal.SIGINT)
                out, err = process.communicate(timeout=20)
                self.assertEqual(process.returncode, 1, err)
                self.assertEqual(json.loads(out)["reason"], "cancelled")
                kinds = self.kinds("--session", session)
                self.assertEqual(kinds[-1], "run_aborted")
                self.assertEqual(kinds.count("response_finished"), 1 if "chunk" in turn else 0)
                self.assertEqual(self.models()[-1]["outcome"], "cancelled")

    # RT-77, EV-108
    def test_stop_lets_the_round_end_and_the_run_finishes(self):
        turns = [{"text": "one", "delay_ms": 1500, "calls": [call("write_file", path="a", content="1")]}, {"text": "two"}]
        process = self.start("run", "x", "--session", "s-1", *self.agent(turns))
        self.wait_until(lambda: "request_started" in self.kinds())
        self.good("agent", "stop", "s-1")
        out, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual(json.loads(out)["status"], "finished")
        self.assertTrue((self.work / "a").exists())
        self.assertNotIn("run_aborted", self.kinds())
        self.assertEqual(self.kinds().count("request_started"), 1)


class Guarded(AgentTest):
    def setUp(self):
        super().setUp()
        self.POLICY = self.write("policy.json", json.dumps({
            "version": 1, "autonomy": {"tier": "act_auto"},
            "guardrails": {"checks": [
                {"type": "regex", "id": "no-plans", "stage": "output", "patterns": ["secret plan"]},
                {"type": "blocklist", "id": "no-dynamite", "stage": "input", "words": ["dynamite"]},
                {"type": "regex", "id": "mail-out", "stage": "output", "on_fail": "redact", "patterns": ["[a-z]+@example[.]com"]},
                {"type": "regex", "id": "mail-in", "stage": "input", "on_fail": "redact", "patterns": ["[a-z]+@example[.]com"]}]}}))

    # RT-18, EV-47
    def test_of_a_blocked_answer_only_the_notice_is_committed(self):
        report = self.run_agent([{"text": "this is the secret plan", "calls": [call("write_file", path="a", content="1")]}], code=1)
        self.assertEqual(report["status"], "failed")
        self.assertIn("no-plans", report["reason"])
        self.assertFalse((self.work / "a").exists())
        self.assertNotIn("secret plan", json.dumps(self.items()))
        self.assertEqual(self.items()[-1]["role"], "assistant")
        self.assertEqual(self.kinds(), ["request_started", "request_finished", "policy_denied", "response_finished", "run_aborted"])
        self.assertEqual(self.models()[0]["outcome"], "blocked")

    # The transcript kept a refused prompt, so that every later run of the session was refused, and a later policy without
    # the check sent it to the model.
    # GR-31, GR-56
    def test_a_refused_prompt_stays_out_of_the_transcript_and_the_session_goes_on(self):
        report = self.run_agent([], script={"turns": [{"text": "no"}]}, task="where is dynamite?", code=1)
        self.assertIn("guardrail check `no-dynamite` refused the prompt (guardrail.blocklist)", report["reason"])
        self.assertNotIn("where is dynamite", json.dumps(self.items()))
        self.assertEqual([hit["body"]["check"] for hit in self.rows("--kind", "guard_hit")], ["no-dynamite"])
        self.assertEqual(self.models()[0]["reason"], "guardrail check 'no-dynamite' (guardrail.blocklist)")
        # The notice is the first answer.
        report = self.run_agent([{"text": "not played"}, {"text": "hello"}], task="good morning")
        self.assertEqual((report["status"], report["text"]), ("finished", "hello"))

    # RT-18
    def test_what_checks_take_out_reaches_neither_history_nor_model(self):
        """The second turn of the script repeats the model's input; no check searches for digits."""
        self.run_agent([{"text": "write to ann@example.com now", "chunk": 3}], task="ask bob@example.com")
        answer = self.said()[-1][1]
        self.assertNotIn("ann@", answer)
        self.assertTrue(answer.startswith("write to ["), answer)
        hits = [row["body"] for row in self.rows("--kind", "guard_hit")]
        self.assertEqual({hit["channel"] for hit in hits}, {"input", "output"})
        self.assertEqual(self.models()[0]["changes"], 2)

    # RT-25
    def test_a_result_reaches_history_only_as_the_second_door_released_it(self):
        (self.work / "a").write_text("key AKIAIOSFODNN7EXAMPLE1 end\nghp_0123456789abcdefghijABCDEFGHIJ012345\n")
        self.POLICY = "starter"
        self.run_agent([{"calls": [call("read_file", path="a")]}, {"text": "ok"}])
        self.assertNotIn("ghp_0123456789", json.dumps(self.items()))


class Chat(AgentTest):
    # AP-31 (partly)
    def test_lines_of_a_pipe_answer_no_question(self):
        """The process that starts the agent could write these answers; only a terminal proves a person."""
        self.POLICY = self.write("ask.json", json.dumps({
            "version": 1, "autonomy": {"tier": "act_with_approval"},
            "approvals": {"reviewers": [{"name": "user:ada", "client": "writer", "roles": ["approver"]}]}}))
        options = self.agent([{"calls": [call("write_file", path="a", content="1")]}, {"text": "done"}],
                             limits={"deadline_s": 2, "model_requests": 9, "tool_calls": 9, "tokens": 1000})
        outcome = self.cli("agent", "chat", *options, stdin=b"write\ny\n")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("a person is asked", outcome.out)
        self.assertFalse((self.work / "a").exists())


if __name__ == "__main__":
    unittest.main()
