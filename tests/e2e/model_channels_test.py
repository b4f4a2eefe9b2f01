#!/usr/bin/env python3
"""Every block, item and member of each API that can hold model text, streamed and not, under each action of its stage.

ROWS is the table. A case is made for each cell: the client's answer, proof that the check ran, and the record. An API without a row for
a channel of the specification fails.
"""
import json
import unittest

from model_answers import APIS, CHAT, MESSAGES, RESPONSES, Answer, call, custom, only, opaque, refuse, say, strange, think
from model_provider import Provider
from model_support import ModelTest, comparable, guards

SECRET = "SECRET-123"
TEXT = f"it is {SECRET} here"
WITHHELD = "[This answer was withheld by a guardrail.]"
REFUSED = "[This tool call was refused by a guardrail.]"

# The effect of an action on a channel.
SAME, IN_PLACE, ENDS, LEFT_OUT, INSTEAD, EITHER = "same", "replaced in place", "ends the message", "left out", "a notice instead", "in place or a notice"
STAGES = {"text": "output", "reasoning": "output", "refusal": "output", "call": "tool_use", "provider call": "output", "provider result": "tool_output", "whole": "output", "unknown": "output"}


class Row:
    """A channel of an API: the part of an answer that has the text, and the effect of `redact` and `block` on it."""

    def __init__(self, channel, api, name, part, redact=IN_PLACE, block=None):
        self.channel, self.api, self.name, self.part = channel, api, name, part
        self.stage = STAGES[channel]
        self.does = {"allow": SAME, "log": SAME, "redact": redact, "block": block or (INSTEAD if channel == "call" else ENDS), "ask": INSTEAD}

    def actions(self):
        return ["allow", "log", "redact", "block", *(["ask"] if self.channel == "call" else [])]


def item(type, **members):
    return only(RESPONSES, {"id": f"{type}_1", "type": type, **members}, start={"id": f"{type}_1", "type": type, **{**members, "status": "in_progress"}} if "status" in members else None)


