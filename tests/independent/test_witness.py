#!/usr/bin/env python3
"""Tests the witness itself, on logs that the product did not make."""
import base64
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import tlog_reader  # noqa: E402
from signed_note import leaf_hash  # noqa: E402
from test_independent import VECTOR_KEY, TestKey  # noqa: E402
from witness import Witness  # noqa: E402


def subproof(old, leaves, whole):
    """RFC 6962 2.1.2."""
    if old == len(leaves):
        return [] if whole else [tlog_reader.tree_hash(leaves)]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    if old <= split:
        return subproof(old, leaves[:split], whole) + [tlog_reader.tree_hash(leaves[split:])]
    return subproof(old - split, leaves[split:], False) + [tlog_reader.tree_hash(leaves[:split])]


class WitnessTest(unittest.TestCase):
    def setUp(self):
        self.witness = Witness("witness.example/w1")
        self.witness.trust(VECTOR_KEY)
        self.leaves = [leaf_hash(b'{"n":%d}' % n) for n in range(40)]

    def offer(self, old, size, leaves=None, proof=None, note=None):
        leaves = leaves or self.leaves
        root = base64.b64encode(tlog_reader.tree_hash(leaves[:size])).decode()
        note = note or TestKey().sign(f"sallyport.example/test\n{size}\n{root}\n")
        if proof is None:
            proof = subproof(old, leaves[:size], True) if 0 < old < size else []
        lines = "".join(base64.b64encode(value).decode() + "\n" for value in proof)
        return self.witness.add_checkpoint(f"old {old}\n{lines}\n{note}".encode())

    def test_what_continues_is_cosigned(self):
        for old, size in ((0, 1), (1, 1), (1, 2), (2, 3), (3, 8), (8, 13), (13, 32), (32, 40)):
            status, _, text = self.offer(old, size)
            self.assertEqual(status, 200, (old, size, text))
            self.assertTrue(text.startswith("\u2014 witness.example/w1 "))

    def test_a_fork_is_refused(self):
        self.assertEqual(self.offer(0, 10)[0], 200)
        forged = self.leaves[:5] + [leaf_hash(b"other")] + self.leaves[6:]
        self.assertEqual(self.offer(10, 12, leaves=forged)[0], 422)
        self.assertEqual(self.offer(10, 10, leaves=forged)[0], 422)
        self.assertEqual(self.offer(10, 12, proof=[])[0], 422)
        self.assertEqual(self.offer(10, 12)[0], 200)

    def test_stale_and_cut_back_offers_are_refused(self):
        self.assertEqual(self.offer(0, 10)[0], 200)
        self.assertEqual(self.offer(0, 12), (409, "text/x.tlog.size", "10\n"))
        self.assertEqual(self.offer(4, 8), (409, "text/x.tlog.size", "10\n"))
        self.assertEqual(self.offer(10, 8)[0], 400)

    def test_unknown_logs_and_keys_are_refused(self):
        root = base64.b64encode(tlog_reader.tree_hash(self.leaves[:1])).decode()
        good = TestKey().sign(f"sallyport.example/test\n1\n{root}\n")
        self.assertEqual(self.offer(0, 1, note=good.replace("\n1\n", "\n2\n", 1))[0], 403)
        self.assertEqual(self.offer(0, 1, note=TestKey().sign(f"another.example\n1\n{root}\n"))[0], 404)
        self.assertEqual(self.witness.add_checkpoint(b"old 00\n\n" + good.encode())[0], 400)


if __name__ == "__main__":
    unittest.main()
