#!/usr/bin/env python3
"""Gateways in separate network namespaces, each with its own link to the database, under load while everything
fails: gateways are killed and stopped, links lose every packet, the database is killed, stopped, and replaced by its
standby. Each effect happens at most once, no acknowledged entry is lost, and the log is one valid tree.

SALLYPORT_CLUSTER_GATEWAYS (4 here; 16 for a long run) and SALLYPORT_CLUSTER_SECONDS make it long.
"""
import ctypes
import http.client
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

from cluster_support import EFFECTS, LEASE_MS, ClusterCase
from postgresql_support import Postgresql
from serve_support import Server, Session

GATEWAYS = int(os.environ.get("SALLYPORT_CLUSTER_GATEWAYS", "4"))
SECONDS = int(os.environ.get("SALLYPORT_CLUSTER_SECONDS", "20"))
SEED = int(os.environ.get("SALLYPORT_CLUSTER_SEED", "7"))

CONFIG = """
version: 1
data_dir: {data}
ledger:
  store: {{postgresql: "{url}", lock_wait_ms: 2000, hold_ms: 1000, lease_ms: {lease}, allow_plain_hosts: [{hosts}]}}
serve:
  listen: 127.0.0.1:0
  upstreams:
    - name: files
      command: ["{python}", "{effects}"]
"""


class Namespace:
    """A network namespace that lives as long as one process in it."""

    def __init__(self):
        self.process = subprocess.Popen(["unshare", "--net", "sleep", "3600"], stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while self.link() == os.readlink("/proc/self/ns/net"):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise OSError("the kernel gives no network namespace")
            time.sleep(0.01)
        self.ip("link", "set", "lo", "up")

    def link(self):
        return os.readlink(f"/proc/{self.process.pid}/ns/net")

    def inside(self):
        return ["nsenter", f"--net=/proc/{self.process.pid}/ns/net"]

    def ip(self, *words):
        subprocess.run([*self.inside(), "ip", *words], check=True, stdout=subprocess.DEVNULL)

    def enter(self):
        """From now on this thread creates its sockets in that namespace."""
        with open(f"/proc/{self.process.pid}/ns/net") as place:
            if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), 0x40000000) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    def stop(self):
        self.process.kill()
        self.process.wait()


class Wire:
    """A link from a gateway to the servers. Both are on one machine; `number` keeps the addresses apart."""

    def __init__(self, servers, number):
        self.servers, self.number, self.gateway = servers, number, Namespace()
        servers.ip("link", "add", f"g{number}", "type", "veth", "peer", "name", "db", "netns", str(self.gateway.process.pid))
        for net in (77, 88):
            servers.ip("address", "add", f"10.{net}.{number}.1/24", "dev", f"g{number}")
            self.gateway.ip("address", "add", f"10.{net}.{number}.2/24", "dev", "db")
        self.mend()
        self.gateway.ip("link", "set", "db", "up")

    def cut(self):
        """Drops all packets. Neither end of a connection gets an error."""
        self.servers.ip("link", "set", f"g{self.number}", "down")

    def mend(self):
        self.servers.ip("link", "set", f"g{self.number}", "up")


