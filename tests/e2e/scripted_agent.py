"""Agents of our own, whose model plays a script."""
import json
import signal
import subprocess
import time

from cli_support import BIN, CliTest


def call(tool, **given):
    return {"tool": tool, "input": given}


def shell(command, **more):
    return call("shell", command=command, **more)


class AgentTest(CliTest):
    POLICY = "starter"

    def setUp(self):
        super().setUp()
        self.root = self.folder / "root"
        self.root.mkdir()

    def agent(self, turns, name="agent.json", **keys):
        """Writes a script and the agent that plays it; names the file."""
        script = self.write(name + ".script", json.dumps({"turns": turns}))
        settings = {"id": "agent:worker", "model": {"provider": "script", "script": script.name},
                    "roots": [{"path": "root", "write": True}], "shell": {"env": ["PATH"]}, **keys}
        return self.write(name, json.dumps({"agent": settings}))

    def command(self, verb, agent, *more, policy=None):
        return ["agent", verb, *map(str, more), "--agent", str(agent), "--policy", str(policy or self.POLICY),
                "--data-dir", str(self.data), "--json"]

    def run_agent(self, verb, agent, *more, **options):
        """Runs it to its end: its report, or none, and what it said on stderr."""
        outcome = self.run_bare(*self.command(verb, agent, *more, **options))
        return (outcome.json() if outcome.out else None), outcome.err

    def start_agent(self, verb, agent, *more, **options):
        process = subprocess.Popen([BIN, *self.command(verb, agent, *more, **options)], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, env=self.environment(), cwd=self.folder)
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

    def until(self, condition, what, within=60):
        end = time.monotonic() + within
        while not condition():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.02)

    def lines(self, name="log"):
        path = self.root / name
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
        self.assertEqual(revisions, sorted(set(revisions)))
        asked = []
        for item in items:
            if item["role"] == "tool":
                self.assertIn(item["tool_call_id"], asked)
                asked.remove(item["tool_call_id"])
            elif item["role"] == "assistant":
                self.assertEqual(asked, [], item)
                asked = [block["id"] for block in item["content"] if block["type"] == "tool_call"]
        return asked
