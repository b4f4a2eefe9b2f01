"""A gate with people of every role, used over its HTTP API."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

from cli_support import BIN
from document_support import at_terminal
import npm_peers
from serve_support import ServeTest, Session

CHECK = pathlib.Path(__file__).with_name("openapi_check.mjs")
SCHEMAS = npm_peers.Peers("ajv", {"ajv": "8.20.0"})
SERVER = pathlib.Path(__file__).with_name("mcp_effects_server.py")
ROOT = "/api/v1/"
PASSPHRASE = "correct horse battery"
PEOPLE = {"viewer": ["viewer"], "approver": ["approver", "viewer"], "auditor": ["auditor", "viewer"], "controller": ["controller", "viewer"]}
TOKENS = {role: f"token-of-{role}-0123456789" for role in PEOPLE}


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


def template_of(document, method, path):
    """Returns the documented route of a request, or None if there is none."""
    parts = path.split("?")[0].split("/")
    for template, item in document["paths"].items():
        words = template[1:].split("/")
        rest = words[-1] == "{path}" and len(parts) >= len(words)
        alike = all(word == part or word.startswith("{") for word, part in zip(words, parts))
        if method in item and alike and (rest or len(words) == len(parts)):
            return template
    return None


class ApiTest(ServeTest):
    """Every JSON response in a test of such a class must match the OpenAPI document of the gate (CO-65)."""
    tier = "act_auto"
    document, samples = None, {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.document, cls.samples = None, {}

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        try:
            SCHEMAS.need()
        except unittest.SkipTest as reason:
            print(f"SKIPPED: answers are not compared with the document: {reason}", file=sys.stderr)
            return
        if not cls.samples:
            return
        done = subprocess.run([npm_peers.node(20), CHECK, SCHEMAS.folder], input=json.dumps({"document": cls.document, "samples": list(cls.samples.values())}),
                              capture_output=True, text=True, timeout=60)
        if done.returncode != 0 or json.loads(done.stdout) != []:
            raise AssertionError(f"answers that the document does not have: {done.stdout[:4000]} {done.stderr[-2000:]}")

    def sample(self, method, path, status, said):
        cls = type(self)
        if cls.document is None:
            cls.document = json.loads(self.server.ask("GET", ROOT + "openapi.json", token=False)[2])
        template = template_of(cls.document, method.lower(), path)
        if template is not None and template not in ("/stream", "/approvals/stream"):
            body = said if isinstance(said, (dict, list)) else None
            shape = json.dumps(sorted(body)) if isinstance(body, dict) else ""
            cls.samples[method, template, status, shape] = {"method": method.lower(), "path": template, "status": status, "body": body}

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
        """Returns status, headers, and the body, parsed if it is JSON."""
        status, got, said = self.server.ask(method, ROOT + path, body, headers=headers, token=TOKENS.get(role, role))
        told = json.loads(said) if said and "json" in got.get("content-type", "") else said.decode()
        if method != "HEAD":
            self.sample(method, path, status, told)
        return status, got, told

    def get(self, path, role="viewer"):
        status, _, said = self.api("GET", path, role=role)
        self.assertEqual(status, 200, said)
        return said

    def told(self, *words):
        """Returns the JSON lines that a command prints for the same data folder."""
        done = subprocess.run([BIN, "--data-dir", self.data, *map(str, words), "--json"], capture_output=True, text=True, env=self.environment(),
                              cwd=self.folder, timeout=60)
        self.said_to_errors = done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def other_machine(self, name):
        """Returns the environment of a machine that has only a person's approver key and the public key."""
        there = self.environment(SALLYPORT_DATA_DIR=self.folder / "other")
        there["PATH"] = f"{os.path.dirname(os.path.realpath(BIN))}:{there['PATH']}"
        made, _ = at_terminal(f"sallyport approvals init --name {name} --json", [("passphrase", PASSPHRASE), ("once more", PASSPHRASE)], env=there, cwd=self.folder)
        return there, json.loads(made)["key"]

    def sign_there(self, there, script):
        """Returns the output of a script that signs for a controller, and the text on the terminal."""
        return at_terminal(script, [("passphrase of user:controller", PASSPHRASE)], env=there, cwd=self.folder)

    def make_key(self, name):
        """Makes an approver key; returns its file, the file of its passphrase, and the public key."""
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
