"""A small gate for tests of the console's pages: the real files, and an `/api/v1` that follows docs/api-shapes.md and simulates the faults that a test
requests, such as losing an answer or replacing a request at a given moment."""
import copy
import datetime
import hashlib
import http.server
import json
import pathlib
import queue
import secrets
import subprocess
import tempfile
import threading
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; "
          "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "require-trusted-types-for 'script'; trusted-types sallyport")
TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html; charset=utf-8", ".svg": "image/svg+xml", ".json": "application/json"}


def now(seconds=0):
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def built():
    folder = tempfile.TemporaryDirectory()
    subprocess.run([ROOT / "console/build.sh", folder.name], check=True, timeout=60)
    return folder


def question(number, tool="shell", command="rm -v scratch.txt", seconds=600, level="high", **more):
    """Returns one approval request: (item of the list, page)."""
    binding = "sha256:" + hashlib.sha256(f"{number} {command}".encode()).hexdigest()
    request = {"kind": "approval", "request_id": f"apr_{number}", "call_id": f"01a1e347-{number}", "session_id": "7f000000-0000", "agent_id": "agent:bot",
               "server": "files", "tool_name": tool, "action": "call", "requested_at": now(), "deadline": now(seconds), "approvers_required": 1,
               "reviewers": None, "binding": binding, "proposal": None}
    item = {**request, "state": "pending", "description": command, "approvals": 0, "hidden": []}
    text = f"question   apr_{number}\ntool       {tool} on files\ncommand    {command}\nbinding    {binding[7:15]}\n"
    shared = {"risk": {"level": level, "class": "process.exec", "rank": 0, "hidden": False, "command_hidden": False, "undo": "none", "reach": ["/srv/app"]},
              "quorum": {"required": 1, "approved": [], "missing": 1, "may_answer": ["user:ada"]}, "may_answer": {"ok": True, "why": None}, "withheld": []}
    page = {"request": request, "state": "pending", "description": command, "answer": None, "responses": [], "result": None, "hidden": [],
            "shown": {"text": text, "truncated": False, "segments": [{"text": text}]},
            "unlike": {"request_id": "apr_0", "answered_at": now(-86400), "members": [{"path": "/command", "before": "ls", "now": command}]},
            "why": {"autonomy": "act_with_approval", "source": "tier", "findings": [{"guard": "ask-before-deleting", "rule": "rm", "place": "/command"}]},
            "agent": {"tier": "act_with_approval", "counts": {"success": 212, "denied": 3}}, **copy.deepcopy(shared)}
    page.update(more)
    item.update({**shared, **{name: more[name] for name in ("risk", "quorum", "may_answer", "state", "withheld") if name in more}})
    return item, page


def with_calls(gate, text="/etc/motd", count=3):
    """Returns calls that were refused, and one page of them."""
    rows = [{"time": now(-i), "sequence": 20 - i, "call_id": f"c{i + 1}", "agent": "agent:ci", "server": "files", "tool": "write_file", "what": text[:100],
             "verdict": "refused", "why": "outside-workspace"} for i in range(count)]
    gate.extra["calls"] = {"items": rows, "next": None, "prev": None, "tree_size": 21, "total": count, "exact": True}
    for i, row in enumerate(rows):
        gate.extra[f"calls/{row['call_id']}"] = {
            "call": row, "records": [{"sequence": 14, "kind": "intent"}, {"sequence": 18, "kind": "tool_audit"}],
            "timeline": [
                {"stage": "asked", "at": now(), "sequence": 14, "input": {"path": text, "text": "hello"}, "input_state": "open"},
                {"stage": "first_door", "class": "fs.write", "guards": [
                    {"guard": "grants", "verdict": "not_applicable", "us": 0},
                    {"guard": "workspace-paths", "verdict": "deny", "rule": "outside-workspace", "place": "/path", "why": text, "us": 12, "decided": True},
                    {"guard": "ask-before-deleting", "verdict": None, "skipped": "denied_earlier"}]},
                {"stage": "autonomy", "reached": False}, {"stage": "effect", "effect": "none", "reached": False}, {"stage": "second_door", "guards": [], "reached": False},
                {"stage": "outcome", "outcome": "blocked", "reason": "outside", "sequence": 18, "terminal": True}],
            "policy_hash": "sha256:" + "0c64" * 16, "next": rows[i + 1]["call_id"] if i + 1 < count else None, "prev": rows[i - 1]["call_id"] if i else None,
            "withheld": []}
        gate.extra[f"calls/{row['call_id']}/explain"] = {
            "verdict": "refused", "decided_by": {"stage": "guard", "kind": "guard", "name": "workspace-paths", "guard": "workspace-paths", "rule": "outside-workspace", "place": "/path"},
            "policy": {"name": "starter", "hash": "sha256:" + "0c64" * 16}, "causes": [],
            "changes": [{"kind": "input", "edits": [{"place": "/path", "text": "below /srv/app"}], "verdict": "runs"}]}


