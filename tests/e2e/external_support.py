"""Policies whose guards are programs outside of Sallyport."""
import json
import re
import sys

from mcp_support import McpTest

# The beginning of every test program. It needs no site packages, so it starts quickly.
HEAD = f"""#!{sys.executable} -SE
import json, os, sys, time
def say(**answer):
    print(json.dumps(answer), flush=True)
"""
ONCE = HEAD + "q = json.load(sys.stdin)\n"
OPEN = "version: 1\nautonomy: {tier: act_auto}\n"
SLOW = 20_000  # milliseconds: large enough that no test fails only because the machine is busy


class ExternalTest(McpTest):
    def program(self, name, body, head=ONCE):
        path = self.write(name, head + body)
        path.chmod(0o755)
        return path

    def entry(self, path, id="check", kind="guard", **more):
        where = {} if "url" in more else {"command": [str(path)]}
        return {"id": id, "kind": kind, **where, "deadline_ms": SLOW, **more}

    def external_policy(self, *entries, sections=OPEN, name="policy.yaml"):
        return self.write(name, sections + "external: " + json.dumps(entries) + "\n")

    def gate(self, *entries, sections=OPEN, env=None):
        policy = self.external_policy(*entries, sections=sections)
        client = self.client(options=("--name", "fake", "--policy", str(policy)), env=env)
        client.open()
        return client

    def echo(self, client, message="hello"):
        """Returns the agent's result and whether it is an error."""
        result = client.result("echo", {"message": message})
        text = result["content"][0]["text"]
        blocked = re.fullmatch(r"Blocked: (.*)\. \(record [0-9a-f-]+\)", text)
        return blocked.group(1) if blocked else text, bool(result.get("isError"))

    def lines_of(self, name):
        path = self.folder / name
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def controls(self, *names):
        rows = self.good("ledger", "show", "--kind", "control", "--limit", "10000", "--json").lines()
        return [row["body"] for row in rows if row["body"]["control"] in names]
