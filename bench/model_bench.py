#!/usr/bin/env python3
"""Measures the overhead of the model proxy on a streamed answer, beside `@portkey-ai/gateway`, in one run.

    python3 bench/model_bench.py [--quick] [--json]
    python3 bench/model_bench.py --instructions

A bare provider (bench/model_provider.mjs) sends 200 deltas for each request; a bare client (bench/model_load.mjs) opens 1, 64 and 1,000 streams at
once over kept-alive connections. The targets take turns in every round: the provider itself, the proxy with an empty policy, the proxy with 64
patterns on `input` and on `output`, and Portkey. Records are durable in both proxies. Compare within one run; what is added is added to the provider
itself. Client, provider and target share the processors, so that at many streams the times are those of a queue.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "bench"
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from conformance_support import Listening  # noqa: E402
from mcp_bench import at, free_port  # noqa: E402
from npm_peers import Peers, node  # noqa: E402

BIN = os.environ.get("SALLYPORT_BIN", str(ROOT / "build" / "bin" / "sallyport"))
DELTAS = 200
DIRECT, EMPTY, ARMED, RIVAL = "the provider itself", "proxy, empty policy", "proxy, 64 patterns", "Portkey"
WHOLE = 220  # seconds for the whole run; parts that do not fit are left out and named in the output
MIB = 1 << 20
WORDS = ("the ", "model ", "answers ", "with ", "a ", "project ", "plan, ", "and ", "user42 ", "asks ", "for ", "2026-11 ", "numbers ", "in ", "order: ", "3, ",
         "previous ", "lines ", "ignore ", "empty ", "fields. ", "Sky ", "AK ", "write ")

TEXT = sum(len(WORDS[i * 7 % len(WORDS)]) for i in range(DELTAS))  # bytes of one answer


class Pinned(Peers):
    """Installs a package with fixed versions of its own dependencies, by `overrides` of npm."""

    def __init__(self, name, package, version, overrides):
        super().__init__(name, {package: version, **overrides})
        self.manifest = {"private": True, "dependencies": {package: version}, "overrides": overrides}

    def fetch(self):
        (self.folder / "package.json").write_text(json.dumps(self.manifest))
        try:
            done = subprocess.run(["npm", "install", "--prefix", self.folder, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1"],
                                  capture_output=True, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            return "the registry did not answer in time"
        return None if done.returncode == 0 and self.installed() else (done.stderr or "npm failed").strip()[-300:]


# With newer versions of the other two, Portkey answers 500 to every stream.
PORTKEY = Pinned("portkey", "@portkey-ai/gateway", "1.15.2", {"@hono/node-server": "1.13.5", "hono": "4.9.7"})


def patterns():
    """The mix of bench/match_bench.cc."""
    kinds = ["AKIA[0-9A-Z]{16}", "ASIA[0-9A-Z]{16}", "ghp_[0-9A-Za-z]{36}", "xox[bap]-[0-9A-Za-z-]{10,72}", "AIza[0-9A-Za-z_-]{35}",
             "-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----", "sk-[0-9A-Za-z]{20,48}", r"eyJ[0-9A-Za-z_-]{10,200}\.[0-9A-Za-z_-]{10,200}",
             r"\b[0-9]{3}-[0-9]{2}-[0-9]{4}\b", r"\b[0-9]{4}[ -][0-9]{4}[ -][0-9]{4}[ -][0-9]{4}\b", r"[a-z0-9._]{1,32}@[a-z0-9-]{1,32}\.[a-z]{2,8}",
             "(?i)ignore (?:all )?previous instructions", r"(?i)password\s{0,4}[:=]\s{0,4}[^\s]{6,40}", r"rm\s{1,4}-rf\s{1,4}/"]
    return kinds + [f"(?i)project {chr(ord('a') + i % 26)}nightingale{i * 7919 % 10000}" for i in range(64 - len(kinds))]


def checks(*stages):
    return {"checks": [{"type": "regex", "stage": stage, "id": f"bench-{stage}", "on_fail": "redact", "patterns": patterns()} for stage in stages]}


def question(model, text="hello"):
    return json.dumps({"model": model, "stream": True, "messages": [{"role": "user", "content": text}]}, separators=(",", ":"))


class Late(Exception):
    """A job was not done in time."""


class Load:
    """The client: one job at a time."""

    def __init__(self):
        self.process = subprocess.Popen([node(20), str(BENCH / "model_load.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.buffer = b""

    def run(self, seconds=30, **job):
        self.process.stdin.write(json.dumps({"seconds": seconds, **job}).encode() + b"\n")
        self.process.stdin.flush()
        end = time.monotonic() + seconds + 5
        while b"\n" not in self.buffer:
            if not select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))[0]:
                raise Late("the client does not answer")
            part = os.read(self.process.stdout.fileno(), MIB)
            if not part:
                raise Late("the client ended")
            self.buffer += part
        line, self.buffer = self.buffer.split(b"\n", 1)
        result = json.loads(line)
        if "error" in result:
            if result["error"].startswith("not done"):
                self.process.wait(10)  # the process ends by itself
            raise Late(result["error"])
        return result

    def stop(self):
        self.process.kill()
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


class Target:
    def __init__(self, name, url, listening=None, headers=None):
        self.name, self.listening = name, listening
        self.job = {"url": f"{url}/chat/completions", "headers": headers or {}}
        self.runs, self.walls, self.processor, self.failed = {}, {}, {}, {}

    def pid(self):
        return self.listening.process.pid

    def memory(self):
        """Resident memory in MiB."""
        return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{self.pid()}/status").read_text()).group(1)) / 1024

    def own_memory(self):
        """Returns the memory that no file backs, in MiB: resident memory also counts shared pages of the program and its libraries."""
        return int(re.search(r"Private_Dirty:\s+(\d+)", pathlib.Path(f"/proc/{self.pid()}/smaps_rollup").read_text()).group(1)) / 1024

    def spent(self):
        """Returns the processor time so far, in microseconds."""
        fields = pathlib.Path(f"/proc/{self.pid()}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") * 1e6

    def measure(self, load, streams, seconds, note=True):
        before = self.spent()
        result = load.run(seconds, streams=streams, body=question("bench"), **self.job)
        if result["text"] != TEXT:
            raise Late(f"{self.name}: an answer has {result['text']} bytes of {TEXT}")
        if note:
            self.runs.setdefault(streams, []).extend(zip(result["first"], result["total"]))
            self.walls.setdefault(streams, []).append(result["wall_us"])
            self.processor.setdefault(streams, []).append((self.spent() - before) / streams)


def proxy(cwd, name, provider, policy, program=BIN):
    """Starts `sallyport serve` before this provider, with this policy."""
    file = pathlib.Path(cwd) / f"{name}.yaml"
    file.write_text(json.dumps({"version": 1, "name": f"bench-{name}", "autonomy": {"tier": "act_auto"}, **policy}))
    upstream = {"name": "provider", "api": "openai_chat", "url": provider.removesuffix("/v1"), "key": "none", "models": ["*"], "usage": "as_sent"}
    config = pathlib.Path(cwd) / f"serve-{name}.yaml"
    config.write_text(json.dumps({"version": 1, "serve": {"listen": "127.0.0.1:0", "auth": "none", "policy": str(file), "models": {"upstreams": [upstream]}}}))
    listening = Listening([program, "serve", "--config", config, "--data-dir", f"{cwd}/{name}"], dict(os.environ), cwd, pattern=r"(http://[\d.:]+)/")
    listening.url += "/v1"
    return listening


def portkey(cwd):
    port = free_port()
    server = PORTKEY.modules / "@portkey-ai" / "gateway" / "build" / "start-server.js"
    environment = {**os.environ, "NODE_OPTIONS": f"--require={BENCH / 'loopback_only.cjs'}"}
    listening = Listening([node(20), server, "--headless", f"--port={port}"], environment, cwd, pattern=r"()")
    return listening, f"http://127.0.0.1:{port}/v1"


def until_ready(load, target, seconds=30):
    end = time.monotonic() + seconds
    while True:
        try:
            return target.measure(load, 1, 10, note=False)
        except Late:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


class Disk:
    """Measures a bare fdatasync of 8 KiB appended, on the disk of the data folders."""

    def __init__(self, cwd):
        self.file = open(pathlib.Path(cwd) / "sync", "ab", buffering=0)
        self.times = []

    def measure(self, count=20):
        for _ in range(count):
            self.file.write(b"x" * 8192)
            start = time.perf_counter_ns()
            os.fdatasync(self.file.fileno())
            self.times.append((time.perf_counter_ns() - start) / 1000)


def latency(targets, load, disk, options, end):
    """Runs each number of streams at once, in turns."""
    for streams, rounds, each in options.levels:
        for number in range(rounds):
            disk.measure()
            for target in targets:
                if target.failed.get(streams):
                    continue
                try:
                    if number == 0 or streams == 1:
                        for _ in range(3 if streams == 1 else streams < 1000):
                            target.measure(load, streams, 30, note=False)
                    for _ in range(each):
                        target.measure(load, streams, max(5, min(60, end - time.monotonic())))
                except Late as error:
                    target.failed[streams] = str(error)
                    if load.process.poll() is not None:
                        return
            if time.monotonic() > end:
                print(f"model_bench: {number + 1} of {rounds} rounds with {streams} streams, since time is over", file=sys.stderr)
                break


def added(targets, streams):
    """Returns one row for each target, with its overhead over the provider."""
    rows, base = [], None
    for target in targets:
        if target.failed.get(streams) or streams not in target.runs:
            rows.append({"target": target.name, "streams": streams, "failed": target.failed.get(streams, "not measured")})
            continue
        row = {"target": target.name, "streams": streams, "answers": len(target.runs[streams]), "processor_us": statistics.mean(target.processor[streams]),
               "deltas_per_s": DELTAS * streams / statistics.median(target.walls[streams]) * 1e6}
        for name, values in zip(("first", "total"), zip(*target.runs[streams])):
            row |= {f"{name}_median_us": at(values, 0.5), f"{name}_p95_us": at(values, 0.95)}
        base = base or row
        rows.append(row | {f"added_{name}_us": row[f"{name}_median_us"] - base[f"{name}_median_us"] for name in ("first", "total")})
    return rows


def growth(target, load, rounds):
    """Compares the last quarter of 1 MiB of text with the first."""
    runs = [load.run(60, streams=1, quarters=True, body=question("long"), **target.job) for _ in range(rounds + 1)][1:]
    parts = [statistics.median(run["quarters"][i] for run in runs) for i in range(4)]
    return {"quarters_us": parts, "last_to_first": statistics.median(run["quarters"][3] / run["quarters"][0] for run in runs),
            "us_a_delta": statistics.median(run["total"][0] for run in runs) / (MIB / 32)}


def timed(command):
    start = time.perf_counter_ns()
    subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, check=True, timeout=60)
    return (time.perf_counter_ns() - start) / 1000


def large_body(cwd, direct, armed, load, rounds):
    """Compares a request of 1 MiB with `guard check` of its text."""
    text = "".join(WORDS[i * 7 % len(WORDS)] for i in range(MIB // 4))[:MIB]
    files = {name: pathlib.Path(cwd) / f"{name}.txt" for name in ("text", "nothing")}
    files["text"].write_text(text)
    files["nothing"].write_text("x")
    document = pathlib.Path(cwd) / "checks.json"
    document.write_text(json.dumps(checks("input")))
    times = {}
    for number in range(rounds + 1):
        row = {target.name: load.run(30, streams=1, body=question("short", text), **target.job)["total"][0] for target in (direct, armed)}
        row |= {name: timed([BIN, "guard", "check", "--config", document, "--stage", "input", "--text-file", file]) for name, file in files.items()}
        for name, value in row.items() if number else ():
            times.setdefault(name, []).append(value)
    median = {name: statistics.median(values) for name, values in times.items()}
    plus = median[armed.name] - median[direct.name]
    return {"direct_us": median[direct.name], "proxy_us": median[armed.name], "added_us": plus, "guard_check_us": median["text"],
            "guard_check_without_start_us": median["text"] - median["nothing"]}


def memory(cwd, provider, load, counts):
    """Returns the resident memory of a separate proxy while its streams are idle."""
    listening = proxy(cwd, "still", provider, {"guardrails": checks("input", "output")})
    target = Target("still", listening.url, listening)
    try:
        until_ready(load, target)
        time.sleep(1)
        row = {"idle_mib": target.memory(), "idle_own_mib": target.own_memory()}
        for count in counts:
            start = time.monotonic()
            held = load.run(60, hold=count, body=question("still"), **target.job)["held"]
            opened = time.monotonic() - start
            time.sleep(0.5)
            row.setdefault("open", []).append({"streams": held, "mib": target.memory(), "opened_s": opened})
        load.run(10, release=True)
        return row
    finally:
        if target.listening.process.poll() is None:
            os.kill(target.pid(), signal.SIGKILL)  # the measurement is over; draining so many streams would only take time
        listening.stop()


def many_files():
    """Returns the number of streams that the limit of open files allows, at most 10,000. Each stream has two connections in the proxy."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = 32768 if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return min(10000, (wanted - 100) // 2)