KEY = "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"


def with_log(gate):
    """A log of one entry: that of the published receipt."""
    receipt = (ROOT / "tests/independent/receipt_vector.json").read_bytes()
    gate.extra["log/keys"] = {"keys": [{"key": KEY, "first_size": 1, "last_size": None, "compromised": False}]}
    gate.extra["log/checkpoint"] = json.loads(receipt)["checkpoint"].encode()
    gate.extra["entries/0/receipt"] = receipt


def page(items, **more):
    return {"items": items, "next": None, "prev": None, "tree_size": 21, "total": len(items), "exact": True, **more}


def with_controls(gate, text="deploy-bot"):
    """Adds an agent whose record suggests a promotion, a changed tool, grants, and two policies."""
    score = {"agent": text, "action": None, "total": 22, "successes": 22, "failures": 0, "denied": 0, "timeouts": 0, "withheld": 0, "success_rate": 1.0,
             "latest_outcome": "success", "latest_timestamp": now(), "effective_tier": "act_with_approval", "policy": {"side_effect_level": "read_only"}}
    agent = {"agent": text, "tier": "act_with_approval", "source": "tier", "score": score}
    gate.extra["agents"] = page([{**agent, "proposes": True}])
    name = "agents/" + urllib.parse.quote(text, safe="")
    gate.extra[name] = agent
    gate.extra[name + "/trust"] = {"agent": text, "records": [], "history": [
        {"at": now(i - 60), "total": i + 1, "successes": i, "success_rate": i / (i + 1)} for i in range(20)]}
    gate.extra[name + "/proposals"] = {"tier": "act_with_approval", "ledger": "sallyport.local/a368", "items": [{
        "action": "trust.promote", "agent": text, "from_tier": "act_with_approval", "to_tier": "act_auto", "why": "record_is_good",
        "evidence": {**score, "first_at": now(-86400), "latest_at": now(), "calls": ["01a1e347-1", "01a1e347-2"]}}]}
    pin = {"server": "files", "tool": text, "hash": "2:" + "ab" * 32, "sequence": 3, "held": True, "changed_hash": "2:" + "cd" * 32, "changed_sequence": 9}
    gate.extra["pins"] = page([pin, {**pin, "tool": "read_file", "held": False}])
    gate.extra["pins/files/" + urllib.parse.quote(text, safe="")] = {
        **pin, "definition_state": "open", "before": {"description": "old"}, "after": {"description": text},
        "members": [{"name": "description", "before": "reads a file", "after": "reads a file\n" + text}]}
    grant = {"grant_id": "g-root", "grant_digest": "sha256:1", "parent": None, "issuer": "ed25519:aa", "principal": text, "issued_at": 1789000000,
             "expires_at": 1799000000, "grants": 1, "origin": "issued", "uses": 2, "holds": 1, "state": "valid"}
    gate.extra["grants"] = page([{**grant, "grant_id": "g-child", "grant_digest": "sha256:2", "parent": "sha256:1", "principal": "agent:sub"}, grant])
    gate.extra["grants/g-root"] = {**grant, "children": ["g-child"]}
    rows = [{"hash": "sha256:" + digit * 64, "source": "/etc/policy.yaml", "who": "uid:root", "loaded_at": now(-i), "sequence": 9 - i, "in_force": i == 0}
            for i, digit in enumerate("ab")]
    gate.extra["policies"] = page(rows, drafts=["next-week"], writes="activate", is_file=True)
    for i, row in enumerate(rows):
        gate.extra["policies/" + urllib.parse.quote(row["hash"], safe="")] = {
            **row, "text": f"version: 1\nname: {text.splitlines()[0]}\n# {i}\n", "text_state": "open", "extends": None}
    gate.extra["policies/check"] = {"valid": True, "name": None, "hash": "sha256:" + "c" * 64}
    gate.extra["stats"] = {"bucket": "1m", "by": "outcome", "pieces": [{"at": now(-60 * i), "counts": {"executed": i % 7}} for i in range(60, 0, -1)]}
    gate.extra["log/gaps"] = {"gaps": [{"sequence": 4, "at": now(), "kind": "fail_open", "detail": text}], "left_out": 0}


