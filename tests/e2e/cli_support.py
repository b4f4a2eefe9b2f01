"""Runs the program from outside, in a separate environment."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BIN = os.environ.get("SALLYPORT_BIN", "build/bin/sallyport")
MAKE_LEDGER = os.environ.get("MAKE_LEDGER_BIN", "build/bin/make_ledger")


def within(seconds):
    """Returns a time limit: this many seconds on an idle machine, and more if other programs need its processors."""
    return seconds * max(1, 2 * os.getloadavg()[0] / (os.cpu_count() or 1))


class Outcome:
    def __init__(self, process):
        self.code = process.returncode
        self.raw = process.stdout
        self.out = process.stdout.decode("utf-8", "replace")
        self.err = process.stderr.decode("utf-8", "replace")

    def lines(self):
        """One JSON value a line."""
        return [json.loads(line) for line in self.out.splitlines()]

    def json(self):
        return json.loads(self.out)


class CliTest(unittest.TestCase):
    CALLS = 8

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-e2e-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.data = self.folder / "data"
        self.home = self.folder / "home"
        self.home.mkdir()

    def make_ledger(self, calls=None):
        subprocess.run([MAKE_LEDGER, self.data, str(self.CALLS if calls is None else calls)], check=True, timeout=120)

    def environment(self, **more):
        known = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.home), "TERM": "xterm", "LANG": "C.UTF-8"}
        known.update({name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")})
        return {**known, **{name: str(value) for name, value in more.items()}}

    def run_bare(self, *arguments, stdin=b"", env=None, **options):
        process = subprocess.run(
            [BIN, *map(str, arguments)], input=stdin, capture_output=True, timeout=120,
            env=env or self.environment(), cwd=self.folder, **options)
        return Outcome(process)

    def cli(self, *arguments, **options):
        return self.run_bare(*arguments, "--data-dir", self.data, **options)

    def good(self, *arguments, **options):
        outcome = self.cli(*arguments, **options)
        self.assertEqual(outcome.code, 0, f"{arguments}: {outcome.err}{outcome.out}")
        self.assertEqual(outcome.err, "")
        return outcome

    def refused(self, code, *arguments, **options):
        """Fails with this exit code and one line on stderr, which is returned."""
        outcome = self.cli(*arguments, **options)
        self.assertEqual(outcome.code, code, f"{arguments}: {outcome.err}{outcome.out}")
        self.assertEqual(outcome.err.count("\n"), 1, outcome.err)
        self.assertTrue(outcome.err.startswith("sallyport: "), outcome.err)
        return outcome.err

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def keys(self):
        return [row["key"] for row in self.good("keys", "show", "--json").lines()]
