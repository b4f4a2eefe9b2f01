#!/usr/bin/env python3
"""One agent writes all 22 events to one ledger, in the order that the specification requires (Must show 1 of the agent
runtime). With SALLYPORT_WRITE_DOCS=1 the test rewrites the table in docs/agent.md from the events that it saw."""
import json
import os
import pathlib
import re
import signal
import sys
import unittest

from agent_support import AgentTest, call, short

ALL = {"authorization_denied", "tool_authorization_started", "tool_authorization_finished", "tool_authorization_blocked",
       "recovery_prepared", "model_request_started", "model_request_finished", "model_response_finished",
       "tool_execution_started", "tool_execution_finished", "policy_denied", "background_task_started",
       "background_task_finished", "memory_search_started", "memory_search_finished", "memory_ingest_started",
       "memory_ingest_finished", "memory_compaction_proposed", "memory_compaction_applied", "memory_compaction_skipped",
       "run_aborted", "tool_execution_blocked"}
# Changes the path at each look, so that the decision never settles.
REWRITER = """#!{python} -SE
import json, sys
given = json.load(sys.stdin)["call"]["input"]
print(json.dumps({{"verdict": "rewrite", "input": {{**given, "path": given["path"] + "/."}}}}))
"""
DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "agent.md"
BEGIN, END = "<!-- events: begin -->\n", "<!-- events: end -->\n"
# The members of an event that a table row shows.
SHOWN = ["tool_name", "action", "outcome", "attempt", "success", "status", "limit", "result_count",
         "source_revision", "stored_records", "base_revision", "resulting_history_len", "reason"]


