"""The files of the web console, as a server delivers them: bytes inside the program, with headers for browsers."""
import gzip
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from cli_support import BIN  # noqa: E402
from serve_support import Server, ServeTest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; "
          "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "require-trusted-types-for 'script'; trusted-types sallyport")
CONFIG = """
version: 1
data_dir: {data}
{top}
serve:
  listen: 127.0.0.1:0
  {inside}
"""


class ConsoleDeliveryTest(ServeTest):
    def console(self, top="", inside="", program=BIN):
        data = tempfile.mkdtemp(dir=self.folder)  # two servers of one test share no socket
        server = Server(self, self.write("console.yaml", CONFIG.format(top=top, inside=inside, data=data)), program=program)
        self.addCleanup(self.end_server, server)
        return server

    def get(self, server, path, method="GET", **headers):
        return server.ask(method, path, headers={"Content-Type": None, **{name.replace("_", "-"): value for name, value in headers.items()}},
                          token=False)

    def names(self, server):
        """Returns the files that the shell loads, and the files that those name."""
        shell = self.get(server, "/console/")[2].decode()
        found = set(re.findall(r'"(/console/[^"]+\.[a-z]+)"', shell))
        for script in [name for name in found if name.endswith(".js")]:
            found |= set(re.findall(r'"(/console/[^"]+\.js(?:on)?)"', self.get(server, script)[2].decode()))
        return sorted(found)

    # CO-1
    def test_a_program_that_stands_alone_serves_the_console(self):
        alone = pathlib.Path(tempfile.mkdtemp(dir=self.folder)) / "sallyport"
        shutil.copy2(BIN, alone)
        server = self.console(program=alone)
        status, headers, body = self.get(server, "/console/")
        self.assertEqual(status, 200)
        self.assertEqual(headers["content-type"], "text/html; charset=utf-8")
        self.assertTrue(body.startswith(b"<!doctype html>"))
        names = self.names(server)
        self.assertEqual({name.rsplit(".", 1)[1] for name in names}, {"js", "json", "css", "svg"})
        for name in [name for name in names if name != "/console/build.json"]:
            status, _, body = self.get(server, name)
            self.assertEqual(status, 200, name)
            self.assertIn(hashlib.sha256(body).hexdigest()[:16], name)
        # The program itself holds the bytes: no file that it has open or mapped is an asset.
        maps = pathlib.Path(f"/proc/{server.process.pid}/maps").read_text()
        opened = [os.readlink(link) for link in pathlib.Path(f"/proc/{server.process.pid}/fd").iterdir()]
        self.assertFalse([line for line in [*maps.splitlines(), *opened] if re.search(r"\.(js|css|html|svg|gz)$", line)])

    # CO-1
    def test_every_screen_has_the_shell_and_no_other_file_exists(self):
        server = self.console()
        shell = self.get(server, "/console/")[2]
        for screen in ("approvals", "approvals/01a1", "calls", "calls/01a1", "live", "proof", "login"):
            status, _, body = self.get(server, f"/console/{screen}")
            self.assertEqual((status, body), (200, shell), screen)
        for name in ("shell.html", "app.js", "nothing.js", "../README.md", "%2e%2e/x.js"):
            self.assertEqual(self.get(server, f"/console/{name}")[0], 404, name)
        self.assertEqual(self.get(server, "/console")[1]["location"], "/console/")
        self.assertEqual(self.get(server, "/console/", method="POST")[0], 405)

    # CO-3, CO-4
    def test_every_response_carries_the_headers_for_browsers(self):
        server = self.console()
        paths = ["/console/", "/console/approvals", "/console", "/console/nothing.js", "/console/licenses.txt", "/console/verify.html",
                 *self.names(server)]
        for path in paths:
            for method in ("GET", "HEAD", "POST"):
                _, headers, _ = self.get(server, path, method=method)
                self.assertEqual(headers["content-security-policy"], POLICY, path)
                self.assertEqual(headers["x-content-type-options"], "nosniff", path)
                self.assertEqual(headers["referrer-policy"], "no-referrer", path)
                self.assertEqual(headers["cross-origin-opener-policy"], "same-origin", path)
                self.assertEqual(headers["cross-origin-resource-policy"], "same-origin", path)
                features = dict(feature.strip().split("=") for feature in headers["permissions-policy"].split(","))
                self.assertEqual({name for name, who in features.items() if who == "(self)"},
                                 {"publickey-credentials-get", "publickey-credentials-create", "clipboard-write"}, path)
                self.assertEqual({who for who in features.values()}, {"(self)", "()"}, path)
                self.assertIn("camera", features)

    # CO-4: a request that was refused before routing once had a response without these headers
    def test_a_request_that_cannot_be_read_is_refused_with_the_headers_for_browsers(self):
        server = self.console()
        host = f"Host: 127.0.0.1:{server.url.port}\r\n"
        wanted = {name: value for name, value in self.get(server, "/console/")[1].items()
                  if name in ("x-content-type-options", "referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy")}
        self.assertEqual(len(wanted), 5)
        for status, request in ((431, f"GET /console/ HTTP/1.1\r\n{host}X: {'a' * 200_000}\r\n\r\n"), (431, f"GET /console/{'a' * 200_000} HTTP/1.1\r\n{host}\r\n"),
                                (400, f"POST /api/v1/session/token HTTP/1.1\r\n{host}Content-Length: x\r\n\r\n"), (400, f"GET /console/ HTTP/1.1\r\n{host}X: a\r\n b\r\n\r\n"),
                                (501, f"POST /api/v1/session/token HTTP/1.1\r\n{host}Transfer-Encoding: gzip\r\n\r\n"), (404, f"GET /api/v1 HTTP/1.1\r\n{host}\r\n")):
            with socket.create_connection((server.url.hostname, server.url.port), timeout=20) as raw:
                raw.sendall(request.encode())
                response = http.client.HTTPResponse(raw)
                response.begin()
                got = {name.lower(): value for name, value in response.getheaders()}
                response.close()
            self.assertEqual((response.status, {name: got.get(name) for name in wanted}), (status, wanted), request[:60])

    # CO-8 (partly)
    def test_only_files_that_are_named_by_their_content_are_kept(self):
        server = self.console()
        for name in [name for name in self.names(server) if name != "/console/build.json"]:
            self.assertEqual(self.get(server, name)[1]["cache-control"], "public, max-age=31536000, immutable", name)
        for name in ("/console/", "/console/calls"):
            self.assertEqual(self.get(server, name)[1]["cache-control"], "no-store", name)
        for name in ("/console/build.json", "/console/licenses.txt", "/console/verify.html"):
            self.assertEqual(self.get(server, name)[1]["cache-control"], "no-cache", name)
        shell = self.get(server, "/console/")[2].decode()
        build = json.loads(self.get(server, "/console/build.json")[2])["build"]
        self.assertIn(f'name="sallyport-build" content="{build}"', shell)

    # CO-9
    def test_files_are_gzipped_where_the_client_accepts_it(self):
        server = self.console()
        for path in ("/console/", "/console/licenses.txt", "/console/verify.html", *self.names(server)):
            plain = self.get(server, path)
            self.assertNotIn("content-encoding", plain[1])
            packed = self.get(server, path, Accept_Encoding="br, gzip;q=0.8")
            self.assertEqual(packed[1]["content-encoding"], "gzip", path)
            self.assertEqual(gzip.decompress(packed[2]), plain[2], path)
            self.assertNotEqual(packed[1]["etag"], plain[1]["etag"])
            for headers in (plain[1], packed[1]):
                self.assertIn("Accept-Encoding", headers["vary"])
            head = self.get(server, path, method="HEAD", Accept_Encoding="gzip")
            self.assertEqual((head[2], head[1]["content-length"]), (b"", str(len(packed[2]))), path)
        for accepted, encoding in (("gzip;q=0", None), ("*", "gzip"), ("gzip;q=0, *", None), ("identity", None), ("*;q=0", None),
                                   ("GZIP", "gzip"), ("deflate, x-gzip", "gzip"), ("gzip;q=0.000", None), ("gzip;q=0.001", "gzip")):
            self.assertEqual(self.get(server, "/console/", Accept_Encoding=accepted)[1].get("content-encoding"), encoding, accepted)

    # CO-9
    def test_a_client_that_has_a_form_gets_304_for_that_form(self):
        server = self.console()
        for path in ("/console/", "/console/licenses.txt", *self.names(server)):
            for form in ({}, {"Accept_Encoding": "gzip"}):
                tag = self.get(server, path, **form)[1]["etag"]
                for sent in (tag, f'"other", {tag}', f"W/{tag}", "*"):
                    status, headers, body = self.get(server, path, If_None_Match=sent, **form)
                    self.assertEqual((status, body, headers["etag"]), (304, b"", tag), (path, sent))
                self.assertEqual(self.get(server, path, If_None_Match='"other"', **form)[0], 200)
            other = self.get(server, path, Accept_Encoding="gzip")[1]["etag"]
            self.assertEqual(self.get(server, path, If_None_Match=other)[0], 200, path)

    # CO-10
    def test_a_disabled_console_is_not_served_and_nothing_else_changes(self):
        enabled = self.console()
        off = "console: {enabled: false}"
        others = ["/healthz", "/readyz", "/metrics", "/api/v1/approvals", "/mcp", "/", "/nothing"]
        wanted = [self.get(enabled, path)[0] for path in others]
        for place in ({"top": off}, {"inside": off}):
            server = self.console(**place)
            for path in ("/console/", "/console", "/console/licenses.txt", "/console/verify.html", "/console/build.json"):
                self.assertEqual(self.get(server, path)[0], 404, path)
            self.assertEqual([self.get(server, path)[0] for path in others], wanted)

    def test_a_console_section_is_written_once_and_has_known_keys(self):
        for text, said in ((CONFIG.format(top="console: {enabled: false}", inside="console: {enabled: true}", data="data"), "write it once"),
                           (CONFIG.format(top="console: {enable: false}", inside="", data="data"), "enable"),
                           (CONFIG.format(top="", inside="console: {enabled: perhaps}", data="data"), "perhaps")):
            done = subprocess.run([str(BIN), "serve", "--config", str(self.write("bad.yaml", text))], capture_output=True, text=True,
                                  env=self.environment(), cwd=self.folder, timeout=30)
            self.assertNotEqual(done.returncode, 0, text)
            self.assertIn(said, done.stderr)

    # The browser keeps this machine's name separate from other local servers.
    def test_the_local_name_of_the_console_is_served(self):
        server = self.console()
        port = server.url.port
        self.assertEqual(self.get(server, "/console/", Host=f"sallyport.localhost:{port}")[0], 200)
        self.assertEqual(self.get(server, "/console/", Host=f"gate.example:{port}")[0], 403)