ROWS = [
    Row("text", MESSAGES, "text", say(TEXT)),
    Row("text", CHAT, "content", say(TEXT)),
    Row("text", RESPONSES, "output_text", say(TEXT)),
    Row("reasoning", MESSAGES, "thinking, signed", think(TEXT), LEFT_OUT, LEFT_OUT),
    Row("reasoning", MESSAGES, "compaction", only(MESSAGES, {"type": "compaction", "content": TEXT, "encrypted_content": None},
                                                  start={"type": "compaction", "content": "", "encrypted_content": None},
                                                  between=[{"type": "compaction_delta", "content": TEXT, "encrypted_content": None}])),
    Row("reasoning", CHAT, "reasoning_content", think(TEXT)),
    Row("reasoning", CHAT, "reasoning", only(CHAT, {"reasoning": TEXT})),
    Row("reasoning", RESPONSES, "reasoning_summary_text", think(TEXT)),
    Row("reasoning", RESPONSES, "reasoning_text", only(
        RESPONSES, {"id": "rs_1", "type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": TEXT}]}, start={"id": "rs_1", "type": "reasoning", "summary": []},
        between=[("reasoning_text.delta", {"content_index": 0, "delta": TEXT}), ("reasoning_text.done", {"content_index": 0, "text": TEXT})])),
    Row("refusal", MESSAGES, "stop_details.explanation", refuse(TEXT)),
    Row("refusal", CHAT, "refusal", refuse(TEXT)),
    Row("refusal", RESPONSES, "refusal", refuse(TEXT)),
    Row("call", MESSAGES, "tool_use", call("run", {"a": TEXT, "n": 1})),
    Row("call", CHAT, "tool_calls", call("run", {"a": TEXT, "n": 1})),
    Row("call", CHAT, "tool_calls, custom", custom("run", TEXT)),
    Row("call", CHAT, "function_call", only(CHAT, {"function_call": {"name": "run", "arguments": json.dumps({"a": TEXT})}})),
    Row("call", RESPONSES, "function_call", call("run", {"a": TEXT, "n": 1})),
    Row("call", RESPONSES, "custom_tool_call", custom("run", TEXT)),
    Row("call", RESPONSES, "computer_call", item("computer_call", call_id="call_1", status="completed", pending_safety_checks=[], action={"type": "type", "text": TEXT}), EITHER),
    Row("call", RESPONSES, "local_shell_call", item("local_shell_call", call_id="call_1", status="completed", action={"type": "exec", "command": ["echo", TEXT], "env": {}}), EITHER),
    Row("call", RESPONSES, "shell_call", item("shell_call", call_id="call_1", status="completed", environment={"type": "local"},
                                              action={"commands": [f"echo {TEXT}"], "max_output_length": None, "timeout_ms": None}), EITHER),
    Row("call", RESPONSES, "apply_patch_call", item("apply_patch_call", call_id="call_1", status="completed", operation={"type": "create_file", "path": "a", "diff": TEXT}), EITHER),
    Row("call", RESPONSES, "mcp_approval_request", item("mcp_approval_request", name="run", server_label="far", arguments=json.dumps({"a": TEXT})), EITHER),
    Row("provider call", MESSAGES, "server_tool_use", only(MESSAGES, {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": TEXT}},
                                                           start={"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
                                                           between=[{"type": "input_json_delta", "partial_json": json.dumps({"query": TEXT})}])),
    Row("provider call", MESSAGES, "mcp_tool_use", only(MESSAGES, {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "look", "server_name": "far", "input": {"query": TEXT}})),
    Row("provider result", MESSAGES, "web_search_tool_result", only(MESSAGES, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
        {"type": "web_search_result", "title": TEXT, "url": "https://example.com", "encrypted_content": opaque("a"), "page_age": None}]})),
    Row("provider result", MESSAGES, "bash_code_execution_tool_result", only(MESSAGES, {"type": "bash_code_execution_tool_result", "tool_use_id": "srvtoolu_1", "content": {
        "type": "bash_code_execution_result", "stdout": TEXT, "stderr": "", "return_code": 0, "content": []}})),
    Row("provider result", MESSAGES, "mcp_tool_result", only(MESSAGES, {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "is_error": False, "content": [{"type": "text", "text": TEXT}]})),
    Row("provider call", RESPONSES, "mcp_call", item("mcp_call", status="completed", approval_request_id=None, arguments=json.dumps({"a": TEXT}), error=None, name="look", output="o", server_label="far")),
    Row("provider result", RESPONSES, "mcp_call.output", item("mcp_call", status="completed", approval_request_id=None, arguments="{}", error=None, name="look", output=TEXT, server_label="far")),
    Row("provider call", RESPONSES, "code_interpreter_call", item("code_interpreter_call", status="completed", code=TEXT, container_id="c", outputs=[])),
    Row("provider result", RESPONSES, "code_interpreter_call.outputs", item("code_interpreter_call", status="completed", code="1", container_id="c", outputs=[{"type": "logs", "logs": TEXT}])),
    Row("provider call", RESPONSES, "file_search_call", item("file_search_call", status="completed", queries=[TEXT], results=None)),
    Row("provider result", RESPONSES, "file_search_call.results", item("file_search_call", status="completed", queries=["q"], results=[{"file_id": "f", "filename": "n", "score": 0.5, "text": TEXT}])),
    Row("provider call", RESPONSES, "web_search_call", item("web_search_call", status="completed", action={"type": "search", "query": TEXT})),
    Row("provider call", RESPONSES, "shell_call, hosted", item("shell_call", call_id="call_1", status="completed", environment={"type": "container_reference", "container_id": "c"},
                                                               action={"commands": [f"echo {TEXT}"], "max_output_length": None, "timeout_ms": None})),
    Row("provider result", RESPONSES, "shell_call_output", item("shell_call_output", call_id="call_1", status="completed", max_output_length=None, output=[
        {"stdout": TEXT, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}])),
    Row("provider call", RESPONSES, "program", item("program", call_id="call_1", code=TEXT, fingerprint=opaque("p"))),
    Row("provider result", RESPONSES, "program_output", item("program_output", call_id="call_1", result=TEXT, status="completed")),
    Row("whole", MESSAGES, "cited_text", say("a text", (TEXT, "title", "https://example.com"))),
    Row("whole", MESSAGES, "title of a citation", say("a text", ("cited", TEXT, "https://example.com"))),
    Row("whole", CHAT, "annotations", say("a text", ("cited", TEXT, "https://example.com"))),
    Row("whole", CHAT, "audio transcript", only(CHAT, {"audio": {"id": "audio_1", "data": "AAAA", "transcript": TEXT, "expires_at": 1794787200}})),
    Row("whole", RESPONSES, "annotations", say("a text", ("cited", TEXT, "https://example.com"))),
    Row("unknown", MESSAGES, "a block", strange(TEXT), ENDS, ENDS),
    Row("unknown", CHAT, "a member", strange(TEXT), ENDS, ENDS),
    Row("unknown", RESPONSES, "an item", strange(TEXT), ENDS, ENDS),
]
# Cells that cannot exist.
NOWHERE = {("provider call", CHAT): "the API has no tools that the provider runs", ("provider result", CHAT): "the API has no tools that the provider runs"}


