#!/usr/bin/env python3
"""Failing providers and leaving clients: a status before the first byte, a failure frame after it, one record each, no leftovers."""
import concurrent.futures
import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.parse

from cli_support import within
from model_answers import APIS, CHAT, MESSAGES, PATHS, RESPONSES, Answer, frames, say
from model_provider import CLOSE, RESET, STALL, STREAM, Provider, Reply, refusing, wait
from model_support import ModelTest, guard, question

LONG = Answer(say("one two three four five six seven eight"), seed="long")


def pieces(api, answer=LONG):
    """Returns the events of a stream, one piece each."""
    return [piece + b"\n\n" for piece in answer.stream(api).split(b"\n\n") if piece]


class FaultTest(ModelTest):
    def failed(self, api, answered, status=502):
        """An error in the shape of the API, which the client does not repeat."""
        self.assertEqual(answered.status, status, answered.body)
        body = answered.json()
        if api == MESSAGES:
            self.assertEqual((body["type"], body["error"]["type"]), ("error", "api_error"), body)
        else:
            self.assertEqual((set(body["error"]), body["error"]["type"]), ({"message", "type", "param", "code"}, "server_error"), body)

    def ended_by_failure(self, api, answered):
        """Checks that the failure frame of section 5 is the last event, and that no part of a normal end is there."""
        events = answered.events()
        name, data = events[-1]
        value = json.loads(data)
        if api == MESSAGES:
            self.assertEqual((name, value["type"], value["error"]["type"]), ("error", "error", "api_error"))
        elif api == CHAT:
            self.assertEqual((name, set(value), value["error"]["type"], value["error"]["param"]), (None, {"error"}, "server_error", None))
        else:
            self.assertEqual((name, value["type"], value["param"], value["sequence_number"]), ("error", "error", None, len(events) - 1))
            self.assertTrue(value["message"] and value["code"], value)
        kinds = {name for name, _ in events} | {data for _, data in events}
        self.assertEqual(kinds & {"message_stop", "[DONE]", "response.completed", "response.incomplete"}, set())

    def outcomes(self, proxy, count):
        """Returns the end of each request; there are exactly this many records."""
        entries = proxy.entries(count=count)
        self.assertEqual(len(entries), count)
        self.assertEqual(len({entry["request_id"] for entry in entries}), count)
        return [entry["outcome"] for entry in entries]


