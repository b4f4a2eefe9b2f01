"""Several gateways on one log in PostgreSQL, each with its own data folder and the same keys."""
import http.client
import json
import os
import pathlib
import shutil
import sys
import time
import unittest

from postgresql_support import PROGRAMS, Postgresql
from serve_support import Server, ServeTest

EFFECTS = pathlib.Path(__file__).with_name("mcp_effects_server.py")
LEASE_MS = 2000
# Larger counts are for a machine with time to spare.
MORE = int(os.environ.get("SALLYPORT_CLUSTER_EFFORT", "1"))

CONFIG = """
version: 1
data_dir: {data}
ledger:
  store: {{postgresql: "{url}", lock_wait_ms: 2000, hold_ms: 1000, lease_ms: {lease}}}
serve:
  listen: 127.0.0.1:0
  {more}
  upstreams:
    - name: files
      command: ["{python}", "{effects}"]
"""


@unittest.skipIf(PROGRAMS is None, "postgresql is not installed")
class ClusterCase(ServeTest):
    @classmethod
    def setUpClass(cls):
        cls.postgresql = Postgresql()
        cls.addClassCleanup(cls.postgresql.stop)
        cls.databases = 0

    def setUp(self):
        super().setUp()
        type(self).databases += 1
        self.url = self.postgresql.database(f"d{self.databases}")
        self.effects = self.folder / "effects"
        self.gateways = 0
        self.more = ""  # keys of `serve`

    def config(self, name, url=None):
        return self.write(f"{name}.yaml", CONFIG.format(data=self.folder / name, url=url or self.url, lease=LEASE_MS,
                                                         more=self.more, python=sys.executable, effects=EFFECTS))

    def gateway(self):
        """Starts one more gateway, with the keys of the first."""
        self.gateways += 1
        name = f"g{self.gateways}"
        if self.gateways > 1:
            shutil.copytree(self.folder / "g1" / "keys", self.folder / name / "keys")
            os.chmod(self.folder / name, 0o700)
        server = Server(self, self.config(name), self.environment(EFFECTS=str(self.effects)))
        self.addCleanup(self.end_server, server)
        return server

    def cli(self, *arguments, **options):
        return self.run_bare(*arguments, **options)  # the configuration names the folder

    def written(self):
        return [json.loads(line)["n"] for line in self.effects.read_text().splitlines()] if self.effects.exists() else []

    def ledger(self, *words, gateway="g1"):
        return self.good("ledger", *words, "--config", str(self.folder / f"{gateway}.yaml"))

    def verified(self):
        self.ledger("verify")
        return self.ledger("stats", "--json").json()["size"]

    def controls(self, name):
        rows = self.ledger("show", "--kind", "control", "--limit", "100000", "--json").lines()
        return [row["body"] for row in rows if row["body"].get("control") == name]

    def ends(self):
        rows = self.ledger("show", "--kind", "tool_audit", "--limit", "100000", "--json").lines()
        return [row["record"] for row in rows if row["record"]["terminal"]]

    @staticmethod
    def call(session, n, seconds=0):
        """Returns True if the call was acknowledged."""
        answer = session.call("write_file", {"n": n, "seconds": seconds})[-1]
        return "result" in answer and answer["result"]["content"][0]["text"] == "written"

    def tried(self, session, n, seconds=0):
        """Does the same for a gateway that may have ended."""
        try:
            return self.call(session, n, seconds)
        except (OSError, http.client.HTTPException):
            return False

    def wait_for(self, what, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = what()
            if found:
                return found
            time.sleep(0.1)
        self.fail("it did not happen in time")
