#!/usr/bin/env python3
"""Tool servers over HTTP behind the gate: both eras, and all faults on the way."""
import json
import shutil
import ssl
import subprocess
import time
import unittest

from cli_support import BIN
from mcp_http_server import LegacyServer, ModernServer, OldServer
from mcp_support import PATIENCE, Client, McpTest

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


class RemoteClient(Client):
    """A client of the gate whose server is on another address."""

    def __init__(self, test, url, options=(), **env):
        self.url = ("--url", url, *options)
        super().__init__(test, (), test.environment(**env), ("--name", "remote", *self.url))

    def modern(self, method, **params):
        meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
        return self.request(method, {**params, "_meta": {**meta, **params.get("_meta", {})}})


class RemoteTest(McpTest):
    def server(self, kind, **options):
        server = kind(**options)
        self.addCleanup(server.stop)
        return server

    def remote(self, server, *options, **env):
        client = RemoteClient(self, server.url, options, **env)
        self.addCleanup(self.end, client)
        return client


class Sessions(RemoteTest):
    def test_a_session_is_opened_used_and_ended(self):
        server = self.server(LegacyServer)
        client = self.remote(server)
        self.assertEqual(client.open()["serverInfo"]["name"], "remote")
        self.assertEqual(len(client.request("tools/list")["result"]["tools"]), 21)
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        self.assertEqual(client.said("secret"), "key **** ends")
        self.assertEqual(client.close(), 0)
        self.assertEqual(server.deleted, list(server.sessions))
        heads = [head for head, message in server.requests if message["method"] not in ("initialize", "GET")]
        self.assertEqual({head["mcp-session-id"] for head in heads}, set(server.sessions))
        self.assertNotIn("mcp-name", heads[-1])
        self.one_end_for_each_call(2)

    def test_a_session_that_the_server_forgot_is_opened_again_and_the_call_made_once(self):
        server = self.server(LegacyServer)
        client = self.remote(server)
        client.open()
        client.request("tools/list")
        self.assertEqual(client.said("forget"), "forgotten")
        self.assertEqual(client.said("echo", {"message": "back"}), "back")
        self.assertEqual([m["method"] for _, m in server.requests].count("initialize"), 2)
        client.close()
        self.one_end_for_each_call(2)

    def test_the_server_asks_in_the_middle_of_a_call(self):
        client = self.remote(self.server(LegacyServer))
        client.open({"sampling": {}})
        id = client.ask("tools/call", {"name": "ask_sampling", "arguments": {}})
        question = client.next(lambda m: m.get("method") == "sampling/createMessage")
        client.send({"id": question["id"], "result": {"said": "yes"}})
        self.assertEqual(client.answer(id)["result"]["content"][0]["text"], '{"said": "yes"}')

    def test_what_a_server_says_by_itself_is_heard(self):
        server = self.server(LegacyServer)
        client = self.remote(server)
        client.open()
        self.wait_until(lambda: server.streams)
        server.streams[0].event({"method": "notifications/tools/list_changed"})
        client.next(lambda m: m.get("method") == "notifications/tools/list_changed")

    def test_a_stream_that_was_broken_off_goes_on(self):
        client = self.remote(self.server(LegacyServer))
        client.open()
        self.assertEqual(client.said("resumed"), "gone on")

    def test_progress_passes_the_second_door(self):
        client = self.remote(self.server(LegacyServer))
        client.open()
        self.assertEqual(client.said("progress", _meta={"progressToken": "t"}), "progressed")
        told = [m["params"] for m in client.kept if m.get("method") == "notifications/progress"]
        self.assertEqual([p["message"] for p in told], [f"**** {i}" for i in range(3)])

    def test_a_cancelled_call_is_cancelled_there_too(self):
        server = self.server(LegacyServer)
        client = self.remote(server)
        client.open()
        id = client.ask("tools/call", {"name": "stall", "arguments": {}})
        self.wait_until(lambda: any(m.get("params", {}).get("name") == "stall" for _, m in server.requests))
        client.tell("notifications/cancelled", {"requestId": id})
        self.wait_until(lambda: any(m["method"] == "notifications/cancelled" for _, m in server.requests if "method" in m))
        self.wait_until(lambda: server.closed)
        client.close()
        self.one_end_for_each_call(1)

    def test_a_stateless_client_before_a_server_of_sessions(self):
        server = self.server(LegacyServer)
        for _ in range(2):
            client = self.remote(server)
            self.assertIn("capabilities", client.modern("server/discover")["result"])
            result = client.modern("tools/call", name="echo", arguments={"message": "x"})["result"]
            self.assertEqual((result["resultType"], result["content"][0]["text"]), ("complete", "x"))
            client.close()
        # A discovered fact is not requested again.
        self.assertEqual([m["method"] for _, m in server.requests].count("server/discover"), 1)


