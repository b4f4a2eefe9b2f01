"""Compares the reader of command lines with bash: the reader must find every command that bash starts."""
import json
import os
import pathlib
import subprocess
import unittest

from random_lines import BRACES, Lines
from shell_jail import Jail

READER = os.environ.get("READ_LINE_BIN", "build/bin/read_line")
COUNT = int(os.environ.get("SALLYPORT_LINES", "300"))
PUBLIC = os.environ.get("SALLYPORT_LINES_FILE", "")
SEED = int(os.environ.get("SALLYPORT_SEED", "1"))
# Reasons about the action of a program: the commands of such a line are still known.
KNOWN_COMMANDS = {"interpreter", "configuration", "remote", "stdin", "alias"}


def fits(words, given):
    """Returns whether the reader's words stand for the words that bash gave."""
    reachable = {0}
    for word in words:
        if word["many"]:
            reachable = set(range(min(reachable), len(given) + 1))
            continue
        values = word["values"]
        reachable = {at + 1 for at in reachable if at < len(given) and (not values or given[at] in values)}
        if not reachable:
            return False
    return len(given) in reachable


class CommandReaderTest(unittest.TestCase):
    endless = 0  # lines that did not end in time

    @classmethod
    def setUpClass(cls):
        cls.jail = Jail()
        if not cls.jail.works():
            cls.jail.close()
            raise unittest.SkipTest("this account may not make a jail")

    @classmethod
    def tearDownClass(cls):
        cls.jail.close()

    def read(self, lines):
        text = b"".join(line.encode() + b"\0" for line in lines)
        process = subprocess.run([READER, "/w", "/home/user", str(self.jail.root)], input=text, capture_output=True, check=True)
        return [json.loads(line) for line in process.stdout.splitlines()]

    def compare(self, lines):
        """Returns lines with a command that bash starts and the reader misses, and the number of clear lines."""
        missed = []
        clear = commands = 0
        for start in range(0, len(lines), 100):
            part = lines[start:start + 100]
            for line, read, started in zip(part, self.read(part), self.jail.run(part)):
                self.endless += started is None
                if started is None or {span["reason"] for span in read["opaque"]} - KNOWN_COMMANDS:
                    continue
                clear += 1
                commands += len(started)
                missed += [(line, given) for given in started if not any(fits(words, given) for words in read["commands"])]
        return missed, clear, commands

    # RU-43, RU-44, RU-45, RU-46, RU-47
    def test_of_generated_lines_no_command_is_missed(self):
        maker = Lines(SEED)
        missed, clear, commands = self.compare([maker.line() for _ in range(COUNT)])
        print(f"{COUNT} generated lines: {clear} not opaque, {commands} commands")
        self.assertEqual(missed[:5], [], f"{len(missed)} commands were missed")
        self.assertGreater(clear, COUNT // 4)
        self.assertGreater(commands, COUNT // 2)

    # An unmatched closing brace was once taken for the end of the expression. RU-43, RU-44, RU-46
    def test_braces_are_expanded_as_bash_does_it(self):
        words = [word for word in BRACES if "$" not in word and "*" not in word]
        missed, clear, commands = self.compare(["p " + word for word in words])
        self.assertEqual(missed, [])
        self.assertEqual(commands, len(words))
        self.assertGreater(clear, len(words) - 3)

    # RU-44
    def test_of_everyday_lines_no_command_is_missed_and_few_are_opaque(self):
        text = pathlib.Path(__file__).with_name("command_lines.txt").read_text()
        lines = [line.rstrip("\n") for line in text.split("\n%%\n") if line.strip()]
        missed, clear, commands = self.compare(lines)
        print(f"{len(lines)} everyday lines: {clear} not opaque, {commands} commands")
        self.assertEqual(missed[:5], [], f"{len(missed)} commands were missed")
        self.assertGreater(clear, len(lines) * 8 // 10)

    # RU-44
    @unittest.skipUnless(PUBLIC, "SALLYPORT_LINES_FILE names a file with a command line in each line")
    def test_of_public_lines_no_command_is_missed(self):
        text = pathlib.Path(PUBLIC).read_text(errors="replace")
        lines = [line for line in dict.fromkeys(text.split("\n")) if line.strip() and "\ufffd" not in line]
        missed, clear, commands = self.compare(lines)
        print(f"{len(lines)} public lines: {clear} not opaque, {commands} commands")
        self.assertEqual(missed[:5], [], f"{len(missed)} commands were missed")


if __name__ == "__main__":
    unittest.main()
