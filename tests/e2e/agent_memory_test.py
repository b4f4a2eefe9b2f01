#!/usr/bin/env python3
"""Memory and compaction of our own agent."""
import json
import os
import pathlib
import sqlite3
import unittest

from agent_support import AgentTest, call

NONE = ()


class Memory(AgentTest):
    # RT-56, RT-57, RT-59, EV-49, EV-23..EV-26
    def test_a_finished_run_is_remembered_and_recalled_in_another_session(self):
        self.run_agent([{"text": "The colour of the barn is red."}], task="what colour is the barn?", session="s-1")
        kinds = [kind for kind, _ in self.events("--session", "s-1")]
        self.assertEqual(kinds[-2:], ["memory_ingest_started", "memory_ingest_finished"])
        ingested = self.events("--session", "s-1")[-1][1]
        self.assertEqual((ingested["success"], ingested["stored_records"], ingested["source_revision"]), (True, 1, 2))
        # The script sees the recalled text, because it comes after the last answer.
        self.run_agent([{"text": "Red, as before."}], task="the barn?", session="s-2")
        search = [payload for kind, payload in self.events("--session", "s-2") if kind == "memory_search_finished"]
        self.assertEqual((search[0]["success"], search[0]["result_count"]), (True, 1))
        first = [kind for kind, _ in self.events("--session", "s-2")]
        self.assertLess(first.index("memory_search_finished"), first.index("request_started"))
        # Recalled text is not committed.
        self.assertEqual(self.said("s-2"), [("user", "the barn?"), ("assistant", "Red, as before.")])

    # `ledger erase` once left task, result and answer in the agent's own database.
    # LE-58
    def test_an_erased_session_is_in_no_file_of_the_data_folder(self):
        self.run_agent([{"text": "keptanswer"}], task="keptwords", session="s-2")
        (self.work / "a.txt").write_text("plantedcontent")
        self.run_agent([{"calls": [call("read_file", path="a.txt")]}, {"text": "plantedanswer"}], task="plantedtask")
        erase = ("ledger", "erase", "--session", "s-1", "--reason", "asked for")
        part = self.good(*erase, "--kind", "tool_audit", "--dry-run")
        self.assertIn("are in agents.db and stay", part.out)
        dry = self.good(*erase, "--dry-run", "--json").json()
        self.assertEqual((dry["dry_run"], dry["sessions"]), (True, 1))
        self.assertEqual(len(self.said()), 4)
        self.assertEqual(self.good(*erase, "--json").json()["sessions"], 1)
        for file in (file for file in self.data.rglob("*") if file.is_file()):
            for word in (b"plantedtask", b"plantedcontent", b"plantedanswer"):
                self.assertNotIn(word, file.read_bytes(), file)
        self.assertIsNone(self.session("s-1"))
        self.assertEqual(self.said("s-2"), [("user", "keptwords"), ("assistant", "keptanswer")])
        self.assertIn("now gone", self.good(*erase).out)
        self.good("ledger", "verify")

    # RT-55
    def test_memory_of_another_agent_is_not_found(self):
        self.run_agent([{"text": "The barn is red."}], task="barn", session="s-1")
        self.run_agent([{"text": "I do not know."}], task="barn", session="s-2", id="reader")
        search = [payload for kind, payload in self.events("--session", "s-2") if kind == "memory_search_finished"]
        self.assertEqual(search[0]["result_count"], 0)

    # RT-56
    def test_an_empty_query_is_not_searched_for(self):
        self.run_agent([{"text": "hm"}], task="   ")
        self.assertNotIn("memory_search_started", [kind for kind, _ in self.events()])
        self.run_agent([{"text": "hm"}], task="words", session="s-2", memory={"recall": False, "limit": 3, "max_chars": 100, "timeout_ms": 250})
        self.assertNotIn("memory_search_started", [kind for kind, _ in self.events()])

    # RT-59
    def test_a_failed_run_is_not_remembered_and_a_secret_never_is(self):
        self.run_agent([{"error": {"status": 400}}], task="barn", code=1, session="s-1")
        self.assertNotIn("memory_ingest_started", [kind for kind, _ in self.events()])
        secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
        self.run_agent([{"text": f"the token is {secret}"}], task="token?", session="s-2")
        self.run_agent([{"text": "ok"}], task="token", session="s-3")
        database = b"".join(path.read_bytes() for path in self.data.glob("agents.db*"))
        memory = database.count(secret.encode())
        # The transcript of s-2 holds the model's text; memory holds no copy of it.
        self.assertLessEqual(memory, 2)

    # A check of prompts that blocked recalled text made every run that recalled it fail.
    # RT-57, RT-58
    def test_recalled_text_that_a_check_blocks_is_left_out(self):
        self.run_agent([{"text": "The barn is full of dynamite."}], task="what is in the barn?", session="s-1")
        self.POLICY = self.write("policy.json", json.dumps({
            "version": 1, "autonomy": {"tier": "act_auto"},
            "guardrails": {"checks": [{"type": "blocklist", "id": "no-dynamite", "stage": "input", "words": ["dynamite"]}]}}))
        report = self.run_agent([{"text": "I do not know."}], task="the barn?", session="s-2")
        self.assertEqual((report["status"], report["text"]), ("finished", "I do not know."))
        self.assertEqual(self.models()[-1]["degraded"], ["recall_withheld"])
        self.assertEqual([hit["body"]["check"] for hit in self.rows("--kind", "guard_hit")], ["no-dynamite"])

    # RT-61
    def test_an_ingest_that_was_cut_off_is_made_up_for_at_the_next_start(self):
        self.run_agent([{"text": "The barn is red."}, {"text": "Still red."}], task="barn", session="s-1")
        # The state after a process that ended after its run and before the ingest.
        with sqlite3.connect(self.data / "agents.db") as store:
            store.execute("UPDATE sessions SET ingested = 0")
            store.execute("DELETE FROM memory")
        before = len(self.events())
        self.report(0, "resume", "s-1", *self.options(), "--message", "and now?")
        later = self.events()[before:]
        kinds = [kind for kind, _ in later]
        self.assertLess(kinds.index("memory_ingest_finished"), kinds.index("request_started"))
        stored = [(one["source_revision"], one["stored_records"]) for kind, one in later if kind == "memory_ingest_finished"]
        self.assertEqual(stored, [(2, 1), (4, 1)])


