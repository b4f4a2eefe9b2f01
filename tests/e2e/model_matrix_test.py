#!/usr/bin/env python3
"""The coverage matrix of the model proxy: API x streamed x channel x stage x action, from one table.

Each cell plants a word in one channel of an answer and arms one check. It checks the client's answer, that the check ran,
and the record. A cell that cannot exist states the reason."""
import json
import unittest

from model_answers import APIS, CHAT, MESSAGES, RESPONSES, Answer, call, refuse, remote, say, search, strange, think
from model_provider import Provider
from model_support import ModelTest, guards

WORD = "planted-word"
ACTIONS = ("allow", "log", "redact", "block")

# Channel: its stage, its name in `coverage`, the part of an answer with the word, and APIs without it, with the reason.
CHANNELS = {
    "text": ("output", "text", lambda: [say(f"It is {WORD} indeed.")], {}),
    "reasoning": ("output", "reasoning", lambda: [think(f"Perhaps {WORD}, perhaps not."), say("Well.")], {}),
    "refusal": ("output", "refusal", lambda: [refuse(f"I cannot say {WORD} here.")], {}),
    "client call": ("tool_use", "tool_use", lambda: [call("run", {"command": f"echo {WORD}"})], {}),
    "provider call": ("output", "provider_call", lambda: [remote("lookup", {"query": WORD}, "nothing"), say("Done.")],
                      {CHAT: "chat completions has no calls that the provider runs"}),
    "provider result": ("tool_output", "provider_result", lambda: [remote("lookup", {"query": "x"}, f"found {WORD} there"), say("Done.")],
                        {CHAT: "chat completions has no calls that the provider runs"}),
    "whole text": ("output", "whole", lambda: [say("As they say.", (f"cited {WORD} text", f"A title with {WORD}", "https://example.com/a"))], {}),
    "unknown": ("output", "whole", lambda: [say("Before."), strange(f"odd {WORD} thing")], {}),
}
# A match here ends the message, because no part of it can be changed in place.
ENDS_ON_REDACT = {"unknown"}
# Signed blocks are sent whole or not at all; the message continues without them.
DROPPED = {("reasoning", MESSAGES)}


def cells():
    for channel, (_, _, _, missing) in CHANNELS.items():
        for api in APIS:
            if api in missing:
                assert missing[api], f"{channel} of {api} says no reason"
                continue
            for action in ACTIONS:
                yield channel, api, action


def expected(channel, api, action):
    """Returns whether the client sees the word, and the outcome of the record."""
    if action in ("allow", "log"):
        return True, "completed"
    if channel == "client call" or (channel, api) in DROPPED:
        return False, "completed"
    if action == "redact" and channel not in ENDS_ON_REDACT:
        return False, "completed"
    return False, "blocked"


class CoverageMatrix(ModelTest):
    # MP-37, MP-38, MP-41, MP-44, MP-45, MP-48, MP-49, MP-66
    def test_every_cell_shows_that_the_check_ran_and_what_the_client_got(self):
        for action in ACTIONS:
            for stage in ("output", "tool_use", "tool_output"):
                chosen = [(channel, api) for channel, api, wanted in cells() if wanted == action and CHANNELS[channel][0] == stage]
                self.run_cells(action, stage, chosen)

    def run_cells(self, action, stage, chosen):
        check = {"type": "regex", "stage": stage, "id": "cell", "patterns": ["never-there" if action == "allow" else "planted-[a-z]+"],
                 "on_fail": "block" if action == "allow" else action}
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards(check))
        ran = 0
        for channel, api in chosen:
            _, name, parts, _ = CHANNELS[channel]
            objects = {}
            for stream in (False, True):
                with self.subTest(action=action, stage=stage, channel=channel, api=api, stream=stream):
                    provider.otherwise = Answer(*parts(), seed=f"{action} {channel} {api} {stream}")
                    answer = proxy.ask(api, stream=stream)
                    ran += 1
                    record = proxy.entries(count=ran)[-1]
                    self.assertEqual(answer.status, 200)
                    seen, outcome = expected(channel, api, action)
                    self.assertEqual(WORD in answer.text(), seen, answer.text())
                    self.assertEqual(record["outcome"], outcome)
                    looked = {one["channel"]: one["checks"][0]["status"] for one in record["coverage"]}
                    self.assertEqual(looked.get(name), "ran", looked)
                    objects[stream] = self.shape(api, answer.object(api))
            if len(objects) == 2 and channel != "whole text":
                with self.subTest(action=action, channel=channel, api=api, forms="equal"):
                    self.assertEqual(objects[False], objects[True])
        if action == "allow":
            self.assertEqual({record["changes"] for record in proxy.entries(count=ran)}, {0})
        else:
            self.assertEqual({hit["action"] for hit in proxy.entries("guard_hit")}, {action})
        proxy.stop()
        (self.folder / "data").rename(self.folder / f"data-{action}-{stage}")

    def shape(self, api, value):
        """Returns the common part of both forms of an answer: texts and stop reasons, without ids and notices that name records."""
        text = json.dumps(value)
        return {"blocked": "withheld by a guardrail" in text, "redacted": "[redacted]" in text, "refused": "refused by a guardrail" in text}

    def test_the_table_has_every_api(self):
        for channel, (_, _, _, missing) in CHANNELS.items():
            for api in APIS:
                self.assertTrue(api not in missing or missing[api], (channel, api))
        # The program supports exactly the APIs of the table.
        config = self.write("bad.yaml", "version: 1\nserve:\n  models: {upstreams: [{name: x, api: other, url: 'http://127.0.0.1:1'}]}\n")
        said = self.run_bare("serve", "--config", str(config)).err
        for api in APIS:
            self.assertIn(api, said)


if __name__ == "__main__":
    unittest.main()
