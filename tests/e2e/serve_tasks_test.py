#!/usr/bin/env python3
"""Tasks of a server that does not distinguish agents: each agent sees and ends only its own."""
import hashlib
import json
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mcp_http_server import ModernHandler, ModernServer
from serve_support import ServeTest, Session, Server, events, modern, modern_headers

TOKENS = {"alice": "a" * 40, "bob": "b" * 40}
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}


class TaskServer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    tasks = {}

    def log_message(self, *_):
        pass

    def say(self, status, message=None):
        body = json.dumps(message).encode() if message else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.say(405)

    def do_DELETE(self):
        self.say(405)

    @staticmethod
    def task(id, status="completed"):
        return {"taskId": id, "status": status, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z",
                "ttl": None}

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            return self.say(202)
        result = self.result_of(message["method"], message.get("params") or {})
        part = {"result": result} if result is not None else {"error": {"code": -32601, "message": "no"}}
        self.say(200, {"jsonrpc": "2.0", "id": message["id"], **part})

    def result_of(self, method, params):
        if method == "initialize":
            return {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "tasks", "version": "1"},
                    "capabilities": {"tools": {}, "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}}}
        if method == "tools/list":
            return {"tools": [{"name": "job", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}}]}
        if method == "tools/call":
            id = f"task-{len(self.tasks)}"
            self.tasks[id] = params["arguments"]["message"]
            return {"task": self.task(id)}
        if method == "tasks/list":
            return {"tasks": [self.task(id) for id in self.tasks]}
        if method == "tasks/get":
            return self.task(params["taskId"])
        if method == "tasks/cancel":
            return self.task(params["taskId"], "cancelled")
        if method == "tasks/result":
            return {"content": [{"type": "text", "text": self.tasks[params["taskId"]]}]}
        return None


