#!/usr/bin/env python3
"""The budgets of the web console (CO-70): a large ledger, a real browser, and tool calls while ten consoles look.

   python3 bench/console_bench.py [--records 1000000] [--seconds 10] [--ledger FOLDER] [--only PART,PART] [--json]

Builds a ledger of that many records with `make_ledger`, starts a gate over it, and measures the times a person waits. Each line has its budget.
With --ledger the folder is kept, and the next run uses it again. Parts are sizes, reads, pages, editor, news, proofs and calls.
Use a release build on an idle machine for meaningful figures; SALLYPORT_BIN and MAKE_LEDGER_BIN name the programs.
"""
import argparse
import datetime
import gzip
import hashlib
import http.client
import json
import multiprocessing
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
AGENTS = {"calls": "token-of-calls-0123456789", "asks": "token-of-asks-01234567890"}
POLICY = """version: 1
autonomy: {{tier: act_auto, agent_tiers: {{"agent:asks": act_with_approval, asks: act_with_approval}}}}
approvals:
  reviewers:
    - {{name: "user:vi", token: "sha256:{digest}", roles: [viewer, auditor, approver, controller]}}
"""
PAUSE = 0.25  # seconds between two polls of a console
SETTLE = 0.3  # seconds until a start or an end has taken effect
ROUNDS = 10  # of calls alone and beside consoles, in turns, so that both run under the same load
# Slow 4G and a processor that is four times slower, as browser developer tools define them.
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1.6e6 / 8, "uploadThroughput": 0.75e6 / 8}


