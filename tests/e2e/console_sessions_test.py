#!/usr/bin/env python3
"""Sessions of the web console from outside: the ways to sign in, and the events that end a session."""
import json
import subprocess
import time
import unittest

from cli_support import BIN, within
from console_people_support import ROOT, TOKENS, Browser, ConsoleTest, digest


class ConsoleSessions(ConsoleTest):
    # CO-11 (partly) CO-12 CO-14 (partly) CO-17 (partly)
    def test_a_session_needs_cookie_and_page_secret_and_writes_need_their_origin(self):
        self.start()
        page = Browser(self.server)
        status, got, said = page.sign_in("token", TOKENS["approver"])
        self.assertEqual(status, 200, said)
        self.assertRegex(got["set-cookie"], r"^sallyport=[\w-]{43}; HttpOnly; SameSite=Strict; Path=/$")
        self.assertEqual((said["name"], said["roles"], said["how"], len(said["page_secret"])), ("user:ada", ["approver"], "token", 43))
        self.assertEqual(page.ask("GET", "approvals")[0], 200)
        for path in ("approvals", "approvals/stream", "health", "session"):
            self.assertEqual(page.ask("GET", path, Cookie=None)[0], 401)
            self.assertEqual(page.ask("GET", path, **{"X-Sallyport-Page": None})[0], 401)
        write = ("POST", "approvals/none/cancel", {})
        for change, code in (({"Origin": None}, "origin_missing"), ({"Origin": "http://evil.example"}, "origin_not_served"),
                             ({"Content-Type": "text/plain"}, "content_type"), ({"X-Sallyport-Page": None}, "page_secret_missing"),
                             ({"Sec-Fetch-Site": "same-site"}, "cross_site"), ({"Host": "evil.example"}, "host_not_served")):
            self.assertEqual(page.ask(*write, **change)[2]["code"], code)
        self.assertEqual(page.ask(*write)[0], 404)
        mine = page.ask("GET", "sessions")[2]["items"]
        self.assertEqual([(one["current"], one["address"]) for one in mine], [(True, "127.0.0.1")])
        self.assertEqual(page.ask("DELETE", "session")[0], 204)
        self.assertEqual(page.ask("GET", "approvals")[2]["code"], "session_ended")
        self.assertNotIn(TOKENS["approver"], "".join(self.server.errors))

    # CO-24 (partly)
    def test_another_session_is_revoked_and_the_sixth_login_waits(self):
        self.start()
        one, two, other = Browser(self.server), Browser(self.server), Browser(self.server)
        one.sign_in("token", TOKENS["viewer"])
        two.sign_in("token", TOKENS["viewer"])
        other.sign_in("token", TOKENS["auditor"])
        theirs = [item["id"] for item in one.ask("GET", "sessions")[2]["items"] if not item["current"]]
        self.assertEqual(other.ask("DELETE", "sessions/" + theirs[0])[0], 404)
        self.assertEqual(one.ask("DELETE", "sessions/" + theirs[0])[0], 204)
        self.assertEqual(two.ask("GET", "health")[2]["code"], "session_ended")
        self.assertEqual(Browser(self.server).sign_in("token", "x" * 30)[2]["code"], "unknown_token")
        self.assertEqual(Browser(self.server).sign_in("link", "x" * 43)[2]["code"], "link_unknown")
        status, got, said = Browser(self.server).sign_in("token", TOKENS["viewer"])
        self.assertEqual((status, said["code"]), (429, "too_many_logins"))
        self.assertGreater(int(got["retry-after"]), 0)
        self.assertIn("ratelimit", got)

    # CO-24
    def test_whoever_is_struck_off_loses_rights_and_streams(self):
        self.start()
        page = Browser(self.server)
        page.sign_in("token", TOKENS["viewer"])
        stream = self.server.open("GET", ROOT + "stream", headers={
            "Host": page.host, "Cookie": page.cookie, "X-Sallyport-Page": page.secret, "Content-Type": None}, token=False)
        self.assertEqual(stream.status, 200)
        policy = self.folder / "policy.yaml"
        policy.write_text("\n".join(line for line in policy.read_text().splitlines() if "user:val" not in line) + "\n")
        start = time.monotonic()
        self.assertEqual(page.ask("GET", "health")[2]["code"], "session_ended")
        stream.read()  # until it ends
        self.assertLess(time.monotonic() - start, within(1))

    # CO-24: a session once outlived the token, or the key of the link, that it began with
    def test_a_session_ends_with_the_token_or_the_key_that_it_began_with(self):
        words = self.write("words", "correct horse battery\n")
        words.chmod(0o600)
        keys = []
        for number in range(2):
            key_file = self.folder / f"bo{number}.key"
            made = subprocess.run([BIN, "--data-dir", self.data, "approvals", "init", "--name", "user:bo", "--key-file", key_file, "--passphrase-file", words, "--json"],
                                  capture_output=True, text=True, check=True, env=self.environment(), cwd=self.folder)
            keys.append(json.loads(made.stdout)["key"])
        self.start(policy_more=f'    - {{name: "user:bo", key: "{keys[0]}", roles: [approver, viewer]}}\n')
        made = self.link("--as", "user:bo", "--key-file", self.folder / "bo0.key", "--passphrase-file", words, "--reviewers", self.folder / "policy.yaml")
        by_key, by_token = Browser(self.server, "sallyport.localhost"), Browser(self.server)
        self.assertEqual(by_key.sign_in("link", json.loads(made.stdout)["url"].split("#once=")[1])[0], 200)
        by_token.sign_in("token", TOKENS["viewer"])
        pages = (by_key, by_token)
        self.assertEqual([page.ask("GET", "health")[0] for page in pages], [200, 200])
        policy = self.folder / "policy.yaml"
        policy.write_text(policy.read_text().replace(keys[0], keys[1]).replace(digest(TOKENS["viewer"]), digest("another-token-0123456789")))
        self.assertEqual([page.ask("GET", "health")[2].get("code") for page in pages], ["session_ended", "session_ended"])

    # CO-24
    def test_no_session_outlives_the_process(self):
        self.start()
        page = Browser(self.server)
        page.sign_in("token", TOKENS["viewer"])
        self.assertEqual(page.ask("GET", "health")[0], 200)
        self.server.stop()
        again = Browser(self.start())
        again.cookie, again.secret = page.cookie, page.secret
        self.assertEqual(again.ask("GET", "health")[2]["code"], "session_ended")

    # CO-23 CO-12
    def test_no_login_over_plain_http_under_another_name(self):
        self.start(more="\n  allowed_hosts: [gate.example]\n  allowed_origins: ['http://gate.example', 'https://gate.example']")
        page = Browser(self.server)
        self.assertEqual(page.sign_in("token", TOKENS["viewer"], Origin="http://gate.example", Host="gate.example")[2]["code"], "tls_required")
        for path in ("link", "passkey"):
            refused = page.ask("POST", "session/" + path, {}, Origin="http://gate.example", Host="gate.example")
            self.assertEqual((refused[0], refused[2]["code"]), (403, "tls_required"))
        status, got, _ = page.sign_in("token", TOKENS["viewer"], Origin="https://gate.example", Host="gate.example")
        self.assertEqual(status, 200)
        self.assertRegex(got["set-cookie"], r"^__Host-sallyport=[\w-]{43}; Secure; HttpOnly; SameSite=Strict; Path=/$")

    def link(self, *more, env=None):
        return subprocess.run([BIN, "--data-dir", self.data, "console", "--json", *map(str, more)], capture_output=True, text=True,
                              env=env or self.environment(), cwd=self.folder, timeout=60)

    # CO-15 (partly) CO-16 (partly)
    def test_a_link_signs_a_viewer_in_once(self):
        self.start()
        made = self.link()
        self.assertEqual(made.returncode, 0, made.stderr)
        url = json.loads(made.stdout)["url"]
        self.assertTrue(url.startswith(f"http://sallyport.localhost:{self.server.url.port}/console/#once="), url)
        secret = url.split("#once=")[1]
        page = Browser(self.server, "sallyport.localhost")
        status, _, said = page.sign_in("link", secret)
        self.assertEqual((status, said["roles"], said["how"]), (200, ["viewer"], "link"))
        self.assertTrue(said["name"].startswith("local:"), said["name"])
        self.assertEqual(page.ask("GET", "stats")[0], 200)
        self.assertEqual(page.ask("GET", "entries/0/openings")[0], 403)
        self.assertEqual(Browser(self.server).sign_in("link", secret)[2]["code"], "link_unknown")
        self.assertNotIn(secret, "".join(self.server.errors))

    # CO-16
    def test_a_key_makes_the_link_one_of_its_reviewer_and_an_agent_gets_none(self):
        words = self.write("words", "correct horse battery\n")
        words.chmod(0o600)
        key_file = self.folder / "bo.key"
        made = json.loads(subprocess.run([BIN, "--data-dir", self.data, "approvals", "init", "--name", "user:bo", "--key-file", key_file,
                                          "--passphrase-file", words, "--json"], capture_output=True, text=True, check=True,
                                         env=self.environment(), cwd=self.folder).stdout)
        self.start(policy_more=f'    - {{name: "user:bo", key: "{made["key"]}", roles: [approver, viewer]}}\n')
        link = self.link("--as", "user:bo", "--key-file", key_file, "--passphrase-file", words, "--reviewers", self.folder / "policy.yaml")
        self.assertEqual(link.returncode, 0, link.stderr)
        page = Browser(self.server, "sallyport.localhost")
        _, _, said = page.sign_in("link", json.loads(link.stdout)["url"].split("#once=")[1])
        self.assertEqual((said["name"], said["roles"], said["how"]), ("user:bo", ["approver", "viewer"], "link_key"))
        refused = self.link(env={**self.environment(), "SALLYPORT_AGENT": "agent:bot"})
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("is for people", refused.stderr)
        notes = subprocess.run([BIN, "--data-dir", self.data, "ledger", "show", "--kind", "control", "--json"], capture_output=True, text=True,
                               check=True, env=self.environment()).stdout
        self.assertIn(("refused_control", "console"), [(one["control"], one.get("what")) for one in
                                                       (json.loads(line)["body"] for line in notes.splitlines())])


if __name__ == "__main__":
    unittest.main()
