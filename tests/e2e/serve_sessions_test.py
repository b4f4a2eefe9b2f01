#!/usr/bin/env python3
"""Clients of the session era over HTTP: sessions, streams, and the messages for a client that reconnects."""
import json
import pathlib
import socket
import sys
import time
import unittest

from mcp_support import alive
from serve_support import LEGACY, ServeTest, Session, events, in_background, messages


class Sessions(ServeTest):
    def test_a_session_is_opened_used_and_ended(self):
        server = self.serve()
        session = Session(server)
        self.assertEqual(session.opened["serverInfo"]["name"], "fake")
        self.assertGreaterEqual(len(session.id), 32)
        self.assertEqual(session.said("echo", {"message": "hi"}), "hi")
        self.assertEqual(session.said("secret"), "key **** ends")
        ended = server.ask("DELETE", headers=session.headers)
        self.assertEqual(ended[0], 204)
        self.assertEqual(session.send({"id": 9, "method": "tools/list"})[0], 404)
        server.stop()
        ends = self.one_end_for_each_call(2)
        self.assertEqual(len({end["session_id"] for end in ends}), 1)
        self.assertNotIn(session.id, json.dumps(ends))

    def test_every_session_has_a_server_of_its_own_which_ends_with_it(self):
        server = self.serve()
        one, two = Session(server), Session(server)
        first, second = int(one.said("pid")), int(two.said("pid"))
        self.assertNotEqual(first, second)
        server.ask("DELETE", headers=one.headers)
        end = time.monotonic() + 20
        while alive(first) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse(alive(first))
        self.assertTrue(alive(second))
        self.assertEqual(server.stop(), 0)
        self.assertFalse(alive(second))

    def test_a_request_without_a_session_is_refused(self):
        server = self.serve()
        status, _, body = server.ask(body={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        self.assertEqual((status, json.loads(body)["id"]), (400, 1))
        error = json.loads(body)["error"]
        self.assertEqual((error["code"], error["data"]["supported"][:2]), (-32602, ["2026-07-28", "2025-11-25"]))
        status, _, _ = server.ask(body={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, headers={"Mcp-Session-Id": "f" * 64})
        self.assertEqual(status, 404)
        self.assertEqual(server.ask("GET")[0], 405)
        self.assertEqual(server.ask("DELETE")[0], 405)
        self.assertEqual(server.ask("GET", headers={"Mcp-Session-Id": "f" * 64})[0], 404)

    def test_the_version_header_must_name_one_that_is_spoken(self):
        session = Session(self.serve())
        self.assertEqual(session.send({"id": 5, "method": "ping"}, **{"MCP-Protocol-Version": "1999-01-01"})[0], 400)
        self.assertEqual(session.send({"id": 6, "method": "ping"}, **{"MCP-Protocol-Version": None})[0], 200)
        self.assertEqual(session.send({"id": 7, "method": "ping"}, **{"MCP-Protocol-Version": "2025-06-18"})[0], 200)

    def test_progress_comes_before_the_answer_on_the_stream_of_its_request(self):
        session = Session(self.serve())
        said = session.call("progress", _meta={"progressToken": "t"})
        self.assertEqual([m["params"]["progress"] for m in said[:-1]], [0, 1, 2])
        self.assertEqual({m["params"]["progressToken"] for m in said[:-1]}, {"t"})
        self.assertIn("****", said[0]["params"]["message"])
        self.assertEqual(said[-1]["result"]["content"][0]["text"], "progressed")

    def test_two_calls_at_once_each_hear_their_own(self):
        session = Session(self.serve())
        slow = session.open("tools/call", {"name": "slow", "arguments": {"seconds": 0.3}})
        quick = session.said("echo", {"message": "q"})
        self.assertEqual((quick, messages(slow)[-1]["result"]["content"][0]["text"]), ("q", "slept"))

    def test_a_server_that_asks_is_answered_by_the_client_in_the_middle_of_the_call(self):
        session = Session(self.serve(), capabilities={"roots": {}})
        stream = session.open("tools/call", {"name": "ask_roots", "arguments": {}})
        heard = events(stream)
        first = next(event for event in heard if event.get("data"))
        self.assertEqual(first["event"], "message")
        question = json.loads(first["data"])
        self.assertEqual(question["method"], "roots/list")
        answered = session.send({"id": question["id"], "result": {"roots": [{"uri": "file:///r"}]}})
        self.assertEqual((answered[0], answered[2]), (202, b""))
        self.assertIn("file:///r", json.loads(next(heard)["data"])["result"]["content"][0]["text"])

    def test_what_belongs_to_no_request_comes_on_the_stream_of_the_session(self):
        session = Session(self.serve())
        stream = session.listen()
        self.assertEqual((stream.status, stream.getheader("content-type")), (200, "text/event-stream"))
        self.assertEqual(session.listen().status, 409)
        self.assertEqual(session.said("rename", {"suffix": "x"}), "renamed")
        told = next(event for event in events(stream) if event.get("data"))
        self.assertEqual(json.loads(told["data"])["method"], "notifications/tools/list_changed")

    def test_disconnecting_is_not_cancelling_and_the_answer_can_be_fetched(self):
        server = self.serve()
        session = Session(server)
        connection = server.connection()
        response = server.open(body={"jsonrpc": "2.0", "id": 40, "method": "tools/call", "params": {
            "name": "progress", "arguments": {}, "_meta": {"progressToken": 1}}}, headers=session.headers, connection=connection)
        first = next(event for event in events(response) if event.get("data"))
        connection.close()
        response.close()
        end = time.monotonic() + 20
        rest = []
        while time.monotonic() < end and not rest:
            rest = [json.loads(e["data"]) for e in events(session.listen(**{"Last-Event-ID": first["id"]})) if e.get("data")]
        self.assertEqual([m["params"]["progress"] for m in rest[:-1]], [1, 2])
        self.assertEqual(rest[-1]["id"], 40)
        # A stream whose answer was delivered stayed open.
        [last] = events(session.listen(**{"Last-Event-ID": "2-4"}))
        self.assertEqual((last["id"], last["data"]), ("2-4", ""))
        self.assertEqual(session.listen(**{"Last-Event-ID": "77-1"}).status, 400)
        self.assertEqual(session.listen(**{"Last-Event-ID": "x"}).status, 400)
        server.stop()
        self.assertEqual(self.one_end_for_each_call(1)[0]["outcome"]["kind"], "completed")

    def test_a_client_that_comes_back_replaces_a_connection_that_seems_alive(self):
        """The answer went to the old connection, and the stream of the session could not be read on a new one."""
        server = self.serve()
        session = Session(server)
        old = session.open("tools/call", {"name": "slow", "arguments": {"seconds": 7}})
        first = next(events(old))  # after five seconds
        new = session.listen(**{"Last-Event-ID": first["id"]})
        self.assertEqual([json.loads(e["data"])["id"] for e in events(new) if e.get("data")], [1])
        self.assertEqual([e for e in events(old) if e.get("data")], [])
        standing = session.listen()
        self.assertEqual(session.listen().status, 409)
        self.assertEqual(session.listen(**{"Last-Event-ID": "0-0"}).status, 200)
        self.assertEqual([e for e in events(standing) if e.get("data")], [])

    def test_what_was_said_under_another_policy_is_not_said_again(self):
        policy = self.write("policy.yaml", self.good("policy", "show", "starter").out)
        server = self.serve("policy: policy.yaml")
        session = Session(server)
        stream = session.open("tools/call", {"name": "progress", "arguments": {}, "_meta": {"progressToken": 1}})
        first = [event for event in events(stream) if event.get("data")][0]
        self.assertEqual(session.listen(**{"Last-Event-ID": first["id"]}).status, 200)
        policy.write_text(policy.read_text().replace("1800000", "1700000"))
        end = time.monotonic() + 30
        status = 200
        while status == 200 and time.monotonic() < end:
            status = session.listen(**{"Last-Event-ID": first["id"]}).status
            time.sleep(0.2)
        self.assertEqual(status, 400)
        self.assertEqual(session.listen(**{"Last-Event-ID": "0-0"}).status, 200)

    def test_a_cancelled_call_ends_and_is_recorded(self):
        server = self.serve(env=self.noting_calls())
        session = Session(server)
        waiting = in_background(lambda: session.open("tools/call", {"name": "stall", "arguments": {}}).read())
        self.wait_until_called("stall")
        self.assertEqual(session.send({"method": "notifications/cancelled", "params": {"requestId": 1}})[0], 202)
        self.assertNotIn(b"result", waiting.get(timeout=60))
        self.assertEqual(session.said("echo", {"message": "on"}), "on")
        server.stop()
        reasons = [end["outcome"].get("message", "") + json.dumps(end) for end in self.one_end_for_each_call(2)]
        self.assertTrue(any("cancelled" in reason for reason in reasons), reasons)

    def test_an_id_that_is_in_use_is_refused(self):
        session = Session(self.serve(env=self.noting_calls()))
        waiting = session.server
        body = {"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {"name": "slow", "arguments": {"seconds": 3}}}
        first = in_background(lambda: messages(waiting.open(body=body, headers=session.headers)))
        self.wait_until_called("slow")
        self.assertEqual(waiting.ask(body=body, headers=session.headers)[0], 400)
        self.assertEqual(first.get(timeout=60)[-1]["result"]["content"][0]["text"], "slept")

    def test_batches_are_split_in_the_one_revision_that_has_them(self):
        server = self.serve()
        old = Session(server, version="2025-03-26")
        batch = [{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": f"m{i}"}}}
                 for i in (71, 72)] + [{"jsonrpc": "2.0", "method": "notifications/x"}]
        said = messages(server.open(body=batch, headers=old.headers))
        self.assertEqual({m["id"]: m["result"]["content"][0]["text"] for m in said}, {71: "m71", 72: "m72"})
        self.assertEqual(server.ask(body=batch[2:], headers=old.headers)[0], 202)
        new = Session(server, version=LEGACY)
        self.assertEqual(server.ask(body=batch, headers=new.headers)[0], 400)
        server.stop()
        self.one_end_for_each_call(2)

    def test_sessions_are_bounded_and_idle_ones_make_room(self):
        server = self.serve("sessions: 2")
        one, two = Session(server), Session(server)
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}}
        status, headers, _ = server.ask(body=opening)
        self.assertEqual((status, "retry-after" in headers), (503, True))
        self.assertEqual((one.said("echo", {"message": "1"}), two.said("echo", {"message": "2"})), ("1", "2"))
        time.sleep(5.5)
        self.assertEqual(two.said("echo", {"message": "3"}), "3")
        Session(server)
        self.assertEqual(one.send({"id": 9, "method": "ping"})[0], 404)
        self.assertEqual(two.send({"id": 9, "method": "ping"})[0], 200)

    def test_sessions_that_end_count_until_their_servers_have_ended(self):
        stubborn = self.write("stubborn.py", "import signal, sys, time\n"
                              "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)\n")
        server = self.serve("sessions: 2", command=(sys.executable, stubborn))
        opening = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}})
        request = (f"POST /mcp HTTP/1.1\r\nHost: {server.url.netloc}\r\nAuthorization: Bearer {server.token}\r\n"
                   f"Content-Type: application/json\r\nContent-Length: {len(opening)}\r\n\r\n{opening}").encode()
        children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        most = 0
        for _ in range(60):
            with socket.create_connection((server.url.hostname, server.url.port)) as peer:
                peer.sendall(request)
                time.sleep(0.01)
            most = max(most, len(children.read_text().split()))
        self.assertGreater(most, 0)
        self.assertLessEqual(most, 4)

    def test_a_session_that_nobody_uses_ends(self):
        session = Session(self.serve("idle: 1s"))
        time.sleep(3.5)
        self.assertEqual(session.send({"id": 9, "method": "ping"})[0], 404)

    def test_a_server_that_never_opens_leaves_no_session(self):
        server = self.serve(env={"FAKE_NEVER_OPENS": 1})
        status, headers, body = server.ask(body={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}})
        self.assertNotIn(b'"result"', body)
        again = server.ask(body={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers={"Mcp-Session-Id": headers.get("mcp-session-id", "x")})
        self.assertEqual(again[0], 404)

    def test_a_call_in_flight_when_it_ends_is_recorded(self):
        server = self.serve(env=self.noting_calls())
        session = Session(server)
        waiting = in_background(lambda: session.open("tools/call", {"name": "stall", "arguments": {}}).read())
        self.wait_until_called("stall")
        self.assertEqual(server.stop(), 0)
        waiting.get(timeout=60)
        self.one_end_for_each_call(1)


if __name__ == "__main__":
    unittest.main()
