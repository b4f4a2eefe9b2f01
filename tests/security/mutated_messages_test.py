"""Mutated messages in both directions: no crash, no unscreened secret, and bounded memory.

`SALLYPORT_MUTATIONS=100000` makes a long run, `SALLYPORT_SEED` another one. If the program was built with sanitizers
(`SALLYPORT_BIN`), their reports fail the test too.
"""
import http.client
import json
import os
import re
import pathlib
import sys
import threading
import time
import unittest

from cli_support import BIN
from mcp_support import McpTest
from mutations import LEGACY, MARKER, Mutator, dumps

# A mutation may attach letters to the key, and then it is no longer a key.
PLANTED = re.compile(rf"(?<![A-Za-z0-9]){MARKER}(?![A-Za-z0-9])")
from serve_support import ServeTest

COUNT = int(os.environ.get("SALLYPORT_MUTATIONS", "2000"))
# A call without an answer from the mutated server ends after a minute and may delay others until then.
PATIENCE = 300
SEED = int(os.environ.get("SALLYPORT_SEED", "1"))
SANITIZED = b"__asan_" in pathlib.Path(BIN).read_bytes() if pathlib.Path(BIN).exists() else False
MOST_MEMORY = (6 << 20 if SANITIZED else 1 << 20)  # KiB
SERVER = pathlib.Path(__file__).with_name("mutations.py")
CAPABILITIES = {"roots": {}, "sampling": {}, "elicitation": {}}


