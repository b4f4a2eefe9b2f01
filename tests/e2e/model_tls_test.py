#!/usr/bin/env python3
"""The model proxy with TLS on both sides: it checks the providers' certificates, and agents check its certificate."""
import http.client
import json
import ssl
import subprocess
import unittest
import urllib.parse

from mcp_support import PATIENCE
from model_answers import CHAT, PATHS
from model_provider import Provider
from model_support import ModelTest, question


class ModelTls(ModelTest):
    def make_certificate(self, name, names="DNS:localhost,IP:127.0.0.1"):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}",
                        "-keyout", str(self.folder / f"{name}.key"), "-out", str(self.folder / f"{name}.crt")], check=True, stderr=subprocess.DEVNULL)
        (self.folder / f"{name}.key").chmod(0o600)

    def provider(self, name="provider", most=None):
        """Returns a provider behind TLS, and its address."""
        provider = Provider(self)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["h2", "http/1.1"])
        if most is not None:
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = most
            context.set_ciphers("ALL:@SECLEVEL=0")
        context.load_cert_chain(self.folder / f"{name}.crt", self.folder / f"{name}.key")
        provider.server.socket = context.wrap_socket(provider.server.socket, server_side=True, do_handshake_on_connect=False)
        return provider, provider.url.replace("http://127.0.0.1", "https://localhost")

    # MP-21, MP-83
    def test_a_question_passes_tls_on_both_sides(self):
        self.make_certificate("provider")
        self.make_certificate("gate")
        provider, url = self.provider()
        proxy = self.proxy(url, apis=[CHAT], ca_file="provider.crt", more="  tls: {cert_file: gate.crt, key_file: gate.key}\n")
        self.assertTrue(proxy.url.startswith("https://"), proxy.url)
        where = urllib.parse.urlsplit(proxy.url)
        trusting = ssl.create_default_context(cafile=str(self.folder / "gate.crt"))
        for stream in (False, True):
            connection = http.client.HTTPSConnection(where.hostname, where.port, timeout=PATIENCE, context=trusting)
            self.addCleanup(connection.close)
            connection.request("POST", PATHS[CHAT], json.dumps(question(CHAT, "hello", stream)), dict(proxy.headers(CHAT)))
            response = connection.getresponse()
            body = response.read()
            self.assertEqual(response.status, 200, body)
            self.assertIn(b"[DONE]" if stream else b"Hello from the model.", body)
        self.assertEqual(len(provider.requests), 2)

    # MP-21
    def test_a_provider_that_cannot_prove_its_name_gets_nothing(self):
        self.make_certificate("provider")
        self.make_certificate("other", "DNS:elsewhere.example.com")
        for name, members in (("provider", {}), ("other", {"ca_file": "other.crt"})):
            with self.subTest(name):
                provider, url = self.provider(name)
                proxy = self.proxy(url, apis=[CHAT], **members)
                self.assertEqual(proxy.ask(CHAT, "hello").status, 502)
                self.assertEqual(provider.requests, [])

    # MP-21
    def test_an_old_version_is_not_spoken(self):
        self.make_certificate("provider")
        with self.assertWarns(DeprecationWarning):
            provider, url = self.provider(most=ssl.TLSVersion.TLSv1_1)
        proxy = self.proxy(url, apis=[CHAT], ca_file="provider.crt")
        self.assertEqual(proxy.ask(CHAT, "hello").status, 502)
        self.assertEqual(provider.requests, [])


if __name__ == "__main__":
    unittest.main()
