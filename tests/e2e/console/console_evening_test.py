"""An evening of approvals: two agents under load, three reviewers, one of them with a passkey, a quorum of two, and a network that fails for a
while. Every answer counts once. SALLYPORT_EVENING sets the number of requests, SALLYPORT_PICTURES the folder for pictures."""
import collections
import hashlib
import json
import os
import pathlib
import sys
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import console_gate_test  # noqa: E402
from console_gate_test import ADA, digest  # noqa: E402
from console_pages_support import WIDE  # noqa: E402
from console_passkeys_test import PasskeyBase  # noqa: E402
from serve_support import Session  # noqa: E402

COUNT = int(os.environ.get("SALLYPORT_EVENING", "4"))
CY = "token-of-cy-0123456789ab"
AGENTS = {"agent:night": "token-of-night-0123456789", "agent:day": "token-of-day-0123456789ab"}
POLICY = """version: 1
autonomy: {{tier: act_with_approval}}
approvals:
  hold_s: 600
  quorum: 2
  reviewers:
    - {{name: "user:bo", key: "{key}", roles: [approver, viewer]}}
    - {{name: "user:ada", token: "{ada}", roles: [approver, viewer]}}
    - {{name: "user:cy", token: "{cy}", roles: [approver, viewer]}}
"""


def denied(path):
    return int(path.split("-")[1]) % 4 == 3


