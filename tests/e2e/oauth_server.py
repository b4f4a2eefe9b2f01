"""A tool server that requires a token, and the authorization server that issues it: both in threads of the test, so that it
sees every request. `Authority.lie` replaces members of the server's metadata."""
import base64
import hashlib
import json
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOOLS = [{"name": "echo", "inputSchema": {"type": "object", "properties": {"message": {"type": "string"}}}}]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def say(self, status, body=b"", **headers):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Content-Type", "application/json")
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def handle_one(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        split = urllib.parse.urlsplit(self.path)
        self.server.seen.append((split.path, self.headers.get("Authorization", ""), body))
        self.server.answer(self, split.path, dict(urllib.parse.parse_qsl(split.query)), body)

    do_GET = do_POST = do_DELETE = handle_one


class Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.seen = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # the client disconnected

    def stop(self):
        self.shutdown()
        self.server_close()

    def paths(self):
        return [path for path, _, _ in self.seen]

    def forms(self, path):
        return [dict(urllib.parse.parse_qsl(body)) for seen, _, body in self.seen if seen == path]


def client_of(http):
    """Returns the client id of the header, in the shape of the form."""
    kind, _, said = http.headers.get("Authorization", "").partition(" ")
    return {"client_id": base64.b64decode(said).decode().split(":")[0]} if kind == "Basic" else {}


class Authority(Listener):
    def __init__(self, port=0):
        super().__init__(port)
        self.lie = {}
        self.codes = {}
        self.refreshes = set()
        self.tokens = {}  # and the scope of each
        self.lives = 3600
        self.asked = []
        self.instead = {}  # answers with another content, by path
        self.refreshable = True
        self.count = 0

    def describe(self):
        return {"issuer": self.origin, "authorization_endpoint": f"{self.origin}/authorize", "token_endpoint": f"{self.origin}/token",
                "registration_endpoint": f"{self.origin}/register", "revocation_endpoint": f"{self.origin}/revoke",
                "code_challenge_methods_supported": ["S256"], "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
                "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
                "authorization_response_iss_parameter_supported": True, **self.lie}

    def answer(self, http, path, query, body):
        if path in self.instead:
            return self.instead[path](http)
        if path == "/.well-known/oauth-authorization-server":
            return http.say(200, self.describe())
        if path == "/register":
            wanted = json.loads(body)
            return http.say(201, {**wanted, "client_id": f"client-{len(self.forms('/register'))}"})
        if path == "/authorize":
            return self.authorize(http, query)
        if path == "/token":
            return self.give(http, {**client_of(http), **dict(urllib.parse.parse_qsl(body))})
        return http.say(200 if path == "/revoke" else 404)

    def authorize(self, http, query):
        self.asked.append(query)
        code = f"code-{len(self.asked)}"
        self.codes[code] = query
        back = {"code": code, "state": query["state"], "iss": self.origin}
        http.say(302, Location=f"{query['redirect_uri']}?{urllib.parse.urlencode(back)}")

    def new_token(self, form, scope):
        return f"access-{self.count}-of-{id(self):x}"

    def give(self, http, form):
        scope = form.get("scope", "")
        if form["grant_type"] == "authorization_code":
            query = self.codes.pop(form["code"], None)
            digest = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).decode().rstrip("=")
            good = query is not None and digest == query["code_challenge"] and form["redirect_uri"] == query["redirect_uri"] and form["resource"] == query["resource"]
            scope = query.get("scope", "") if query else ""
        elif form["grant_type"] == "refresh_token":
            good = form["refresh_token"] in self.refreshes  # each is valid once
            self.refreshes.discard(form["refresh_token"])
        else:
            good = form["grant_type"] == "client_credentials"
        if not good:
            return http.say(400, {"error": "invalid_grant"})
        self.count += 1
        token, refresh = self.new_token(form, scope), f"refresh-{self.count}-of-{id(self):x}"
        self.tokens[token] = scope
        said = {"access_token": token, "token_type": "Bearer", "expires_in": self.lives, "scope": scope}
        if self.refreshable and form["grant_type"] != "client_credentials":
            self.refreshes.add(refresh)
            said["refresh_token"] = refresh
        http.say(200, said)


class Guarded(Listener):
    """A tool server; each tool call needs the scope `write` if `wants_write` is set."""

    def __init__(self, authority, scopes=None):
        super().__init__()
        self.authority = authority
        self.url = f"{self.origin}/mcp"
        self.description = {"resource": self.url, "authorization_servers": [authority.origin], **({"scopes_supported": scopes} if scopes else {})}
        self.wants_write = False
        self.redirect = None

    def tokens(self):
        return [header.removeprefix("Bearer ") for path, header, _ in self.seen if path == "/mcp" and header]

    def answer(self, http, path, query, body):
        if path == "/.well-known/oauth-protected-resource/mcp":
            return http.say(200, self.description)
        if path != "/mcp":
            return http.say(404)
        if self.redirect:
            return http.say(307, Location=self.redirect)
        scope = self.authority.tokens.get(http.headers.get("Authorization", "").removeprefix("Bearer "))
        where = f'resource_metadata="{self.origin}/.well-known/oauth-protected-resource/mcp"'
        if scope is None:
            return http.say(401, {}, WWW_Authenticate=f"Bearer {where}")
        if http.command != "POST":
            return http.say(405)
        message = json.loads(body)
        if self.wants_write and message["method"] == "tools/call" and "write" not in scope.split():
            return http.say(403, {}, WWW_Authenticate=f'Bearer error="insufficient_scope", scope="write", {where}')
        return self.serve(http, message)

    def serve(self, http, message):
        if "id" not in message:
            return http.say(202)
        results = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "guarded", "version": "1"}},
                   "tools/list": {"tools": TOOLS},
                   "tools/call": {"content": [{"type": "text", "text": message.get("params", {}).get("arguments", {}).get("message", "")}]}}
        if message["method"] not in results:
            return http.say(200, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        return http.say(200, {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]})


def stalls(http):
    time.sleep(30)


def huge(http):
    http.say(200, b" " * (1 << 20))


def endless(http):
    http.say(307, Location=http.path)
