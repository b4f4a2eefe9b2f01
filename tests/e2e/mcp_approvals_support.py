"""Calls that wait for an approver, on a server whose effects can be counted."""
import getpass
import pathlib
import sys
import time

from mcp_eras_test import ModernClient
from mcp_support import Client, McpTest

SERVER = pathlib.Path(__file__).with_name("mcp_effects_server.py")
WRITE = {"path": "a.txt", "text": "hi"}
FORMS = {"elicitation": {}}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
POLICY = """version: 1
autonomy: {tier: %s%s}
approvals:
  reviewers:
%s
  hold_s: %d
%s
"""


class Approvals(McpTest):
    def setUp(self):
        super().setUp()
        self.effects = self.folder / "effects"
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        self.key = self.folder / "ada.key"
        made = self.good("approvals", "init", "--name", "user:ada", "--key-file", self.key,
                         "--passphrase-file", self.words, "--json").json()
        self.ada = f'    - {{name: "user:ada", key: "{made["key"]}", roles: [approver]}}'
        self.data.mkdir(mode=0o700, exist_ok=True)
        (self.data / "reviewers.yaml").write_text(f"reviewers:\n{self.ada}\n")
        self.principal = "uid:" + getpass.getuser()
        self.user = f'    - {{name: "user:dana", client: "{self.principal}", roles: [approver]}}'

    def policy(self, hold=50, tier="act_with_approval", autonomy="", people=None, more=""):
        return self.write("policy.yaml", POLICY % (tier, autonomy, "\n".join(people or [self.ada]), hold, more))

    def connect(self, kind, policy):
        return kind(self, (sys.executable, SERVER), self.environment(EFFECTS=str(self.effects)),
                    ("--name", "effects", "--policy", str(policy)))

    def start(self, kind, policy, capabilities=None):
        client = self.connect(kind, policy)
        self.addCleanup(self.end, client)
        if kind is ModernClient:
            client.capabilities = capabilities or {}
        else:
            client.open(capabilities)
        return client

    def session(self, policy, capabilities=None):
        return self.start(Client, policy, capabilities)

    def stateless(self, policy, capabilities=None):
        return self.start(ModernClient, policy, capabilities)

    def write_file(self, client, arguments=None, **more):
        return client.ask("tools/call", {"name": "write_file", "arguments": arguments or WRITE, **more})

    def pending(self, count=1):
        for _ in range(1200):
            found = self.good("approvals", "list", "--json").lines()
            if len(found) >= count:
                return [item["request_id"] for item in found]
            time.sleep(0.05)
        self.fail("nobody asked")

    def answer(self, verb, request_id, *more):
        return self.good("approvals", verb, request_id, "--key-file", self.key, "--passphrase-file", self.words, *more)

    def ran(self):
        return self.effects.read_text().splitlines() if self.effects.exists() else []

    def entries(self, record):
        lines = self.good("ledger", "show", "--kind", "approval", "--limit", "1000", "--json").lines()
        return [line["body"] for line in lines if line["body"].get("record") == record]

    def status(self, answer):
        return answer["result"]["structuredContent"]["sallyport"]
