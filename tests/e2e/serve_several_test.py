#!/usr/bin/env python3
"""Several tool servers behind one address: a program, a server of sessions over HTTP and a stateless one."""
import json
import sys
import time
import unittest

from mcp_http_server import LegacyServer, ModernServer
from mcp_support import FAKE
from serve_support import Server, ServeTest, Session, events, modern, modern_headers

# Answers the initialization and nothing else.
HANGS = """
import json, sys
opened = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "h", "version": "1"}}
print(json.dumps({"jsonrpc": "2.0", "id": json.loads(sys.stdin.readline())["id"], "result": opened}), flush=True)
for line in sys.stdin:
    pass
"""

# Delays the answer to its first request, and then has one tool. Prints received messages on standard error.
SLOW = """
import json, sys, time
for line in sys.stdin:
    message = json.loads(line)
    print(message["method"], file=sys.stderr, flush=True)
    if message["method"] == "initialize":
        time.sleep({seconds})
    results = {{"initialize": {{"protocolVersion": "2025-06-18", "capabilities": {{"tools": {{}}}}, "serverInfo": {{"name": "s", "version": "1"}}}},
               "tools/list": {{"tools": [{{"name": "late", "inputSchema": {{"type": "object"}}}}]}},
               "tools/call": {{"content": [{{"type": "text", "text": "came late"}}]}}}}
    answer = {{"result": results[message["method"]]}} if message["method"] in results else {{"error": {{"code": -32601, "message": "no"}}}}
    if "id" in message:
        print(json.dumps({{"jsonrpc": "2.0", "id": message["id"], **answer}}), flush=True)
"""


def heard(stream, method):
    """Waits for a notification on an open stream."""
    for event in events(stream):
        if event.get("data") and json.loads(event["data"]).get("method") == method:
            return json.loads(event["data"])
    raise AssertionError(f"the stream ended without {method}")


