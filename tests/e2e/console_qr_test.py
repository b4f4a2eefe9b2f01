#!/usr/bin/env python3
"""`sallyport console --qr`: a phone reads the link from the terminal. The reader below is written from ISO 18004, for versions 2 to 6 at the lowest
level of correction, and corrects nothing: a code that it reads has no errors."""
import subprocess
import unittest

from cli_support import BIN
from console_api_support import ApiTest

QUIET = 4
MASKS = [lambda r, c: (r + c) % 2, lambda r, c: r % 2, lambda r, c: c % 3, lambda r, c: (r + c) % 3, lambda r, c: (r // 2 + c // 3) % 2,
         lambda r, c: r * c % 2 + r * c % 3, lambda r, c: (r * c % 2 + r * c % 3) % 2, lambda r, c: ((r + c) % 2 + r * c % 3) % 2]
# The number of data codewords at level L, and their number of blocks.
DATA = {2: (34, 1), 3: (55, 1), 4: (80, 1), 5: (108, 1), 6: (136, 2)}


def modules(lines):
    """Returns rows of booleans, where dark is true, without the quiet zone."""
    rows = []
    for line in lines:
        rows.append([char not in "█▀" for char in line])
        rows.append([char not in "█▄" for char in line])
    size = len(lines[0])
    return [row[QUIET:size - QUIET] for row in rows[QUIET:size - QUIET]]


def reserved(size, version):
    """Returns places without data: finders, timing, alignment and format."""
    taken = {(r, c) for r in range(9) for c in range(9)} | {(r, size - 8 + c) for r in range(9) for c in range(8)} | {(size - 8 + r, c) for r in range(8) for c in range(9)}
    taken |= {(6, i) for i in range(size)} | {(i, 6) for i in range(size)}
    centre = size - 7
    return taken | ({(centre + r, centre + c) for r in range(-2, 3) for c in range(-2, 3)} if version > 1 else set())


def read_code(dark):
    size = len(dark)
    version = (size - 17) // 4
    bits = "".join(str(int(dark[8][c])) for c in range(5))
    form = int(bits, 2) ^ 0b10101
    assert form >> 3 == 0b01, "level L"
    mask = MASKS[form & 7]
    taken, stream = reserved(size, version), []
    columns = [c if c > 6 else c - 1 for c in range(size - 1, 0, -2)]
    for turn, right in enumerate(columns):
        for row in (range(size - 1, -1, -1) if turn % 2 == 0 else range(size)):
            for c in (right, right - 1):
                if (row, c) not in taken:
                    stream.append(int(dark[row][c]) ^ (mask(row, c) == 0))
    count, blocks = DATA[version]
    words = [int("".join(map(str, stream[i * 8:i * 8 + 8])), 2) for i in range(count)]
    words = [words[i] for block in range(blocks) for i in range(block, count, blocks)]
    text = "".join(f"{word:08b}" for word in words)
    assert text[:4] == "0100", "bytes"
    length = int(text[4:12], 2)
    return bytes(int(text[12 + i * 8:20 + i * 8], 2) for i in range(length)).decode()


class QrTest(ApiTest):
    def console(self, *more):
        done = subprocess.run([BIN, "--data-dir", self.data, "console", *more], capture_output=True, text=True, env=self.environment(), cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    # CO-15 (partly): the link as a code that a phone reads
    def test_a_phone_reads_the_link_from_the_terminal(self):
        self.start()
        url, *lines = self.console("--qr")
        self.assertIn("/console/#once=", url)
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})
        self.assertEqual(read_code(modules(lines)), url)
        self.assertEqual(len(self.console()), 1)
        self.assertEqual(len(self.console("--qr", "--json")), 1)


if __name__ == "__main__":
    unittest.main()
