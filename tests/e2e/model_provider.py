"""A model provider that plays a test's script and records its requests.

It listens on the loopback address, keeps connections open, and answers with a `Reply` (bytes and faults, unchanged) or with an
`Answer` (see model_answers.py), in the form that the path and `stream` of the request require.
"""
import json
import select
import socket
import struct
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from model_answers import CHAT, MESSAGES, PATHS, RESPONSES, Answer, say

STREAM, JSON = "text/event-stream; charset=utf-8", "application/json"
PATIENCE = 60

# Steps of a reply beside bytes and `wait`.
RESET = "reset"  # the connection breaks
CLOSE = "close"  # the connection ends, without the end of the body
STALL = "stall"  # nothing more is sent until the client disconnects


def wait(seconds):
    return ("wait", seconds)


class Reply:
    """A status, headers and the steps that write the body. `framing` is `chunked` (each step is a chunk), `length` or `close`;
    `before` is a fault in place of the head."""

    def __init__(self, *steps, status=200, headers=(), type=JSON, framing="chunked", before=None):
        self.steps, self.status, self.headers, self.type = steps, status, list(headers), type
        self.framing, self.before = framing, before

    @classmethod
    def cut(cls, body, cuts, **more):
        """Makes one body in pieces that end at these offsets."""
        places = [0, *sorted(set(cuts) - {0, len(body)}), len(body)]
        return cls(*(body[start:end] for start, end in zip(places, places[1:])), **{"type": STREAM, **more})

    @classmethod
    def error(cls, status, body, headers=(), **more):
        return cls(body if isinstance(body, bytes) else json.dumps(body).encode(), status=status, headers=headers, framing="length", **more)


