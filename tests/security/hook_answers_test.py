#!/usr/bin/env python3
"""The hook believes a yes only of people who are registered, also where its policy names nobody."""
import unittest

from hook_test import ASK, Hook as HookCase, claude


class HookAnswers(HookCase):
    # AP-28 AP-10: where the policy named nobody, the hook released a call on anybody's yes.
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


# Those of the base class are run where it stands.
for name in [name for name in dir(HookCase) if name.startswith("test_")]:
    setattr(HookAnswers, name, None)
del HookCase


if __name__ == "__main__":
    unittest.main()
