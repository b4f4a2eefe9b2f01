#!/usr/bin/env python3
"""Witnesses cosign checkpoints: from the command line, while a server runs, and for verifiers."""
import json
import pathlib
import shutil
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "independent"))

import receipt_reader  # noqa: E402
from cli_support import CliTest  # noqa: E402
from mcp_support import PATIENCE  # noqa: E402
from serve_support import ServeTest, Session  # noqa: E402
from signed_note import VerifierKey  # noqa: E402
from witness import Witness, WitnessServer  # noqa: E402


class Witnesses(CliTest):
    """One or more witnesses that know the log, and a configuration that names them."""

    def start_witness(self, name, seed=1):
        server = WitnessServer(Witness(f"witness.example/{name}", bytes([seed]) * 32))
        self.addCleanup(server.stop)
        return server

    def policy(self, servers, quorum="all", name="witnesses.txt", log=None):
        lines = [f"log {log}"] if log else []
        names = [server.witness.name.rsplit("/", 1)[1] for server in servers]
        lines += [f"witness {name} {server.witness.vkey} {server.url}" for name, server in zip(names, servers)]
        lines += [f"group g {quorum} {' '.join(names)}", "quorum g"]
        return self.write(name, "\n".join(lines) + "\n")

    def configure_witnesses(self):
        self.config = self.write("config.yaml", "version: 1\ndata_dir: data\nledger: {witnesses: witnesses.txt}\n")

    def offer(self, *options):
        return self.run_bare("ledger", "witness", "--once", "--json", *options, "--config", self.config)

    def with_config(self, *arguments):
        return self.run_bare(*arguments, "--config", self.config)

    def refusals(self):
        shown = self.run_bare("ledger", "show", "--kind", "control", "--json", "--data-dir", self.data)
        bodies = [line["entry"]["body"] for line in shown.lines()]
        return [body for body in bodies if body["control"] == "witness_refused"]

    def doctor(self):
        outcome = self.run_bare("doctor", "--json", "--config", self.config)
        return outcome.code, [check for check in outcome.json()["checks"] if check["check"] == "witnesses"]