class Stateless(RemoteTest):
    def test_headers_say_what_the_body_says(self):
        server = self.server(ModernServer)
        client = self.remote(server)
        client.open()
        names = [tool["name"] for tool in client.request("tools/list")["result"]["tools"]]
        self.assertNotIn("unusable", names)
        said = json.loads(client.said("query", {"tenant": "Zürich", "deep": {"n": 5}}))
        self.assertEqual(said, {"mcp-method": "tools/call", "mcp-name": "query", "mcp-param-n": "5", "mcp-param-tenant": "=?base64?WsO8cmljaA==?=",
                                "mcp-protocol-version": MODERN})
        client.close()
        self.one_end_for_each_call(1)

    def test_a_stateless_client_is_not_translated(self):
        server = self.server(ModernServer)
        client = self.remote(server)
        self.assertEqual(client.modern("tools/call", name="echo", arguments={"message": "x"})["result"]["content"][0]["text"], "x")
        self.assertNotIn("initialize", [m["method"] for _, m in server.requests])

    def test_a_cancel_closes_the_stream(self):
        server = self.server(ModernServer)
        client = self.remote(server)
        client.open()
        id = client.ask("tools/call", {"name": "stall", "arguments": {}})
        self.wait_until(lambda: any(m.get("params", {}).get("name") == "stall" for _, m in server.requests))
        client.tell("notifications/cancelled", {"requestId": id})
        self.wait_until(lambda: server.closed)
        self.assertNotIn("notifications/cancelled", [m["method"] for _, m in server.requests])

    def test_a_subscription_is_held_and_made_again_when_it_breaks(self):
        server = self.server(ModernServer)
        client = self.remote(server)
        client.open()
        for turn in range(2):
            self.wait_until(lambda: len(server.streams) > turn)
            handler, tag = server.streams[turn]
            handler.event({"method": "notifications/tools/list_changed", "params": {"_meta": tag}})
            client.next(lambda m: m.get("method") == "notifications/tools/list_changed")
            handler.cut()

    def test_the_era_can_be_pinned(self):
        server = self.server(ModernServer)
        client = self.remote(server, "--era", "modern")
        client.open()
        self.assertNotIn("initialize", [m["method"] for _, m in server.requests])
        other = self.remote(server, "--era", "legacy")
        answer = other.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.assertIn("error", answer)


