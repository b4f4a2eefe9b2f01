"""A real Chromium for the tests of the console. If it or its driver is missing, the tests are skipped with a loud message."""
import atexit
import json
import pathlib
import select
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import npm_peers  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PEERS = npm_peers.Peers("browser", {"playwright-core": "1.65.0", "@axe-core/playwright": "4.14.0"})
WAIT = 120


class Browser:
    """One process of Chromium for all cases of a program."""
    shared = None

    @classmethod
    def get(cls):
        if cls.shared is None:
            cls.shared = cls()
        return cls.shared

    def __init__(self):
        chromium = shutil.which("chromium")
        if chromium is None:
            print("SKIPPED: chromium is not installed", file=sys.stderr)
            raise unittest.SkipTest("chromium is not installed")
        PEERS.need()
        self.process = subprocess.Popen([npm_peers.node(20), HERE / "browser_driver.mjs", PEERS.folder, chromium], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)
        self.version = self.answer()["ready"]
        self.made = 0

    def answer(self):
        if not select.select([self.process.stdout], [], [], WAIT)[0]:
            raise TimeoutError("the browser does not answer")
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the browser has ended")
        return json.loads(line)

    def ask(self, **question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        answer = self.answer()
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["value"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(20)
        self.process.stdout.close()


class BrowserTest(unittest.TestCase):
    """Each case has a separate context without cookies or storage of other cases."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = Browser.get()

    def context(self, **options):
        self.browser.made += 1
        self.page = f"c{self.browser.made}"
        self.browser.ask(action="open", id=self.page, options={"locale": "en-GB", **options})
        self.addCleanup(self.browser.ask, action="close", id=self.page)
        return self.page

    def run_page(self, code, context=None, **args):
        """Runs code with `page` and `args`; returns what it returns."""
        return self.browser.ask(action="run", id=context or self.page, code=code, args=args)
