#!/usr/bin/env python3
"""`serve.tls`: the server speaks TLS by itself."""
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import time
import unittest

from mcp_support import PATIENCE
from serve_support import ServeTest, Session

TLS = "tls: {cert_file: gate.crt, key_file: gate.key}"


class Tls(ServeTest):
    def make_certificate(self, name="gate", into="gate"):
        """Makes a self-signed certificate; its files replace the files of `into`."""
        made = [self.folder / f"{name}.new.{kind}" for kind in ("key", "crt")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", str(made[0]), "-out", str(made[1])], check=True, stderr=subprocess.DEVNULL)
        made[0].chmod(0o600)
        os.replace(made[0], self.folder / f"{into}.key")
        os.replace(made[1], self.folder / f"{into}.crt")

    def trusting(self):
        return ssl.create_default_context(cafile=str(self.folder / "gate.crt"))

    def serve_tls(self, more=""):
        self.make_certificate()
        server = self.serve(TLS + more)
        server.tls = self.trusting()
        return server

    def await_line(self, server, text, count=1):
        end = time.monotonic() + PATIENCE
        while sum(text in line for line in list(server.errors)) < count:
            self.assertLess(time.monotonic(), end, server.errors)
            time.sleep(0.02)

    def subject(self, server, context=None):
        """Returns the name in the certificate that a new connection gets."""
        context = context or ssl._create_unverified_context()
        with socket.create_connection((server.url.hostname, server.url.port), PATIENCE) as plain:
            with context.wrap_socket(plain, server_hostname=server.url.hostname) as peer:
                der = peer.getpeercert(binary_form=True)
        text = subprocess.run(["openssl", "x509", "-inform", "der", "-noout", "-subject"], input=der, stdout=subprocess.PIPE, check=True)
        return text.stdout.decode().strip().rpartition("= ")[2]

    def metric(self, server, name):
        page = server.ask("GET", "/metrics", token=False)[2].decode()
        return [float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name)]

    # MP-83
    def test_every_page_and_the_tools_are_served_over_tls(self):
        server = self.serve_tls()
        self.assertEqual(server.url.scheme, "https")
        self.assertEqual(Session(server).said("echo", {"message": "on"}), "on")
        for path in ("/healthz", "/readyz", "/metrics"):
            self.assertEqual(server.ask("GET", path, token=False)[0], 200, path)
        self.assertEqual(server.ask("GET", "/api/v1/approvals", token=False)[0], 401)
        status, _, body = server.ask("GET", "/.well-known/oauth-protected-resource/mcp", token=False)
        self.assertEqual((status, json.loads(body)["resource"]), (200, server.started["url"]))
        self.await_line(server, "served at https://127.0.0.1:")
        self.assertEqual(server.stop(), 0)

    # MP-83
    def test_names_and_origins_are_those_of_https(self):
        server = self.serve_tls("\n  allowed_hosts: [gate.example.com]")
        port = server.url.port
        for origin, status in ((f"https://127.0.0.1:{port}", 200), (f"https://gate.example.com:{port}", 200), ("https://gate.example.com", 200),
                               (f"http://127.0.0.1:{port}", 403), ("http://gate.example.com", 403), ("https://other.example.com", 403)):
            self.assertEqual(server.ask("GET", "/healthz", headers={"Origin": origin}, token=False)[0], status, origin)

    # MP-83, MP-12
    def test_old_versions_plain_http_and_other_protocols_get_nothing(self):
        server = self.serve_tls()
        context = self.trusting()
        context.set_alpn_protocols(["h2", "http/1.1"])
        with socket.create_connection((server.url.hostname, server.url.port), PATIENCE) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as peer:
                self.assertEqual((peer.version(), peer.selected_alpn_protocol()), ("TLSv1.3", "http/1.1"))
        context = self.trusting()
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with socket.create_connection((server.url.hostname, server.url.port), PATIENCE) as plain:
            with context.wrap_socket(plain, server_hostname="localhost") as peer:
                self.assertEqual(peer.version(), "TLSv1.2")
        context = self.trusting()
        context.set_ciphers("ALL:@SECLEVEL=0")
        with self.assertWarns(DeprecationWarning):
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = ssl.TLSVersion.TLSv1_1
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            self.subject(server, context)
        plain = http.client.HTTPConnection(server.url.hostname, server.url.port, timeout=PATIENCE)
        self.addCleanup(plain.close)
        with self.assertRaises((http.client.HTTPException, ConnectionError)):
            plain.request("GET", "/healthz")
            plain.getresponse()
        self.assertEqual(server.ask("GET", "/healthz", token=False)[0], 200)

    # MP-83
    def test_a_changed_certificate_is_used_for_new_connections(self):
        server = self.serve_tls()
        self.assertEqual(self.subject(server), "gate")
        kept = server.connection()
        self.assertEqual(server.ask("GET", "/healthz", token=False, connection=kept)[0], 200)
        self.make_certificate("second")
        self.await_line(server, "new connections use the changed certificate")
        self.assertEqual(self.subject(server), "second")
        # An open connection stays open.
        self.assertEqual(server.ask("GET", "/healthz", token=False, connection=kept)[0], 200)
        server.tls = self.trusting()
        self.assertEqual(self.metric(server, 'sallyport_tls_reloads_total{outcome="taken"}'), [1.0])
        end = self.metric(server, "sallyport_tls_certificate_end_seconds")[0]
        self.assertAlmostEqual(end, time.time() + 2 * 86400, delta=600)

    # MP-83
    def test_a_bad_certificate_leaves_the_last_good_one_in_use(self):
        server = self.serve_tls()
        self.make_certificate("other", into="other")
        (self.folder / "gate.crt").write_bytes((self.folder / "other.crt").read_bytes())
        self.await_line(server, "the changed certificate was refused, the last good one stays in use")
        self.await_line(server, "is not the key of the certificate")
        self.assertEqual(self.subject(server), "gate")
        server.tls = ssl._create_unverified_context()
        self.assertEqual(self.metric(server, 'sallyport_tls_reloads_total{outcome="refused"}'), [1.0])
        (self.folder / "gate.key").write_bytes((self.folder / "other.key").read_bytes())
        self.await_line(server, "new connections use the changed certificate")
        self.assertEqual(self.subject(server), "other")

    # MP-83
    def test_sighup_takes_up_other_files_and_refuses_bad_ones(self):
        server = self.serve_tls()
        self.make_certificate("third", into="third")
        self.configure(TLS.replace("gate.", "third."))
        server.process.send_signal(signal.SIGHUP)
        self.await_line(server, "SIGHUP: the configuration is read again")
        end = time.monotonic() + PATIENCE
        while self.subject(server) != "third":
            self.assertLess(time.monotonic(), end, server.errors)
        self.configure(TLS.replace("gate.", "missing."))
        server.process.send_signal(signal.SIGHUP)
        self.await_line(server, "the configuration was refused, what was in force stays")
        self.assertEqual(self.subject(server), "third")
        self.assertFalse([line for line in server.errors if "from the next start" in line])

    # MP-83
    def test_what_cannot_be_served_is_refused_at_the_start(self):
        self.make_certificate()
        self.make_certificate("other", into="other")
        (self.folder / "gate.key").chmod(0o644)
        agents = "agents: [{name: a, token_sha256: '" + "0" * 64 + "'}]"
        outside = f"listen: 0.0.0.0:0\n  {agents}\n  allowed_hosts: [gate.example.com]"
        for section, why in ((TLS, "chmod 600"), (TLS.replace("gate.key", "other.key"), "is not the key of the certificate"),
                             (TLS.replace("gate.key", "none.key"), "cannot be read"), ("tls: {cert_file: gate.crt}", "key_file"),
                             ("tls: on", "or `off`"), (outside, "`tls: off`"), (outside + "\n  public_url: http://gate.example.com", "`tls: off`"),
                             (outside + "\n  public_url: https://gate.example.com", "`tls: off`")):
            config = self.configure(section)
            if section.startswith("listen"):
                config = self.write("serve.yaml", config.read_text().replace("  listen: 127.0.0.1:0\n", "", 1))
            done = self.run_bare("serve", "--config", config)
            self.assertEqual(done.code, 64, (section, done.err))
            self.assertIn(why, done.err, section)

    # MP-83
    def test_an_address_for_others_needs_tls_or_a_word_that_it_is_off(self):
        self.make_certificate()
        agents = "agents: [{name: a, token_sha256: '" + "0" * 64 + "'}]"
        for tls in ("tls: off", TLS):
            with self.subTest(tls):
                CONFIG = self.CONFIG
                try:
                    self.CONFIG = CONFIG.replace("127.0.0.1:0", "0.0.0.0:0")
                    server = self.serve(f"{agents}\n  allowed_hosts: [gate.example.com, 127.0.0.1]\n  {tls}")
                finally:
                    self.CONFIG = CONFIG
                server.tls = self.trusting()
                self.assertEqual(server.url.scheme, "https" if tls == TLS else "http")
                server.url = server.url._replace(netloc=f"127.0.0.1:{server.url.port}")
                self.assertEqual(server.ask("GET", "/healthz", token=False)[0], 200)
                self.assertEqual(server.stop(), 0)

    @unittest.skipUnless(shutil.which("curl"), "there is no curl")
    # MP-83
    def test_curl_checks_the_certificate_and_reads_a_page(self):
        server = self.serve_tls()
        url = server.started["url"].replace("/mcp", "/healthz")
        good = subprocess.run(["curl", "-sS", "--cacert", str(self.folder / "gate.crt"), url], stdout=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(good.returncode, 0)
        bad = subprocess.run(["curl", "-s", url], timeout=PATIENCE)
        self.assertEqual(bad.returncode, 60)

    # MP-83: a client that sends nothing after it has connected is disconnected.
    def test_silent_handshakes_keep_nobody_out(self):
        server = self.serve_tls()
        silent = [socket.create_connection((server.url.hostname, server.url.port), PATIENCE) for _ in range(20)]
        self.addCleanup(lambda: [one.close() for one in silent])
        self.assertEqual(server.ask("GET", "/healthz", token=False)[0], 200)
        self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
