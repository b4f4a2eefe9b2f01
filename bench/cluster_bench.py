#!/usr/bin/env python3
"""A shared log beside the bare protocol loop and a bare fdatasync, without and with a synchronous standby.

    python3 bench/cluster_bench.py [--quick]

It starts PostgreSQL servers of its own in temporary folders. Compare within one run.
"""
import hashlib
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
os.environ.setdefault("SALLYPORT_BIN", str(ROOT / "build" / "bin" / "sallyport"))
from cluster_support import ClusterCase  # noqa: E402
from postgresql_relay import DistantRelay  # noqa: E402
from postgresql_support import PROGRAMS, Postgresql  # noqa: E402
from serve_support import Session  # noqa: E402

BENCH = os.environ.get("SALLYPORT_BENCH_BIN", str(ROOT / "build" / "bin" / "sallyport_bench"))
TOKEN = "token-of-a-viewer-0123456789"
POLICY = """version: 1
autonomy: {tier: act_auto}
approvals:
  reviewers:
    - {name: "user:viewer", token: "sha256:%s", roles: [approver, viewer]}
"""


class OtherConsole(ClusterCase):
    """The time from the answer of a call at one gateway until the console of another gateway shows the call."""

    def runTest(self):
        policy = self.write("policy.yaml", POLICY % hashlib.sha256(TOKEN.encode()).hexdigest())
        self.more = f"policy: {policy}"
        writer, console = self.gateway(), self.gateway()
        stream = console.open("GET", "/api/v1/stream?topics=calls", headers={"Content-Type": None}, token=TOKEN)
        self.assertEqual(stream.status, 200)
        heard = queue.Queue()

        def hear():
            for line in stream:
                if line.startswith(b"data:") and b'"verdict":"runs"' in line:
                    heard.put(time.monotonic())

        threading.Thread(target=hear, daemon=True).start()
        session = Session(writer)
        count = 50 if "--quick" in sys.argv else 300
        delays = []
        for i in range(count):
            self.assertTrue(self.call(session, i))
            answered = time.monotonic()
            delays.append(1000 * max(0, heard.get(timeout=10) - answered))
        delays.sort()
        p50, p99 = delays[count // 2], delays[count * 99 // 100]
        print(f"  a call on the console of another gateway: p50 {p50:.1f} ms, p99 {p99:.1f} ms (goal: at most 50)")


class DistantDatabase(ClusterCase):
    """Runs calls with an effect through one gateway, from many clients at once, over a network with a delay."""

    def runTest(self):
        seconds = 1 if "--quick" in sys.argv else 5
        relay = DistantRelay(self.postgresql)
        self.addCleanup(relay.stop)
        self.url = relay.url(self.url, self.postgresql)
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        self.more = f"policy: {policy}\n  sessions: 200"
        gateway = self.gateway()
        sessions = [Session(gateway, keep=True) for _ in range(200)]
        for trip, count in ((0, 64), (0.002, 64), (0.010, 64), (0.010, 200)):
            relay.seconds = trip / 2
            written, refused = self.load(sessions[:count], seconds)
            print(f"  {count} clients, round trips of {1000 * trip:.0f} ms more{'':<14}{written / seconds:>8.0f} calls/s, {refused} refused")

    def load(self, sessions, seconds):
        end = time.monotonic() + seconds
        counts = [[0, 0] for _ in sessions]

        def work(session, count):
            while time.monotonic() < end:
                count[0 if self.call(session, 0) else 1] += 1

        clients = [threading.Thread(target=work, args=each) for each in zip(sessions, counts)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        return map(sum, zip(*counts))


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
    print("\none gateway and a database at a distance, calls with an effect")
    if not unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(unittest.TestSuite([DistantDatabase()])).wasSuccessful():
        sys.exit("cluster_bench: the gateway did not answer all calls")
    print("\ntwo gateways, each with its console")
    if not unittest.TextTestRunner(stream=sys.stderr, verbosity=0).run(unittest.TestSuite([OtherConsole()])).wasSuccessful():
        sys.exit("cluster_bench: the console of the other gateway did not hear of every call")


if __name__ == "__main__":
    main()
