#!/usr/bin/env python3
"""The shipped policy `strict` refuses destructive commands and no everyday command."""
import json
import pathlib
import unittest

from cli_support import CliTest

HERE = pathlib.Path(__file__).parent
STRICT = HERE.parent.parent / "policies" / "strict.yaml"


def commands(name):
    lines = (HERE / name).read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


class DangerousCommands(CliTest):
    def judged(self, name):
        """Returns the commands of a list that the policy refuses, and the commands that it allows."""
        found = commands(name)
        cases = [{"name": str(number), "stage": "tool_use", "tool": "bash", "arguments": {"command": command},
                  "expect": {"verdict": "block"}} for number, command in enumerate(found)]
        file = self.write("cases.json", json.dumps({"cases": cases}))
        outcome = self.run_bare("policy", "test", STRICT, "--cases", file, "--json")
        failed = {int(case["name"]) for case in outcome.lines() if not case["passed"]}
        return ([command for number, command in enumerate(found) if number not in failed],
                [command for number, command in enumerate(found) if number in failed])

    # GR-69
    def test_strict_refuses_nine_of_ten_dangerous_commands(self):
        refused, passed = self.judged("dangerous_commands.txt")
        self.assertGreaterEqual(len(refused), 9 * (len(refused) + len(passed)) / 10, passed)

    # GR-69
    def test_strict_refuses_no_harmless_command(self):
        refused, passed = self.judged("harmless_commands.txt")
        self.assertEqual(refused, [])
        self.assertGreater(len(passed), 40)


if __name__ == "__main__":
    unittest.main()
