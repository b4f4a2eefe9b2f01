#!/usr/bin/env python3
"""Processes that an agent starts change neither evidence nor authority, however deep or hidden they run; people log in."""
import hashlib
import json
import os
import subprocess
import sys
import unittest

from cli_support import BIN, CliTest
from mcp_approvals_support import Approvals

TOKEN = "a-token-of-some-length"
# A chain of processes that each wait for the next one; the last becomes the command.
CHAIN = """import os, sys
for _ in range(int(sys.argv[1])):
    child = os.fork()
    if child:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os.execv(sys.argv[2], sys.argv[2:])
"""
# A tool server that runs one command for each line of its input, as an agent's tool does.
RUNNER = """import json, os, subprocess, sys
environment = {name: value for name, value in os.environ.items() if name != "SALLYPORT_AGENT"}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "runner", "version": "1"}}
    if message["method"] == "tools/list":
        result = {"tools": [{"name": "run", "inputSchema": {"type": "object"}}]}
    if message["method"] == "tools/call":
        done = subprocess.run(message["params"]["arguments"]["command"], env=environment, capture_output=True, text=True)
        result = {"content": [{"type": "text", "text": json.dumps([done.returncode, done.stdout + done.stderr])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


class Children(Approvals):
    def setUp(self):
        super().setUp()
        (self.data / "reviewers.yaml").unlink()
        self.policy_file = self.write("open.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        self.runner = self.write("runner.py", RUNNER)
        self.agent = self.client(sys.executable, self.runner, options=("--name", "runner", "--policy", str(self.policy_file)))
        self.agent.open()

    def run_as_agent(self, *command):
        answer = self.agent.call("run", {"command": [str(word) for word in command]})
        return tuple(json.loads(answer["result"]["content"][0]["text"]))

    def command(self, *words):
        return [BIN, *map(str, words), "--data-dir", str(self.data)]

    def refusals(self):
        return [line["body"] for line in self.good("ledger", "show", "--kind", "control", "--limit", "1000", "--json").lines()
                if line["body"]["control"] == "refused_control"]

    # AP-29: the search for ancestors once stopped at a depth of 128.
    def test_a_deep_chain_of_processes_hides_no_agent(self):
        chain = self.write("chain.py", CHAIN)
        code, said = self.run_as_agent(sys.executable, "-S", chain, 150, *self.command("approvals", "list"))
        self.assertEqual(code, 1, said)
        self.assertIn("was started by agent", said)

    # AP-29: the first process of a PID namespace has no parent that can be seen.
    def test_a_pid_namespace_hides_no_agent(self):
        self.assertEqual(os.geteuid(), 0, "this test makes namespaces, which root may")
        for around in (["unshare", "--pid", "--fork", "--mount-proc"], ["unshare", "--pid", "--fork"],
                       ["unshare", "--pid", "--fork", "--mount-proc", "unshare", "--pid", "--fork", "--mount-proc"]):
            before = len(self.refusals())
            code, said = self.run_as_agent(*around, *self.command("approvals", "list"))
            self.assertEqual(code, 1, (around, said))
            self.assertRegex(said, "cannot be seen|was started by agent")
            self.assertEqual(len(self.refusals()), before + 1)

    # AP-29: a process may replace a file of /proc by another one.
    def test_a_proc_that_is_none_hides_no_agent(self):
        self.assertEqual(os.geteuid(), 0, "this test mounts, which root may")
        empty = self.folder / "empty"
        empty.mkdir()
        for mount in (f"mount --bind {empty} /proc", "mount --bind /proc/1/stat /proc/$PPID/stat",
                      f"echo 1 > {empty}/id; mount --bind {empty}/id /proc/sys/kernel/random/boot_id"):
            script = mount + "; exec " + " ".join(self.command("approvals", "list"))
            code, said = self.run_as_agent("unshare", "--mount", "sh", "-c", script)
            self.assertEqual(code, 1, (mount, said))

    # AP-29: where all live in one namespace, as in a container, people answer.
    def test_people_and_agents_in_one_namespace_are_told_apart(self):
        self.assertEqual(os.geteuid(), 0, "this test makes namespaces, which root may")
        data = self.folder / "inside"
        server = f"{sys.executable} {self.runner}"
        gate = f"{BIN} mcp --name runner --policy {self.policy_file} --data-dir {data}"
        listing = f"{BIN} approvals list --json --data-dir {data}"
        script = self.write("container.sh", f"""set -e
