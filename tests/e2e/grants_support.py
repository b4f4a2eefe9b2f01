"""Makes capability tokens without our code."""
import base64
import hashlib
import json
import subprocess
import time
import uuid

from mcp_support import McpTest

SEEDS = {"issuer": bytes(range(32)), "holder": bytes(range(32, 64)), "stranger": bytes(range(64, 96))}
PKCS8 = bytes.fromhex("302e020100300506032b657004220420")


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Keys:
    """Signs Ed25519 with openssl, so that our code does not check its own signatures."""

    def __init__(self, folder):
        self.folder = folder
        for name, seed in SEEDS.items():
            (folder / f"{name}.der").write_bytes(PKCS8 + seed)

    def public(self, name):
        der = subprocess.run(["openssl", "pkey", "-inform", "DER", "-in", self.folder / f"{name}.der", "-pubout", "-outform", "DER"],
                             check=True, capture_output=True).stdout
        return "ed25519:" + der[-32:].hex()

    def sign(self, name, message):
        (self.folder / "message").write_bytes(message)
        made = subprocess.run(["openssl", "pkeyutl", "-sign", "-rawin", "-keyform", "DER", "-inkey", self.folder / f"{name}.der",
                               "-in", self.folder / "message"], check=True, capture_output=True).stdout
        return base64.b64encode(made).decode()


class GrantTest(McpTest):
    """Hand-signed tokens, and a policy that requires them."""

    def setUp(self):
        super().setUp()
        self.keys = Keys(self.folder)
        self.me = "uid:" + subprocess.run(["id", "-un"], check=True, capture_output=True, text=True).stdout.strip()
        self.required = "[{tool: echo}]"
        self.tier = "act_auto"

    def policy(self, more=""):
        return self.write("policy.yaml", f"version: 1\nautonomy: {{tier: {self.tier}}}\ngrants:\n"
                          f"  required: {self.required}\n  trusted_issuers: [\"{self.keys.public('issuer')}\"]\n{more}")

    def token(self, by="issuer", parent=None, scope=None, **changes):
        now = int(time.time())
        body = {"schema": "sallyport.grant.v1", "id": str(uuid.uuid4()), "issuer": self.keys.public(by),
                "subject": {"principal": self.me}, "issued_at": now - 60, "expires_at": now + 600,
                "scope": {"grants": [scope or {"server": "fake", "tool": "echo", "operations": ["invoke", "read_result"]}]}}
        if parent:
            body["parent"] = "sha256:" + hashlib.sha256(canonical({k: v for k, v in parent.items() if k != "chain"})).hexdigest()
        body.update(changes)
        body["signature"] = self.keys.sign(by, canonical(body))
        if parent:
            body["chain"] = parent.get("chain", []) + [{k: v for k, v in parent.items() if k != "chain"}]
        return body

    def delegable(self, **grant):
        holder = {"principal": self.me, "key": self.keys.public("holder")}
        now = int(time.time())
        return self.token(subject=holder, issued_at=now - 600, expires_at=now + 6000, scope={"server": "fake", "tool": "echo", "operations": ["invoke", "read_result", "delegate"],
                                                 **grant})

    def child(self, parent, **grant):
        return self.token("holder", parent, {"server": "fake", "tool": "echo", "operations": ["invoke", "read_result"], "from": 0, **grant})
