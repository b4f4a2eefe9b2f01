#!/usr/bin/env python3
"""The hook accepts a yes only from registered people, even if its policy names no approver."""
import unittest

from hook_test import ASK, Hook as HookCase, claude


class HookAnswers(HookCase):
    # AP-28 AP-10: if the policy named no approver, the hook once released a call on any person's yes.
    def test_a_yes_of_nobody_who_is_registered_releases_nothing(self):
        self.people()
        people = self.data / "reviewers.yaml"
        listed = people.read_text()
        policy = self.write("policy.yaml", ASK)
        said = self.hook(claude("PreToolUse", "c-1"), agent="codex", policy=policy)
        approval = self.ids(said)
        self.good(*self.approve(approval))
        people.unlink()
        self.assertEqual(self.decision(claude("PreToolUse", "c-2"), agent="codex", policy=policy), "deny")
        people.write_text(listed)
        said = self.hook(claude("PreToolUse", "c-3"), agent="codex", policy=policy)
        self.good(*self.approve(self.ids(said)))
        self.assertIsNone(self.hook(claude("PreToolUse", "c-4"), agent="codex", policy=policy))


# The tests of the base class run in their own file.
for name in [name for name in dir(HookCase) if name.startswith("test_")]:
    setattr(HookAnswers, name, None)
del HookCase


if __name__ == "__main__":
    unittest.main()