class Accidents(RemoteTest):
    HABITS = {"die": "went away", "gone_body": "went away", "half_stream": "ended its stream", "not_http": "does not speak HTTP",
              "empty": "no answer", "broken_json": "malformed output"}

    def play(self, kind):
        server = self.server(kind)
        client = self.remote(server)
        client.open()
        for tool, words in self.HABITS.items():
            result = client.result(tool)
            self.assertTrue(result["isError"])
            self.assertIn(words, result["content"][0]["text"], tool)
        self.assertEqual(client.said("garbage"), "after the garbage")
        self.assertEqual(client.said("wrong_id"), "the right one")
        self.assertEqual(client.said("twice"), "first")
        self.assertEqual(client.call("error")["error"]["code"], -32050)
        self.assertEqual(client.said("flood", {"count": 2000}), "flooded")
        self.assertEqual(client.said("echo", {"message": "still there"}), "still there")
        client.wait_for_error("an answer to no open request")
        client.wait_for_error("something that is not a message")
        client.close()
        self.one_end_for_each_call(len(self.HABITS) + 6)

    # AU-17 (partly)
    def test_a_server_of_sessions_with_bad_habits(self):
        self.play(LegacyServer)

    # AU-17 (partly)
    def test_a_stateless_server_with_bad_habits(self):
        self.play(ModernServer)

    # PI-85
    def test_a_result_as_large_as_a_message_may_be(self):
        client = self.remote(self.server(LegacyServer))
        client.open()
        size = 4 << 20
        self.assertEqual(len(client.result("huge", {"bytes": size}, timeout=280)["content"][0]["text"]), size)
        too_large = client.result("huge", {"bytes": (16 << 20) + 1}, timeout=280)
        self.assertTrue(too_large["isError"])
        self.assertIn("malformed", too_large["content"][0]["text"])
        self.assertEqual(client.said("echo", {"message": "x"}), "x")

    def test_a_server_that_goes_and_comes_back_is_used_again(self):
        server = self.server(LegacyServer)
        client = self.remote(server)
        client.open()
        self.assertEqual(client.said("echo", {"message": "1"}), "1")
        port = server.server_address[1]
        server.stop()
        self.assertIn("cannot be reached", client.said("echo", {"message": "2"}))
        self.server(LegacyServer, port=port)
        self.assertEqual(client.said("echo", {"message": "3"}), "3")
        client.close()
        self.one_end_for_each_call(3)

    def test_a_server_that_stalls_holds_up_nobody_else(self):
        client = self.remote(self.server(LegacyServer))
        client.open()
        client.ask("tools/call", {"name": "stall", "arguments": {}})
        self.assertEqual(client.said("echo", {"message": "x"}), "x")
        self.assertEqual(client.close(), 0)
        ends = {r["tool_name"]: r for r in self.one_end_for_each_call(2)}
        self.assertEqual(ends["stall"]["outcome"]["result"]["output"], "cancelled")

    def test_many_calls_at_once_end_each_in_one_record(self):
        client = self.remote(self.server(LegacyServer))
        client.open()
        habits = ["echo", "die", "garbage", "twice", "half_stream", "error", "broken_json"]
        ids = [client.ask("tools/call", {"name": habits[i % len(habits)], "arguments": {"message": str(i)}}) for i in range(210)]
        for id in ids:
            client.answer(id)
        client.close()
        self.one_end_for_each_call(210)


@unittest.skipIf(shutil.which("openssl") is None, "openssl makes the certificates of this test")
class Encryption(RemoteTest):
    def secured(self, name):
        """Starts a server whose certificate is for `name`, and returns that certificate."""
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-keyout", key, "-out", certificate, "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"],
                       check=True, capture_output=True, timeout=PATIENCE)
        server = self.server(LegacyServer)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        return f"https://localhost:{server.server_address[1]}/mcp", certificate

    def opened(self, url, **env):
        client = RemoteClient(self, url, **env)
        self.addCleanup(self.end, client)
        return client, client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})

    def test_a_server_whose_certificate_is_known_is_used(self):
        url, certificate = self.secured("localhost")
        client, answer = self.opened(url, SSL_CERT_FILE=certificate)
        self.assertIn("result", answer)
        client.tell("notifications/initialized")
        self.assertEqual(client.said("echo", {"message": "safe"}), "safe")

    def test_a_certificate_that_nobody_knows_is_refused(self):
        url, _ = self.secured("localhost")
        _, answer = self.opened(url)
        self.assertIn("no safe connection", answer["error"]["message"])

    def test_a_certificate_of_another_host_is_refused(self):
        url, certificate = self.secured("other.example")
        _, answer = self.opened(url, SSL_CERT_FILE=certificate)
        self.assertIn("no safe connection", answer["error"]["message"])


