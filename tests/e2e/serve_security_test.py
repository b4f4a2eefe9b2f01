#!/usr/bin/env python3
"""Access to `sallyport serve`, host names, and its answers to hostile peers."""
import contextlib
import hashlib
import json
import os
import signal
import socket
import sqlite3
import stat
import sys
import time
import unittest

from serve_support import LEGACY, ServeTest, Session, in_background, modern

OPENING = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}}


class Security(ServeTest):
    def agents(self, **tokens):
        return "agents: [" + ", ".join(
            f"{{name: {name}, token_sha256: {hashlib.sha256(token.encode()).hexdigest()}}}" for name, token in tokens.items()) + "]"

    def test_a_token_is_needed_on_this_machine_too(self):
        server = self.serve()
        status, headers, _ = server.ask(body=OPENING, token=False)
        self.assertEqual(status, 401)
        self.assertIn(f'resource_metadata="http://{server.url.netloc}/.well-known/oauth-protected-resource/mcp"', headers["www-authenticate"])
        for wrong in ("nonsense", server.token[:-1], server.token + "0", ""):
            self.assertEqual(server.ask(body=OPENING, token=wrong)[0], 401)
        self.assertEqual(server.ask(path=f"/mcp?access_token={server.token}", body=OPENING, token=False)[0], 401)
        self.assertEqual(server.ask(body=OPENING)[0], 200)
        self.assertEqual(stat.S_IMODE(os.stat(self.data / "keys" / "local.token").st_mode), 0o600)
        status, _, body = server.ask("GET", "/.well-known/oauth-protected-resource/mcp", token=False)
        self.assertEqual((status, json.loads(body)["resource"]), (200, server.started["url"]))
        self.assertNotIn(server.token, "".join(server.errors))

    def test_behind_a_proxy_agents_find_the_address_that_they_know(self):
        server = self.serve("public_url: https://gate.example.com/tools\n  allowed_hosts: [gate.example.com]")
        named = "https://gate.example.com/.well-known/oauth-protected-resource/tools/mcp"
        status, headers, _ = server.ask(body=OPENING, token=False, headers={"Host": "gate.example.com"})
        self.assertEqual((status, headers["www-authenticate"]), (401, f'Bearer resource_metadata="{named}"'))
        status, _, body = server.ask("GET", "/.well-known/oauth-protected-resource/tools/mcp", token=False, headers={"Host": "gate.example.com"})
        self.assertEqual((status, json.loads(body)["resource"]), (200, "https://gate.example.com/tools/mcp"))

    # A proxy connects from this machine, so a loopback address alone does not identify the client.
    def test_behind_a_proxy_nobody_reads_without_a_token_what_runs_here(self):
        hosts = "public_url: https://gate.example.com\n  allowed_hosts: [gate.example.com]"
        server = self.serve(hosts, command=("no-such-program",))
        for host in ("gate.example.com", server.url.netloc):
            self.assertEqual(server.ask("GET", "/metrics", token=False, headers={"Host": host})[0], 404)
            status, _, said = server.ask("GET", "/readyz", token=False, headers={"Host": host})
            self.assertEqual((status, json.loads(said)), (200, {"ready": True}))
        keyed = self.serve(f"{hosts}\n  metrics_token_sha256: {hashlib.sha256(b'm' * 32).hexdigest()}")
        self.assertEqual([keyed.ask("GET", "/metrics", token=token)[0] for token in (False, True, "m" * 32)], [401, 401, 200])
        session = Session(keyed)
        os.rename(self.data / "ledger.db", self.data / "elsewhere.db")
        (self.data / "ledger.db").write_bytes(b"no ledger")
        session.call("echo", {"message": "x"})
        status, _, said = keyed.ask("GET", "/readyz", token=False)
        self.assertEqual(status, 503)
        self.assertNotIn(str(self.data), said.decode())
        self.assertRegex(json.loads(said)["why"], "^[a-z_]+$")

    # A body may have several lines, and a server that reads lines took each of them for a message.
    def test_no_line_of_a_body_reaches_a_server_as_a_message(self):
        script = self.write("lines.py", "import json, pathlib, sys\nfor line in sys.stdin:\n    try:\n        message = json.loads(line)\n"
                            "    except ValueError:\n        continue\n    if message['method'] == 'tools/call':\n        pathlib.Path('ran').touch()\n"
                            "    if 'id' in message:\n        print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': {'protocolVersion': '2025-11-25',"
                            " 'capabilities': {'tools': {}}, 'serverInfo': {'name': 'n', 'version': '1'}, 'tools': []}}), flush=True)\n")
        session = Session(self.serve(command=(sys.executable, script)))
        call = '{"jsonrpc":"2.0","id":99,"method":"tools/call","params":{"name":"run","arguments":{}}}'
        body = f'{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{{"_meta":{{"x":\n{call}\n}}}}}}'
        self.assertIn(b'"tools"', session.server.ask(body=body, headers=session.headers)[2])
        self.assertFalse((self.folder / "ran").exists())

    def test_agents_are_told_apart_by_their_tokens_and_do_not_share_sessions(self):
        server = self.serve(self.agents(ann="a" * 32, bob="b" * 32))
        ann = Session(server, token="a" * 32)
        self.assertEqual(ann.said("echo", {"message": "x"}), "x")
        self.assertEqual(server.ask(body={"jsonrpc": "2.0", "id": 2, "method": "ping"}, headers=ann.headers, token="b" * 32)[0], 404)
        self.assertEqual(server.ask("DELETE", headers=ann.headers, token="b" * 32)[0], 404)
        self.assertEqual(server.ask(body=OPENING, token="c" * 32)[0], 401)
        call = modern("tools/call", {"name": "pid", "arguments": {}})
        pids = {self.stateless(server, call, token=t * 32)[1][0]["result"]["content"][0]["text"] for t in "aab"}
        self.assertEqual(len(pids), 2)
        server.stop()
        self.assertEqual(sorted(end["agent_id"] for end in self.one_end_for_each_call(4)), ["ann", "ann", "ann", "bob"])

    def test_nobody_takes_all_places_or_ends_sessions_of_somebody_else(self):
        server = self.serve(self.agents(ann="a" * 32, bob="b" * 32) + "\n  sessions: 4")
        ann = Session(server, token="a" * 32)
        first, second = Session(server, token="b" * 32), Session(server, token="b" * 32)
        self.assertEqual(server.ask(body=OPENING, token="b" * 32)[0], 503)
        other = Session(server, token="a" * 32)
        time.sleep(5.5)
        Session(server, token="b" * 32)
        self.assertEqual([one.send({"id": 9, "method": "ping"})[0] for one in (ann, other, first, second)], [200, 200, 404, 200])

    def test_without_tokens_only_where_it_is_said(self):
        server = self.serve("auth: none")
        self.assertEqual(server.ask(body=OPENING, token=False)[0], 200)
        self.assertNotIn("token_file", server.started)

    def test_a_page_of_somebody_else_is_not_served(self):
        server = self.serve('allowed_origins: ["https://console.example.com"]')
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": "evil.example"}, {"Host": f"evil.example:{server.url.port}"}):
            self.assertEqual(server.ask(body=OPENING, headers=headers)[0], 403, headers)
            self.assertEqual(server.ask("GET", "/healthz", headers=headers)[0], 403, headers)
        self.assertEqual(server.ask(body=OPENING, headers={"Origin": "https://console.example.com"})[0], 200)
        self.assertEqual(server.ask(body=OPENING, headers={"Host": f"localhost:{server.url.port}"})[0], 200)

    def test_the_token_of_the_client_is_not_passed_on(self):
        server = self.serve()
        session = Session(server)
        names = json.loads(session.said("environment"))
        self.assertEqual([name for name in names if name.startswith("SALLYPORT")], ["SALLYPORT_AGENT"])
        call = session.call("echo", {"message": "x"})
        server.stop()
        everything = self.good("ledger", "show", "--limit", "100000", "--json").out
        self.assertNotIn(server.token, everything + json.dumps(call))

    def test_other_ways_and_kinds_are_refused(self):
        server = self.serve()
        self.assertEqual(server.ask("PUT", body=OPENING)[0], 405)
        self.assertEqual(server.ask("POST", body=OPENING, headers={"Content-Type": "text/plain"})[0], 415)
        self.assertEqual(server.ask("GET", "/nothing")[0], 404)
        self.assertEqual(server.ask("GET", "/mcp/../healthz")[0], 404)
        self.assertEqual(server.ask("POST", "/healthz", body="{}")[0], 405)

    def send_raw(self, server, data, wait=True):
        with socket.create_connection((server.url.hostname, server.url.port), timeout=60) as peer:
            peer.sendall(data)
            said = b""
            while wait:
                piece = peer.recv(65536)
                if not piece:
                    break
                said += piece
            return said

    def test_what_is_no_http_gets_a_refusal_and_harms_nobody(self):
        server = self.serve()
        host = f"Host: {server.url.netloc}\r\n".encode()
        self.assertIn(b" 400 ", self.send_raw(server, b"\x16\x03\x01\x02\x00hello\r\n\r\n"))
        self.assertIn(b" 400 ", self.send_raw(server, b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"))
        self.assertIn(b" 400 ", self.send_raw(server, b"GET /healthz HTTP/1.1\r\n" + host + host + b"Connection: close\r\n\r\n"))
        self.assertIn(b" 431 ", self.send_raw(server, b"GET /healthz HTTP/1.1\r\n" + host + b"X: " + b"x" * 100_000 + b"\r\n\r\n"))
        token = f"Authorization: Bearer {server.token}\r\n".encode()
        both = b"Content-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX"
        self.assertIn(b" 400 ", self.send_raw(server, b"POST /mcp HTTP/1.1\r\n" + host + token + both))
        large = b"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n"
        self.assertIn(b" 413 ", self.send_raw(server, b"POST /mcp HTTP/1.1\r\n" + host + token + large))
        # Without a token the gate does not wait for the body.
        unread = b"Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        self.assertIn(b" 401 ", self.send_raw(server, b"POST /mcp HTTP/1.1\r\n" + host + unread))
        self.assertEqual(server.ask("GET", "/healthz")[0], 200)

    def test_slow_peers_do_not_stop_the_others(self):
        server = self.serve()
        peers = [socket.create_connection((server.url.hostname, server.url.port)) for _ in range(50)]
        for peer in peers:
            peer.sendall(b"POST /mcp HTT")
        self.assertEqual(Session(server).said("echo", {"message": "on"}), "on")
        for peer in peers:
            peer.close()

    def test_health_and_readiness(self):
        server = self.serve()
        self.assertEqual(server.ask("GET", "/healthz", token=False)[::2], (200, b"ok\n"))
        self.assertEqual(json.loads(server.ask("GET", "/readyz", token=False)[2]), {"ready": True})

    def test_it_is_not_ready_while_nothing_can_be_recorded(self):
        server = self.serve()
        session = Session(server)
        database = self.data / "ledger.db"
        moved = self.data / "elsewhere.db"
        os.rename(database, moved)
        database.write_bytes(b"no ledger")
        session.call("echo", {"message": "x"})
        end = time.monotonic() + 30
        status = 200
        while status == 200 and time.monotonic() < end:
            status = server.ask("GET", "/readyz", token=False)[0]
            time.sleep(0.1)
        self.assertEqual(status, 503)

    def test_damage_found_while_it_runs_ends_writing_until_somebody_has_looked(self):
        # LE-54
        server = self.serve()
        session = Session(server)
        self.assertEqual(session.said("echo", {"message": "well"}), "well")
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db")) as database, database:
            database.execute("CREATE TABLE kept AS SELECT * FROM entries ORDER BY sequence DESC LIMIT 1")
            database.execute("DELETE FROM entries WHERE sequence = (SELECT MAX(sequence) FROM entries)")
        self.assertNotIn("x1", json.dumps(session.call("echo", {"message": "x1"})))
        status, _, said = server.ask("GET", "/readyz", token=False)
        self.assertEqual(status, 503)
        self.assertIn("corrupt", said.decode())
        with contextlib.closing(sqlite3.connect(self.data / "ledger.db")) as database, database:
            database.execute("INSERT INTO entries SELECT * FROM kept")
            database.execute("DROP TABLE kept")
        # The damage is repaired, and it is on record.
        self.assertNotIn("x2", json.dumps(session.call("echo", {"message": "x2"})))
        self.assertEqual(server.ask("GET", "/readyz", token=False)[0], 503)
        server.stop()
        again = self.serve()
        self.assertEqual(again.ask("GET", "/readyz", token=False)[0], 200)
        self.assertEqual(Session(again).said("echo", {"message": "well again"}), "well again")
        self.good("ledger", "verify", "--json")

    def test_it_ends_by_a_signal_and_with_calls_on_their_way(self):
        server = self.serve(env=self.noting_calls())
        session = Session(server)
        in_background(lambda: session.open("tools/call", {"name": "stall", "arguments": {}}).read())
        stream = session.listen()
        self.wait_until_called("stall")
        begin = time.monotonic()
        self.assertEqual(server.stop(signal.SIGINT), 0)
        self.assertLess(time.monotonic() - begin, 30)
        stream.close()
        self.one_end_for_each_call(1)

    def test_a_configuration_that_cannot_be_is_refused_where_it_stands(self):
        upstream = "upstreams: [{name: f, command: [x]}]"
        for section, words in (
                ("lisen: 127.0.0.1:1\n  " + upstream, "unknown key `lisen`, did you mean `listen`, "),
                ("listen: here\n  " + upstream, "`listen` must be an address and a port, not `here`"),
                ("listen: 0.0.0.0:1\n  auth: none\n  " + upstream, "`auth: none` is for this machine alone"),
                ("listen: 0.0.0.0:1\n  " + upstream, "list them under `agents`"),
                (f"listen: 0.0.0.0:1\n  {self.agents(a='t')}\n  {upstream}", "`allowed_hosts` must say"),
                (f"public_url: https://gate.example.com\n  {upstream}", "missing in `allowed_hosts`"),
                (f"auth: none\n  allowed_hosts: [gate.example.com]\n  {upstream}", "lets others come here through a proxy"),
                ("upstreams: [{name: a, command: [x], auth: {client_id: c}}]", "`auth` of `a` is for a `url`"),
                ("upstreams: [{name: a, url: 'https://h/', auth: {client: c}}]", "unknown key `client`"),
                ("listen: 0.0.0.0:1", "`allowed_hosts` must say"),
                ("upstreams: files", "`upstreams` must be a list"),
                ("upstreams: [{name: f, command: []}]", "`command` must be a command"),
                ("upstreams: [{name: f, command: [{}]}]", "each entry of `command` must be a text"),
                ("upstreams: [{name: 8080, command: [x]}]", "put `8080` in quotes"),
                ("upstreams: [{name: a.b, command: [x]}, {name: a, command: [x]}]", "`a` and `a.b`: a tool of one could be called like"),
                ("upstreams: [{name: a, command: [x]}, {name: a.b, command: [x]}]", "`a` and `a.b`: a tool of one could be called like"),
                ("agents: [{name: a, token_sha256: abc}]\n  " + upstream, "`token_sha256` must be a SHA-256"),
                (f"agents: [{{name: a, token_sha256: {'a' * 64}}}, {{name: a, token_sha256: {'a' * 64}}}]\n  {upstream}", "duplicate name `a`")):
            file = self.write("serve.yaml", f"version: 1\nserve:\n  {section}\n")
            said = self.refused(64, "serve", "--config", file)
            self.assertIn(words, said)
            self.assertRegex(said, r"serve\.yaml:[0-9]+:[0-9]+")
        empty = self.write("serve.yaml", "version: 1\n")
        self.assertIn("no section `serve`", self.refused(64, "serve", "--config", empty))

    def test_an_address_that_is_taken_is_told(self):
        server = self.serve()
        file = self.write("second.yaml", f"version: 1\nserve:\n  listen: {server.url.netloc}\n  upstreams: [{{name: f, command: [x]}}]\n")
        self.assertIn("cannot listen on", self.refused(1, "serve", "--config", file))


if __name__ == "__main__":
    unittest.main()
