"""One message that the protocol allows must not block all other clients."""
import json
import os
import sys
import threading
import time
import unittest
import urllib.request

from cli_support import CliTest
from mcp_support import McpTest
from serve_support import ServeTest, Session, in_background, modern, modern_headers

VALUES = 250_000           # in one message, with the names of members
BYTES = 16 << 20           # of one message
LONGEST_SILENCE = 30.0     # seconds of /healthz, in a build without optimisation on a busy machine
MOST_TIME = 20.0           # processor seconds for the largest message in such a build; 2 s in a good one
MOST_MEMORY = 900 << 10    # KiB; AddressSanitizer holds much freed memory for a while

# Answers a call with the requested number of values.
MANY = """
import json, sys
def say(message):
    sys.stdout.write(message + "\\n"); sys.stdout.flush()
for line in sys.stdin:
    message = json.loads(line)
    id, method = json.dumps(message.get("id")), message.get("method")
    if method == "initialize":
        say('{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"%s","serverInfo":{"name":"many","version":"1"},'
            '"capabilities":{"tools":{}}}}' % (id, message["params"]["protocolVersion"]))
    elif method == "tools/list":
        say('{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"numbers","inputSchema":{"type":"object"}},'
            '{"name":"echo","inputSchema":{"type":"object"}}]}}' % id)
    elif method == "tools/call" and message["params"]["name"] == "numbers":
        given = message["params"]["arguments"]
        numbers = "[" + ",".join(["1"] * given["count"]) + "]"
        if given.get("progress"):
            token = json.dumps(message["params"]["_meta"]["progressToken"])
            for i in range(given["progress"]):
                say('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,'
                    '"x":%s}}' % (token, i, numbers))
            numbers = "[]"
        say('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"structuredContent":{"n":%s}}}' % (id, numbers))
    elif method == "tools/call":
        say('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"echoed"}]}}' % id)
"""


