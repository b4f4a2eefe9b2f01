#!/usr/bin/env python3
"""Measures what our own agent adds to a bare model request, and its memory while it waits.

    python3 bench/agent_bench.py [--json]

A provider on this machine answers chat completions with one short text, or with one call of `list_files`. The same requests are made by a bare client
in this process and by `sallyport agent run`, whose rounds are taken from the times of the ledger, so that the start of a process does not count.
Compare within one run.
"""
import argparse
import datetime
import http.client
import http.server
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = os.environ.get("SALLYPORT_BIN", str(ROOT / "build" / "bin" / "sallyport"))
ROUNDS = 60


def frame(delta, reason=None):
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}).encode() + b"\n\n"


class Provider(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, rounds):
        self.rounds = rounds
        self.asked = 0
        self.hold = threading.Event()
        self.hold.set()
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_):
        pass  # the client is cancelled while it waits for the answer


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536  # one segment for an answer
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.server.hold.wait(60)
        self.server.asked += 1
        if self.server.asked % (self.server.rounds + 1):
            call = {"index": 0, "id": f"c{self.server.asked}", "type": "function",
                    "function": {"name": "list_files", "arguments": '{"path":"."}'}}
            body = frame({"tool_calls": [call]}) + frame({}, "tool_calls")
        else:
            body = frame({"content": "done"}) + frame({}, "stop")
        body += b"data: [DONE]\n\n"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def bare(port, count):
    times = []
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for _ in range(count):
        begin = time.perf_counter()
        connection.request("POST", "/chat/completions", b'{"stream":true}', {"content-type": "application/json"})
        connection.getresponse().read()
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def of_time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


class Bench:
    def __init__(self, folder, port):
        self.folder, self.data = folder, folder / "data"
        (folder / "work").mkdir()
        (folder / "work" / "a.txt").write_text("a\n")
        self.config = folder / "agent.json"
        self.config.write_text(json.dumps({"agent": {
            "id": "bench", "model": {"provider": "openai", "model": "m", "base_url": f"http://127.0.0.1:{port}"},
            "roots": [{"path": "work", "write": False}], "memory": {"recall": False, "limit": 3, "max_chars": 100, "timeout_ms": 250}}}))

    def command(self, *more):
        return [BIN, "--data-dir", str(self.data), *more]

    def run(self):
        begin = time.perf_counter()
        subprocess.run(self.command("agent", "run", "go", "--agent", str(self.config), "--policy", "transparent", "--json"),
                       check=True, stdout=subprocess.DEVNULL, timeout=120)
        return time.perf_counter() - begin

    def rounds(self):
        """Times from one request to the next, in ms."""
        out = subprocess.run(self.command("ledger", "show", "--event-type", "model_request_started", "--limit", "10000", "--json"),
                             check=True, capture_output=True, timeout=120).stdout
        times = [of_time(json.loads(line)["record"]["recorded_at"]) for line in out.splitlines()]
        return [(b - a).total_seconds() * 1e3 for a, b in zip(times, times[1:])]

    def idle(self, provider):
        """Resident memory of an agent that waits for its model, in MiB."""
        provider.hold.clear()
        process = subprocess.Popen(self.command("agent", "run", "go", "--agent", str(self.config), "--policy", "transparent", "--json"),
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            time.sleep(2)
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
        finally:
            provider.hold.set()
            process.send_signal(signal.SIGINT)
            process.wait(30)
        return kib / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    provider = Provider(ROUNDS)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    port = provider.server_address[1]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-agent-bench-"))
    try:
        plain = bare(port, ROUNDS)
        provider.asked = 0
        bench = Bench(folder, port)
        whole = bench.run()
        times = bench.rounds()
        result = {"bare_request_ms": plain, "round_ms": statistics.median(times), "rounds": len(times),
                  "ratio": statistics.median(times) / plain, "run_s": whole, "idle_mib": bench.idle(provider)}
    finally:
        provider.shutdown()
        shutil.rmtree(folder, ignore_errors=True)
    if options.json:
        print(json.dumps(result))
        return
    print("our own agent beside the bare request to its model")
    print(f"  bare request                 {result['bare_request_ms']:8.2f} ms")
    print(f"  round with one tool call     {result['round_ms']:8.2f} ms   {result['ratio']:.1f} times the bare request")
    print(f"  memory while it waits        {result['idle_mib']:8.1f} MiB")


if __name__ == "__main__":
    main()
