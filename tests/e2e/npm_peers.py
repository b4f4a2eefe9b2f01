"""Programs from npm that tests communicate with. They are installed once, into SALLYPORT_TEST_CACHE; without a registry
the tests that need them are skipped with a loud message."""
import fcntl
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import unittest

CACHE = pathlib.Path(os.environ.get("SALLYPORT_TEST_CACHE", pathlib.Path(__file__).parent.parent.parent / ".cache" / "npm")).resolve()
NODE = "24.21.0"
MACHINES = {"x86_64": "x64", "aarch64": "arm64"}


class Peers:
    """A folder of packages, each in the version for which the tests were written."""

    def __init__(self, name, packages):
        self.folder = CACHE / name
        self.modules = self.folder / "node_modules"
        self.packages = packages

    def installed(self):
        def version(package):
            file = self.modules / package / "package.json"
            return json.loads(file.read_text())["version"] if file.exists() else None
        return all(version(package) == wanted for package, wanted in self.packages.items())

    def install(self):
        """Returns the reason why they are missing, or None."""
        if self.installed():
            return None
        if shutil.which("npm") is None:
            return "npm is not installed"
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # tests run concurrently
            return None if self.installed() else self.fetch()

    def fetch(self):
        (self.folder / "package.json").write_text('{"private":true}\n')
        wanted = [f"{package}@{version}" for package, version in self.packages.items()]
        try:
            done = subprocess.run(["npm", "install", "--prefix", self.folder, "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", *wanted],
                                  capture_output=True, text=True, timeout=240)
        except subprocess.TimeoutExpired:
            return "the registry did not answer in time"
        if done.returncode == 0 and self.installed():
            return None
        said = (done.stderr or "npm failed").strip().splitlines()
        return next((line for line in said if line.startswith("npm error")), said[0])

    def need(self):
        """For `setUpClass`: skips its tests if the packages are missing."""
        reason = self.install()
        if reason is not None:
            print(f"SKIPPED: {', '.join(self.packages)} could not be installed: {reason}", file=sys.stderr)
            raise unittest.SkipTest(reason)


def node(least):
    """Returns a node of at least this version: the machine's own, else one from npm."""
    own = shutil.which("node")
    if own is not None:
        version = subprocess.run([own, "--version"], capture_output=True, text=True, timeout=30).stdout.strip()
        if int(version.lstrip("v").split(".")[0]) >= least:
            return own
    package = f"node-linux-{MACHINES.get(platform.machine(), platform.machine())}"
    peers = Peers("node", {package: NODE})
    peers.need()
    return str(peers.modules / package / "bin" / "node")
