#!/usr/bin/env python3
"""Tests the shared state of gateways on one log: revoked grants, the next key, the database itself."""
import base64
import json
import shutil
import time
import unittest

from cluster_support import ClusterCase
from grants_support import GrantTest
from serve_support import Session, messages


class ClusterStateTest(ClusterCase, GrantTest):
    def granted(self, session, grant, n):
        """Returns whether the call ran under this token."""
        packed = base64.urlsafe_b64encode(json.dumps(grant).encode()).decode().rstrip("=")
        session.last_id += 1
        body = {"jsonrpc": "2.0", "id": session.last_id, "method": "tools/call",
                "params": {"name": "write_file", "arguments": {"n": n}}}
        said = messages(session.server.open(body=body, headers={**session.headers, "Sallyport-Grant": packed}))[-1]
        return said["result"]["content"][0]["text"]

    # SC-39
    def test_a_grant_that_was_revoked_at_one_gateway_is_refused_by_all_within_a_second(self):
        self.required = "[{tool: write_file}]"
        self.policy()
        self.more = f"policy: {self.folder}/policy.yaml"
        servers = [self.gateway(), self.gateway()]
        sessions = [Session(server) for server in servers]
        grant = self.token(scope={"server": "files", "tool": "write_file", "operations": ["invoke", "read_result"]})
        for n, session in enumerate(sessions):
            self.assertEqual(self.granted(session, grant, f"before-{n}"), "written")
        self.good("grants", "revoke", grant["id"], "--reason", "lost", "--config", str(self.folder / "g1.yaml"))
        revoked = time.monotonic()
        for n, session in enumerate(sessions):
            said = self.granted(session, grant, f"after-{n}")
            if time.monotonic() - revoked > 1:
                self.assertIn("revoked", said)
        for n, session in enumerate(sessions):
            time.sleep(max(0, revoked + 1 - time.monotonic()))
            self.assertIn("revoked", self.granted(session, grant, f"later-{n}"))
        self.assertFalse([each for each in self.written() if each.startswith("later")])
        self.verified()

    # SC-54
    def test_the_key_is_rotated_when_every_gateway_has_the_next_one(self):
        first, second = self.gateway(), self.gateway()
        sessions = [Session(first), Session(second)]
        self.assertTrue(self.call(sessions[0], "before"))
        rotate = ("keys", "rotate", "--config", str(self.folder / "g1.yaml"))
        next_key = self.folder / "g1" / "keys" / "signing.key.next"
        refused = self.cli(*rotate)
        self.assertNotEqual(refused.code, 0)
        self.assertIn("2 of the gateways", refused.err)
        self.assertTrue(next_key.exists())
        self.wait_for(lambda: "1 of the gateways" in self.cli(*rotate).err, 20)
        self.assertTrue(self.call(sessions[1], "still the old key"))
        shutil.copy(next_key, self.folder / "g2" / "keys" / "signing.key.next")
        self.wait_for(lambda: self.cli(*rotate).code == 0, 20)
        for n, session in enumerate(sessions):
            self.assertTrue(self.call(session, f"after-{n}"))
        keys = self.good("keys", "show", "--json", "--config", str(self.folder / "g1.yaml")).lines()
        self.assertEqual(len(keys), 2)
        names = {each["key"].split("+")[0] for each in keys}
        rows = self.postgresql.sql("SELECT count(*) FROM sallyport.commits WHERE "
                                   "length(checkpoint) - length(replace(checkpoint, chr(8212), '')) = 2", f"d{self.databases}")
        self.assertEqual((len(names), rows), (1, "1"), "one checkpoint has both signatures")
        self.wait_for(lambda: not (self.folder / "g2" / "keys" / "signing.key.next").exists(), 20)
        self.verified()

    # SC-25
    def test_no_content_is_in_the_clear_in_tables_log_or_dump(self):
        server = self.gateway()
        secret = "quite-a-secret-value"
        answer = Session(server).call("write_file", {"n": secret})[-1]
        self.assertEqual(answer["result"]["content"][0]["text"], "written")
        self.assertIn(secret, self.ledger("show", "--kind", "tool_audit", "--json").out, "the gateway itself reads it")
        self.postgresql.sql("CHECKPOINT")
        files = [each for each in self.postgresql.data.rglob("*") if each.is_file()]
        self.assertTrue([each for each in files if "pg_wal" in str(each)])
        for each in files:
            self.assertNotIn(secret.encode(), each.read_bytes(), each)
        self.assertNotIn(secret.encode(), self.postgresql.dump(f"d{self.databases}"))

    # SC-48, SC-47
    def test_a_copy_of_the_log_in_another_database_is_refused_until_a_person_says_so(self):
        server = self.gateway()
        self.assertTrue(self.call(Session(server), "before"))
        server.stop()
        kept = self.postgresql.dump(f"d{self.databases}")
        other = type(self.postgresql)()
        self.addCleanup(other.stop)
        other.restore(kept, "copy")
        config = self.config("g1", other.url("copy"))
        refused = self.cli("serve", "--config", config)
        self.assertIn("system identifier", refused.err)
        self.good("ledger", "acknowledge", "--reason", "restored on purpose", "--config", str(config))
        self.gateways = 0
        self.url = other.url("copy")
        again = self.gateway()
        self.assertTrue(self.call(Session(again), "after"))
        self.verified()


if __name__ == "__main__":
    unittest.main()
