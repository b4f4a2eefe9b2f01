#!/usr/bin/env python3
"""Measures which code is hot and writes cmake/hot.profdata, which the release build reads (cmake/Flags.cmake).

    tools/make_profile.py takes about ten minutes, mostly for a build

Run it after changes to the code that handles a call. An outdated profile costs speed and nothing else: the
compiler ignores the data of a function that has changed.
"""
import os
import pathlib
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "measure"
RAW = BUILD / "raw"
PROFILE = ROOT / "cmake" / "hot.profdata"
# A function is left out of the file if no part of it ran this often.
LEAST = 1000

BENCH = BUILD / "bin" / "sallyport_bench"
PROGRAM = BUILD / "bin" / "sallyport"
LOADS = [
    [BENCH, "--calls", "20000", "bare"],
    [BENCH, "--calls", "20000", "hooks"],
    [BENCH, "--calls", "20000", "memory", "read_file", "256"],
    [BENCH, "--calls", "5000", "disk", "read_file", "16"],
    [BENCH, "--calls", "2000", "disk", "write_file"],
    [BENCH, "--quick", "match", "guardrails", "deltas", "grants", "rules", "redaction", "sanitizer", "verification"],
    ["python3", "bench/hook_bench.py", "--events", "20", "--sallyport", PROGRAM],
    ["python3", "bench/mcp_bench.py", "--load", "64", "--seconds", "5"],
]


def run(*command, **more):
    subprocess.run([str(word) for word in command], check=True, cwd=ROOT, **more)


def build():
    run("tools/install-deps.sh", "build", "bench")
    run("cmake", "--preset", "release", "-B", BUILD, "-DSALLYPORT_TESTS=OFF", "-DSALLYPORT_BENCH=ON",
        "-DSALLYPORT_PROFILE=measure", "--log-level=WARNING")
    run("cmake", "--build", BUILD, "--target", "sallyport", "sallyport_bench")


def measure():
    shutil.rmtree(RAW, ignore_errors=True)
    RAW.mkdir()
    for load in LOADS:
        run(*load, env={**os.environ, "LLVM_PROFILE_FILE": f"{RAW}/%m.profraw", "SALLYPORT_BIN": str(PROGRAM)})


def is_hot(function):
    """`function`: its name, then headings, each followed by a hash, the number of counters, or the counters."""
    lines = function.splitlines()
    counters = lines[lines.index("# Counter Values:") + 1:]
    count = int(lines[lines.index("# Num Counters:") + 1])
    return max(int(counter) for counter in counters[:count]) >= LEAST


def main():
    build()
    measure()
    text = RAW / "all.txt"
    run("llvm-profdata-19", "merge", "-sparse", "-text", "-o", text, *RAW.glob("*.profraw"))
    head, rest = text.read_text().split(":ir\n", 1)
    hot = [function for function in rest.split("\n\n") if function.strip() and is_hot(function)]
    text.write_text(head + ":ir\n" + "\n\n".join(hot) + "\n\n")
    run("llvm-profdata-19", "merge", "-o", PROFILE, text)
    print(f"{PROFILE.relative_to(ROOT)}: {len(hot)} functions, {PROFILE.stat().st_size >> 10} KiB")


if __name__ == "__main__":
    main()
