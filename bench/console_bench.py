#!/usr/bin/env python3
"""The budgets of the web console (CO-70): a large ledger, a real browser, and tool calls while ten consoles look.

   python3 bench/console_bench.py [--records 1000000] [--seconds 10] [--json]

Builds a ledger of that many records with `make_ledger`, starts a gate over it, and measures what a person waits for. Each line has its budget.
A release build on a machine that does nothing else gives figures that mean something; SALLYPORT_BIN and MAKE_LEDGER_BIN name the programs.
"""
import argparse
import gzip
import hashlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.environ.setdefault("SALLYPORT_BIN", str(ROOT / "build/bin/sallyport"))
os.environ.setdefault("MAKE_LEDGER_BIN", str(ROOT / "build/bin/make_ledger"))
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "tests/e2e/console")]
from browser_support import BrowserTest  # noqa: E402
from serve_support import ServeTest, Session  # noqa: E402

TOKEN = "token-of-vi-0123456789ab"
POLICY = """version: 1
autonomy: {{tier: act_auto}}
approvals:
  reviewers:
    - {{name: "user:vi", token: "sha256:{digest}", roles: [viewer, auditor, approver]}}
"""
# Slow 4G and a processor that is four times slower, as the browser's own tools have them.
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}


def p(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


class Bench(ServeTest, BrowserTest):
    options = None

    def runTest(self):
        self.lines = []
        calls = self.options.records // 2
        start = time.monotonic()
        subprocess.run([os.environ["MAKE_LEDGER_BIN"], self.data, str(calls), "1000"], check=True)
        self.note("ledger written, s", None, time.monotonic() - start)
        self.write("policy.yaml", POLICY.format(digest=hashlib.sha256(TOKEN.encode()).hexdigest()))
        self.server = self.serve("policy: ./policy.yaml")
        self.origin = f"http://sallyport.localhost:{self.server.url.port}"
        self.sizes()
        self.reads(calls)
        self.pages()
        self.news()
        self.proofs()
        self.beside_calls()
        for name, budget, measured in self.lines:
            if self.options.json:
                print(json.dumps({"name": name, "budget": budget, "measured": round(measured, 3), "ok": budget is None or measured <= budget}))
            else:
                print(f"{name:<58} {'' if budget is None else budget:>10} {measured:>12.2f} {'' if budget is None or measured <= budget else 'OVER'}")

    def note(self, name, budget, measured):
        self.lines.append((name, budget, measured))

    def get(self, path, headers=None):
        start = time.monotonic()
        status, _, said = self.server.ask("GET", "/api/v1/" + path, headers={"Content-Type": None, **(headers or {})}, token=TOKEN)
        if status != 200:
            raise RuntimeError(f"{path}: {status} {said[:200]}")
        return (time.monotonic() - start) * 1000, json.loads(said)

    def sizes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "console/build.sh", folder], check=True)
            packed = {file.name: len(gzip.compress(file.read_bytes(), 9)) for file in pathlib.Path(folder).iterdir() if file.suffix in (".js", ".css", ".html", ".json")}
        size = lambda *stems: sum(count for name, count in packed.items() if name.startswith(stems)) / 1000  # noqa: E731
        self.note("first load: script, KB", 60, size("app-", "worker-"))
        self.note("first load: style, KB", 10, size("style-"))
        self.note("first load: shell, KB", 2, size("shell"))
        self.note("verify.html, KB", 12, size("verify"))
        self.note("all embedded assets, KB", 300, sum(packed.values()) / 1000)

    def reads(self, calls):
        """Lists over the whole log. A jump is a page at any size of the tree."""
        source = random.Random(70)
        size = self.get("health")[1]["size"]
        jumps = [self.get(f"calls?limit=50&tree_size={source.randrange(200, size)}")[0] for _ in range(40) if not time.sleep(0.03)]
        self.note("jump to any row, p95 ms", 150, p(jumps, 0.95))
        facets = [self.get("calls?limit=50&" + urllib.parse.urlencode({name: value}))[0] for _ in range(10) for name, value in (("tool", "write_file"), ("agent", "agent-1"))
                  if not time.sleep(0.03)]
        self.note("filter by one facet, p95 ms", 300, p(facets, 0.95))
        rare = [self.get(f"calls?session=session-{source.randrange(calls // 10)}")[0] for _ in range(20) if not time.sleep(0.03)]
        self.note("filter by a rare value, p95 ms", 1000, p(rare, 0.95))

    def sign_in(self, path=""):
        self.context(viewport={"width": 1280, "height": 800})
        self.run_page("""
            await page.goto(args.url); await page.fill('#token', args.token); await page.click('button[type=submit]');
            await page.waitForSelector('header.top');""", url=f"{self.origin}/console/{path}", token=TOKEN)

    def paint(self):
        self.run_page("await page.reload(); await page.waitForSelector('header.top')")
        return self.run_page("return await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1)")

    def pages(self):
        self.sign_in("calls")
        self.note("first paint, loopback, ms", 300, statistics.median(self.paint() for _ in range(5)))
        self.run_page("""
            const cdp = context.cdp = await context.newCDPSession(page);
            await cdp.send('Network.enable'); await cdp.send('Network.emulateNetworkConditions', args.slow); await cdp.send('Emulation.setCPUThrottlingRate', {rate: 4})""", slow=SLOW)
        self.note("first paint, slow 4G with CPU/4, ms", 800, statistics.median(self.paint() for _ in range(3)))
        self.run_page("""
            await context.cdp.send('Network.emulateNetworkConditions', {...args.slow, latency: 0, downloadThroughput: -1, uploadThroughput: -1});
            await context.cdp.send('Emulation.setCPUThrottlingRate', {rate: 1}); await page.reload(); await page.waitForSelector('tbody tr')""", slow=SLOW)
        self.note("DOM elements of the list of calls", 500, self.run_page("return await page.evaluate(() => document.querySelectorAll('*').length)"))
        self.note("heap of the list of calls, MB", 50, self.run_page("return await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6)"))
        slow = self.run_page("""return await page.evaluate(() => new Promise(done => { let last = performance.now(), slow = 0, frames = 0;
            const next = now => { if (now - last > 34) slow++; last = now; window.scrollBy(0, 20); if (++frames === 120) done(slow); else requestAnimationFrame(next) };
            requestAnimationFrame(next) }))""")
        self.note("frames over 34 ms in 120", 5, slow)

    def news(self):
        """Records on the live screen: from the end of the call to the row."""
        self.sign_in("live")
        self.run_page("await page.waitForSelector('[data-live=open]')")
        session = Session(self.server)
        took = []
        for number in range(5):
            self.run_page("await page.evaluate(() => { window.__row = null; const first = document.querySelector('tbody tr')?.dataset.sequence; "
                          "new MutationObserver((_, watch) => { if (document.querySelector('tbody tr')?.dataset.sequence !== first) { window.__row = Date.now(); watch.disconnect() } })"
                          ".observe(document.body, {childList: true, subtree: true}) })")
            session.said("echo", {"message": str(number)})
            ended = time.time() * 1000
            for _ in range(200):
                if self.run_page("return await page.evaluate(() => window.__row)"):
                    break
            took.append(max(0, self.run_page("return await page.evaluate(() => window.__row)") - ended))
        self.note("record on screen after its call, median ms", 350, statistics.median(took))

    def proofs(self):
        self.sign_in("proof")
        self.run_page("await page.waitForSelector('[data-check-range]')")
        one = self.run_page("""
            const start = Date.now(); await page.fill('input[name=entry]', '9'); await page.click('form button[type=submit]'); await page.waitForSelector('[data-step=meaning]');
            return Date.now() - start""")
        self.note("one receipt fetched, verified and shown, ms", None, one)
        count = min(100_000, self.options.records)
        took = self.run_page("""
            await page.selectOption('[aria-label="Range"]', args.all ? '0' : '100000'); const start = Date.now(); await page.click('[data-check-range]');
            for (;;) { const state = await page.$eval('[data-range]', one => one.dataset.range).catch(() => 'running');
              if (state !== 'running') { if (state !== 'good') throw new Error(await page.textContent('[data-range]')); break } await page.waitForTimeout(50); }
            return Date.now() - start""", all=count < 100_000)
        self.note(f"{count} entries verified in the browser, s", 10 * count / 100_000, took / 1000)

    def beside_calls(self):
        """p99 of tool calls alone and while ten consoles query, in turns."""
        session = Session(self.server)

        def measured():
            took, end = [], time.monotonic() + self.options.seconds
            while time.monotonic() < end:
                start = time.monotonic()
                session.said("echo", {"message": "hello"})
                took.append((time.monotonic() - start) * 1000)
            return took
        alone, beside = [], []
        for _ in range(2):
            alone += measured()
            done = threading.Event()

            def look():
                while not done.wait(0.25):
                    for path in ("calls?limit=50", "approvals", "health"):
                        self.server.ask("GET", "/api/v1/" + path, headers={"Content-Type": None}, token=TOKEN)
            threads = [threading.Thread(target=look, daemon=True) for _ in range(10)]
            for thread in threads:
                thread.start()
            beside += measured()
            done.set()
            for thread in threads:
                thread.join(30)
        self.note("/mcp alone, p99 ms", None, p(alone, 0.99))
        self.note("/mcp while ten consoles query, p99 ms", 1.1 * p(alone, 0.99), p(beside, 0.99))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--json", action="store_true")
    Bench.options = parser.parse_args()
    for program in (os.environ["SALLYPORT_BIN"], os.environ["MAKE_LEDGER_BIN"]):
        if not os.access(program, os.X_OK):
            sys.exit(f"console_bench: there is no `{program}`; `make bench` builds it")
    outcome = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite([Bench()]))
    sys.exit(0 if outcome.wasSuccessful() else 1)
