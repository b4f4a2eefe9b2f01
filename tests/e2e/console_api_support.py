"""A gate with people of every role, asked over its HTTP API."""
import hashlib
import json
import pathlib
import subprocess
import sys
import time

from cli_support import BIN
from serve_support import ServeTest, Session

SERVER = pathlib.Path(__file__).with_name("mcp_effects_server.py")
ROOT = "/api/v1/"
PEOPLE = {"viewer": ["viewer"], "approver": ["approver", "viewer"], "auditor": ["auditor", "viewer"], "controller": ["controller", "viewer"]}
TOKENS = {role: f"token-of-{role}-0123456789" for role in PEOPLE}


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


class ApiTest(ServeTest):
    tier = "act_auto"

    def people(self, keys=None):
        rows = [f'    - {{name: "user:{role}", token: "{digest(TOKENS[role])}", roles: [{", ".join(roles)}]'
                + (f', key: "{keys[role]}"' if keys and role in keys else "") + "}" for role, roles in PEOPLE.items()]
        return "\n".join(rows)

    def policy(self, tier=None, more="", keys=None):
        return (f"version: 1\nautonomy: {{tier: {tier or self.tier}}}\napprovals:\n  hold_s: 50\n  reviewers:\n{self.people(keys)}\n{more}")

    def start(self, policy=None, config="", command=None, env=None):
        self.effects = self.folder / "effects"
        self.file = self.write("policy.yaml", policy or self.policy())
        self.server = self.serve("policy: ./policy.yaml" + config, command or (sys.executable, SERVER), {"EFFECTS": str(self.effects), **(env or {})})
        return Session(self.server)

    def api(self, method, path, body=None, role="viewer", headers=None):
        """Status, headers, what was said: JSON where it is."""
        status, got, said = self.server.ask(method, ROOT + path, body, headers=headers, token=TOKENS.get(role, role))
        return status, got, json.loads(said) if said and "json" in got.get("content-type", "") else said.decode()

    def get(self, path, role="viewer"):
        status, _, said = self.api("GET", path, role=role)
        self.assertEqual(status, 200, said)
        return said

    def told(self, *words):
        """What a command of the same data folder says, as JSON lines."""
        done = subprocess.run([BIN, "--data-dir", self.data, *map(str, words), "--json"], capture_output=True, text=True, env=self.environment(),
                              cwd=self.folder, timeout=60)
        self.said_to_errors = done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def make_key(self, name):
        """An approver key; its file, the file of its passphrase, and the public key."""
        words = self.write("words", "correct horse battery\n")
        words.chmod(0o600)
        file = self.folder / (name.replace(":", "-") + ".key")
        made = self.told("approvals", "init", "--name", name, "--key-file", file, "--passphrase-file", words)
        return file, words, made[0]["key"]

    def wait_until(self, true, seconds=20):
        end = time.monotonic() + seconds
        while not true():
            self.assertLess(time.monotonic(), end, "it never became true")
            time.sleep(0.05)
