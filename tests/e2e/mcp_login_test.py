#!/usr/bin/env python3
"""Tool servers that require a login (OAuth): how a person admits the gate, what is stored, and attacks by servers."""
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import unittest
import urllib.error
import urllib.request

import oauth_server
from cli_support import BIN
from mcp_remote_test import RemoteClient
from mcp_support import McpTest
from oauth_server import Authority, Guarded, Listener
from serve_support import Server, ServeTest, Session

BROWSER = f"{sys.executable} {pathlib.Path(__file__).with_name('oauth_browser.py')}"


class LoginTest(McpTest):
    def setUp(self):
        super().setUp()
        self.authority = self.listener(Authority())
        self.server = self.listener(Guarded(self.authority))

    def listener(self, listener):
        self.addCleanup(listener.stop)
        return listener

    def login(self, *words, **env):
        outcome = self.cli("mcp", "login", "--url", self.server.url, *words, env=self.environment(BROWSER=BROWSER, **env))
        self.assertEqual(outcome.code, 0, outcome.err)
        return outcome

    def no_login(self, *words, **env):
        """Returns the error of a failed login, which must be a refusal and not an internal error."""
        outcome = self.cli("mcp", "login", "--url", self.server.url, *words, env=self.environment(BROWSER=BROWSER, **env))
        self.assertEqual(outcome.code, 1, outcome.err + outcome.out)
        last = outcome.err.splitlines()[-1]
        self.assertTrue(last.startswith("sallyport: "), last)
        return last

    def client(self, *options, **env):
        client = RemoteClient(self, self.server.url, options, BROWSER=BROWSER, **env)
        self.addCleanup(self.end, client)
        return client

    def stored(self):
        files = list((self.data / "logins").glob("*.json"))
        self.assertEqual(len(files), 1)
        return files[0]