def memory(process):
    with open(f"/proc/{process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))


def leaks(text):
    """Finds the secret in text that a client or a person sees, plain or escaped."""
    if PLANTED.search(text):
        return True
    if "\\u" not in text:
        return False
    try:
        return bool(PLANTED.search(json.dumps(json.loads(text), ensure_ascii=False)))
    except ValueError:
        return bool(PLANTED.search(text.encode().decode("unicode_escape", "replace")))


class Checked:
    """The checks that both drivers use."""

    def check_process(self, process, errors):
        said = "".join(errors)
        self.assertNotIn("ERROR: AddressSanitizer", said)
        self.assertNotIn("ERROR: LeakSanitizer", said)
        self.assertNotIn("runtime error:", said)
        self.assertIsNone(process.poll(), said[-3000:])
        self.assertLess(memory(process), MOST_MEMORY)

    def check_leaks(self, found):
        shown = "\n".join(text if len(text) < 400 else f"{text[:200]} ... {text[max(0, text.find(MARKER) - 100):][:300]}"
                          for text in found[:12])
        self.assertEqual(len(found), 0, f"seed {SEED}: {len(found)} messages with the secret arrived:\n{shown}")


class ThroughMcp(Checked, McpTest):
    """A client and a server that communicate over pipes."""

    BURST = 25

    def setUp(self):
        super().setUp()
        self.found, self.questions = [], []

    def wait_for(self, client, ping):
        """Checks all messages until the answer to this ping; keeps none of them."""
        end = time.monotonic() + PATIENCE
        while True:
            message = client.messages.get(timeout=max(0.01, end - time.monotonic()))
            self.assertIsNotNone(message, "the gateway ended: " + "".join(client.errors)[-3000:])
            for one in message if isinstance(message, list) else [message]:
                if one.get("id") == ping:
                    self.found += filter(leaks, client.lines)
                    client.lines.clear()
                    return
                if "method" in one and "id" in one and len(self.questions) < 1000:
                    self.questions.append(one["id"])

    def test_mutated_messages_pass_screened_or_not_at_all(self):
        mutator = Mutator(SEED)
        client = self.client(sys.executable, SERVER, str(SEED + 1))
        client.open(CAPABILITIES)
        sent = 0
        while sent < COUNT // 2:
            for _ in range(self.BURST):
                sent += 1
                if self.questions:
                    answer = {"jsonrpc": "2.0", "id": self.questions.pop(), "result": {"roots": [], "action": "decline", "text": "x"}}
                    text = mutator.mutated(answer)
                elif mutator.chance(0.1):
                    text = mutator.mutated(mutator.telling(sent))
                else:
                    text = mutator.mutated(mutator.request(sent))
                client.process.stdin.write(text.encode("utf-8", "surrogatepass") + b"\n")
            client.send_text(dumps({"jsonrpc": "2.0", "id": f"ping-{sent}", "method": "ping"}))
            self.wait_for(client, f"ping-{sent}")
        self.check_process(client.process, client.errors)
        self.assertEqual(client.close(), 0, "".join(client.errors)[-3000:])
        self.check_leaks(self.found)
        self.check_leaks([line for line in client.errors if leaks(line)])
        self.good("ledger", "verify")


class ThroughServe(Checked, ServeTest):
    """The same over HTTP, by several clients at once."""

    CLIENTS = 4

    def setUp(self):
        super().setUp()
        self.found, self.failed = [], []

    def look(self, text):
        if leaks(text):
            self.found.append(text)

    def post(self, connection, server, body, headers):
        connection.request("POST", "/mcp", body, {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                                                  "Authorization": f"Bearer {server.token}", **headers})
        response = connection.getresponse()
        text = response.read().decode("utf-8", "replace")
        for line in text.splitlines():
            self.look(line[6:] if line.startswith("data: ") else line)
        return response, text

    def drive(self, server, seed, count):
        mutator = Mutator(seed)
        connection = http.client.HTTPConnection(server.url.hostname, server.url.port, timeout=PATIENCE)
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": CAPABILITIES, "clientInfo": {"name": "hand", "version": "1"}}}
        response, _ = self.post(connection, server, dumps(opening), {})
        headers = {"Mcp-Session-Id": response.getheader("mcp-session-id"), "MCP-Protocol-Version": LEGACY}
        self.post(connection, server, dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), headers)
        for i in range(1, count + 1):
            message = mutator.telling(i) if mutator.chance(0.1) else mutator.request(i)
            if message["params"].get("taskId") or message["method"] == "server/discover":
                message["method"] = "ping"
            text = mutator.mutated(message)
            try:
                response, _ = self.post(connection, server, text.encode("utf-8", "surrogatepass"), headers)
                if response.status == 404:
                    raise AssertionError("the session is gone")
            except (http.client.HTTPException, ConnectionError, BrokenPipeError):
                connection.close()
                if server.process.poll() is not None:
                    raise
        connection.close()

    def listen(self, server, over):
        """Reads the stream of messages that belong to no request."""
        connection = http.client.HTTPConnection(server.url.hostname, server.url.port, timeout=PATIENCE)
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": LEGACY, "capabilities": CAPABILITIES, "clientInfo": {"name": "hand", "version": "1"}}}
        response, _ = self.post(connection, server, dumps(opening), {})
        headers = {"Mcp-Session-Id": response.getheader("mcp-session-id"), "MCP-Protocol-Version": LEGACY}
        self.post(connection, server, dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), headers)
        reader = http.client.HTTPConnection(server.url.hostname, server.url.port, timeout=PATIENCE)
        reader.request("GET", "/mcp", headers={"Accept": "text/event-stream", "Authorization": f"Bearer {server.token}", **headers})
        stream = reader.getresponse()

        def read():
            try:
                for line in stream:
                    self.look(line.decode("utf-8", "replace").removeprefix("data: "))
            except (OSError, http.client.HTTPException, ValueError, AttributeError):
                pass  # it ends with the server
        threading.Thread(target=read, daemon=True).start()
        mutator = Mutator(SEED + 77)
        for i in range(1, 10**9):
            if over.is_set():
                break
            self.post(connection, server, dumps(mutator.request(i)), headers)
        connection.close()

    def guarded(self, work, *arguments):
        try:
            work(*arguments)
        except BaseException as fault:  # pylint: disable=broad-except
            self.failed.append(repr(fault))

    def test_mutated_messages_pass_screened_or_not_at_all(self):
        server = self.serve(command=(sys.executable, SERVER, str(SEED + 2)))
        over = threading.Event()
        listener = threading.Thread(target=self.guarded, args=(self.listen, server, over), daemon=True)
        threads = [threading.Thread(target=self.guarded, daemon=True,
                                    args=(self.drive, server, SEED + 10 + i, COUNT // 2 // self.CLIENTS))
                   for i in range(self.CLIENTS)]
        for thread in (listener, *threads):
            thread.start()
        end = time.monotonic() + max(600, COUNT)
        for thread in threads:
            thread.join(max(1, end - time.monotonic()))
            self.assertFalse(thread.is_alive(), "not all was answered in time")
        over.set()
        listener.join(PATIENCE)
        self.check_process(server.process, server.errors)
        status, _, _ = server.ask("GET", "/healthz", token=False)
        self.assertEqual(status, 200)
        self.assertEqual(server.stop(), 0, "".join(server.errors)[-3000:])
        self.check_leaks(self.found)
        self.check_leaks([line for line in server.errors if leaks(line)])
        self.assertEqual(self.failed, [])
        self.good("ledger", "verify")


if __name__ == "__main__":
    unittest.main()
