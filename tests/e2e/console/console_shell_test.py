"""The shell of the console in a real browser: sign-in, policy, languages, colours, sizes, the banner."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from browser_support import ROOT  # noqa: E402
from console_pages_support import PagesTest, PHONE, WIDE  # noqa: E402
from fake_gate import question, with_calls, with_controls, with_log  # noqa: E402
import npm_peers  # noqa: E402

TYPES = npm_peers.Peers("console-types", {"typescript": "7.0.2", "preact": "11.2.0", "@preact/signals": "2.11.4"})
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script></pre><style>*{display:none}</style>\u202e\u2066"


def screens(gate):
    """Prepares every screen with the data that it needs to show something."""
    gate.put(question(1, tool=HOSTILE, command=HOSTILE))
    gate.put(question(2, state="denied"))
    with_calls(gate, HOSTILE)
    with_log(gate)
    with_controls(gate, HOSTILE)
    name = urllib.parse.quote(HOSTILE, safe="")
    gate.roles = ["approver", "viewer", "controller"]
    return ["agents", "agents/" + name, "tools", "tools/" + urllib.parse.quote("files/" + HOSTILE, safe=""), "grants", "grants/g-root", "policies",
            "policies/sha256%3A" + "a" * 64 + "?with=sha256%3A" + "b" * 64, "policies/edit", "approvals", "approvals/apr_1", "approvals?view=history", "approvals/apr_2?view=history", "approvals?view=batch", "calls", "calls/c1", "live", "proof?entry=0",
            "health", "nowhere"]


class SignInTest(PagesTest):
    # CO-15 (partly): the fragment leaves the address bar and is sent once
    def test_a_link_signs_in_once(self):
        gate = self.gate()
        self.context()
        self.run_page("await page.goto(args.url); await page.waitForSelector('header.top')", url=gate.url + "approvals#once=one-time")
        self.assertEqual(self.run_page("return [page.url(), await page.evaluate(() => history.length)]")[0], gate.url + "approvals")
        self.assertEqual([body for method, path, _, body in gate.seen if path.endswith("session/link")], ['{"once":"one-time"}'])
        self.assertFalse([path for _, path, _, _ in gate.seen if "one-time" in path])
        self.context()
        self.run_page("await page.goto(args.url); await page.waitForSelector('.failed')", url=gate.url + "#once=one-time")
        self.assertIn("used already", self.text(".failed"))
        self.assertNotIn("once", self.run_page("return page.url()"))

    # CO-17 (partly)
    def test_a_token_is_afterwards_in_no_storage_and_no_address(self):
        gate = self.gate()
        self.enter(gate)
        kept = self.run_page("""
            return [page.url(), await page.evaluate(() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, document.documentElement.outerHTML, history.state])),
                    JSON.stringify(await context.cookies())]""")
        self.assertFalse([text for text in kept if gate.token in text])
        self.assertFalse([path for _, path, headers, _ in gate.seen if gate.token in path or gate.token in str(headers)])
        self.assertIn(gate.secret, kept[1])

    # CO-11 (partly): every request carries the page secret once there is one; before that the page asks for the sign-in methods
    def test_requests_carry_the_page_secret_and_writes_say_json(self):
        gate = self.gate()
        gate.put(question(1))
        self.enter(gate, "approvals/apr_1")
        self.wait_for("() => document.querySelector('article')")
        wanted = {f"/api/v1/{path}" for path in ("session", "health", "approvals", "approvals/apr_1")}
        end = time.monotonic() + 60
        while wanted - {path.partition("?")[0] for _, path, _, _ in gate.seen}:
            self.assertLess(time.monotonic(), end, [path for _, path, _, _ in gate.seen])
            time.sleep(0.02)
        without = [path for _, path, headers, _ in gate.seen
                   if path.startswith("/api/v1/") and "/session/" not in path and headers.get("X-Sallyport-Page") != gate.secret]
        self.assertEqual(without, ["/api/v1/session"])

    # The refusal of the request for the sign-in methods, if it came late, ended the session that had begun meanwhile.
    def test_a_late_refusal_from_before_the_sign_in_does_not_end_the_session(self):
        gate = self.gate()
        gate.slow["refusal"] = 1.5
        self.enter(gate)
        self.wait_for("() => performance.now() > 3000")
        self.assertTrue(self.run_page("return await page.isVisible('header.top')"))

    def test_a_wrong_token_and_an_ended_session_say_so(self):
        gate = self.gate()
        self.context()
        self.run_page("await page.goto(args.url); await page.fill('#token', 'wrong'); await page.click('button[type=submit]'); await page.waitForSelector('.failed')", url=gate.url)
        self.assertIn("No one is registered", self.text(".failed"))
        self.run_page("await page.fill('#token', args.token); await page.click('button[type=submit]'); await page.waitForSelector('header.top')", token=gate.token)
        gate.signed_in = False
        gate.put(question(1))
        self.run_page("await page.waitForSelector('#token')")
        self.assertIn("session has ended", self.text(".failed"))
        self.assertIsNone(self.run_page("return await page.evaluate(() => localStorage.getItem('sallyport.page'))"))

    def test_a_reload_stays_signed_in_and_signing_out_forgets(self):
        gate = self.gate()
        self.enter(gate)
        self.run_page("await page.reload(); await page.waitForSelector('header.top'); await page.click('text=Sign out'); await page.waitForSelector('#token')")
        self.assertFalse(gate.signed_in)
        self.assertIsNone(self.run_page("return await page.evaluate(() => localStorage.getItem('sallyport.page'))"))

    # CO-23 (partly): over plain http under another name there is no field for a token
    def test_without_tls_there_is_no_login(self):
        gate = self.gate()
        self.context()
        self.run_page("await context.addInitScript(() => Object.defineProperty(window, 'isSecureContext', {value: false})); await page.goto(args.url); await page.waitForSelector('[data-no-tls]')",
                      url=gate.url + "#once=one-time")
        self.assertEqual(self.run_page("return await page.$$eval('input', all => all.length)"), 0)
        self.assertFalse([path for _, path, _, _ in gate.seen if "/session" in path])


class LookTest(PagesTest):
    # CO-5, CO-2 (partly): hostile text stays text on every screen, breaks no policy, and causes no request to another origin
    def test_a_walk_through_every_screen_breaks_no_policy(self):
        gate = self.gate()
        paths = screens(gate)
        self.enter(gate)
        for path in paths:
            self.run_page("await page.goto(args.url); await page.waitForSelector('main')", url=gate.url + path)
            self.wait_for("() => !document.body.textContent.includes('Loading')")
            self.assertEqual(self.run_page("return await page.$$eval('main img, main script, main style', all => all.length)"), 0, path)
            self.assert_clean(f"http://sallyport.localhost:{gate.port}/")
        self.run_page("await page.goto(args.url); await page.waitForSelector('article')", url=gate.url + "approvals/apr_1")
        self.assertIn("<script>alert(2)</script>", self.text("article"))
        self.assertNotIn("\u202e", self.text("article header"))

    # CO-3 (partly): the one Trusted Types policy makes only the URL of the worker, and no script makes another policy
    def test_the_trusted_types_policy_makes_the_url_of_the_worker_alone(self):
        gate = self.gate()
        self.context()
        self.run_page("""
            await page.addInitScript(() => { const make = TrustedTypePolicyFactory.prototype.createPolicy;
              TrustedTypePolicyFactory.prototype.createPolicy = function (name, rules) { const policy = make.call(this, name, rules); (window.__made ??= []).push([name, policy]); return policy } });
            await page.goto(args.url); await page.waitForSelector('#token')""", url=gate.url)
        worker = next(gate.files.glob("worker-*.js")).name
        made = self.run_page("""return await page.evaluate(worker => {
            const tried = work => { try { return String(work()) } catch (error) { return error.name } };
            const [name, policy] = window.__made[0];
            return [window.__made.length, name, tried(() => policy.createScriptURL(worker)), tried(() => policy.createScriptURL('/console/other.js')), tried(() => policy.createScriptURL('https://evil.example/w.js')),
              tried(() => policy.createHTML('<b>')), tried(() => policy.createScript('1')), tried(() => trustedTypes.createPolicy('other', {})), tried(() => trustedTypes.createPolicy('sallyport', {})),
              tried(() => { document.body.innerHTML = '<b>' })] }, args.worker)""", worker="/console/" + worker)
        self.assertEqual(made, [1, "sallyport", "/console/" + worker] + ["TypeError"] * 7)

    # CO-5: hostile text in every field that a gate sends, except times and ids that form addresses.
    def test_hostile_text_in_every_field_is_text(self):
        own = {"at", "time", "since", "until", "request_id", "call_id", "grant_id", "binding", "hash", "key", "schema", "cursor", "next", "prev", "parent"}

        def hostile(value, name=""):
            if isinstance(value, dict):
                return {key: hostile(one, key) for key, one in value.items()}
            if isinstance(value, list):
                return [hostile(one, name) for one in value]
            is_own = name in own or name.endswith(("_at", "_time", "_hash", "_id", "_digest"))
            return value + HOSTILE if isinstance(value, str) and not is_own and not value.startswith("2026-") else value
        gate = self.gate()
        paths = screens(gate)
        gate.extra.update({path: hostile(body) for path, body in gate.extra.items() if isinstance(body, dict)})
        for number in (3, 4):
            item, page = question(number)
            gate.put((hostile(item), {**hostile(page), "state": "pending"}))
        self.enter(gate)
        for path in [*paths, "approvals/apr_3"]:
            self.run_page("await page.goto(args.url); await page.waitForSelector('main')", url=gate.url + path)
            self.wait_for("() => !document.body.textContent.includes('Loading')")
            self.assertEqual(self.run_page("return await page.$$eval('main img, main script, main style', all => all.length)"), 0, path)
            self.assertGreater(len(self.text("main").strip()), 10, path)
            with self.subTest(path):  # the gate sends the subject of a request with its hidden characters marked (CO-29)
                self.assertNotIn("\u202e", self.run_page("""return await page.$eval('main', main => { const copy = main.cloneNode(true);
                  copy.querySelectorAll('article pre, [data-card] pre').forEach(one => one.remove()); return copy.textContent })"""))
            self.assert_clean(f"http://sallyport.localhost:{gate.port}/")

    # CO-68 (partly)
    def test_no_screen_has_an_axe_violation(self):
        for colours in ({"colorScheme": "light"}, {"colorScheme": "dark"}, {"forcedColors": "active"}, {"viewport": {"width": 320, "height": 640}}):
            gate = self.gate()
            paths = screens(gate)
            gate.tell_health(banner=[{"kind": "fail_open", "since": "2026-11-16T20:00:00.000000Z", "detail": "guard pii"}])
            self.context(**{**WIDE, **colours})
            self.run_page("await page.goto(args.url); await page.waitForSelector('#token')", url=gate.url)
            self.assertEqual(self.axe(), [], ("login", colours))
            self.run_page("await page.fill('#token', args.token); await page.click('button[type=submit]'); await page.waitForSelector('header.top')", token=gate.token)
            for path in paths:
                self.run_page("await page.goto(args.url); await page.waitForSelector('.banner')", url=gate.url + path)
                self.wait_for("() => !document.body.textContent.includes('Loading')")
                self.assertEqual(self.axe(), [], (path, colours))
                wide = self.run_page("return await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)")
                self.assertEqual(wide, 0, (path, colours))

    # CO-68 (partly): forced colours show a transparent border, so every screen once looked selected
    def test_what_is_chosen_stands_out_in_forced_colours(self):
        gate = self.gate()
        gate.put(question(1))
        gate.put(question(2))
        self.enter(gate, forcedColors="active")
        self.open("apr_1", wait=0)
        for chosen, other, side in ((".top nav [aria-current]", ".top nav a:not([aria-current])", "borderBottomColor"), (".tabs [aria-current]", ".tabs a:not([aria-current])", "borderBottomColor"),
                                    (".row[aria-current]", ".row:not([aria-current])", "borderInlineStartColor")):
            colours = self.run_page("""return await page.evaluate(({chosen, other, side}) => [...[chosen, other].map(one => getComputedStyle(document.querySelector(one))[side]),
                getComputedStyle(document.body).backgroundColor], args)""", chosen=chosen, other=other, side=side)
            self.assertEqual((colours[0] != colours[2], colours[1] == colours[2]), (True, True), (other, colours))

    # CO-69 (partly): a selection shows its whole text
    def test_no_choice_is_clipped(self):
        for language in ("en", "uk"):
            gate = self.gate()
            with_calls(gate)
            self.enter(gate)
            self.run_page("await page.evaluate(one => localStorage.setItem('sallyport.language', one), args.language); await page.goto(args.url); await page.waitForSelector('.filters')",
                          language=language, url=gate.url + "calls")
            clipped = self.run_page("""return await page.$$eval('.filters select', all => all.filter(one => { const copy = one.cloneNode(true); copy.style.inlineSize = 'max-content'; one.parentNode.append(copy);
                const wide = copy.offsetWidth; copy.remove(); return wide > one.offsetWidth + 1 }).map(one => one.value))""")
            self.assertEqual(clipped, [], language)

    # CO-69 (partly)
    def test_a_language_that_is_longer_overflows_nowhere(self):
        gate = self.gate()
        paths = screens(gate)
        for size in (PHONE, WIDE, {"viewport": {"width": 320, "height": 640}}):
            self.enter(gate, context=size)
            self.run_page("await page.evaluate(() => localStorage.setItem('sallyport.language', 'pseudo'))")
            for path in paths:
                self.run_page("await page.goto(args.url); await page.waitForSelector('main')", url=gate.url + path)
                self.wait_for("() => document.querySelector('header.top')")
                over = self.run_page("""
                    return await page.evaluate(() => [document.documentElement.scrollWidth - document.documentElement.clientWidth,
                      ...[...document.querySelectorAll('button, .top a, .tabs a, .notice')].filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)])""")
                self.assertEqual(over, [0], (path, size))

    # CO-69 (partly): on a phone a table of six columns becomes cards, one for each row, and each cell shows its label
    def test_rows_are_cards_on_a_phone(self):
        gate = self.gate()
        screens(gate)
        self.enter(gate, context=PHONE)
        for path in ("calls", "tools", "grants", "agents", "policies", "health"):
            self.run_page("await page.goto(args.url); await page.waitForSelector('.scroll tbody td')", url=gate.url + path)
            cells = self.run_page("""return await page.$$eval('.scroll tbody td', all => all.filter(one => one.textContent && one.checkVisibility())
                .map(one => [one.clientWidth, one.dataset.label, getComputedStyle(one, '::before').content]))""")
            self.assertGreater(len(cells), 2, path)
            self.assertGreater(min(width for width, _, _ in cells), 320, path)
            titled = [(label, before) for _, label, before in cells if label]
            self.assertGreaterEqual(len(titled), 2, path)
            for label, before in titled:
                self.assertIn(label, before, path)
            header = self.run_page("return await page.$eval('header.top', one => one.offsetHeight)")
            self.assertLessEqual(header, 110, path)

    # CO-69 (partly)
    def test_the_language_can_be_changed_and_is_kept(self):
        gate = self.gate()
        gate.put(question(1))
        self.enter(gate)
        self.run_page("await page.click('text=Українською')")
        self.wait_for("() => document.querySelector('nav').textContent.includes('Погодження')")
        self.run_page("await page.reload(); await page.waitForSelector('header.top')")
        self.assertEqual(self.run_page("return await page.evaluate(() => document.documentElement.lang)"), "uk")
        self.assertIn("Очікують", self.text(".tabs"))

    # CO-64 (partly)
    def test_the_banner_follows_the_state_of_the_gate(self):
        gate = self.gate()
        self.enter(gate)
        self.wait_for("() => document.querySelector('.banners')?.textContent === ''")
        gate.tell_health(banner=[{"kind": "ledger_unwritable", "since": "2026-11-16T20:00:00.000000Z", "detail": "no space"}])
        self.wait_for("() => document.querySelector('[data-banner=ledger_unwritable]')?.textContent.includes('no space')")
        gate.tell_health(banner=[])
        self.wait_for("() => !document.querySelector('[data-banner]')")

    # CO-67 (partly): a person whose role does not open the first screen once landed on "There is no such page"
    def test_a_person_lands_on_the_first_screen_that_their_role_opens(self):
        for role, name, other in (("auditor", "Calls", "approvals"), ("controller", "Health", "calls"), ("approver", "Approvals", "live")):
            gate = self.gate()
            with_calls(gate)
            gate.roles = [role]
            self.enter(gate)
            self.wait_for("(given) => document.querySelector('.top nav [aria-current]')?.textContent === given.name", name=name)
            self.assertNotIn("no such page", self.text("main"))
            self.run_page("await page.goto(args.url); await page.waitForSelector('main .empty')", url=gate.url + other)
            self.assertIn("Your role cannot open this page", self.text("main"))
            self.run_page("await page.goto(args.url); await page.waitForSelector('main .empty')", url=gate.url + "nowhere")
            self.assertIn("There is no such page", self.text("main"))

    def test_a_gate_that_serves_questions_alone_offers_no_other_screen(self):
        gate = self.gate()
        gate.health = None
        gate.serves_stream = False
        gate.put(question(1))
        self.enter(gate)
        self.wait_for("() => document.querySelectorAll('.top nav a').length === 1")
        self.wait_for("() => document.querySelector('[data-row=apr_1]')")

    # CO-8, with the headers of console_delivery_test.py
    def test_after_an_upgrade_the_page_says_so_and_keeps_what_was_typed(self):
        gate = self.gate()
        gate.put(question(1))
        self.enter(gate)
        self.open("apr_1", wait=0)
        self.run_page("await page.fill('input[name=reason]', 'half a sentence')")
        gate.build = "another"
        gate.cut()
        self.wait_for("() => document.querySelector('[data-banner=upgrade]')")
        self.assertEqual(self.run_page("return await page.inputValue('input[name=reason]')"), "half a sentence")

    def test_ten_tabs_share_one_stream(self):
        gate = self.gate()
        gate.put(question(1))
        self.enter(gate)
        self.run_page("""
            for (let i = 0; i < 9; i++) { const tab = await context.newPage(); await tab.goto(args.url); await tab.waitForSelector('[data-row=apr_1]') }""", url=gate.url)
        self.assertEqual(len(gate.streams), 1)
        gate.put(question(2))
        self.run_page("for (const tab of context.pages()) await tab.waitForSelector('[data-row=apr_2]')")


class SourcesTest(unittest.TestCase):
    # CO-69 (partly)
    def test_both_languages_are_complete(self):
        en, uk = (json.loads((ROOT / f"console/text/{name}.json").read_text()) for name in ("en", "uk"))
        self.assertEqual(list(en), list(uk))
        for key, text in en.items():
            self.assertIs(type(text), type(uk[key]), key)
            forms = [text] if isinstance(text, str) else text.values()
            others = [uk[key]] if isinstance(text, str) else uk[key].values()
            if not isinstance(text, str):
                self.assertEqual((set(text), set(uk[key])), ({"one", "other"}, {"one", "few", "many", "other"}), key)
            for form in [*forms, *others]:
                self.assertTrue(form.strip(), key)
                self.assertEqual(set(re.findall(r"\{(\w+)\}", form)), set(re.findall(r"\{(\w+)\}", next(iter(forms)))), key)

    def test_every_text_is_used_and_every_used_text_is_there(self):
        en = json.loads((ROOT / "console/text/en.json").read_text())
        source = "\n".join(path.read_text() for path in (ROOT / "console/src").rglob("*.ts*"))
        prefixes = set(re.findall(r'word\(\s*"(\w+)"', source)) | set(re.findall(r"t\(`([a-z]+)\.", source))
        used = set(re.findall(r'"([a-z]+\.[a-z_0-9]+)"', source))
        for key in en:
            self.assertTrue(key in used or key.split(".")[0] in prefixes, f"nothing uses {key}")

    # CO-69 (partly): a gate's word without a translation would appear in English on a Ukrainian page
    def test_the_words_of_the_gate_have_texts(self):
        en = json.loads((ROOT / "console/text/en.json").read_text())
        found = 0
        for prefix, file, pattern in (("outcome", "core/result/outcome_json.cc", r'"(\w+)", Outcome::Kind'), ("effect", "core/result/outcome_json.cc", r'"(\w+)", EffectState'),
                                      ("outcome", "trust/trust_record.cc", r'in.word\("outcome", \{"(\w+)", "(\w+)", "(\w+)", "(\w+)"\}'), ("guard", "core/record/audit_record.cc", r'"(\w+)", GuardVerdict'),
                                      ("guard", "core/plan/pipeline.cc", r'"(\w+)", GuardVerdict'), ("state", "core/approval/approval_state.cc", r'"(\w+)", ApprovalStatus'),
                                      ("gap", "records/gaps.cc", r'kGapKinds = [^;]+;')):
            groups = re.findall(pattern, (ROOT / "src" / file).read_text())
            words = [word for group in groups for word in ([group] if isinstance(group, str) else group)]
            if prefix == "gap":
                words = re.findall(r'"(\w+)"', "".join(words))
            self.assertTrue(words, file)
            found += len(words)
            self.assertEqual([word for word in words if f"{prefix}.{word}" not in en], [], file)
        self.assertGreater(found, 35)

    def test_the_types_hold(self):
        TYPES.need()
        with tempfile.TemporaryDirectory() as folder:
            config = {"extends": str(ROOT / "console/tsconfig.json"), "include": [str(ROOT / "console/src"), str(ROOT / "console/text")],
                      "compilerOptions": {"paths": {name + more: [str(TYPES.modules / name) + more] for name in ("preact", "@preact/signals") for more in ("", "/*")}}}
            file = pathlib.Path(folder) / "tsconfig.json"
            file.write_text(json.dumps(config))
            done = subprocess.run([TYPES.modules / ".bin/tsc", "-p", file], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
