#!/usr/bin/env python3
"""Tests `agent list|show|cancel|stop` from outside, over sessions that a helper made."""
import os
import subprocess
import unittest

from cli_support import CliTest

MAKE_SESSIONS = os.environ.get("MAKE_SESSIONS_BIN", "build/bin/make_sessions")
HIDDEN = ["\x1b", "\x07", "\u202e"]


class AgentCommands(CliTest):
    def setUp(self):
        super().setUp()
        self.data.mkdir()

    def make_sessions(self):
        subprocess.run([MAKE_SESSIONS, self.data], check=True, timeout=60)

    def sessions(self):
        return {row["session_id"]: row for row in self.good("agent", "list", "--json").lines()}

    def test_without_sessions_there_is_nothing_to_list_and_no_file_is_made(self):
        self.assertEqual(self.good("agent", "list").out, "no sessions\n")
        self.assertEqual(self.good("agent", "list", "--json").out, "")
        self.assertIn("no session `s-1`", self.refused(1, "agent", "show", "s-1"))
        self.assertFalse((self.data / "agents.db").exists())

    def test_sessions_are_listed_the_newest_first(self):
        self.make_sessions()
        rows = self.good("agent", "list", "--json").lines()
        self.assertEqual([row["session_id"] for row in rows], ["s-left", "s-works", "s-done"])
        done = rows[2]
        self.assertEqual((done["agent_id"], done["items"], done["revision"]), ("writer", 2, 2))
        self.assertEqual(done["last_run"]["status"], "aborted")
        self.assertEqual(done["last_run"]["reason"], "tool_budget")
        self.assertFalse(done["last_run"]["left_behind"])
        self.assertEqual((rows[1]["last_run"]["status"], rows[1]["last_run"]["left_behind"]), ("running", False))
        self.assertEqual((rows[0]["last_run"]["status"], rows[0]["last_run"]["left_behind"]), ("running", True))
        self.assertEqual(len(self.good("agent", "list", "-n", "1", "--json").lines()), 1)
        self.refused(64, "agent", "list", "-n", "0")
        header, *lines = self.good("agent", "list").out.splitlines()
        for word in ["session", "agent", "items", "revision", "last run", "age"]:
            self.assertIn(word, header)
        self.assertRegex(lines[0], r"^s-left .* left behind +\d+ s$")
        self.assertRegex(lines[1], r"^s-works +writer +1 +1  running +\d+ s$")
        self.assertRegex(lines[2], r"^s-done +writer +2 +2  aborted +\d+ s$")

    def test_a_session_is_shown_with_its_runs_and_tasks(self):
        self.make_sessions()
        page = self.good("agent", "show", "s-done", "--json").json()
        self.assertEqual([(run["run_id"], run["status"], run["reason"]) for run in page["runs"]],
                         [("r-1", "finished", None), ("r-2", "aborted", "tool_budget")])
        for run in page["runs"]:
            self.assertLessEqual(run["started_at"], run["ended_at"])
        (task,) = page["tasks"]
        self.assertEqual((task["task_id"], task["run_id"], task["status"], task["exit_code"], task["command"]),
                         ("t-1", "r-2", "failed", 2, "make all"))
        text = self.good("agent", "show", "s-done").out
        self.assertIn("r-2  aborted: tool_budget", text)
        self.assertIn("t-1  failed, exit code 2  make all", text)
        self.assertIn("left behind", self.good("agent", "show", "s-left").out)
        self.assertIn("`sallyport agent list`", self.refused(1, "agent", "show", "nothing"))

    # RT-8
    def test_a_transcript_is_written_as_lines_of_json(self):
        self.make_sessions()
        items = self.good("agent", "show", "s-done", "--transcript").lines()
        self.assertEqual([(item["index"], item["revision"], item["role"]) for item in items],
                         [(0, 1, "user"), (1, 2, "assistant")])
        for item in items:
            self.assertEqual(set(item), {"index", "revision", "role", "content", "tool_call_id", "created_at"})
            self.assertIsNone(item["tool_call_id"])
            self.assertRegex(item["created_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        self.assertEqual(items[1]["content"], [{"type": "text", "text": "done"}])

    # AP-39 (partly)
    def test_nothing_that_an_agent_said_reaches_the_terminal_as_it_is(self):
        self.make_sessions()
        for arguments in (["list"], ["list", "--json"], ["show", "s-left"], ["show", "s-left", "--json"],
                          ["show", "s-left", "--transcript"]):
            out = self.good("agent", *arguments).out
            for hidden in HIDDEN:
                self.assertNotIn(hidden, out, arguments)
        self.assertEqual(self.good("agent", "show", "s-left", "--json").json()["tasks"][0]["command"],
                         "echo \x1b[31m\nrm -rf /")
        (item,) = self.good("agent", "show", "s-left", "--transcript").lines()
        self.assertEqual(item["content"][0]["text"], "\x1b]0;owned\x07 \u202e evil")

    # RT-74 (partly), RT-77 (partly)
    def test_only_a_run_that_is_worked_on_can_be_asked_to_end(self):
        self.make_sessions()
        for verb in ("cancel", "stop"):
            self.assertEqual(self.good("agent", verb, "s-works", "--json").json(),
                             {"session_id": "s-works", "run_id": "r-3", "asked": verb})
            self.assertIn("s-works", self.good("agent", verb, "s-works").out)
            self.assertIn("aborted", self.refused(1, "agent", verb, "s-done"))
            self.assertIn("left behind", self.refused(1, "agent", verb, "s-left"))
            self.assertIn("no session", self.refused(1, "agent", verb, "s-none"))
            self.refused(64, "agent", verb)

    def test_agents_are_refused(self):
        self.make_sessions()
        for arguments in (["list"], ["show", "s-done"], ["cancel", "s-works"], ["stop", "s-works"]):
            told = self.refused(1, "agent", *arguments, env=self.environment(SALLYPORT_AGENT="agent:other"))
            self.assertIn("is for people", told)

    # RT-93 (partly)
    def test_a_damaged_store_is_named_and_left_as_it_is(self):
        file = self.data / "agents.db"
        file.write_bytes(b"no database at all" * 100)
        before = file.read_bytes()
        for arguments in (["list"], ["show", "s-1"], ["cancel", "s-1"]):
            self.assertIn("agents.db", self.refused(1, "agent", *arguments))
        self.assertEqual(file.read_bytes(), before)


if __name__ == "__main__":
    unittest.main()