mkfifo {self.folder}/in
{gate} -- {server} < {self.folder}/in > {self.folder}/out 2>/dev/null &
exec 3> {self.folder}/in
until {listing} 2>/dev/null; do :; done
{listing}
exec 3>&-
wait
""")
        done = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "sh", str(script)], env=self.environment(),
                              cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "")

    # AP-29 TR-17 (partly): a tool of an agent once could accept changed tools, lift holds and rotate keys.
    def test_every_change_of_evidence_or_authority_is_refused_to_what_an_agent_starts(self):
        grant = self.write("grant.json", "[]")
        for words in (["pins", "accept", "runner"], ["ledger", "erase", "--call", "x", "--reason", "r"],
                      ["ledger", "prune", "--before", "1", "--reason", "r"], ["ledger", "hold", "add", "--kind", "event", "--reason", "r"],
                      ["ledger", "hold", "lift", "h", "--reason", "r"], ["keys", "rotate"],
                      ["ledger", "move", "--to", "postgresql:///nowhere"], ["passkeys", "add", "x"], ["passkeys", "remove", "x"],
                      ["grants", "issue", "--subject", "agent:x", "--grant", grant], ["grants", "revoke", "x", "--reason", "r"],
                      ["trust", "promote", "agent:x", "--to", "act_auto"], ["trust", "demote", "agent:x", "--to", "shadow"],
                      ["approvals", "init", "--name", "user:eve", "--passphrase-file", self.words],
                      ["init", "--agent", "claude-code", "--undo"], ["approvals", "accept", "x"], ["approvals", "dismiss", "x"], ["approvals", "approve", "x"]):
            before = len(self.refusals())
            code, said = self.run_as_agent(*self.command(*words))
            self.assertEqual(code, 1, (words, said))
            self.assertIn("was started by agent", said, words)
            refusals = self.refusals()
            self.assertEqual(len(refusals), before + 1, words)
            self.assertTrue(refusals[-1]["what"].startswith(words[0]), refusals[-1])


class Changes(CliTest):
    """If people are registered, one of them has to log in."""

    def setUp(self):
        super().setUp()
        self.make_ledger(2)
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        self.token = self.write("token", TOKEN + "\n")
        self.token.chmod(0o600)
        made = {}
        for name in ("ada", "bo", "eve"):
            made[name] = self.good("approvals", "init", "--name", f"user:{name}", "--key-file", self.folder / f"{name}.key",
                                   "--passphrase-file", self.words, "--json").json()["key"]
        (self.data / "reviewers.yaml").write_text("\n".join([
            "reviewers:", f'  - {{name: "user:ada", key: "{made["ada"]}", roles: [approver, controller]}}',
            f'  - {{name: "user:bo", key: "{made["bo"]}", roles: [approver]}}',
            f'  - {{name: "user:cy", token: "{digest(TOKEN)}", roles: [controller]}}', ""]))

    def key(self, name):
        return ["--key-file", self.folder / f"{name}.key", "--passphrase-file", self.words]

    def controls(self, name):
        return [line["body"] for line in self.good("ledger", "show", "--kind", "control", "--limit", "1000", "--json").lines()
                if line["body"]["control"] == name]

    # AP-28 (partly)
    def test_a_registered_controller_changes_and_is_named(self):
        hold = ["ledger", "hold", "add", "--id", "h", "--kind", "event", "--reason", "r"]
        self.refused(1, *hold)
        self.assertIn("controller", self.refused(1, *hold, *self.key("bo")))
        self.assertIn("user:eve", self.refused(1, *hold, *self.key("eve")))
        self.assertEqual(len(self.controls("refused_control")), 2)
        self.good(*hold, *self.key("ada"))
        [held] = self.controls("hold_set")
        self.assertRegex(held["who"], r"^user:ada \(key:[0-9a-f]{16}\)$")
        lift = ["ledger", "hold", "lift", "h", "--reason", "r"]
        self.refused(1, *lift)
        self.good(*lift, "--name", "user:cy", "--token-file", self.token)
        self.assertEqual(self.controls("hold_lifted")[0]["who"], "user:cy (token)")
        self.refused(1, "keys", "rotate")
        self.good("keys", "rotate", *self.key("ada"))
        self.assertTrue(self.controls("key_rotated")[0]["who"].startswith("user:ada"))
        for words in (["ledger", "erase", "--kind", "tool_audit", "--reason", "r"], ["ledger", "prune", "--before", "1", "--reason", "r"],
                      ["grants", "revoke", "x", "--reason", "r"], ["pins", "accept", "x"], ["approvals", "accept", "x"],
                      ["ledger", "move", "--to", "postgresql:///nowhere"]):
            self.refused(1, *words)
        self.good("ledger", "erase", "--kind", "tool_audit", "--reason", "r", "--dry-run")
        self.good("ledger", "erase", "--kind", "tool_audit", "--reason", "r", *self.key("ada"))
        self.assertTrue(self.controls("erased")[0]["who"].startswith("user:ada"))
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