def p(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def processor_seconds(root):
    """Returns the processor time of a process and all its children, which does not depend on the load of the machine."""
    parents, used = {}, {}
    for file in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(file.parent.name)] = int(fields[1])
        used[int(file.parent.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descends(pid):
        while pid and pid != root:
            pid = parents.get(pid, 0)
        return pid == root
    return sum(seconds for pid, seconds in used.items() if descends(pid))


def milliseconds(time_text):
    return datetime.datetime.fromisoformat(time_text.replace("Z", "+00:00")).timestamp() * 1000


LOOKS = ("/api/v1/calls?limit=40", "/api/v1/approvals", "/api/v1/health")


def look(host, port, paths):
    """Runs ten consoles, each on a kept-alive connection, until the process is ended. Real consoles run on other machines, so their work here yields to
    the gate and its caller, which share this one."""
    os.nice(19)

    def one():
        connection = http.client.HTTPConnection(host, port, timeout=60)
        time.sleep(random.uniform(0, PAUSE))  # people do not poll in step
        while True:
            for path in paths:
                connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
                connection.getresponse().read()
            time.sleep(PAUSE)
    threads = [threading.Thread(target=one, daemon=True) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Bench(ServeTest, BrowserTest):
    options = None

    def runTest(self):
        calls = self.options.records // 2
        if self.options.ledger:
            self.data = pathlib.Path(self.options.ledger).resolve()
            self.CONFIG = self.CONFIG.replace("data_dir: data", f"data_dir: {self.data}")
        if not (self.data / "ledger.db").exists():
            start = time.monotonic()
            subprocess.run([os.environ["MAKE_LEDGER_BIN"], self.data, str(calls), "1000"], check=True)
            os.sync()  # pending disk writes of the build are no cost of a call
            self.note("ledger written, s", None, time.monotonic() - start)
        self.write("policy.yaml", POLICY.format(digest=hashlib.sha256(TOKEN.encode()).hexdigest()))
        agents = ", ".join(f"{{name: {name}, token_sha256: {hashlib.sha256(token.encode()).hexdigest()}}}" for name, token in AGENTS.items())
        self.server = self.serve(f"policy: ./policy.yaml\n  agents: [{agents}]\n  console: {{policies: propose}}")
        self.origin = f"http://sallyport.localhost:{self.server.url.port}"
        parts = {"sizes": self.sizes, "reads": lambda: self.reads(calls), "pages": self.pages, "editor": self.editor, "news": self.news, "proofs": self.proofs, "calls": self.beside_calls}
        for name in self.options.only.split(",") if self.options.only else parts:
            parts[name]()

    def note(self, name, budget, measured):
        good = budget is None or measured <= budget
        if self.options.json:
            print(json.dumps({"name": name, "budget": budget, "measured": round(measured, 3), "ok": good}), flush=True)
        else:
            print(f"{name:<58} {'' if budget is None else round(budget, 2):>10} {measured:>12.2f} {'' if good else 'OVER'}", flush=True)

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
        """Measures lists over the whole log. A jump reads one page at any size of the tree."""
        source = random.Random(70)
        size = self.get("health")[1]["size"]
        jumps = [self.get(f"calls?limit=50&tree_size={source.randrange(200, size)}")[0] for _ in range(40) if not time.sleep(0.03)]
        self.note("jump to any row, p95 ms", 150, p(jumps, 0.95))
        facets = [self.get("calls?limit=50&" + urllib.parse.urlencode({name: value}))[0] for _ in range(10) for name, value in (("tool", "write_file"), ("agent", "agent-1"))
                  if not time.sleep(0.03)]
        self.note("filter by one facet, p95 ms", 300, p(facets, 0.95))
        rare = [self.get(f"calls?session=session-{source.randrange(calls // 10)}")[0] for _ in range(20) if not time.sleep(0.03)]
        self.note("filter by a rare value, p95 ms", 1000, p(rare, 0.95))
        # A search without an index scans the log, and the answer states how far it went.
        self.note("filter by a text that no call has, one part, longest ms", 1000, max(self.get(f"calls?text={text}")[0] for text in ("nothing", "says", "this-text")))
        self.note("filter by a verdict that no call has, longest ms", 1000, max(self.get(f"calls?verdict={verdict}")[0] for verdict in ("withheld", "asks", "unknown")))

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

    def editor(self):
        """Measures from the last key press to the error beside its line (CO-59)."""
        self.sign_in("policies")
        self.run_page("await page.click('a:text-is(\"Edit the policy\")'); await page.waitForSelector('[data-valid=true]')")
        took = self.run_page("""
            await page.evaluate(() => { const findings = document.querySelector('#findings'), area = document.querySelector('textarea[name=policy]');
              new MutationObserver(() => { if (findings.dataset.valid === 'false') window.__seen ??= performance.now() }).observe(findings, {attributes: true});
              area.addEventListener('input', () => { window.__typed = performance.now() }) });
            await page.focus('textarea[name=policy]'); await page.keyboard.press('Control+End');
            await page.keyboard.insertText('nonsense: 1\\n'); await page.waitForSelector('[data-valid=false]');
            return await page.evaluate(() => window.__seen - window.__typed)""")
        self.note("error of a policy on screen after typing, ms", 300, took)

    def news(self):
        """Measures from the ledger's time of an entry to its display on the screen. Both clocks are this machine's."""
        self.sign_in("live")
        self.run_page("await page.waitForSelector('[data-live=open]')")
        calls, took = Session(self.server, token=AGENTS["calls"]), []
        for number in range(10):
            self.watch("tbody tr:first-child")
            calls.said("echo", {"message": str(number)})
            took.append(self.until_seen() - milliseconds(self.get("entries?limit=1")[1]["items"][0]["recorded_at"]))
        self.note("record on screen after its entry, median ms", 100, statistics.median(took))
        newest = self.get("health")[1]["size"]
        self.watch(f"tbody tr[data-sequence='{newest + 999}']")
        writer = subprocess.Popen([os.environ["MAKE_LEDGER_BIN"], self.data, "500", "500"])
        while self.get("health")[1]["size"] < newest + 1000:
            time.sleep(0.02)
        written = time.time() * 1000
        self.note("1,000 records at once: on screen after they are written, ms", 250, max(0, self.until_seen() - written))
        writer.wait(60)
        self.sign_in("approvals")
        self.run_page("await page.mouse.move(5, 5)")  # a list under the pointer does not move
        took = []
        known = len(self.get("approvals?state=pending")[1]["approvals"])
        for number in range(known, known + 5):
            self.watch("[data-row]")
            asks = Session(self.server, token=AGENTS["asks"])
            threading.Thread(target=asks.call, args=("echo", {"message": f"question {number}"}), daemon=True).start()
            for _ in range(200):
                waiting = self.get("approvals?state=pending")[1]["approvals"]
                if len(waiting) > number:
                    break
                time.sleep(0.02)
            took.append(self.until_seen() - milliseconds(max(one["requested_at"] for one in waiting)))
        self.note("question on screen after its event, median ms", 100, statistics.median(took))

    def watch(self, selector):
        """Records the time when a new entry matches."""
        self.run_page("""await page.evaluate(selector => { const state = () => [...document.querySelectorAll(selector)].map(one => one.dataset.sequence ?? one.dataset.row).join();
            const before = state(); window.__seen = null; window.__watch?.disconnect();
            window.__watch = new MutationObserver(() => { if (state() !== before) requestAnimationFrame(() => { window.__seen ??= Date.now() }) });
            window.__watch.observe(document.body, {childList: true, subtree: true}) }, args.selector)""", selector=selector)

    def until_seen(self):
        for _ in range(500):
            seen = self.run_page("return await page.evaluate(() => window.__seen)")
            if seen:
                return seen
            time.sleep(0.02)
        raise RuntimeError("it never came to the screen")

    def proofs(self):
        self.sign_in("proof")
        self.run_page("await page.waitForSelector('[data-check-range]')")
        one = self.run_page("""
            const start = Date.now(); await page.fill('input[name=entry]', '9'); await page.click('form button[type=submit]'); await page.waitForSelector('[data-step=meaning]');
            return Date.now() - start""")
        self.note("one receipt fetched, verified and shown, ms", None, one)
        self.receipts()
        count = min(100_000, self.options.records)
        before = [processor_seconds(pid) for pid in (self.browser.process.pid, self.server.process.pid)]
        took = self.run_page("""
            await page.selectOption('[aria-label="Range"]', args.all ? '0' : '100000'); const start = Date.now(); await page.click('[data-check-range]');
            for (;;) { const state = await page.$eval('[data-range]', one => one.dataset.range).catch(() => 'running');
              if (state !== 'running') { if (state !== 'good') throw new Error(await page.textContent('[data-range]')); break } await page.waitForTimeout(50); }
            return Date.now() - start""", all=count < 100_000)
        self.note(f"{count} entries verified in the browser, s", 10 * count / 100_000, took / 1000)
        after = [processor_seconds(pid) for pid in (self.browser.process.pid, self.server.process.pid)]
        self.note("  of that processor time of the browser, s", None, after[0] - before[0])
        self.note("  of that processor time of the gate, s", None, after[1] - before[1])

    def receipts(self):
        """Verifies a hundred receipts in `verify.html`, from disk, and returns the time of one."""
        page = self.write("verify.html", subprocess.run([os.environ["SALLYPORT_BIN"], "verify", "--page"], check=True, capture_output=True, text=True).stdout)
        key = next(one["key"] for one in self.get("log/keys")[1]["keys"])
        texts = []
        for number in range(100):
            time.sleep(0.03)  # a session may send at most 50 requests a second
            texts.append(json.dumps(self.get(f"entries/{1000 + number}/receipt")[1]))
        console = self.page
        self.context()
        took = self.run_page("""
            await page.goto(args.page); await page.fill('#key', args.key); await page.fill('#text', args.text);
            return await page.evaluate(() => new Promise(done => { const start = performance.now();
              new MutationObserver(() => { const all = document.querySelectorAll('[data-ok=true]').length; if (all === 100) done(performance.now() - start) })
                .observe(document.body, {childList: true, subtree: true});
              document.querySelector('button').click() }))""", page=f"file://{page}", key=key, text="[" + ",".join(texts) + "]")
        self.note("one receipt verified in the browser, ms", 5, took / 100)
        self.page = console

    def beside_calls(self):
        """p99 of tool calls alone, beside ten clients that ask for nothing to read, and while ten consoles query, in turns. The clients in the middle
        show what programs cost that share the machine with the gate, whatever they ask for."""
        session = Session(self.server, token=AGENTS["calls"], keep=True)

        def measured(paths):
            consoles = None
            if paths:  # runs in its own process, so that it shares only the machine with the measured client
                consoles = multiprocessing.get_context("fork").Process(target=look, args=(self.server.url.hostname, self.server.url.port, paths), daemon=True)
                consoles.start()
            time.sleep(SETTLE)
            took, end = [], time.monotonic() + self.options.seconds / ROUNDS
            while time.monotonic() < end:
                start = time.monotonic()
                session.said("echo", {"message": "hello"})
                took.append((time.monotonic() - start) * 1000)
            if consoles:
                consoles.terminate()
                consoles.join(30)
            return took
        beside = {"alone": (), "beside ten idle clients": ("/healthz",) * len(LOOKS), "while ten consoles query": LOOKS}
        took = {name: [] for name in beside}
        for _ in range(ROUNDS):
            for name, paths in beside.items():
                took[name] += measured(paths)
        for name, times in took.items():
            self.note(f"/mcp {name}, median ms", None, statistics.median(times))
        for name, times in took.items():
            self.note(f"/mcp {name}, p99 ms", 1.1 * p(took["alone"], 0.99) if beside[name] is LOOKS else None, p(times, 0.99))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--ledger", metavar="FOLDER")
    parser.add_argument("--only", metavar="PARTS")
    parser.add_argument("--json", action="store_true")
    Bench.options = parser.parse_args()
    for program in (os.environ["SALLYPORT_BIN"], os.environ["MAKE_LEDGER_BIN"]):
        if not os.access(program, os.X_OK):
            sys.exit(f"console_bench: there is no `{program}`; `make bench` builds it")
    outcome = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite([Bench()]))
    sys.exit(0 if outcome.wasSuccessful() else 1)
