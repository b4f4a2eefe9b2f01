#!/usr/bin/env python3
"""Tests the container file: builds its image from this program's package, and starts it. The package of this build replaces the first stage, which compiles;
the rest is done as in the file. The base is made of Debian packages, because tests reach no image registry."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

import npm_peers
from cli_support import BIN

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "ops/container/Containerfile"
BASE = npm_peers.CACHE.parent / "container" / "debian-12.tar"
MIRROR = "deb http://deb.debian.org/debian bookworm main"
CONFIG = """version: 1
serve:
  listen: 127.0.0.1:0
  upstreams:
    - {name: echo, command: [cat]}
"""


def skip(why):
    print(f"SKIPPED: {why}", file=sys.stderr)
    raise unittest.SkipTest(why)


class ContainerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [name for name in ("buildah", "mmdebstrap", "dpkg-shlibdeps") if shutil.which(name) is None]
        if missing:
            skip(f"{', '.join(missing)} is not installed")
        if os.geteuid() != 0:
            skip("images are built as root here")
        folder = tempfile.TemporaryDirectory(prefix="sallyport-container-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.addClassCleanup(cls.leave)
        (cls.folder / "registries.conf").write_text('unqualified-search-registries = ["docker.io"]\n')
        cls.base()
        made = cls.buildah("from", "scratch").strip()
        cls.buildah("add", made, BASE, "/")
        for tag in ("12", "12-slim"):
            cls.buildah("commit", "--quiet", made, f"docker.io/library/debian:{tag}")
        (cls.folder / "package/out").mkdir(parents=True)
        subprocess.run([ROOT / "tools/make-deb.sh", pathlib.Path(BIN).resolve().parents[1], cls.folder / "package/out"], check=True, capture_output=True, timeout=600)
        cls.buildah("build", "--isolation", "chroot", "--pull-never", "--build-context", f"build={cls.folder / 'package'}", "-f", FILE, "-t", "sallyport", cls.folder / "package")
        cls.image = json.loads(cls.buildah("inspect", "--type", "image", "sallyport"))["OCIv1"]["config"]

    @classmethod
    def base(cls):
        if BASE.exists():
            return
        BASE.parent.mkdir(parents=True, exist_ok=True)
        made = subprocess.run(["mmdebstrap", "--variant=minbase", "--mode=root", "bookworm", cls.folder / "base.tar", MIRROR], capture_output=True, text=True, timeout=400)
        if made.returncode != 0:
            skip(f"Debian's packages cannot be had: {made.stderr.strip().splitlines()[-1:]}")
        shutil.move(cls.folder / "base.tar", BASE)

    @classmethod
    def buildah(cls, *words):
        done = subprocess.run(["buildah", "--root", cls.folder / "root", "--runroot", cls.folder / "run", "--storage-driver", "vfs", *words], capture_output=True, text=True,
                              timeout=500, env={**os.environ, "CONTAINERS_REGISTRIES_CONF": str(cls.folder / "registries.conf")})
        if done.returncode != 0:
            raise AssertionError(f"buildah {words[0]}: {done.stdout[-2000:]} {done.stderr[-2000:]}")
        return done.stdout

    @classmethod
    def leave(cls):
        cls.buildah("rm", "--all")

    def start(self, container, config):
        command = self.image["Entrypoint"] + self.image["Cmd"]
        self.assertEqual(command[-2:], ["--config", "/etc/sallyport/config.yaml"])
        process = subprocess.Popen(
            ["buildah", "--root", self.folder / "root", "--runroot", self.folder / "run", "--storage-driver", "vfs", "run", "--isolation", "chroot", "--user", self.image["User"],
             "-v", f"{config}:/etc/sallyport/config.yaml:ro", container, "--", *command[:-2], "--json", *command[-2:]],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, process)
        line = process.stdout.readline()
        self.assertTrue(line, "it did not start: " + (process.stderr.read() if not line else ""))
        return process, json.loads(line)

    @staticmethod
    def end(process):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(30)
        process.stdout.close()
        process.stderr.close()

    def inside(self, container, *words):
        """Fails if the command fails. Its output may be lost, because this isolation does not wait for it."""
        self.buildah("run", "--isolation", "chroot", "--user", self.image["User"], container, "--", *words)

    def test_the_image_starts_a_gate_without_rights_that_answers_and_is_healthy(self):
        self.assertEqual(self.image["User"], "sallyport")
        self.assertEqual(list(self.image["Volumes"]), ["/var/lib/sallyport"])
        self.assertEqual(list(self.image["ExposedPorts"]), ["8765/tcp"])
        container = self.buildah("from", "--pull-never", "sallyport").strip()
        config = self.folder / "config.yaml"
        config.write_text(CONFIG)
        config.chmod(0o644)
        process, started = self.start(container, config)
        with urllib.request.urlopen(started["url"].replace("/mcp", "") + "/healthz", timeout=30) as answer:
            self.assertEqual(answer.status, 200)
        with urllib.request.urlopen(started["url"].replace("/mcp", "") + "/console/", timeout=30) as answer:
            self.assertIn(b"<title>Sallyport", answer.read())
        self.inside(container, "sh", "-c", 'test "$(id -u)" != 0')
        self.inside(container, "test", "-f", "/var/lib/sallyport/ledger.db")
        self.inside(container, *json.loads(re.search(r"^HEALTHCHECK .* CMD (\[.*\])$", FILE.read_text(), re.M)[1]))
        self.assertIsNone(process.poll())

    def test_the_stage_that_is_stood_in_for_makes_the_package(self):
        first = FILE.read_text().split("\nFROM ")[1]
        self.assertTrue(first.startswith("debian:12 AS build\n"))
        self.assertIn("\nRUN make deb OUT=/out\n", first)
        self.assertIn("\ndeb: build\n", (ROOT / "Makefile").read_text())

    def test_what_is_needed_to_build_is_not_in_the_image(self):
        container = self.buildah("from", "--pull-never", "sallyport").strip()
        for program in ("clang-19", "cmake", "esbuild", "node"):
            self.inside(container, "sh", "-c", f"! command -v {program}")
        self.inside(container, "sh", "-c", 'test -z "$(ls -A /tmp /var/lib/apt/lists | grep -v :)"')


if __name__ == "__main__":
    unittest.main()
