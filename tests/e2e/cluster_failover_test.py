#!/usr/bin/env python3
"""A primary with a synchronous standby: promotion under load, a missing standby, lost entries."""
import os
import threading
import time
import unittest

from cluster_support import ClusterCase
from postgresql_support import Postgresql
from serve_support import Session

# The number of gateways that write while the primary dies: 4, or 16 for a long run.
GATEWAYS = int(os.environ.get("SALLYPORT_CLUSTER_GATEWAYS", "2"))


class ClusterFailoverTest(ClusterCase):
    @classmethod
    def setUpClass(cls):
        """Each test breaks its own servers."""
        cls.databases = 0

    def setUp(self):
        self.postgresql = Postgresql()
        self.addCleanup(self.postgresql.stop)
        super().setUp()
        self.standby = Postgresql(primary=self.postgresql)
        self.addCleanup(self.standby.stop)
        # The address names both hosts, and libpq chooses the one that accepts writes.
        database = f"d{self.databases}"
        self.url = (f"postgresql:///{database}?host={self.postgresql.folder},{self.standby.folder}"
                    "&user=owner&target_session_attrs=read-write")

    def synchronous(self):
        self.postgresql.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.postgresql.sql("SELECT pg_reload_conf()")
        self.wait_for(lambda: self.postgresql.sql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1", 20)

    def load(self, gateways):
        acknowledged, stopping = [], threading.Event()

        def work(index, server):
            session, n = Session(server), 0
            while not stopping.is_set():
                n += 1
                if self.call(session, f"{index}-{n}"):
                    acknowledged.append((time.monotonic(), f"{index}-{n}"))
                else:
                    time.sleep(0.02)

        threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in enumerate(gateways)]
        for thread in threads:
            thread.start()

        def stop():
            stopping.set()
            for thread in threads:
                thread.join(60)
            return [name for _, name in acknowledged]

        return acknowledged, stop

    # SC-46, SC-19, SC-48 (partly)
    def test_promoting_a_synchronous_standby_under_load_loses_nothing_acknowledged(self):
        self.synchronous()
        gateways = [self.gateway() for _ in range(GATEWAYS)]
        acknowledged, stop = self.load(gateways)
        self.wait_for(lambda: len(acknowledged) > 5 * GATEWAYS, 60)
        self.postgresql.kill()
        self.standby.promote()
        promoted = time.monotonic()
        self.wait_for(lambda: acknowledged[-1][0] > promoted, 30)
        first = min(at for at, _ in acknowledged if at > promoted)
        self.assertLess(first - promoted, 1 + 2 * os.getloadavg()[0] / (os.cpu_count() or 1), "a second, on a machine without other work")
        names = stop()
        effects = self.written()
        self.assertEqual(len(effects), len(set(effects)), "each effect at most once")
        self.assertLessEqual(set(names), set(effects))
        ended = [end for end in self.ends() if end["outcome"]["kind"] == "completed"]
        self.assertGreaterEqual(len(ended), len(names))
        self.assertEqual(self.controls("instance_lost"), [])
        self.verified()

    # SC-18, SC-19
    def test_without_its_standby_nothing_is_acknowledged_and_no_effect_begins(self):
        self.synchronous()
        server = self.gateway()
        session = Session(server)
        self.assertTrue(self.call(session, "before"))
        self.standby.kill()
        before = self.written()
        self.assertFalse(self.call(session, "alone"))
        # A waiting commit is cancelled: PostgreSQL answers OK, with a warning.
        self.postgresql.sql("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
        self.assertFalse(self.call(session, "cancelled"))
        self.assertEqual(self.written(), before)
        self.standby.start()
        self.wait_for(lambda: self.call(session, f"again-{time.monotonic()}"), 30)
        self.assertNotIn("alone", self.written())
        self.verified()

    # SC-47
    def test_a_promoted_standby_that_lacks_entries_is_refused_until_a_person_says_so(self):
        server = self.gateway()
        session = Session(server)
        self.assertTrue(self.call(session, "before"))
        self.wait_for(lambda: self.standby.sql("SELECT count(*) FROM sallyport.entries", f"d{self.databases}")
                      == self.postgresql.sql("SELECT count(*) FROM sallyport.entries", f"d{self.databases}"), 20)
        self.standby.kill()
        self.assertTrue(self.call(session, "lost"))
        time.sleep(2)  # the witness file is at most a second old
        self.postgresql.kill()
        self.standby.start()
        self.standby.promote()

        def refused():
            self.assertFalse(self.call(session, "refused"))
            return "corrupt" in server.ask("GET", "/readyz")[2].decode()

        self.wait_for(refused, 30)
        self.assertEqual(server.ask("GET", "/readyz")[0], 503)
        server.stop()
        self.assertIn("ledger acknowledge", self.cli("serve", "--config", str(self.folder / "g1.yaml")).err)
        self.good("ledger", "acknowledge", "--reason", "the standby lagged", "--config", str(self.folder / "g1.yaml"))
        self.gateways = 0
        self.assertTrue(self.call(Session(self.gateway()), "after"))
        self.verified()


if __name__ == "__main__":
    unittest.main()