class ConsoleBuildTest(unittest.TestCase):
    def build(self):
        out = tempfile.TemporaryDirectory()
        self.addCleanup(out.cleanup)
        tools = pathlib.Path(tempfile.mkdtemp(dir=out.name))
        for tool in ("esbuild", "gzip", "sha256sum", "cut", "tr", "basenc", "base64", "sed", "cat", "cp", "mv", "rm", "mkdir", "find", "head",
                     "dirname", "sh", "grep"):
            (tools / tool).symlink_to(shutil.which(tool))
        target = pathlib.Path(out.name) / "console"
        subprocess.run([ROOT / "console" / "build.sh", target], check=True, env={"PATH": str(tools)}, timeout=60)
        return {file.name: file.read_bytes() for file in target.iterdir()}

    # CO-6
    def test_two_builds_without_node_contain_equal_assets(self):
        first = self.build()
        self.assertEqual(first, self.build())
        self.assertIn("verify.html.gz", first)

    # CO-7 (partly)
    def test_the_licences_of_all_vendored_packages_are_shown(self):
        shown = self.build()["licenses.txt"].decode()
        packages = json.loads((ROOT / "console/vendor/lock.json").read_text())["packages"]
        self.assertGreaterEqual(len(packages), 3)
        for package in packages:
            self.assertIn(f"{package['name']} {package['version']}\n", shown)
            self.assertIn((ROOT / "console/vendor" / package["name"] / "LICENSE").read_text(), shown)

    # CO-70 (partly): the sizes of section 10
    def test_the_sizes_are_within_their_budgets(self):
        packed = {name: len(content) for name, content in self.build().items() if name.endswith(".gz")}

        def size(prefix):
            return sum(bytes for name, bytes in packed.items() if name.startswith(prefix))
        kilobyte = 1000
        self.assertLessEqual(size("app-") + size("worker-"), 60 * kilobyte)
        self.assertLessEqual(size("style-"), 10 * kilobyte)
        self.assertLessEqual(size("shell"), 2 * kilobyte)
        self.assertLessEqual(size("verify.html"), 12 * kilobyte)
        self.assertLessEqual(sum(packed.values()), 300 * kilobyte)


if __name__ == "__main__":
    unittest.main()