class ClusterStormTest(ClusterCase):
    @classmethod
    def setUpClass(cls):
        cls.databases = 0

    def setUp(self):
        try:
            self.servers = Namespace()
            self.addCleanup(self.servers.stop)
            self.wires = []
            for number in range(1, GATEWAYS + 1):
                self.wires.append(Wire(self.servers, number))
                self.addCleanup(self.wires[-1].gateway.stop)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"no networks of our own: {error}")
        self.postgresql = Postgresql(inside=self.servers.inside(), addresses=self.addresses(77))
        self.addCleanup(self.postgresql.stop)
        super().setUp()
        self.standby = Postgresql(primary=self.postgresql, inside=self.servers.inside(), addresses=self.addresses(88))
        self.addCleanup(self.standby.stop)
        self.postgresql.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.postgresql.sql("SELECT pg_reload_conf()")
        self.wait_for(lambda: self.postgresql.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1", 20)
        self.acknowledged, self.stopping, self.killed, self.servers_now = [], threading.Event(), set(), [None] * GATEWAYS

    @staticmethod
    def addresses(net):
        return [f"10.{net}.{number}.1" for number in range(1, GATEWAYS + 1)]

    def config(self, name, url=None):
        number = name[1:]
        hosts = f"10.77.{number}.1,10.88.{number}.1"
        url = url or f"postgresql:///d1?host={hosts}&user=owner&target_session_attrs=read-write"
        return self.write(f"{name}.yaml", CONFIG.format(data=self.folder / name, url=url, lease=LEASE_MS, hosts=hosts,
                                                         python=sys.executable, effects=EFFECTS))

    def serve(self, number):
        """Starts the gateway of this link."""
        name = f"g{number}"
        if not (self.folder / name).exists() and number > 1:
            shutil.copytree(self.folder / "g1" / "keys", self.folder / name / "keys")
            os.chmod(self.folder / name, 0o700)
        end = time.monotonic() + 90
        while True:
            try:
                server = Server(self, self.config(name), self.environment(EFFECTS=str(self.effects)),
                                inside=self.wires[number - 1].gateway.inside())
                break
            except AssertionError as error:
                # Many gateways wait for the lock on a busy machine; a service manager would start it again.
                if "ledger_unavailable" not in str(error) or time.monotonic() > end:
                    raise
        self.addCleanup(self.end_server, server)
        self.servers_now[number - 1] = server

    def work(self, number):
        self.wires[number - 1].gateway.enter()
        server, session, n = None, None, 0
        while not self.stopping.is_set():
            n += 1
            try:
                if server is not self.servers_now[number - 1]:
                    server, session = self.servers_now[number - 1], None
                session = session or Session(server)
                if self.call(session, f"{number}-{n}"):
                    self.acknowledged.append(f"{number}-{n}")
                    continue
            except (OSError, AssertionError, ValueError, http.client.HTTPException):
                session = None
            time.sleep(0.05)

    def one_fault(self, dice):
        number = dice.randrange(GATEWAYS) + 1
        wire, process = self.wires[number - 1], self.servers_now[number - 1].process
        what = dice.choice(["cut", "cut long", "stop", "stop long", "kill", "hang", "crash"])
        long = 2 * LEASE_MS / 1000
        print(f"storm: {what} {number}", file=sys.stderr)
        if what.startswith("cut"):
            wire.cut()
            time.sleep(long if "long" in what else dice.uniform(0.05, 1.5))
            wire.mend()
        elif what.startswith("stop"):
            process.send_signal(signal.SIGSTOP)
            time.sleep(long if "long" in what else dice.uniform(0.05, 1.5))
            process.send_signal(signal.SIGCONT)
        elif what == "kill":
            process.kill()
            process.wait()
            self.serve(number)
        elif what == "hang":
            self.postgresql.freeze()
            time.sleep(dice.uniform(0.1, 1))
            self.postgresql.thaw()
        else:
            self.postgresql.kill()
            self.postgresql.start()
        return what

    def resumes(self, seconds):
        before = len(self.acknowledged)
        self.wait_for(lambda: len(self.acknowledged) > before, seconds)

    # SC-18 (partly), SC-21, SC-29, SC-33 (partly), SC-44 (partly), SC-45 (partly), SC-46 (partly), SC-49 (partly)
    def test_each_effect_happens_at_most_once_and_nothing_acknowledged_is_lost(self):
        for number in range(1, GATEWAYS + 1):
            self.serve(number)
        threads = [threading.Thread(target=self.work, args=(number,), daemon=True) for number in range(1, GATEWAYS + 1)]
        for thread in threads:
            thread.start()
        self.resumes(60)
        dice, faults, end = random.Random(SEED), [], time.monotonic() + SECONDS
        while time.monotonic() < end or len(faults) < 4:
            faults.append(self.one_fault(dice))
            self.resumes(60)
        # The primary is lost permanently.
        self.postgresql.kill()
        self.standby.sql("ALTER SYSTEM RESET synchronous_standby_names")
        self.standby.promote()
        self.postgresql = self.standby
        self.resumes(60)
        time.sleep(1)
        self.stopping.set()
        for thread in threads:
            thread.join(90)
        self.check()
        print(f"storm: {len(self.acknowledged)} acknowledged through {GATEWAYS} gateways and {len(faults)} faults: {faults}",
              file=sys.stderr)

    def check(self):
        self.config("g1", self.postgresql.url("d1"))  # from outside the namespaces
        self.wait_for(lambda: not self.open_calls(), 6 * LEASE_MS / 1000 + 10)
        self.verified()
        effects, ends = self.written(), self.ends()
        self.assertEqual(len(effects), len(set(effects)), "each effect at most once")
        self.assertLessEqual(set(self.acknowledged), set(effects))
        calls = [end["call_id"] for end in ends]
        self.assertEqual([end for end in ends if calls.count(end["call_id"]) > 1], [], "each call ends once")
        self.assertGreaterEqual(len(ends), len(effects), "no effect without a record of its end")
        completed = [end for end in ends if end["outcome"]["kind"] == "completed"]
        self.assertGreaterEqual(len(completed), len(self.acknowledged))
        sizes = self.postgresql.sql("SELECT count(*) || ' ' || max(sequence) + 1 FROM sallyport.entries", "d1")
        self.assertEqual(*sizes.split(" "), "the log is dense")

    def open_calls(self):
        return int(self.postgresql.sql("SELECT count(*) FROM sallyport.facts WHERE space = 'open_call'", "d1"))


if __name__ == "__main__":
    unittest.main()