def measure(options, cwd, room):
    begun = time.monotonic()
    started = []

    def tell(what):
        if options.verbose:
            print(f"model_bench: {time.monotonic() - begun:5.1f} s: {what}", file=sys.stderr)
    try:
        load = Load()
        started.append(load)

        def start(listening):
            started.append(listening)
            return listening
        provider = start(Listening([node(20), BENCH / "model_provider.mjs"], dict(os.environ), cwd, pattern=r"(http://\S+)"))
        empty = start(proxy(cwd, "empty", provider.url, {}))
        armed = start(proxy(cwd, "armed", provider.url, {"guardrails": checks("input", "output")}))
        rival, rival_url = portkey(cwd)
        start(rival)
        targets = [Target(DIRECT, provider.url, provider), Target(EMPTY, empty.url, empty),
                   Target(ARMED, armed.url, armed),
                   Target(RIVAL, rival_url, rival, {"x-portkey-provider": "openai", "x-portkey-custom-host": provider.url, "authorization": "Bearer none"})]
        for target in targets:
            until_ready(load, target)
        disk = Disk(cwd)
        tell("streams that stand still")
        # Short and reliable parts come first.
        result = {"memory": memory(cwd, provider.url, load, [min(room, count) for count in options.held]), "rival_idle_mib": targets[3].memory(),
                  "rival_idle_own_mib": targets[3].own_memory()}
        tell("an answer of 1 MiB")
        result["growth"] = {target.name: growth(target, load, options.repeats) for target in targets[:3]}
        tell("a request of 1 MiB")
        result["body"] = large_body(cwd, targets[0], targets[2], load, options.repeats)
        tell("streams in turn")
        latency(targets, load, disk, options, begun + WHOLE - 15)
        result["fdatasync_us"] = statistics.median(disk.times)
        result["latency"] = [row for streams, _, _ in options.levels for row in added(targets, streams)]
        result["seconds"] = time.monotonic() - begun
        return result
    finally:
        for one in reversed(started):
            one.stop()


