#!/usr/bin/env python3
"""Measures the overhead of the gate on a tool call, beside the proxies of npm, in one run.

   python3 bench/mcp_bench.py [--calls 2000] [--rounds 10] [--seconds 3] [--json]
   python3 bench/mcp_bench.py --load 64 [--seconds 3]     only the gate, under so many clients

A bare client over kept-alive connections, so that the client's own time hides nothing. The targets take turns in every
round: a noisy machine slows them all alike. Compare within one run; what is added is added to the server itself.
With `acts` the intent of every call is on disk before the tool is called and its outcome before the answer, with `reads` (a tool that policy
knows to change nothing) both before the answer; `relaxed` has both written together and waits for no disk. Gates and proxies stand before the
server on standard streams, unless a line says that they reach it over HTTP.
"""
import argparse
import json
import os
import pathlib
import re
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from conformance_support import Listening  # noqa: E402
from npm_peers import Peers, node  # noqa: E402

BIN = os.environ.get("SALLYPORT_BIN", str(ROOT / "build" / "bin" / "sallyport"))
RIVALS = Peers("rivals", {"mcp-proxy": "6.7.19", "supergateway": "4.0.0"})
ECHO = ROOT / "bench" / "echo_server.mjs"
NATIVE_ECHO = pathlib.Path(BIN).with_name("echo_server")  # of echo_server.cc, where the time of Node would hide the gate's
VERSION = "2025-11-25"
OPENING = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
CALL = {"name": "echo", "arguments": {"message": "hello"}}


def message(id, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}, separators=(",", ":")).encode()


