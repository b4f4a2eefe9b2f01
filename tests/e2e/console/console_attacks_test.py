"""Attacks of other pages on a signed-in person: another port, a forged form, a rebound name, a frame, stolen halves of a session."""
import http.client
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import console_gate_test  # noqa: E402
from page_thief import Thief  # noqa: E402

ROOT = "/api/v1/"


class AttacksTest(console_gate_test.GateBase):
    def waits(self):
        """A signed-in person and a waiting approval request."""
        session = self.start()
        self.call(session, {"path": "a.txt", "text": "hi"})
        self.sign_in()
        return self.waiting()

    def routes(self, name):
        """Every route that needs a session and can be requested without changing anything, streams included."""
        document = json.loads(self.server.ask("GET", ROOT + "openapi.json", token=False)[2])
        open_ones = ("/openapi.json", "/session/link", "/session/token", "/session/passkey", "/session/oidc")
        for path, item in document["paths"].items():
            if path.startswith(open_ones):
                continue
            for method in item:
                filled = path[1:].replace("{seq}", "0").replace("{size}", "1").replace("{id}", name)
                yield method.upper(), filled

    def secrets(self):
        cookies = self.run_page("return await context.cookies(args.url)", url=self.origin)
        cookie = next(f"{one['name']}={one['value']}" for one in cookies if one["name"] == "sallyport")
        return cookie, self.run_page("return await page.evaluate(() => localStorage.getItem('sallyport.page'))")

    def headers(self, method, **more):
        sent = {"Host": f"sallyport.localhost:{self.server.url.port}", "Content-Type": None}
        if method != "GET":
            sent.update({"Origin": self.origin, "Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"})
        return {**sent, **more}

    # CO-11: a stolen cookie, and a stolen page secret, open nothing on any route
    def test_half_a_session_opens_nothing(self):
        name = self.waits()
        cookie, secret = self.secrets()
        for method, path in self.routes(name):
            body = None if method == "GET" else {}
            for half in ({"Cookie": cookie}, {"X-Sallyport-Page": secret}, {"Cookie": cookie, "X-Sallyport-Page": "x" * 43},
                         {"Cookie": "sallyport=" + "x" * 43, "X-Sallyport-Page": secret}):
                with self.subTest(route=f"{method} {path}", half=sorted(half)):
                    status, _, said = self.server.ask(method, ROOT + path, body, headers=self.headers(method, **half), token=False)
                    self.assertEqual(status, 401, said)
        self.assertEqual(self.ran(), [])
        whole = self.headers("GET", Cookie=cookie, **{"X-Sallyport-Page": secret})
        self.assertEqual(self.server.ask("GET", ROOT + "approvals", headers=whole, token=False)[0], 200)

    # CO-13: a page on another port of the same host gets the cookie, and can neither read nor answer, in a real browser
    def test_a_page_on_another_port_can_neither_read_nor_answer(self):
        name = self.waits()
        thief = Thief(self)
        tried = self.run_page("""
            const other = await context.newPage(); await other.goto(args.url);
            const tried = await other.evaluate(async ({api, name}) => {
              const tries = [];
              const go = async (path, options) => tries.push(await fetch(api + path, {credentials: 'include', ...options}).then(async r => [r.type, r.status, (await r.text()).length], e => ['error', 0, 0]));
              await go('approvals', {});
              await go('approvals', {mode: 'no-cors'});
              await go(`approvals/${name}/respond`, {method: 'POST', mode: 'no-cors', body: '{"approved":true}'});
              await go(`approvals/${name}/respond`, {method: 'POST', headers: {'Content-Type': 'application/json', 'X-Sallyport-Page': 'x'}, body: '{"approved":true}'});
              tries.push(localStorage.getItem('sallyport.page'));
              return tries;
            }, args);
            await other.close();
            return tried;""", url=thief.url("sallyport.localhost"), api=f"{self.origin}{ROOT}", name=name)
        self.assertTrue(thief.cookies(), "the browser sends the cookie to every port of the host")
        self.assertIsNone(tried.pop(), "storage is apart for each port")
        for kind, status, length in tried:
            self.assertIn(kind, ("error", "opaque"))
            self.assertEqual((status, length), (0, 0))
        for method, path in self.routes(name):
            body = None if method == "GET" else {}
            status, _, _ = self.server.ask(method, ROOT + path, body, headers=self.headers(method, Cookie=thief.cookies()[0]), token=False)
            self.assertEqual(status, 401, path)
        self.assertEqual(self.ran(), [])

    # CO-14: a form of another page reaches the gate with the cookie and has no effect
    def test_a_forged_form_changes_nothing(self):
        name = self.waits()
        for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data"):
            form = (f"<!doctype html><form method=post enctype='{kind}' action='{self.origin}{ROOT}approvals/{name}/respond'>"
                    "<input name='{\"approved\":true,\"x\":\"' value='\"}'></form><script>document.forms[0].submit()</script>")
            thief = Thief(self, form)
            said = self.run_page("""
                const other = await context.newPage();
                const answer = other.waitForResponse(r => r.url().includes('/respond'));
                await other.goto(args.url); const got = await answer; const said = [got.status(), await got.text().catch(() => '')];
                await other.close(); return said;""", url=thief.url("sallyport.localhost"))
            self.assertIn(said[0], (401, 403, 415), said)
        cookie, secret = self.secrets()
        whole = self.headers("POST", Cookie=cookie, **{"X-Sallyport-Page": secret})
        for change, code in (({"Origin": None}, "origin_missing"), ({"Origin": "http://sallyport.localhost:1"}, "origin_not_served"),
                             ({"Content-Type": "text/plain"}, "content_type"), ({"Content-Type": None}, "content_type"),
                             ({"X-Sallyport-Page": None}, "page_secret_missing"), ({"Sec-Fetch-Site": "same-site"}, "cross_site"),
                             ({"Sec-Fetch-Site": "none"}, "cross_site")):
            for path in (f"approvals/{name}/respond", "sessions/none", "passkeys/options", "session/token", "session/link", "session/passkey"):
                if path.startswith("session/") and "X-Sallyport-Page" in change:
                    continue
                method = "DELETE" if path == "sessions/none" else "POST"
                status, _, said = self.server.ask(method, ROOT + path, {"approved": True}, headers={**whole, **change}, token=False)
                if status == 429:
                    continue  # the sixth login of a minute
                self.assertEqual(json.loads(said)["code"], code, path)
        self.assertEqual(self.ran(), [])
        self.assertEqual(json.loads(self.server.ask("GET", ROOT + "approvals/" + name, headers=self.headers(
            "GET", Cookie=cookie, **{"X-Sallyport-Page": secret}), token=False)[2])["state"], "pending")

    # CO-14 (partly): the gate does not serve a name that an attacker points at this machine
    def test_a_rebound_name_is_not_served(self):
        name = self.waits()
        cookie, secret = self.secrets()
        for host in ("evil.example", f"evil.example:{self.server.url.port}", f"sallyport.localhost.evil.example:{self.server.url.port}", "sallyport.localhost:1"):
            for method, path in (("GET", "approvals"), ("POST", f"approvals/{name}/respond"), ("POST", "session/token")):
                headers = self.headers(method, Cookie=cookie, Host=host, **{"X-Sallyport-Page": secret})
                if method == "POST":
                    headers["Origin"] = f"http://{host}"
                status, _, said = self.server.ask(method, ROOT + path, None if method == "GET" else {"approved": True}, headers=headers, token=False)
                self.assertEqual((status, json.loads(said)["code"]), (403, "host_not_served"), host)
            status, _, _ = self.server.ask("GET", "/console/", headers={"Host": host, "Content-Type": None}, token=False)
            self.assertEqual(status, 403, host)
        self.assertEqual(self.ran(), [])

    # CO-3 (partly), CO-13 (partly): no page frames the console
    def test_a_framed_page_stays_empty(self):
        self.waits()
        thief = Thief(self, f"<!doctype html><iframe src='{self.origin}/console/approvals' width=800 height=600></iframe>")
        shown = self.run_page("""
            const other = await context.newPage(); await other.goto(args.url); await other.waitForTimeout(1500);
            const frame = other.frames()[1];
            const found = frame ? await frame.evaluate(() => document.querySelectorAll('#app, button').length).catch(() => 0) : 0;
            await other.close(); return found;""", url=thief.url("sallyport.localhost"))
        self.assertEqual(shown, 0)

    # CO-15, CO-17: neither a token nor a link stays anywhere
    def test_a_token_and_a_link_leave_no_trace(self):
        self.start()
        link = self.cli("console").out.split()[-1]
        secret = link.split("#once=")[1]
        self.context()
        self.run_page("await page.goto(args.url); await page.waitForSelector('header.top')", url=link)
        self.assertNotIn(secret, self.traces())
        status, _, said = self.server.ask("GET", f"{ROOT}session/link?once={secret}", headers=self.headers("GET"), token=False)
        self.assertEqual(status, 405, said)
        self.sign_in()
        self.assertNotIn(console_gate_test.ADA, self.traces())
        self.server.stop()
        left = b"".join(path.read_bytes() for path in self.data.rglob("*") if path.is_file())
        for word in (secret, console_gate_test.ADA):
            self.assertNotIn(word, "".join(self.server.errors))
            self.assertNotIn(word.encode(), left)

    def traces(self):
        """Returns everything that a browser stores about a page and sends in its requests."""
        return json.dumps(self.run_page("""
            const kept = await page.evaluate(async () => [location.href, JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}),
              document.documentElement.outerHTML, [...document.querySelectorAll('input')].map(one => one.value), document.referrer,
              performance.getEntriesByType('resource').map(one => one.name), JSON.stringify(await indexedDB.databases()), JSON.stringify(history.state)]);
            return [kept, seen.requests];"""))

    # CO-37: one confirmation makes one answer, even if its response is lost and the request is repeated on another connection
    def test_a_repeated_answer_counts_once(self):
        name = self.waits()
        cookie, secret = self.secrets()
        whole = self.headers("POST", Cookie=cookie, **{"X-Sallyport-Page": secret, "Idempotency-Key": "one-act-of-a-person"})
        binding = json.loads(self.server.ask("GET", ROOT + "approvals/" + name, headers=self.headers(
            "GET", Cookie=cookie, **{"X-Sallyport-Page": secret}), token=False)[2])["request"]["binding"]
        body = json.dumps({"approved": True, "binding": binding})
        lost = http.client.HTTPConnection(self.server.url.hostname, self.server.url.port, timeout=20)
        lost.request("POST", f"{ROOT}approvals/{name}/respond", body, {key: value for key, value in whole.items() if value})
        lost.sock.close()  # before the answer arrived
        lost.close()
        for _ in range(3):
            status, _, said = self.server.ask("POST", f"{ROOT}approvals/{name}/respond", body, headers=whole, token=False)
            self.assertEqual(status, 200, said)
        entries = [json.loads(line)["body"] for line in self.cli("ledger", "show", "--kind", "approval", "--json").out.splitlines()]
        self.assertEqual(len([one for one in entries if one["record"] == "approval_response"]), 1)


if __name__ == "__main__":
    unittest.main()