class Person(LoginTest):
    def test_a_person_logs_in_once_and_the_server_can_be_used(self):
        said = self.login()
        self.assertIn(f"logged in at {self.authority.origin} for {self.server.url}", said.out)
        self.assertIn("renews itself", said.out)
        self.assertEqual(self.stored().stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.stored().parent.stat().st_mode & 0o777, 0o700)
        client = self.client()
        client.open()
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        self.assertEqual(client.close(), 0)
        [token] = set(self.server.tokens())
        self.assertIn(token, self.authority.tokens)
        # Neither the output nor the ledger contains it.
        secrets = [token, *self.authority.refreshes, *[form["code_verifier"] for form in self.authority.forms("/token")]]
        printed = said.out + said.err + "".join(client.errors) + (self.data / "ledger.db").read_bytes().decode("latin-1")
        for secret in secrets:
            self.assertNotIn(secret, printed)
        asked = self.authority.asked[0]
        self.assertEqual(asked["resource"], self.server.url)
        self.assertEqual(asked["code_challenge_method"], "S256")
        self.assertRegex(asked["redirect_uri"], r"^http://127\.0\.0\.1:\d+/callback$")
        self.assertNotIn("scope", asked)

    def test_without_a_login_the_person_is_told_what_to_run(self):
        client = self.client()
        opened = client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        command = f"sallyport mcp login --url {self.server.url} --data-dir {self.data}"
        self.assertIn(f"asks for a login; run `{command}` once", json.dumps(opened))
        client.wait_for_error(f"run `{command}` once")
        self.assertEqual(self.authority.seen, [])

    def test_a_stateless_client_is_told_as_well_and_can_go_on_after_the_login(self):
        client = self.client()
        begin = time.monotonic()
        self.assertIn("sallyport mcp login --url", json.dumps(client.modern("tools/list")))
        self.assertLess(time.monotonic() - begin, 15)
        self.login()
        self.assertEqual([tool["name"] for tool in client.modern("tools/list")["result"]["tools"]], ["echo"])

    def test_a_person_may_take_longer_than_a_server(self):
        slow = self.write("browser.py", f"import runpy, sys, time\ntime.sleep(5)\nrunpy.run_path({BROWSER.split()[1]!r})\n")
        client = RemoteClient(self, self.server.url, ("--login",), BROWSER=f"{sys.executable} {slow}")
        self.addCleanup(self.end, client)
        self.assertEqual([tool["name"] for tool in client.modern("tools/list")["result"]["tools"]], ["echo"])
        self.assertEqual(len(self.authority.asked), 1)

    def test_a_browser_is_opened_where_that_is_allowed(self):
        client = self.client("--login")
        client.open()
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        client.wait_for_error("open this page: http")
        self.assertEqual(len(self.authority.asked), 1)
        # The next client needs no browser.
        self.assertEqual(client.close(), 0)
        again = self.client()
        again.open()
        self.assertEqual(again.said("echo", {"message": "once more"}), "once more")

    def test_a_token_that_has_expired_is_renewed_without_anybody(self):
        self.authority.lives = 1
        self.login()
        first = json.loads(self.stored().read_text())["tokens"]
        time.sleep(1.1)
        self.authority.lives = 3600
        self.authority.tokens.clear()
        client = self.client()
        client.open()
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        second = json.loads(self.stored().read_text())["tokens"]
        self.assertNotEqual(first["access"], second["access"])
        self.assertNotEqual(first["refresh"], second["refresh"])
        self.assertNotIn(first["access"], self.server.tokens())
        # A token that the server forgets is renewed too, and another process uses the renewed token.
        other = self.client()
        other.open()
        self.authority.tokens.clear()
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        self.assertEqual(other.said("echo", {"message": "hi"}), "hi")
        self.assertEqual([form["grant_type"] for form in self.authority.forms("/token")], ["authorization_code", "refresh_token", "refresh_token"])
        self.assertEqual(len(self.authority.asked), 1)

    def test_more_rights_are_asked_for_when_they_are_needed(self):
        self.server.description["scopes_supported"] = ["read"]
        self.server.wants_write = True
        client = self.client("--login")
        client.open()
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")
        self.assertEqual([asked["scope"] for asked in self.authority.asked], ["read", "read write"])

    def test_without_a_browser_the_rights_that_are_needed_are_named(self):
        self.server.description["scopes_supported"] = ["read"]
        self.login()
        self.server.wants_write = True
        client = self.client()
        client.open()
        self.assertIn("--scope 'read write'", json.dumps(client.call("echo", {"message": "hi"})))
        self.login("--scope", "read write")
        self.assertEqual(client.said("echo", {"message": "hi"}), "hi")

    def test_only_the_page_that_was_asked_for_ends_a_login(self):
        process = subprocess.Popen([BIN, "mcp", "login", "--url", self.server.url, "--no-browser", "--data-dir", self.data],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=self.environment())
        page = next(line.strip() for line in process.stderr if line.startswith("  http"))
        back = urllib.parse.unquote(re.search(r"redirect_uri=([^&]+)", page).group(1))
        for query in ("?code=stolen&state=guessed", "?code=stolen", "?state=%zz"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(back + query, timeout=10)
            self.assertEqual(refused.exception.code, 400)
        self.assertIsNone(process.poll())
        urllib.request.urlopen(page, timeout=10).read()
        self.assertIn("logged in", process.communicate(timeout=20)[0])
        self.assertEqual([form["code"] for form in self.authority.forms("/token")], ["code-1"])

    def test_nobody_is_waited_for_longer_than_was_said(self):
        begin = time.monotonic()
        said = self.no_login("--no-browser", "--wait", "1s")
        self.assertIn("the browser did not come back within 1 seconds", said)
        self.assertLess(time.monotonic() - begin, 10)

    def test_logging_out_takes_the_tokens_back(self):
        self.login()
        refresh = json.loads(self.stored().read_text())["tokens"]["refresh"]
        said = self.good("mcp", "logout", "--url", self.server.url)
        self.assertIn("worth nothing any more", said.out)
        self.assertEqual([form["token"] for form in self.authority.forms("/revoke")], [refresh])
        self.assertEqual(list((self.data / "logins").glob("*.json")), [])
        self.assertIn("no login for this server", self.refused(1, "mcp", "logout", "--url", self.server.url))

    def test_a_file_that_others_can_read_is_not_used(self):
        self.login()
        os.chmod(self.stored(), 0o644)
        client = self.client()
        client.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        self.assertEqual(set(self.server.tokens()), set())
        self.assertIn("chmod 0600", self.no_login())

    def test_a_client_that_was_registered_by_hand_is_not_sent_to_another_authority(self):
        self.authority.lie = {"registration_endpoint": "", "token_endpoint_auth_methods_supported": ["client_secret_basic"]}
        self.login("--client-id", "ours", "--client-secret-env", "S", S="swordfish")
        self.assertEqual(self.authority.asked[0]["client_id"], "ours")
        [header] = [header for path, header, _ in self.authority.seen if path == "/token"]
        self.assertTrue(header.startswith("Basic "))
        other = self.listener(Authority())
        self.server.description["authorization_servers"] = [other.origin]
        said = self.no_login("--client-id", "ours", "--client-secret-env", "S", S="swordfish")
        self.assertIn(f"now names `{other.origin}`", said)
        self.assertEqual(set(other.paths()), {"/.well-known/oauth-authorization-server"})


class Hostile(LoginTest):
    """Servers that misuse the login."""

    def test_a_token_goes_to_no_other_server(self):
        self.login()
        thief = self.listener(Listener())
        thief.answer = lambda http, *_: http.say(200, {})
        client = self.client()
        client.open()
        self.server.redirect = f"{thief.origin}/mcp"
        self.assertIn("redirects to another one", json.dumps(client.call("echo", {"message": "hi"})))
        self.assertEqual(thief.seen, [])

    def test_a_code_goes_to_no_other_server(self):
        thief = self.listener(Listener())
        thief.answer = lambda http, *_: http.say(200, {})
        self.authority.instead["/token"] = lambda http: http.say(307, Location=f"{thief.origin}/token")
        self.assertIn("redirects to another one", self.no_login())
        self.assertEqual(thief.seen, [])

    def test_what_an_authority_says_about_itself_is_checked(self):
        for lie, words in (({"issuer": "https://evil.example"}, "describes itself as `https://evil.example`"),
                           ({"token_endpoint": "http://10.0.0.1/token"}, "not encrypted"),
                           ({"authorization_endpoint": "http://login.example/authorize"}, "not encrypted"),
                           ({"authorization_endpoint": "file:///etc/passwd"}, "not an address"),
                           ({"authorization_endpoint": f"{self.authority.origin}/authorize#\x1b]0;hi\x07"}, "not an address"),
                           ({"token_endpoint": "http://[::1\0\r\nSET key value\r\n]:6379/"}, "not an address"),
                           ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
                           ({"token_endpoint": ""}, "names no `token_endpoint`")):
            with self.subTest(words):
                self.authority.lie = lie
                self.assertIn(words, self.no_login())
        self.assertEqual(self.authority.asked, [])

    def test_what_is_printed_moves_nothing_on_a_terminal(self):
        self.server.description["scopes_supported"] = ["\x1b]0;title\x07", "\u202eread", "\x9b2J"]
        self.authority.give = lambda http, form: http.say(200, {"access_token": "a", "token_type": "Bearer"})
        for words in ((), ("--json",)):
            said = self.login(*words)
            for unseen in "\x1b\x07\u202e\x9b":
                self.assertNotIn(unseen, said.out + said.err)
        self.assertIn("title", said.out)

    def test_no_line_of_an_answer_reaches_the_client_as_a_message(self):
        hostile = self.listener(Listener())
        said = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "n", "version": "1"}}

        def answer(http, path, query, body):
            message = json.loads(body or "{}")
            if "id" not in message:
                return http.say(202 if message else 405)
            part = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"forged"}}'
            listed = f'{{"tools":[],"x":\n{part}\n}}'
            result = json.dumps(said) if message["method"] == "initialize" else listed
            return http.say(200, f'{{"jsonrpc":"2.0","id":{message["id"]},"result":{result}}}'.encode())
        hostile.answer = answer
        client = RemoteClient(self, f"{hostile.origin}/mcp", ())
        self.addCleanup(self.end, client)
        client.open()
        before = len(client.lines)
        self.assertIn("result", client.request("tools/list"))
        self.assertEqual(len(client.lines), before + 1)

    def test_an_answer_that_names_another_authority_is_not_used(self):
        for issuer in ("https://evil.example", None, self.authority.origin + "/"):
            with self.subTest(issuer):
                def back(http, query, issuer=issuer):
                    said = {"code": "c", "state": query["state"], **({"iss": issuer} if issuer else {})}
                    http.say(302, Location=f"{query['redirect_uri']}?{urllib.parse.urlencode(said)}")
                self.authority.authorize = back
                self.assertIn("the answer in the browser is not of", self.no_login())
        self.assertNotIn("/token", self.authority.paths())

    def test_what_a_server_says_about_itself_is_checked(self):
        for resource in ("https://other.example/mcp", self.server.origin + "/mc", self.server.origin + "/mcp/below", ""):
            with self.subTest(resource):
                self.server.description["resource"] = resource
                self.no_login()
        self.assertEqual(self.authority.seen, [])

    def test_nothing_is_read_without_a_limit(self):
        for path in ("/.well-known/oauth-authorization-server", "/register", "/token"):
            for how, words in ((oauth_server.huge, "is over 262144 bytes"), (oauth_server.endless, "redirects forever")):
                with self.subTest(path + words):
                    self.authority.instead = {path: how}
                    self.assertIn(words, self.no_login())

    def test_a_server_that_never_answers_is_not_waited_for(self):
        self.authority.instead["/token"] = oauth_server.stalls
        begin = time.monotonic()
        self.no_login()
        self.assertLess(time.monotonic() - begin, 25)

    def test_a_server_that_is_never_content_asks_people_three_times(self):
        client = self.client("--login")
        client.open()
        self.authority.refreshable = False
        for _ in range(5):
            self.authority.tokens.clear()
            self.authority.refreshes.clear()
            client.call("echo", {"message": "hi"})
        self.assertEqual(len(self.authority.asked), 3)


