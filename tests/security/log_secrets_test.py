#!/usr/bin/env python3
"""A server or a client sends a secret in text that the program writes to its own log (AU-84)."""
import http.server
import json
import sys
import threading
import unittest

from mcp_support import Client, McpTest
from serve_support import ServeTest, Session

TOKEN = "ghp_" + "a1B2" * 9
LINES = ["MIIEowIBAAKCAQEA7bq1Xo9mZ0PcVd5YtKf3sLw8Rj2hNg6UaQeTiyHuDxMzF4Wk",
         "q83Tn0Zs0Yw1u9KxE4v7gLw8Rj2hNg6UaQeTiyHuDxMzF4WkXo9mZ0PcVd5YtKf3", "c2hvcnQgbGluZQ=="]
KEY = ["-----BEGIN RSA PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED", "", *LINES, "-----END RSA PRIVATE KEY-----"]
SERVER = """
import json, sys, os
KEY = %r
TOKEN = %r
def say(message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def err(line): print(line, file=sys.stderr, flush=True)
for line in KEY: err(line)
for line in KEY: err("12:00:01 ERROR " + line)
err("starting with token " + TOKEN)
err("password: correct horse battery staple")
for line in sys.stdin:
    m = json.loads(line)
    id, method = m.get("id"), m.get("method")
    if method == "initialize":
        say({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                  "serverInfo": {"name": "s", "version": "1"}}})
        print("not json: " + TOKEN, flush=True)
        print('{"jsonrpc":"2.0","id":"' + TOKEN + '","result":{}}', flush=True)
        print("x" * 170 + " " + TOKEN, flush=True)
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [{"name": "t", "description": "t", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        for line in KEY[:3]: err(line)
        say({"id": id, "result": {"content": [{"type": "text", "text": "done"}]}})
        for line in KEY[3:]: err(line)
        err("all said")
    elif id is not None:
        say({"id": id, "error": {"code": -32601, "message": "no"}})
""" % (KEY, TOKEN)




class Planted:
    def expect_clean(self, log):
        self.assertIn("all said", log)
        self.assertIn("[REDACTED:secret]", log)
        for secret in (TOKEN, TOKEN[:20], "correct horse", *LINES):
            self.assertNotIn(secret, log)


class LogOfMcp(McpTest, Planted):
    # AU-84
    def test_what_a_server_says_on_standard_error_and_wrongly_is_redacted(self):
        client = self.client(sys.executable, "-c", SERVER)
        client.open()
        client.request("tools/call", {"name": "t", "arguments": {}})
        client.wait_for_error("all said")
        client.wait_for_error("the server sent")
        self.expect_clean("".join(client.errors))

    # AU-84
    def test_what_a_server_says_wrongly_over_http_is_redacted(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": {
                    "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}}
                body = f"data: not json: {TOKEN}\n\ndata: {json.dumps(answer)}\n\n".encode() if "id" in message else b""
                self.send_response(200 if body else 202)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.send_error(405)
            do_DELETE = do_GET

            def log_message(self, *_):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        client = Client(self, (), None, ("--name", "far", "--url", f"http://127.0.0.1:{server.server_port}/mcp"))
        self.addCleanup(self.end, client)
        client.open()
        said = client.wait_for_error("the server sent")
        self.assertIn("not json: [REDACTED:secret]", said)


class LogOfServe(ServeTest, Planted):
    # AU-84
    def test_what_a_server_says_on_standard_error_and_wrongly_is_redacted(self):
        server = self.serve("", (sys.executable, "-c", SERVER))
        session = Session(server)
        session.call("t")
        self.wait_until(lambda: any("all said" in line for line in list(server.errors)))
        self.expect_clean("".join(server.errors))

    def wait_until(self, condition):
        done = threading.Event()
        for _ in range(600):
            if condition():
                return
            done.wait(0.05)
        self.fail("it did not happen")


if __name__ == "__main__":
    unittest.main()
