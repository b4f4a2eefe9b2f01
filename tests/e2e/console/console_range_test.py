"""Ranges of the log: the console's verifier against `sallyport ledger verify`, the page that checks exports from disk, and the worker of
the proof screen before a real gate."""
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
from console_gate_test import GateBase, UMA  # noqa: E402
from console_verifier_test import bundled  # noqa: E402
import npm_peers  # noqa: E402

COUNT = int(os.environ.get("SALLYPORT_EXPORT_CORPUS", "40"))


def changed_lines(lines):
    """Exports with one line missing, repeated, moved or rewritten."""
    yield lines[:4] + lines[5:]
    yield lines[:4] + [lines[3]] + lines[4:]
    yield lines[:3] + [lines[4], lines[3]] + lines[5:]
    yield lines[:-1]
    yield lines + [b"{}"]
    yield lines[1:]
    for at in (0, 5, len(lines) - 2):
        yield [*lines[:at], lines[at].replace(b'"recorded_at":"2', b'"recorded_at":"1'), *lines[at + 1:]]
        yield [*lines[:at], lines[at].replace(b'"openings":[', b'"openings": ['), *lines[at + 1:]]
        yield [*lines[:at], lines[at].replace(b'"id":"', b'"topic":"x","id":"', 1), *lines[at + 1:]]


