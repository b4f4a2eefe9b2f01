#!/usr/bin/env python3
"""Receipts, proofs and keys from outside, against the specification's own vectors."""
import base64
import hashlib
import json
import os
import shutil
import sqlite3
import time
import unittest

from cli_support import CliTest

KEY = "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
# The specification's whole receipt, section 13.
VECTOR = (
    r'{"schema":"sallyport.receipt.v1","entry":{"schema":"sallyport.entry.v1","id":"01966f4c-2000-7000-8000-000000000001","sequence":0,"'
    r'recorded_at":"2026-11-15T02:00:00.000000Z","kind":"tool_audit","instance_id":"01966f4c-2000-7000-8000-0000000000aa","policy_hash":'
    r'"sha256:1111111111111111111111111111111111111111111111111111111111111111","call_id":"call_1","tool_name":"read_file","outcome":"co'
    r'mpleted","body":{"call_id":"call_1","effective_input":{"$sealed":"sha256:8b828a4020f822285b72a35479d9cbdcaaabe56a91aa81307996958a6'
    r'41f617c"}}},"leaf_index":0,"tree_size":1,"proof":[],"checkpoint":"sallyport.example/test\n1\n/mlFgIwAD+kwmuZq8vh6i0AkjgqfguJz3SnqN'
    r'KVK5G4=\n\n— sallyport.example/test 0OWtg7SDmrHwctX9wLnd9RXZuGrgvpzWRfws66x/0hZ2bLK3Mgt7O6h2i2t1CuNp/wQYu3jCSL7djcPIkw265LS1AwQ=\n'
    r'","openings":[{"path":"/body/effective_input","form":"json","salt":"qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqo=","value":{"path":'
    r'"/tmp/x"}}]}'
)
# The vector's entry with another `call_id` in its body, signed with the vector's seed.
CONTRADICTION = (
    "sallyport.example/test\n1\nAR1YhMtqlJ+rV9Rt8tLtRoF0J7bRxWM1zbD0MGGT664=\n\n— sallyport.example/test "
    "0OWtgyBeIhbDqTSsJfrgNOUVXASzCIJrEZ5sY+BK/jjewtd13D5klHgcl80OpuUYwax5tru2Em9WA2H9uh9vGTof7AQ=\n")


