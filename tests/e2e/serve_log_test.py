#!/usr/bin/env python3
"""`sallyport serve --log json`: every line of the log is one JSON object."""
import datetime
import json
import subprocess
import sys
import time
import unittest

from cli_support import BIN
from mcp_support import FAKE, PATIENCE
from serve_support import Server, ServeTest, Session

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"


class JsonLog(ServeTest):
    def start(self, config):
        """Like `Server`, with the log as JSON."""
        script = self.write("logged", f'#!/bin/sh\nexec "{BIN}" "$@" --log json\n')
        script.chmod(0o755)
        server = Server(self, config, program=script)
        self.addCleanup(self.end_server, server)
        return server

    def await_line(self, server, text):
        end = time.monotonic() + PATIENCE
        while True:
            lines = [json.loads(line) for line in list(server.errors)]
            found = [line for line in lines if text in line["message"]]
            if found:
                return found[0]
            self.assertLess(time.monotonic(), end, server.errors)
            time.sleep(0.02)

    def test_each_line_is_an_object_with_time_level_and_message(self):
        talks = self.write("talks.py", f"import sys, runpy\nsys.stderr.write('hello \\u202e {SECRET}\\n')\nsys.stderr.flush()\n"
                                       f"sys.argv[0] = {str(FAKE)!r}\nrunpy.run_path({str(FAKE)!r}, run_name='__main__')\n")
        config = self.write("serve.yaml", json.dumps({"version": 1, "data_dir": "data", "serve": {"listen": "127.0.0.1:0", "upstreams": [
            {"name": "fake", "command": [sys.executable, str(talks)]}, {"name": "gone", "command": ["no-such-program"]}]}}))
        server = self.start(config)
        before = datetime.datetime.now(datetime.timezone.utc)
        started = self.await_line(server, "are served at http://127.0.0.1:")
        self.assertEqual(started["level"], "info")
        when = datetime.datetime.fromisoformat(started["time"].replace("Z", "+00:00"))
        self.assertLess(abs((when - before).total_seconds()), 60)
        warned = self.await_line(server, "the upstream `gone` cannot be started")
        self.assertEqual(warned["level"], "warning")
        self.assertTrue(warned["message"].startswith("the upstream"), warned)
        self.assertEqual(Session(server).said("fake.echo", {"message": "on"}), "on")
        said = self.await_line(server, "hello")
        self.assertEqual(said["server"], "fake")
        self.assertIn("\\u{202E}", said["message"])
        self.assertNotIn(SECRET, json.dumps(said))
        self.assertEqual(server.stop(), 0)
        for line in server.errors:
            self.assertLessEqual({"time", "level", "message"}, set(json.loads(line)), line)

    def test_an_error_that_ends_it_is_such_a_line_too(self):
        config = self.write("serve.yaml", "version: 1\nserve: {listen: nowhere}\n")
        done = subprocess.run([str(BIN), "serve", "--config", str(config), "--log", "json"], stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=self.environment(), cwd=self.folder, timeout=PATIENCE)
        self.assertEqual(done.returncode, 64)
        line = json.loads(done.stderr)
        self.assertEqual(line["level"], "error")
        self.assertTrue(line["message"].startswith("`listen` must be an address and a port, not `nowhere`"), line)

    def test_another_form_is_refused(self):
        done = self.run_bare("serve", "--log", "xml")
        self.assertEqual(done.code, 64)


if __name__ == "__main__":
    unittest.main()
