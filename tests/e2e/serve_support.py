"""A handwritten HTTP client of `sallyport serve`, which sees every header and every event."""
import http.client
import json
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import urllib.parse

from cli_support import BIN
from mcp_support import FAKE, LEGACY, PATIENCE, McpTest

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


class Server:
    """One `sallyport serve` and its output."""

    def __init__(self, test, config, env=None, program=BIN, inside=()):
        """`inside`: a command that runs another in a separate environment."""
        self.process = subprocess.Popen(
            [*inside, str(program), "serve", "--json", "--config", str(config)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=env or test.environment(), cwd=test.folder)
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("it did not start: " + self.process.stderr.read().decode())
        self.started = json.loads(line)
        self.url = urllib.parse.urlsplit(self.started["url"])
        self.errors = []
        self.connections = []
        self.tls = None  # of `ssl`, for a server that serves TLS
        threading.Thread(target=self.hear, daemon=True).start()
        file = self.started.get("token_file")
        self.token = pathlib.Path(file).read_text().strip() if file else None

    def hear(self):
        for line in self.process.stderr:
            self.errors.append(line.decode())

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)

    def connection(self):
        if self.url.scheme == "https":
            made = http.client.HTTPSConnection(self.url.hostname, self.url.port, timeout=PATIENCE, context=self.tls)
        else:
            made = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE)
        self.connections.append(made)
        return self.connections[-1]

    def ask(self, method="POST", path="/mcp", body=None, headers=None, token=True, connection=None):
        """Returns status, headers, body."""
        response = self.open(method, path, body, headers, token, connection)
        said = response.read()
        response.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, said

    def open(self, method="POST", path="/mcp", body=None, headers=None, token=True, connection=None):
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token is True and self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        elif isinstance(token, str):
            sent["Authorization"] = f"Bearer {token}"
        sent.update(headers or {})
        connection = connection or self.connection()
        text = body if isinstance(body, (bytes, str, type(None))) else json.dumps(body)
        connection.request(method, path, text, {name: value for name, value in sent.items() if value is not None})
        return connection.getresponse()


def events(response):
    """Returns the events of a stream, as dictionaries of their fields, without comments."""
    event = {}
    for line in response:
        line = line.decode().rstrip("\r\n")
        if line == "":
            if event:
                yield event
            event = {}
        elif not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value


def messages(response):
    """Returns the messages of a response, from one JSON value or from a stream of them."""
    if response.getheader("content-type") == "text/event-stream":
        said = [json.loads(event["data"]) for event in events(response) if event.get("data")]
    else:
        said = [json.loads(response.read())]
    response.close()
    return said


class Session:
    """A client of the session era. With `keep` it uses one connection, as programs do; without, each call has its own."""

    def __init__(self, server, capabilities=None, version=LEGACY, token=True, keep=False):
        self.server, self.token, self.last_id = server, token, 0
        self.connection = server.connection() if keep else None
        response = server.open(body={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "hand", "version": "1"}}},
            token=token)
        assert response.status == 200, (response.status, response.read())
        self.id = response.getheader("mcp-session-id")
        self.headers = {"Mcp-Session-Id": self.id, "MCP-Protocol-Version": version}
        self.opened = messages(response)[-1]["result"]  # a stream, if that took long
        assert self.send({"method": "notifications/initialized"})[0] == 202

    def send(self, message, **headers):
        return self.server.ask(body={"jsonrpc": "2.0", **message}, headers={**self.headers, **headers}, token=self.token)

    def open(self, method, params=None):
        self.last_id += 1
        return self.server.open(body={"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params or {}},
                                headers=self.headers, token=self.token, connection=self.connection)

    def request(self, method, params=None):
        return messages(self.open(method, params))

    def call(self, tool, arguments=None, **more):
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}, **more})

    def said(self, tool, arguments=None, **more):
        return self.call(tool, arguments, **more)[-1]["result"]["content"][0]["text"]

    def listen(self, **headers):
        return self.server.open("GET", headers={**self.headers, "Accept": "text/event-stream", **headers}, token=self.token)


def modern(method, params=None, id=1, capabilities=None, **meta):
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {
        **(params or {}), "_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": capabilities or {}, **meta}}}


def modern_headers(message, **more):
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": message["method"]}
    params = message["params"]
    name = params.get("name", params.get("uri"))
    if name is not None and message["method"] in ("tools/call", "prompts/get", "resources/read"):
        headers["Mcp-Name"] = name
    return {**headers, **more}


class ServeTest(McpTest):
    CONFIG = """
version: 1
data_dir: data
serve:
  listen: 127.0.0.1:0
  {more}
  upstreams:
    - name: fake
      command: [{command}]
"""

    def configure(self, more="", command=(sys.executable, FAKE)):
        words = ", ".join(json.dumps(str(word)) for word in command)
        return self.write("serve.yaml", self.CONFIG.format(more=more, command=words))

    def serve(self, more="", command=(sys.executable, FAKE), env=None):
        server = Server(self, self.configure(more, command), self.environment(**env) if env else None)
        self.addCleanup(self.end_server, server)
        return server

    @staticmethod
    def end_server(server):
        if server.process.poll() is None:
            server.process.kill()
        server.process.wait()
        for connection in server.connections:
            connection.close()
        server.process.stdout.close()
        server.process.stderr.close()

    def stateless(self, server, message, token=True, **more):
        """Status and messages of a stateless request with the headers that belong to it."""
        response = server.open(body=message, headers=modern_headers(message, **more), token=token)
        return response.status, messages(response)


def in_background(work):
    """Runs it on a thread; the queue gets the result."""
    results = queue.Queue()
    threading.Thread(target=lambda: results.put(work()), daemon=True).start()
    return results