class Vectors(CliTest):
    def answer(self, receipt, key=KEY, *more):
        text = receipt if isinstance(receipt, (str, bytes)) else json.dumps(receipt)
        outcome = self.run_bare("verify", self.write("r.json", text), "--key", key, "--json", *more)
        self.assertEqual(outcome.err, "")
        answer = outcome.json()
        self.assertEqual(set(answer), {"ok", "step", "detail", "origin", "sequence", "recorded_at", "kind"})
        self.assertEqual(outcome.code, 0 if answer["ok"] else 1)
        return answer

    def changed(self, change):
        receipt = json.loads(VECTOR)
        change(receipt)
        return receipt

    # LE-29 (partly), LE-34
    def test_the_receipt_of_the_specification_verifies(self):
        answer = self.answer(VECTOR)
        self.assertEqual((answer["ok"], answer["origin"], answer["sequence"], answer["kind"], answer["recorded_at"]),
                         (True, "sallyport.example/test", 0, "tool_audit", "2026-11-15T02:00:00.000000Z"))
        text = self.run_bare("verify", self.folder / "r.json", "--key", KEY)
        self.assertEqual(text.code, 0)
        self.assertTrue(text.out.endswith("\nverified\n"), text.out)
        for word in ("read_file", "completed", "2026-11-15T02:00:00", "sha256:1111", "/tmp/x", "call_1"):
            self.assertIn(word, text.out)
        self.assertTrue(text.out.isascii())

    # LE-33
    def test_each_step_fails_as_it_should(self):
        def step(change):
            answer = self.answer(self.changed(change))
            self.assertFalse(answer["ok"])
            return answer["step"]
        other = base64.b64encode(b"\x01" + bytes(32)).decode()
        other_id = hashlib.sha256(b"sallyport.example/test\n\x01" + bytes(32)).hexdigest()[:8]
        self.assertEqual(step(lambda r: r.update(schema="sallyport.receipt.v2")), "form")
        self.assertEqual(step(lambda r: r.update(more=1)), "form")
        self.assertEqual(self.answer(VECTOR, f"sallyport.example/test+{other_id}+{other}")["step"], "key")
        self.assertEqual(step(lambda r: r.update(checkpoint=r["checkpoint"].replace("0OWtg7SD", "0OWtg7SE"))), "signature")
        self.assertEqual(self.answer(VECTOR, KEY, "--origin", "elsewhere.example/log")["step"], "origin")
        self.assertTrue(self.answer(VECTOR, KEY, "--origin", "sallyport.example/test")["ok"])
        self.assertEqual(step(lambda r: r.update(tree_size=2)), "size")
        self.assertEqual(step(lambda r: r.update(leaf_index=1)), "position")
        self.assertEqual(step(lambda r: r["entry"].update(outcome="blocked")), "inclusion")
        self.assertEqual(step(lambda r: r.update(proof=[base64.b64encode(bytes(32)).decode()])), "inclusion")
        self.assertEqual(step(lambda r: r["openings"][0]["value"].update(path="/tmp/y")), "opening")
        self.assertEqual(step(lambda r: r["openings"][0].update(salt=base64.b64encode(bytes(32)).decode())), "opening")

        def contradict(receipt):
            receipt["entry"]["body"]["call_id"] = "call_2"
            receipt["checkpoint"] = CONTRADICTION
        self.assertEqual(step(contradict), "meaning")
        text = self.run_bare("verify", self.folder / "r.json", "--key", KEY)
        self.assertEqual(text.code, 1)
        self.assertTrue(text.out.endswith("NOT VALID at step meaning\n"), text.out)

    # LE-37
    def test_a_receipt_without_openings_stays_valid(self):
        self.assertTrue(self.answer(self.changed(lambda r: r.update(openings=[])))["ok"])

    # LE-36
    def test_signatures_by_unknown_keys_are_ignored(self):
        line = "— other.example/log " + base64.b64encode(bytes(68)).decode() + "\n"
        self.assertTrue(self.answer(self.changed(lambda r: r.update(checkpoint=r["checkpoint"] + line)))["ok"])
        bad = "— sallyport.example/test " + base64.b64encode(bytes.fromhex("d0e5ad83") + bytes(64)).decode() + "\n"
        self.assertEqual(self.answer(self.changed(lambda r: r.update(checkpoint=r["checkpoint"] + bad)))["step"], "signature")

    # LE-32
    def test_verifying_needs_a_key_and_nothing_else(self):
        receipt = self.write("r.json", VECTOR)
        bare = self.run_bare("verify", receipt)
        self.assertEqual(bare.code, 64)
        self.assertIn("--key", bare.err)
        # An unusable home, data folder or configuration has no influence.
        env = {"SALLYPORT_DATA_DIR": "/proc/none", "XDG_STATE_HOME": "/proc/none", "HOME": "/proc/none"}
        outcome = self.run_bare("verify", receipt, "--key", KEY, "--config", "/proc/none", env=env)
        self.assertEqual(outcome.code, 0, outcome.err)
        self.assertEqual(self.run_bare("verify", "-", "--key", KEY, stdin=VECTOR.encode()).code, 0)
        self.assertEqual(self.run_bare("verify", receipt, "--key", self.write("key", KEY + "\n")).code, 0)
        for key in ("", "nothing", KEY[:-2], KEY.replace("d0e5ad83", "d0e5ad84"), self.folder, self.write("key", b"\xff" * 100000)):
            self.assertEqual(self.run_bare("verify", receipt, "--key", key).code, 64, key)
        self.assertEqual(list(self.home.iterdir()), [])

    # LE-78, LE-8 (partly)
    def test_bad_receipts_fail_at_form_in_bounded_time(self):
        cases = [b"", b"{}", b"[]", b"null", os.urandom(65536), VECTOR[:-2].encode(), VECTOR.encode() + b"x", b"\xef\xbb\xbf" + VECTOR.encode(),
                 b"[" * 100000, b"[" + b"[]," * 100000 + b"[]]", b'{"a":' * 100000, VECTOR.replace('"leaf_index":0', '"leaf_index":0,"leaf_index":0').encode(),
                 VECTOR.replace('"leaf_index":0', '"leaf_index":0.0').encode(), VECTOR.replace('"leaf_index":0', '"leaf_index":-1').encode(),
                 VECTOR.replace("call_1", "call\\ud800").encode(), VECTOR.replace("call_1", "call_\xff").encode("latin-1", "replace"),
                 json.dumps(self.changed(lambda r: r.update(proof=["AA=="] * 65))).encode(),
                 json.dumps(self.changed(lambda r: r.update(checkpoint=r["checkpoint"].replace("\n1\n", "\n01\n")))).encode(),
                 VECTOR.encode() + b" " * (17 << 20)]
        for case in cases:
            begin = time.monotonic()
            answers = [json.loads(line) for line in self.run_bare("verify", self.write("r.json", case), "--key", KEY, "--json").out.splitlines()]
            self.assertTrue(all(not a["ok"] and a["step"] == "form" for a in answers) and answers, case[:60])
            self.assertLess(time.monotonic() - begin, 20)

    def test_a_list_without_a_receipt_says_so(self):
        outcome = self.run_bare("verify", self.write("r.json", " []\n"), "--key", KEY, "--json")
        self.assertEqual((outcome.code, outcome.json()["step"], outcome.json()["detail"]), (1, "form", "the list holds no receipt"))

    def test_a_receipt_that_cannot_be_read_is_no_answer(self):
        for path, code in ((self.folder, 64), (self.folder / "none.json", 1)):
            outcome = self.run_bare("verify", path, "--key", KEY, "--json")
            self.assertEqual((outcome.code, outcome.out), (code, ""))


