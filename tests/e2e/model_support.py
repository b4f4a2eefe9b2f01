"""`sallyport serve` between a handwritten client and a scripted provider.

    class Case(ModelTest):
        def test_it(self):
            provider = Provider(self, Answer(say("hello")))
            proxy = self.proxy(provider, policy=guard("output", "hello"))
            answer = proxy.ask(CHAT, "hi", stream=True)
"""
import hashlib
import http.client
import json
import re
import signal
import time
import urllib.parse

from cli_support import CliTest
from mcp_support import PATIENCE
from model_answers import APIS, CHAT, MESSAGES, MODELS, PATHS, RESPONSES, accumulate
from serve_support import Server

KEY = "sk-provider-0123456789abcdef"
VARIABLES = {MESSAGES: "MESSAGES_KEY", CHAT: "CHAT_KEY", RESPONSES: "RESPONSES_KEY"}
AGENT = {"agent:ada": "token-of-ada-0123456789", "agent:bob": "token-of-bob-0123456789"}


def guard(stage, *patterns, on_fail="block", id="test", **more):
    """The text of a policy with one check."""
    return guards({"type": "regex", "stage": stage, "id": id, "on_fail": on_fail, "patterns": list(patterns), **more})


def guards(*checks, model=None, **sections):
    """The text of a policy with these checks; JSON is YAML."""
    return json.dumps({"version": 1, "autonomy": {"tier": "act_auto"}, **({"guardrails": {"checks": list(checks)}} if checks else {}),
                       **({"model": model} if model else {}), **sections})


def question(api, text="hello", stream=None, **more):
    """The body of a request."""
    said = [{"role": "user", "content": text}]
    body = {"model": MODELS[api]}
    body |= {"input": said} if api == RESPONSES else {"messages": said}
    body |= {"max_tokens": 1024} if api == MESSAGES else {}
    return {**body, **({} if stream is None else {"stream": stream}), **more}


class Answered:
    """A client's answer: status, headers in order, bytes, time of the end, and whether the end was normal."""

    def __init__(self, status, headers, body, whole=True):
        self.status, self.headers, self.body, self.whole = status, headers, body, whole

    def header(self, name):
        found = [value for known, value in self.headers if known.lower() == name.lower()]
        return found[0] if len(found) == 1 else found or None

    def json(self):
        return json.loads(self.body)

    def text(self):
        return self.body.decode()

    def events(self):
        """Returns name and data of each event, without comments; anything else that MP-14 does not allow is an error."""
        return read_events(self.body)

    def object(self, api):
        """The answer as one object, streamed or not."""
        return accumulate(api, self.events()) if (self.header("content-type") or "").startswith("text/event-stream") else self.json()


def read_events(body):
    made = []
    for block in body.decode().split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        if not lines:
            continue
        name = lines.pop(0).removeprefix("event: ") if lines[0].startswith("event: ") else None
        assert len(lines) == 1 and lines[0].startswith("data: "), f"this is not one event: {block!r}"
        made.append((name, lines[0].removeprefix("data: ")))
    return made


def in_turn(api, events):
    """Returns the events in every order that is promised while calls are held: keep-alives pass at once, and each choice has its own order."""
    if api == MESSAGES:
        return [one for one in events if one[0] != "ping"]
    if api == CHAT:
        return sorted(events, key=lambda one: (json.loads(one[1])["choices"] or [{"index": 1000}])[0]["index"] if one[1] != "[DONE]" else 1001)
    return events


def without_ids(value):
    """Returns the same without ids of records, which are new in each request."""
    return json.loads(re.sub(r"\(record [0-9a-f-]{36}\)", "(record)", json.dumps(value)))


def comparable(api, body):
    """Returns an object without the parts that a stream cannot express: empty lists of annotations, and the numbers of a truncated answer."""
    body = {name: value for name, value in body.items() if name not in ("usage", "completed_at")}
    if api == CHAT:
        for choice in body["choices"]:
            message = choice["message"]
            if not message.get("annotations"):
                message.pop("annotations", None)
            for name in ("content", "refusal", "tool_calls", "reasoning_content"):
                if not message.get(name):
                    message.pop(name, None)
    return body


class Begun:
    """A response whose head has arrived. `finish` reads the rest, `leave` disconnects without it."""

    def __init__(self, connection, response, owned):
        self.connection, self.response, self.owned = connection, response, owned
        self.status, self.pieces = response.status, []
        self.socket = connection.sock

    def until(self, words):
        """Reads until these bytes have arrived; fails if the response ends before."""
        while words not in b"".join(self.pieces):
            piece = self.response.read1(65536)
            assert piece, f"{words!r} did not come: {b''.join(self.pieces)!r}"
            self.pieces.append(piece)
        return b"".join(self.pieces)

    def finish(self):
        whole = True
        try:
            while piece := self.response.read1(65536):
                self.pieces.append(piece)
        except (http.client.HTTPException, OSError):
            whole = False
        answered = Answered(self.status, self.response.getheaders(), b"".join(self.pieces), whole)
        self.response.close()
        if self.owned:
            self.connection.close()
        return answered

    def leave(self):
        self.response.close()
        self.connection.close()