class Gate:
    """The state of a fake gate, and the server before it. All methods may be called from any thread."""

    def __init__(self, files, roles=("approver", "viewer"), token="a-token-of-ada-0001"):
        self.files = pathlib.Path(files)
        self.lock = threading.RLock()
        self.roles, self.token, self.once = list(roles), token, "one-time"
        self.cookie, self.secret = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.signed_in = False
        self.items, self.pages = {}, {}
        self.order = []
        self.answers = []  # answers that reached the gate and counted
        self.seen = []  # (method, path, headers, body)
        self.remembered = {}
        self.lose = 0  # the number of answers that are lost after they counted
        self.health = {"ok": True, "server_time": now(), "version": "0.1.0", "size": 10, "banner": []}
        self.clock_shift = 0
        self.serves_stream = True
        self.streams = []
        self.sequence = 10
        self.build = None
        self.extra = {}  # path -> body
        self.unwell = set()  # paths that fail the next time
        self.slow = {}  # path, or "refusal" for a request without a session -> seconds until its answer
        gate = self

        class Handler(_Handler):
            owner = gate
        self.server = _Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()
        self.port = self.server.server_address[1]
        self.url = f"http://sallyport.localhost:{self.port}/console/"

    def end(self):
        self.cut()
        self.server.shutdown()
        self.server.server_close()

    def put(self, made, first=False):
        item, page = made
        with self.lock:
            name = item["request_id"]
            self.items[name], self.pages[name] = item, page
            if name not in self.order:
                self.order.insert(0 if first else len(self.order), name)
        self.tell("hitl.approval_requested", name)

    def settle(self, name, state):
        with self.lock:
            self.items[name]["state"] = self.pages[name]["state"] = state
        self.tell("hitl.approval_resolved", name)

    def tell(self, kind, name):
        with self.lock:
            self.sequence += 1
            data = {"sequence": self.sequence, "kind": kind, "request_id": name, "at": now()}
            self.send(f"id: {self.sequence}\nevent: approvals\ndata: {json.dumps(data)}\n\n")

    def send(self, frame):
        with self.lock:
            for stream in self.streams:
                stream.put(frame)

    def tell_health(self, **changes):
        self.health = {**self.health, **changes}
        self.send(f"event: health\ndata: {json.dumps(self.health)}\n\n")

    def cut(self):
        with self.lock:
            for stream in self.streams:
                stream.put(None)

    def time(self):
        return now(self.clock_shift)