def instructions(cwd):
    """Counts instructions of the proxy, which other work does not change. valgrind emulates no SHA instructions, so it overstates the cost of digests."""
    counted = pathlib.Path(cwd) / "counted"
    program = pathlib.Path(cwd) / "sallyport"
    subprocess.run(["objcopy", "--strip-debug", BIN, program], check=True)  # callgrind cannot read the debug information of this compiler
    wrapper = pathlib.Path(cwd) / "under-callgrind"
    wrapper.write_text(f'#!/bin/sh\nexec valgrind --tool=callgrind --instr-atstart=no --callgrind-out-file={counted} {program} "$@"\n')
    wrapper.chmod(0o700)
    jobs = [("stream of 200 deltas", 8, question("bench")), ("stream of one delta", 8, question("short")),
            ("request of 1 MiB", 1, question("short", "".join(WORDS[i * 7 % len(WORDS)] for i in range(MIB // 4))[:MIB]))]
    started = []
    try:
        load = Load()
        started.append(load)
        provider = Listening([node(20), BENCH / "model_provider.mjs"], dict(os.environ), cwd, pattern=r"(http://\S+)")
        started.append(provider)
        for name, policy in ((EMPTY, {}), (ARMED, {"guardrails": checks("input", "output")})):
            listening = proxy(cwd, "armed" if policy else "empty", provider.url, policy, wrapper)
            target = Target(name, listening.url, listening)
            started.append(listening)
            until_ready(load, target)

            def control(*words, pid=target.pid()):
                subprocess.run(["callgrind_control", *words, str(pid)], check=True, capture_output=True, timeout=60)
            for what, streams, body in jobs:
                load.run(120, streams=streams, body=body, **target.job)
                control("-z")
                control("-i", "on")
                for _ in range(4):
                    load.run(120, streams=streams, body=body, **target.job)
                control("-i", "off")
                control("-d")
                newest = max(pathlib.Path(cwd).glob("counted.*"), key=lambda file: file.stat().st_mtime_ns)
                total = int(re.search(r"^totals: (\d+)", newest.read_text(), re.M).group(1))
                line(f"{name}: {what}", f"{total / 4 / streams:,.0f}", "instructions")
            started.pop().stop()
            for file in pathlib.Path(cwd).glob("counted*"):
                file.unlink()
    finally:
        for one in reversed(started):
            one.stop()


def find(result, target, streams):
    return next((row for row in result["latency"] if row["target"] == target and row["streams"] == streams and "failed" not in row), None)


def verdict(value, goal, least=False, unit=""):
    met = value >= goal if least else value <= goal
    return f"goal: at {'least' if least else 'most'} {goal:g}{unit}{'' if met else ', MISSED'}"


def line(name, value, note=""):
    print(f"  {name:<66}{value:>12}   {note}".rstrip())


def show(result):
    print(f"{'':<10}{'':<22}{'first':>10}{'p95':>10}{'total':>10}{'p95':>10}{'+ first':>10}{'+ total':>10}{'deltas/s':>11}{'processor':>12}   (ms; processor: us a stream)")
    for row in result["latency"]:
        name = f"{row['streams']:>6,}    {row['target']:<22}"
        if "failed" in row:
            print(f"{name}{row['failed'][:200]!r}")
            continue
        times = "".join(f"{row[key] / 1000:>10.2f}" for key in ("first_median_us", "first_p95_us", "total_median_us", "total_p95_us", "added_first_us", "added_total_us"))
        print(f"{name}{times}{row['deltas_per_s']:>11,.0f}{row['processor_us']:>12,.0f}")
    print("\nstreams")
    sync = result["fdatasync_us"]
    line("bare fdatasync of 8 KiB appended", f"{sync:.0f} us")
    for streams in sorted({row["streams"] for row in result["latency"]}):
        ours, bare, rival = (find(result, name, streams) for name in (ARMED, EMPTY, RIVAL))
        if ours and rival:
            for what, goal in (("total", 0.2), ("first", 0.1)):
                share = ours[f"added_{what}_us"] / rival[f"added_{what}_us"]
                line(f"{streams:,} at once, 64 patterns: added {what} of what Portkey adds", f"{share:.3f}", verdict(share, goal))
        if ours and streams == 1:
            line("1 at once, 64 patterns: added first, in fdatasyncs", f"{ours['added_first_us'] / sync:.2f}", verdict(ours["added_first_us"] / sync, 2.5))
        if ours and bare and streams >= 1000:
            share = ours["deltas_per_s"] / bare["deltas_per_s"]
            line(f"{streams:,} at once: deltas a second, 64 patterns to empty policy", f"{share:.2f}", verdict(share, 0.8, least=True))
    for name, row in result["growth"].items():
        line(f"1 MiB of text, {name}: last quarter to the first", f"{row['last_to_first']:.2f}", 
             f"{row['us_a_delta']:.2f} us a delta of 32 bytes" + (f"; {verdict(row['last_to_first'], 1.5)}" if name != DIRECT else ""))
    body = result["body"]
    line("request of 1 MiB, 64 patterns: added", f"{body['added_us'] / 1000:.1f} ms", f"the provider itself {body['direct_us'] / 1000:.1f} ms")
    for name, key in (("`guard check` of its text", "guard_check_us"), ("the same less the start of the process", "guard_check_without_start_us")):
        share = body["added_us"] / body[key]
        line(f"  {name}", f"{body[key] / 1000:.1f} ms", f"added is {share:.2f} of it; {verdict(share, 2)}")
    print("memory of the proxy, 64 patterns")
    line("idle", f"{result['memory']['idle_mib']:.0f} MiB", f"{verdict(result['memory']['idle_mib'] * 1.048576, 40, unit=' MB')}; Portkey {result['rival_idle_mib']:.0f} MiB")
    line("  of it in no file", f"{result['memory']['idle_own_mib']:.0f} MiB", f"Portkey {result['rival_idle_own_mib']:.0f} MiB")
    for row in result["memory"]["open"]:
        each = (row["mib"] - result["memory"]["idle_mib"]) * 1024 / row["streams"]
        line(f"{row['streams']:,} streams that stand still", f"{row['mib']:.0f} MiB", f"{each:.0f} KiB a stream, opened in {row['opened_s']:.1f} s; {verdict(row['mib'], 1024, unit=' MiB')}")
    print(f"all of it: {result['seconds']:.0f} s")


def stopped(number, _):
    raise SystemExit(f"model_bench: ended by signal {number}")


def main():
    parser = argparse.ArgumentParser(description="what the model proxy adds to a streamed answer, beside Portkey")
    parser.add_argument("--quick", action="store_true", help="few rounds, to see that it runs")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--instructions", action="store_true", help="count instructions of the proxy under valgrind, and measure no time")
    parser.add_argument("--verbose", action="store_true", help="say on standard error what begins")
    options = parser.parse_args()
    # Streams at once, rounds, and how often in each round.
    options.levels = [(1, 2, 10), (64, 2, 1), (1000, 1, 1)] if options.quick else [(1, 10, 20), (64, 10, 1), (1000, 3, 1)]
    options.held = [1000] if options.quick else [1000, 10000]
    options.repeats = 2 if options.quick else 7
    if options.instructions:
        with tempfile.TemporaryDirectory(prefix="sallyport-model-bench-") as cwd:
            return instructions(cwd)
    reason = PORTKEY.install()
    if reason is not None:
        sys.exit(f"model_bench: Portkey could not be installed: {reason}")
    room = many_files()
    signal.signal(signal.SIGTERM, stopped)  # so that no process is left running
    cwd = tempfile.mkdtemp(prefix="sallyport-model-bench-")
    try:
        result = measure(options, cwd, room)
    except Late as error:
        sys.exit(f"model_bench: {error}")
    finally:
        shutil.rmtree(cwd, ignore_errors=True)
    if options.json:
        print(json.dumps(result))
    else:
        show(result)


if __name__ == "__main__":
    main()
