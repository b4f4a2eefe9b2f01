"""The verifier of the console against `sallyport verify`, on receipts of a real ledger with one bit changed; and the page that
checks receipts from disk."""
import base64
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from browser_support import BrowserTest, ROOT  # noqa: E402
from cli_support import BIN, CliTest  # noqa: E402
import npm_peers  # noqa: E402

# The number of compared receipts. A full run takes 2,000 or more.
COUNT = int(os.environ.get("SALLYPORT_RECEIPT_CORPUS", "300"))
SEED = 20
VECTOR_KEY = "sallyport.example/test+d0e5ad83+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4"
# Texts that a lenient parser accepts as the honest one.
SLIPS = [
    (b'"leaf_index":', b'"leaf_index":0,"leaf_index":'), (b'{"schema"', b'\xef\xbb\xbf{"schema"'), (b'"tree_size":', b'"tree_size":1e0,"x":'),
    (b'"form":"json"', b'"form":"raw"'), (b'"path":"/body', b'"path":"/Body'), (b'"path":"/body', b'"path":"/~body'),
    (b'=","value"', b'","value"'), (b'"proof":[', b'"proof":["AAAA",'), (b'"kind":"', b'"kind":"\\ud800'), (b'"recorded_at":"2', b'"recorded_at":"3'),
    (b'"body":{', b'"body":{"input":1,'), (b'"body":{', b'"body":{"value":null,'), (b'"openings":[', b'"openings":[[],'),
    (b'"sequence":', b'"sequence":0'), (b'"leaf_index":', b'"leaf_index":1'), (b'"sequence":', b'"sequence":-'), (b'"tree_size":', b'"tree_size":9'), (b"\\n\\n", b"\\n"),
    (b"\\n\\n", b"\\nextension\\n\\n"), (b'"checkpoint":"', b'"checkpoint":"x'), (b'}', b'} x'), (b'"id":"', b'"run_id":7,"id":"'),
    (b'"id":"', b'"run_id":"r","id":"'), (b'"id":"', b'"other":"r","id":"'), (b'"call_id":"', b'"call_id":"x'), (b":", b" : "),
]


def bundled(folder):
    out = pathlib.Path(folder) / "verify.mjs"
    subprocess.run(["esbuild", "src/core/verify/index.ts", "--bundle", "--format=esm", "--target=es2022", "--log-level=warning", f"--outfile={out}"],
                   cwd=ROOT / "console", check=True, timeout=60)
    return out


class ConsoleVerifierTest(CliTest):
    def receipts(self):
        self.make_ledger()
        self.key = self.keys()[0]
        found = []
        for sequence in range(40):
            outcome = self.cli("ledger", "receipt", sequence)
            if outcome.code != 0:
                break
            found.append(outcome.raw)
            if sequence % 4 == 0:
                found.append(self.good("ledger", "receipt", sequence, "--format", "tlog-proof").raw)
        self.assertGreater(len(found), 15)
        return found

    def corpus(self):
        """Yields honest receipts, then changes of one byte sequence, then single bits at random places."""
        honest = self.receipts()
        cases = list(honest)
        for before, after in SLIPS:
            hit = [receipt for receipt in honest if before in receipt]
            cases += [receipt.replace(before, after, 1) for receipt in hit[:2]]
        source = random.Random(SEED)
        while len(cases) < COUNT:
            receipt = bytearray(source.choice(honest))
            receipt[source.randrange(len(receipt))] ^= 1 << source.randrange(8)
            cases.append(bytes(receipt))
        return len(honest), cases

    def by_the_program(self, number, receipt):
        file = self.write(f"r{number}", receipt)
        done = subprocess.run([BIN, "verify", file, "--key", self.key, "--json"], capture_output=True, timeout=60, env=self.environment())
        file.unlink()
        return json.loads(done.stdout)

    # CO-51
    def test_both_verifiers_stop_at_the_same_step(self):
        honest, cases = self.corpus()
        with tempfile.TemporaryDirectory() as folder:
            lines = "".join(json.dumps({"receipt": base64.b64encode(case).decode(), "key": self.key}) + "\n" for case in cases)
            done = subprocess.run([npm_peers.node(20), ROOT / "tests/e2e/console/verify_corpus.mjs", bundled(folder)], input=lines, text=True,
                                  capture_output=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = [json.loads(line) for line in done.stdout.splitlines()]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            theirs = list(pool.map(self.by_the_program, range(len(cases)), cases))
        self.assertEqual(len(ours), len(cases))
        for case, our, their in zip(cases, ours, theirs):
            self.assertEqual((our["ok"], our["step"]), (their["ok"], their["step"]), f"{case!r}\n{our}\n{their}")
        self.assertTrue(all(answer["ok"] for answer in ours[:honest]))
        steps = {answer["step"] for answer in ours if not answer["ok"]}
        self.assertLessEqual({"form", "key", "signature", "size", "position", "inclusion", "opening"}, steps)
        # A changed bit is detected unless it is in JSON white space or in a letter with two forms.
        self.assertLess(sum(answer["ok"] for answer in ours[honest:]), len(cases) // 20 + 5)

    # CO-51: the steps that no change of a single honest receipt reaches
    def test_another_origin_and_a_contradiction_are_named(self):
        vector = (ROOT / "tests/independent/receipt_vector.json").read_bytes()
        from cli_proof_test import CONTRADICTION
        receipt = json.loads(vector)
        receipt["entry"]["body"]["call_id"] = "call_2"
        receipt["checkpoint"] = CONTRADICTION
        cases = [(vector, None), (vector, "elsewhere.example/log"), (json.dumps(receipt).encode(), None)]
        with tempfile.TemporaryDirectory() as folder:
            lines = "".join(json.dumps({"receipt": base64.b64encode(case).decode(), "key": VECTOR_KEY, **({"origin": origin} if origin else {})}) + "\n"
                            for case, origin in cases)
            done = subprocess.run([npm_peers.node(20), ROOT / "tests/e2e/console/verify_corpus.mjs", bundled(folder)], input=lines, text=True,
                                  capture_output=True, timeout=60)
        ours = [json.loads(line) for line in done.stdout.splitlines()]
        for (case, origin), our in zip(cases, ours):
            their = self.run_bare("verify", self.write("r", case), "--key", VECTOR_KEY, "--json", *(["--origin", origin] if origin else [])).json()
            self.assertEqual((our["ok"], our["step"]), (their["ok"], their["step"]), (our, their))
        self.assertEqual([our["step"] for our in ours], ["meaning", "origin", "meaning"])

    # CO-54 (partly)
    def test_the_program_prints_the_page(self):
        page = self.run_bare("verify", "--page")
        self.assertEqual((page.code, page.err), (0, ""))
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "console/build.sh", folder], check=True, timeout=60)
            self.assertEqual(page.raw, (pathlib.Path(folder) / "verify.html").read_bytes())
        self.assertIn(b"connect-src 'none'", page.raw)
        self.assertEqual(self.run_bare("verify", "--page", self.write("r", b"{}")).code, 64)
        self.assertEqual(self.run_bare("verify").code, 64)


