#!/usr/bin/env python3
"""The coverage matrix of requests: API x streamed x leaf of MP-27 x action, from one table.

ROWS is the table. Each cell plants a word in one leaf of a request and arms one check. It checks the provider's request, the client's answer, that
the check ran, and the record. An API without a row for a leaf of the specification fails, unless NOWHERE gives the reason.
"""
import json
import unittest

from model_answers import APIS, CHAT, MESSAGES, MODELS, RESPONSES, opaque
from model_provider import Provider
from model_support import ModelTest, guards

SECRET = "SECRET-123"
TEXT = f"it is {SECRET} here"
ACTIONS = ("allow", "log", "redact", "block")
SAME, IN_PLACE, REFUSED, NOTICE = "as sent", "replaced in place", "refused", "a notice instead"

# The leaves of MP-27: the stage that checks them, and the effect of `redact` and `block`.
LEAVES = {
    "instructions": ("input", IN_PLACE, REFUSED),
    "user text": ("input", IN_PLACE, REFUSED),
    "assistant text": ("input", IN_PLACE, REFUSED),
    "earlier arguments": ("input", IN_PLACE, REFUSED),
    "document": ("input", IN_PLACE, REFUSED),
    "tool description": ("input", IN_PLACE, REFUSED),
    "prompt variable": ("input", IN_PLACE, REFUSED),
    "tool result": ("tool_output", IN_PLACE, NOTICE),
    "signed block": ("input", REFUSED, REFUSED),
    "other leaf": ("input", REFUSED, REFUSED),
}
NOWHERE = {
    ("document", CHAT): "a file of a chat message is its name and data that no check reads",
    ("document", RESPONSES): "an input file is its name, an address, or data that no check reads",
    ("prompt variable", MESSAGES): "the API has no stored prompts",
    ("prompt variable", CHAT): "the API has no stored prompts",
    ("signed block", CHAT): "the API has no signed blocks",
    ("signed block", RESPONSES): "reasoning items have encrypted content, which no check reads, and no signature",
}


def messages(*turns, **more):
    return {"model": MODELS[MESSAGES], "max_tokens": 64, "messages": [{"role": "user", "content": "hello"}, *turns], **more}


def chat(*turns, **more):
    return {"model": MODELS[CHAT], "messages": [{"role": "user", "content": "hello"}, *turns], **more}


def responses(*items, **more):
    return {"model": MODELS[RESPONSES], "input": [{"role": "user", "content": "hello"}, *items], **more}


def used(text="x"):
    return {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "run", "input": {"a": text}}]}


def called(text="x"):
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "run", "arguments": json.dumps({"a": text})}}]}


