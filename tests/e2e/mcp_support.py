"""A handwritten client of `sallyport mcp`, which sees every byte."""
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

from cli_support import BIN, CliTest

FAKE = pathlib.Path(__file__).with_name("mcp_fake_server.py")
LEGACY = "2025-11-25"
PATIENCE = 120  # on a machine that is busy with other programs


class Client:
    """One gateway process and its output."""

    def __init__(self, test, command, env=None, options=()):
        self.process = subprocess.Popen(
            [BIN, "mcp", *options, "--data-dir", str(test.data), *(("--", *map(str, command)) if command else ())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=env or test.environment(), cwd=test.folder)
        self.messages = queue.Queue()
        self.lines = []
        self.errors = []
        self.kept = []
        self.last_id = 0
        for stream, hear in ((self.process.stdout, self.hear), (self.process.stderr, self.hear_error)):
            threading.Thread(target=self.read, args=(stream, hear), daemon=True).start()

    def read(self, stream, hear):
        for line in stream:
            hear(line.decode())
        hear(None)

    def hear(self, line):
        if line is not None:
            self.lines.append(line)
        self.messages.put(None if line is None else json.loads(line))

    def hear_error(self, line):
        if line is not None:
            self.errors.append(line)

    def send_text(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def send(self, message):
        self.send_text(json.dumps({"jsonrpc": "2.0", **message}))

    def ask(self, method, params=None):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, **({} if params is None else {"params": params})})
        return self.last_id

    def tell(self, method, params=None):
        self.send({"method": method, **({} if params is None else {"params": params})})

    def next(self, wanted, timeout=PATIENCE):
        """Returns the first message that `wanted` accepts; keeps the others."""
        for i, message in enumerate(self.kept):
            if wanted(message):
                return self.kept.pop(i)
        end = time.monotonic() + timeout
        while True:
            message = self.messages.get(timeout=max(0.01, end - time.monotonic()))
            if message is None:
                raise AssertionError("the gateway ended: " + "".join(self.errors))
            if wanted(message):
                return message
            self.kept.append(message)

    def answer(self, id, timeout=PATIENCE):
        return self.next(lambda m: m.get("id") == id and "method" not in m, timeout)

    def request(self, method, params=None, timeout=PATIENCE):
        return self.answer(self.ask(method, params), timeout)

    def call(self, tool, arguments=None, timeout=PATIENCE, **more):
        return self.request("tools/call", {"name": tool, "arguments": arguments or {}, **more}, timeout)

    def result(self, tool, arguments=None, timeout=PATIENCE, **more):
        return self.call(tool, arguments, timeout, **more)["result"]

    def said(self, tool, arguments=None, **more):
        return self.result(tool, arguments, **more)["content"][0]["text"]

    def open(self, capabilities=None, version=LEGACY):
        opened = self.request("initialize", {
            "protocolVersion": version, "capabilities": capabilities or {},
            "clientInfo": {"name": "hand", "version": "1"}})
        self.tell("notifications/initialized")
        return opened["result"]

    def wait_for_error(self, words, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            found = [line for line in list(self.errors) if words in line]
            if found:
                return found[0]
            time.sleep(0.02)
        raise AssertionError(f"{words!r} was not said: {''.join(self.errors)}")

    def close(self, timeout=PATIENCE):
        if not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        return self.process.wait(timeout)


class McpTest(CliTest):
    def client(self, *command, env=None, options=("--name", "fake")):
        given = env if env is None else self.environment(**env)
        client = Client(self, command or (sys.executable, FAKE), given, options)
        self.addCleanup(self.end, client)
        return client

    @staticmethod
    def end(client):
        if client.process.poll() is None:
            client.process.kill()
        client.process.wait()
        for stream in (client.process.stdin, client.process.stdout, client.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass

    def wait_until(self, true, timeout=PATIENCE):
        end = time.monotonic() + timeout
        while not true():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.02)

    def noting_calls(self):
        """Returns an environment in which the fake server records the calls that reach it."""
        return {"FAKE_CALLED": self.folder / "called"}

    def wait_until_called(self, tool):
        """Waits until a call of this tool has reached the fake server."""
        noted = self.folder / "called"
        self.wait_until(lambda: noted.exists() and tool in noted.read_text().splitlines())

    def records(self, *words):
        return [row["record"] for row in
                self.good("ledger", "show", "--kind", "tool_audit", *words, "--limit", "100000", "--json").lines()]

    def one_end_for_each_call(self, calls):
        """Checks that every call has exactly one terminal record and that the ledger is valid."""
        ends = [record for record in self.records() if record["terminal"]]
        self.assertEqual(len(ends), calls)
        self.assertEqual(len({record["call_id"] for record in ends}), calls)
        self.good("ledger", "verify", "--json")
        return ends


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