class StatelessTasks(ModernServer):
    """Makes a task of every call, and accepts any client that names one."""

    class handler(ModernHandler):
        def hear(self, message):
            if message["method"] != "server/discover":
                return super().hear(message)
            self.message({"id": message["id"], "result": {"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                                                          "capabilities": {"tools": {}, **TASKS}}})

        def call(self, id, params):
            self.message({"id": id, "result": {"resultType": "task", "taskId": "hers", "status": "working"}})
            return True


class Tasks(ServeTest):
    def sessions(self):
        behind = ThreadingHTTPServer(("127.0.0.1", 0), TaskServer)
        self.addCleanup(behind.server_close)
        self.addCleanup(behind.shutdown)
        threading.Thread(target=behind.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{behind.server_port}/mcp"

    def start(self, url=None):
        url = url or self.sessions()
        agents = "".join(f"    - {{name: {name}, token_sha256: {hashlib.sha256(token.encode()).hexdigest()}}}\n"
                         for name, token in TOKENS.items())
        self.config = self.write("tasks.yaml", f"version: 1\ndata_dir: data\nserve:\n  listen: 127.0.0.1:0\n  agents:\n{agents}"
                                 f"  upstreams:\n    - {{name: t, url: '{url}', allow_http: true}}\n")
        return self.start_again()

    def start_again(self):
        server = Server(self, self.config)
        self.addCleanup(self.end_server, server)
        return server

    @staticmethod
    def listed(session):
        return [task["taskId"] for task in session.request("tasks/list")[-1]["result"]["tasks"]]

    def test_nobody_sees_reads_or_ends_a_task_of_another_agent(self):
        TaskServer.tasks.clear()
        server = self.start()
        alice, bob = (Session(server, token=TOKENS[name]) for name in ("alice", "bob"))
        hers = alice.call("job", {"message": "hers"}, task={"ttl": 60000})[-1]["result"]["task"]["taskId"]
        his = bob.call("job", {"message": "his"}, task={"ttl": 60000})[-1]["result"]["task"]["taskId"]
        self.assertEqual((self.listed(alice), self.listed(bob)), ([hers], [his]))
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            self.assertIn("error", bob.request(method, {"taskId": hers})[-1], method)
            self.assertIn("result", alice.request(method, {"taskId": hers})[-1], method)
        server.stop()
        # The server behind the gate has outlived it, and so has the ownership of its tasks.
        again = self.start_again()
        bob = Session(again, token=TOKENS["bob"])
        self.assertEqual(self.listed(bob), [his])
        self.assertIn("error", bob.request("tasks/result", {"taskId": hers})[-1])
        again.stop()
        ends = {(r["agent_id"], r["tool_name"], r["outcome"]["kind"]) for r in self.one_end_for_each_call(7)}
        self.assertIn(("bob", "tasks/result", "blocked"), ends)

    # They were once shown to every agent.
    def test_a_task_that_came_from_no_call_through_the_gate_is_nobodys(self):
        TaskServer.tasks.clear()
        TaskServer.tasks["elsewhere"] = "from another client of the server"
        alice = Session(self.start(), token=TOKENS["alice"])
        hers = alice.call("job", {"message": "hers"}, task={"ttl": 60000})[-1]["result"]["task"]["taskId"]
        self.assertEqual(self.listed(alice), [hers])
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            error = alice.request(method, {"taskId": "elsewhere"})[-1]["error"]
            self.assertEqual((error["code"], error["message"].split(" (record")[0]), (-32602, "there is no such task"), method)

    def test_a_server_without_tasks_has_no_such_method(self):
        behind = ModernServer()
        self.addCleanup(behind.stop)
        server = self.start(behind.url)
        get = modern("tasks/get", {"taskId": "t"}, capabilities=TASKS)

        def refused():
            status, said = self.stateless(server, get, token=TOKENS["bob"], **{"Mcp-Name": "t"})
            self.stateless(server, modern("tools/list"), token=TOKENS["bob"])  # it is there the next time
            return status, said[-1]["error"]["code"]
        refused()
        self.wait_until(lambda: refused() == (404, -32601))

    # The server once got every id that a client named, and reported all of them.
    def test_nobody_listens_to_a_task_of_another_agent(self):
        behind = StatelessTasks()
        self.addCleanup(behind.stop)
        server = self.start(behind.url)
        status, said = self.stateless(server, modern("tools/call", {"name": "echo", "arguments": {}}, capabilities=TASKS), token=TOKENS["alice"])
        self.assertEqual((status, said[-1]["result"]["taskId"]), (200, "hers"))
        heard = {}
        for name in TOKENS:
            listen = modern("subscriptions/listen", {"notifications": {"taskIds": ["hers", "elsewhere"]}}, capabilities=TASKS)
            response = server.open(body=listen, headers=modern_headers(listen), token=TOKENS[name])
            self.addCleanup(response.close)
            heard[name] = events(response)
            granted = json.loads(next(heard[name])["data"])["params"]["notifications"].get("taskIds", [])
            self.assertEqual(granted, ["hers"] if name == "alice" else [], name)
        wanted = [message["params"]["notifications"] for _, message in behind.requests if message["method"] == "subscriptions/listen"]
        self.assertEqual(wanted, [{"taskIds": ["hers"]}, {}])
        # A server that notifies all clients of everything still notifies an agent of its own task. It records a stream only
        # after the acknowledgement on it.
        self.wait_until(lambda: len(behind.streams) == 2)
        for task in ("elsewhere", "hers"):
            for stream, tag in behind.streams:
                stream.event({"method": "notifications/tasks", "params": {"_meta": tag, "taskId": task, "status": "working"}})
        self.assertEqual(json.loads(next(heard["alice"])["data"])["params"]["taskId"], "hers")
        for stream, tag in behind.streams:
            stream.event({"method": "notifications/tools/list_changed", "params": {"_meta": tag}})
        self.assertEqual(json.loads(next(heard["bob"])["data"])["method"], "notifications/tools/list_changed")


if __name__ == "__main__":
    unittest.main()
