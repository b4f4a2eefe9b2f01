#!/usr/bin/env python3
"""The configuration of `sallyport serve`: variables, its schema, missing programs."""
import json
import sys
import time
import unittest

from mcp_support import FAKE, PATIENCE
from serve_support import Server, ServeTest, Session

try:
    import jsonschema
except ImportError:
    jsonschema = None

CONFIG = """version: 1
data_dir: data
serve:
  listen: 127.0.0.1:0
  upstreams:
    - name: fake
      command: ["{python}", "${{PROGRAM}}", "$${{NOT}} $ {{}}"]
"""


class Configuration(ServeTest):
    def variables(self, **env):
        config = self.write("serve.yaml", CONFIG.format(python=sys.executable))
        server = Server(self, config, self.environment(**env))
        self.addCleanup(self.end_server, server)
        return server

    def test_variables_are_put_into_texts(self):
        server = self.variables(PROGRAM=str(FAKE))
        self.assertEqual(Session(server).said("echo", {"message": "on"}), "on")

    def test_one_that_is_not_set_is_named_with_its_key_and_place(self):
        config = self.write("serve.yaml", CONFIG.format(python=sys.executable))
        for env in ({}, {"PROGRAM": ""}):
            done = self.run_bare("serve", "--config", config, env=self.environment(**env))
            self.assertEqual(done.code, 64)
            self.assertIn("serve.yaml:7:", done.err)
            self.assertIn("`command`: the variable `PROGRAM` is not set", done.err)
        # A command that only reads the ledger needs none of the server's requirements.
        self.make_ledger()
        self.assertEqual(self.run_bare("ledger", "stats", "--config", config).code, 0)
        bad = self.write("bad.yaml", "version: 1\ndata_dir: ${NO SUCH}\n")
        done = self.run_bare("ledger", "stats", "--config", bad)
        self.assertEqual(done.code, 64)
        self.assertIn("bad.yaml:2:11", done.err)
        self.assertIn("`data_dir`: a variable is written `${NAME}`", done.err)

    def test_what_a_variable_holds_is_text_and_nothing_else(self):
        config = self.write("serve.yaml", "version: 1\nserve:\n  sessions: ${N}\n  upstreams: [{name: a, command: [b]}]\n")
        done = self.run_bare("serve", "--config", config, env=self.environment(N="5"))
        self.assertEqual(done.code, 64)
        config = self.write("serve.yaml", "version: 1\nserve:\n  upstreams: ${LIST}\n")
        done = self.run_bare("serve", "--config", config, env=self.environment(LIST="[{name: a, command: [b]}]"))
        self.assertEqual(done.code, 64)

    def test_the_schema_agrees_with_the_reader(self):
        schema = self.good("policy", "schema", "config", "--json").json()
        self.assertEqual(schema["title"], "Sallyport configuration")
        upstream = {"name": "a", "command": ["/bin/true"]}
        good = [{"version": 1}, {"version": 1, "serve": {}}, {"version": 1, "serve": {"upstreams": []}}, {"version": 1, "serve": {"upstreams": [upstream]}, "ledger": {"retention": {"event": "90d"}}},
                {"version": 1, "serve": {"upstreams": [{"name": "a", "command": ["/bin/true", 8080, True]}]}},
                {"version": 1, "serve": {"upstreams": [{"name": "a", "url": "https://example.com", "era": "modern"}], "sessions": 3, "idle": "5m"}},
                {"version": 1, "serve": {"tls": "off"}}, {"version": 1, "serve": {"tls": {"cert_file": "a", "key_file": "b"}}},
                {"version": 1, "serve": {"upstreams": [upstream], "authorization": {"scopes": ["a"], "issuers": [{"name": "a", "issuer": "https://a", "agents": [{"claim": "c", "name": "n"}]}]}}}]
        bad = [{}, {"version": 2}, {"version": 1, "serve": {"tls": "on"}}, {"version": 1, "serve": {"tls": {"cert_file": "a"}}}, {"version": 1, "serv": {}}, {"version": 1, "serve": {"upstreams": {}}}, {"version": 1, "serve": {"upstreams": [{"nam": "a"}]}},
               {"version": 1, "serve": {"upstreams": [upstream], "sessions": 0}}, {"version": 1, "serve": {"idle": "0m"}}, {"version": 1, "ledger": {"retention": {"event": "soon"}}},
               {"version": 1, "serve": {"upstreams": [upstream], "metrics_token_sha256": "x"}},
               {"version": 1, "serve": {"upstreams": [upstream], "authorization": {"issuers": [{"name": "a"}]}}},
               {"version": 1, "serve": {"upstreams": [upstream], "authorization": {"issuer": "https://a"}}}]
        for documents, valid in ((good, True), (bad, False)):
            for document in documents:
                file = self.write("config.json", json.dumps(document))
                self.assertEqual(self.run_bare("doctor", "--config", file, "--json").json()["checks"][0]["state"] != "fail", valid, document)
                if jsonschema is not None:
                    jsonschema.Draft202012Validator.check_schema(schema)
                    self.assertEqual(jsonschema.Draft202012Validator(schema).is_valid(document), valid, document)

    def test_programs_that_are_not_there_are_told_and_harm_no_other(self):
        config = self.write("serve.yaml", json.dumps({"version": 1, "data_dir": "data", "serve": {"listen": "127.0.0.1:0", "upstreams": [
            {"name": "fake", "command": [sys.executable, str(FAKE)]}, {"name": "gone", "command": ["no-such-program"]},
            {"name": "there", "command": ["./late"]}]}}))
        server = Server(self, config)
        self.addCleanup(self.end_server, server)
        said = json.loads(server.ask("GET", "/readyz", token=False)[2])
        self.assertEqual(said, {"ready": True, "missing": {"gone": "there is no program `no-such-program` in PATH",
                                                          "there": "`./late` is not a program that can be started"}})
        warning = "warning: the upstream `gone` cannot be started: there is no program `no-such-program` in PATH"
        end = time.monotonic() + PATIENCE
        while not any(warning in line for line in list(server.errors)):
            self.assertLess(time.monotonic(), end, server.errors)
            time.sleep(0.02)
        self.assertEqual(Session(server).said("fake.echo", {"message": "on"}), "on")
        late = self.write("late", f"#!/bin/sh\nexec {sys.executable} {FAKE}\n")
        late.chmod(0o755)
        self.assertEqual(list(json.loads(server.ask("GET", "/readyz", token=False)[2])["missing"]), ["gone"])
        self.assertEqual(Session(server).said("there.echo", {"message": "late"}), "late")


if __name__ == "__main__":
    unittest.main()
