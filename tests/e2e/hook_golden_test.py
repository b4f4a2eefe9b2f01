#!/usr/bin/env python3
"""Every file below tests/golden/hook: events of a coding agent in, what the hook says out.

A file is {"about", "policy", "arguments"?, "steps": [{"event" | "text", "stdout"}]}; the steps are processes of their own
on one data folder. `stdout` is one JSON object, or null where nothing may be said. Ids are written `<approval>`."""
import json
import pathlib
import re
import shutil
import unittest

from cli_support import CliTest

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "hook"


def said(text):
    """One object or nothing: nothing else may stand on standard output."""
    if text == "":
        return None
    assert text.endswith("\n") and "\n" not in text[:-1], text
    return json.loads(re.sub(r"apr_[0-9a-f-]{36}", "<approval>", text))


class HookGolden(CliTest):
    def policy(self, name):
        """By a name that is the same on every machine: it stands in what is said of a bad one."""
        self.write(name + ".yaml", (GOLDEN / "policies" / (name + ".yaml")).read_text())
        return name + ".yaml"

    def share_patterns(self):
        """To compile them for each file would take most of the time."""
        self.data.mkdir(mode=0o700)
        kept = next(self.folder.glob("*/cache"), None)
        if kept:
            shutil.copytree(kept, self.data / "cache")

    # AP-33
    def test_every_golden_event_is_answered_as_its_file_says(self):
        files = sorted(GOLDEN.glob("*/*.json"))
        self.assertGreater(len(files), 40)
        for file in files:
            with self.subTest(file=f"{file.parent.name}/{file.name}"):
                self.data = self.folder / (file.parent.name + "-" + file.stem)
                self.share_patterns()
                case = json.loads(file.read_text())
                for step in case["steps"]:
                    stdin = step["text"] if "text" in step else json.dumps(step["event"])
                    outcome = self.cli("hook", "--agent", file.parent.name, "--policy", self.policy(case["policy"]),
                                       *case.get("arguments", []), stdin=stdin.encode())
                    self.assertEqual(outcome.code, 0, outcome.err)
                    self.assertEqual(said(outcome.out), step["stdout"], step)

    def test_usage_errors_never_look_like_a_decision(self):
        for arguments in ([], ["--agent", "nobody"], ["--agent", "codex", "--no-such-option"]):
            outcome = self.cli("hook", *arguments, stdin=b"{}")
            self.assertEqual(outcome.code, 64)
            self.assertEqual(outcome.out, "")


if __name__ == "__main__":
    unittest.main()