class CommandTest(Witnesses):
    def setUp(self):
        super().setUp()
        self.make_ledger()
        self.key = self.keys()[-1]
        self.one, self.two = self.start_witness("one", 1), self.start_witness("two", 2)
        for server in (self.one, self.two):
            server.witness.trust(self.key)
        self.policy([self.one, self.two])
        self.configure_witnesses()

    def size(self):
        return self.good("ledger", "checkpoint", "--json").json()["size"]

    # SC-55
    def test_the_newest_checkpoint_is_offered_and_a_409_is_answered_with_a_proof(self):
        first = self.offer()
        self.assertEqual(first.code, 0, first.err + first.out)
        self.assertEqual(first.json()["size"], self.size())
        self.assertEqual([status for _, status, _ in self.one.requests], [200])
        self.assertTrue(self.one.requests[0][2].startswith("old 0\n\n"))
        before = self.size()
        self.make_ledger(3)
        second = self.offer()
        self.assertEqual(second.code, 0, second.err + second.out)
        self.assertEqual([status for _, status, _ in self.one.requests], [200, 409, 200])
        sent = self.one.requests[2][2]
        self.assertTrue(sent.startswith(f"old {before}\n"), sent)
        self.assertEqual(self.one.witness.seen[VerifierKey(self.key).name][0], self.size())
        # After the cosignature no witness is asked again.
        self.assertEqual(self.offer().json()["witnesses"], [])
        self.assertEqual(len(self.one.requests), 3)

    # SC-55 SC-57
    def test_checkpoints_and_receipts_carry_cosignatures_and_verify_as_before(self):
        self.assertEqual(self.offer().code, 0)
        note = self.good("ledger", "checkpoint").out
        self.assertEqual(note.count("\u2014 witness.example/"), 2, note)
        self.make_ledger(1)
        self.assertEqual(self.good("ledger", "checkpoint").out.count("\u2014"), 1)
        self.assertEqual(self.good("ledger", "checkpoint", "--cosigned").out, note)
        policy = self.policy([self.one, self.two], name="policy.txt", log=self.key)
        for form in ("json", "tlog-proof"):
            receipt = self.write(form, self.good("ledger", "receipt", "1", "--format", form).raw)
            self.assertEqual(self.run_bare("verify", receipt, "--key", self.key).code, 0)
            seen = self.run_bare("verify", receipt, "--policy", policy)
            self.assertEqual(seen.code, 0, seen.out + seen.err)
            self.assertIn("a quorum of witnesses cosigned this checkpoint", seen.out)
        steps = list(receipt_reader.verify((self.folder / "json").read_bytes(), VerifierKey(self.key)))
        self.assertIn("meaning", steps)
        self.assertEqual(self.good("ledger", "verify").code, 0)

    # SC-57
    def test_without_a_quorum_a_receipt_is_refused_and_the_missing_are_named(self):
        self.two.answer = (500, "text/plain", "")
        outcome = self.offer()
        self.assertEqual(outcome.code, 1)
        self.assertFalse(outcome.json()["quorum"])
        receipt = self.write("receipt", self.good("ledger", "receipt", "1").raw)
        self.assertEqual(self.run_bare("verify", receipt, "--key", self.key).code, 0)
        both = self.policy([self.one, self.two], name="both.txt", log=self.key)
        any_one = self.policy([self.one, self.two], "any", name="any.txt", log=self.key)
        self.assertEqual(self.run_bare("verify", receipt, "--policy", any_one).code, 0)
        refused = self.run_bare("verify", receipt, "--policy", both, "--json")
        self.assertEqual(refused.code, 1)
        answer = refused.json()
        self.assertEqual((answer["ok"], answer["step"], answer["detail"]),
                         (False, "quorum", "no quorum `g`: 1 of 2 witnesses cosigned, missing two"))
        bare = self.write("bare", self.good("ledger", "receipt", "1").out.replace("witness.example/one", "witness.example/x"))
        self.assertEqual(self.run_bare("verify", bare, "--policy", any_one, "--json").json()["step"], "quorum")
        # The whole log, by the same rule.
        self.assertEqual(self.good("ledger", "verify", "--policy", any_one, "--json").json()["witnessed"], self.size())
        whole = self.cli("ledger", "verify", "--policy", both, "--json")
        self.assertEqual((whole.code, whole.json()["first_bad"]["check"]), (1, "quorum"))
        self.assertIn("1 of 2 witnesses cosigned, missing two", whole.json()["first_bad"]["detail"])
        self.make_ledger(1)
        self.assertLess(self.good("ledger", "verify", "--policy", any_one, "--json").json()["witnessed"], self.size())
        wrong = self.write("wrong.txt", "witness a b\nquorum a\n")
        outcome = self.run_bare("verify", receipt, "--policy", wrong, "--key", self.key)
        self.assertEqual(outcome.code, 64, outcome.err)
        self.assertIn("wrong.txt:1", outcome.err)

    # SC-57
    def test_a_forged_or_foreign_cosignature_counts_for_nothing(self):
        stranger = self.start_witness("one", 9)  # the right name, another key
        stranger.witness.trust(self.key)
        self.one.answer = stranger.witness.add_checkpoint(f"old 0\n\n{self.good('ledger', 'checkpoint').out}".encode())
        self.assertEqual(self.one.answer[0], 200)
        said = {row["witness"]: row for row in self.offer().json()["witnesses"]}
        self.assertEqual((said["one"]["cosigned"], said["two"]["cosigned"]), (False, True))
        self.assertIn("no line of its key", said["one"]["detail"])
        self.one.answer = (200, "text/plain", self.one.witness.cosignature("another\n1\nAAAA\n"))
        self.assertIn("does not verify", self.offer().json()["witnesses"][0]["detail"])
        self.one.answer = (200, "text/plain", "\u2014" * 40_000)
        self.assertFalse(self.offer().json()["witnesses"][0]["cosigned"])
        self.assertEqual(self.good("ledger", "checkpoint").out.count("\u2014"), 2)

    # SC-56
    def test_a_fork_is_one_control_entry_and_a_failing_doctor_line(self):
        shutil.copytree(self.data, self.folder / "copy")
        self.make_ledger(2)
        self.assertEqual(self.offer().code, 0)
        code, checks = self.doctor()
        self.assertEqual((code, [check["state"] for check in checks]), (0, ["ok"]))
        # The log has another history with the same beginning.
        shutil.rmtree(self.data)
        (self.folder / "copy").rename(self.data)
        self.make_ledger(5)
        for _ in range(2):
            outcome = self.offer()
            self.assertEqual(outcome.code, 1, outcome.out + outcome.err)
            self.assertEqual([row["status"] for row in outcome.json()["witnesses"]], [422, 422])
        refusals = self.refusals()
        self.assertEqual(sorted(body["witness"] for body in refusals), ["one", "two"])
        self.assertEqual({(body["status"], body["key"]) for body in refusals},
                         {(422, self.one.witness.vkey), (422, self.two.witness.vkey)})
        code, checks = self.doctor()
        self.assertEqual(code, 1)
        self.assertEqual([check["state"] for check in checks], ["fail", "fail", "warn"], checks)
        self.assertIn("refused this log: 422", checks[0]["detail"])
        # People have resolved the reported conflict: the witness starts again.
        for server in (self.one, self.two):
            server.witness.seen.clear()
        self.assertEqual(self.offer().code, 0)
        self.assertEqual(self.doctor()[0], 0)
        self.assertEqual(len(self.refusals()), 2)

    # SC-56
    def test_a_log_that_was_cut_back_is_refused(self):
        shutil.copytree(self.data, self.folder / "copy")
        self.make_ledger(30)
        self.assertEqual(self.offer().code, 0)
        seen = self.size()
        shutil.rmtree(self.data)
        (self.folder / "copy").rename(self.data)
        outcome = self.offer()
        self.assertEqual(outcome.code, 1)
        self.assertIn(f"it cosigned size {seen}, and this log has", outcome.json()["witnesses"][0]["detail"])
        self.assertEqual([body["status"] for body in self.refusals()], [409, 409])
        self.assertEqual(self.doctor()[0], 1)

    # SC-56
    def test_a_witness_that_does_not_know_the_key_refuses_with_403(self):
        self.one.witness.logs.clear()
        other = self.keys()[-1]
        self.one.witness.trust(other)
        self.run_bare("keys", "rotate", "--data-dir", self.data)
        self.one.answer = (403, "text/plain", "who is that\n")
        self.assertEqual(self.offer().code, 1)
        self.assertEqual([body["status"] for body in self.refusals()], [403])
        self.assertEqual(self.doctor()[0], 1)

    def test_a_configuration_without_witnesses_says_what_to_write(self):
        self.assertIn("ledger: {witnesses: FILE}", self.refused(64, "ledger", "witness", "--once"))
        self.write("witnesses.txt", "quorum nobody\n")
        outcome = self.offer()
        self.assertEqual(outcome.code, 64)
        self.assertIn("witnesses.txt:1", outcome.err)
        code, checks = self.doctor()
        self.assertEqual((code, checks[0]["state"]), (1, "fail"))


