#!/usr/bin/env python3
"""The tree over HTTP under the paths of tlog-tiles, read by a client written from the specification."""
import json
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "independent"))

import tlog_reader  # noqa: E402
from console_people_support import PEOPLE, TOKENS, digest  # noqa: E402
from serve_support import ServeTest, Session  # noqa: E402
from signed_note import Refused, VerifierKey  # noqa: E402

SECRET = "planted-51c2e8"


class RemoteLog(tlog_reader.Log):
    """The same reader, over HTTP."""

    def __init__(self, server, key):
        self.server = server
        super().__init__(".", key)

    def fetch(self, name):
        time.sleep(0.025)  # fifty requests a second are allowed
        status, headers, body = self.server.ask("GET", f"/api/v1/log/{name}", token=TOKENS["viewer"])
        if status != 200:
            raise Refused(f"{name}: {status}")
        expected = "text/plain" if name == "checkpoint" else "application/octet-stream"
        assert headers["content-type"].startswith(expected), headers
        return body


class TilesTest(ServeTest):
    def start(self):
        people = "\n".join(f'    - {{name: "{name}", token: "{digest(TOKENS[role])}", roles: [{role + ", viewer" * (role == "auditor")}]}}'
                           for role, name in PEOPLE.items())
        self.write("policy.yaml", f"version: 1\nautonomy: {{tier: act_auto}}\napprovals:\n  reviewers:\n{people}\n")
        return self.serve("policy: ./policy.yaml")

    # CO-66 (partly) LE-65
    def test_an_auditor_verifies_the_whole_log_over_http(self):
        self.make_ledger(140)
        server = self.start()
        Session(server).said("echo", {"message": SECRET})
        log = RemoteLog(server, VerifierKey(self.keys()[-1]))
        log.verify()
        self.assertGreater(log.size, 256)

    # CO-66 (partly) CO-50 (partly) LE-64: parts of an export, each up to a signed checkpoint, together form an export
    def test_parts_of_an_export_verify_together_and_only_auditors_get_the_content(self):
        self.make_ledger(40)
        server = self.start()
        Session(server).said("echo", {"message": SECRET})
        for role in ("viewer", "auditor"):
            whole, after = b"", None
            while True:
                time.sleep(0.025)
                query = "limit=40" + (f"&after={after}" if after is not None else "")
                status, _, part = server.ask("GET", f"/api/v1/log/export?{query}", token=TOKENS[role])
                self.assertEqual(status, 200, part)
                lines = [json.loads(line) for line in part.splitlines()]
                self.assertEqual(list(lines[-1]), ["checkpoint"])
                if len(lines) == 1:
                    break  # there is no entry after the end
                self.assertLess(len(lines), 60)
                whole += part
                after = lines[-2]["entry"]["sequence"]
            self.assertEqual(SECRET.encode() in whole, role == "auditor")
            said = self.good("ledger", "verify", self.write("export.jsonl", whole), "--key", self.keys()[-1], "--json").json()
            self.assertTrue(said["ok"])
            self.assertEqual(said["openings_missing"] == 0, role == "auditor")
        opened = [row for row in self.good("ledger", "show", "--kind", "control", "--json").lines() if "log/export" in json.dumps(row)]
        self.assertEqual(len(opened), 1)
        for wrong in ("limit=0", "limit=5001", "after=x", "after=-1"):
            self.assertEqual(server.ask("GET", f"/api/v1/log/export?{wrong}", token=TOKENS["viewer"])[0], 400, wrong)

    # CO-50 (partly)
    def test_bundles_hold_nothing_that_is_sealed_and_are_for_those_who_may_read(self):
        server = self.start()
        Session(server).said("echo", {"message": SECRET})
        size = int(server.ask("GET", "/api/v1/log/checkpoint", token=TOKENS["viewer"])[2].split(b"\n")[1])
        bundle = f"/api/v1/log/tile/entries/000.p/{size}"
        status, _, body = server.ask("GET", bundle, token=TOKENS["viewer"])
        self.assertEqual(status, 200)
        self.assertNotIn(SECRET.encode(), body)
        length = int.from_bytes(body[:2], "big")
        self.assertEqual(json.loads(body[2:2 + length])["sequence"], 0)
        self.assertEqual(server.ask("GET", bundle, token=TOKENS["approver"])[0], 403)
        self.assertEqual(server.ask("GET", bundle, token=False)[0], 401)
        for name in ("tile/0/0", "tile/0/000.p/0", "tile/0/000.p/256", f"tile/0/000.p/{size + 50}", "tile/00/000", "tile/0/x000/000",
                     "tile/9/000", "tile/0/999", "tile/entries", "tile/0/000.p/1/2", "tile/-1/000", "tile/0/" + "x001/" * 30 + "001"):
            self.assertEqual(server.ask("GET", f"/api/v1/log/{name}", token=TOKENS["viewer"])[0], 404, name)
            time.sleep(0.02)


if __name__ == "__main__":
    unittest.main()