class AllEvents(AgentTest):
    def story(self):
        rewriter = self.write("rewriter.py", REWRITER.format(python=sys.executable))
        rewriter.chmod(0o755)
        self.POLICY = self.write("policy.json", json.dumps({
            "version": 1, "autonomy": {"tier": "act_auto"}, "limits": {"call_ms": 1_800_000},
            "external": [{"id": "restless", "kind": "guard", "command": [str(rewriter)], "when": {"tool": "list_files"},
                          "sees": "input", "deadline_ms": 20_000}]}))
        (self.work / "a.txt").write_text("alpha\n" * 20)
        # Ids from the script determine the turn, so the script still works after a compaction.
        used = {"input_tokens": 30, "output_tokens": 2}
        turns = [
            {"text": "I look.", "usage": used, "calls": [
                {"tool": "read_file", "input": {"path": "a.txt"}},
                # A call with an effect between the two reads keeps them from running at the same time.
                {"tool": "write_file", "id": "same", "input": {"path": "b.txt", "content": "1"}},
                {"tool": "read_file", "input": {"path": "../outside"}},
                {"tool": "delete_everything", "input": {}}]},
            {"text": "The same id again.", "usage": used, "calls": [
                {"tool": "write_file", "id": "same", "input": {"path": "b.txt", "content": "2"}},
                {"tool": "list_files", "input": {"path": "."}}]},
            {"text": "A command beside me.", "usage": {"input_tokens": 900, "output_tokens": 2}, "calls": [
                {"tool": "background_start", "input": {"command": "sleep 1; echo done"}}]},
            # The first summary takes three seconds: the task ends meanwhile, and its notice changes the revision.
            {"text": "I read on.", "usage": {"input_tokens": 900, "output_tokens": 2},
             "calls": [{"tool": "read_file", "input": {"path": "a.txt"}}]},
            {"text": "All is done.", "usage": used}]
        return self.run_agent(turns, script={"summary": {"text": "read, wrote, started", "delay_ms": 3000}},
                              compaction={"at_tokens": 500, "keep_items": 2, "keep_snapshots": 3},
                              shell={"env": ["PATH"], "timeout_s": 10, "max_timeout_s": 20})

    # EV-10..EV-31, EV-33, EV-34, EV-41, EV-42, EV-48..EV-50, EV-30, RT-67, RT-51
    def test_all_events_happen_in_one_ledger_in_their_order(self):
        report = self.story()
        self.assertEqual(report["status"], "finished")
        self.run_agent([{"error": {"status": 400, "body": "no"}}], code=1, session="s-2")
        rows = [row["record"] for row in self.rows("--kind", "event")]
        seen = {row["event_type"] for row in rows}
        self.assertEqual(ALL - seen, set())
        self.check_order([(short(row["event_type"]), row["payload"]) for row in rows])
        self.check_table(rows)

    def check_order(self, events):
        kinds = [kind for kind, _ in events]
        look, out, unknown, beside = "script_0_0", "script_0_2", "script_0_3", "script_2_0"

        def of(call_id):
            return [kind for kind, payload in events if payload.get("tool_call_id") == call_id]

        self.assertEqual(kinds[0], "recovery_prepared")
        self.assertEqual(of(look), ["auth_started", "auth_finished", "exec_started", "exec_finished"])
        self.assertEqual(of(out), ["auth_started", "auth_finished", "exec_started", "exec_finished"])
        self.assertEqual(of(unknown), ["auth_started", "auth_finished", "auth_blocked"])
        # The model uses an id of an earlier message again. That is another call.
        (again,) = {payload["tool_call_id"] for _, payload in events if payload.get("tool_call_id", "").startswith("same_")}
        for call_id in ("same", again):
            self.assertEqual(of(call_id), ["auth_started", "auth_finished", "exec_started", "exec_finished"])
        self.assertEqual((self.work / "b.txt").read_text(), "2")
        self.assertEqual(of("script_1_1"), ["auth_started", "exec_blocked", "auth_finished", "auth_blocked"])

        # A refusal by the tool itself comes between start and finish (EV-42).
        places = {(kind, payload.get("tool_call_id")): at for at, (kind, payload) in enumerate(events)}
        denied = kinds.index("authorization_denied")
        self.assertLess(places[("exec_started", out)], denied)
        self.assertLess(denied, places[("exec_finished", out)])
        # The veto comes between the start and the end of the decision (EV-34).
        veto = kinds.index("policy_denied")
        self.assertLess(places[("auth_started", unknown)], veto)
        self.assertLess(veto, places[("auth_finished", unknown)])
        # The task starts inside the call that starts it, and ends at any later time (EV-48).
        started, finished = kinds.index("background_task_started"), kinds.index("background_task_finished")
        self.assertLess(places[("exec_started", beside)], started)
        self.assertLess(started, places[("exec_finished", beside)])
        self.assertLess(started, finished)
        # The notice changed the revision: the summary was skipped once, then applied (RT-67, EV-50).
        ends = [kind for kind in kinds if kind in ("memory_compaction_applied", "memory_compaction_skipped")]
        self.assertEqual(ends[0], "memory_compaction_skipped")
        self.assertEqual(ends[1], "memory_compaction_applied")
        self.assertEqual(len(ends), kinds.count("memory_compaction_proposed"))
        for at, kind in enumerate(kinds):
            if kind == "memory_compaction_proposed":
                self.assertEqual(kinds[at - 1], "response_finished")
                self.assertIn(kinds[at + 1], ("memory_compaction_applied", "memory_compaction_skipped"))
        # Recall comes before the round's request, ingest after the last event of the run (EV-49).
        self.assertLess(kinds.index("memory_search_finished"), kinds.index("request_started"))
        second = len(kinds) - 1 - kinds[::-1].index("recovery_prepared")
        self.assertEqual(kinds[second - 2:second], ["memory_ingest_started", "memory_ingest_finished"])
        self.assertEqual(kinds[-1], "run_aborted")
        # Each start has one finish.
        for name in ["auth", "exec", "request", "background_task", "memory_search", "memory_ingest"]:
            self.assertEqual(kinds.count(name + "_started"), kinds.count(name + "_finished"), name)

    def table(self, rows):
        lines = ["| event | what it says, in the first run where it happens |", "|---|---|"]
        told = set()
        for row in rows:
            kind = row["event_type"]
            if kind in told:
                continue
            told.add(kind)
            shown = [f"`{name}` {json.dumps(row['payload'][name])}" for name in SHOWN if row["payload"].get(name) is not None]
            lines.append(f"| `{kind}` | {', '.join(shown)} |")
        return "\n".join(lines) + "\n"

    def check_table(self, rows):
        table = self.table(rows)
        text = DOCUMENT.read_text()
        before, rest = text.split(BEGIN)
        there, after = rest.split(END)
        if os.environ.get("SALLYPORT_WRITE_DOCS") == "1":
            DOCUMENT.write_text(before + BEGIN + table + END + after)
        else:
            self.assertEqual(there, table, "docs/agent.md: run this test with SALLYPORT_WRITE_DOCS=1")


if __name__ == "__main__":
    unittest.main()
