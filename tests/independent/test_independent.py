#!/usr/bin/env python3
"""Programs that share no code with the product read its output.

SALLYPORT_BIN             the program; without it the tests that need it are skipped
SALLYPORT_CANONICAL_TOOL  tests/tools/canonical.cc, built; likewise
SALLYPORT_TEST_CACHE      where npm packages are kept between runs
"""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import receipt_reader  # noqa: E402
import tlog_reader  # noqa: E402
from signed_note import Refused, VerifierKey, leaf_hash  # noqa: E402

BIN = os.environ.get("SALLYPORT_BIN")
CANONICAL_TOOL = os.environ.get("SALLYPORT_CANONICAL_TOOL")


class Product:
    """Runs the command lines of the product that these tests use."""

    def __init__(self, folder):
        self.data = str(folder / "data")
        self.run("demo", "--data-dir", self.data, "--plain")

    def run(self, *arguments):
        done = subprocess.run([BIN, *arguments], capture_output=True, text=True, timeout=120,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} gave {done.returncode}: {done.stderr[-2000:]}")
        return done.stdout

    def key(self):
        """Returns the current verifier key: the last of the lines."""
        shown = self.run("keys", "show", "--json", "--data-dir", self.data).splitlines()
        return json.loads(shown[-1])["key"]

    def tiles(self, folder):
        self.run("ledger", "export", "--format", "tlog-tiles", "--out", str(folder),
                 "--data-dir", self.data)

    def ids(self):
        lines = self.run("ledger", "export", "--format", "jsonl", "--data-dir", self.data).splitlines()
        return [json.loads(line)["entry"]["id"] for line in lines[:-1]]

    def receipt(self, entry_id):
        return self.run("ledger", "receipt", entry_id, "--data-dir", self.data).encode()