class RangeCorpusTest(CliTest):
    def corpus(self):
        self.make_ledger()
        lines = self.good("ledger", "export").raw.splitlines()
        cases = [lines, *changed_lines(lines)]
        source = random.Random(55)
        while len(cases) < COUNT:
            at = source.randrange(len(lines))
            line = bytearray(lines[at])
            line[source.randrange(len(line))] ^= 1 << source.randrange(7)
            cases.append([*lines[:at], bytes(line), *lines[at + 1:]])
        return [b"\n".join(case) + b"\n" for case in cases]

    # CO-55 (partly): rotations of the key, from every key that the log has had
    def test_rotations_are_followed_alike(self):
        self.corpus()
        self.good("keys", "rotate")
        self.good("keys", "rotate", "--compromised")
        file = self.write("rotated", self.good("ledger", "export").raw)
        outcomes = []
        for key in self.keys():
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([npm_peers.node(20), ROOT / "tests/e2e/console/verify_export.mjs", bundled(folder), key, file], text=True, capture_output=True, timeout=60)
            our = json.loads(done.stdout)
            their = json.loads(subprocess.run([BIN, "ledger", "verify", file, "--key", key, "--json"], capture_output=True, timeout=60, env=self.environment()).stdout)
            self.assertEqual(our["ok"], their["ok"], (key, our, their))
            outcomes.append(our["ok"])
            if not our["ok"]:
                self.assertEqual((our["fault"]["sequence"], our["fault"]["check"]), (their["first_bad"]["sequence"], their["first_bad"]["check"]))
        self.assertEqual(len(outcomes), 3)

    # CO-55 (partly): both report the same first bad sequence and the same check
    def test_both_verifiers_name_the_same_first_bad_sequence(self):
        files = [self.write(f"export-{i}", case) for i, case in enumerate(self.corpus())]
        key = self.keys()[0]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([npm_peers.node(20), ROOT / "tests/e2e/console/verify_export.mjs", bundled(folder), key, *files], text=True,
                                  capture_output=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        ours = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual((len(ours), ours[0]["ok"]), (len(files), True))
        checks = set()
        for file, our in zip(files, ours):
            said = subprocess.run([BIN, "ledger", "verify", file, "--key", key, "--json"], capture_output=True, timeout=60, env=self.environment()).stdout
            their = json.loads(said)
            bad = their.get("first_bad")
            self.assertEqual(our["ok"], their["ok"], (our, their))
            if our["ok"]:
                continue
            checks.add(our["fault"]["check"])
            if our["fault"]["sequence"] >= 0:  # the page has no line number for a file that is not UTF-8
                self.assertEqual((our["fault"]["sequence"], our["fault"]["check"]), (bad["sequence"], bad["check"]), (our, their))
        self.assertLessEqual({"entry_bytes", "missing_sequence", "root", "checkpoint_signature"}, checks)


class RangePageTest(BrowserTest, CliTest):
    # CO-55 (partly), CO-54: an export is checked from disk
    def test_the_page_checks_an_export_from_disk(self):
        page = self.write("verify.html", self.run_bare("verify", "--page").raw)
        self.make_ledger()
        good = self.good("ledger", "export").raw
        lines = good.splitlines()
        bad = b"\n".join(lines[:4] + lines[5:]) + b"\n"
        files = [str(self.write("good.jsonl", good)), str(self.write("bad.jsonl", bad))]
        self.context()
        found = self.run_page("""
            await page.goto(args.page); await page.fill('#key', args.key); await page.setInputFiles('#files', args.files);
            await page.click('button'); await page.waitForSelector('[data-range]');
            return await page.$$eval('section', all => all.map(one => [one.dataset.range, one.dataset.sequence, one.textContent]));""",
                              page=f"file://{page}", key=self.keys()[0], files=files)
        self.assertEqual([row[:2] for row in found], [["good", ""], ["bad", "4"]])
        self.assertIn(f"entries 0 to {len(lines) - 2} are those", found[0][2])
        seen = self.run_page("return [seen.errors, seen.violations, seen.requests]")
        self.assertEqual(seen, [[], [], [f"file://{page}"]])


class RangeWorkerTest(GateBase):
    CHECK = """
        await page.selectOption('[aria-label="Range"]', args.last); await page.click('[data-check-range]');
        await page.waitForSelector('[data-range]:not([data-range=running])');
        return await page.$eval('[data-range]', one => [one.dataset.range, Number(one.dataset.sequence ?? -1), one.textContent]);"""

    def gate_with_records(self, calls=700):
        self.make_ledger(calls)
        self.start()
        self.sign_in(path="proof", token=UMA)
        self.wait_for("() => document.querySelector('[data-check-range]')")

    # CO-55: a worker checks the range, the page stays usable, and the first bad record has its number
    def test_a_worker_checks_a_range_while_the_page_stays_usable(self):
        self.gate_with_records()
        size = int(self.server.ask("GET", "/api/v1/log/checkpoint", token=UMA)[2].split(b"\n")[1])
        self.assertGreater(size, 1300)
        for last in ("1000", "0"):
            found = self.run_page(self.CHECK, last=last)
            self.assertEqual(found[0], "good", found)
        self.assertIn("Records 0 to", found[2])
        # While the worker waits for the server, the page accepts input, and a stop ends the check.
        self.run_page("""
            await context.route('**/log/export**', () => {}); // never answered
            await page.click('[data-check-range]'); await page.waitForSelector('progress');
            await page.fill('input[name=entry]', '7'); await page.click('.bar button:has-text("Stop")'); await page.waitForSelector('[data-check-range]')""")
        self.assertEqual(self.run_page("return await page.$$eval('[data-range]', all => all.length)"), 0)
        # A server that falsifies one record in the middle of a part is detected, with the number of the record.
        liar = """
            await context.unrouteAll({behavior: 'ignoreErrors'});
            await context.route('**/log/export**', async route => {
              const here = route.request().url().replace('sallyport.localhost', '127.0.0.1'); // a name that only browsers know
              const response = await route.fetch({ url: here, headers: { Authorization: `Bearer ${args.token}` } }); const lines = (await response.text()).split('\\n');
              const at = lines.findIndex(line => line.includes(`"sequence":${args.sequence},`));
              if (at >= 0 && args.drop) lines.splice(at, 1);
              else if (at >= 0) lines[at] = lines[at].replace('"recorded_at":"2', '"recorded_at":"1');
              await route.fulfill({ response, body: lines.join('\\n') });
            });"""
        for sequence, drop in ((1100, False), (1200, True)):
            self.run_page(liar, sequence=sequence, drop=drop, token=UMA)
            found = self.run_page(self.CHECK, last="1000")
            self.assertEqual(found[:2], ["bad", sequence], found)
        self.run_page("await context.unrouteAll({behavior: 'ignoreErrors'})")
        self.assert_clean(self.origin)


if __name__ == "__main__":
    unittest.main()