class HttpCaller:
    """One kept-alive connection with a session of its own."""

    def __init__(self, url):
        self.url = urllib.parse.urlsplit(url)
        self.headers = b""
        self.last_id = 0
        self.socket = None
        self.connect()
        self.ask("initialize", OPENING)
        head, _ = self.whole()
        session = re.search(rb"(?im)^mcp-session-id: *(\S+)", head)
        self.headers = b"mcp-protocol-version: " + VERSION.encode() + b"\r\n"
        if session:
            self.headers += b"mcp-session-id: " + session.group(1) + b"\r\n"
        self.post(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        self.whole()

    def connect(self):
        """A new connection for the same session: servers close those that rest for some seconds."""
        if self.socket is not None:
            self.socket.close()
        self.buffer = b""
        self.socket = socket.create_connection((self.url.hostname, self.url.port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def post(self, body):
        self.socket.sendall(b"POST " + self.url.path.encode() + b" HTTP/1.1\r\nhost: " + self.url.netloc.encode() +
                            b"\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n" + self.headers +
                            b"content-length: " + str(len(body)).encode() + b"\r\n\r\n" + body)

    def ask(self, method, params):
        self.last_id += 1
        self.post(message(self.last_id, method, params))

    def complete(self):
        """Takes head and body of a complete answer from the buffer; returns None if the answer is incomplete."""
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        head, start = self.buffer[:end], end + 4
        length = re.search(rb"(?im)^content-length: *(\d+)", head)
        if length or b"transfer-encoding" not in head.lower():
            stop = start + int(length.group(1) if length else 0)
            if len(self.buffer) < stop:
                return None
        else:
            last = self.buffer.find(b"0\r\n\r\n", start)
            while last >= 0 and self.buffer[last - 2:last] != b"\r\n":
                last = self.buffer.find(b"0\r\n\r\n", last + 1)
            if last < 0:
                return None
            stop = last + 5
        body, self.buffer = self.buffer[start:stop], self.buffer[stop:]
        return head, body

    def take(self):
        part = self.socket.recv(65536)
        if not part:
            raise RuntimeError("the other side closed the connection")
        self.buffer += part

    def whole(self):
        while (answer := self.complete()) is None:
            self.take()
        return answer

    def call(self):
        self.ask("tools/call", CALL)
        return check(self.whole()[1])

    def close(self):
        self.connect()
        if b"mcp-session-id" in self.headers:
            self.socket.sendall(b"DELETE " + self.url.path.encode() + b" HTTP/1.1\r\nhost: " + self.url.netloc.encode() + b"\r\n" + self.headers + b"\r\n")
            self.whole()
        self.socket.close()


class StreamCaller:
    """A server on standard streams, and its only client."""

    def __init__(self, command, cwd):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=cwd, bufsize=0)
        self.last_id = 0
        self.buffer = b""
        self.socket = self.process.stdout  # where answers arrive
        self.ask("initialize", OPENING)
        self.whole()
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def connect(self):
        pass  # streams stay open

    def ask(self, method, params):
        self.last_id += 1
        self.process.stdin.write(message(self.last_id, method, params) + b"\n")

    def complete(self):
        if not self.buffer.endswith(b"\n"):
            return None
        answer, self.buffer = self.buffer, b""
        return b"", answer

    def take(self):
        part = os.read(self.socket.fileno(), 65536)
        if not part:
            raise RuntimeError("the server ended")
        self.buffer += part

    def whole(self):
        while (answer := self.complete()) is None:
            self.take()
        return answer

    def call(self):
        self.ask("tools/call", CALL)
        return check(self.whole()[1])

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


def check(answer):
    if b"hello" not in answer or b'"isError":true' in answer:
        raise RuntimeError(f"not the answer of a call: {answer[:500]!r}")


class Target:
    """One measured target: a process that listens, or one on standard streams."""

    def __init__(self, name, start, url=None, streams=None):
        self.name = name
        self.begin = start
        self.url = url
        self.streams = streams
        self.times = []

    def start(self, cwd):
        started = time.monotonic()
        if self.streams:
            self.caller = StreamCaller(self.streams, cwd)
            self.process = self.caller.process
        else:
            self.listening, self.url = self.begin(cwd)
            self.process = self.listening.process
            self.caller = first_caller(self.url)
        self.caller.call()
        self.ready = time.monotonic() - started
        return self

    def memory(self):
        """Resident memory of the process itself, in MiB, without the servers behind it."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def stop(self):
        self.caller.close()
        if not self.streams:
            self.listening.stop()


def first_caller(url, patience=30):
    end = time.monotonic() + patience
    while True:
        try:
            return HttpCaller(url)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.005)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listening(command):
    """Starts a program that prints its address."""
    def begin(cwd):
        process = Listening(command, dict(os.environ), cwd)
        return process, process.url
    return begin


def on_port(command, env=None):
    """Starts a program that gets its port as an argument and does not report when it listens."""
    def begin(cwd):
        port = free_port()
        process = Listening([*command(port)], {**os.environ, **(env or {})}, cwd, pattern=r"()")
        return process, f"http://127.0.0.1:{port}/mcp"
    return begin


POLICIES = {"reads": {"durability": "effect", "tools": [{"tool": "echo", "tier": "observe", "class": "none"}]},
            "acts": {"durability": "effect"},
            "relaxed": {"durability": "relaxed"}}


def policy(cwd, kind):
    file = pathlib.Path(cwd) / f"{kind}.yaml"
    file.write_text(json.dumps({"version": 1, "name": f"bench-{kind}", "autonomy": {"tier": "act_auto"}, **POLICIES[kind]}))
    return file


def served(cwd, name, kind, upstream):
    """The gate over HTTP, before `upstream`."""
    def begin(_):
        config = {"version": 1, "serve": {"listen": "127.0.0.1:0", "auth": "none", "policy": str(policy(cwd, kind)), "sessions": 256,
                                          "upstreams": [{"name": "echo", **upstream()}]}}
        file = pathlib.Path(cwd) / f"serve-{name}.yaml"
        file.write_text(json.dumps(config))
        process = Listening([BIN, "serve", "--config", file, "--data-dir", f"{cwd}/{name}"], dict(os.environ), cwd)
        return process, process.url
    return begin


def targets(cwd):
    run = node(20)
    echo = [str(run), str(ECHO)]
    bins = RIVALS.modules / ".bin"
    wrapped = lambda kind: [BIN, "mcp", "--data-dir", f"{cwd}/streams-{kind}", "--policy", policy(cwd, kind), "--name", "echo", "--", *echo]
    server = Target("HTTP: the server itself", listening([*echo, "http"]))
    return [
        Target("streams: the server itself", None, streams=echo),
        Target("streams: gate, reads", None, streams=wrapped("reads")),
        Target("streams: gate, acts", None, streams=wrapped("acts")),
        Target("streams: gate, relaxed", None, streams=wrapped("relaxed")),
        server,
        Target("HTTP: gate, reads", served(cwd, "reads", "reads", lambda: {"command": echo})),
        Target("HTTP: gate, acts", served(cwd, "acts", "acts", lambda: {"command": echo})),
        Target("HTTP: gate, relaxed", served(cwd, "relaxed", "relaxed", lambda: {"command": echo})),
        Target("HTTP: gate to HTTP, reads", served(cwd, "remote", "reads", lambda: {"url": server.url})),
        Target("HTTP: gate to HTTP, relaxed", served(cwd, "remote-relaxed", "relaxed", lambda: {"url": server.url})),
        Target("HTTP: mcp-proxy", on_port(lambda port: [run, bins / "mcp-proxy", "--port", port, "--host", "127.0.0.1", "--server", "stream", "--", *echo])),
        Target("HTTP: supergateway", on_port(lambda port: [run, bins / "supergateway", "--stdio", " ".join(echo), "--outputTransport", "streamableHttp",
                                                           "--stateful", "--port", port, "--logLevel", "none"],
                                             {"NODE_OPTIONS": f"--require={ROOT / 'bench' / 'loopback_only.cjs'}"})),
    ]


def latency(all_targets, calls, rounds):
    for _ in range(rounds):
        for target in all_targets:
            target.caller.connect()
            for _ in range(20):
                target.caller.call()
            for _ in range(calls // rounds):
                start = time.perf_counter_ns()
                target.caller.call()
                target.times.append((time.perf_counter_ns() - start) / 1000)


def throughput(caller_of, clients, seconds):
    """Returns the calls per second of so many clients; each waits for its answer before it calls again."""
    callers = [caller_of() for _ in range(clients)]
    selector = selectors.DefaultSelector()
    for caller in callers:
        caller.connect()  # a program that starts a server for each client is slow to accept the last clients
        selector.register(caller.socket, selectors.EVENT_READ, caller)
        caller.ask("tools/call", CALL)
    done, start = 0, time.monotonic()
    while time.monotonic() - start < seconds:
        for key, _ in selector.select(timeout=30):
            caller = key.data
            caller.take()
            if (answer := caller.complete()) is not None:
                check(answer[1])
                done += 1
                caller.ask("tools/call", CALL)
    rate = done / (time.monotonic() - start)
    for caller in callers:
        caller.whole()
        caller.close()
    return rate


def processor_seconds(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def load(options, cwd):
    """The gate alone under many clients, each with a tool server of its own; they share the machine.

    Before it the same client and servers without the gate: what they leave of the machine is all that a gate can have."""
    for server, command in (("node", [str(node(20)), str(ECHO)]), ("native", [str(NATIVE_ECHO)])):
        bare = throughput(lambda: StreamCaller(command, cwd), options.load, options.seconds)
        print(f"{'no gate, servers of ' + server:<28}{bare:>7.0f} calls/s")
        for kind in ("relaxed", "reads"):
            name = f"{kind}-{server}"
            target = Target(name, served(cwd, name, kind, lambda: {"command": command})).start(cwd)
            before = processor_seconds(target.process)
            rate = throughput(lambda: HttpCaller(target.url), options.load, options.seconds)
            used = (processor_seconds(target.process) - before) / (rate * options.seconds)
            print(f"{kind + ', servers of ' + server:<28}{rate:>7.0f} calls/s{rate / bare:>6.2f} of those{used * 1e6:>6.0f} us of processor time of the gate a call")
            target.stop()


def at(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(len(values) * share))]


def measure(options, cwd):
    started = []
    rows = []
    try:
        for target in targets(cwd):
            started.append(target)
            target.start(cwd)
        time.sleep(1)
        idle = {target.name: target.memory() for target in started}
        latency(started, options.calls, options.rounds)
        base = {}
        for target in started:
            kind = target.name.split(":")[0]
            median, p99 = at(target.times, 0.5), at(target.times, 0.99)
            base.setdefault(kind, (median, p99))
            row = {"target": target.name, "median_us": median, "p99_us": p99, "added_median_us": median - base[kind][0], "added_p99_us": p99 - base[kind][1],
                   "start_ms": target.ready * 1000, "idle_mib": idle[target.name]}
            if target.url:
                row |= {f"calls_per_s_{clients}": throughput(lambda: HttpCaller(target.url), clients, options.seconds) for clients in (16, 64)}
            rows.append(row)
    finally:
        for target in started:
            if hasattr(target, "caller"):
                target.stop()
    return rows


def show(rows):
    print(f"{'':<30}{'median':>9}{'p99':>9}{'added':>9}{'added p99':>11}{'16 clients':>12}{'64 clients':>12}{'start':>9}{'idle':>9}")
    for row in rows:
        rates = "".join(f"{row[key]:>10.0f}/s" if key in row else f"{'-':>12}" for key in ("calls_per_s_16", "calls_per_s_64"))
        print(f"{row['target']:<30}{row['median_us']:>6.0f} us{row['p99_us']:>6.0f} us{row['added_median_us']:>6.0f} us{row['added_p99_us']:>8.0f} us{rates}"
              f"{row['start_ms']:>6.0f} ms{row['idle_mib']:>5.0f} MiB")


def main():
    parser = argparse.ArgumentParser(description="what the gate adds to a tool call, beside the proxies of npm")
    parser.add_argument("--calls", type=int, default=2000, help="calls for each latency")
    parser.add_argument("--rounds", type=int, default=10, help="turns that the targets take")
    parser.add_argument("--seconds", type=float, default=3, help="time for each throughput")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--load", type=int, metavar="CLIENTS", help="measure only the gate, under so many clients")
    options = parser.parse_args()
    if options.load:
        cwd = tempfile.mkdtemp(prefix="sallyport-mcp-bench-")
        try:
            return load(options, cwd)
        finally:
            shutil.rmtree(cwd, ignore_errors=True)
    reason = RIVALS.install()
    if reason is not None:
        sys.exit(f"mcp_bench: mcp-proxy and supergateway could not be installed: {reason}")
    cwd = tempfile.mkdtemp(prefix="sallyport-mcp-bench-")
    try:
        rows = measure(options, cwd)
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    if options.json:
        print(json.dumps(rows))
    else:
        show(rows)


if __name__ == "__main__":
    main()
