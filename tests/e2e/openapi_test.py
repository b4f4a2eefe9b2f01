#!/usr/bin/env python3
"""The OpenAPI document of a gate, checked by third-party programs: a linter finds nothing, and the routes' responses match it."""
import json
import pathlib
import subprocess
import unittest

from console_api_support import ApiTest, ROOT, TOKENS
import npm_peers
from serve_support import events

CHECK = pathlib.Path(__file__).with_name("openapi_check.mjs")
LINTER = npm_peers.Peers("redocly", {"@redocly/cli": "2.73.0"})
SCHEMAS = npm_peers.Peers("ajv", {"ajv": "8.20.0"})


class OpenApi(ApiTest):
    # CO-65 (partly)
    def test_a_linter_finds_nothing(self):
        LINTER.need()
        self.start()
        file = self.write("openapi.json", json.dumps(self.get("openapi.json", role=False)))
        done = subprocess.run([npm_peers.node(22), LINTER.modules / "@redocly/cli/bin/cli.js", "lint", "--format=json", "--extends=recommended", file],
                              capture_output=True, text=True, cwd=self.folder, timeout=120,
                              env={**self.environment(), "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"})
        found = json.loads(done.stdout[done.stdout.index("{"):])
        self.assertEqual([(one["ruleId"], one["message"], one["location"][0]["pointer"]) for one in found["problems"]], [])

    # CO-65, with what console_api_support.py compares of every test, CO-66 (partly)
    def test_answers_fit_what_the_document_says_of_them(self):
        SCHEMAS.need()
        session = self.start()
        session.said("write_file", {"path": "a.txt", "text": "hi"})
        document = self.get("openapi.json", role=False)
        call, agent = self.get("calls")["items"][0]["call_id"], self.get("agents")["items"][0]["agent"]
        policy = self.get("policies")["items"][0]["hash"]
        pin = self.get("pins")["items"]
        samples = []
        for path, item in document["paths"].items():
            if "get" not in item or path in ("/stream", "/approvals/stream", "/session", "/sessions"):
                continue
            where = (path[1:].replace("{seq}", "3").replace("{size}", "2").replace("{hash}", policy)
                     .replace("{id}", agent if "agents" in path else call if "calls" in path else "none"))
            if pin:
                where = where.replace("{server}", pin[0]["server"]).replace("{tool}", pin[0]["tool"])
            where = where.replace("{name}", "policy") + {"/facets": "?field=tool", "/log/proof": "?from=1&to=3"}.get(path, "")
            for role in ("auditor", "viewer", False):
                status, got, said = self.api("GET", where, role=role)
                samples.append({"method": "get", "path": path, "status": status, "body": said if "json" in got["content-type"] else None})
        for path, body in (("explain", {"call": {"tool": "write_file", "server": "fake", "input": {}}}), ("explain", {})):
            status, _, said = self.api("POST", path, body)
            samples.append({"method": "post", "path": "/" + path, "status": status, "body": said})
        for path, body in (("policies/check", {"text": "version: 1\n"}), ("policies/check", {}), ("policies/test", {"text": "version: 1\n", "cases": "[]"})):
            status, _, said = self.api("POST", path, body, role="controller")
            samples.append({"method": "post", "path": "/" + path, "status": status, "body": said})
        good = {sample["path"] for sample in samples if sample["status"] == 200}
        for path in ("/calls/{id}", "/calls/{id}/explain", "/calls/{id}/receipts", "/agents/{id}", "/agents/{id}/trust", "/policies/{hash}", "/stats", "/facets",
                     "/entries/{seq}/openings", "/log/proof", "/explain", "/policies/check"):
            self.assertIn(path, good)
        done = subprocess.run([npm_peers.node(20), CHECK, SCHEMAS.folder], input=json.dumps({"document": document, "samples": samples}), capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), [])


class LongResults(ApiTest):
    # CO-44
    def test_a_result_of_ten_mebibytes_delays_neither_list_nor_rows(self):
        session = self.start()
        stream = self.server.open("GET", ROOT + "stream?topics=calls", headers={"Content-Type": None}, token=TOKENS["viewer"])
        heard = events(stream)
        command = ["sh", "-c", "head -c 10485760 /dev/zero | tr '\\0' x >&2"]
        self.assertGreater(len(session.said("shell", {"command": command})), 10 << 20)
        session.said("write_file", {"path": "x" * 5000, "text": "y" * 50000})
        rows = self.get("calls", role="auditor")["items"]
        self.assertEqual(len(rows), 2)
        for row in rows:
            self.assertLessEqual(len(((row["what"] or "") + (row["why"] or "")).encode()), 200)
        self.assertLess(len(json.dumps(rows)), 2000)
        frames = [next(frame for frame in heard if frame["event"] == "calls") for _ in rows]
        self.assertLess(max(len(frame["data"]) for frame in frames), 1000)
        stream.close()


if __name__ == "__main__":
    unittest.main()
