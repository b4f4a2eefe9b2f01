"""Blocks of the documents, and a shell that runs them unchanged."""
import fcntl
import os
import pathlib
import pty
import re
import select
import subprocess
import termios
import textwrap

import npm_peers
from cli_support import BIN, CliTest

PATIENCE = 60
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def blocks(page, kind):
    """Returns all blocks of a kind. `tools/check_docs.py` reads these calls: a block of commands that no test uses is an error."""
    found = re.findall(r"^( *)```(\w*)\n(.*?)^\1```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(text) for _, of, text in found if of == kind]


def block(page, words, kind="sh"):
    """Returns the one block of a page that contains these words."""
    found = [text for text in blocks(page, kind) if words in text]
    assert len(found) == 1, f"{page}: {len(found)} blocks with `{words}`"
    return found[0]


def pattern(shown):
    """Returns the text of a page as a pattern: `...` stands for parts that differ from run to run."""
    return "^" + ".*".join(map(re.escape, shown.split("..."))) + "$"


def at_terminal(script, questions, **options):
    """Runs a script at a terminal and types an answer when each prompt appears; returns the output and the terminal's text."""
    master, slave = pty.openpty()
    process = subprocess.Popen(["bash", "-euo", "pipefail", "-c", script], stdin=slave, stdout=subprocess.PIPE, stderr=slave, text=True, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **options)
    os.close(slave)
    shown = ""
    try:
        for question, answer in questions:
            begin = len(shown)
            while question not in shown[begin:]:
                assert select.select([master], [], [], PATIENCE)[0], f"{script}: does not ask `{question}`: {shown}"
                shown += os.read(master, 65536).decode()
            os.write(master, f"{answer}\n".encode())
        printed = process.communicate(timeout=PATIENCE)[0]
    except OSError:  # it has ended
        raise AssertionError(f"{script}: does not ask `{question}`: {shown}") from None
    finally:
        os.close(master)  # a script that still waits for an answer ends
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, f"{script}: {printed}{shown}"
    return printed, shown


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

    block = staticmethod(block)

    def commands(self, page, words, kind=""):
        """Returns the commands of a block that also shows their output."""
        return re.findall(r"^\$ ((?:.*\\\n)*.*)", self.block(page, words, kind), re.MULTILINE)