def item(text="x"):
    return {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": json.dumps({"a": text})}


def result(content):
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": content}]}


# Leaf, API, its name there, and the body.
ROWS = [
    ("instructions", MESSAGES, "system", messages(system=TEXT)),
    ("instructions", MESSAGES, "system block", messages(system=[{"type": "text", "text": TEXT}])),
    ("instructions", CHAT, "system message", chat({"role": "system", "content": TEXT})),
    ("instructions", CHAT, "developer message", chat({"role": "developer", "content": TEXT})),
    ("instructions", RESPONSES, "instructions", responses(instructions=TEXT)),
    ("instructions", RESPONSES, "developer message", responses({"role": "developer", "content": TEXT})),
    ("user text", MESSAGES, "content", messages({"role": "user", "content": TEXT})),
    ("user text", MESSAGES, "text block", messages({"role": "user", "content": [{"type": "text", "text": TEXT}]})),
    ("user text", CHAT, "content", chat({"role": "user", "content": TEXT})),
    ("user text", CHAT, "text part", chat({"role": "user", "content": [{"type": "text", "text": TEXT}]})),
    ("user text", RESPONSES, "input", {"model": MODELS[RESPONSES], "input": TEXT}),
    ("user text", RESPONSES, "input_text", responses({"role": "user", "content": [{"type": "input_text", "text": TEXT}]})),
    ("assistant text", MESSAGES, "content", messages({"role": "assistant", "content": TEXT}, {"role": "user", "content": "go on"})),
    ("assistant text", CHAT, "content", chat({"role": "assistant", "content": TEXT})),
    ("assistant text", RESPONSES, "output_text", responses({"role": "assistant", "content": [{"type": "output_text", "text": TEXT, "annotations": []}]})),
    ("earlier arguments", MESSAGES, "tool_use", messages(used(TEXT), result("fine"))),
    ("earlier arguments", CHAT, "tool_calls", chat(called(TEXT), {"role": "tool", "tool_call_id": "call_1", "content": "fine"})),
    ("earlier arguments", RESPONSES, "function_call", responses(item(TEXT), {"type": "function_call_output", "call_id": "call_1", "output": "fine"})),
    ("document", MESSAGES, "text source", messages({"role": "user", "content": [
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": TEXT}}, {"type": "text", "text": "read it"}]})),
    ("tool description", MESSAGES, "tools", messages(tools=[{"name": "run", "description": TEXT, "input_schema": {"type": "object"}}])),
    ("tool description", CHAT, "tools", chat(tools=[{"type": "function", "function": {"name": "run", "description": TEXT, "parameters": {"type": "object"}}}])),
    ("tool description", RESPONSES, "tools", responses(tools=[{"type": "function", "name": "run", "description": TEXT, "parameters": {"type": "object"}}])),
    ("prompt variable", RESPONSES, "prompt.variables", responses(prompt={"id": "pmpt_1", "variables": {"city": TEXT}})),
    ("tool result", MESSAGES, "tool_result", messages(used(), result(TEXT))),
    ("tool result", MESSAGES, "tool_result, blocks", messages(used(), result([{"type": "text", "text": TEXT}]))),
    ("tool result", CHAT, "role tool", chat(called(), {"role": "tool", "tool_call_id": "call_1", "content": TEXT})),
    ("tool result", RESPONSES, "function_call_output", responses(item(), {"type": "function_call_output", "call_id": "call_1", "output": TEXT})),
    # Results in other members than `output`: their redaction once failed the request.
    ("tool result", RESPONSES, "code_interpreter_call", responses({"type": "code_interpreter_call", "id": "ci_1", "code": "x", "outputs": [{"type": "logs", "logs": TEXT}]})),
    ("tool result", RESPONSES, "file_search_call", responses({"type": "file_search_call", "id": "fs_1", "queries": ["x"], "results": [{"filename": "a", "text": TEXT}]})),
    ("tool result", RESPONSES, "program_output", responses({"type": "program_output", "call_id": "call_1", "result": TEXT})),
    ("tool result", RESPONSES, "mcp_call", responses({"type": "mcp_call", "id": "mcp_1", "name": "run", "server_label": "s", "arguments": "{}", "output": TEXT})),
    ("signed block", MESSAGES, "thinking", messages({"role": "assistant", "content": [
        {"type": "thinking", "thinking": TEXT, "signature": opaque("s")}, {"type": "text", "text": "well"}]}, {"role": "user", "content": "go on"})),
    ("other leaf", MESSAGES, "metadata", messages(metadata={"user_id": TEXT})),
    ("other leaf", CHAT, "an unknown member", chat(hologram={"frame": TEXT})),
    ("other leaf", RESPONSES, "an unknown member", responses(hologram={"frame": TEXT})),
]


def outcome(leaf, action):
    """Checks the effect of the action on the leaf."""
    return {"allow": SAME, "log": SAME, "redact": LEAVES[leaf][1], "block": LEAVES[leaf][2]}[action]


class InputMatrix(ModelTest):
    def test_every_leaf_of_every_api_has_a_row(self):
        for leaf in LEAVES:
            for api in APIS:
                has = any(row[:2] == (leaf, api) for row in ROWS)
                self.assertNotEqual(has, (leaf, api) in NOWHERE, f"{leaf} of {api}")

    # MP-4, MP-5, MP-27, MP-28, MP-29, MP-30, MP-66, MP-82; section 11
    def test_every_cell_shows_that_the_check_ran_and_what_the_provider_got(self):
        for action in ACTIONS:
            self.run_action(action)

    def run_action(self, action):
        checks = [{"type": "regex", "stage": stage, "id": f"at-{stage}".replace("_", "-"), "on_fail": "log" if action == "allow" else action,
                   "patterns": ["NOT-THERE" if action == "allow" else "SECRET-[0-9]+"]} for stage in ("input", "tool_output")]
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards(*checks))
        cells = [(row, stream) for row in ROWS for stream in (False, True)]
        answers = []
        for (_, api, name, body), stream in cells:
            before = len(provider.requests)
            answered = proxy.ask(api, {**body, "stream": stream}, headers=[("x-session-id", f"{api} {name} {stream}")])
            answers.append((answered, provider.requests[before:]))
        entries = proxy.entries(count=len(cells))
        self.assertEqual(len(entries), len(cells))
        for ((leaf, api, name, body), stream), (answered, reached), entry in zip(cells, answers, entries):
            with self.subTest(action=action, api=api, leaf=leaf, name=name, stream=stream):
                self.judge(outcome(leaf, action), {**body, "stream": stream}, answered, reached, entry)
                looked = {one["channel"]: {check["check"]: check["status"] for check in one["checks"]} for one in entry["coverage"]}
                stage = LEAVES[leaf][0]
                self.assertEqual(looked[stage][f"at-{stage}".replace("_", "-")], "ran", looked)
        found = proxy.entries("guard_hit")
        self.assertEqual({hit["action"] for hit in found}, set() if action == "allow" else {action})
        proxy.stop()
        (self.folder / "data").rename(self.folder / f"data-{action}")

    def judge(self, does, body, answered, reached, entry):
        if does == REFUSED:
            self.assertEqual((answered.status, reached, entry["outcome"], entry["attempts"]), (403, [], "blocked", 0), answered.body)
            self.assertEqual((answered.header("x-sallyport-decision"), answered.header("x-should-retry")), ("deny", "false"))
            self.assertNotIn(SECRET, answered.text())
            return
        self.assertEqual((answered.status, len(reached), entry["outcome"]), (200, 1, "completed"), answered.body)
        sent = reached[0].body.decode()
        self.assertIn("input=ran", answered.header("x-sallyport-guards"))
        if does == SAME:
            self.assertEqual((sent, entry["changes"], answered.header("x-sallyport-decision")), (json.dumps(body), 0, "allow"))
            return
        self.assertNotIn(SECRET, sent)
        self.assertEqual((entry["changes"], answered.header("x-sallyport-decision")), (1, "redact"))
        if does == IN_PLACE:
            self.assertEqual(sent, json.dumps(body).replace(SECRET, "[redacted]"))  # every other byte comes from the client
        else:
            self.assertIn("withheld by a guardrail", sent)


if __name__ == "__main__":
    unittest.main()