def has_text(value, text=SECRET):
    return text in json.dumps(value, ensure_ascii=False)


def replaced(value):
    """Returns the value with the secret replaced in every string."""
    if isinstance(value, str):
        return value.replace(SECRET, "[redacted]")
    if isinstance(value, list):
        return [replaced(one) for one in value]
    return {name: replaced(one) for name, one in value.items()} if isinstance(value, dict) else value


class Channels(ModelTest):
    def test_every_channel_of_every_api_has_a_row(self):
        for channel in STAGES:
            for api in APIS:
                has = any((row.channel, row.api) == (channel, api) for row in ROWS)
                self.assertNotEqual(has, (channel, api) in NOWHERE, f"{channel} of {api}")

    def run_action(self, action):
        provider = Provider(self)
        checks = [{"type": "regex", "stage": stage, "id": f"at-{stage}", "on_fail": "log" if action == "allow" else action, "patterns": ["NOT-THERE" if action == "allow" else "SECRET-[0-9]+"]}
                  for stage in ("output", "tool_use", "tool_output")] if action != "ask" else []
        rules = {"rules": [{"id": "ask", "then": "ask", "when": {"tool": "*"}}]} if action == "ask" else {}
        proxy = self.proxy(provider, policy=guards(*checks, model={"hold_s": 0}, **rules))
        asked = 0
        for row in ROWS:
            if action not in row.actions():
                continue
            for stream in (False, True):
                answer = Answer(row.part, say("and an end.") if row.channel != "refusal" else say("before"), seed=row.name, with_usage=True)
                provider.then(answer)
                asked += 1
                answered = proxy.ask(row.api, stream=stream, headers=[("x-session-id", f"{row.api} {row.name} {stream}")])  # ids of calls are unique in a session
                with self.subTest(api=row.api, channel=row.name, stream=stream, action=action):
                    self.assertEqual((answered.status, answered.whole), (200, True), answered.body)
                    entry = proxy.entries(count=asked)[-1]
                    self.judge(row, row.does[action], answer, answered, entry)
                    self.looked(row, action, entry)

    def judge(self, row, does, answer, answered, entry):
        """Checks the client's answer and its end in the record."""
        got, sent = comparable(row.api, answered.object(row.api)), comparable(row.api, answer.body(row.api))
        if does == EITHER:
            does = IN_PLACE if has_text(got, "[redacted]") else INSTEAD
        if does == SAME:
            self.assertEqual(got, sent)
            self.assertEqual((entry["outcome"], entry["changes"]), ("completed", 0))
            return
        self.assertFalse(has_text(got) or SECRET in answered.text(), answered.text())
        self.assertGreater(entry["changes"], 0)
        if does == IN_PLACE:
            self.assertEqual(json.loads(unescaped(got)), json.loads(unescaped(replaced(sent))))
            self.assertEqual(entry["outcome"], "completed")
        elif does == LEFT_OUT:
            self.assertEqual(got, {**sent, "content": sent["content"][1:]})
            self.assertEqual(entry["outcome"], "completed")
        elif does == ENDS:
            self.assertTrue(has_text(got, WITHHELD) or has_text(got, "withheld") or row.channel == "unknown", got)
            self.assertEqual(self.stop(row.api, got), {MESSAGES: "refusal", CHAT: "content_filter", RESPONSES: "content_filter"}[row.api])
            self.assertEqual(entry["outcome"], "blocked")
        elif does == INSTEAD:
            self.assertTrue(has_text(got, REFUSED) or has_text(got, "pending_approval") or has_text(got, "refused"), got)
            self.assertEqual(self.stop(row.api, got), {MESSAGES: "end_turn", CHAT: "stop", RESPONSES: "completed"}[row.api])
            self.assertEqual(entry["outcome"], "completed")

    @staticmethod
    def stop(api, body):
        if api == MESSAGES:
            return body["stop_reason"]
        if api == CHAT:
            return body["choices"][0]["finish_reason"]
        return (body["incomplete_details"] or {}).get("reason") or body["status"]

    def looked(self, row, action, entry):
        """Checks in the record that this stage's check ran, or for a call that the call was decided."""
        if row.channel == "call":
            self.assertEqual(len(entry["calls"]), 1, entry)
        if action != "ask" and row.channel != "call":
            checks = json.dumps(entry["coverage"])
            self.assertIn(f"at-{row.stage}", checks)
        if row.channel == "unknown":
            self.assertEqual(len(entry["unknown"]), 1, entry)

    # MP-41, MP-44, MP-66; section 11
    def test_allow(self):
        self.run_action("allow")

    # MP-41, MP-66; section 11
    def test_log(self):
        self.run_action("log")

    # MP-37, MP-41, MP-42, MP-44, MP-49, MP-58; section 11
    def test_redact_and_rewrite(self):
        self.run_action("redact")

    # MP-37, MP-41, MP-44, MP-45, MP-49, MP-57; section 11
    def test_block_and_refuse(self):
        self.run_action("block")

    # MP-60; section 11
    def test_ask(self):
        self.run_action("ask")


