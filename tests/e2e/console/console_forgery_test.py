"""Forged passkey answers, sent past the page to the API, and past the API into the ledger by another program. The request
stays open, nothing runs, and the ledger records the attempt."""
import base64
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import console_gate_test  # noqa: E402
from console_passkeys_test import ASSERT, PasskeyBase, canonical, plain, written  # noqa: E402
from page_thief import Thief  # noqa: E402
from serve_support import Session  # noqa: E402

FORGE = os.environ.get("FORGE_ANSWER_BIN", "build/bin/forge_answer")
AT = "2026-11-17T05:00:00Z"
POLICY = """version: 1
autonomy: {{tier: act_with_approval, requires_human: true}}
approvals:
  hold_s: 600
  reviewers:
    - {{name: "user:bo", key: "{bo}", roles: [approver, viewer]}}
    - {{name: "user:eve", key: "{eve}", roles: [approver, viewer]}}
"""
# The reasons for refusing a forgery: the API returns a code, the gate writes words in its record.
CAUSES = {
    "another challenge": ("webauthn_challenge", "something else"),
    "an answer to another question": ("webauthn_challenge", "something else"),
    "a no that became a yes": ("webauthn_challenge", "something else"),
    "another origin": ("webauthn_origin", "used on"),
    "another relying party": ("webauthn_rp_id", "another name"),
    "a counter that was set back": ("webauthn_signature", "signature"),
    "an altered signature": ("webauthn_signature", "signature"),
    "the credential of another person": ("passkey_unknown", "enrolled"),
    "a person who is not there": ("user_not_present", "touched"),
}


def raw(text):
    return base64.urlsafe_b64decode(text + "==")


