#!/usr/bin/env python3
"""Tokens in the header `Sallyport-Grant`: for the calls of that request, and never sent behind the gate."""
import base64
import json
import sys
import unittest

from grants_support import GrantTest
from mcp_support import FAKE
from serve_support import ServeTest, Session, messages, modern, modern_headers


def header(token):
    return base64.urlsafe_b64encode(json.dumps(token).encode()).decode().rstrip("=")


class GrantsOverHttp(ServeTest, GrantTest):
    def start(self, version=None):
        self.policy()
        self.heard = self.folder / "heard"
        self.server = self.serve("policy: ./policy.yaml", ("sh", "-c", f"tee {self.heard} | {sys.executable} {FAKE}"))
        return Session(self.server, **({"version": version} if version else {}))

    def call(self, session, grants=(), meta=None, message="hi"):
        params = {"name": "echo", "arguments": {"message": message}, **({"_meta": meta} if meta else {})}
        session.last_id += 1
        body = json.dumps({"jsonrpc": "2.0", "id": session.last_id, "method": "tools/call", "params": params})
        connection = self.server.connection()
        connection.putrequest("POST", "/mcp")
        sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                "Authorization": f"Bearer {self.server.token}", "Content-Length": len(body), **session.headers}
        for name, value in [*sent.items(), *(("Sallyport-Grant", grant) for grant in grants)]:
            connection.putheader(name, value)
        connection.endheaders(body.encode())
        result = messages(connection.getresponse())[-1]["result"]
        return result["content"][0]["text"], result.get("isError", False)

    def assert_refused(self, said, code):
        self.assertTrue(said[1], said)
        self.assertIn(code, said[0])

    # CG-10
    def test_a_header_counts_for_the_calls_of_its_request_and_for_no_other(self):
        session = self.start()
        self.assert_refused(self.call(session), "grant_missing")
        self.assertEqual(self.call(session, [header(self.token())]), ("hi", False))
        self.assertEqual(self.call(session, [header(self.token())], {"other": 1}, "with"), ("with", False))
        self.assert_refused(self.call(session), "grant_missing")
        # Other requests may carry it too; the server gets it in none.
        status, _, body = session.send({"id": 70, "method": "tools/list"}, **{"Sallyport-Grant": header(self.token())})
        self.assertEqual(status, 200)
        self.assertEqual(self.server.stop(), 0)
        heard = self.heard.read_text()
        self.assertIn('"message": "with"', heard)
        self.assertIn('"other"', heard)
        self.assertNotIn("grant", heard)

    # CG-12 CG-67
    def test_two_tokens_and_what_is_none_are_malformed(self):
        session = self.start()
        one, other = self.token(), self.token()
        for grants, meta in (([header(one), header(other)], None), ([header(one)], {"sallyport/grant": other}),
                             ([header(one)], {"sallyport/grant": one})):
            self.assert_refused(self.call(session, grants, meta), "grant_malformed")
            self.assertIn("the call presents two grants", json.dumps(self.records()[-1]["guards"]))
        for bad in ("nonsense", header(one) + "==", header([one]), header("text"), base64.b64encode(b"{\"a\":1,\"a\":2}").decode(), "\xff"):
            self.assert_refused(self.call(session, [bad]), "grant_malformed")
        self.assertEqual(self.call(session, [header(one)]), ("hi", False))

    def test_stateless_requests_and_batches_bring_theirs(self):
        batches = self.start("2025-03-26")
        message = modern("tools/call", {"name": "echo", "arguments": {"message": "now"}})
        for grant, fails in ((header(self.token()), False), (None, True)):
            headers = modern_headers(message, **({"Sallyport-Grant": grant} if grant else {}))
            said = messages(self.server.open(body=message, headers=headers))[-1]
            self.assertEqual(said["result"].get("isError", False), fails)
        batch = [{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "echo", "arguments": {"message": str(n)}}} for n in (1, 2)]
        response = self.server.open(body=batch, headers={**batches.headers, "Sallyport-Grant": header(self.token())})
        self.assertEqual([said["result"]["content"][0]["text"] for said in messages(response)], ["1", "2"])


if __name__ == "__main__":
    unittest.main()
