#!/usr/bin/env python3
"""A shared log beside the bare protocol loop and a bare fdatasync, without and with a synchronous standby.

    python3 bench/cluster_bench.py [--quick]

It starts PostgreSQL servers of its own in temporary folders. Compare within one run.
"""
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from postgresql_support import PROGRAMS, Postgresql  # noqa: E402

BENCH = os.environ.get("SALLYPORT_BENCH_BIN", str(ROOT / "build" / "bin" / "sallyport_bench"))


def measure(url, about):
    subprocess.run([BENCH, *sys.argv[1:], "cluster"], check=True,
                   env={**os.environ, "SALLYPORT_BENCH_POSTGRESQL": url, "SALLYPORT_BENCH_ABOUT": about})


def main():
    if PROGRAMS is None:
        print("\nshared log in PostgreSQL: left out, postgresql is not installed")
        return
    primary = Postgresql()
    standby = None
    try:
        measure(primary.database("alone"), "over a Unix socket")
        standby = Postgresql(primary=primary)
        primary.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        primary.sql("SELECT pg_reload_conf()")
        end = time.monotonic() + 30
        while primary.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") != "1":
            if time.monotonic() > end:
                sys.exit("cluster_bench: the standby does not follow")
            time.sleep(0.1)
        measure(primary.database("replicated"), "with a synchronous standby on the same disk")
    finally:
        if standby:
            standby.stop()
        primary.stop()


if __name__ == "__main__":
    main()
