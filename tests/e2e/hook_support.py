"""Events of coding agents as their hosts send them, and the hook's answers."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cli_support import BIN, CliTest, Outcome

# A host that is neither a shell nor this process: its child processes descend from an agent.
HOST = [sys.executable, "-c", "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"]
ASK = "version: 1\nautonomy: {tier: act_with_approval}\n"


def claude(event, call="toolu_1", command="make", session="s-1", **more):
    return {"session_id": session, "hook_event_name": event, "cwd": "/src", "permission_mode": "default",
            "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call, **more}


def ran(call="toolu_1", command="make", text="done", **more):
    return claude("PostToolUse", call, command, tool_response={"stdout": text, "stderr": ""}, **more)


class HookTest(CliTest):
    patterns = None  # compiled once: on a busy machine compiling would use up the time of the first event

    @classmethod
    def tearDownClass(cls):
        if HookTest.patterns:
            shutil.rmtree(HookTest.patterns)
            HookTest.patterns = None

    def use(self, data):
        self.data = data
        self.data.mkdir(mode=0o700)
        if HookTest.patterns is None:
            made = self.folder / "made"
            self.run_bare("hook", "--agent", "codex", "--data-dir", made, stdin=json.dumps(claude("PreToolUse")).encode())
            HookTest.patterns = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-e2e-"))
            shutil.copytree(made / "cache", HookTest.patterns / "cache")
        shutil.copytree(HookTest.patterns / "cache", self.data / "cache")

    def setUp(self):
        super().setUp()
        self.use(self.data)
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)

    def hook(self, event, *arguments, agent="claude-code", policy=None, env=None):
        command = [*HOST, BIN, "hook", "--agent", agent, "--data-dir", str(self.data), *map(str, arguments)]
        if policy:
            command += ["--policy", str(policy)]
        stdin = event if isinstance(event, bytes) else json.dumps(event).encode()
        outcome = Outcome(subprocess.run(command, input=stdin, capture_output=True, timeout=60,
                                         env=env or self.environment(), cwd=self.folder))
        self.assertEqual(outcome.code, 0, outcome.err)
        return json.loads(outcome.out) if outcome.out else None

    def decision(self, event, *arguments, **options):
        said = self.hook(event, *arguments, **options)
        return said["hookSpecificOutput"]["permissionDecision"] if said else None

    def shown(self, *filters):
        outcome = self.cli("ledger", "show", "--limit", "1000", "--json", *filters)
        return outcome.lines() if outcome.code == 0 else []

    def records(self, *filters):
        return [line["body"] for line in self.shown("--kind", "tool_audit", *filters)]

    def notes(self, kind):
        return [line["body"] for line in self.shown("--topic", "hooks") if line["body"]["kind"] == kind]

    def ids(self, said):
        reason = said["hookSpecificOutput"]["permissionDecisionReason"]
        return next(word.strip("`.()") for word in reason.split() if "apr_" in word)

    def people(self):
        key_file = self.folder / "ada.key"
        made = self.good("approvals", "init", "--name", "user:ada", "--key-file", key_file, "--passphrase-file",
                         self.words, "--json").json()
        lines = f'approvals:\n  reviewers:\n    - {{name: "user:ada", key: "{made["key"]}", roles: [approver]}}\n'
        self.data.mkdir(mode=0o700, exist_ok=True)
        (self.data / "reviewers.yaml").write_text(lines)
        return self.write("people.yaml", ASK + lines)

    def approve(self, approval):
        return ["approvals", "approve", approval, "--key-file", self.folder / "ada.key", "--passphrase-file", self.words]
