#!/usr/bin/env python3
"""Tests `guard stream --channels`: the channels of one message, from outside."""
import json
import subprocess
import unittest

from cli_support import BIN, CliTest

KEY = "AKIAIOSFODNN7EXAMPLE"
CHECKS = {"checks": [
    {"type": "regex", "stage": "output", "id": "aws", "patterns": ["AKIA[A-Z0-9]{16}"]},
    {"type": "blocklist", "stage": "output", "id": "name", "on_fail": "redact", "words": ["Smith"]},
    {"type": "blocklist", "stage": "output", "id": "seen", "on_fail": "log", "words": ["ticket"]},
    {"type": "regex", "stage": "tool_use", "id": "drop", "tools": ["sql*"], "patterns": [r"drop\s+table"]}]}


def text(delta, channel="text", **more):
    return {"channel": channel, "delta": delta, **more}


def call(id, **more):
    return {"channel": "tool_call", "id": id, **more}


class GuardMessage(CliTest):
    def run_lines(self, lines, *words):
        config = self.home / "guard.json"
        config.write_text(json.dumps(CHECKS))
        given = lines if isinstance(lines, str) else "".join(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([BIN, "guard", "stream", "--config", str(config), "--channels", *words], input=given.encode(),
                              capture_output=True, timeout=60, env=self.environment())
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def message(self, lines):
        code, out, err = self.run_lines(lines, "--json")
        self.assertEqual(err, "")
        events = [json.loads(line) for line in out.splitlines()]
        return code, events[:-1], events[-1]

    def seen(self, events, channel):
        """Returns a channel as a client sees it."""
        return "".join(event.get("text", event.get("replacement", "")) for event in events
                       if event["channel"] == channel and event["event"] in ("release", "redact", "block"))

    # GR-54
    def test_channels_have_their_own_offsets_and_a_match_never_spans_two(self):
        code, events, end = self.message([text("ticket AKIAIOSFOD"), text("ticket Mr Smi", "reasoning"), text("NN7EXAMPLE", "reasoning"),
                                          text("th", "reasoning"), text(" ticket")])
        self.assertEqual((code, end["verdict"], end["blocked_on"]), (0, "allow", None))
        self.assertEqual(self.seen(events, "text"), "ticket AKIAIOSFOD ticket")
        self.assertEqual(self.seen(events, "reasoning"), "ticket Mr SmiNN7EXAMPLEth")
        logs = [(event["channel"], event["start"], event["delta"]) for event in events if event["event"] == "log"]
        self.assertEqual(logs, [("text", 0, 0), ("reasoning", 0, 1)])
        self.assertEqual(end["channels"]["text"]["held_max"], 10)

    # GR-54
    def test_arguments_wait_until_they_are_complete(self):
        code, events, end = self.message([
            call("c1", tool="sql_run", delta='{"q":"dr'), call("c1", delta='op\\n table t"}', done=True, started=True),
            call("c2", tool="sql_run", delta='{"q":"select 1"}', done=True, started=True),
            call("c3", tool="read_file", delta='{"path":'), call("c3", delta='"/tmp"}', done=True)])
        self.assertEqual((code, end["verdict"]), (0, "allow"))
        of_calls = [(event["event"], event["id"], event.get("verdict"), event.get("text")) for event in events]
        self.assertEqual(of_calls, [
            ("call", "c1", "block", None), ("refuse", "c1", None, None),
            ("call", "c2", "allow", '{"q":"select 1"}'), ("start", "c2", None, None),
            ("release", "c3", None, '{"path":'), ("release", "c3", None, '"/tmp"}'), ("call", "c3", "allow", "")])
        self.assertEqual(events[0]["reason"], "guardrail check 'drop' refused this call (guardrail.regex)")
        self.assertEqual([one["state"] for one in end["calls"]], ["refused", "started", "ready"])

    # GR-55
    def test_a_block_ends_the_message(self):
        for blocking, other in (("text", "reasoning"), ("reasoning", "text")):
            code, events, end = self.message([
                {"tokens": 17}, text("wait AKI", other),
                call("running", tool="sql", delta="{}", done=True, started=True), call("ready", tool="sql", delta="{}", done=True),
                call("half", tool="sql", delta="{"), text("key " + KEY[:12], blocking), text(KEY[12:] + " more", blocking),
                text("A and more", other), call("ready", started=True), {"tokens": 100}])
            self.assertEqual((code, end["verdict"], end["blocked_on"]), (1, "block", blocking))
            self.assertEqual(self.seen(events, blocking), "key [This answer was withheld by a guardrail.]")
            self.assertEqual(self.seen(events, other), "wait ")
            self.assertEqual([(event["event"], event["id"]) for event in events[-2:]], [("drop", "ready"), ("drop", "half")])
            self.assertEqual([one["state"] for one in end["calls"]], ["started", "dropped", "dropped"])
            self.assertEqual((end["tokens"], end["deltas"]), (17, 7))
            sums = end["channels"][other]
            self.assertEqual((sums["bytes_in"], sums["released_bytes"], sums["withheld_bytes"]), (8, 5, 3))

    # GR-52 GR-54: a decision at the end of a channel applies to the whole message
    def test_what_only_the_end_decides_can_end_the_message_too(self):
        config = {"checks": [{"type": "regex", "stage": "output", "id": "last", "patterns": ["bye$"]}]}
        (self.home / "end.json").write_text(json.dumps(config))
        lines = [text("bye"), text("more", "reasoning"), text("", done=True), text(" never", "reasoning")]
        done = subprocess.run([BIN, "guard", "stream", "--config", str(self.home / "end.json"), "--channels", "--json"],
                              input="\n".join(map(json.dumps, lines)).encode(), capture_output=True, timeout=60, env=self.environment())
        events = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(done.returncode, 1)
        self.assertEqual([event["event"] for event in events], ["release", "block", "end"])
        self.assertEqual(events[1]["delta"], 2)

    # GR-5 GR-66 GR-67
    def test_a_bad_line_is_one_error(self):
        for lines in ("{", "[]\n", '{"channel":"text","detla":"x"}\n', '{"channel":"video","delta":"x"}\n',
                      '{"channel":"tool_call","delta":"x"}\n', '{"channel":"tool_call","id":"a","tool":"sql","delta":"{","done":true}\n'):
            code, out, err = self.run_lines(lines, "--json")
            self.assertEqual(code, 1, lines)
            self.assertEqual(json.loads(out.splitlines()[-1])["error"]["code"], "bad_delta")
            self.assertEqual(err.count("\n"), 1)
            self.assertIn("line 1", err)
        code, _, err = self.run_lines("", "--delta", "3")
        self.assertEqual((code, err.count("\n")), (64, 1))

    # A tool that only a later line named was left out of the decision.
    # GR-34
    def test_the_tool_of_a_call_is_the_one_it_began_with(self):
        lines = [call("a", delta='{"q":"drop'), call("a", delta=' table"}', tool="sql_run", done=True)]
        code, out, err = self.run_lines(lines, "--json")
        self.assertEqual((code, json.loads(out.splitlines()[-1])["error"]["code"]), (1, "bad_delta"))
        self.assertIn("line 2", err)
        code, events, _ = self.message([call("a", tool="sql_run", delta='{"q":"drop'), call("a", delta=' table"}', tool="sql_run", done=True)])
        self.assertEqual((code, events[-1]["verdict"]), (0, "block"))

    def test_people_read_it_without_json(self):
        code, out, _ = self.run_lines([text("Mr Smith"), call("c1", tool="sql", delta='{"q":"drop table t"}', done=True)])
        self.assertEqual((code, out.splitlines()), (0, [
            '[0] text release 0..3 "Mr "', '[0] text redact 3..8 "[redacted]"', "[1] tool_call call c1 sql: refused", "verdict: redact"]))


if __name__ == "__main__":
    unittest.main()