class Credentials(RemoteTest):
    def test_our_own_token_is_sent(self):
        server = self.server(LegacyServer, token="t0ps3cret")
        client = self.remote(server, "--bearer-env", "REMOTE_TOKEN", REMOTE_TOKEN="t0ps3cret")
        client.open()
        self.assertEqual(client.said("echo", {"message": "x"}), "x")
        client.close()
        self.assertNotIn("t0ps3cret", "".join(client.errors))

    def test_without_it_the_person_is_told_what_to_do(self):
        client = self.remote(self.server(LegacyServer, token="t0ps3cret"))
        answer = client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.assertIn("--bearer-env", answer["error"]["message"])

    def test_nobody_is_sent_to_another_host(self):
        server, other = self.server(LegacyServer), self.server(LegacyServer)
        server.redirect = other.url
        client = self.remote(server)
        answer = client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}})
        self.assertIn("redirects to another one", answer["error"]["message"])
        self.assertEqual(other.requests, [])

    def test_the_same_host_may_redirect(self):
        server = self.server(LegacyServer)
        server.redirect = "/moved"
        client = self.remote(server)
        client.open()
        self.assertEqual(client.said("echo", {"message": "x"}), "x")

    def refused(self, *words):
        done = subprocess.run([BIN, "mcp", "--data-dir", str(self.data), *words], capture_output=True, text=True, timeout=PATIENCE,
                              env=self.environment(), stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_what_cannot_be_is_refused_before_anything_is_sent(self):
        self.assertIn("without encryption", self.refused("--url", "http://example.com/mcp"))
        self.assertIn("credentials", self.refused("--url", "https://user:secret@example.com/mcp"))
        self.assertIn("`http` or `https`", self.refused("--url", "ftp://example.com/mcp"))
        self.assertIn("`NO_SUCH` is not set", self.refused("--url", "https://example.com/mcp", "--bearer-env", "NO_SUCH"))
        self.assertIn("not both", self.refused("--url", "https://example.com/mcp", "--", "cat"))
        # An empty name was a name of a server in records, and an empty token was no token.
        for option in ("--name", "--grant"):
            self.assertIn(f"{option} is empty", self.refused(option, "", "--", "cat"))



class OldTransport(RemoteTest):
    """Servers of 2024-11-05, which accept no message at the address of their stream."""

    def test_a_server_that_refuses_an_opening_is_asked_for_its_stream(self):
        server = self.server(OldServer)
        client = self.remote(server)
        opened = client.open({"roots": {}})
        self.assertEqual((opened["protocolVersion"], opened["serverInfo"]["name"]), ("2024-11-05", "old"))
        self.assertEqual([tool["name"] for tool in client.request("tools/list")["result"]["tools"]], ["echo", "ask", "cut"])
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        waiting = client.ask("tools/call", {"name": "ask", "arguments": {}})
        question = client.next(lambda message: message.get("method") == "roots/list")
        client.send({"id": question["id"], "result": {"roots": []}})
        self.assertEqual(client.answer(waiting)["result"]["content"][0]["text"], '{"roots": []}')
        self.assertEqual(client.close(), 0)
        self.assertFalse([head for head, _ in server.requests if "mcp-session-id" in head or "mcp-protocol-version" in head])
        self.one_end_for_each_call(3)  # and the question

    def test_a_stream_that_breaks_is_opened_again_and_the_call_on_it_is_unknown(self):
        server = self.server(OldServer)
        client = self.remote(server)
        client.open()
        cut = client.result("cut")
        self.assertTrue(cut["isError"])
        self.assertEqual(client.said("echo", {"message": "again"}), "again")
        self.assertEqual(len(server.streams), 2)
        client.close()
        ends = self.one_end_for_each_call(2)
        self.assertEqual([record["effect_state"] for record in ends], ["unknown", "done"])

    def test_stateless_clients_reach_it_too(self):
        client = self.remote(self.server(OldServer))
        said = client.modern("tools/call", name="echo", arguments={"message": "new"})
        self.assertEqual(said["result"]["content"][0]["text"], "new")

    def test_a_stream_that_never_comes_to_the_point_is_not_waited_for(self):
        server = self.server(OldServer)
        server.endpoint = None
        begin = time.monotonic()
        said = self.remote(server).request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
        self.assertIn("error", said)
        self.assertLess(time.monotonic() - begin, 60)

    def test_an_address_of_another_server_is_not_gone_to(self):
        server, other = self.server(OldServer), self.server(OldServer)
        server.endpoint = other.url
        client = self.remote(server)
        self.assertIn("error", client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}))
        self.assertEqual(other.requests, [])


if __name__ == "__main__":
    unittest.main()