class EveningTest(PasskeyBase):
    def start(self):
        self.effects = self.folder / "effects"
        self.words = self.write("words", "correct horse battery\n")
        self.words.chmod(0o600)
        self.key_file = self.folder / "bo.key"
        made = json.loads(self.run_cli("approvals", "init", "--name", "user:bo", "--key-file", self.key_file, "--passphrase-file", self.words, "--json"))
        self.write("policy.yaml", POLICY.format(key=made["key"], ada=digest(ADA), cy=digest(CY)))
        agents = ", ".join(f"{{name: {name.split(':')[1]}, token_sha256: {hashlib.sha256(token.encode()).hexdigest()}}}" for name, token in AGENTS.items())
        self.server = self.serve(f"policy: ./policy.yaml\n  agents: [{agents}]", (sys.executable, console_gate_test.SERVER), {"EFFECTS": str(self.effects)})
        self.origin = f"http://sallyport.localhost:{self.server.url.port}"
        self.own = ("--key-file", self.key_file, "--passphrase-file", self.words, "--reviewers", self.folder / "policy.yaml")

    def agent(self, token, numbers):
        """Makes calls one after another; each waits for approvers."""
        session = Session(self.server, token=token)
        for number in numbers:
            try:
                self.results[number] = session.said("write_file", {"path": f"file-{number}", "text": "x"})
            except Exception as error:  # the test checks for missing calls
                self.results[number] = repr(error)

    def items(self, token=CY):
        status, _, said = self.server.ask("GET", "/api/v1/approvals", token=token)
        self.assertEqual(status, 200, said)
        return json.loads(said)["approvals"]

    def path_of(self, item):
        return json.loads(self.server.ask("GET", f"/api/v1/approvals/{item['request_id']}", token=CY)[2])["request"]["args"][0]["path"]

    def by_http(self, item, path):
        """The third reviewer answers over HTTP and sends each answer twice: a repeat with the same key is the same answer."""
        body = {"approved": not denied(path), "binding": item["binding"]}
        for _ in range(2):
            status, _, said = self.server.ask("POST", f"/api/v1/approvals/{item['request_id']}/respond", body, token=CY,
                                              headers={"Idempotency-Key": "cy-" + item["request_id"]})
            self.assertEqual(status, 200, said)

    def by_page(self, page, item, path, lost=None):
        """Answers in two steps on a page. `lost`: the failure of the network between them and the answer."""
        key = "d" if denied(path) else "a"
        self.run_page("""
            await page.bringToFront();
            // While the pointer is in the list, a new question waits behind a button.
            for (let i = 0; i < 400 && !(await page.$(`[data-row="${args.id}"]`)); i++) {
              if (await page.$('.fresh button')) await page.click('.fresh button');
              await page.waitForTimeout(50);
            }
            await page.click(`[data-row="${args.id}"]`);
            await page.waitForSelector(`article[data-id="${args.id}"] button.yes`); await page.waitForTimeout(1200); await page.focus('article');
            await page.keyboard.press(args.key); await page.waitForSelector('.confirm .primary'); await page.waitForTimeout(500);""", page, id=item["request_id"], key=key)
        if lost == "request":
            self.run_page("await context.setOffline(true); await page.keyboard.press('y'); await page.waitForTimeout(800); await context.setOffline(false)", page)
        elif lost == "response":
            self.run_page("""
                await context.route('**/respond', async route => {
                  await context.unrouteAll({behavior: 'ignoreErrors'});
                  const request = route.request();
                  const sent = await route.fetch({ url: request.url().replace('sallyport.localhost', '127.0.0.1'), headers: { ...await request.allHeaders(), host: new URL(request.url()).host } });
                  args.status = sent.status();
                  await route.abort();
                });
                await page.keyboard.press('y');
                for (let i = 0; i < 200 && args.status === undefined; i++) await page.waitForTimeout(50);
                if (args.status !== 200) throw new Error('the first request got ' + args.status);""", page)
        else:
            self.run_page("await page.keyboard.press('y')", page)
        self.answered(item)

    def answered(self, item):
        """Repeats until the answer counts or the request is decided."""
        for _ in range(400):
            now = [one for one in self.items() if one["request_id"] == item["request_id"]]
            if not now or len(now[0]["quorum"]["approved"]) > len(item["quorum"]["approved"]):
                return
            time.sleep(0.05)
        self.fail("the answer never counted")

    def question(self, done):
        for _ in range(1200):
            for item in self.items():
                if item["request_id"] not in done:
                    return item
            time.sleep(0.05)
        self.fail("nothing waits")

    # CO-37, CO-33, CO-36, CO-32 (partly): an evening of approvals
    def test_every_answer_of_an_evening_counts_once(self):
        self.start()
        self.enter()
        self.enrol()
        self.run_page("await page.goto(args.url); await page.waitForSelector('header.top')", url=f"{self.origin}/console/approvals")
        bo = self.page
        self.sign_in(token=ADA, **WIDE)
        ada = self.page
        self.results = {}
        halves = [range(0, COUNT, 2), range(1, COUNT, 2)]
        threads = [threading.Thread(target=self.agent, args=(token, half), daemon=True) for token, half in zip(AGENTS.values(), halves)]
        for thread in threads:
            thread.start()
        done = set()
        for turn in range(COUNT):
            item = self.question(done)
            done.add(item["request_id"])
            path = self.path_of(item)
            lost = {0: "request", 2: "response"}.get(turn)
            self.by_page(ada, item, path, lost) if turn % 2 == 0 else self.by_http(item, path)
            if not denied(path):
                item = next(one for one in self.items() if one["request_id"] == item["request_id"])
                self.by_page(bo, item, path)
            if turn == 1 and os.environ.get("SALLYPORT_PICTURES"):
                self.run_page("await page.screenshot({path: args.path})", ada, path=os.environ["SALLYPORT_PICTURES"] + "/console-evening.png")
        for thread in threads:
            thread.join(120)
        allowed = sorted(f"file-{number}" for number in range(COUNT) if not denied(f"file-{number}"))
        self.assertEqual(sorted(json.loads(line)["path"] for line in self.ran()), allowed, self.results)
        entries = [json.loads(line)["body"] for line in self.run_cli("ledger", "show", "--kind", "approval", "--json", "--limit", "5000").splitlines()]
        answers = collections.Counter((one["request_id"], one["reviewer"]) for one in entries if one["record"] == "approval_response")
        self.assertEqual(set(answers.values()), {1}, answers)
        self.assertEqual(len(answers), 2 * len(allowed) + (COUNT - len(allowed)))
        self.assertEqual(sum(one["record"] == "approval_response" and one.get("signature", "").startswith("webauthn:") for one in entries), len(allowed))
        self.assertIn("verified", self.run_cli("ledger", "verify", "--reviewers", self.folder / "policy.yaml"))


if __name__ == "__main__":
    unittest.main()
