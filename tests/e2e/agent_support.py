"""Runs our own agents from outside; their model plays a script."""
import json
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


def shell(command, **more):
    return call("shell", command=command, **more)


class ScriptedAgents(CliTest):
    """Agents whose model plays a script; script and agent are in separate files."""
    POLICY = "starter"

    def setUp(self):
        super().setUp()
        self.work = self.folder / "work"
        self.work.mkdir()

    def write_agent(self, turns, name="agent.json", script=None, **keys):
        """Writes a script and its agent; returns the agent's file."""
        played = self.write(name + ".script", json.dumps({"turns": turns, **(script or {})}))
        settings = {"id": "agent:worker", "model": {"provider": "script", "model": "scripted", "script": played.name},
                    "roots": [{"path": "work", "write": True}], "shell": {"env": ["PATH"]}, **keys}
        settings = {key: value for key, value in settings.items() if value is not None}
        return self.write(name, json.dumps({"agent": settings}))

    def command(self, verb, agent, *more, policy=None):
        return ["agent", verb, *map(str, more), "--agent", str(agent), "--policy", str(policy or self.POLICY),
                "--data-dir", str(self.data), "--json"]

    def run_to_end(self, verb, agent, *more, **options):
        """Runs it to its end and returns its report, or None, and its stderr."""
        outcome = self.run_bare(*self.command(verb, agent, *more, **options))
        return (outcome.json() if outcome.out else None), outcome.err

    def start_agent(self, verb, agent, *more, **options):
        return self.spawn(self.command(verb, agent, *more, **options))

    def spawn(self, arguments):
        """Starts a run in the background; its output is the report."""
        process = subprocess.Popen([BIN, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, env=self.environment(), cwd=self.folder)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate(timeout=60)

    def report_of(self, process, within=60):
        out, err = process.communicate(timeout=within)
        self.assertTrue(out, err.decode())
        return json.loads(out)

    def wait_until(self, condition, what="it did not happen in time", within=60):
        end = time.monotonic() + within
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def lines(self, name="log"):
        path = self.work / name
        return path.read_text().splitlines() if path.exists() else []

    def session(self, session):
        outcome = self.cli("agent", "show", session, "--json")
        return outcome.json() if outcome.code == 0 else None

    def transcript(self, session):
        outcome = self.cli("agent", "show", session, "--transcript")
        return outcome.lines() if outcome.code == 0 else []

    # RT-9
    def assert_balanced(self, items):
        """Each call has exactly one result before the next assistant message."""
        self.assertEqual([item["index"] for item in items], list(range(len(items))))
        revisions = [item["revision"] for item in items]
        self.assertEqual(len(set(revisions)), len(revisions))
        # A summary is newer than the items after it.
        self.assertEqual(revisions[1:], sorted(revisions[1:]))
        asked = []
        for item in items:
            if item["role"] == "tool":
                self.assertIn(item["tool_call_id"], asked)
                asked.remove(item["tool_call_id"])
            elif item["role"] == "assistant":
                self.assertEqual(asked, [], item)
                asked = [block["id"] for block in item["content"] if block["type"] == "tool_call"]
        return asked


class AgentTest(ScriptedAgents):
    """Runs one agent, `writer`, on session `s-1` unless the test names another."""
    POLICY = "transparent"

    def agent(self, turns, **keys):
        """Writes the agent of this test and returns the options that name it."""
        self.write_agent(turns, **{"id": "writer", "shell": None, "retry": {"jitter": 0}, **keys})
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
        return self.spawn(["agent", *arguments, "--json", "--data-dir", self.data])

    def rows(self, *filters):
        outcome = self.cli("ledger", "show", "--limit", "10000", "--json", *filters)
        return outcome.lines() if outcome.code == 0 else []

    def events(self, *filters):
        """Returns (short kind, payload) of events, in their order."""
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
        return self.transcript(session)

    def said(self, session="s-1"):
        """Returns the transcript as (role, text or tool)."""
        out = []
        for item in self.items(session):
            for block in item["content"]:
                out.append((item["role"], block.get("text", block.get("name", block["type"]))))
        return out

    def check_balanced(self, session="s-1"):
        """Returns the calls without a result so far."""
        return self.assert_balanced(self.items(session))
