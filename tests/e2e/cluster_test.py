#!/usr/bin/env python3
"""Several gateways on one log in PostgreSQL: one tree, lost gateways, a database that crashes."""
import hashlib
import json
import random
import statistics
import threading
import time
import unittest

from cli_support import within
from cluster_support import EFFECTS, LEASE_MS, MORE, ClusterCase
from serve_support import Server, Session, in_background

APPROVALS = """version: 1
autonomy: {{tier: act_with_approval}}
approvals:
  hold_s: 50
  reviewers:
    - {{name: "user:ada", token: "{ada}", roles: [approver]}}
"""
BUDGET = """version: 1
autonomy: {tier: act_auto, budget: {max_per_hour: 10}}
approvals: {hold_s: 0}
"""


class ClusterTest(ClusterCase):
    # SC-1 (partly), SC-16 (partly)
    def test_several_gateways_write_one_log(self):
        gateways = [self.gateway() for _ in range(3)]
        calls = 20 * MORE
        failed = []

        def work(index, server):
            session = Session(server)
            for n in range(calls):
                if not self.call(session, f"{index}-{n}"):
                    failed.append((index, n))

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(gateways)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertEqual(len(set(self.written())), 3 * calls)
        self.assertEqual(len(self.ends()), 3 * calls)
        self.verified()
        self.assertEqual(len(self.controls("started")), 3)
        self.assertEqual(self.controls("clock_step"), [])
        checks = self.cli("doctor", "--json", "--config", str(self.folder / "g1.yaml")).out
        self.assertIn("may delete rows", checks, "the role of this test owns the tables")

    # SC-31, SC-32, SC-29 (partly)
    def test_the_calls_of_a_gateway_that_was_killed_are_closed_by_another(self):
        first, second = self.gateway(), self.gateway()
        session = Session(first)
        in_background(lambda: self.tried(session, "long", seconds=30))
        self.wait_for(lambda: "long" in self.written(), 20)
        killed = time.monotonic()
        first.process.kill()
        lost = self.wait_for(lambda: self.controls("instance_lost"), 6 * LEASE_MS / 1000)
        self.assertLess(time.monotonic() - killed, 3 * LEASE_MS / 1000 + 3)
        self.assertEqual((len(lost), lost[0]["calls"]), (1, 1))
        self.assertEqual(set(lost[0]) - {"control"}, {"instance", "host", "by", "calls"})
        ends = self.ends()
        self.assertEqual([end["outcome"]["kind"] for end in ends], ["persistence_failed"])
        self.assertTrue(self.call(Session(second), "after"))
        self.verified()

    # SC-45 (partly), SC-42 (partly), SC-28 (partly)
    def test_a_database_that_crashes_loses_nothing_acknowledged(self):
        gateways = [self.gateway() for _ in range(2)]
        acknowledged, stopping = [], threading.Event()

        def work(index, server):
            session, n = Session(server), 0
            while not stopping.is_set():
                n += 1
                if self.call(session, f"{index}-{n}"):
                    acknowledged.append(f"{index}-{n}")
                else:
                    time.sleep(0.05)

        threads = [threading.Thread(target=work, args=pair, daemon=True) for pair in enumerate(gateways)]
        for thread in threads:
            thread.start()
        for _ in range(2 * MORE):
            before = len(acknowledged)
            self.wait_for(lambda: len(acknowledged) > before + 3, 20)
            self.postgresql.kill()
            time.sleep(0.3)
            self.postgresql.start()
            back = time.monotonic()
            after = len(acknowledged)
            self.wait_for(lambda: len(acknowledged) > after, 20)
            self.assertLess(time.monotonic() - back, 5)
        stopping.set()
        for thread in threads:
            thread.join(20)
        self.verified()
        ended = [end for end in self.ends() if end["outcome"]["kind"] == "completed"]
        effects = self.written()
        self.assertGreaterEqual(len(ended), len(acknowledged))
        self.assertEqual(len(effects), len(set(effects)), "each effect at most once")
        self.assertLessEqual(set(acknowledged), set(effects))
        self.assertEqual(self.controls("instance_lost"), [])

    # SC-44 (partly)
    def test_a_gateway_that_is_killed_at_any_moment_loses_nothing_acknowledged(self):
        self.gateway().stop()
        steady = self.gateway()  # closes the entries that the other one leaves open
        dice, acknowledged, n = random.Random(7), [], 0
        for _ in range(4 * MORE):
            server = Server(self, self.folder / "g1.yaml", self.environment(EFFECTS=str(self.effects)))
            self.addCleanup(self.end_server, server)
            session = Session(server)
            threading.Timer(dice.uniform(0.02, 0.5), server.process.kill).start()
            while server.process.poll() is None:
                n += 1
                if self.tried(session, str(n)):
                    acknowledged.append(str(n))
        self.wait_for(lambda: len(self.controls("instance_lost")) == 4 * MORE, 8 * LEASE_MS / 1000)
        self.assertTrue(self.call(Session(steady), "steady"))
        self.verified()
        effects, ends = self.written(), self.ends()
        self.assertEqual(len(effects), len(set(effects)), "each effect at most once")
        self.assertLessEqual(set(acknowledged), set(effects))
        self.assertGreaterEqual(len([end for end in ends if end["outcome"]["kind"] == "completed"]), len(acknowledged) + 1)
        self.assertGreaterEqual(len(ends), len(effects), "no effect without a record of its end")
        self.assertEqual(len({end["call_id"] for end in ends}), len(ends), "each call ends once")

    # SC-36
    def test_an_approval_is_answered_at_any_gateway_and_used_once(self):
        token = "token-of-ada-0123456789"
        self.write("policy.yaml", APPROVALS.format(ada="sha256:" + hashlib.sha256(token.encode()).hexdigest()))
        self.more = f"policy: {self.folder}/policy.yaml"
        first, second = self.gateway(), self.gateway()
        session = Session(first)

        def questions():
            return json.loads(second.ask("GET", "/api/v1/approvals", token=token)[2])["approvals"]

        delays = []
        for n in range(3):
            answer = in_background(lambda: self.call(session, f"asked-{n}"))
            item = self.wait_for(questions, 20)[0]
            respond = ("POST", f"/api/v1/approvals/{item['request_id']}/respond", {"approved": True})
            self.assertEqual(second.ask(*respond, token=token)[0], 200)
            answered = time.monotonic()
            self.assertTrue(answer.get(timeout=20))
            delays.append(time.monotonic() - answered)
            self.assertNotEqual(first.ask(*respond, token=token)[0], 200, "it was used")
        self.assertLess(statistics.median(delays), within(1))
        self.assertEqual(self.written(), [f"asked-{n}" for n in range(3)])
        self.verified()

    # SC-37
    def test_a_budget_that_several_gateways_spend_at_once_admits_no_call_more(self):
        self.write("policy.yaml", BUDGET)
        self.more = f"policy: {self.folder}/policy.yaml"
        gateways = [self.gateway() for _ in range(4)]

        def work(index, server):
            session = Session(server)
            for n in range(5):
                self.call(session, f"{index}-{n}")

        threads = [threading.Thread(target=work, args=pair) for pair in enumerate(gateways)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(self.written()), 10, "twenty were tried")
        self.verified()

    # SC-4
    def test_a_ledger_moves_into_a_database_and_goes_on_there(self):
        lines = self.config("g1").read_text().splitlines()
        local = self.write("local.yaml", "\n".join(line for line in lines if "store:" not in line and line != "ledger:"))
        server = Server(self, local, self.environment(EFFECTS=str(self.effects)))
        self.addCleanup(self.end_server, server)
        self.assertTrue(self.call(Session(server), "in a file"))
        self.refused(1, "ledger", "move", "--to", self.url, "--config", str(local))
        server.stop()
        before = self.good("ledger", "export", "--config", str(local)).out
        moved = self.good("ledger", "move", "--to", self.url, "--config", str(local), "--json").json()
        self.assertEqual(self.good("ledger", "move", "--to", self.url, "--config", str(local), "--json").json(), moved)
        self.good("ledger", "verify", "--config", str(local))
        there = self.gateway()
        self.assertTrue(self.call(Session(there), "in a database"))
        self.assertEqual(self.ledger("export").out.split("\n")[:3], before.split("\n")[:3])
        self.verified()
        again = self.run_bare("serve", "--config", str(local))
        self.assertIn("was moved to", again.err)

    def test_a_section_that_cannot_be_right_is_refused(self):
        for lines, said in (("retention: {event: 90d}", "retention"), ("reserve_bytes: 1", "reserve_bytes")):
            config = self.write("bad.yaml", self.config("g1").read_text().replace("ledger:", "ledger:\n  " + lines))
            self.assertIn(f"`{said}` is about a ledger in a file", self.cli("ledger", "stats", "--config", config).err)
        for url, said in (("mysql://h/d", "write an address as"), ("postgresql://u@/d?hostaddr=192.0.2.1", "allow_plain_hosts")):
            refused = self.cli("ledger", "stats", "--config", self.config("g1", url))
            self.assertNotEqual(refused.code, 0)
            self.assertIn(said, refused.err)

    def test_without_libpq_a_shared_ledger_says_what_to_install_and_the_rest_works(self):
        (self.folder / "broken").mkdir()
        (self.folder / "broken/libpq.so.5").write_bytes(b"")
        env = self.environment(LD_LIBRARY_PATH=self.folder / "broken")
        refused = self.cli("ledger", "stats", "--config", self.config("g1"), env=env)
        self.assertNotEqual(refused.code, 0)
        self.assertIn("install the package libpq5", refused.err)
        self.assertEqual(self.run_bare("policy", "check", "coding", env=env).code, 0)

    # SC-10 (partly)
    def test_the_tables_are_made_by_their_owner(self):
        self.postgresql.sql("CREATE ROLE gateway LOGIN; CREATE ROLE keeper LOGIN")
        self.url = self.url.replace("user=owner", "user=gateway")
        self.assertIn("ledger tables", self.cli("serve", "--config", self.config("g1")).err)
        made = self.good("ledger", "tables", "--gateway", "gateway", "--keeper", "keeper").out
        self.postgresql.sql(made, f"d{self.databases}")
        server = self.gateway()
        self.assertTrue(self.call(Session(server), "x"))
        checks = self.cli("doctor", "--json", "--config", str(self.folder / "g1.yaml")).out
        self.assertIn("1 gateways", checks)
        self.assertNotIn("may delete rows", checks)
        erase = ("ledger", "erase", "--kind", "event", "--reason", "test")
        self.assertIn("not_owner", self.cli(*erase, "--config", str(self.folder / "g1.yaml")).err)
        server.stop()
        self.config("g1", self.url.replace("user=gateway", "user=keeper"))
        self.ledger(*erase[1:])
        self.verified()

    # SC-51
    def test_a_hook_never_joins_a_shared_log(self):
        server = self.gateway()
        server.stop()
        size = self.verified()
        event = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_use_id": "t", "tool_name": "Bash",
                 "tool_input": {"command": "ls"}, "cwd": "/"}
        said = self.run_bare("hook", "--agent", "claude-code", "--config", str(self.folder / "g1.yaml"), stdin=json.dumps(event).encode())
        self.assertIn("deny", said.out)
        self.assertIn("share", said.out)
        self.assertEqual(self.verified(), size)


if __name__ == "__main__":
    unittest.main()