class _Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64  # a browser opens several connections at once

    def handle_error(self, *_):
        pass  # the browser disconnected


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner = None

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def problem(self, status, code, **more):
        self.reply(status, {"type": "about:blank", "title": code, "status": status, "detail": f"the gate says {code}", "code": code, "error": code, **more},
                   "application/problem+json")

    def do_GET(self):
        self.route("GET", b"")

    def do_PUT(self):
        self.route("PUT", self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def do_DELETE(self):
        self.route("DELETE", b"")

    def do_POST(self):
        self.route("POST", self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    def route(self, method, body):
        gate = self.owner
        path = urllib.parse.urlsplit(self.path)
        gate.seen.append((method, self.path, dict(self.headers), body.decode()))
        if path.path.startswith("/console"):
            return self.asset(path.path)
        if not path.path.startswith("/api/v1/"):
            return self.problem(404, "not_found")
        name = path.path[len("/api/v1/"):]
        if name in ("session/token", "session/link"):
            return self.login(name, json.loads(body))
        if f"sallyport={gate.cookie}" not in self.headers.get("Cookie", "") or self.headers.get("X-Sallyport-Page") != gate.secret:
            time.sleep(gate.slow.get("refusal", 0))
            return self.problem(401, "no_session")
        if not gate.signed_in:
            return self.problem(401, "session_ended")
        if name in gate.unwell:
            gate.unwell.remove(name)
            return self.problem(503, "busy")
        time.sleep(gate.slow.get(name, 0))
        return self.api(method, name, urllib.parse.parse_qs(path.query), body)

    def asset(self, path):
        gate = self.owner
        name = path[len("/console/"):] or "shell.html"
        if "." not in name:
            name = "shell.html"
        file = gate.files / name
        if not file.is_file():
            return self.reply(404, b"no", "text/plain")
        content = file.read_bytes()
        if name == "build.json" and gate.build:
            content = json.dumps({"build": gate.build}).encode()
        return self.reply(200, content, TYPES.get(file.suffix, "text/plain"), Content_Security_Policy=POLICY, X_Content_Type_Options="nosniff",
                          Cache_Control="no-store")

    def session(self):
        gate = self.owner
        return {"id": "s_1", "name": "user:ada", "roles": gate.roles, "how": "token", "server_time": gate.time(), "expires_at": now(3600), "idle_seconds": 1800,
                "console": {"policies": "read_only", "strong": []}, "version": "0.1.0"}

    def login(self, name, body):
        gate = self.owner
        if name == "session/token" and body["token"] != gate.token:
            return self.problem(401, "unknown_token")
        if name == "session/link" and body["once"] != gate.once:
            return self.problem(401, "link_unknown")
        if name == "session/link":
            gate.once = None
        gate.signed_in = True
        return self.reply(200, {**self.session(), "page_secret": gate.secret}, Set_Cookie=f"sallyport={gate.cookie}; HttpOnly; SameSite=Strict; Path=/")

    def api(self, method, name, query, body):
        gate = self.owner
        parts = name.split("/")
        with gate.lock:
            if name == "session" and method == "DELETE":
                gate.signed_in = False
                return self.reply(204)
            if name == "session":
                return self.reply(200, self.session())
            if name == "health" and gate.health is not None:
                return self.reply(200, {**gate.health, "server_time": gate.time()})
            if name in gate.extra and callable(gate.extra[name]):
                status, said = gate.extra[name](method, json.loads(body or b"null"))
                return self.reply(status, said, "application/json" if status < 400 else "application/problem+json")
            if name in gate.extra:
                return self.reply(200, gate.extra[name], "text/plain" if name == "log/checkpoint" else "application/json")
            if name == "approvals":
                wanted = query.get("state", ["pending"])[0]
                found = [gate.items[one] for one in gate.order if wanted in ("all", gate.items[one]["state"])]
                return self.reply(200, {"approvals": found, "more": False, "cursor": None, "server_time": gate.time(), "tree_size": gate.sequence})
            if name == "approvals/batch":
                return self.batch(json.loads(body))
            if parts[0] == "approvals" and len(parts) == 2 and parts[1] in gate.pages:
                page = copy.deepcopy(gate.pages[parts[1]])
                if "full" in query and page["shown"]["truncated"]:
                    text = page["shown"]["text"].replace("[left out]", "all of it")
                    page["shown"] = {"text": text, "truncated": False, "segments": [{"text": text}]}
                return self.reply(200, page)
            if parts[0] == "approvals" and len(parts) == 3 and parts[2] == "respond":
                return self.respond(parts[1], json.loads(body))
        if name == "stream" and gate.serves_stream:
            return self.stream()
        return self.problem(404, "not_found")

    def batch(self, answers):
        gate, told = self.owner, []
        for one in answers:
            page = gate.pages[one["request_id"]]
            ok = page["state"] == "pending" and one["binding"] == page["request"]["binding"] and one["approved"] in (True, False)
            told.append({"request_id": one["request_id"], "ok": ok, **({} if ok else {"code": "not_pending", "error": "it no longer waits"})})
            if ok:
                gate.answers.append((one["request_id"], one))
                state = "approved" if one["approved"] else "denied"
                gate.items[one["request_id"]]["state"] = page["state"] = state
        return self.reply(200, {"answers": told})

    def respond(self, name, body):
        gate = self.owner
        key = self.headers.get("Idempotency-Key")
        if key in gate.remembered:
            return self.reply(200, gate.remembered[key], Idempotency_Replayed="true")
        page = gate.pages[name]
        if page["state"] != "pending":
            return self.problem(409, "not_pending", state=page["state"])
        if body.get("binding") != page["request"]["binding"]:
            return self.problem(412, "binding_mismatch")
        gate.answers.append((name, body))
        state = "approved" if body.get("approved") else "denied"
        gate.remembered[key] = {"request_id": name, "state": state}
        page["responses"].append({"reviewer": "user:ada", "approved": state == "approved", "responded_at": now(), "door": "console", "signature": "",
                                  "reason": body.get("reason")})
        gate.settle(name, state)
        if gate.lose > 0:
            gate.lose -= 1
            self.close_connection = True
            return None
        return self.reply(200, gate.remembered[key])

    def stream(self):
        gate = self.owner
        mine = queue.Queue()
        with gate.lock:
            gate.streams.append(mine)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.chunk(": open\n\n" + f"event: health\ndata: {json.dumps(gate.health or {})}\n\n")
            while (frame := mine.get(timeout=300)) is not None:
                self.chunk(frame)
        except (OSError, queue.Empty):
            pass
        finally:
            with gate.lock:
                gate.streams.remove(mine)
            self.close_connection = True

    def chunk(self, text):
        data = text.encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()
