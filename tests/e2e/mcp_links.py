"""Two ways to a tool server, standard streams and HTTP, and a client of either era that sees every message."""
import http.client
import json
import queue
import subprocess
import threading
import time
import urllib.parse

META = "io.modelcontextprotocol/"
LEGACY, MODERN = "2025-11-25", "2026-07-28"
PATIENCE = 60
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


class Link:
    """Transports messages; received messages go to `messages`, in order."""

    def __init__(self):
        self.messages = queue.Queue()

    def listen(self):
        """Starts to receive messages that belong to no request, if that needs a separate stream."""


class StdioLink(Link):
    def __init__(self, command, env, cwd):
        super().__init__()
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env, cwd=cwd)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def send(self, message, era):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def abandon(self, id):
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}, None)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class HttpLink(Link):
    def __init__(self, url, headers=None):
        super().__init__()
        self.url = urllib.parse.urlsplit(url)
        self.more = headers or {}
        self.session = None
        self.open = {}

    def connect(self):
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=PATIENCE)

    def headers(self, message, era):
        known = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **self.more}
        if era == MODERN:
            known["MCP-Protocol-Version"] = message.get("params", {}).get("_meta", {}).get(META + "protocolVersion", MODERN)
            known["Mcp-Method"] = message["method"]
            if message["method"] in NAMED:
                known["Mcp-Name"] = message["params"][NAMED[message["method"]]]
        elif self.session is not None:
            known |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": LEGACY}
        return known

    def send(self, message, era):
        connection = self.connect()
        connection.request("POST", self.url.path, json.dumps(message), self.headers(message, era))
        if "id" in message and "method" in message:
            self.open[message["id"]] = connection
            threading.Thread(target=self.receive, args=(connection,), daemon=True).start()
        else:
            answer = connection.getresponse()
            answer.read()
            if answer.status != 202:
                raise AssertionError(f"{message} was answered with HTTP {answer.status}")
            connection.close()

    def receive(self, connection):
        try:
            answer = connection.getresponse()
            self.session = answer.getheader("Mcp-Session-Id") or self.session
            if "event-stream" in answer.getheader("Content-Type", ""):
                self.events(answer)
            else:
                message = json.loads(answer.read())
                self.messages.put(message if answer.status == 200 else {**message, "status": answer.status})
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass  # the stream was closed, by us or by the end of the test

    def events(self, answer):
        data = []
        for line in answer:
            line = line.decode().rstrip("\r\n")
            if line.startswith("data:"):
                data.append(line[5:].lstrip())
            elif not line and data:
                if "".join(data).strip():
                    self.messages.put(json.loads("\n".join(data)))
                data = []

    def listen(self):
        connection = self.connect()
        connection.request("GET", self.url.path, headers={"Accept": "text/event-stream", "Mcp-Session-Id": self.session, "MCP-Protocol-Version": LEGACY, **self.more})
        self.open["GET"] = connection
        answer = connection.getresponse()
        if answer.status == 200:
            threading.Thread(target=self.hear, args=(answer,), daemon=True).start()

    def hear(self, answer):
        try:
            self.events(answer)
        except (OSError, ValueError, AttributeError, http.client.HTTPException):
            pass

    def abandon(self, id):
        """Closing the stream of a request is how it is cancelled without sessions."""
        connection = self.open.pop(id)
        if connection.sock is not None:
            connection.sock.shutdown(2)
        connection.close()

    def close(self):
        if self.session is not None:
            connection = self.connect()
            connection.request("DELETE", self.url.path, headers={"Mcp-Session-Id": self.session, "MCP-Protocol-Version": LEGACY, **self.more})
            connection.getresponse().read()
            connection.close()
        for id in list(self.open):
            self.abandon(id)


class Speaker:
    """A client of one era. It answers questions from `answers`, and keeps received messages in `heard`."""

    def __init__(self, era, link, answers=None):
        self.era = era
        self.link = link
        self.answers = answers or {}
        self.heard = []
        self.last_id = 0
        self.level = None
        self.capabilities = {"sampling": {}, "elicitation": {}, "roots": {"listChanged": True}}
        self.info = {"name": "matrix", "version": "1"}

    def reply(self, method, params):
        return self.answers[method]

    def stamped(self, params):
        if self.era == LEGACY:
            return params
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities, META + "clientInfo": self.info}
        if self.level is not None:
            meta[META + "logLevel"] = self.level
        return {**(params or {}), "_meta": {**meta, **(params or {}).get("_meta", {})}}

    def ask(self, method, params=None):
        self.last_id += 1
        params = self.stamped(params)
        self.link.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, **({} if params is None else {"params": params})}, self.era)
        return self.last_id

    def tell(self, method, params=None):
        self.link.send({"jsonrpc": "2.0", "method": method, **({} if params is None else {"params": params})}, self.era)

    def take(self, timeout=PATIENCE):
        message = self.link.messages.get(timeout=timeout)
        if message is None:
            raise AssertionError("the other side ended")
        if "method" in message and "id" in message:
            self.heard.append({key: value for key, value in message.items() if key != "id"})
            self.link.send({"jsonrpc": "2.0", "id": message["id"], "result": self.reply(message["method"], message.get("params", {}))}, self.era)
        elif "method" in message:
            self.heard.append(message)
        return message

    def answer(self, id, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while True:
            message = self.take(max(0.01, end - time.monotonic()))
            if message.get("id") == id and "method" not in message:
                return {key: value for key, value in message.items() if key != "id"}

    def request(self, method, params=None, timeout=PATIENCE):
        return self.answer(self.ask(method, params), timeout)

    def wait_for(self, method, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not any(message["method"] == method for message in self.heard):
            self.take(max(0.01, end - time.monotonic()))

    def complete(self, method, params):
        """Sends a request with all its rounds of questions; `heard` has the questions, equal for both eras."""
        answer = self.request(method, params)
        while answer.get("result", {}).get("resultType") == "input_required":
            asked = answer["result"]["inputRequests"]
            self.heard += [{"jsonrpc": "2.0", **question} for question in asked.values()]
            again = {**params, "inputResponses": {key: self.reply(question["method"], question.get("params", {})) for key, question in asked.items()}}
            if "requestState" in answer["result"]:
                again["requestState"] = answer["result"]["requestState"]
            answer = self.request(method, again)
        return answer

    def open(self):
        if self.era == MODERN:
            return self.request("server/discover")
        opened = self.request("initialize", {"protocolVersion": LEGACY, "capabilities": self.capabilities, "clientInfo": self.info})
        self.tell("notifications/initialized")
        self.link.listen()
        return opened

    def cancel(self, id):
        if self.era == MODERN:
            self.link.abandon(id)
        else:
            self.tell("notifications/cancelled", {"requestId": id})