class BeforeTheFirstByte(FaultTest):
    # MP-81
    def test_a_provider_that_fails_gives_502_and_one_record(self):
        broken = Reply(b"{\"id\": \"x", CLOSE)
        faults = {"reset": Reply(before=RESET), "close": Reply(before=CLOSE), "half an object": broken, "reset inside": Reply(b"{\"id\": \"x", RESET),
                  "no JSON": Reply(b"<html>busy</html>", framing="length"), "html": Reply(b"<html>busy</html>", type="text/html", framing="length"),
                  "a stream": Reply(*pieces(CHAT), type=STREAM), "two values": Reply(b"{} {}", framing="length"),
                  "bad gzip": Reply(b"not gzip at all", framing="length", headers=[("content-encoding", "gzip")]),
                  "unknown coding": Reply(b"{}", framing="length", headers=[("content-encoding", "rot13")])}
        provider = Provider(self)
        count = 0
        proxy = self.proxy(provider)
        for api in APIS:
            for name, fault in faults.items():
                provider.then(fault)
                with self.subTest(api=api, fault=name):
                    self.failed(api, proxy.ask(api))
                self.assertEqual(proxy.ask(api).status, 200)  # the circuit counts errors in a row (MP-76)
                count += 2
        self.assertEqual(self.outcomes(proxy, count), ["failed", "completed"] * (count // 2))

    # MP-81
    def test_a_stream_that_fails_before_its_first_event_gives_502(self):
        faults = {"reset": Reply(before=RESET), "close": Reply(before=CLOSE), "html": Reply(b"<html>busy</html>", type="text/html", framing="length"),
                  "empty": Reply(type=STREAM), "half an event": Reply(b"data: {\"id", CLOSE, type=STREAM), "no JSON": Reply(b"data: nothing\n\n", type=STREAM)}
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            for name, fault in faults.items():
                provider.then(fault)
                with self.subTest(api=api, fault=name):
                    self.failed(api, proxy.ask(api, stream=True))
                self.assertEqual(proxy.ask(api).status, 200)
        self.assertEqual(self.outcomes(proxy, 2 * len(APIS) * len(faults)), ["failed", "completed"] * len(APIS) * len(faults))

    # MP-41, MP-81: no check read the output of a response that was not a list
    def test_a_response_whose_output_is_not_a_list_gives_502(self):
        odd = [{"0": {"type": "message", "content": "SECRET"}}, "SECRET"]
        bodies = [{**LONG.body(RESPONSES), "output": output} for output in odd]
        events = [frames([("response.completed", json.dumps({"type": "response.completed", "sequence_number": 0, "response": body}))]) for body in bodies]
        provider = Provider(self, *[Reply(json.dumps(body).encode(), framing="length") for body in bodies], *[Reply(event, type=STREAM) for event in events])
        proxy = self.proxy(provider, policy=guard("output", "SECRET"), apis=[RESPONSES])
        for stream in (False, False, True, True):
            answered = proxy.ask(RESPONSES, stream=stream)
            self.failed(RESPONSES, answered)
            self.assertNotIn(b"SECRET", answered.body)
        self.assertEqual(self.outcomes(proxy, 4), ["failed"] * 4)

    # MP-81, MP-76
    def test_a_provider_that_takes_no_connection_opens_the_circuit(self):
        proxy = self.proxy(refusing(), apis=[CHAT])
        for _ in range(5):
            self.failed(CHAT, proxy.ask(CHAT))
        answered = proxy.ask(CHAT)
        self.failed(CHAT, answered, 503)
        self.assertTrue(1 <= int(answered.header("retry-after")) <= 15)
        entries = proxy.entries(count=6)
        self.assertEqual([entry["attempts"] for entry in entries], [1] * 5 + [0])

    # MP-75, MP-76: an error of the caller, or a temporary one, is no fault of the upstream.
    def test_errors_of_the_client_do_not_open_the_circuit(self):
        provider = Provider(self, *[Reply.error(429, {"error": {"message": "slow down"}}, [("retry-after", "7")]) for _ in range(8)])
        proxy = self.proxy(provider, apis=[CHAT])
        self.assertEqual([proxy.ask(CHAT).status for _ in range(9)], [429] * 8 + [200])

    # MP-78
    def test_an_answer_over_the_limit_fails(self):
        row = b" " * (1 << 20)
        bomb = gzip.compress(b"{" + row * 65 + b"}", 6)
        provider = Provider(self, Reply(b"{", *[row] * 66, b"}"), Reply(bomb, framing="length", headers=[("content-encoding", "gzip")]))
        proxy = self.proxy(provider, apis=[CHAT])
        for _ in range(2):
            self.failed(CHAT, proxy.ask(CHAT))
        self.assertEqual(self.outcomes(proxy, 2), ["failed"] * 2)


class InsideAStream(FaultTest):
    # MP-81
    def test_a_stream_that_breaks_at_any_event_ends_with_the_failure_frame(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        count = 0
        for api in APIS:
            parts = pieces(api)
            for at in range(1, len(parts)):
                half = parts[at][:len(parts[at]) // 2]
                for name, fault in {"reset": [RESET], "close": [CLOSE], "end": [], "half": [half, CLOSE], "half, ended": [half],
                                    "no JSON": [b"data: {\"id\": nothing}\n\n", *parts[at:]]}.items():
                    if at > 2 and at != len(parts) // 2 and name not in ("reset", "half"):
                        continue
                    provider.then(Reply(*parts[:at], *fault, type=STREAM))
                    answered = proxy.ask(api, stream=True)
                    count += 1
                    with self.subTest(api=api, at=at, fault=name):
                        if api == CHAT and at == len(parts) - 1 and name in ("end", "close"):
                            continue
                        self.assertEqual(answered.status, 200)
                        self.ended_by_failure(api, answered)
                    self.assertEqual(proxy.ask(api).status, 200)
                    count += 1
        self.assertEqual(len(self.outcomes(proxy, count)), count)

    # MP-11, MP-81: the end of the compressed bytes was once not checked, so a truncated answer counted as complete.
    def test_a_compressed_stream_that_is_cut_short_is_a_failure(self):
        body = gzip.compress(b"".join(pieces(CHAT)[:-1]))  # without `[DONE]`, which some providers do not send
        coded = {"type": STREAM, "headers": [("content-encoding", "gzip")]}
        provider = Provider(self, Reply(body, **coded), Reply(body[:-8], **coded))
        proxy = self.proxy(provider, apis=[CHAT])
        self.assertEqual(proxy.ask(CHAT, stream=True).events()[-1], (None, "[DONE]"))
        self.ended_by_failure(CHAT, proxy.ask(CHAT, stream=True))
        self.assertEqual(self.outcomes(proxy, 2), ["completed", "failed"])

    def test_the_connection_of_a_stream_that_has_ended_is_used_again(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for _ in range(8):
            for api in APIS:
                self.assertEqual(proxy.ask(api, stream=True).status, 200)
        self.assertLess(provider.connections, 24)

    # MP-81
    def test_an_error_event_of_the_provider_passes_and_is_a_failure(self):
        errors = {MESSAGES: b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
                  CHAT: b'data: {"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}\n\n',
                  RESPONSES: b'event: error\ndata: {"type":"error","sequence_number":5,"code":"server_error","message":"oops","param":null}\n\n'}
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            provider.then(Reply(*pieces(api)[:5], errors[api], type=STREAM))
            answered = proxy.ask(api, stream=True)
            with self.subTest(api=api):
                self.assertEqual(answered.body, b"".join(pieces(api)[:5]) + errors[api])
        self.assertEqual(self.outcomes(proxy, 3), ["failed"] * 3)

    # MP-78
    def test_an_event_over_the_limit_fails(self):
        provider = Provider(self, Reply(*pieces(CHAT)[:3], b"data: {\"x\": \"", *[b"x" * (1 << 20)] * 17, b"\"}\n\n", type=STREAM))
        proxy = self.proxy(provider, apis=[CHAT])
        self.ended_by_failure(CHAT, proxy.ask(CHAT, stream=True))
        self.assertEqual(self.outcomes(proxy, 1), ["failed"])


class Leaving(FaultTest):
    def within_a_second(self, request, since):
        self.assertTrue(request.gone.wait(10), "the upstream connection stayed open")
        self.assertLess(request.gone_at - since, within(1))

    # MP-79
    def test_a_client_that_leaves_closes_the_upstream_within_a_second(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            provider.clear()
            provider.then(Reply(*pieces(api)[:5], STALL, type=STREAM), Reply(before=STALL), Reply(b"{\"id\":", STALL))
            with self.subTest(api=api, phase="in the stream"):
                begun = proxy.begin(api, stream=True)
                begun.until(pieces(api)[4][-30:])
                since = time.monotonic()
                begun.leave()
                self.within_a_second(provider.request(0), since)
            for number in (1, 2):
                with self.subTest(api=api, phase=number):
                    self.leave_before_the_head(proxy, api, provider, number)
        entries = proxy.entries(count=9)
        self.assertEqual([entry["outcome"] for entry in entries], ["cancelled"] * 9)

    def leave_before_the_head(self, proxy, api, provider, number):
        where = urllib.parse.urlsplit(proxy.url)
        body = json.dumps(question(api)).encode()
        with socket.create_connection((where.hostname, where.port), 60) as peer:
            head = "".join(f"{name}: {value}\r\n" for name, value in proxy.headers(api))
            peer.sendall(f"POST {PATHS[api]} HTTP/1.1\r\nHost: {where.netloc}\r\n{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            request = provider.request(number)
            since = time.monotonic()
        self.within_a_second(request, since)

    # MP-79, MP-72: usage that arrived before the client left is recorded
    def test_the_record_of_a_cancelled_stream_has_the_usage_so_far(self):
        provider = Provider(self, Reply(*pieces(MESSAGES)[:5], STALL, type=STREAM))
        proxy = self.proxy(provider, apis=[MESSAGES])
        begun = proxy.begin(MESSAGES, stream=True)
        begun.until(b"two")
        begun.leave()
        entry = proxy.audit()
        self.assertEqual((entry["outcome"], entry["usage"]["input_tokens"]), ("cancelled", 25), entry)

    # MP-80
    def test_the_proxy_reads_no_more_than_a_client_that_does_not_read(self):
        head, tail = pieces(CHAT)[:3], pieces(CHAT)[3:]
        filler = head[1].replace(b"one", b"x" * 8000)
        written = []

        class Counted(list):
            def __iter__(self):
                for piece in list.__iter__(self):
                    written.append(len(piece))
                    yield piece
        reply = Reply(type=STREAM)
        reply.steps = Counted(head + [filler] * 12000 + tail)
        provider = Provider(self, reply)
        proxy = self.proxy(provider, policy=guard("output", "NEVER-[0-9]{9}"), apis=[CHAT])
        begun = proxy.begin(CHAT, stream=True)
        time.sleep(0.5)
        last = -1
        while last != sum(written):  # until there is no more change
            last = sum(written)
            time.sleep(0.3)
        self.assertLess(last, 30 << 20)
        memory = int(next(line for line in open(f"/proc/{proxy.server.process.pid}/status") if line.startswith("VmRSS")).split()[1])
        self.assertLess(memory, 200 * 1024)
        since = time.monotonic()
        begun.leave()
        self.within_a_second(provider.request(), since)
        self.assertEqual(self.outcomes(proxy, 1), ["cancelled"])

    # MP-79
    def test_a_thousand_connects_and_disconnects_leave_nothing_behind(self):
        provider = Provider(self, otherwise=Reply(*pieces(CHAT)[:4], STALL, type=STREAM))
        proxy = self.proxy(provider, apis=[CHAT])
        where = urllib.parse.urlsplit(proxy.url)
        body = json.dumps(question(CHAT, stream=True)).encode()
        request = (f"POST /v1/chat/completions HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {proxy.token}\r\nContent-Type: application/json\r\n"
                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body
        folder = f"/proc/{proxy.server.process.pid}/fd"
        before = len(os.listdir(folder))

        def visit(number):
            """Disconnects at once, in the head, in the body, after the request, or in the stream."""
            upto = (0, 40, len(request) - 5, len(request), len(request))[number % 5]
            with socket.create_connection((where.hostname, where.port), 60) as peer:
                peer.sendall(request[:upto])
                if number % 5 == 4:
                    peer.recv(100)
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            list(pool.map(visit, range(1000)))
        end = time.monotonic() + 30
        while len(os.listdir(folder)) > before + 5 and time.monotonic() < end:
            time.sleep(0.1)
        self.assertLessEqual(len(os.listdir(folder)), before + 5)
        provider.otherwise = LONG
        self.assertEqual(proxy.ask(CHAT).status, 200)
        entries = proxy.entries(count=1)
        self.assertEqual(len({entry["request_id"] for entry in entries}), len(entries))
        self.assertEqual({entry["outcome"] for entry in entries}, {"cancelled", "completed"})


class Uploads(FaultTest):
    def send(self, proxy, api, rest, method="POST", path=None):
        """Sends a head and a part of its body; returns the connection."""
        where = urllib.parse.urlsplit(proxy.url)
        peer = socket.create_connection((where.hostname, where.port), 60)
        self.addCleanup(peer.close)
        head = "".join(f"{name}: {value}\r\n" for name, value in proxy.headers(api))
        peer.sendall(f"{method} {path or PATHS[api]} HTTP/1.1\r\nHost: {where.netloc}\r\n{head}".encode() + rest)
        return peer

    # MP-66, MP-79: an upload that the client left in the middle had no record
    def test_an_upload_that_the_client_leaves_has_one_record(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        halves = [b"Content-Length: 100\r\n\r\n{\"model\":", b"Transfer-Encoding: chunked\r\n\r\n9\r\n{\"model\":\r\n"]
        for api in APIS:
            for half in halves:
                self.send(proxy, api, half).close()
        self.send(proxy, CHAT, halves[0], path="/v1/no/such/route").close()
        self.send(proxy, CHAT, halves[0], method="GET", path="/v1/models").close()
        entries = proxy.entries(count=8)
        self.assertEqual({(entry["agent_id"], entry["outcome"], entry["attempts"], entry["request"]) for entry in entries}, {("agent:ada", "cancelled", 0, None)})
        self.assertEqual(sorted(entry["route"] for entry in entries), sorted([*PATHS.values()] * 2 + ["other", "/v1/models"]))
        self.assertEqual(len({entry["request_id"] for entry in entries}), 8)
        self.assertEqual(provider.requests, [])
        self.assertEqual(proxy.ask(CHAT).status, 200)

    # MP-66, MP-10: damaged chunks of an upload gave a text that no client of the API reads, and no record
    def test_an_upload_with_damaged_chunks_is_refused_in_the_shape_of_the_api(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        for api in APIS:
            response = http.client.HTTPResponse(self.send(proxy, api, b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\nzz\r\n"))
            response.begin()
            said = json.loads(response.read())
            entry = proxy.audit()
            with self.subTest(api=api):
                self.assertEqual((response.status, said["error"]["type"], response.getheader("x-should-retry")), (400, "invalid_request_error", "false"))
                self.assertEqual((entry["request_id"], entry["outcome"], entry["status"]), (response.getheader("x-sallyport-record"), "refused", 400))
        self.assertEqual(len(proxy.entries(count=3)), 3)
        self.assertEqual(provider.requests, [])

    # MP-1, MP-66: the answer to a path that is not UTF-8 was no JSON, and its record had no reason
    def test_a_path_of_any_bytes_is_refused_in_json_and_recorded(self):
        proxy = self.proxy(Provider(self))
        for method, path, shown in (("POST", "/v1/\xff\xfe", "/v1/\\x{FF}\\x{FE}"), ("GET", "/v1/models/\xff", "\\x{FF}"), ("GET", "/v1/responses/\xff", "\\x{FF}")):
            where = urllib.parse.urlsplit(proxy.url)
            peer = socket.create_connection((where.hostname, where.port), 60)
            self.addCleanup(peer.close)
            peer.sendall(f"{method} {path} HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {proxy.token}\r\nContent-Length: 0\r\n\r\n".encode("latin-1"))
            response = http.client.HTTPResponse(peer, method=method)
            response.begin()
            self.assertEqual(response.status, 404)
            self.assertIn(shown, json.loads(response.read())["error"]["message"])
        self.assertEqual(self.outcomes(proxy, 3), ["refused"] * 3)
        self.assertIn("\\x{FF}\\x{FE}", proxy.entries()[0]["reason"])

    # MP-66, MP-85: the end of the process left an upload that was still coming without a record
    def test_an_upload_that_outlasts_the_process_has_a_record(self):
        proxy = self.proxy(Provider(self))
        self.send(proxy, CHAT, b"Content-Length: 100\r\n\r\n{")
        time.sleep(0.5)
        self.assertEqual(proxy.stop(), 0)
        self.assertEqual(self.outcomes(proxy, 1), ["cancelled"])


class Crashes(FaultTest):
    # MP-66, MP-68
    def test_a_stream_that_was_killed_has_one_record_after_the_restart(self):
        for at in (0, 3, 6):
            with self.subTest(at=at):
                self.setUp()
                provider = Provider(self, otherwise=Reply(*pieces(CHAT)[:at], STALL, type=STREAM) if at else Reply(before=STALL))
                proxy = self.proxy(provider, apis=[CHAT])
                where = urllib.parse.urlsplit(proxy.url)
                connection = http.client.HTTPConnection(where.hostname, where.port, timeout=60)
                connection.request("POST", PATHS[CHAT], json.dumps(question(CHAT, stream=True)), dict(proxy.headers(CHAT)))
                provider.request()
                if at:
                    connection.getresponse().read1(1)
                proxy.server.process.kill()
                proxy.server.process.wait()
                connection.close()
                proxy.start()
                provider.otherwise = LONG
                self.assertEqual(proxy.ask(CHAT).status, 200)
                entries = proxy.entries(count=2)
                self.assertEqual(sorted(entry["outcome"] for entry in entries), ["completed", "failed"])
                proxy.stop()
                self.good("ledger", "verify", "--json")

    # MP-85
    def test_a_stream_that_outlasts_the_end_of_the_process_gets_the_failure_frame(self):
        provider = Provider(self, Reply(*pieces(CHAT)[:4], STALL, type=STREAM))
        proxy = self.proxy(provider, apis=[CHAT])
        begun = proxy.begin(CHAT, stream=True)
        begun.until(b"one")
        since = time.monotonic()
        proxy.server.process.send_signal(signal.SIGTERM)
        answered = begun.finish()
        self.ended_by_failure(CHAT, answered)
        self.assertTrue(10 < time.monotonic() - since < 25, time.monotonic() - since)
        self.assertEqual(proxy.server.process.wait(30), 0)
        self.assertEqual(self.outcomes(proxy, 1), ["failed"])

    # MP-85
    def test_a_stream_that_ends_in_time_is_whole(self):
        provider = Provider(self, Reply(*pieces(CHAT)[:4], wait(1.0), *pieces(CHAT)[4:], type=STREAM))
        proxy = self.proxy(provider, apis=[CHAT])
        begun = proxy.begin(CHAT, stream=True)
        begun.until(b"one")
        proxy.server.process.send_signal(signal.SIGTERM)
        self.assertEqual(begun.finish().events(), LONG.events(CHAT))
        self.assertEqual(proxy.server.process.wait(30), 0)
        self.assertEqual(self.outcomes(proxy, 1), ["completed"])


def may_mount(folder):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "tmpfs", str(folder)], capture_output=True).returncode == 0


class FullDisk(FaultTest):
    def setUp(self):
        super().setUp()
        self.data.mkdir(mode=0o700)
        if os.geteuid() != 0 or not may_mount(self.data):
            print("SKIPPED: no right to mount: full disks are not tested", file=sys.stderr)
            raise unittest.SkipTest("no right to mount")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.data)], check=True)

    def fill(self):
        with open(self.data / "ballast", "ab", buffering=0) as out:
            for size in (65536, 4096, 512):
                try:
                    while True:
                        out.write(b"x" * size)
                except OSError:
                    pass

    # MP-67: no byte of an attempt is sent before its event is durable.
    def test_before_a_request_nothing_reaches_the_provider(self):
        provider = Provider(self)
        proxy = self.proxy(provider)
        self.assertEqual(proxy.ask(CHAT).status, 200)
        self.fill()
        statuses = set()
        for _ in range(300):
            reached = len(provider.requests)
            statuses.add(proxy.ask(CHAT).status)
            if statuses - {200}:
                break
        self.assertEqual(len(provider.requests), reached)
        for api in APIS:
            answered = proxy.ask(api)
            self.assertIn(answered.status, (500, 503), answered.body)
            self.assertEqual(answered.json().get("type", "error"), "error")
        self.assertEqual(len(provider.requests), reached)
        (self.data / "ballast").unlink()
        end = time.monotonic() + 20
        while proxy.ask(CHAT).status != 200:
            self.assertLess(time.monotonic(), end, "it does not recover")
            time.sleep(0.2)

    # MP-68
    def test_during_a_stream_there_is_one_record_in_the_end(self):
        provider = Provider(self, Reply(*pieces(CHAT)[:4], wait(1.0), *pieces(CHAT)[4:], type=STREAM))
        proxy = self.proxy(provider)
        begun = proxy.begin(CHAT, stream=True)
        begun.until(b"one")
        self.fill()
        answered = begun.finish()
        if answered.events() != LONG.events(CHAT):  # there was no room for the outcome
            self.ended_by_failure(CHAT, answered)
        (self.data / "ballast").unlink()
        self.assertEqual(len(proxy.entries(count=1)), 1)
        proxy.stop()
        self.assertEqual(len(proxy.entries(count=1)), 1)


if __name__ == "__main__":
    unittest.main()
