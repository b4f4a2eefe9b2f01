#!/usr/bin/env python3
"""Handwritten tool servers over HTTP of both eras, with a tool for each kind of bad behaviour.

They run in threads of the test, so that it sees every request and can stop a server in the middle of an answer.
"""
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
NAMES = ("echo slow die garbage wrong_id twice stall huge broken_json half_stream error secret progress ask_sampling not_http flood "
         "empty forget resumed gone_body query").split()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    # Output of the server.

    def plain(self, status, body=b"", type="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if body:
            self.send_header("Content-Type", type)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def message(self, message, status=200, **headers):
        self.plain(status, json.dumps({"jsonrpc": "2.0", **message}).encode(), **headers)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, message, id=None):
        name = f"id: {id}\n" if id is not None else ""
        self.chunk(f"{name}event: message\ndata: {json.dumps({'jsonrpc': '2.0', **message})}\n\n")

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def cut(self):
        """Closes the connection in the middle of a message."""
        self.close_connection = True
        self.connection.close()

    def text(self, id, said, **more):
        return {"id": id, "result": {**self.server.extra, "content": [{"type": "text", "text": said}], **more}}

    # Input of the server.

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = json.loads(body)
        self.server.note(self, message)
        if self.server.token and self.headers.get("Authorization") != f"Bearer {self.server.token}":
            return self.plain(401, b"no")
        if self.server.redirect and self.path != "/moved":
            return self.plain(307, Location=self.server.redirect)
        self.hear(message)

    def call(self, id, params):
        name, arguments = params["name"], params.get("arguments", {})
        answer = lambda said, **more: self.message(self.text(id, said, **more))
        if name == "echo":
            answer(arguments.get("message", ""))
        elif name == "slow":
            time.sleep(arguments.get("seconds", 0.2))
            answer("slept")
        elif name == "die":
            self.cut()
        elif name == "gone_body":
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "1000")
            self.end_headers()
            self.wfile.write(b'{"jsonrpc":"2.0","id":%d,"resu' % id)
            self.wfile.flush()
            self.cut()
        elif name == "garbage":
            self.begin_stream()
            self.chunk("data: Starting up... {not json\n\n: a comment\n\nevent: message\ndata: [1,2\n\nnonsense\n\n")
            self.event(self.text(id, "after the garbage"))
            self.end_stream()
        elif name == "wrong_id":
            self.begin_stream()
            self.event(self.text(id + 1, "to another one"))
            self.event(self.text("no such id", "to nobody"))
            self.event(self.text(id, "the right one"))
            self.end_stream()
        elif name == "twice":
            self.begin_stream()
            self.event(self.text(id, "first"))
            self.event(self.text(id, "second"))
            self.end_stream()
        elif name == "stall":
            self.begin_stream()
            try:
                while not self.server.stopping:
                    self.chunk(": still here\n\n")
                    time.sleep(0.05)
            except OSError:
                self.server.closed.append(name)
                self.cut()
        elif name == "huge":
            answer("x" * arguments["bytes"])
        elif name == "broken_json":
            self.plain(200, b'{"jsonrpc":"2.0","id":%d,"result":{"content":[],"content":[]}}' % id)
        elif name == "half_stream":
            self.begin_stream()
            self.chunk('data: {"jsonrpc":"2.0",')
            self.cut()
        elif name == "not_http":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
            self.wfile.flush()
            self.cut()
        elif name == "empty":
            self.plain(202)
        elif name == "error":
            self.message({"id": id, "error": {"code": -32050, "message": "no such row"}})
        elif name == "secret":
            answer("key AKIAIOSFODNN7EXAMPLE ends")
        elif name == "query":
            answer(json.dumps({k.lower(): v for k, v in self.headers.items() if k.lower().startswith("mcp-")}, sort_keys=True))
        elif name == "flood":
            self.begin_stream()
            for i in range(arguments["count"]):
                self.event({"method": "notifications/message", "params": {"level": "info", "data": f"flood {i}"}})
            self.event(self.text(id, "flooded"))
            self.end_stream()
        elif name == "progress":
            self.begin_stream()
            for i in range(3):
                self.event({"method": "notifications/progress", "params": {"progressToken": params["_meta"]["progressToken"], "progress": i,
                                                                           "message": f"AKIAIOSFODNN7EXAMPLE {i}"}})
            self.event(self.text(id, "progressed"))
            self.end_stream()
        else:
            return False
        return True


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    handler = Handler

    def __init__(self, token=None, port=0):
        super().__init__(("127.0.0.1", port), self.handler)
        self.token, self.redirect, self.stopping, self.extra = token, None, False, {}
        self.requests, self.closed, self.deleted = [], [], []
        self.sessions, self.asked, self.streams, self.connections = {}, {}, [], []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def note(self, handler, message):
        self.requests.append((dict((k.lower(), v) for k, v in handler.headers.items()), message))

    def handle_error(self, *_):
        pass

    def process_request(self, request, address):
        self.connections.append(request)
        super().process_request(request, address)

    def stop(self):
        self.stopping = True
        self.shutdown()
        self.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class LegacyHandler(Handler):
    def hear(self, message):
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        session = self.headers.get("Mcp-Session-Id")
        if method == "initialize":
            session = f"session-{len(self.server.requests)}"
            self.server.sessions[session] = params
            return self.message({"id": id, "result": {
                "protocolVersion": "2025-06-18", "serverInfo": {"name": "remote", "version": "1"},
                "capabilities": {"tools": {"listChanged": True}, "logging": {}}}}, Mcp_Session_Id=session)
        if session is None:
            return self.message({"id": None, "error": {"code": -32000, "message": "Bad Request: no session"}}, 400)
        if session not in self.server.sessions:
            return self.plain(404, b"Session not found", "text/plain")
        if self.headers.get("MCP-Protocol-Version") != "2025-06-18":
            return self.plain(400, b"wrong version")
        if id is None or method is None:
            if method is None:
                self.server.asked.pop(id).append(message)
            return self.plain(202)
        if method == "tools/list":
            return self.message({"id": id, "result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]}})
        if method != "tools/call":
            return self.message({"id": id, "error": {"code": -32601, "message": "Method not found"}})
        if not self.call(id, params):
            self.session_call(id, params["name"], session)

    def session_call(self, id, name, session):
        if name == "ask_sampling":
            self.begin_stream()
            answers = self.server.asked["q1"] = []
            self.event({"id": "q1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 5}})
            while not answers:
                time.sleep(0.01)
            self.event(self.text(id, json.dumps(answers[0]["result"])))
            self.end_stream()
        elif name == "forget":
            self.server.sessions.clear()
            self.message(self.text(id, "forgotten"))
        elif name == "resumed":
            self.begin_stream()
            self.chunk(f"id: stream-{id}\nretry: 10\ndata:\n\n")
            self.end_stream()
        else:
            self.message({"id": id, "error": {"code": -32602, "message": f"unknown tool {name}"}})

    def do_GET(self):
        self.server.note(self, {"method": "GET"})
        if self.headers.get("Mcp-Session-Id") not in self.server.sessions:
            return self.plain(404)
        last = self.headers.get("Last-Event-ID", "")
        self.begin_stream()
        if last.startswith("stream-"):
            self.event(self.text(int(last[7:]), "gone on"), id="after")
            return self.end_stream()
        self.server.streams.append(self)
        while not self.server.stopping and not self.close_connection:
            time.sleep(0.05)

    def do_DELETE(self):
        self.server.deleted.append(self.headers.get("Mcp-Session-Id"))
        self.plain(204)


class LegacyServer(Server):
    handler = LegacyHandler


class ModernHandler(Handler):
    def hear(self, message):
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        meta = params.get("_meta", {})
        wrong = [name for name, wanted in (("MCP-Protocol-Version", meta.get(META + "protocolVersion", VERSION)), ("Mcp-Method", method))
                 if self.headers.get(name) != wanted]
        if method in ("tools/call",) and self.headers.get("Mcp-Name") != params.get("name"):
            wrong.append("Mcp-Name")
        if wrong or "mcp-session-id" in (name.lower() for name in self.headers):
            return self.message({"id": id, "error": {"code": -32020, "message": f"headers: {wrong}"}}, 400)
        if META + "clientCapabilities" not in meta:
            return self.message({"id": id, "error": {"code": -32602, "message": "`_meta` is not as it must be"}}, 400)
        complete = {"resultType": "complete"}
        if method == "server/discover":
            self.message({"id": id, "result": {**complete, "supportedVersions": [VERSION], "capabilities": {"tools": {"listChanged": True}},
                                               "ttlMs": 0, "cacheScope": "private"}})
        elif method == "tools/list":
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in NAMES]
            tools[-1]["inputSchema"]["properties"] = {
                "tenant": {"type": "string", "x-mcp-header": "Tenant"},
                "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}}}
            tools.append({"name": "unusable", "inputSchema": {"type": "object", "properties": {
                "list": {"type": "array", "items": {"type": "string", "x-mcp-header": "Bad"}}}}})
            self.message({"id": id, "result": {**complete, "tools": tools, "ttlMs": 0, "cacheScope": "private"}})
        elif method == "tools/call":
            self.server.extra = complete
            if not self.call(id, params):
                self.message({"id": id, "error": {"code": -32602, "message": "unknown tool"}})
        elif method == "subscriptions/listen":
            tag = {META + "subscriptionId": id}
            self.begin_stream()
            self.event({"method": "notifications/subscriptions/acknowledged", "params": {"_meta": tag, "notifications": params["notifications"]}})
            self.server.streams.append((self, tag))
            while not self.server.stopping and not self.close_connection:
                time.sleep(0.05)
        else:
            self.message({"id": id, "error": {"code": -32601, "message": "Method not found"}}, 404)

    def do_GET(self):
        self.server.note(self, {"method": "GET"})
        self.plain(405)

    do_DELETE = do_GET


class ModernServer(Server):
    handler = ModernHandler


class OldHandler(Handler):
    """2024-11-05: a stream whose first event names the address for messages; every answer comes on it."""

    def do_GET(self):
        if not self.path.startswith("/mcp"):
            return self.plain(404)
        self.begin_stream()
        self.server.streams.append(self)
        while self.server.endpoint is None and not self.server.stopping:
            self.chunk(": nothing yet\n\n")
            time.sleep(0.5)
        self.chunk(f"event: endpoint\ndata: {self.server.endpoint}?session={len(self.server.streams)}\n\n")
        while not self.server.stopping and not self.close_connection:
            time.sleep(0.05)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        self.server.note(self, message)
        if not self.path.startswith("/messages"):
            return self.plain(405)
        stream = self.server.streams[int(self.path.split("=")[1]) - 1]
        self.plain(202, b"Accepted", "text/plain")
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "initialize":
            stream.event({"id": id, "result": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
                                               "serverInfo": {"name": "old", "version": "1"}}})
        elif method == "tools/list":
            stream.event({"id": id, "result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "ask", "cut")]}})
        elif method == "tools/call" and params["name"] == "cut":
            stream.cut()
        elif method == "tools/call" and params["name"] == "ask":
            self.server.asked["q"] = id
            stream.event({"id": "q", "method": "roots/list"})
        elif method == "tools/call":
            stream.chunk("event: message\ndata: half a {\n\n")
            stream.event(self.text(id, params["arguments"].get("message", "")))
        elif id == "q":
            stream.event(self.text(self.server.asked.pop("q"), json.dumps(message["result"])))


class OldServer(Server):
    handler = OldHandler
    endpoint = "/messages"
