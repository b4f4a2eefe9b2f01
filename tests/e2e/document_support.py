"""Blocks of the documents, and a shell that runs them as they are written."""
import os
import pathlib
import subprocess

import npm_peers
from cli_support import BIN, CliTest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def blocks(page, kind):
    found, open_kind, lines = [], None, []
    for line in (ROOT / page).read_text().splitlines():
        if not line.startswith("```"):
            lines.append(line)
        elif open_kind is None:
            open_kind, lines = line[3:], []
        else:
            found += ["\n".join(lines) + "\n"] if open_kind == kind else []
            open_kind = None
    return found


class DocumentTest(CliTest):
    def setUp(self):
        super().setUp()
        self.programs = self.folder / "build" / "bin"
        self.programs.mkdir(parents=True)
        (self.programs / "sallyport").symlink_to(os.path.realpath(BIN))
        self.env = self.environment(PATH=f"{self.programs}:{os.path.dirname(npm_peers.node(20))}:{os.environ['PATH']}", npm_config_yes="true",
                                    SALLYPORT_DATA_DIR=self.data)

    def shell(self, script, code=0, timeout=240, stdin=None, **more):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", script], env={**self.env, **more}, cwd=self.folder, capture_output=True, text=True, input=stdin,
                              timeout=timeout)
        self.assertEqual(done.returncode, code, f"{script}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
        return done.stdout

    def block(self, page, words, kind="sh"):
        """The one block of a page with these words."""
        found = [text for text in blocks(page, kind) if words in text]
        self.assertEqual(len(found), 1, f"{page}: {words}")
        return found[0]

    def commands(self, page, words, kind=""):
        """The commands of a block that also shows what they print."""
        return [line.removeprefix("$ ") for line in self.block(page, words, kind).splitlines() if line.startswith("$ ")]
