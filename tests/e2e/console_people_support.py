"""A gate with one person for each role of the console, and a browser in which one of them signs in."""
import hashlib
import json
import pathlib
import sys
import time

from serve_support import ServeTest, in_background

SERVER = pathlib.Path(__file__).with_name("mcp_effects_server.py")
ROOT = "/api/v1/"
PEOPLE = {"approver": "user:ada", "viewer": "user:val", "auditor": "user:uma", "controller": "user:eve"}
TOKENS = {role: f"token-of-{role}-0123456789" for role in PEOPLE}
POLICY = """version: 1
autonomy: {{tier: act_with_approval}}
approvals:
  hold_s: 50
  reviewers:
{people}
"""


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


class Browser:
    """A page of the console: it keeps the cookie and the page secret, and sends its origin."""

    def __init__(self, server, host="localhost"):
        self.server, self.cookie, self.secret = server, None, None
        self.origin = f"http://{host}:{server.url.port}"
        self.host = f"{host}:{server.url.port}"

    def ask(self, method, path, body=None, **change):
        headers = {"Host": self.host, "Cookie": self.cookie, "X-Sallyport-Page": self.secret, "Content-Type": None}
        if method not in ("GET", "HEAD"):
            headers.update({"Origin": self.origin, "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"})
        headers.update({name.replace("_", "-"): value for name, value in change.items()})
        status, got, said = self.server.ask(method, ROOT + path, body, headers=headers, token=False)
        return status, got, json.loads(said) if said else None

    def sign_in(self, how, secret, **change):
        status, got, said = self.ask("POST", "session/" + how, {{"link": "once"}.get(how, how): secret}, **change)
        if status == 200:
            self.cookie, self.secret = got["set-cookie"].split(";")[0], said["page_secret"]
        return status, got, said


class ConsoleTest(ServeTest):
    def start(self, more="", policy_more=""):
        self.effects = self.folder / "effects"
        people = "\n".join(f'    - {{name: "{name}", token: "{digest(TOKENS[role])}", roles: [{role}]}}' for role, name in PEOPLE.items())
        self.write("policy.yaml", POLICY.format(people=people) + policy_more)
        self.server = self.serve("policy: ./policy.yaml" + more, (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        return self.server

    def api(self, method, path, body=None, role="viewer", headers=None):
        token = TOKENS.get(role, role)
        status, got, said = self.server.ask(method, ROOT + path, body, headers=headers, token=token)
        is_json = "json" in got.get("content-type", "")
        return status, got, json.loads(said) if said and is_json else said.decode()

    def held(self, session, name="a.txt"):
        return in_background(lambda: session.said("write_file", {"path": name, "text": "hi"}))

    def waiting(self):
        for _ in range(400):
            status, _, said = self.api("GET", "approvals", role="approver")
            if status == 429:  # a fast machine sends more requests than a person may
                time.sleep(1)
                continue
            self.assertEqual(status, 200, said)
            if said["approvals"]:
                return said["approvals"]
            time.sleep(0.05)
        self.fail("nothing waits")

    def run_one(self, session, name="a.txt", approved=True):
        time.sleep(0.05)  # fifty requests a second are allowed
        result = self.held(session, name)
        item = self.waiting()[0]
        status, _, said = self.api("POST", f"approvals/{item['request_id']}/respond",
                                   {"approved": approved, "binding": item["binding"], "reason": "it is fine"}, role="approver")
        self.assertEqual(status, 200, said)
        result.get(timeout=30)
        return item
