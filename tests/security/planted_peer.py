#!/usr/bin/env python3
"""A tool server of either era that plants a secret in every member of every message, known or not.

On standard streams it is a program (`planted_peer.py legacy|modern`); over HTTP it runs in a thread of the test.
"""
import base64
import itertools
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

META = "io.modelcontextprotocol/"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
MARK = re.compile(r"AKIA[0-9A-Z]{16}")
COUNT = itertools.count(1)


def mark():
    """Returns a new secret for each place, so that a leaked secret shows its place."""
    return f"AKIA{next(COUNT):016d}"


def planted(value, deep=True):
    """Adds an unknown member and `_meta` to every object, and replaces every `MARK` in a text by a secret."""
    if isinstance(value, str):
        return re.sub("MARK", lambda _: mark(), value)
    if isinstance(value, list):
        return [planted(one) for one in value]
    if not isinstance(value, dict):
        return value
    changed = {name: planted(one, name != "_meta") for name, one in value.items()}
    if deep:
        changed["x-planted"] = {"deep": [mark()], mark(): 1}
        changed["_meta"] = {**changed.get("_meta", {}), "note": mark(), "more": {"k": mark()}}
    return changed


def split(secret):
    """Returns one secret across three text blocks, with an image and an empty block between."""
    return [{"type": "text", "text": "begin " + secret[:9]}, {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            {"type": "text", "text": ""}, {"type": "text", "text": secret[9:] + " end"}]


def encoded(text):
    return base64.b64encode(text.encode()).decode()


TOOLS = [{"name": name, "title": "title MARK", "description": "about MARK", "icons": [{"src": "data:MARK"}],
          "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "description": "MARK"}}},
          "annotations": {"title": "MARK"}} for name in "text parts error bad_error fails tell ask array odd".split()]
RESULTS = {
    "tools/list": {"tools": TOOLS},
    "resources/list": {"resources": [{"uri": "file:///a", "name": "a", "description": "MARK"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "t", "description": "MARK"}]},
    "resources/read": {"contents": [{"uri": "file:///a", "text": "MARK"}, {"uri": "file:///b", "mimeType": "text/plain", "blob": "BLOB"},
                                    {"uri": "file:///c", "mimeType": "text/plain", "text": "BLOB"}]},
    "prompts/list": {"prompts": [{"name": "p", "description": "MARK", "arguments": [{"name": "x", "description": "MARK"}]}]},
    "prompts/get": {"description": "MARK", "messages": [{"role": "user", "content": {"type": "text", "text": "MARK"}}]},
    "completion/complete": {"completion": {"values": ["MARK"], "hasMore": False}},
    "logging/setLevel": {}, "resources/subscribe": {}, "resources/unsubscribe": {}, "x/allowed": {"said": "MARK"},
}
QUESTIONS = [
    ("sampling/createMessage", {"messages": [{"role": "user", "content": {"type": "text", "text": "MARK"}}], "maxTokens": 5, "systemPrompt": "MARK"}),
    ("elicitation/create", {"mode": "form", "message": "MARK", "requestedSchema": {"type": "object", "properties": {"city": {"type": "string", "title": "MARK"}}}}),
    ("elicitation/create", {"mode": "url", "message": "MARK", "elicitationId": "e1", "url": "https://example.com/MARK"}),
    ("roots/list", {}),
]
CAPABILITIES = {"tools": {"listChanged": True}, "resources": {"subscribe": True, "listChanged": True}, "prompts": {}, "completions": {}, "logging": {}}


def with_blobs(value):
    if isinstance(value, list):
        return [with_blobs(one) for one in value]
    if isinstance(value, dict):
        return {name: with_blobs(one) for name, one in value.items()}
    return encoded(f"a file with {mark()} in it, and more text behind") if value == "BLOB" else value


class Peer:
    """Returns the server's messages in reply to one message; the answer is the last."""

    def __init__(self, era):
        self.era = era
        self.asked = {}
        self.heard = []
        self.tools = planted(RESULTS["tools/list"])  # equal in every list, because tools are pinned

    def result(self, id, result):
        if self.era == MODERN:
            result = {"resultType": "complete", **result}
        return {"jsonrpc": "2.0", "id": id, "result": with_blobs(planted(result)), "extra": mark(), "x": {"y": [mark()]}}

    def notification(self, method, params):
        return {"jsonrpc": "2.0", "method": method, "params": planted(params), "extra": mark()}

    def call(self, id, params):
        name, token = params["name"], params.get("_meta", {}).get("progressToken")
        if name == "text":
            return [self.result(id, {"content": [{"type": "text", "text": "MARK", "annotations": {"audience": ["MARK"]}}], "structuredContent": {"k": "MARK"}})]
        if name == "parts":
            return [self.result(id, {"content": [*split(mark()), {"type": "resource_link", "uri": "file:///MARK", "name": "n"},
                                                 {"type": "resource", "resource": {"uri": "file:///b", "mimeType": "text/markdown", "blob": "BLOB"}},
                                                 {"type": "resource", "resource": {"uri": "file:///c", "mimeType": "text/plain", "text": "BLOB"}}]})]
        if name == "error":
            return [{"jsonrpc": "2.0", "id": id, "error": planted({"code": -32050, "message": "MARK", "data": {"k": "MARK"}}), "extra": mark()}]
        if name == "bad_error":
            return [{"jsonrpc": "2.0", "id": id, "error": planted({"code": "MARK", "message": {"k": "MARK"}, "hint": "MARK"})}]
        if name == "fails":
            return [self.result(id, {"isError": True, "content": [{"type": "text", "text": "MARK"}]})]
        if name == "tell":
            told = [self.notification("notifications/message", {"level": "error", "logger": "MARK", "data": {"k": "MARK"}}),
                    self.notification("notifications/tools/list_changed", {}),
                    self.notification("notifications/resources/list_changed", {}),
                    self.notification("notifications/resources/updated", {"uri": "file:///a", "title": "MARK"}),
                    self.notification("notifications/x-unknown", {"k": "MARK"}),
                    {"jsonrpc": "2.0", "method": "notifications/message", "params": [mark()]},
                    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": mark()}]
            if token is not None:
                told.append(self.notification("notifications/progress", {"progressToken": token, "progress": 1, "message": "MARK"}))
            return [*told, self.result(id, {"content": []})]
        if name == "ask" and self.era == LEGACY:
            asked = []
            for method, asks in QUESTIONS:
                key = f"q{len(self.asked) + 1}"
                self.asked[key] = id
                asked.append({"jsonrpc": "2.0", "id": key, "method": method, "params": planted(asks), "extra": mark()})
            key = f"q{len(self.asked) + 1}"
            return [*asked, {"jsonrpc": "2.0", "id": key, "method": "x/unknown", "params": {"k": mark()}},
                    {"jsonrpc": "2.0", "id": "cancelled", "method": "roots/list"},
                    self.notification("notifications/cancelled", {"requestId": "cancelled", "reason": "MARK"})]
        if name == "ask":
            if "inputResponses" in params:
                return [self.result(id, {"content": [{"type": "text", "text": "done"}]})]
            asks = {f"k{i}": {"method": method, "params": planted(asks)} for i, (method, asks) in enumerate(QUESTIONS)}
            return [self.result(id, {"resultType": "input_required", "inputRequests": asks, "requestState": "s"})]
        if name == "array":
            return [{"jsonrpc": "2.0", "id": id, "result": [mark()], "params": [mark()]}]
        return [{"jsonrpc": "2.0", "id": id, "result": planted({"content": []}), "error2": mark(), "method2": mark()}]

    def hear(self, message):
        self.heard.append(message)
        method, id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method is None:
            call = self.asked.pop(id, None)
            waits = call is not None and call not in self.asked.values()
            return [self.result(call, {"content": [{"type": "text", "text": "asked"}]})] if waits else []
        if id is None:
            return []
        if method == "initialize" and self.era == LEGACY:
            return [self.result(id, {"protocolVersion": LEGACY, "capabilities": CAPABILITIES, "serverInfo": {"name": "planted", "version": "1", "title": "MARK"},
                                     "instructions": "do MARK"})]
        if method == "server/discover" and self.era == MODERN:
            return [self.result(id, {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, "instructions": "do MARK"})]
        if method == "tools/call":
            return self.call(id, params)
        if method == "tools/list":
            return [{"jsonrpc": "2.0", "id": id, "result": {**({"resultType": "complete"} if self.era == MODERN else {}), **self.tools}, "extra": mark()}]
        if method in RESULTS:
            return [self.result(id, RESULTS[method])]
        return [{"jsonrpc": "2.0", "id": id, "error": planted({"code": -32601, "message": "MARK", "data": "MARK"}), "extra": mark()}]


class HttpPeer:
    """The same over HTTP: one message is a JSON object, several are a stream; `streams` makes every answer a stream."""

    def __init__(self, era, streams):
        self.peer = peer = Peer(era)
        self.lock = lock = threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60
            waiting = {}

            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(405, b"")

            do_DELETE = do_GET

            def reply(self, status, body, type="application/json"):
                self.send_response(status)
                self.send_header("Content-Type", type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with lock:
                    said = peer.hear(message)
                if "method" not in message or "id" not in message:
                    for late in said:  # the answer to a call that asked the client
                        self.waiting[late["id"]].put(late)
                    return self.reply(202, b"")
                if len(said) == 1 and not streams:
                    return self.reply(200, json.dumps(said[0]).encode())
                import queue
                rest = self.waiting.setdefault(message["id"], queue.Queue())
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for one in said:
                    self.event(one)
                if not any(one.get("id") == message["id"] and "method" not in one for one in said):
                    self.event(rest.get(timeout=60))
                self.wfile.write(b"0\r\n\r\n")

            def event(self, message):
                data = f"event: message\ndata: {json.dumps(message)}\n\n".encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/mcp"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def main():
    peer = Peer(LEGACY if sys.argv[1] == "legacy" else MODERN)
    for line in sys.stdin:
        for message in peer.hear(json.loads(line)):
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