class Request:
    """A request at the provider. `gone` is set if the client disconnects before the reply is whole."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        self.at, self.gone_at = time.monotonic(), None
        self.gone, self.begun, self.done = threading.Event(), threading.Event(), threading.Event()

    @property
    def path(self):
        return self.target.split("?")[0]

    def json(self):
        return json.loads(self.body)

    def header(self, name):
        found = [value for known, value in self.headers if known.lower() == name.lower()]
        return found[0] if len(found) == 1 else found or None

    @property
    def api(self):
        return next((api for api, path in PATHS.items() if self.path.startswith(path)), None)

    def left(self):
        self.gone_at = time.monotonic()
        self.gone.set()


class Provider:
    """`replies` are used in turn; after the last, `otherwise` answers: an Answer, a Reply, or a function of the request."""

    def __init__(self, test=None, *replies, otherwise=None):
        self.replies, self.otherwise = list(replies), otherwise or Answer(say("Hello from the model."))
        self.requests, self.lock, self.ending = [], threading.Lock(), threading.Event()
        self.heard = threading.Condition(self.lock)
        self.connections = 0
        self.server = Listener(("127.0.0.1", 0), type("Bound", (Handler,), {"provider": self}))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()
        if test is not None:
            test.addCleanup(self.close)

    def close(self):
        self.ending.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join(PATIENCE)

    def then(self, *replies):
        with self.lock:
            self.replies += replies
        return self

    def clear(self):
        with self.lock:
            self.replies, self.requests = [], []

    def take(self, request):
        with self.heard:
            self.requests.append(request)
            self.heard.notify_all()
            reply = self.replies.pop(0) if self.replies else self.otherwise
        return reply(request) if callable(reply) else reply

    def request(self, number=-1, count=None, timeout=PATIENCE):
        """Returns one of the requests, after waiting until there are enough."""
        count = count or (number + 1 if number >= 0 else 1)
        with self.heard:
            if not self.heard.wait_for(lambda: len(self.requests) >= count, timeout):
                raise AssertionError(f"{len(self.requests)} requests came, not {count}")
            return self.requests[number]


def rendered(request, reply):
    """Returns an Answer in the requested form."""
    if isinstance(reply, Reply):
        return reply
    asked = json.loads(request.body) if request.body else {}
    api = request.api
    if api is None or request.method != "POST" or request.path != PATHS[api]:
        return other_route(request, asked, reply)
    headers = HEADERS[api]
    if asked.get("stream"):
        return Reply(*(piece + b"\n\n" for piece in reply.stream(api).split(b"\n\n") if piece), type=STREAM, headers=headers)
    return Reply(reply.json(api), framing="length", headers=headers)


HEADERS = {
    MESSAGES: [("request-id", "req_011CSHoEeqs5C35K2UUqR7Fy"), ("anthropic-organization-id", "0b1c2d3e"), ("anthropic-ratelimit-requests-remaining", "3999")],
    CHAT: [("x-request-id", "req_4f0c7a1b2d"), ("openai-processing-ms", "312"), ("x-ratelimit-remaining-tokens", "149984")],
    RESPONSES: [("x-request-id", "req_9a8b7c6d5e"), ("openai-version", "2020-10-01")],
}


def other_route(request, asked, reply):
    """Routes beside the three that answer with a message."""
    path = request.path
    if path == "/v1/messages/count_tokens":
        body = {"input_tokens": 17}
    elif path == "/v1/responses/input_tokens":
        body = {"object": "response.input_tokens", "input_tokens": 17}
    elif path == "/v1/responses/compact":
        body = {"id": "resp_compact", "object": "response.compaction", "created_at": 1794787200, "output": [
            {"id": "cmp_1", "type": "compaction", "encrypted_content": "b3BhcXVl"}], "usage": {"input_tokens": 9, "output_tokens": 3, "total_tokens": 12}}
    elif path == "/v1/embeddings":
        body = {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.0023064255, -0.009327292]}], "model": asked.get("model"),
                "usage": {"prompt_tokens": 8, "total_tokens": 8}}
    elif path.startswith("/v1/responses/") and isinstance(reply, Answer):
        body = {"id": path.split("/")[3], "object": "response", "deleted": True} if request.method == "DELETE" else reply.body(RESPONSES)
    else:
        return Reply.error(404, {"error": {"message": "Unknown request URL", "type": "invalid_request_error", "param": None, "code": "unknown_url"}})
    return Reply(json.dumps(body).encode(), framing="length")


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, request, client_address):
        pass  # clients that disconnect are part of the tests


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 600
    provider = None

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self.provider.lock:
            self.provider.connections += 1

    def log_message(self, *_):
        pass

    def body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            pieces = []
            while (size := int(self.rfile.readline().split(b";")[0], 16)) > 0:
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("content-length") or 0))

    def answer(self):
        request = Request(self.command, self.path, list(self.headers.items()), self.body())
        reply = rendered(request, self.provider.take(request))
        try:
            if reply.before is None:
                self.head(reply)
                request.begun.set()
            self.write(request, reply)
            request.done.set()
        except OSError:
            request.left()
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_HEAD = do_PUT = answer

    def head(self, reply):
        lines = [f"HTTP/1.1 {reply.status} {self.responses.get(reply.status, ('Strange',))[0]}", f"content-type: {reply.type}"]
        lines += [f"{name}: {value}" for name, value in reply.headers]
        if reply.framing == "chunked":
            lines.append("transfer-encoding: chunked")
        elif reply.framing == "length":
            lines.append(f"content-length: {sum(map(len, reply.steps))}")
        else:
            lines.append("connection: close")
        self.wfile.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def write(self, request, reply):
        for step in [reply.before] if reply.before is not None else reply.steps:
            if step == RESET:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                self.close_connection = True
                return
            if step == CLOSE:
                self.close_connection = True
                return
            if step == STALL or isinstance(step, tuple):
                self.idle(None if step == STALL else step[1])
            elif step:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(step), step) if reply.framing == "chunked" else step)
        if reply.framing == "chunked":
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = self.close_connection or reply.framing == "close"

    def idle(self, seconds):
        """Waits; fails if the client disconnects."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self.provider.ending.is_set():
            left = 0.05 if end is None else min(0.05, end - time.monotonic())
            if left <= 0:
                return
            if select.select([self.connection], [], [], left)[0] and not self.connection.recv(1, socket.MSG_PEEK):
                raise ConnectionError("the other side left")
        raise ConnectionError("the test is over")


def refusing():
    """Returns the address of a provider that accepts no connection."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}"