class ServeWitnessTest(ServeTest, Witnesses):
    CONFIG = ServeTest.CONFIG.replace("data_dir: data\n", "data_dir: data\nledger: {{witnesses: witnesses.txt}}\n")

    def until(self, what, longest=PATIENCE):
        end = time.monotonic() + longest
        while not what():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.02)

    def start(self):
        self.make_ledger(1)
        self.key = self.keys()[-1]
        self.witness = self.start_witness("one")
        self.witness.witness.trust(self.key)
        self.policy([self.witness])
        return self.serve()

    # SC-55
    def test_a_running_server_offers_at_most_once_a_second_and_alone(self):
        server = self.start()
        session = Session(server)
        times = []
        end = time.monotonic() + PATIENCE
        while len(times) < 4:
            self.assertLess(time.monotonic(), end, times)
            session.said("echo", {"message": "x"})
            times = [when for when, status, _ in self.witness.requests if status == 200]
        # A request that the witness recorded late makes the next one look early.
        self.assertGreater((times[3] - times[0]) / 3, 0.8)
        outcome = self.run_bare("ledger", "witness", "--once", "--config", self.folder / "serve.yaml")
        self.assertNotEqual(outcome.code, 0)
        self.assertIn("another process offers", outcome.err)
        # The next process continues where this one ends.
        server.stop()
        outcome = self.run_bare("ledger", "witness", "--once", "--config", self.folder / "serve.yaml")
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(self.good("ledger", "verify").code, 0)

    # SC-55
    def test_a_witness_that_hangs_costs_calls_nothing_and_does_not_hold_up_the_end(self):
        server = self.start()
        self.witness.delay = 30
        session = Session(server)
        session.said("echo", {"message": "x"})
        time.sleep(1.2)  # an offer is being sent now
        begin = time.monotonic()
        for _ in range(20):
            session.said("echo", {"message": "x"})
        self.assertLess(time.monotonic() - begin, 5)
        begin = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - begin, 4)

    # SC-55
    def test_a_witness_that_comes_back_is_offered_the_newest_checkpoint(self):
        server = self.start()
        self.until(lambda: self.witness.requests)
        port = self.witness.port
        self.witness.stop()
        Session(server).said("echo", {"message": "x"})
        self.until(lambda: any("did not cosign" in line for line in server.errors))
        again = WitnessServer(self.witness.witness, port)
        self.addCleanup(again.stop)
        self.until(lambda: any(status == 200 for _, status, _ in again.requests))
        self.until(lambda: any("cosigns again" in line for line in server.errors))
        status, _, metrics = server.ask("GET", "/metrics", token=False)
        self.assertEqual(status, 200)
        self.assertIn(b'sallyport_witness_offers_total{witness="one",answer="cosigned"}', metrics)
        self.assertIn(b'sallyport_witness_cosigned_size{witness="one"}', metrics)

    def test_a_wrong_file_of_witnesses_stops_the_start(self):
        self.write("witnesses.txt", "witness a b http://127.0.0.1:1\nquorum a\n")
        outcome = self.run_bare("serve", "--config", self.configure())
        self.assertEqual(outcome.code, 64, outcome.err)
        self.assertIn("witnesses.txt:1", outcome.err)


if __name__ == "__main__":
    unittest.main()
