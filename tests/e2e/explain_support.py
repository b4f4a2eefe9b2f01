"""Calls that a gateway recorded, for tests of later explanations."""
from mcp_support import McpTest


class RecordedCalls(McpTest):
    def setUp(self):
        super().setUp()
        self.project = self.folder / "home" / "project"
        self.project.mkdir(parents=True)

    def audits(self, **wanted):
        rows = self.good("ledger", "show", "--kind", "tool_audit", "--limit", "1000", "--json").lines()
        return [row for row in rows if all(row["entry"].get(name) == value for name, value in wanted.items())]

    def run_calls(self, policy, *calls, env=None):
        client = self.client(options=["--policy", str(policy), "--name", "fake"], env=env)
        client.open()
        for tool, input in calls:
            client.result(tool, input)
        client.close()
        return [row["entry"]["call_id"] for row in self.audits() if row["body"].get("terminal")]
