#!/usr/bin/env python3
"""Approval requests that belong to no call, and repeated dispatches."""
import re
import shlex
import unittest

from approvals_support import ApprovalsTest, Held
from document_support import block


class Questions(ApprovalsTest):
    def ask(self, *more, text="Which branch?"):
        held = Held(self, "--policy", self.policy(self.lines), "--ask", text, *more)
        return held, self.pending("--kind", "question")[0]

    def setUp(self):
        super().setUp()
        self.lines = self.init("user:ada")

    def topic(self, name):
        return [line["body"] for line in self.good("ledger", "show", "--topic", name, "--limit", "100", "--json").lines()]

    # AP-25 LG-9
    def test_a_question_is_listed_shown_and_answered_in_words(self):
        held, question = self.ask()
        request_id = question["request_id"]
        self.assertEqual((question["kind"], question["description"], question["agent_id"]), ("question", "Which branch?", "agent:deploy-bot"))
        self.assertEqual(self.good("approvals", "list", "--kind", "approval", "--json").lines(), [])
        listed = self.good("approvals", "list").out
        self.assertIn("agent:deploy-bot asks: Which branch?", listed)
        self.assertIn(f"approvals answer {request_id} --text", listed)
        self.assertIn("Which branch?", self.good("approvals", "show", request_id).out)
        self.assertIn(f"`sallyport approvals answer {request_id} --text", self.refused(64, *self.answer("approve", request_id)))
        self.assertIn("--text", self.refused(64, *self.answer("answer", request_id)))
        said = self.good(*self.answer("answer", request_id), "--text", "main\u202e", "--json").json()
        self.assertEqual((said["state"], said["reviewer"]), ("approved", "user:ada"))
        answer = held.line()
        self.assertEqual((answer["answer"], answer["text"], answer["by"]), ("answered", "main\u202e", "user:ada"))
        shown = self.good("approvals", "show", request_id).out
        self.assertIn("user:ada said `main\\u{202E}`", shown)
        self.assertEqual(self.good("approvals", "show", request_id, "--json").json()["answer"], "main\u202e")
        self.assertIn("already approved", self.refused(1, *self.answer("answer", request_id), "--text", "dev"))
        self.assertEqual([event["kind"] for event in self.topic("hitl.questions")], ["hitl.question_asked", "hitl.response_received"])
        self.assertTrue(self.entries("approval_response")[0]["signature"].startswith("ed25519:"))
        self.assertEqual(self.ran(), [])
        self.good("ledger", "verify")

    # AP-25: as in docs/approvals.md; at a terminal the passphrase is typed, here a file holds it.
    def test_a_question_is_listed_and_answered_as_the_page_says(self):
        held, question = self.ask()
        shown = block("docs/approvals.md", "--kind question", "").splitlines()
        (listing, first, second), answer, last = shown[:3], shown[3], shown[-1]
        id = question["request_id"]
        listed = self.good(*shlex.split(listing)[2:]).out.splitlines()
        for line, wanted in zip(listed, (first, second)):
            wanted = re.sub(r"\d+ s ago|\d{4}-\d\d-\S+Z", "...", wanted.replace("apr_019c...", id))
            self.assertRegex(line, "^" + ".*".join(map(re.escape, wanted.split("..."))) + "$")
        words = shlex.split(answer.replace("apr_019c...", id))[2:]
        said = self.good(*words, "--key-file", self.folder / "user-ada.key", "--passphrase-file", self.words).out
        self.assertEqual(said.strip(), last.replace("apr_019c...", id))
        self.assertEqual(held.line()["text"], "main")

    # AP-25 AP-17
    def test_it_is_refused_taken_back_or_left_alone(self):
        held, question = self.ask()
        self.good(*self.answer("deny", question["request_id"], "user:ada", "--reason", "ask my boss"))
        self.assertEqual({key: held.line()[key] for key in ("answer",)}, {"answer": "refused"})
        held, question = self.ask()
        self.good(*self.answer("cancel", question["request_id"]))
        self.assertEqual(held.line()["answer"], "cancelled")
        held, question = self.ask("--within", "2")
        self.assertEqual(held.line()["answer"], "expired")
        self.assertEqual(self.topic("hitl.questions")[-1]["kind"], "hitl.timeout")

    # AP-25
    def test_a_call_takes_a_verdict_and_no_words(self):
        held = Held(self, "--policy", self.policy(self.lines))
        request_id = self.pending()[0]["request_id"]
        self.assertIn("is about a call", self.refused(64, *self.answer("answer", request_id), "--text", "main"))
        self.assertIn("--batch", self.refused(64, "approvals", "answer"))
        held.stop()


