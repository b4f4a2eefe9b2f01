"""The facts beside a request, in a call and in its proof, before a real gate: each equals the output of the command line."""
import datetime
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from console_gate_test import ADA, GateBase, SERVER, UMA, digest  # noqa: E402
from cli_support import BIN, within  # noqa: E402
from serve_support import Server, Session  # noqa: E402

BO, CY = "token-of-bo-0123456789ab", "token-of-cy-0123456789ab"
POLICY = """version: 1
autonomy: {{tier: act_with_approval}}
approvals:
  hold_s: 50
  quorum: 2
  reviewers:
    - {{name: "user:ada", token: "{ada}", roles: [approver, viewer]}}
    - {{name: "user:bo", token: "{bo}", roles: [approver, viewer]}}
    - {{name: "user:uma", token: "{uma}", roles: [auditor, viewer]}}
    - {{name: "user:cy", token: "{cy}", roles: [controller]}}
rules:
  - {{id: look-first, then: ask, when: {{tool: write_file}}, message: look at it}}
  - {{id: no-shell, then: deny, when: {{tool: shell}}, message: never}}
"""


class FactsBase(GateBase):
    def start(self):
        self.effects = self.folder / "effects"
        self.write("policy.yaml", POLICY.format(ada=digest(ADA), bo=digest(BO), uma=digest(UMA), cy=digest(CY)))
        self.server = self.serve("policy: ./policy.yaml", (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        self.origin = f"http://sallyport.localhost:{self.server.url.port}"
        return Session(self.server)

    def api(self, path, token=ADA, method="GET", body=None):
        status, _, said = self.server.ask(method, "/api/v1/" + path, body, token=token)
        self.assertEqual(status, 200, said)
        return json.loads(said)

    def told(self, *words):
        done = subprocess.run([BIN, "--data-dir", self.data, *map(str, words), "--json"], capture_output=True, text=True, env=self.environment(), cwd=self.folder, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def asked(self):
        """Returns the waiting request in the form of the API."""
        for _ in range(400):
            items = self.api("approvals")["approvals"]
            if items:
                return items[0]
            time.sleep(0.05)
        self.fail("nothing waits")

    def answer(self, item, token, approved=True, **more):
        return self.api(f"approvals/{item['request_id']}/respond", token, "POST", {"approved": approved, "binding": item["binding"], **more})


class QuestionFactsTest(FactsBase):
    # CO-25, CO-28, CO-29, CO-30, CO-31, CO-32, CO-41: compares one request with the command line's output about it
    def test_all_that_stands_beside_a_question_is_what_the_command_line_says(self):
        session = self.start()
        first = self.call(session, {"path": "notes.txt", "text": "one\ntwo\nthree"})
        item = self.asked()
        self.answer(item, ADA)
        self.answer(item, BO, reason="fine by me")
        first.get(timeout=60)
        self.sign_in()
        self.wait_for("() => document.querySelector('.empty')")
        self.run_page("""
            await page.evaluate(() => new MutationObserver(() => { if (document.querySelector('[data-row]')) window.__shown ??= Date.now() })
              .observe(document.body, {childList: true, subtree: true}))""")
        second = self.call(session, {"path": "n\u043etes.txt\u202e", "text": "one\n2\nthree\n" + "long " * 4000})
        name = self.waiting()
        item = self.asked()
        recorded = datetime.datetime.fromisoformat(item["requested_at"].replace("Z", "+00:00")).timestamp()
        self.took = self.run_page("return await page.evaluate(() => window.__shown)") / 1000 - recorded
        self.run_page("await page.click('[data-row]'); await page.waitForSelector('pre.shown')")
        shown = self.cli("approvals", "show", name).out
        self.assertEqual(self.run_page("return await page.textContent('pre.shown')"), shown)
        self.assertEqual(shown.splitlines()[-1], "binding    " + item["binding"][7:15])
        marks = self.run_page("return await page.$$eval('mark', all => all.map(one => [one.className, getComputedStyle(one).borderStyle, one.title]))")
        self.assertLessEqual({"hidden", "lookalike", "truncated"}, {mark for mark, _, _ in marks})
        for mark, border, title in marks:
            self.assertTrue("solid" in border or "dashed" in border or "dotted" in border, (mark, border))
            self.assertTrue(title)
        facts = self.text(".facts")
        for member in ("/path", "/text", "- two", "+ 2"):
            self.assertIn(member, facts)
        score = self.told("trust", "show", item["agent_id"])[0]
        page = self.api(f"approvals/{name}")
        why = self.told("policy", "explain", json.dumps({"agent": item["agent_id"], "server": item["server"], "tool": "write_file", "input": {"path": "x", "text": "y"}}),
                        "--policy", "policy.yaml")[0]
        self.assertEqual(page["risk"]["class"], why["classification"]["effect_class"] if "effect_class" in why["classification"] else why["classification"]["class"])
        self.assertIn(f"class      {page['risk']['class']}", shown)
        self.assertEqual((page["agent"]["tier"], page["agent"]["counts"].get("success")), (score["effective_tier"], score["successes"]))
        for piece in (page["risk"]["class"], page["why"]["autonomy"], page["agent"]["tier"], f"{score['successes']} ", *page["risk"]["reach"]):
            self.assertIn(piece, facts)
        # Shows who has answered, who may still answer, and how many answers are missing.
        self.assertIn("0 of 2", facts)
        self.assertIn("user:ada, user:bo", facts)
        answered = time.time()
        self.answer(item, BO)
        self.wait_for("() => document.querySelector('.facts').textContent.includes('1 of 2')")
        self.answer_took = time.time() - answered
        self.assertIn("user:bo", self.text(".facts").split("1 of 2")[1])
        self.answer(item, ADA, approved=False, reason="not that one")
        second.get(timeout=60)
        self.wait_for("() => document.querySelector('.state')?.textContent === 'denied'")
        # Both are in the history, with reviewer, door, reason and result.
        self.run_page("await page.goto(args.url)", url=f"{self.origin}/console/approvals?view=history")
        self.wait_for("() => document.querySelectorAll('.history a').length === 2")
        for at, pieces in ((1, ("user:ada", "user:bo", "HTTP", "fine by me")), (0, ("user:ada", "HTTP", "not that one"))):
            self.run_page("await page.locator('.history a').nth(args.at).click(); await page.waitForSelector('article .facts')", at=at)
            self.wait_for("(given) => given.pieces.every(one => document.querySelector('.facts').textContent.includes(one))", pieces=pieces)
        # A person who may read but not answer sees a mark in place of masked text.
        self.call(session, {"path": "k.txt", "text": "key AKIAIOSFODNN7EXAMPLE"})
        item = self.asked()
        self.assertIn("masked", {part.get("mark") for part in self.api(f"approvals/{item['request_id']}", UMA)["shown"]["segments"]})
        self.assertLess(min(self.took, self.answer_took), within(1), "one of the two was on the screen within a second")
        self.assert_clean(self.origin)


class CallFactsTest(FactsBase):
    # CO-42, CO-43, CO-45, CO-46: lists and call pages of a real gate while it continues to write
    def test_calls_are_listed_filtered_and_told_step_by_step(self):
        session = self.start()
        for number in range(4):
            session.said("shell", {"command": ["true", str(number)]})
        self.sign_in(path="calls?tool=shell&order=asc", token=UMA)
        self.wait_for("() => document.querySelectorAll('tbody tr').length === 4 && location.search.includes('tree_size=')")
        url = self.run_page("return page.url()")
        rows = self.run_page("return await page.$$eval('tbody tr', all => all.map(one => one.textContent))")
        session.said("shell", {"command": ["true", "later"]})
        self.sign_in(path=url.split("/console/")[1], token=UMA)  # another browser of a person with the same roles
        self.wait_for("() => document.querySelectorAll('tbody tr').length > 0")
        self.assertEqual(self.run_page("return await page.$$eval('tbody tr', all => all.map(one => one.textContent))"), rows)
        # Next and previous stay within the filtered set, cut at the same size.
        self.run_page("await page.click('tbody tr:first-child a'); await page.waitForSelector('.timeline')")
        seen = [self.run_page("return new URL(page.url()).pathname")]
        for _ in range(6):
            link = self.run_page("const link = await page.$('.pager a:has-text(\"›\")'); if (!link) return false; await link.click(); return true")
            if not link:
                break
            self.wait_for("(given) => location.pathname !== given.last && location.pathname.endsWith(document.querySelector('h1 + p code')?.textContent)", last=seen[-1])
            seen.append(self.run_page("return new URL(page.url()).pathname"))
        self.assertEqual(len(set(seen)), 4, seen)
        # Every step comes from the records alone.
        call = seen[0].rsplit("/", 1)[1]
        record = self.told("ledger", "show", "--call", call, "--kind", "tool_audit")[-1]
        self.run_page("await page.goto(args.url); await page.waitForSelector('.timeline')", url=f"{self.origin}/console/calls/{call}")
        text = self.text(".timeline")
        sequence = self.api(f"entries?kind=tool_audit&call={call}", UMA)["items"][0]["sequence"]
        for guard in record["body"]["guards"]:
            self.assertIn(guard["guard"] if "guard" in guard else guard["name"], text)
        for piece in ("First door", "Second door", "Autonomy", "not reached", "no-shell", f"record {sequence}"):
            self.assertIn(piece, text)
        stages = self.run_page("return await page.$$eval('.timeline > li', all => all.map(one => one.dataset.stage ?? one.textContent.slice(0, 12)))")
        self.assertGreaterEqual(len(stages), 5)
        self.assert_clean(self.origin)


class MemoryTest(FactsBase):
    # CO-52, CO-53: a browser that has seen more entries detects a truncated log
    def test_a_log_that_was_cut_back_raises_an_alarm(self):
        session = self.start()
        session.said("shell", {"command": ["true"]})
        self.end_server(self.server)
        kept = self.folder / "kept"
        shutil.copytree(self.data, kept, ignore=shutil.ignore_patterns("*.sock"))
        port = self.server.url.port
        session = self.again(port)
        for number in range(3):
            session.said("shell", {"command": ["true", str(number)]})
        self.sign_in(path="proof")
        key = self.keys()[0]
        self.wait_for("() => document.querySelector('[data-memory=first]') && document.querySelector('[data-key=unproved]')")
        self.run_page("await page.fill('.facts > dd > input', args.key)", key=key)
        self.wait_for("() => document.querySelector('[data-key=proved]')")
        session.said("shell", {"command": ["true", "more"]})
        self.run_page("await page.reload()")
        self.wait_for("() => document.querySelector('[data-memory=continues]')")
        asked = [url for url in self.run_page("return seen.requests") if "/log/proof" in url]
        self.assertEqual(len(asked), 1)
        self.end_server(self.server)
        shutil.rmtree(self.data)
        shutil.copytree(kept, self.data)
        self.again(port)
        self.run_page("""
            await page.reload(); await page.fill('#token', args.token); await page.click('button[type=submit]'); await page.waitForSelector('header.top');""", token=ADA)
        self.wait_for("() => document.querySelector('[data-memory=alarm]')")
        self.assertIn("cut back", self.text("[data-memory=alarm]"))
        self.run_page("await page.reload()")
        self.wait_for("() => document.querySelector('[data-memory=alarm]')")

    # CO-53: a new log key once raised the alarm for a log with a different history
    def test_a_log_that_has_a_new_key_continues(self):
        session = self.start()
        session.said("shell", {"command": ["true"]})
        self.sign_in(path="proof")
        self.wait_for("() => document.querySelector('[data-memory=first]')")
        old = self.run_page("return await page.textContent('.facts > dd > code')")
        self.end_server(self.server)
        token = self.write("token", CY)
        token.chmod(0o600)
        self.good("keys", "rotate", "--token-file", token, "--name", "user:cy")
        Session(self.again_here()).said("shell", {"command": ["true", "more"]})
        self.run_page("await page.goto(args.url); await page.fill('#token', args.token); await page.click('button[type=submit]'); await page.waitForSelector('header.top')",
                      url=f"{self.origin}/console/proof", token=ADA)
        self.wait_for("() => document.querySelector('[data-memory=continues]')")
        self.assertNotEqual(self.run_page("return await page.textContent('.facts > dd > code')"), old)
        # If the key is not the person's, the page makes no statement about its memory.
        self.run_page("await page.fill('.facts > dd > input', args.key)", key=old)
        self.wait_for("() => document.querySelector('[data-key=wrong]') && document.querySelector('[data-memory=unchecked]')")

    def again_here(self):
        self.again(self.server.url.port)
        return self.server

    def again(self, port):
        """The same gate at the same address."""
        config = self.configure("policy: ./policy.yaml", (sys.executable, SERVER))
        config.write_text(config.read_text().replace("127.0.0.1:0", f"127.0.0.1:{port}"))
        self.server = Server(self, config, self.environment(EFFECTS=str(self.effects)))
        self.addCleanup(self.end_server, self.server)
        return Session(self.server)


class BannerTest(FactsBase):
    SHOWN = "() => document.querySelector('[data-banner=ledger_unwritable]')"

    def limit(self, size):
        """Limits the size of files that the gate may write, to simulate a full disk."""
        _, most = resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.server.process.pid, resource.RLIMIT_FSIZE, (size, most))

    # CO-64: while the ledger cannot write, every page reports that within two seconds of the refused call
    def test_every_page_says_that_the_ledger_cannot_write(self):
        session = self.start()
        session.said("shell", {"command": ["true"]})
        self.sign_in(path="calls")
        self.wait_for("() => document.querySelector('tbody tr')")
        took = []
        for turn in range(2):
            self.limit(4096)
            self.refused(session)
            failed = time.time()
            self.wait_for(self.SHOWN)
            took.append(time.time() - failed)
            if turn == 0:
                for path in ("approvals", "live", "proof", "agents", "policies", "tools", "grants", "health", "keys"):
                    self.run_page("await page.goto(args.url)", url=f"{self.origin}/console/{path}")
                    self.wait_for(self.SHOWN)
            self.limit(resource.RLIM_INFINITY)
            for _ in range(100):
                if self.refused(session) is None:
                    break
                time.sleep(0.1)
            self.wait_for("() => document.querySelector('header.top') && !document.querySelector('[data-banner=ledger_unwritable]')")
        self.assertLess(min(took), within(2))
        gaps = self.told("ledger", "verify", "--gaps")[0]["gaps"]
        self.assertEqual(self.api("log/gaps")["gaps"], gaps)

    @staticmethod
    def refused(session):
        """Returns the error of a call, or None if it was recorded."""
        try:
            said = session.said("shell", {"command": ["true"]})
            return said if "record" in said and "never" not in said else None
        except Exception as error:  # the answer of a gate that cannot record
            return repr(error)


if __name__ == "__main__":
    unittest.main()
