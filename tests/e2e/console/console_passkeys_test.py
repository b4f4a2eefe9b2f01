"""Passkeys and browser keys: a person enrols one, signs in with it and signs answers, before the real gate and with a real browser."""
import base64
import json
import pathlib
import re
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import console_gate_test  # noqa: E402
from cli_support import BIN, within  # noqa: E402
from console_pages_support import PHONE, WIDE  # noqa: E402
from page_thief import Thief  # noqa: E402
from serve_support import Session  # noqa: E402

POLICY = """version: 1
autonomy: {{tier: act_with_approval{human}}}
approvals:
  hold_s: 50
  reviewers:
    - {{name: "user:bo", key: "{key}", roles: [approver, viewer]}}
"""
# Signs in the page without our scripts, with any values that a test chooses.
ASSERT = """async ({statement, challenge, rpId, ids, verification}) => {
  const plain = bytes => btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
  const bytes = text => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));
  const digest = challenge ? bytes(challenge) : new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(statement)));
  const got = await navigator.credentials.get({publicKey: {challenge: digest, rpId, userVerification: verification ?? 'required',
    allowCredentials: ids.map(id => ({type: 'public-key', id: bytes(id)}))}});
  return {credential_id: plain(got.rawId), authenticator_data: plain(got.response.authenticatorData),
          client_data: plain(got.response.clientDataJSON), signature: plain(got.response.signature)};
}"""
# A request of the page itself, with its secret and its cookie.
ASK = """async ({method, path, body}) => {
  const response = await fetch('/api/v1/' + path, {method, body: body && JSON.stringify(body), headers: {
    'Content-Type': 'application/json', 'X-Sallyport-Page': localStorage.getItem('sallyport.page') ?? ''}});
  return [response.status, response.status === 204 ? null : await response.json()];
}"""


