"""Our own agent on the scripted provider, from outside."""
import json
import os
import signal
import subprocess
import time

from cli_support import BIN, CliTest

SHORT = {"tool_authorization_": "auth_", "tool_execution_": "exec_", "model_request_": "request_",
         "model_response_": "response_"}


def short(kind):
    for long, word in SHORT.items():
        kind = kind.replace(long, word)
    return kind


def call(tool, **given):
    return {"tool": tool, "input": given}


class AgentTest(CliTest):
    POLICY = "transparent"

    def setUp(self):
        super().setUp()
        self.work = self.folder / "work"
        self.work.mkdir()

    def agent(self, turns, script=None, **keys):
        """Writes a script and a configuration; gives the options that name them."""
        self.write("talk.json", json.dumps({"turns": turns, **(script or {})}))
        agent = {"id": "writer", "model": {"provider": "script", "model": "scripted", "script": "talk.json"},
                 "roots": [{"path": "work", "write": True}], "retry": {"jitter": 0}, **keys}
        self.write("agent.json", json.dumps({"agent": agent}))
        return self.options()

    def options(self):
        return ["--agent", self.folder / "agent.json", "--policy", self.POLICY]

    def run_agent(self, turns, task="do it", code=0, session="s-1", more=(), **keys):
        options = self.agent(turns, **keys)
        return self.report(code, "run", task, "--session", session, *options, *more)

    def report(self, code, *arguments):
        outcome = self.cli("agent", *arguments, "--json")
        self.assertEqual(outcome.code, code, outcome.err + outcome.out)
        return outcome.json()

    def resume(self, code=0, session="s-1", more=()):
        return self.report(code, "resume", session, *self.options(), *more)

    def start(self, *arguments):
        """A run in the background, whose report is its output."""
        process = subprocess.Popen([BIN, "agent", *map(str, arguments), "--json", "--data-dir", self.data],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                                   env=self.environment(), cwd=self.folder)
        self.addCleanup(self.end, process)
        return process

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def wait_until(self, true, seconds=30):
        end = time.monotonic() + seconds
        while not true():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.02)

    def rows(self, *filters):
        outcome = self.cli("ledger", "show", "--limit", "10000", "--json", *filters)
        return outcome.lines() if outcome.code == 0 else []

    def events(self, *filters):
        """(short kind, payload) of events, in their order."""
        rows = [row["record"] for row in self.rows("--kind", "event", *filters)]
        return [(short(row["event_type"]), row["payload"]) for row in rows]

    def kinds(self, *filters, without=("recovery_prepared", "memory_search_started", "memory_search_finished",
                                       "memory_ingest_started", "memory_ingest_finished")):
        return [kind for kind, _ in self.events(*filters) if kind not in without]

    def records(self, *filters):
        return [row["record"] for row in self.rows("--kind", "tool_audit", *filters)]

    def models(self):
        return [row["body"] for row in self.rows("--kind", "model_audit")]

    def items(self, session="s-1"):
        return self.good("agent", "show", session, "--transcript").lines()

    def said(self, session="s-1"):
        """The transcript as (role, text or tool)."""
        out = []
        for item in self.items(session):
            for block in item["content"]:
                out.append((item["role"], block.get("text", block.get("name", block["type"]))))
        return out

    def check_balanced(self, session="s-1"):
        """RT-9: each call has exactly one result before the next assistant message."""
        open_calls = {}
        for item in self.items(session):
            if item["role"] == "assistant":
                self.assertEqual(open_calls, {}, "a call has no result before the next message")
                open_calls = {block["id"]: 0 for block in item["content"] if block["type"] == "tool_call"}
            if item["role"] == "tool":
                self.assertIn(item["tool_call_id"], open_calls)
                del open_calls[item["tool_call_id"]]
        return open_calls