class Receipts(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    def verify(self, receipt, *more, key=None):
        file = self.write("r.json", receipt if isinstance(receipt, bytes) else receipt.encode())
        return self.run_bare("verify", file, "--key", key or self.keys()[-1], "--json", *more)

    # LE-31
    def test_a_call_gives_the_receipt_of_its_terminal_record(self):
        outcome = self.good("ledger", "receipt", "call-00002")
        receipt = outcome.json()
        self.assertEqual(receipt["entry"]["kind"], "tool_audit")
        self.assertTrue(receipt["entry"]["body"]["terminal"])
        self.assertEqual(self.verify(outcome.raw).code, 0)
        self.assertEqual(self.good("ledger", "receipt", receipt["entry"]["id"]).raw, outcome.raw)
        self.assertEqual(self.good("ledger", "receipt", receipt["leaf_index"]).raw, outcome.raw)
        # A call that is still open has no receipt.
        self.assertIn("no outcome yet", self.refused(1, "ledger", "receipt", "call-00004"))
        self.refused(64, "ledger", "receipt", "no-such-call")
        self.refused(1, "ledger", "receipt", "01966f4c-2000-7000-8000-000000000001")
        self.refused(1, "ledger", "receipt", 9999)

    # LE-31
    def test_all_receipts_of_a_call_are_under_one_checkpoint(self):
        outcome = self.good("ledger", "receipt", "call-00002", "--all")
        receipts = outcome.json()
        self.assertEqual([r["entry"]["kind"] for r in receipts], ["intent", "tool_audit"])
        self.assertEqual(len({r["checkpoint"] for r in receipts}), 1)
        answers = self.verify(outcome.raw)
        self.assertEqual((answers.code, [a["ok"] for a in answers.lines()]), (0, [True, True]))
        receipts[1]["entry"]["outcome"] = "blocked"
        answers = self.verify(json.dumps(receipts))
        self.assertEqual((answers.code, [a["ok"] for a in answers.lines()]), (1, [True, False]))
        self.assertEqual(self.good("ledger", "receipt", 7, "--all").raw, outcome.raw)

    # LE-30
    def test_a_tlog_proof_holds_the_entry(self):
        text = self.good("ledger", "receipt", 3, "--format", "tlog-proof").out
        lines = text.splitlines()
        self.assertEqual(lines[0], "c2sp.org/tlog-proof@v1")
        entry = base64.b64decode(lines[1].removeprefix("extra "))
        self.assertEqual(json.loads(entry)["sequence"], 3)
        self.assertEqual(lines[2], "index 3")
        self.assertTrue(text.endswith(self.good("ledger", "checkpoint").out))
        self.refused(64, "ledger", "receipt", "call-00002", "--all", "--format", "tlog-proof")

    def test_a_tlog_proof_is_checked_with_a_key_and_nothing_else(self):
        # LE-30, LE-32, LE-33
        text = self.good("ledger", "receipt", 3, "--format", "tlog-proof").out
        key = self.keys()[-1]

        def step(changed, code=1):
            answer = self.run_bare("verify", self.write("proof", changed), "--key", key, "--json")
            self.assertEqual(answer.code, code, changed)
            return answer.json()["step"]

        self.assertEqual(step(text, 0), "meaning")
        lines = text.split("\n")
        entry = json.loads(base64.b64decode(lines[1].removeprefix("extra ")))

        def with_line(number, line):
            return "\n".join(lines[:number] + [line] + lines[number + 1:])

        def with_entry(changed):
            canonical = json.dumps(changed, sort_keys=True, separators=(",", ":"))
            return with_line(1, "extra " + base64.b64encode(canonical.encode()).decode())

        self.assertEqual(step(with_entry(entry), 0), "meaning")
        self.assertEqual(step(with_entry({**entry, "tool_name": "another"})), "inclusion")
        self.assertEqual(step(with_entry({**entry, "sequence": 4})), "position")
        self.assertEqual(step(with_line(2, "index 4")), "position")
        self.assertEqual(step(with_line(3, base64.b64encode(bytes(32)).decode())), "inclusion")
        self.assertEqual(step(with_line(3, lines[3] + "\n" + lines[3])), "inclusion")
        for changed in (text[:-1], text[:60], with_line(1, "extra !"), with_line(1, lines[2]), with_line(2, "index 03"),
                        with_line(3, lines[3][:-1]), with_line(1, "extra " + base64.b64encode(json.dumps(entry).encode()).decode()),
                        "\n".join(lines[:3] + [lines[3]] * 65 + lines[3:])):
            self.assertEqual(step(changed), "form", changed)
        self.assertEqual(self.run_bare("verify", self.write("proof", text)).code, 64)

    # LE-37 (partly)
    def test_openings_can_be_left_out(self):
        outcome = self.good("ledger", "receipt", "call-00000", "--no-openings")
        self.assertEqual(outcome.json()["openings"], [])
        self.assertNotIn("content number", outcome.out)
        self.assertEqual(self.verify(outcome.raw).code, 0)

    def test_a_receipt_is_written_whole_or_not_at_all(self):
        self.good("ledger", "receipt", 3, "--out", self.folder / "receipt.json")
        self.assertEqual((self.folder / "receipt.json").stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.verify((self.folder / "receipt.json").read_bytes()).code, 0)
        self.refused(64, "ledger", "receipt", 3, "--out", self.folder)
        self.refused(1, "ledger", "receipt", 3, "--out", self.folder / "no" / "folder")
        self.refused(1, "ledger", "receipt", 9999, "--out", self.folder / "none.json")
        self.assertFalse((self.folder / "none.json").exists())

    # LE-26, LE-27, LE-28
    def test_a_rotation_hands_trust_on(self):
        first = self.keys()[0]
        rotated = self.good("keys", "rotate", "--json").json()
        self.assertFalse(rotated["compromised"])
        periods = self.good("keys", "show", "--json").lines()
        self.assertEqual([p["key"] for p in periods], [first, rotated["key"]])
        self.assertEqual([p["current"] for p in periods], [False, True])
        self.assertEqual(periods[0]["last_size"], rotated["sequence"] + 1)
        self.good("ledger", "hold", "add", "--call", "x", "--reason", "to commit once more")
        rotation = self.folder / "rotation.json"
        self.good("ledger", "receipt", rotated["sequence"], "--out", rotation)
        receipt = self.good("ledger", "receipt", 3).raw
        self.assertEqual(self.verify(receipt, key=first).json()["step"], "key")
        self.assertEqual(self.verify(receipt, "--rotation", rotation, key=first).code, 0)
        self.assertEqual(self.verify(receipt, key=rotated["key"]).code, 0)
        # A second rotation: both receipts are needed, in order.
        again = self.good("keys", "rotate", "--json").json()
        second = self.folder / "second.json"
        self.good("ledger", "receipt", again["sequence"], "--out", second)
        receipt = self.good("ledger", "receipt", 3).raw
        self.assertEqual(self.verify(receipt, "--rotation", rotation, "--rotation", second, key=first).code, 0)
        self.assertEqual(self.verify(receipt, "--rotation", second, "--rotation", rotation, key=first).code, 1)
        self.good("ledger", "verify")
        shown = self.good("keys", "show").out + self.good("keys", "show", "--json").out
        self.assertNotIn("PRIVATE", shown)
        self.assertNotIn("PRIVATE", self.good("keys", "rotate").out)
        self.assertEqual(sorted(p.name for p in (self.data / "keys").iterdir() if p.name.startswith("signing")), ["signing.key"])

    # LE-27
    def test_a_compromised_key_hands_nothing_on(self):
        first = self.keys()[0]
        rotated = self.good("keys", "rotate", "--compromised", "--json").json()
        rotation = self.folder / "rotation.json"
        self.good("ledger", "receipt", rotated["sequence"], "--out", rotation)
        answer = self.verify(self.good("ledger", "receipt", 3).raw, "--rotation", rotation, key=first)
        self.good("ledger", "hold", "add", "--call", "x", "--reason", "to commit once more")
        answer = self.verify(self.good("ledger", "receipt", 3).raw, "--rotation", rotation, key=first)
        self.assertEqual((answer.code, answer.json()["step"]), (1, "key"))
        self.assertIn("compromised", answer.json()["detail"])

    # LE-38
    def test_one_checkpoint_continues_another(self):
        proof = self.folder / "proof"
        self.good("ledger", "proof", 2, 18, "--out", proof, "--checkpoints")
        old, new, key = self.folder / "proof.2", self.folder / "proof.18", self.keys()[0]
        self.assertEqual(old.read_text(), self.good("ledger", "checkpoint", 2).out)
        good = self.run_bare("verify", "--consistency", old, new, proof, "--key", key, "--json")
        self.assertEqual((good.code, good.json()["ok"]), (0, True))
        self.assertTrue(self.run_bare("verify", "--consistency", old, new, proof, "--key", key).out.endswith("verified\n"))
        self.assertEqual(self.run_bare("verify", "--consistency", new, old, proof, "--key", key).code, 1)
        self.assertEqual(self.run_bare("verify", "--consistency", old, new, old, "--key", key).code, 1)
        self.assertEqual(self.run_bare("verify", "--consistency", old, new, "--key", key).code, 64)
        self.assertEqual(self.run_bare("verify", "--consistency", old, new, proof, "--key", KEY).code, 1)
        shown = self.good("ledger", "proof", 2, 18, "--checkpoints", "--json").json()
        self.assertEqual(shown["old_checkpoint"], old.read_text())
        self.assertEqual(self.good("ledger", "proof", 2, 18).out, proof.read_text())
        # The same commands' --json output is accepted too.
        forms = [self.write(f"form-{i}", self.good("ledger", *words, "--json").out)
                 for i, words in enumerate((("checkpoint", 2), ("checkpoint", 18), ("proof", 2, 18), ("proof", 4, 18)))]
        for last, step in ((2, (0, "inclusion")), (3, (1, "size")), (0, (1, "form"))):
            answer = self.run_bare("verify", "--consistency", forms[0], forms[1], forms[last], "--key", key, "--json")
            self.assertEqual((answer.code, answer.json()["step"]), step)
        for sizes in ((0, 5), (5, 4), (5, 19), ("a", 5)):
            self.refused(64, "ledger", "proof", *sizes)
        self.assertIn("2 and 4 are", self.refused(1, "ledger", "checkpoint", 3))
        self.refused(1, "ledger", "checkpoint", 0)
        self.refused(64, "ledger", "proof", 2, 18, "--checkpoints")


class WholeLedger(CliTest):
    def setUp(self):
        super().setUp()
        self.make_ledger()

    def sql(self, *statement):
        with sqlite3.connect(self.data / "ledger.db") as db:
            db.execute(*statement)
        db.close()

    # LE-48, LE-49
    def test_a_sound_ledger_verifies_and_lists_gaps(self):
        report = self.good("ledger", "verify", "--json").json()
        self.assertEqual(report, {"ok": True, "tree_size": 18, "origin": self.keys()[0].split("+")[0]})
        self.make_ledger(0)
        self.good("keys", "rotate")
        text = self.good("ledger", "verify").out
        for word in ("verified", "unknown_outcome", "call-00003", "key_rotation"):
            self.assertIn(word, text)
        self.assertNotIn("downtime", text)  # the previous writer stopped normally
        gaps = self.good("ledger", "verify", "--json", "--gaps").json()["gaps"]
        self.assertEqual([gap["kind"] for gap in gaps], ["unknown_outcome", "key_rotation"])

    # LE-50 (partly)
    def test_tampering_is_found_with_its_place(self):
        backup = self.folder / "backup.db"
        shutil.copy(self.data / "ledger.db", backup)
        for statement, check in (
                ("UPDATE entries SET bytes = CAST(replace(CAST(bytes AS TEXT), 'blocked', 'allowed') AS BLOB) WHERE sequence = 5", ("entry_bytes", "leaf_hash")),
                ("DELETE FROM entries WHERE sequence = 5", ("missing_sequence",)),
                ("UPDATE entries SET leaf = zeroblob(32) WHERE sequence = 5", ("leaf_hash", "root")),
                ("UPDATE entries SET openings = CAST(replace(CAST(openings AS TEXT), 'outside', 'inside_') AS BLOB) WHERE sequence = 5", ("opening",)),
                ("UPDATE entries SET checkpoint = replace(checkpoint, '0', '1') WHERE sequence = 5", ("checkpoint_signature", "checkpoint_consistency"))):
            self.sql(statement)
            outcome = self.cli("ledger", "verify", "--json")
            self.assertEqual(outcome.code, 1, statement)
            bad = outcome.json()["first_bad"]
            self.assertEqual(bad["sequence"], 5, statement)
            self.assertIn(bad["check"], check)
            self.assertIn("NOT VALID", self.cli("ledger", "verify").out)
            shutil.copy(backup, self.data / "ledger.db")
        self.good("ledger", "verify")

    def test_the_key_can_be_pinned(self):
        self.good("ledger", "verify", "--key", self.keys()[0])
        outcome = self.cli("ledger", "verify", "--key", KEY, "--json")
        self.assertEqual((outcome.code, outcome.json()["first_bad"]["check"]), (1, "checkpoint_signature"))
        self.refused(64, "ledger", "verify", "--key", "rubbish")

    # LE-51, LE-52
    def test_a_ledger_that_was_cut_back_needs_a_person(self):
        earlier = self.folder / "earlier.db"
        shutil.copy(self.data / "ledger.db", earlier)
        kept = self.write("kept", self.good("ledger", "checkpoint").out)
        self.good("ledger", "verify", "--since", kept)
        self.assertIn("nothing to acknowledge", self.refused(1, "ledger", "acknowledge", "--reason", "x"))
        self.make_ledger(3)
        newest = self.write("newest", self.good("ledger", "checkpoint").out)
        for name in ("ledger.db-wal", "ledger.db-shm"):
            (self.data / name).unlink(missing_ok=True)
        shutil.copy(earlier, self.data / "ledger.db")
        outcome = self.cli("ledger", "verify", "--json")
        self.assertEqual((outcome.code, outcome.json()["first_bad"]["check"]), (1, "checkpoint_consistency"))
        self.assertEqual(self.cli("ledger", "verify", "--since", newest).code, 1)
        self.good("ledger", "verify", "--since", kept)
        self.assertIn("acknowledge", self.refused(1, "keys", "rotate"))
        self.assertEqual(self.cli("doctor").code, 1)
        self.refused(64, "ledger", "acknowledge", "--reason", " ")
        self.assertTrue(self.good("ledger", "acknowledge", "--reason", "restored from a backup", "--json").json()["acknowledged"])
        self.good("keys", "rotate")
        self.assertIn("rollback", self.good("ledger", "verify").out)
        self.refused(64, "ledger", "verify", "--since", self.write("bad", "no note"))


if __name__ == "__main__":
    unittest.main(verbosity=1)