def plain(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def canonical(members):
    return json.dumps(members, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def written(assertion):
    return "webauthn:" + plain(canonical(assertion).encode())


class PasskeyBase(console_gate_test.GateBase):
    """A reviewer with a registered key, and a page with a software authenticator."""
    person = "user:bo"

    def start(self, human="", more=""):
        self.effects = self.folder / "effects"
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        self.key_file = self.folder / "bo.key"
        made = json.loads(self.run_cli("approvals", "init", "--name", "user:bo", "--key-file", self.key_file,
                                       "--passphrase-file", self.words, "--json"))
        self.write("policy.yaml", POLICY.format(key=made["key"], human=human))
        self.server = self.serve("policy: ./policy.yaml" + more, (sys.executable, console_gate_test.SERVER), {"EFFECTS": str(self.effects)})
        self.origin = f"http://sallyport.localhost:{self.server.url.port}"
        self.own = ("--key-file", self.key_file, "--passphrase-file", self.words, "--reviewers", self.folder / "policy.yaml")
        return Session(self.server)

    def run_cli(self, *words, fails=False):
        done = subprocess.run([BIN, "--data-dir", self.data, *map(str, words)], capture_output=True, text=True, env=self.environment(),
                              cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        return done.stderr if fails else done.stdout

    def enter(self, **options):
        """Opens a page of the person's session, with a software authenticator."""
        self.context(**{**WIDE, **options})
        self.run_page("""
            const cdp = await context.newCDPSession(page);
            await cdp.send('WebAuthn.enable');
            const {authenticatorId} = await cdp.send('WebAuthn.addVirtualAuthenticator', {options: {protocol: 'ctap2', transport: 'internal',
              hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true}});
            Object.assign(context, {cdp, authenticatorId});""")
        url = json.loads(self.run_cli("console", "--as", self.person, "--json", *self.own))["url"]
        self.run_page("await page.goto(args.url); await page.waitForSelector('header.top')", url=url)
        self.run_page("await page.goto(args.url); await page.waitForSelector('[data-add=passkey]')", url=f"{self.origin}/console/keys")

    def offer(self, kind="passkey"):
        self.run_page("await page.click(`[data-add=${args.kind}]`); await page.waitForSelector('[data-code]')", kind=kind)
        return self.run_page("return await page.getAttribute('[data-code]', 'data-code')")

    def enrol(self, kind="passkey"):
        code = self.offer(kind)
        told = self.run_cli("passkeys", "add", code.lower(), *self.own)
        self.assertIn(self.origin, told)
        self.run_page("await page.waitForSelector('[data-key]')")
        return self.keys()[-1]

    def keys(self):
        return [json.loads(line) for line in self.run_cli("passkeys", "list", "--json").splitlines()]

    def ask(self, method, path, body=None):
        return self.run_page(f"return await page.evaluate({ASK}, args)", method=method, path=path, body=body)

    def controls(self):
        return [json.loads(line)["body"] for line in self.run_cli("ledger", "show", "--kind", "control", "--json").splitlines()]

    def answer_on_screen(self):
        self.run_page("await page.goto(args.url)", url=f"{self.origin}/console/approvals")
        self.waiting()
        self.run_page("""
            await page.focus('[data-row]'); await page.keyboard.press('Enter'); await page.waitForSelector('article:focus pre.shown');
            await page.waitForSelector('button.yes'); await page.waitForTimeout(1200);
            await page.keyboard.press('a'); await page.waitForTimeout(500); await page.keyboard.press('y')""")

    def response(self):
        entries = [json.loads(line)["body"] for line in self.run_cli("ledger", "show", "--kind", "approval", "--json").splitlines()]
        return [one for one in entries if one["record"] == "approval_response"][-1]


class PasskeysTest(PasskeyBase):
    # CO-19, CO-20, CO-21 (partly), CO-36 (partly)
    def test_a_passkey_is_enrolled_signs_in_and_signs_an_answer(self):
        session = self.start(human=", requires_human: true")
        self.enter()
        key = self.enrol()
        self.assertEqual((key["kind"], key["alg"], key["origin"], key["vouched_by"]), ("passkey", "ES256", self.origin, "key"))
        added = [one for one in self.controls() if one["control"] == "passkey_added"]
        self.assertEqual([(one["who"], one["statement"]["rp_id"], one["statement"]["credential_id"]) for one in added],
                         [("user:bo", "sallyport.localhost", key["credential_id"])])
        self.run_page("await page.click('header .who button:last-child'); await page.waitForSelector('[data-passkey]')")
        self.run_page("await page.click('[data-passkey]'); await page.waitForSelector('header.top')")
        self.assertIn("user:bo", self.text(".who"))
        self.assertEqual(self.ask("GET", "session")[1]["how"], "passkey")
        call = self.call(session, {"path": "a.txt", "text": "hi"})
        self.answer_on_screen()
        self.assertEqual(call.get(timeout=60), "written")
        self.assertEqual(len(self.ran()), 1)
        said = self.response()
        form = json.loads(base64.urlsafe_b64decode(said["signature"].removeprefix("webauthn:") + "=="))
        client = json.loads(base64.urlsafe_b64decode(form["client_data"] + "=="))
        self.assertEqual((form["credential_id"], client["type"], client["origin"]), (key["credential_id"], "webauthn.get", self.origin))
        self.assertIn("verified", self.run_cli("ledger", "verify", "--reviewers", self.folder / "policy.yaml"))
        self.assert_clean(self.origin)

    def ends_a_session(self, end):
        """Signs in with a passkey, calls `end` with its id, and checks that the session and its stream end at once."""
        self.enter()
        id = self.enrol()["credential_id"]
        self.run_page("await page.click('header .who button:last-child'); await page.waitForSelector('[data-passkey]')")
        self.run_page("await page.click('[data-passkey]'); await page.waitForSelector('header.top')")
        self.assertEqual(self.ask("GET", "session")[1]["how"], "passkey")
        cookie, secret = self.run_page("""
            const [{name, value}] = await context.cookies();
            return [name + '=' + value, await page.evaluate(() => localStorage.getItem('sallyport.page'))]""")
        stream = self.server.open("GET", "/api/v1/stream", headers={"Cookie": cookie, "X-Sallyport-Page": secret, "Content-Type": None}, token=False)
        self.assertEqual(stream.status, 200)
        end(id)
        start = time.monotonic()
        self.assertEqual(self.ask("GET", "session")[1].get("code"), "session_ended")
        stream.read()  # until it ends
        self.assertLess(time.monotonic() - start, within(1))

    # CO-24: a session once outlived the passkey that it began with
    def test_a_session_ends_with_its_passkey_that_a_command_removes(self):
        self.start()
        self.ends_a_session(lambda id: self.run_cli("passkeys", "remove", id, *self.own))

    # CO-24
    def test_a_session_ends_with_its_passkey_that_the_page_removes(self):
        self.start()
        self.ends_a_session(lambda id: self.assertEqual(self.ask("DELETE", "passkeys/" + id)[0], 204))

    # CO-24: a passkey is valid no longer than the key that vouches for it
    def test_a_session_by_passkey_ends_with_the_registered_key(self):
        self.start()
        other = json.loads(self.run_cli("approvals", "init", "--name", "user:bo", "--key-file", self.folder / "other.key", "--passphrase-file", self.words, "--json"))["key"]
        policy = self.folder / "policy.yaml"
        self.ends_a_session(lambda _: policy.write_text(re.sub(r'key: "[^"]+"', f'key: "{other}"', policy.read_text())))

    # CO-21, CO-38 (partly): every wrong item of an answer has its own refusal, and none of them runs the call
    def test_wrong_answers_are_refused_with_their_cause(self):
        session = self.start()
        self.enter()
        key = self.enrol()["credential_id"]
        self.call(session, {"path": "a.txt", "text": "hi"})
        self.run_page("await page.goto(args.url)", url=f"{self.origin}/console/approvals")
        name = self.waiting()
        binding = self.ask("GET", "approvals/" + name)[1]["request"]["binding"]
        at = "2026-11-17T05:00:00Z"
        statement = canonical({"approved": True, "binding": binding, "request_id": name, "responded_at": at, "reviewer": "user:bo",
                               "schema": "sallyport.approval_response.v1"})
        good = {"statement": statement, "rpId": "sallyport.localhost", "ids": [key]}

        def code(signature):
            body = {"approved": True, "binding": binding, "responded_at": at, "signature": signature}
            status, said = self.ask("POST", f"approvals/{name}/respond", body)
            self.assertEqual(self.ran(), [])
            return said.get("code") if status != 200 else "taken"

        def signed(where="page", **change):
            return self.run_page(f"return await {where}.evaluate({ASSERT}, args.given)", given={**good, **change})
        self.assertEqual(self.ask("POST", f"approvals/{name}/respond", {"approved": True, "binding": binding})[1]["code"], "key_needed")
        self.assertEqual(code(written(signed(statement=statement + " "))), "webauthn_challenge")
        whole = signed()
        broken = bytearray(base64.urlsafe_b64decode(whole["signature"] + "=="))
        broken[-1] ^= 1
        self.assertEqual(code(written({**whole, "signature": plain(bytes(broken))})), "webauthn_signature")
        self.assertEqual(code(written({**whole, "credential_id": plain(b"unknown")})), "passkey_unknown")
        self.assertEqual(code(written(whole) + "="), "webauthn_form")
        self.assertEqual(code(written({**whole, "more": "x"})), "webauthn_form")
        data = bytearray(base64.urlsafe_b64decode(whole["authenticator_data"] + "=="))
        self.assertEqual(code(written({**whole, "authenticator_data": plain(bytes([data[0] ^ 1]) + bytes(data[1:]))})), "webauthn_rp_id")
        self.assertEqual(code(written({**whole, "authenticator_data": plain(bytes(data[:32]) + b"\x04" + bytes(data[33:]))})), "user_not_present")
        self.run_page("await context.cdp.send('WebAuthn.setUserVerified', {authenticatorId: context.authenticatorId, isUserVerified: false})")
        self.assertEqual(code(written(signed(verification="discouraged"))), "user_not_verified")
        self.run_page("await context.cdp.send('WebAuthn.setUserVerified', {authenticatorId: context.authenticatorId, isUserVerified: true})")
        # Another port of the same host may use the passkey for any challenge, but its origin differs.
        thief = Thief(self)
        self.run_page("await page.goto(args.url)", url=thief.url("sallyport.localhost"))
        stolen = signed()
        self.run_page("await page.goto(args.url); await page.waitForSelector('header.top')", url=f"{self.origin}/console/approvals")
        self.assertEqual(code(written(stolen)), "webauthn_origin")
        refused = [json.loads(line)["body"] for line in self.run_cli("ledger", "show", "--kind", "approval", "--json").splitlines()]
        self.assertGreaterEqual(len([one for one in refused if one["record"] == "approval_response_refused"]), 7)
        self.assertEqual(self.ask("DELETE", "passkeys/" + key)[0], 204)
        self.assertEqual(code(written(signed())), "passkey_removed")
        self.assertIn("passkey_removed", [one["control"] for one in self.controls()])

    # CO-19: an enrolled passkey signs for a further one; no other person's signature counts
    def test_a_passkey_signs_for_another_and_a_wrong_signature_does_not(self):
        self.start()
        self.enter()
        first = self.enrol()
        code = self.offer("browser_key")
        self.run_page("await page.click('[data-code] button')")
        self.wait_for("() => document.querySelectorAll('[data-key]').length === 2")
        second = [one for one in self.keys() if one["credential_id"] != first["credential_id"]][0]
        self.assertEqual((second["kind"], second["vouched_by"]), ("browser_key", "passkey"))
        self.assertEqual(self.ask("POST", "passkeys", {"code": code, "signature": "ed25519:AAAA"})[0], 404)
        code = self.offer("browser_key")
        self.assertEqual(self.ask("POST", "passkeys", {"code": code, "signature": "ed25519:" + base64.b64encode(bytes(64)).decode()})[0], 403)
        self.assertEqual(len(self.keys()), 2)
        self.assertIn("no key waits", self.run_cli("passkeys", "add", "AAAA-AAAA", *self.own, fails=True))
        self.assertEqual(self.run_cli("passkeys", "remove", second["credential_id"], *self.own), "removed: it counts no longer\n")
        self.assertIn("verified", self.run_cli("ledger", "verify", "--reviewers", self.folder / "policy.yaml"))

    # CO-22: it cannot be exported, and its answer verifies under AP-16; a request that requires a passkey accepts none of these
    def test_a_key_of_the_browser_signs_and_cannot_be_exported(self):
        session = self.start()
        self.enter()
        key = self.enrol("browser_key")
        self.assertEqual(key["kind"], "browser_key")
        leaked = self.run_page("""return await page.evaluate(async () => {
            const done = request => new Promise((yes, no) => { request.onsuccess = () => yes(request.result); request.onerror = () => no(request.error); });
            const all = await done((await done(indexedDB.open('sallyport'))).transaction('keys').objectStore('keys').getAll());
            const tried = [];
            for (const form of ['pkcs8', 'jwk', 'raw']) tried.push(await crypto.subtle.exportKey(form, all[0].key).then(() => 'exported', error => error.name));
            return [all[0].key.extractable, ...tried];
        })""")
        self.assertEqual(leaked[0], False)
        self.assertNotIn("exported", leaked)
        call = self.call(session, {"path": "a.txt", "text": "hi"})
        self.answer_on_screen()
        self.assertEqual(call.get(timeout=60), "written")
        said = self.response()
        self.assertTrue(said["signature"].startswith("ed25519:"))
        self.assertEqual((said["reviewer"], said["approved"], said["door"]), ("user:bo", True, "console"))

    # CO-38 (partly): a request that requires a passkey accepts neither a session nor a browser key
    def test_a_strong_question_takes_no_browser_key(self):
        session = self.start(human=", requires_human: true")
        self.enter()
        self.enrol("browser_key")
        self.call(session, {"path": "a.txt", "text": "hi"})
        self.run_page("await page.goto(args.url)", url=f"{self.origin}/console/approvals")
        self.waiting()
        self.run_page("await page.click('[data-row]'); await page.waitForSelector('.cannot')")
        self.assertEqual(self.run_page("return await page.getAttribute('.cannot', 'data-why')"), "strong_needed")
        self.assertEqual(self.run_page("return await page.$$eval('button.yes', all => all.length)"), 0)
        self.assertEqual(self.ran(), [])

    # CO-38 (partly): `console.strong` selects these requests
    def test_where_nothing_is_strong_a_browser_key_answers(self):
        session = self.start(human=", requires_human: true", more="\n  console: {strong: []}")
        self.enter()
        self.enrol("browser_key")
        call = self.call(session, {"path": "a.txt", "text": "hi"})
        self.answer_on_screen()
        self.assertEqual(call.get(timeout=60), "written")

    # CO-68 (partly), CO-69 (partly)
    def test_the_page_of_keys_is_accessible_and_fits_a_phone(self):
        self.start()
        for options in ({}, {"colorScheme": "dark"}, PHONE):
            self.enter(**options)
            if not self.keys():
                self.enrol()
            self.offer("browser_key")
            self.assertEqual(self.axe(), [])
            wide = self.run_page("return await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)")
            self.assertLessEqual(wide, 0)


if __name__ == "__main__":
    unittest.main()
