#!/usr/bin/env python3
"""Clients of the stateless era over HTTP: one POST holds everything, and headers repeat it."""
import http.client
import json
import pathlib
import socket
import sys
import time
import unittest

from mcp_support import FAKE
from serve_support import META, MODERN, ServeTest, Session, events, in_background, messages, modern, modern_headers

MODERN_SERVER = pathlib.Path(__file__).with_name("mcp_modern_server.py")


class Stateless(ServeTest):
    def refused(self, server, message, status, code, **headers):
        got, said = self.stateless(server, message, **headers)
        self.assertEqual((got, said[0]["error"]["code"]), (status, code), said)
        return said[0]["error"]

    def lost(self, server, message, connection):
        with self.assertRaises(http.client.RemoteDisconnected):
            server.open(body=message, headers=modern_headers(message), connection=connection)

    def test_requests_need_no_session(self):
        server = self.serve()
        status, said = self.stateless(server, modern("server/discover", id="d"))
        self.assertEqual((status, said[0]["id"], said[0]["result"]["supportedVersions"]), (200, "d", [MODERN]))
        status, said = self.stateless(server, modern("tools/list", id=2))
        self.assertEqual((said[0]["result"]["cacheScope"], said[0]["result"]["ttlMs"]), ("private", 0))
        status, said = self.stateless(server, modern("tools/call", {"name": "echo", "arguments": {"message": "hi"}}, id=3))
        self.assertEqual((said[0]["result"]["content"][0]["text"], said[0]["result"]["resultType"]), ("hi", "complete"))
        self.assertEqual(server.ask("GET", headers={"MCP-Protocol-Version": MODERN})[0], 405)
        self.assertEqual(server.ask("DELETE", headers={"MCP-Protocol-Version": MODERN})[0], 405)
        server.stop()
        self.one_end_for_each_call(1)

    def test_headers_must_say_what_the_body_says(self):
        server = self.serve()
        echo = modern("tools/call", {"name": "echo", "arguments": {}})
        for wrong in ({"MCP-Protocol-Version": None}, {"Mcp-Method": None}, {"Mcp-Method": "tools/list"}, {"Mcp-Name": None},
                      {"Mcp-Name": "other"}, {"Mcp-Name": "=?base64?###?="}, {"MCP-Protocol-Version": "2025-11-25"}):
            self.refused(server, echo, 400, -32020, **wrong)
        status, _ = self.stateless(server, echo, **{"Mcp-Name": "=?base64?ZWNobw==?="})
        self.assertEqual(status, 200)
        server.stop()
        self.one_end_for_each_call(1)

    def test_what_the_body_lacks_is_told(self):
        server = self.serve()
        bare = modern("tools/list")
        del bare["params"]["_meta"][META + "clientCapabilities"]
        self.refused(server, bare, 400, -32602)
        del bare["params"]["_meta"][META + "protocolVersion"]
        self.refused(server, bare, 400, -32602)
        new = modern("tools/list", **{META + "protocolVersion": "2031-01-01"})
        error = self.refused(server, new, 400, -32022, **{"MCP-Protocol-Version": "2031-01-01"})
        self.assertEqual(error["data"], {"supported": [MODERN], "requested": "2031-01-01"})
        self.refused(server, modern("no/such"), 404, -32601)
        self.refused(server, modern("ping"), 404, -32601)

    def test_equal_ids_and_tokens_of_different_requests_do_not_meet(self):
        server = self.serve(env=self.noting_calls())
        slow = modern("tools/call", {"name": "slow", "arguments": {"seconds": 1}}, id=1, progressToken="t")
        first = in_background(lambda: self.stateless(server, slow))
        self.wait_until_called("slow")
        _, said = self.stateless(server, modern("tools/call", {"name": "progress", "arguments": {}}, id=1, progressToken="t"))
        self.assertEqual([m["params"]["progressToken"] for m in said[:-1]], ["t"] * 3)
        self.assertEqual((said[-1]["id"], said[-1]["result"]["content"][0]["text"]), (1, "progressed"))
        _, said = first.get(timeout=60)
        self.assertEqual([(m.get("id"), m["result"]["content"][0]["text"]) for m in said], [(1, "slept")])

    def test_closing_the_stream_cancels(self):
        server = self.serve(env=self.noting_calls())
        stall = modern("tools/call", {"name": "stall", "arguments": {}}, id=1)
        connection = server.connection()
        in_background(lambda: self.lost(server, stall, connection))
        self.wait_until_called("stall")
        connection.sock.shutdown(socket.SHUT_RDWR)
        end = time.monotonic() + 30
        ends = []
        while not ends and time.monotonic() < end:
            shown = self.cli("ledger", "show", "--terminal", "true", "--json")
            ends = shown.lines() if shown.code == 0 else []
            time.sleep(0.1)
        self.assertEqual(len(ends), 1)
        self.assertIn("cancelled", json.dumps(ends[0]))
        status, said = self.stateless(server, modern("tools/call", {"name": "echo", "arguments": {"message": "on"}}))
        self.assertEqual(said[0]["result"]["content"][0]["text"], "on")

    def test_a_question_of_an_old_server_becomes_a_second_request(self):
        server = self.serve()
        params = {"name": "ask_roots", "arguments": {}}
        _, said = self.stateless(server, modern("tools/call", params, id=1, capabilities={"roots": {}}))
        asked = said[-1]["result"]
        self.assertEqual(asked["resultType"], "input_required")
        key = next(iter(asked["inputRequests"]))
        retry = {**params, "inputResponses": {key: {"roots": []}}, "requestState": asked["requestState"]}
        # The call continues for a client that presents the grants with which it was made.
        _, said = self.stateless(server, modern("tools/call", retry, id=2, capabilities={"roots": {}}, **{"sallyport/grant": {"x": 1}}))
        self.assertIn("names no call that waits", said[-1]["error"]["message"])
        _, said = self.stateless(server, modern("tools/call", retry, id=3, capabilities={"roots": {}}))
        self.assertIn("was told", said[-1]["result"]["content"][0]["text"])

    def test_a_subscription_is_a_stream_of_its_own(self):
        for command in ((sys.executable, MODERN_SERVER), None):
            with self.subTest(command=command):
                server = self.serve(command=command) if command else self.serve()
                listen = modern("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, id="L")
                stream = server.open(body=listen, headers=modern_headers(listen))
                self.assertEqual(stream.getheader("content-type"), "text/event-stream")
                self.assertEqual(stream.getheader("x-accel-buffering"), "no")
                heard = (json.loads(event["data"]) for event in events(stream))
                first = next(heard)
                self.assertEqual(first["method"], "notifications/subscriptions/acknowledged")
                self.assertEqual(first["params"]["_meta"][META + "subscriptionId"], "L")
                tool = "change" if command else "rename"
                self.stateless(server, modern("tools/call", {"name": tool, "arguments": {"suffix": "y"}}))
                told = next(heard)
                self.assertEqual((told["method"], told["params"]["_meta"][META + "subscriptionId"]), ("notifications/tools/list_changed", "L"))
                server.stop()
                # The stream ended without a result, or with an error about the server.
                self.assertEqual([(last["id"], last["result"]) for last in heard],
                                 [("L", {"_meta": {META + "subscriptionId": "L"}, "resultType": "complete"})])

    def test_arguments_that_headers_repeat_are_compared(self):
        script = self.write("region.py", REGION_SERVER)
        server = self.serve(command=(sys.executable, script))
        call = modern("tools/call", {"name": "put", "arguments": {"region": "eu", "n": 7}})
        self.assertEqual(self.stateless(server, call, **{"Mcp-Param-Region": "eu", "Mcp-Param-N": "7"})[0], 200)
        self.refused(server, call, 400, -32020, **{"Mcp-Param-Region": "us", "Mcp-Param-N": "7"})
        self.refused(server, call, 400, -32020, **{"Mcp-Param-N": "7"})
        self.refused(server, call, 400, -32020, **{"Mcp-Param-Region": "eu", "Mcp-Param-N": "8"})
        absent = modern("tools/call", {"name": "put", "arguments": {"n": 7}})
        self.assertEqual(self.stateless(server, absent, **{"Mcp-Param-N": "7"})[0], 200)
        self.refused(server, absent, 400, -32020, **{"Mcp-Param-N": "7", "Mcp-Param-Region": "eu"})
        server.stop()
        self.one_end_for_each_call(2)

    def test_both_eras_are_served_at_once(self):
        server = self.serve()
        session = Session(server)
        _, said = self.stateless(server, modern("tools/call", {"name": "echo", "arguments": {"message": "new"}}))
        self.assertEqual(said[0]["result"]["content"][0]["text"], "new")
        self.assertEqual(session.said("echo", {"message": "old"}), "old")

    def test_a_server_that_is_slow_to_start_does_not_keep_a_client_from_discovering(self):
        go = self.folder / "go"
        server = self.serve(command=("sh", "-c", f"while [ ! -e {go} ]; do sleep 0.05; done; exec {sys.executable} {FAKE}"))
        status, said = self.stateless(server, modern("server/discover"))
        self.assertEqual((status, said[-1]["result"]["supportedVersions"], said[-1]["result"]["ttlMs"]), (200, ["2026-07-28"], 0))
        self.assertIn("tools", said[-1]["result"]["capabilities"])
        go.touch()
        status, said = self.stateless(server, modern("tools/call", {"name": "echo", "arguments": {"message": "awake"}}))
        self.assertEqual(said[-1]["result"]["content"][0]["text"], "awake")
        status, said = self.stateless(server, modern("server/discover"))
        self.assertNotIn("completions", said[-1]["result"]["capabilities"])

    def test_a_message_that_is_none_is_refused(self):
        server = self.serve()
        for body, code in ((b"{", -32700), (b"[]", -32600), (b"3", -32600), (b'{"jsonrpc":"1.0","id":1,"method":"x"}', -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"x"}', -32600), (b"\xff", -32700)):
            status, _, said = server.ask(body=body)
            self.assertEqual((status, json.loads(said)["error"]["code"]), (400, code), body)
        status, _, _ = server.ask(body={"jsonrpc": "2.0", "id": 1, "result": {}}, headers={"MCP-Protocol-Version": MODERN})
        self.assertEqual(status, 400)
        status, _, said = server.ask(body={"jsonrpc": "2.0", "method": "notifications/x"}, headers={"MCP-Protocol-Version": MODERN})
        self.assertEqual((status, said), (202, b""))


REGION_SERVER = '''
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    if m.get("method") == "initialize":
        r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "r", "version": "1"}}
    elif m.get("method") == "tools/list":
        r = {"tools": [{"name": "put", "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer", "x-mcp-header": "N"}}}}]}
    elif m.get("method") == "tools/call":
        r = {"content": []}
    else:
        if "id" in m:
            print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
'''


if __name__ == "__main__":
    unittest.main()
