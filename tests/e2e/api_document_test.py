#!/usr/bin/env python3
"""docs/api.md lists exactly the routes of the program."""
import pathlib
import subprocess
import sys
import unittest

from cli_support import BIN

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/make_api_doc.py"


class ApiDocument(unittest.TestCase):
    # CO-65 (partly)
    def test_the_page_is_what_the_program_serves(self):
        done = subprocess.run([sys.executable, TOOL, "--check", BIN], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