class Several(ServeTest):
    def several(self, *upstreams):
        lines = "".join(f"    - {json.dumps(upstream)}\n" for upstream in upstreams)
        return self.write("serve.yaml", f"version: 1\ndata_dir: data\nserve:\n  listen: 127.0.0.1:0\n  upstreams:\n{lines}")

    def setUp(self):
        super().setUp()
        self.sessions, self.stateless_server = LegacyServer(token="t0ps3cret"), ModernServer()
        self.addCleanup(self.sessions.stop)
        self.addCleanup(self.stateless_server.stop)

    def all_three(self):
        config = self.several({"name": "local", "command": [sys.executable, str(FAKE)]},
                              {"name": "old", "url": self.sessions.url, "bearer_env": "OLD_TOKEN"},
                              {"name": "new", "url": self.stateless_server.url, "era": "modern"})
        server = Server(self, config, self.environment(OLD_TOKEN="t0ps3cret"))
        self.addCleanup(self.end_server, server)
        return server

    def test_tools_of_all_are_listed_and_called_by_the_name_of_their_server(self):
        server = self.all_three()
        session = Session(server)
        self.assertEqual(session.opened["serverInfo"]["name"], "sallyport")
        names = [tool["name"] for tool in session.request("tools/list")[-1]["result"]["tools"]]
        for name in ("local", "old", "new"):
            self.assertIn(f"{name}.echo", names)
            self.assertEqual(session.said(f"{name}.echo", {"message": name}), name)
        self.assertEqual(session.said("old.secret"), "key **** ends")
        server.stop()
        ends = self.one_end_for_each_call(4)
        self.assertEqual([record["server"] for record in ends], ["local", "old", "new", "old"])
        self.assertEqual([record["tool_name"] for record in ends], ["echo", "echo", "echo", "secret"])

    def test_stateless_clients_reach_all_of_them(self):
        server = self.all_three()
        status, said = self.stateless(server, modern("server/discover"))
        self.assertEqual((status, said[-1]["result"]["supportedVersions"]), (200, ["2026-07-28"]))
        for name in ("local", "old", "new"):
            status, said = self.stateless(server, modern("tools/call", {"name": f"{name}.echo", "arguments": {"message": name}}))
            self.assertEqual((status, said[-1]["result"]["content"][0]["text"]), (200, name))

    def test_a_name_that_no_server_can_have_is_a_recorded_refusal(self):
        server = self.all_three()
        session = Session(server)
        said = session.call("echo", {"message": "x"})[-1]["result"]
        self.assertTrue(said["isError"])
        self.assertIn("unknown tool `echo`", said["content"][0]["text"])
        status, answers = self.stateless(server, modern("tools/call", {"name": "nowhere.echo", "arguments": {}}))
        self.assertEqual((status, answers[-1]["result"]["isError"], answers[-1]["result"]["resultType"]), (200, True, "complete"))
        asked = [("prompts/get", {"name": "x"}), ("completion/complete", {"ref": {"type": "ref/prompt", "name": "y"}, "argument": {"name": "a", "value": ""}}),
                 ("tasks/result", {"taskId": "z"}), ("tasks/get", {"taskId": "z"})]
        errors = [session.request(method, params)[-1]["error"] for method, params in asked]
        self.assertEqual([error["code"] for error in errors], [-32602] * 4)
        status, answers = self.stateless(server, modern("prompts/get", {"name": "nowhere.x"}))
        self.assertEqual((status, answers[-1]["error"]["code"]), (200, -32602))
        # Protocol errors are no calls: no tool is named, or the method does not exist.
        for method, params in (("prompts/get", {}), ("tools/call", {"arguments": {}}), ("resources/read", {})):
            self.assertNotIn("data", session.request(method, params)[-1]["error"], method)
        server.stop()
        ends = self.one_end_for_each_call(7)
        self.assertEqual([(record["server"], record["tool_name"], record["outcome"]["kind"]) for record in ends],
                         [("", name, "blocked") for name in ("echo", "nowhere.echo", "prompts/get", "completion/complete", "tasks/result", "tasks/get", "prompts/get")])
        recorded = [line["entry"]["id"] for line in self.good("ledger", "show", "--kind", "tool_audit", "--json", "--limit", "100").lines()]
        for error in [*errors, answers[-1]["error"]]:
            self.assertIn(error["data"]["record"], recorded)
            self.assertIn(error["data"]["record"], error["message"])

    def test_a_resource_that_nobody_listed_is_asked_of_a_server_and_recorded(self):
        server = self.all_three()
        session = Session(server)
        session.request("resources/read", {"uri": "nothing://like/it"})
        server.stop()
        [record] = self.one_end_for_each_call(1)
        self.assertEqual((record["server"], record["tool_name"]), ("local", "resources/read"))

    def test_tasks_are_called_by_the_name_of_their_server(self):
        config = self.several(*({"name": name, "command": [sys.executable, str(FAKE)]} for name in ("one", "two")))
        server = Server(self, config)
        self.addCleanup(self.end_server, server)
        session = Session(server)
        for name in ("one", "two"):
            said = session.call(f"{name}.echo", {"message": name}, task={"ttl": 1000})
            self.assertEqual(said[-1]["result"]["task"]["taskId"], f"{name}.t1")
        self.assertEqual([task["taskId"] for task in session.request("tasks/list")[-1]["result"]["tasks"]], ["one.t1", "two.t1"])
        for name in ("one", "two"):
            self.assertEqual(session.request("tasks/get", {"taskId": f"{name}.t1"})[-1]["result"]["taskId"], f"{name}.t1")
            result = session.request("tasks/result", {"taskId": f"{name}.t1"})[-1]["result"]
            self.assertEqual(result["content"][0]["text"], name)
            self.assertEqual(result["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], f"{name}.t1")
        for wrong in ("t1", "three.t1", "two.t9"):
            self.assertEqual(session.request("tasks/get", {"taskId": wrong})[-1]["error"]["code"], -32602)

    def test_progress_and_questions_find_their_way(self):
        session = Session(self.all_three(), {"sampling": {}})
        said = session.call("old.progress", _meta={"progressToken": "t"})
        self.assertEqual([m["params"]["progress"] for m in said[:-1]], [0, 1, 2])
        response = session.open("tools/call", {"name": "old.ask_sampling", "arguments": {}})
        for event in events(response):
            message = json.loads(event["data"]) if event.get("data") else {}
            if message.get("method") == "sampling/createMessage":
                session.send({"id": message["id"], "result": {"said": "yes"}})
            elif "result" in message:
                self.assertEqual(message["result"]["content"][0]["text"], '{"said": "yes"}')
                break
        response.close()

    def test_one_that_is_not_there_harms_no_other(self):
        server = self.all_three()
        self.sessions.stop()
        session = Session(server)
        self.assertEqual(session.said("local.echo", {"message": "x"}), "x")
        self.assertEqual(session.said("new.echo", {"message": "y"}), "y")

    # The session was opened without this server, and must not have to be opened again.
    def test_one_that_comes_back_is_there_for_sessions_that_were_opened_without_it(self):
        server = self.all_three()
        port = self.sessions.server_address[1]
        self.sessions.stop()
        session = Session(server)

        def listed():
            return {tool["name"].split(".")[0] for tool in session.request("tools/list")[-1]["result"]["tools"]}
        begin = time.monotonic()
        self.assertEqual(listed(), {"local", "new"})
        self.assertLess(time.monotonic() - begin, 20, "nobody waits for one that refuses to be reached")
        self.sessions = LegacyServer(token="t0ps3cret", port=port)
        self.addCleanup(self.sessions.stop)
        self.assertEqual(session.said("old.echo", {"message": "back"}), "back")
        self.assertEqual(listed(), {"local", "old", "new"})

    def test_one_that_hangs_costs_its_long_time_once(self):
        hangs = self.write("hangs.py", HANGS)
        config = self.several({"name": "local", "command": [sys.executable, str(FAKE)]}, {"name": "hangs", "command": [sys.executable, str(hangs)]})
        server = Server(self, config)
        self.addCleanup(self.end_server, server)
        session = Session(server)
        self.assertTrue(session.request("tools/list")[-1]["result"]["tools"])
        begin = time.monotonic()
        self.assertTrue(session.request("tools/list")[-1]["result"]["tools"])
        self.assertLess(time.monotonic() - begin, 20)

    def names(self, said):
        return {tool["name"] for tool in said["result"]["tools"]}

    def one_slow(self, seconds):
        slow = self.write("slow.py", SLOW.format(seconds=seconds))
        config = self.several({"name": "local", "command": [sys.executable, str(FAKE)]}, {"name": "slow", "command": [sys.executable, str(slow)]})
        server = Server(self, config)
        self.addCleanup(self.end_server, server)
        return server

    # The gate once waited half a minute for all of them.
    def test_one_that_is_slow_to_start_joins_the_others_and_the_client_hears_of_it(self):
        server = self.one_slow(15)
        begin = time.monotonic()
        session = Session(server)
        opened = time.monotonic()
        self.assertLess(opened - begin, 14)
        self.assertTrue(session.opened["capabilities"]["tools"]["listChanged"])
        self.assertIn("prompts", session.opened["capabilities"])  # the slow server may have some
        standing = session.listen()
        self.addCleanup(standing.close)
        names = self.names(session.request("tools/list")[-1])
        self.assertIn("local.echo", names)
        self.assertNotIn("slow.late", names)
        heard(standing, "notifications/tools/list_changed")
        self.assertIn("slow.late", self.names(session.request("tools/list")[-1]))
        self.assertEqual(session.said("slow.late"), "came late")
        # It was initialized once, in the right order.
        said = [line.strip() for line in server.errors if "[slow]" in line]
        self.assertEqual([line.split()[-1] for line in said][:2], ["initialize", "notifications/initialized"], said)

    def test_a_stateless_client_that_listens_hears_of_it_too(self):
        server = self.one_slow(25)
        self.stateless(server, modern("server/discover"))
        time.sleep(2)  # meanwhile the gate answered for the slow server, which has not answered itself
        listen = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="l")
        standing = server.open(body=listen, headers=modern_headers(listen))
        self.addCleanup(standing.close)
        granted = heard(standing, "notifications/subscriptions/acknowledged")["params"]
        self.assertEqual(granted["notifications"], {"toolsListChanged": True})
        begin = time.monotonic()
        names = self.names(self.stateless(server, modern("tools/list"))[1][-1])
        self.assertLess(time.monotonic() - begin, 12)
        self.assertIn("local.echo", names)
        self.assertNotIn("slow.late", names)
        told = heard(standing, "notifications/tools/list_changed")
        self.assertEqual(told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "l")
        self.assertIn("slow.late", self.names(self.stateless(server, modern("tools/list"))[1][-1]))

    def test_the_client_hears_when_one_that_was_not_there_is_back(self):
        server = self.all_three()
        port = self.sessions.server_address[1]
        session = Session(server)
        standing = session.listen()
        self.addCleanup(standing.close)
        self.assertIn("old.echo", self.names(session.request("tools/list")[-1]))
        self.sessions.stop()
        self.assertNotIn("old.echo", self.names(session.request("tools/list")[-1]))
        self.sessions = LegacyServer(token="t0ps3cret", port=port)
        self.addCleanup(self.sessions.stop)
        heard(standing, "notifications/tools/list_changed")
        self.assertIn("old.echo", self.names(session.request("tools/list")[-1]))

    def test_a_program_that_is_installed_later_is_served_in_sessions_that_are_open(self):
        program = self.folder / "later"
        config = self.several({"name": "local", "command": [sys.executable, str(FAKE)]}, {"name": "later", "command": [str(program)]})
        server = Server(self, config)
        self.addCleanup(self.end_server, server)
        session = Session(server)
        standing = session.listen()
        self.addCleanup(standing.close)
        self.assertNotIn("later.late", self.names(session.request("tools/list")[-1]))
        program.write_text(f"#!{sys.executable}\n" + SLOW.format(seconds=0))
        program.chmod(0o755)
        heard(standing, "notifications/tools/list_changed")
        self.assertEqual(session.said("later.late"), "came late")
        server.stop()
        self.assertEqual("".join(server.errors).count("is not served any more"), 1)

    def test_the_log_says_which_server_ended(self):
        server = self.all_three()
        session = Session(server)
        self.assertTrue(session.call("local.die")[-1]["result"]["isError"])
        self.assertEqual(session.said("local.echo", {"message": "again"}), "again")
        server.stop()
        self.assertIn("sallyport: `local`: the server ended", "".join(server.errors))

    def test_what_cannot_be_is_refused(self):
        for upstream, words in (({"name": "x"}, "needs a `command` or a `url`"),
                                ({"name": "x", "url": "http://example.com/mcp"}, "without encryption"),
                                ({"name": "x", "url": "nowhere"}, "not a URL"),
                                ({"name": "x", "url": "https://example.com", "bearer_env": "NO_SUCH"}, "`bearer_env`: the variable `NO_SUCH` is not set"),
                                ({"name": "x", "command": ["cat"], "allow_http": True}, "`bearer_env` and `allow_http` of `x` are for a `url`"),
                                ({"name": "x", "command": ["cat"], "bearer_env": "T"}, "`bearer_env` and `allow_http` of `x` are for a `url`"),
                                ({"name": "x", "url": "https://example.com", "auth": {"client_secret_env": "NO_SUCH"}}, "`client_secret_env`: the variable `NO_SUCH` is not set"),
                                ({"name": "x", "url": "https://example.com", "auth": {"grant": "client_credentials"}}, "`grant: client_credentials` needs `client_id`")):
            done = self.run_bare("serve", "--config", self.several(upstream))
            self.assertNotEqual(done.code, 0)
            self.assertIn(words, done.err)
            # The errors named options of `sallyport mcp`, which were not given here.
            self.assertNotIn("`--bearer-env`:", done.err)
            self.assertNotIn("--client", done.err)


if __name__ == "__main__":
    unittest.main()