class ByItself(LoginTest, ServeTest):
    """Tests `serve` with a client that is admitted without a person."""

    def test_a_client_is_let_in_by_itself(self):
        secret = self.write("secret", "swordfish\n")
        secret.chmod(0o600)
        config = {"version": 1, "data_dir": "data", "serve": {"listen": "127.0.0.1:0", "upstreams": [
            {"name": "guarded", "url": self.server.url, "auth": {"client_id": "ours", "client_secret_file": "secret", "grant": "client_credentials", "scope": "read"}}]}}
        gate = Server(self, self.write("serve.yaml", json.dumps(config)))
        self.addCleanup(self.end_server, gate)
        session = Session(gate)
        self.assertEqual(session.said("echo", {"message": "hi"}), "hi")
        [form] = self.authority.forms("/token")
        self.assertEqual((form["grant_type"], form["scope"], form["resource"]), ("client_credentials", "read", self.server.url))
        # The agent's token is not sent beyond the gate.
        self.assertEqual(set(self.server.tokens()), set(self.authority.tokens))
        # The gate stores the id of the client, but no credential.
        kept = json.loads(self.stored().read_text())
        self.assertEqual((kept["issuer"], kept["tokens"], kept["client"]["id"]), (self.authority.origin, {"access": ""}, "ours"))
        self.assertNotIn("swordfish", self.stored().read_text())

    # A compromised server names its own authority to get the secret of the client.
    def test_the_secret_of_a_client_goes_to_no_authority_that_the_server_names_later(self):
        def used(issuer=None):
            auth = {"client_id": "ours", "client_secret_file": "secret", "grant": "client_credentials", **({"issuer": issuer} if issuer else {})}
            gate = Server(self, self.write("serve.yaml", json.dumps({"version": 1, "data_dir": "data", "serve": {
                "listen": "127.0.0.1:0", "upstreams": [{"name": "guarded", "url": self.server.url, "auth": auth}]}})))
            self.addCleanup(self.end_server, gate)
            status, _, said = gate.ask(body={"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
            gate.stop()
            return said.decode()
        self.write("secret", "swordfish\n").chmod(0o600)
        self.assertIn("serverInfo", used())
        thief = self.listener(Authority())
        self.server.description["authorization_servers"] = [thief.origin]
        self.authority.tokens.clear()
        self.assertIn(f"now names `{thief.origin}`", used())
        self.assertNotIn("/token", thief.paths())
        words = ("--client-id", "ours", "--client-secret-file", str(self.folder / "secret"), "--client-credentials")
        self.assertIn("now names", self.no_login(*words))
        self.assertNotIn("/token", thief.paths())
        # A person may confirm the new authority.
        used(thief.origin)
        self.assertIn("/token", thief.paths())


if __name__ == "__main__":
    unittest.main()