class VerifyPageTest(BrowserTest, CliTest):
    FILL = """
        await page.goto(args.page);
        await page.fill('#key', args.key);
        await page.setInputFiles('#files', args.files);
        await page.click('button');
        await page.waitForSelector('#page section, #page .bad');
        return await page.$$eval('section', all => all.map(one => [one.dataset.ok, one.dataset.step, one.textContent]));"""

    def setUp(self):
        super().setUp()
        self.file = self.write("verify.html", self.run_bare("verify", "--page").raw)
        self.make_ledger()

    # CO-54
    def test_the_page_checks_receipts_from_disk_and_asks_nobody(self):
        good = self.write("good.json", self.good("ledger", "receipt", "call-00002", "--all").raw)
        one = json.loads(self.good("ledger", "receipt", 3).raw)
        one["entry"]["outcome"] = "blocked"
        bad = self.write("bad.json", json.dumps(one))
        self.context()
        found = self.run_page(self.FILL, page=f"file://{self.file}", key=self.keys()[0], files=[str(good), str(bad)])
        self.assertEqual([row[0] for row in found], ["true"] * (len(found) - 1) + ["false"])
        self.assertGreaterEqual(len(found), 3)
        self.assertEqual(found[-1][1], "inclusion")
        self.assertIn("NOT VALID at step inclusion", found[-1][2])
        self.assertIn("\\u{202E}", "".join(row[2] for row in found), "a character that turns text around is shown as its number")
        seen = self.run_page("return [seen, await page.evaluate(() => window.__violations)]")
        self.assertEqual(seen[0]["requests"], [f"file://{self.file}"])
        self.assertEqual((seen[0]["errors"], seen[0]["violations"], seen[1]), ([], [], []))
        self.assertEqual(self.run_page("""
            return (await new AxeBuilder({page}).withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']).analyze()).violations"""), [])

    # CO-56
    def test_a_browser_that_cannot_check_says_so(self):
        receipt = self.write("good.json", self.good("ledger", "receipt", "call-00002").raw)
        for broken in ("Object.defineProperty(crypto, 'subtle', {value: undefined})",
                       "crypto.subtle.verify = async () => { throw new DOMException('no Ed25519', 'NotSupportedError') }",
                       "crypto.subtle.importKey = async () => { throw new DOMException('no Ed25519', 'NotSupportedError') }",
                       "crypto.subtle.verify = async () => true"):
            self.context()
            self.run_page("await context.addInitScript(args.broken)", broken=broken)
            found = self.run_page(self.FILL, page=f"file://{self.file}", key=self.keys()[0], files=[str(receipt)])
            self.assertEqual(found, [], broken)
            self.assertIn("cannot check", self.run_page("return await page.textContent('[data-cannot]')"))
            self.assertNotIn("Verified", self.run_page("return await page.innerText('body')"))


if __name__ == "__main__":
    unittest.main()