class Replays(ApprovalsTest):
    def setUp(self):
        super().setUp()
        self.people = self.policy(self.init("user:ada") + "autonomy: {tier: act_with_approval}\n")

    def replay(self, *more, policy=None):
        return Held(self, "--policy", policy or self.people, "--trigger", "evt-1", "--replay", *more).line()

    # AP-23 AP-24
    def test_a_dispatch_made_again_asks_nobody_and_runs_nothing(self):
        held = Held(self, "--policy", self.people, "--trigger", "evt-1")
        question = self.pending()[0]
        self.assertEqual(question["request_id"], "hitl_approval_evt-1_1")
        eve = self.folder / "user-eve.key"
        self.good("approvals", "init", "--name", "user:eve", "--key-file", eve, "--passphrase-file", self.words)
        self.assertIn("not registered", self.refused(1, *self.answer("approve", question["request_id"], "user:eve")))
        early = self.replay()
        self.assertEqual(early["outcome"], "blocked")
        self.assertTrue(early["text"].startswith("replay_missing_answer"), early)
        self.good(*self.answer("approve", question["request_id"]))
        self.assertEqual(held.line()["outcome"], "completed")
        again = self.replay()
        self.assertEqual((again["outcome"], again["output"], again["approval_id"]), ("replayed", "written", "hitl_approval_evt-1_1"))
        self.assertTrue(self.replay("--text", "other")["text"].startswith("replay_missing_answer"))
        self.assertEqual(len(self.ran()), 1)
        self.assertEqual(self.good("approvals", "list", "--json").lines(), [])
        records = [line["body"] for line in self.good("ledger", "show", "--kind", "tool_audit", "--limit", "100", "--json").lines()]
        self.assertEqual([record["replay_of_event_id"] for record in records if "replay_of_event_id" in record], ["evt-1"] * 3)
        self.assertEqual(len(self.good("trust", "show", "--records", "--json").lines()), 1)
        self.good("ledger", "verify")

    # AP-24 LG-8
    def test_what_is_proposed_by_a_replay_says_so(self):
        shadow = self.write("shadow.yaml", "version: 1\nautonomy: {tier: shadow}\n")
        self.replay(policy=shadow)
        proposed = self.good("ledger", "show", "--topic", "trigger.outbox", "--json").lines()
        self.assertEqual([line["body"]["payload"]["replay_of_event_id"] for line in proposed], ["evt-1"])

    # AP-24 AP-25
    def test_a_question_is_answered_by_what_was_said_then(self):
        held = Held(self, "--policy", self.people, "--trigger", "evt-1", "--ask", "Which branch?")
        question = self.pending("--kind", "question")[0]
        self.assertEqual(question["request_id"], "hitl_question_evt-1_1")
        self.assertEqual(self.replay("--ask", "Which branch?")["cause"], "replay_missing_answer")
        self.good(*self.answer("answer", question["request_id"]), "--text", "main")
        self.assertEqual(held.line()["text"], "main")
        self.assertEqual(self.replay("--ask", "Which branch?")["text"], "main")
        self.assertEqual(self.replay("--ask", "Which one?")["cause"], "replay_missing_answer")


if __name__ == "__main__":
    unittest.main()