class Compaction(AgentTest):
    LONG = {"at_tokens": 50, "keep_items": 2, "keep_snapshots": 10}

    def turns(self, rounds):
        for number in range(rounds):
            (self.work / f"f{number}").write_text(f"content {number} " * 10)
        return [{"text": f"step {number}", "calls": [call("read_file", path=f"f{number}")],
                 "usage": {"input_tokens": 40 * (number + 1), "output_tokens": 1}} for number in range(rounds)] + [{"text": "done"}]

    # RT-62, RT-63, RT-64, RT-65, RT-66, RT-68, RT-70, EV-27, EV-28, EV-50
    def test_a_long_transcript_is_replaced_by_a_summary(self):
        self.run_agent(self.turns(5), script={"summary": "files were read"}, compaction=self.LONG)
        events = self.events()
        proposed = [payload for kind, payload in events if kind == "memory_compaction_proposed"]
        applied = [payload for kind, payload in events if kind == "memory_compaction_applied"]
        self.assertTrue(proposed)
        self.assertEqual([one["base_revision"] for one in proposed], [one["base_revision"] for one in applied])
        kinds = [kind for kind, _ in events]
        at = kinds.index("memory_compaction_proposed")
        self.assertEqual(kinds[at - 3:at + 2], ["request_started", "request_finished", "response_finished",
                                                "memory_compaction_proposed", "memory_compaction_applied"])
        first = proposed[0]
        snapshot = [json.loads(line) for line in (self.data / first["transcript_path"]).read_text().splitlines()]
        self.assertEqual(len(snapshot), first["base_revision"])
        self.assertEqual((self.data / first["transcript_path"]).stat().st_mode & 0o777, 0o600)
        items = self.items()
        self.assertIn({"type": "summary", "text": "files were read"}, items[0]["content"])
        # Items that stayed did not change by a byte.
        newest = [json.loads(line) for line in (self.data / proposed[-1]["transcript_path"]).read_text().splitlines()]
        kept = {item["revision"]: item for item in newest}
        for item in items[1:]:
            if item["revision"] in kept:
                self.assertEqual({**kept[item["revision"]], "index": 0}, {**item, "index": 0})
        self.assertEqual(self.check_balanced(), [])

    # RT-70
    def test_old_snapshots_are_removed_once_a_newer_compaction_was_applied(self):
        self.run_agent(self.turns(6), script={"summary": "files were read"}, compaction={**self.LONG, "keep_snapshots": 1})
        applied = [payload for kind, payload in self.events() if kind == "memory_compaction_applied"]
        self.assertGreater(len(applied), 2)
        self.assertEqual(len(list((self.data / "transcripts").iterdir())), 1)

    # RT-69
    def test_a_summary_that_fails_leaves_the_transcript_as_it_is(self):
        outcome_turns = self.turns(4)
        options = self.agent(outcome_turns, script={"summary": {"error": {"status": 503, "body": "busy"}}}, compaction=self.LONG)
        outcome = self.cli("agent", "run", "go", "--session", "s-1", *options, "--json")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertIn("continues without compaction", outcome.err)
        finished = [payload for kind, payload in self.events() if kind == "request_finished" and not payload["success"]]
        self.assertEqual([one["attempt"] for one in finished], [1, 2, 3])
        self.assertNotIn("memory_compaction_proposed", [kind for kind, _ in self.events()])
        self.assertEqual(len(self.items()), 1 + 4 * 2 + 1)

    # Such a summary replaced the older part of the transcript.
    # RT-64
    def test_a_summary_that_is_blank_or_cut_replaces_nothing(self):
        for number, summary in enumerate([{"text": " \n "}, {"text": "the files we", "stop": "max_tokens"}]):
            session = f"s-{number}"
            options = self.agent(self.turns(4), script={"summary": summary}, compaction=self.LONG)
            outcome = self.cli("agent", "run", "go", "--session", session, *options, "--json")
            self.assertEqual(outcome.code, 0, outcome.err)
            self.assertIn("continues without compaction", outcome.err)
            self.assertEqual(len(self.items(session)), 1 + 4 * 2 + 1)


if __name__ == "__main__":
    unittest.main()