def memory(process):
    """Returns the peak memory of the process, in KiB."""
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def seconds(process):
    """Returns the processor seconds that the process has used."""
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Watch:
    """Asks /healthz again and again, and keeps the longest response time."""

    def __init__(self, server):
        self.url = f"http://{server.url.hostname}:{server.url.port}/healthz"
        self.longest, self.over = 0.0, threading.Event()
        self.process, self.begin = server.process, seconds(server.process)
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        while not self.over.is_set():
            begin = time.monotonic()
            with urllib.request.urlopen(self.url, timeout=600) as response:
                response.read()
            self.longest = max(self.longest, time.monotonic() - begin)
            self.over.wait(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        self.seconds = seconds(self.process) - self.begin


def call(arguments, id=7):
    return '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}' % (id, arguments)


def numbers(count):
    return '{"n":[' + ",".join(["1"] * count) + "]}"


def names(count):
    return "{" + ",".join(f'"a name of some length {i}":1' for i in range(count)) + "}"


class LargeRequests(ServeTest):
    def serve_many(self):
        return self.serve(command=(sys.executable, self.write("many.py", MANY)))

    def within_bounds(self, watch):
        self.assertLess(watch.longest, LONGEST_SILENCE)
        self.assertLess(watch.seconds, MOST_TIME)

    def refused_as_large(self, server, session, body):
        status, _, said = server.ask(body=body, headers=session.headers)
        self.assertEqual(status, 413, said[:200])
        message = json.loads(said)
        self.assertEqual((message["id"], message["error"]["code"]), (7, -32600))
        self.assertIn("250000 values", message["error"]["message"])

    # A message of 57 MiB, an array of small numbers, once blocked all clients for 38 seconds and took 9.7 GiB.
    def test_a_message_of_many_values_is_refused_before_it_costs_anything(self):
        server = self.serve_many()
        session = Session(server)
        self.assertEqual(session.said("echo"), "echoed")
        before = memory(server.process)
        body = call(numbers((BYTES >> 1) - 200))
        self.assertLess(len(body), BYTES)
        with Watch(server) as watch:
            self.refused_as_large(server, session, body)
        self.within_bounds(watch)
        self.assertLess(memory(server.process) - before, 200 << 10)
        self.assertEqual(session.said("echo"), "echoed")

    def test_every_shape_of_too_many_values_is_refused(self):
        server = self.serve_many()
        session = Session(server)
        for arguments in (numbers(VALUES), names(VALUES // 2 + 1), '{"n":[' + ",".join(["{}"] * VALUES) + "]}",
                          '{"n":[' + ",".join(["[" * 50 + "]" * 50] * (VALUES // 50 + 1)) + "]}",
                          '{"n":[' + ",".join(['""'] * VALUES) + "]}", '{"n":[' + ",".join(["null"] * VALUES) + "]}"):
            with self.subTest(arguments=arguments[:20]):
                self.refused_as_large(server, session, call(arguments))
        stateless = modern("tools/call", {"name": "echo", "arguments": {"n": [1] * VALUES}}, id=7)
        status, _, said = server.ask(body=json.dumps(stateless), headers=modern_headers(stateless))
        self.assertEqual((status, json.loads(said)["error"]["code"]), (413, -32600))
        batch = "[" + call(numbers(VALUES)) + "]"
        status, _, said = server.ask(body=batch, headers=session.headers)
        self.assertEqual((status, json.loads(said)["error"]["code"]), (413, -32600))
        self.assertEqual(session.said("echo"), "echoed")

    def test_a_body_over_the_limit_is_refused(self):
        server = self.serve_many()
        session = Session(server)
        body = call('{"t":"' + "x" * BYTES + '"}')
        try:
            status, _, _ = server.ask(body=body, headers=session.headers)
        except (BrokenPipeError, ConnectionResetError):
            status = 413  # the gate refused it before all of it was sent
        self.assertEqual(status, 413)
        self.assertEqual(session.said("echo"), "echoed")

    # Other agents get answers while the largest permitted message is processed.
    def test_the_largest_message_leaves_room_for_others(self):
        server = self.serve_many()
        session, other = Session(server), Session(server)
        self.assertEqual(other.said("echo"), "echoed")
        for arguments in (numbers(VALUES - 20), names(VALUES // 2 - 20), '{"t":"' + "word 12 " * (BYTES // 8 - 100) + '"}'):
            with self.subTest(arguments=arguments[:20]), Watch(server) as watch:
                waiting = in_background(lambda: server.ask(body=call(arguments), headers=session.headers))
                slowest = 0.0
                while waiting.empty():
                    begin = time.monotonic()
                    self.assertEqual(other.said("echo"), "echoed")
                    slowest = max(slowest, time.monotonic() - begin)
                status, _, said = waiting.get()
                self.assertEqual(status, 200)
                self.assertIn(b"echoed", said)
            self.within_bounds(watch)
            self.assertLess(slowest, LONGEST_SILENCE)
        self.assertLess(memory(server.process), MOST_MEMORY)

    # The redactor also parses JSON text in a string: 500,000 values a megabyte.
    def test_values_inside_of_texts_are_counted_as_well(self):
        server = self.serve_many()
        session = Session(server)
        texts = ",".join([json.dumps("[" + ",".join(["1"] * 500_000) + "]")] * 15)
        with Watch(server) as watch:
            status, _, said = server.ask(body=call('{"t":[' + texts + "]}"), headers=session.headers)
        self.assertEqual(status, 200)
        self.assertIn(b"echoed", said)
        self.within_bounds(watch)

    # Numbers that a double cannot hold once caused one more pass over the whole text per nesting level.
    def test_what_is_nested_deep_is_read_once(self):
        server = self.serve_many()
        session = Session(server)
        deep = '{"n":' + "[" * 90 + '"' + "x" * (8 << 20) + '",12345678901234567890123' + "]" * 90 + "}"
        with Watch(server) as watch:
            status, _, _ = server.ask(body=call(deep), headers=session.headers)
        self.assertEqual(status, 200)
        self.within_bounds(watch)


class LargeResults(McpTest):
    def many(self):
        client = self.client(sys.executable, self.write("many.py", MANY))
        client.open()
        return client

    def test_a_result_of_many_values_is_malformed_and_on_record(self):
        client = self.many()
        self.assertEqual(len(client.result("numbers", {"count": 1000})["structuredContent"]["n"]), 1000)
        before = memory(client.process)
        result = client.result("numbers", {"count": 4_000_000})
        self.assertTrue(result["isError"])
        self.assertIn("upstream sent malformed output", result["content"][0]["text"])
        self.assertLess(memory(client.process) - before, 500 << 10)
        self.assertEqual(client.said("echo"), "echoed")
        self.assertEqual(client.close(), 0)
        self.one_end_for_each_call(3)

    def test_a_request_of_many_values_is_refused_under_its_id(self):
        client = self.many()
        client.send_text(call(numbers(VALUES), id=70))
        error = client.answer(70)["error"]
        self.assertEqual(error["code"], -32600)
        self.assertIn("250000 values", error["message"])
        self.assertEqual(client.said("echo"), "echoed")

    # The queue of result messages was once bounded only by count, and each message could have any size.
    def test_progress_messages_that_wait_are_bounded_by_their_weight(self):
        client = self.many()
        client.result("numbers", {"count": 200_000, "progress": 40}, timeout=300, _meta={"progressToken": "p"})
        self.assertLess(memory(client.process), MOST_MEMORY)


class LargeEvents(CliTest):
    def event(self, tool_input):
        return ('{"session_id":"s1","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t1",'
                '"tool_input":%s}' % tool_input)

    def test_an_event_of_many_values_is_refused(self):
        for tool_input in (numbers(VALUES), names(VALUES // 2 + 1)):
            done = self.cli("hook", "--agent", "claude-code", stdin=self.event(tool_input).encode())
            self.assertEqual(done.code, 0, done.err)
            decision = json.loads(done.out)["hookSpecificOutput"]
            self.assertEqual(decision["permissionDecision"], "deny")
            self.assertIn("250000 values", decision["permissionDecisionReason"])

    # A form that the host parses and we do not would bypass all rules about its members.
    def test_an_input_that_is_a_text_of_json_must_be_readable(self):
        for text in ('{"command":"rm -rf /","x":' + "[" * 200 + "]" * 200 + "}", '{"command":"ls","command":"rm -rf /"}'):
            event = json.dumps({"sessionId": "s1", "timestamp": 1, "cwd": "/tmp", "toolName": "bash", "toolArgs": text})
            done = self.cli("hook", "--agent", "copilot", stdin=event.encode())
            self.assertEqual(done.code, 0, done.err)
            self.assertIn("deny", done.out)
            self.assertIn("cannot be read", done.out)


if __name__ == "__main__":
    unittest.main()