def read(program, *arguments):
    done = subprocess.run([sys.executable, str(HERE / program), *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    answer = json.loads(done.stdout)
    assert answer["ok"] == (done.returncode == 0), done
    return answer


def receipt_step(data, key):
    """Returns the step at which a receipt fails, or None."""
    step = "form"
    try:
        for step in receipt_reader.verify(data, key):
            pass
    except Refused:
        return step
    return None


def flipped(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(bytes(data))


# The published test vector, ledger section 13.
VECTOR_KEY = "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"


class TestKey:
    """Signs with the key of the vectors: seed 00 01 02 .. 1f."""

    def sign(self, text):
        pkcs8 = bytes.fromhex("302e020100300506032b657004220420") + bytes(range(32))
        with tempfile.TemporaryDirectory() as folder:
            key, message = os.path.join(folder, "key"), os.path.join(folder, "message")
            pathlib.Path(key).write_bytes(pkcs8)
            pathlib.Path(message).write_bytes(text.encode())
            signature = subprocess.run(
                ["openssl", "pkeyutl", "-sign", "-keyform", "DER", "-rawin", "-inkey", key, "-in",
                 message], capture_output=True, check=True).stdout
        line = base64.b64encode(bytes.fromhex("d0e5ad83") + signature).decode()
        return f"{text}\n\u2014 sallyport.example/test {line}\n"


def write_log(folder, entries):
    """Makes a tile folder without the product, to test the reader alone."""
    hashes = [leaf_hash(entry) for entry in entries]
    root = tlog_reader.tree_hash(hashes)
    bundles = [len(entry).to_bytes(2, "big") + entry for entry in entries]
    level = 0
    while hashes:
        groups = [hashes[i:i + 256] for i in range(0, len(hashes), 256)]
        for number, group in enumerate(groups):
            put(folder / tlog_reader.tile_path(level, number, len(group)), b"".join(group))
        hashes = [tlog_reader.tree_hash(group) for group in groups if len(group) == 256]
        level += 1
    for i in range(0, len(bundles), 256):
        group = bundles[i:i + 256]
        put(folder / tlog_reader.tile_path("entries", i // 256, len(group)), b"".join(group))
    text = f"sallyport.example/test\n{len(entries)}\n{base64.b64encode(root).decode()}\n"
    put(folder / "checkpoint", TestKey().sign(text).encode())


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-independent-"))
        self.addCleanup(shutil.rmtree, self.folder)


class ReaderTest(Folder):
    """Tests the readers themselves, on data that the product did not make."""

    def test_the_published_receipt_verifies(self):  # LE-29
        key, data = VerifierKey(VECTOR_KEY), (HERE / "receipt_vector.json").read_bytes()
        self.assertIsNone(receipt_step(data, key))
        self.assertEqual(read("receipt_reader.py", HERE / "receipt_vector.json", "--key", VECTOR_KEY)["step"],
                         "meaning")

    def test_a_changed_receipt_fails_where_it_was_changed(self):  # LE-35
        key, good = VerifierKey(VECTOR_KEY), (HERE / "receipt_vector.json").read_text("utf-8")
        for before, after, step in (
                ('"call_1","tool', '"call_2","tool', "inclusion"),
                ('"/tmp/x"', '"/tmp/y"', "opening"),
                ('"salt":"qqqq', '"salt":"qqqr', "opening"),
                ('"tree_size":1', '"tree_size":2', "size"),
                ('"leaf_index":0', '"leaf_index":1', "position"),
                ("\\n1\\n/mlF", "\\n1\\n/mlG", "signature"),
                ("0OWtg7SD", "0OWtg7SE", "signature"),
                ("sallyport.example/test\\n1", "sallyport.example/tess\\n1", "signature"),
                ('"proof":[]', '"proof":["' + "A" * 43 + '="]', "inclusion"),
                ('"leaf_index":0', '"leaf_index":0.0', "form"),
                ('{"schema"', '{"a":1,"schema"', "form"),
                ('"leaf_index":0', '"leaf_index":0,"leaf_index":0', "form")):
            self.assertIn(before, good)
            self.assertEqual(receipt_step(good.replace(before, after, 1).encode(), key), step, after)

    def test_a_receipt_without_its_openings_stays_valid(self):  # LE-37
        receipt = json.loads((HERE / "receipt_vector.json").read_text("utf-8"))
        receipt["openings"] = []
        self.assertIsNone(receipt_step(json.dumps(receipt).encode(), VerifierKey(VECTOR_KEY)))

    def test_numbers_have_the_text_of_ecmascript(self):  # LE-7
        for value, text in ((0.0, "0"), (-0.0, "0"), (1e21, "1e+21"), (1e20, "100000000000000000000"),
                            (1e-7, "1e-7"), (1e-6, "0.000001"), (5e-324, "5e-324"), (4.5, "4.5"),
                            (333333333.33333329, "333333333.3333333"), (-12.25, "-12.25"),
                            (1.7976931348623157e308, "1.7976931348623157e+308"), (56.0, "56")):
            self.assertEqual(receipt_reader.number_text(value), text)

    def test_logs_of_every_shape_verify(self):  # LE-65
        for size in (1, 2, 3, 255, 256, 257, 600):
            folder = self.folder / str(size)
            write_log(folder, [b'{"n":%d}' % n for n in range(size)])
            self.assertEqual(read("tlog_reader.py", folder, "--key", VECTOR_KEY)["size"], size)

    def test_the_published_checkpoint_is_that_of_its_leaves(self):  # LE-20
        write_log(self.folder, [b'{"n":%d}' % n for n in range(4)])
        self.assertEqual(hashlib.sha256((self.folder / "checkpoint").read_bytes()).hexdigest(),
                         "cb524f4c75f16e2d8de6f9d2a1d9fe820f3ab23796bc541a1c1f9a2293208975")

    def test_any_changed_file_of_a_log_is_noticed(self):  # LE-65
        write_log(self.folder, [b'{"n":%d}' % n for n in range(300)])
        flip_each_file(self, self.folder, VECTOR_KEY)


def flip_each_file(test, folder, key):
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        size = path.stat().st_size
        for offset in sorted({0, size // 2, size - 1}):
            flipped(path, offset)
            test.assertFalse(read("tlog_reader.py", folder, "--key", key)["ok"], f"{path} {offset}")
            flipped(path, offset)
        data = path.read_bytes()
        path.write_bytes(data[:-1])
        test.assertFalse(read("tlog_reader.py", folder, "--key", key)["ok"], f"{path} cut")
        path.unlink()
        test.assertFalse(read("tlog_reader.py", folder, "--key", key)["ok"], f"{path} gone")
        path.write_bytes(data)
    test.assertTrue(read("tlog_reader.py", folder, "--key", key)["ok"])


@unittest.skipUnless(BIN, "SALLYPORT_BIN is not set")
class ProductTest(Folder):
    def setUp(self):
        super().setUp()
        self.product = Product(self.folder)
        self.key = self.product.key()

    def test_an_independent_client_verifies_exported_tiles(self):  # LE-65
        tiles = self.folder / "tiles"
        self.product.tiles(tiles)
        answer = read("tlog_reader.py", tiles, "--key", self.key)
        self.assertTrue(answer["ok"], answer)
        self.assertGreater(answer["size"], 0)
        flip_each_file(self, tiles, self.key)

    def test_an_independent_reader_verifies_every_receipt(self):  # LE-29, LE-31, LE-35
        key = VerifierKey(self.key)
        receipts = [self.product.receipt(entry_id) for entry_id in self.product.ids()]
        self.assertTrue(receipts)
        for data in receipts:
            self.assertIsNone(receipt_step(data, key), data)
        data = max(receipts, key=lambda receipt: len(json.loads(receipt)["openings"]))
        for changed in self.changes(json.loads(data)):
            self.assertIsNotNone(receipt_step(json.dumps(changed).encode(), key), changed)

    @staticmethod
    def changes(receipt):
        def other(change):
            copy = json.loads(json.dumps(receipt))
            change(copy)
            return copy
        yield other(lambda r: r["entry"].update(kind="event" if r["entry"]["kind"] != "event" else "topic"))
        yield other(lambda r: r.update(tree_size=r["tree_size"] + 1))
        yield other(lambda r: r.update(checkpoint=r["checkpoint"].replace("\n\n", "\nx\n\n", 1)))
        if receipt["proof"]:
            yield other(lambda r: r["proof"].pop())
            yield other(lambda r: r["proof"].reverse() if len(r["proof"]) > 1 else r["proof"].clear())
        if receipt["openings"]:
            yield other(lambda r: r["openings"][0].update(value="another value"))
            yield other(lambda r: r["openings"][0].update(path="/body"))


class CanonicalFormTest(unittest.TestCase):
    @unittest.skipUnless(CANONICAL_TOOL, "SALLYPORT_CANONICAL_TOOL is not set")
    def test_two_public_implementations_agree_with_ours(self):  # LE-11
        if shutil.which("node") is None or shutil.which("npm") is None:
            self.skip_loudly("SKIPPED: node and npm are not installed")
        done = subprocess.run(["node", str(HERE / "jcs_peers.mjs"), CANONICAL_TOOL],
                              capture_output=True, text=True, timeout=300, check=False)
        if done.returncode == 77:
            self.skip_loudly(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    @unittest.skipUnless(CANONICAL_TOOL, "SALLYPORT_CANONICAL_TOOL is not set")
    def test_the_receipt_reader_writes_the_same_numbers(self):  # LE-11
        texts = [f"{digits}e{power}" for digits in ("1", "-4.35", "123456789.25") for power in range(-320, 300)]
        done = subprocess.run([CANONICAL_TOOL], input="\n".join(texts) + "\n", capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stdout.splitlines(),
                         [receipt_reader.number_text(float(text)) for text in texts])

    def skip_loudly(self, reason):
        print(reason, file=sys.stderr)
        self.skipTest(reason)


if __name__ == "__main__":
    unittest.main()
