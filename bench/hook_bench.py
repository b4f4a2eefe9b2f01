#!/usr/bin/env python3
"""Measures how long one event of a coding agent takes: the whole process, with its decision and its durable record.

    python3 bench/hook_bench.py [--events 40] [--policy POLICY]

Runs alone, and beside `sallyport serve` on its own data folder. Compares with the usual start of a hook
by a host, in the same run and in turn: `node -e 0`."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time


def timed(command, stdin=b""):
    begin = time.perf_counter()
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took = (time.perf_counter() - begin) * 1e3
    assert done.returncode == 0, done.stderr
    return took


def event(name, number, **more):
    return json.dumps({
        "session_id": "bench", "hook_event_name": name, "cwd": "/src", "tool_name": "Bash",
        "tool_input": {"command": f"make test-{number}"}, "tool_use_id": f"t-{number}", **more}).encode()


def daemon(program, folder):
    """Starts a server on this folder and returns when it listens."""
    config = os.path.join(folder, "serve.yaml")
    with open(config, "w") as file:
        file.write(f"version: 1\ndata_dir: {folder}/warm\nserve: {{listen: '127.0.0.1:0'}}\n")
    server = subprocess.Popen([program, "serve", "--json", "--config", config], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
    assert server.stdout.readline()
    return server


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--events", type=int, default=40)
    options.add_argument("--policy", default="starter")
    options.add_argument("--sallyport", default=os.environ.get("SALLYPORT_BIN", "build/bin/sallyport"))
    asked = options.parse_args()
    folder = tempfile.mkdtemp(prefix="sallyport-hook-bench-")
    hook = [asked.sallyport, "hook", "--agent", "claude-code", "--policy", asked.policy, "--data-dir"]
    alone, beside = hook + [folder + "/data"], hook + [folder + "/warm"]
    node = shutil.which("node")
    server = daemon(asked.sallyport, folder)
    times = {"first event": [timed(alone, event("PreToolUse", 0))]}
    timed(beside, event("PreToolUse", 0))
    for number in range(1, asked.events + 1):
        before = event("PreToolUse", number)
        after = event("PostToolUse", number, tool_response={"stdout": "ok", "stderr": ""})
        row = [("before the tool", alone, before), ("after the tool", alone, after),
               ("before, daemon", beside, before), ("after, daemon", beside, after),
               ("not for us", alone, event("Stop", number)),
               ("sallyport --version", [asked.sallyport, "--version"], b"")]
        if node:
            row.append(("node -e 0", [node, "-e", "0"], b""))
        for name, command, stdin in row:
            times.setdefault(name, []).append(timed(command, stdin))
    server.terminate()
    server.wait()
    shutil.rmtree(folder)
    for name, took in times.items():
        took.sort()
        print(f"{name:<20} p50 {statistics.median(took):7.2f} ms   p90 {took[int(len(took) * 0.9)]:7.2f} ms   least {took[0]:7.2f} ms")
    for name in ("before the tool", "before, daemon") if node else ():
        share = statistics.median(times[name]) / statistics.median(times["node -e 0"])
        print(f"{name}: {share:.2f} of node -e 0")


if __name__ == "__main__":
    main()
