#!/usr/bin/env python3
"""Gateways whose database hangs, is cut off, or has declared them lost while they were suspended."""
import json
import signal
import statistics
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from cli_support import within
from cluster_support import LEASE_MS, ClusterCase
from postgresql_relay import DistantRelay, Relay, TransactionPooler
from serve_support import Session, events, in_background


class ClusterOutageTest(ClusterCase):
    def topic(self, name):
        return self.ledger("show", "--topic", name, "--limit", "100000", "--json").lines()

    @staticmethod
    def times_between(marks):
        return [after - before for before, after in zip(marks, marks[1:])]

    # SC-50
    def test_a_database_that_hangs_stalls_neither_health_nor_streams(self):
        server = self.gateway()
        # More calls than may wait at the same time, so the rest are refused.
        session, others = Session(server), [Session(server) for _ in range(24)]
        self.assertTrue(self.call(session, "before"))
        marks, health = [], []

        def stream():
            response = session.open("tools/call", {"name": "write_file", "arguments": {"n": "stream", "steps": 120, "pace": 0.05},
                                                   "_meta": {"progressToken": "p"}})
            for event in events(response):
                if "notifications/progress" in event.get("data", ""):
                    marks.append(time.monotonic())

        streaming = threading.Thread(target=stream, daemon=True)
        streaming.start()
        self.wait_for(lambda: len(marks) > 5, 20)
        self.postgresql.freeze()
        frozen = time.monotonic()
        try:
            for n, other in enumerate(others):  # each of them asks the database
                in_background(lambda other=other, n=n: self.tried(other, f"frozen-{n}"))
            connection = server.connection()
            while time.monotonic() - frozen < 3:
                begin = time.monotonic()
                self.assertEqual(server.ask("GET", "/healthz", connection=connection)[0], 200)
                health.append(time.monotonic() - begin)
                time.sleep(0.02)
            streamed = [mark for mark in marks if mark > frozen]
        finally:
            self.postgresql.thaw()
        # A blocked loop stalls for whole seconds; a busy machine stalls for less.
        self.assertLess(statistics.median(health), within(0.05))
        self.assertLess(max(health), min(2, within(1)))
        self.assertGreater(len(streamed), 20)
        self.assertLess(statistics.median(self.times_between(streamed)), within(0.1))
        self.assertLess(max(self.times_between(streamed)), min(2, within(1)))
        streaming.join(60)
        self.wait_for(lambda: self.tried(others[0], "after"), 20)
        self.assertEqual(len(self.written()), len(set(self.written())))
        self.verified()

    # SC-42
    def test_without_a_database_calls_are_refused_with_the_reason_and_accepted_again_when_it_is_back(self):
        server = self.gateway()
        session = Session(server)
        delays = []
        for n in range(3):
            self.wait_for(lambda: self.call(session, f"before-{n}"), 20)
            self.postgresql.kill()
            for k in range(3):
                said = json.dumps(session.call("write_file", {"n": f"down-{n}-{k}"})[-1])
                self.assertNotIn("skipped", said)
                self.assertRegex(said, "database|ledger")
            self.assertEqual(server.ask("GET", "/readyz")[0], 503)
            self.postgresql.start()
            back = time.monotonic()
            while not self.call(session, f"after-{n}-{len(delays)}"):
                self.assertLess(time.monotonic() - back, 20)
                time.sleep(0.02)
            delays.append(time.monotonic() - back)
        self.assertLess(statistics.median(delays), within(1))
        self.assertFalse([each for each in self.written() if each.startswith("down")])
        self.verified()

    # SC-33, SC-29, SC-31
    def test_a_gateway_that_was_declared_lost_joins_again_and_tells_late_outcomes(self):
        first, second = self.gateway(), self.gateway()
        session = Session(first)
        self.assertTrue(self.call(session, "before"))
        answer = in_background(lambda: self.tried(session, "long", seconds=1.5 * LEASE_MS / 1000))
        self.wait_for(lambda: "long" in self.written(), 20)
        first.process.send_signal(signal.SIGSTOP)
        stopped = time.monotonic()
        lost = self.wait_for(lambda: self.controls("instance_lost"), 6 * LEASE_MS / 1000)
        self.assertLess(time.monotonic() - stopped, 1.4 * LEASE_MS / 1000 + 2, "a lease, two beats, and the time of this look")
        self.assertEqual([each["calls"] for each in lost], [1])
        first.process.send_signal(signal.SIGCONT)
        self.assertFalse(answer.get(timeout=30), "its call was closed")
        again = Session(first)
        self.wait_for(lambda: self.tried(again, f"again-{time.monotonic()}"), 20)
        self.assertTrue(self.call(Session(second), "other"))
        started = self.controls("started")
        rejoined = [each["rejoined"] for each in started if "rejoined" in each]
        self.assertEqual(rejoined, [lost[0]["instance"]])
        late = self.topic("late_outcomes")
        self.assertEqual([each["body"]["record"] for each in late], ["late_outcome"])
        self.assertEqual(late[0]["body"]["effect_state"], "done")
        ends = self.ends()
        self.assertEqual(len({end["call_id"] for end in ends}), len(ends), "each call ends once")
        closed = [end for end in ends if end["call_id"] == late[0]["entry"]["call_id"]]
        self.assertEqual([end["outcome"]["kind"] for end in closed], ["persistence_failed"])
        self.verified()

    # SC-30, SC-49
    def test_a_gateway_that_is_cut_off_begins_no_effect_after_its_lease_while_others_go_on(self):
        relay = Relay(self.postgresql)
        self.addCleanup(relay.stop)
        direct, self.url = self.url, relay.url(self.url, self.postgresql)
        cut = self.gateway()
        self.url = direct
        other = self.gateway()
        sessions = [Session(cut) for _ in range(4)]
        self.assertTrue(self.call(sessions[0], "before"))
        relay.hold()
        held, stopping = time.monotonic(), threading.Event()

        def work(index):
            n = 0
            while not stopping.is_set():
                n += 1
                self.tried(sessions[index], f"cut-{index}-{n}")
                time.sleep(0.05)

        threads = [threading.Thread(target=work, args=(index,), daemon=True) for index in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(max(0, held + 0.8 * LEASE_MS / 1000 - time.monotonic()))
        begun = set(self.written())  # until the end of the lease, less one beat
        self.assertTrue(self.call(Session(other), "meanwhile"))
        self.wait_for(lambda: self.controls_at("g2", "instance_lost"), 6 * LEASE_MS / 1000)
        self.assertEqual({each for each in self.written() if each.startswith("cut")} - begun, set())
        relay.release()
        stopping.set()
        for thread in threads:
            thread.join(30)
        again = Session(cut)
        self.wait_for(lambda: self.tried(again, f"again-{time.monotonic()}"), 20)
        effects = self.written()
        self.assertEqual(len(effects), len(set(effects)))
        self.verified()

    def controls_at(self, gateway, name):
        rows = self.ledger("show", "--kind", "control", "--limit", "100000", "--json", gateway=gateway).lines()
        return [row["body"] for row in rows if row["body"].get("control") == name]

    # SC-50 (partly): of many concurrent reading calls some were once refused as `busy`
    def test_a_database_that_is_far_away_refuses_none_of_many_calls(self):
        relay = DistantRelay(self.postgresql)
        self.addCleanup(relay.stop)
        self.url = relay.url(self.url, self.postgresql)
        policy = self.write("policy.yaml", "version: 1\nautonomy: {tier: act_auto}\n")
        self.more = f"policy: {policy}\n  sessions: 100"
        server = self.gateway()
        sessions = [Session(server, keep=True) for _ in range(100)]
        relay.seconds = 0.005
        with ThreadPoolExecutor(len(sessions)) as clients:
            written = list(clients.map(lambda n: all(self.call(sessions[n], 3 * n + i) for i in range(3)), range(len(sessions))))
        self.assertEqual(written, [True] * len(sessions))
        self.assertEqual(sorted(self.written()), list(range(3 * len(sessions))))

    # SC-8
    def test_a_pooler_in_transaction_mode_is_refused(self):
        relay = TransactionPooler(self.postgresql)
        self.addCleanup(relay.stop)
        said = self.cli("serve", "--config", self.config("g1", relay.url(self.url, self.postgresql)))
        self.assertNotEqual(said.code, 0)
        self.assertIn("a pooler in transaction mode stands before it", said.err)


if __name__ == "__main__":
    unittest.main()