class ForgeryTest(PasskeyBase):
    def start(self):
        self.effects = self.folder / "effects"
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        keys = {}
        for name in ("bo", "eve"):
            made = self.run_cli("approvals", "init", "--name", "user:" + name, "--key-file", self.folder / name, "--passphrase-file", self.words, "--json")
            keys[name] = json.loads(made)["key"]
        self.write("policy.yaml", POLICY.format(**keys))
        self.server = self.serve("policy: ./policy.yaml", (sys.executable, console_gate_test.SERVER), {"EFFECTS": str(self.effects)})
        self.origin = f"http://sallyport.localhost:{self.server.url.port}"
        return Session(self.server)

    def enrolled(self, name):
        """Opens a page of this person with a separate passkey."""
        self.own = ("--key-file", self.folder / name, "--passphrase-file", self.words, "--reviewers", self.folder / "policy.yaml")
        self.person = "user:" + name
        self.enter()
        self.enrol()
        return self.page, next(one["credential_id"] for one in self.keys() if one["reviewer"] == self.person)

    def question(self):
        self.run_page("await page.goto(args.url); await page.waitForSelector('header.top')", context=self.bo, url=f"{self.origin}/console/approvals")
        self.page = self.bo
        name = self.waiting()
        return name, self.ask("GET", "approvals/" + name)[1]["request"]["binding"]

    def statement(self, name, binding, approved=True):
        return canonical({"approved": approved, "binding": binding, "request_id": name, "responded_at": AT, "reviewer": "user:bo",
                          "schema": "sallyport.approval_response.v1"})

    def signed(self, statement, page=None, key=None):
        return self.run_page(f"return await page.evaluate({ASSERT}, args.given)", context=page or self.bo,
                             given={"statement": statement, "rpId": "sallyport.localhost", "ids": [key or self.key]})

    def forgeries(self, name, binding, used):
        wanted = self.statement(name, binding)
        good = self.signed(wanted)
        data = raw(good["authenticator_data"])
        with_data = lambda changed: {**good, "authenticator_data": plain(changed)}  # noqa: E731
        thief = Thief(self)
        self.run_page("await page.goto(args.url)", context=self.bo, url=thief.url("sallyport.localhost"))
        elsewhere = self.signed(wanted)
        self.question()
        self.assertEqual(len(data), 37)  # the hash of the relying party, flags, four bytes of the counter
        self.assertGreater(int.from_bytes(data[33:], "big"), 0)
        return {
            "another challenge": self.signed(wanted + " "),
            "an answer to another question": used,
            "a no that became a yes": self.signed(self.statement(name, binding, approved=False)),
            "another origin": elsewhere,
            "another relying party": with_data(bytes([data[0] ^ 1]) + data[1:]),
            "a counter that was set back": with_data(data[:33] + bytes(4)),
            "an altered signature": {**good, "signature": plain(raw(good["signature"])[:-1] + bytes([raw(good["signature"])[-1] ^ 1]))},
            "the credential of another person": self.signed(wanted, self.eve, self.key_of_eve),
            "a person who is not there": with_data(data[:32] + bytes([data[32] & ~1]) + data[33:]),
        }

    def approvals(self, record):
        entries = [json.loads(line)["body"] for line in self.run_cli("ledger", "show", "--kind", "approval", "--json").splitlines()]
        return [one for one in entries if one["record"] == record]

    def by_the_api(self, name, binding, assertion):
        return self.ask("POST", f"approvals/{name}/respond", {"approved": True, "binding": binding, "responded_at": AT, "signature": written(assertion)})

    def into_the_ledger(self, name, binding, assertion):
        line = json.dumps({"request_id": name, "by": "user:bo", "binding": binding, "responded_at": AT, "signature": written(assertion)})
        done = subprocess.run([FORGE, self.data], input=line + "\n", capture_output=True, text=True, timeout=60)
        return done.stdout.strip() or done.stderr

    def until_open_again(self, name, refused):
        for _ in range(600):
            state = self.ask("GET", "approvals/" + name)[1]["state"]
            if state == "pending" and len(self.approvals("approval_response_refused")) > refused:
                return
            self.assertEqual(self.ran(), self.before)
            time.sleep(0.05)
        self.fail("the gate believes it")

    # CO-21: past the page, and past the API; both times the cause is recorded and the request stays open for a true answer
    def test_no_forged_answer_counts_past_the_page_or_past_the_api(self):
        session = self.start()
        self.eve, self.key_of_eve = self.enrolled("eve")
        self.bo, self.key = self.enrolled("bo")
        first = self.call(session, {"path": "first.txt", "text": "x"})
        name, binding = self.question()
        used = self.signed(self.statement(name, binding))
        self.assertEqual(self.by_the_api(name, binding, used)[0], 200)
        self.assertEqual(first.get(timeout=60), "written")
        self.assertEqual(self.by_the_api(name, binding, used)[0], 409)  # the same one again
        self.before = self.ran()
        second = self.call(session, {"path": "second.txt", "text": "x"})
        name, binding = self.question()
        forged = self.forgeries(name, binding, used)
        self.assertEqual(set(forged), set(CAUSES))
        for what, assertion in forged.items():
            with self.subTest(what, past="the page"):
                status, said = self.by_the_api(name, binding, assertion)
                self.assertEqual((status, said["code"]), (403, CAUSES[what][0]))
                self.assertEqual(self.ran(), self.before)
        for what, assertion in forged.items():
            with self.subTest(what, past="the API"):
                refused = len(self.approvals("approval_response_refused"))
                self.assertEqual(self.into_the_ledger(name, binding, assertion), "written")
                self.until_open_again(name, refused)
                self.assertIn(CAUSES[what][1], self.approvals("approval_response_refused")[-1]["cause"])
        self.assertEqual(self.ran(), self.before)
        # An entry that was written past the gate stays in the log and is reported as unauthorized.
        told = self.cli("ledger", "verify", "--reviewers", self.folder / "policy.yaml")
        self.assertEqual(told.code, 1)
        self.assertIn("unauthorized passkey", told.out)
        self.assertEqual(self.by_the_api(name, binding, self.signed(self.statement(name, binding)))[0], 200)
        self.assertEqual(second.get(timeout=60), "written")
        self.assertEqual(len(self.ran()), len(self.before) + 1)


if __name__ == "__main__":
    unittest.main()