class SignedBlocks(ModelTest):
    # MP-49: the notice contains no text of an omitted block.
    def test_the_notice_for_a_signed_block_is_the_replacement_alone(self):
        for on_fail, notice in (("redact", "[redacted]"), ("block", WITHHELD)):
            for stream in (False, True):
                with self.subTest(on_fail=on_fail, stream=stream):
                    provider = Provider(self, Answer(think(TEXT), call("run", {"command": "ls"}, id=f"{on_fail}{stream}")))
                    proxy = self.proxy(provider, policy=guards({"type": "regex", "stage": "output", "id": "o", "patterns": ["SECRET-[0-9]+"], "on_fail": on_fail}), apis=(MESSAGES,))
                    left = proxy.ask(MESSAGES, stream=stream).object(MESSAGES)
                    self.assertEqual(left["content"], [{"type": "text", "text": notice}])
                    self.assertEqual((left["stop_reason"], left["stop_details"]["explanation"]), ("refusal", notice))
                    proxy.stop()


def unescaped(value):
    """Returns the JSON text of a value, with nested JSON texts in one spelling."""
    def plain(one):
        if isinstance(one, str) and one[:1] == "{":
            try:
                return json.dumps(json.loads(one), sort_keys=True)
            except ValueError:
                return one
        if isinstance(one, list):
            return [plain(each) for each in one]
        return {name: plain(each) for name, each in one.items()} if isinstance(one, dict) else one
    return json.dumps(plain(value))


if __name__ == "__main__":
    unittest.main()
