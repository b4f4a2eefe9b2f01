#!/usr/bin/env python3
"""Access tokens of an authorization server at `sallyport serve`: their owner, their audience, and an outage of the server."""
import hashlib
import json
import pathlib
import re
import shutil
import sys
import time
import unittest

from mcp_support import FAKE, PATIENCE
from oauth_server import Authority, huge, stalls
from serve_security_test import OPENING
from serve_support import Server, ServeTest, Session, in_background, modern
from token_authority import Key, TokenAuthority, base64url

CI = "c" * 32


@unittest.skipIf(shutil.which("openssl") is None, "openssl signs the tokens of this test")
class OAuthServe(ServeTest):
    def setUp(self):
        super().setUp()
        self.authority = self.started(TokenAuthority(self.folder))

    def started(self, authority):
        self.addCleanup(authority.stop)
        return authority

    def section(self, more="", scopes="", agents=False, origin=None):
        named = f"agents: [{{name: ci, token_sha256: {hashlib.sha256(CI.encode()).hexdigest()}}}]\n  " if agents else ""
        return (f"{named}authorization:\n    {scopes}\n    issuers:\n      - name: corp\n        issuer: {origin or self.authority.origin}\n        {more}")

    def trusting(self, *arguments, **more):
        return self.serve(self.section(*arguments, **more))

    def mint(self, server, **changes):
        return self.authority.mint(server.started["url"], **changes)

    def challenge(self, server, token):
        status, headers, _ = server.ask(body=OPENING, token=token)
        return status, dict(re.findall(r'(\w+)="([^"]*)"', headers.get("www-authenticate", "")))

    def log(self, server, words):
        end = time.monotonic() + PATIENCE
        while not any(words in line for line in list(server.errors)):
            self.assertLess(time.monotonic(), end, server.errors)
            time.sleep(0.02)

    def test_an_agent_with_a_token_calls_tools_in_both_eras_and_the_token_is_nowhere(self):
        server = self.trusting(scopes="scopes: [tools, more]")
        token = self.mint(server, scope="more tools")
        session = Session(server, token=token)
        self.assertEqual(session.said("echo", {"message": "x"}), "x")
        environment = session.said("environment")
        status, said = self.stateless(server, modern("tools/call", {"name": "echo", "arguments": {"message": "y"}}), token=token)
        self.assertEqual((status, said[0]["result"]["content"][0]["text"]), (200, "y"))
        server.stop()
        self.assertEqual({end["agent_id"] for end in self.one_end_for_each_call(3)}, {"corp/bot"})
        everything = self.good("ledger", "show", "--limit", "100000", "--json").out + "".join(server.errors) + environment
        for part in (token, *token.split(".")[1:]):
            self.assertNotIn(part, everything)
        self.assertFalse((self.data / "keys" / "local.token").exists())

    def test_it_says_where_tokens_come_from(self):
        server = self.trusting(scopes="scopes: [tools, more]")
        described = json.loads(server.ask("GET", "/.well-known/oauth-protected-resource/mcp", token=False)[2])
        self.assertEqual((described["resource"], described["authorization_servers"], described["scopes_supported"]),
                         (server.started["url"], [self.authority.origin], ["tools", "more"]))
        self.assertEqual(json.loads(server.ask("GET", "/.well-known/oauth-protected-resource", token=False)[2]), described)
        place = f"http://{server.url.netloc}/.well-known/oauth-protected-resource/mcp"
        self.assertEqual(self.challenge(server, False), (401, {"resource_metadata": place, "scope": "tools more"}))
        self.assertEqual(self.challenge(server, "nonsense"), (401, {"resource_metadata": place, "scope": "tools more", "error": "invalid_token",
                                                                   "error_description": "the token is not known here"}))
        self.assertEqual(server.ask(path=f"/mcp?access_token={self.mint(server, scope='tools more')}", body=OPENING, token=False)[0], 401)
        self.log(server, f"tokens of {self.authority.origin};")

    def test_too_little_scope_is_told_with_all_that_is_needed(self):
        server = self.trusting(scopes="scopes: [tools, more]")
        for scope in ("tools", "more", None, ""):
            status, said = self.challenge(server, self.mint(server, scope=scope))
            self.assertEqual((status, said["error"], said["scope"]), (403, "insufficient_scope", "tools more"))
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server, scope="tools more"))[0], 200)
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server, scp=["tools", "more"]))[0], 200)

    def test_what_is_no_good_token_is_refused_with_its_reason(self):
        server = self.trusting()
        now = int(time.time())
        good = self.mint(server)
        head, claims, signature = good.split(".")
        other = Key(self.folder, "other")
        stranger = self.started(Authority())
        public = self.authority.key.jwk()
        confused = base64url({"alg": "HS256", "kid": "first"}) + "." + claims
        for token, reason in (
                (self.mint(server, iss=stranger.origin), "issuer that is not trusted"),
                (self.mint(server, aud="https://elsewhere.example/mcp"), "another audience"),
                (self.mint(server, aud=server.started["url"] + "/"), "another audience"),
                (self.mint(server, aud=None), "another audience"),
                (self.mint(server, exp=now - 61), "expired"),
                (self.mint(server, exp=None), "does not say when it expires"),
                (self.mint(server, nbf=now + 120), "not valid yet"),
                (self.mint(server, client_id=None, sub=None), "whose it is"),
                (self.mint(server, client_id="two words"), "cannot be recorded"),
                (self.mint(server, cnf={"jkt": "x"}), "bound to a key"),
                (f"{base64url({'alg': 'none'})}.{claims}.", "not signed with"),
                (f"{confused}.{base64url(hashlib.sha256(json.dumps(public).encode() + confused.encode()).digest())}", "not signed with"),
                (f"{head}.{claims}.{base64url(other.sign(f'{head}.{claims}'.encode()))}", "signature of the token is wrong"),
                (f"{head}.{base64url({**self.authority.claims(server.started['url']), 'client_id': 'root'})}.{signature}", "signature of the token is wrong"),
                (other.token(self.authority.claims(server.started["url"])), "key that is not known"),
                (self.authority.key.token(self.authority.claims(server.started["url"]), alg="ES256"), "key that is not known"),
                (self.authority.key.token(self.authority.claims(server.started["url"]), typ="logout+jwt"), "not an access token"),
                (self.mint(server, filler="x" * 16000), "bearer token is needed"),
                (f"{head}.{claims}", "not known here"), (f"{head}.{claims}.", "malformed"), (f"{head}.!.{signature}", "malformed")):
            status, said = self.challenge(server, token)
            self.assertEqual((status, said["error"]), (401, "invalid_token"), reason)
            self.assertIn(reason, said["error_description"])
        self.assertEqual(server.ask(body=OPENING, token=good)[0], 200)
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server, aud=["x", server.started["url"]], filler="x" * 9000))[0], 200)

    def test_a_session_ends_for_a_token_that_has_expired(self):
        server = self.trusting()
        session = Session(server, token=self.mint(server, exp=int(time.time()) - 55))  # a minute is allowed for clock differences
        self.wait_until(lambda: session.send({"id": 1, "method": "ping"})[0] == 401)
        session.token = self.mint(server)
        self.assertEqual(session.send({"id": 2, "method": "ping"})[0], 200)

    def test_keys_of_each_kind_and_after_a_change(self):
        server = self.trusting()
        before = self.mint(server)
        self.assertEqual(server.ask(body=OPENING, token=before)[0], 200)
        for algorithm in ("ES256", "RS256"):
            self.authority.rotate(algorithm)
            self.assertEqual(server.ask(body=OPENING, token=self.mint(server))[0], 200, algorithm)
            self.assertEqual(server.ask(body=OPENING, token=self.mint(server))[0], 200)
        self.assertEqual(self.authority.paths().count("/jwks"), 3)
        self.assertEqual(server.ask(body=OPENING, token=before)[0], 401)  # its key was removed
        stranger = Key(self.folder, "stranger")
        for _ in range(20):
            self.assertEqual(server.ask(body=OPENING, token=stranger.token(self.authority.claims(server.started["url"])))[0], 401)
        self.assertLessEqual(self.authority.paths().count("/jwks"), 5)
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server))[0], 200)

    def test_an_authorization_server_that_is_away_lets_nobody_in_and_keeps_nobody_out(self):
        port = self.authority.server_address[1]
        self.authority.stop()
        server = self.trusting(agents=True)
        self.log(server, f"warning: the keys of `{self.authority.origin}` cannot be had")
        token = self.mint(server)
        status, headers, said = server.ask(body=OPENING, token=token)
        self.assertEqual((status, headers["retry-after"]), (503, "5"))
        self.assertIn(b"cannot be fetched", said)
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server, aud="x"))[0], 401)
        self.assertEqual(server.ask(body=OPENING, token=CI)[0], 200)
        back = self.started(TokenAuthority(self.folder, port))
        self.assertEqual(server.ask(body=OPENING, token=back.mint(server.started["url"]))[0], 200)
        back.stop()
        self.assertEqual(server.ask(body=OPENING, token=back.mint(server.started["url"]))[0], 200)  # the keys are known
        back.key = Key(self.folder, "unknown")
        self.assertEqual(server.ask(body=OPENING, token=back.mint(server.started["url"]))[0], 503)

    def test_one_that_stalls_holds_up_nobody_else(self):
        self.authority.instead["/jwks"] = stalls
        server = self.trusting(agents=True)
        waiting = in_background(lambda: server.ask(body=OPENING, token=self.mint(server))[0])
        begin = time.monotonic()
        self.assertEqual(Session(server, token=CI).said("echo", {"message": "on"}), "on")
        self.assertLess(time.monotonic() - begin, 8)
        self.assertEqual(waiting.get(timeout=PATIENCE), 503)
        self.assertLess(time.monotonic() - begin, 40)

    def test_it_ends_while_several_are_waited_for(self):
        others = [self.started(TokenAuthority(self.folder)) for _ in range(3)]
        for authority in (self.authority, *others):
            authority.instead["/jwks"] = stalls
        more = "".join(f"\n      - {{name: n{i}, issuer: '{other.origin}'}}" for i, other in enumerate(others))
        server = self.trusting(more)
        end = time.monotonic() + PATIENCE
        while not all("/jwks" in authority.paths() for authority in (self.authority, *others)):  # the gate asks it at once
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        begin = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begin, 25)

    def test_keys_from_where_they_must_not_come_are_not_used(self):
        for lie, instead, reason in (
                ({"jwks_uri": "http://192.0.2.1/jwks"}, None, "not encrypted"),
                ({"issuer": "https://elsewhere.example"}, None, "describes itself as"),
                ({"jwks_uri": ""}, None, "does not say where its keys are"),
                ({}, huge, "cannot be had"), ({}, lambda http: http.say(500), "HTTP 500"), ({}, lambda http: http.say(200, b"[]"), "not a key set"),
                ({}, lambda http: http.say(307, Location="https://elsewhere.example/jwks"), "another one")):
            self.authority.lie = lie
            self.authority.instead = {"/jwks": instead} if instead else {}
            server = self.trusting()
            self.assertEqual(server.ask(body=OPENING, token=self.mint(server))[0], 503, reason)
            self.log(server, reason)
            self.end_server(server)

    def test_keys_of_an_address_or_a_file(self):
        self.authority.lie = {"issuer": "https://other.example"}  # the gate does not ask it
        server = self.trusting(f"jwks_uri: {self.authority.origin}/jwks")
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server))[0], 200)
        self.end_server(server)
        self.authority.seen.clear()
        self.write("keys.json", json.dumps({"keys": [self.authority.key.jwk()]}))
        server = self.trusting("jwks_file: keys.json\n        audience: api://gate")
        self.assertEqual(server.ask(body=OPENING, token=self.authority.mint("api://gate"))[0], 200)
        self.assertEqual(server.ask(body=OPENING, token=self.mint(server))[0], 401)
        self.authority.rotate()
        self.write("keys.json", json.dumps({"keys": [self.authority.key.jwk()]}))
        self.assertEqual(server.ask(body=OPENING, token=self.authority.mint("api://gate"))[0], 200)
        self.assertEqual(self.authority.seen, [])

    def test_a_token_does_not_take_the_name_of_an_agent_of_the_configuration(self):
        server = self.trusting(agents=True)
        ours = Session(server, token=CI)
        token = self.mint(server, client_id="ci")
        self.assertEqual(server.ask(body={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=ours.headers, token=token)[0], 404)
        self.assertEqual(Session(server, token=token).said("echo", {"message": "x"}), "x")
        self.assertEqual(ours.said("echo", {"message": "x"}), "x")
        server.stop()
        self.assertEqual(sorted(end["agent_id"] for end in self.one_end_for_each_call(2)), ["ci", "corp/ci"])

    def test_unless_the_configuration_says_so(self):
        server = self.trusting("agent_claim: sub\n        agents: [{claim: dana, name: ci}]", agents=True)
        ours = Session(server, token=CI)
        self.assertEqual(server.ask(body={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=ours.headers, token=self.mint(server))[0], 200)
        odd = '"eve\\|1{}/' + "x" * 246
        self.assertEqual(Session(server, token=self.mint(server, sub=odd)).said("echo", {"message": "x"}), "x")
        self.assertTrue('agent="corp/\\"eve\\\\|1{}/xxx' in server.ask("GET", "/metrics", token=False)[2].decode())
        server.stop()
        self.assertEqual([end["agent_id"] for end in self.one_end_for_each_call(1)], [f"corp/{odd}"])
        self.assertEqual(len(self.good("ledger", "show", "--agent", f"corp/{odd}", "--terminal", "true", "--json").lines()), 1)

    def test_the_example_of_the_documents_works(self):
        text = (pathlib.Path(__file__).parents[2] / "examples" / "serve" / "oauth.yaml").read_text()
        for there, here in (("https://login.example.com/realms/agents", self.authority.origin), (":8765", ":0"),
                            ('npx, -y, "@modelcontextprotocol/server-filesystem", /srv/notes', json.dumps([sys.executable, str(FAKE)])[1:-1])):
            self.assertIn(there, text)
            text = text.replace(there, here)
        server = Server(self, self.write("serve.yaml", text))
        self.addCleanup(self.end_server, server)
        host = {"Host": "gate.example.com"}
        self.assertIn('scope="tools"', server.ask(body=OPENING, token=False, headers=host)[1]["www-authenticate"])
        for client, agent in (("nightly-build", "ci"), ("other", "corp/other")):
            token = self.authority.mint("https://gate.example.com/mcp", client_id=client, scope="tools")
            message = modern("tools/call", {"name": "echo", "arguments": {"message": agent}})
            self.assertEqual(self.stateless(server, message, token=token, **host)[0], 200)
        server.stop()
        self.assertEqual(sorted(end["agent_id"] for end in self.one_end_for_each_call(2)), ["ci", "corp/other"])

    def test_who_has_no_good_token_sends_no_body(self):
        server = self.trusting()
        connection = server.connection()
        connection.putrequest("POST", "/mcp")
        for name, value in (("Content-Type", "application/json"), ("Content-Length", "1000000"), ("Authorization", f"Bearer {self.mint(server, aud='x')}")):
            connection.putheader(name, value)
        connection.endheaders()
        self.assertEqual(connection.getresponse().status, 401)

    def test_a_configuration_that_cannot_be_is_refused_where_it_stands(self):
        upstream = "upstreams: [{name: f, command: [x]}]"
        issuer = "name: a, issuer: 'https://a.example'"
        for section, words in (
                ("authorization: {}", "`issuers` is missing"),
                ("authorization: {issuers: []}", "`issuers` is empty"),
                ("authorization: {issuers: [{issuer: 'https://a.example'}]}", "`name` is missing"),
                ("authorization: {issuers: [{name: a/b, issuer: 'https://a.example'}]}", "`a/b` is not a name"),
                ("authorization: {issuers: [{name: a, issuer: 'http://a.example'}]}", "is not encrypted"),
                ("authorization: {issuers: [{name: a, issuer: 'https://a.example?x'}]}", "no query"),
                (f"authorization: {{issuers: [{{{issuer}, jwks_uri: 'http://a.example/k'}}]}}", "is not encrypted"),
                (f"authorization: {{issuers: [{{{issuer}, jwks_uri: 'https://a.example/k', jwks_file: k}}]}}", "exclude each other"),
                (f"authorization: {{issuers: [{{{issuer}}}, {{{issuer}}}]}}", "duplicate name `a`"),
                (f"authorization: {{issuers: [{{{issuer}}}, {{name: b, issuer: 'https://a.example'}}]}}", "duplicate issuer `https://a.example`"),
                (f"authorization: {{issuers: [{{{issuer}, agents: [{{claim: x, name: y}}, {{claim: x, name: z}}]}}]}}", "duplicate claim `x`"),
                (f"authorization: {{scopes: ['a b'], issuers: [{{{issuer}}}]}}", "a scope is one word"),
                (f"authorization: {{scopes: ['a\"'], issuers: [{{{issuer}}}]}}", "a scope is one word"),
                (f"auth: none\n  authorization: {{issuers: [{{{issuer}}}]}}", "exclude each other"),
                (f"listen: 0.0.0.0:1\n  authorization: {{issuers: [{{{issuer}}}]}}", "`allowed_hosts` must say")):
            file = self.write("serve.yaml", f"version: 1\nserve:\n  {section}\n  {upstream}\n")
            said = self.refused(64, "serve", "--config", file)
            self.assertIn(words, said)
            self.assertRegex(said, r"serve\.yaml:[0-9]+:[0-9]+")


if __name__ == "__main__":
    unittest.main()
