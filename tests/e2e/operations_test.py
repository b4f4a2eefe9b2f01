#!/usr/bin/env python3
"""Files for operators: the Debian package, alert rules, the dashboard."""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from cli_support import BIN
from console_api_support import ApiTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPS = ROOT / "ops"
RULES = OPS / "prometheus/sallyport.rules.yaml"
NAME = re.compile(r"\bsallyport_[a-z_]+")


def family(name):
    return re.sub("_(bucket|sum|count)$", "", name)


def board():
    return json.loads((OPS / "grafana/sallyport.json").read_text())


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("dpkg-shlibdeps") is None:
            print("SKIPPED: dpkg-dev is not installed", file=sys.stderr)
            raise unittest.SkipTest("dpkg-dev is not installed")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = pathlib.Path(cls.folder.name)
        build = pathlib.Path(BIN).resolve().parents[1]
        cls.file = pathlib.Path(subprocess.run([ROOT / "tools/make-deb.sh", build, cls.out], capture_output=True, text=True, check=True, timeout=300).stdout.strip())

    def said(self, *words):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=True, timeout=120).stdout

    def test_it_holds_the_program_and_says_what_it_needs(self):
        files = {line.split()[-1] for line in self.said("dpkg-deb", "-c", self.file).splitlines()}
        for name in ("./usr/bin/sallyport", "./usr/share/bash-completion/completions/sallyport", "./usr/share/doc/sallyport/copyright",
                     "./usr/share/doc/sallyport/console.md", "./usr/share/sallyport/prometheus/sallyport.rules.yaml", "./usr/share/sallyport/grafana/sallyport.json"):
            self.assertIn(name, files)
        self.assertTrue(all(line.split()[1] == "root/root" for line in self.said("dpkg-deb", "-c", self.file).splitlines()))
        self.assertFalse([name for name in files if name.startswith(("./etc", "./var", "./lib"))], "it brings no settings and no service")
        needs = self.said("dpkg-deb", "-f", self.file, "Depends")
        for library in ("libc6", "libsodium", "libsqlite3", "libssl", "libpq5"):
            self.assertIn(library, needs)

    def test_it_is_installed_runs_and_is_purged(self):
        root = self.out / "root"
        for folder in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"):
            (root / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").write_text("")
        dpkg = ("dpkg", f"--root={root}", "--force-depends", "--force-not-root", "--force-script-chrootless", "--log=/dev/null")
        self.said(*dpkg, "--install", self.file)
        version = re.search(r"project\(Sallyport VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
        self.assertIn(version, self.said(root / "usr/bin/sallyport", "--version"))
        self.said(*dpkg, "--purge", "sallyport")
        left = [path for path in root.rglob("*") if path.is_file() and "var/lib/dpkg" not in str(path)]
        self.assertEqual(left, [])

    def test_two_packages_of_one_build_are_equal(self):
        again = self.out / "again"
        build = pathlib.Path(BIN).resolve().parents[1]
        self.said(ROOT / "tools/make-deb.sh", build, again)
        self.assertEqual((again / self.file.name).read_bytes(), self.file.read_bytes())


class Watching(ApiTest):
    def families(self):
        """Returns every metric family of the program, and the labels of the families that it shows now."""
        session = self.start(self.policy(more="rules:\n  - {id: no-write, then: deny, when: {tool: write_file}, message: no}\n"))
        session.said("write_file", {"path": "a", "text": "hi"})
        text = self.server.ask("GET", "/metrics", token=False)[2].decode()
        shown = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, _, labels = line.split(" ")[0].partition("{")
                shown.setdefault(family(name), set()).update(re.findall(r'([a-z_]+)="', labels))
        written = {name for path in (ROOT / "src").rglob("*.cc") for name in re.findall(r'"(sallyport_[a-z_]+)"', path.read_text())}
        self.assertLess(20, len(shown))
        return shown, written | set(shown)

    def test_every_alert_and_every_panel_asks_for_what_is_measured(self):
        shown, known = self.families()
        rules = re.findall(r"^ +expr: (.*)$", RULES.read_text(), re.M)
        panels = [target["expr"] for panel in board()["panels"] for target in panel["targets"]]
        self.assertEqual((len(rules), len(panels) >= 15), (8, True))
        for expression in rules + panels:
            names = {family(name) for name in NAME.findall(expression)}
            self.assertTrue(names, expression)
            self.assertLessEqual(names, known, expression)
            grouped = {label.strip() for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(",")} - {"le", "instance"}
            for name in names & set(shown):
                self.assertLessEqual(grouped, shown[name], expression)

    def test_promtool_takes_the_rules_and_each_fires_on_what_it_is_for(self):
        if shutil.which("promtool") is None:
            print("SKIPPED: promtool is not installed", file=sys.stderr)
            self.skipTest("promtool is not installed")
        for words in (("check", "rules", RULES.name), ("test", "rules", "sallyport.rules.test.yaml")):
            done = subprocess.run(["promtool", *words], capture_output=True, text=True, cwd=RULES.parent, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_takes_every_expression_of_the_board(self):
        if shutil.which("promtool") is None:
            self.skipTest("promtool is not installed")
        rows = [target["expr"].replace('"$instance"', '".*"') for panel in board()["panels"] for target in panel["targets"]]
        file = self.write("board.rules.yaml", json.dumps({"groups": [{"name": "board", "rules": [{"record": f"board:row{i}", "expr": row} for i, row in enumerate(rows)]}]}))
        done = subprocess.run(["promtool", "check", "rules", file], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