def begin(url, method, target, body=None, headers=(), connection=None):
    """Sends one request with exactly these headers, plus `Host` and the length of the body, and reads the head of the response."""
    where = urllib.parse.urlsplit(url)
    owned = connection is None
    connection = connection or http.client.HTTPConnection(where.hostname, where.port, timeout=PATIENCE)
    data = body if isinstance(body, (bytes, type(None))) else (body if isinstance(body, str) else json.dumps(body)).encode()
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if data is not None or method == "POST":
            connection.putheader("Content-Length", str(len(data or b"")))
        connection.endheaders(data)
        return Begun(connection, connection.getresponse(), owned)
    except BaseException:
        connection.close()
        raise


def send(*request, **more):
    """Does the same and reads the whole response."""
    return begin(*request, **more).finish()


class Proxy:
    """One `sallyport serve` in front of providers."""

    def __init__(self, test, upstreams, policy, model_settings="", more="", agents=None, environment=None):
        self.test = test
        self.agents = AGENT if agents is None else agents
        test.write("policy.yaml", policy)
        named = ", ".join(f'{{name: "{name}", token_sha256: "{hashlib.sha256(token.encode()).hexdigest()}"}}' for name, token in self.agents.items())
        listed = "".join(f"      - {json.dumps(upstream)}\n" for upstream in upstreams)
        self.config = test.write("serve.yaml", f"version: 1\ndata_dir: data\nserve:\n  listen: 127.0.0.1:0\n  policy: policy.yaml\n  agents: [{named}]\n"
                                               f"{more}  models:\n    upstreams:\n{listed}{model_settings}")
        self.environment = test.environment(**{variable: KEY for variable in VARIABLES.values()}, **(environment or {}))
        self.token = next(iter(self.agents.values()), None)
        self.start()

    def start(self):
        self.server = Server(self.test, self.config, env=self.environment)
        self.url = self.server.started["url"].removesuffix("/mcp")
        self.test.addCleanup(self.kill)

    def kill(self):
        if self.server.process.poll() is None:
            self.server.process.kill()
        self.server.process.wait()
        for stream in (self.server.process.stdout, self.server.process.stderr):
            stream.close()

    def stop(self, how=signal.SIGTERM):
        return self.server.stop(how)

    def headers(self, api, token=None):
        token = token or self.token
        return [("content-type", "application/json"), *([("x-api-key", token), ("anthropic-version", "2023-06-01")] if api == MESSAGES else
                                                         [("authorization", f"Bearer {token}")])]

    def ask(self, *question, **more):
        """Sends a question in the form of an API and returns its whole answer."""
        return self.begin(*question, **more).finish()

    def begin(self, api, text="hello", stream=None, token=None, headers=(), connection=None, **more):
        body = text if isinstance(text, (dict, bytes)) else question(api, text, stream, **more)
        return begin(self.url, "POST", PATHS[api], body, [*self.headers(api, token), *headers], connection)

    def send(self, method, target, body=None, headers=(), connection=None):
        return send(self.url, method, target, body, headers, connection)

    def entries(self, kind="model_audit", count=None):
        """Returns the bodies of the ledger's entries of this kind, after waiting until there are enough."""
        return [row["body"] for row in self.rows(kind, count)]

    def rows(self, kind, count=None):
        end = time.monotonic() + PATIENCE
        while True:
            shown = self.test.cli("ledger", "show", "--kind", kind, "--limit", "10000", "--json")  # fails if there is none
            self.test.assertIn(shown.code, (0, 1), shown.err)
            rows = shown.lines() if shown.code == 0 else []
            if count is None or len(rows) >= count or time.monotonic() > end:
                return rows
            time.sleep(0.05)

    def audit(self):
        """Returns the record of the last request."""
        return self.entries(count=1)[-1]


class ModelTest(CliTest):
    def proxy(self, provider, policy=None, apis=APIS, model_settings="", more="", agents=None, environment=None, **members):
        """Starts a proxy with one upstream for each API at this provider, or at this address."""
        url = provider if isinstance(provider, str) else provider.url
        upstreams = [{"name": api.split("_")[1], "api": api, "url": url, "key_env": VARIABLES[api], "models": ["*"], "usage": "as_sent", **members} for api in apis]
        return self.proxies(upstreams, policy, model_settings, more, agents, environment)

    def proxies(self, upstreams, policy=None, model_settings="", more="", agents=None, environment=None):
        """Starts a proxy with these upstreams."""
        return Proxy(self, upstreams, policy or guards(), model_settings, more, agents, environment)
