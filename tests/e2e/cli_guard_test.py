#!/usr/bin/env python3
"""`guard check` and `guard stream` from outside: shapes, exit codes, errors."""
import json
import random
import subprocess
import unittest

from cli_support import BIN, CliTest

AWS = {"checks": [{"type": "regex", "stage": "output", "id": "aws", "patterns": ["AKIA[A-Z0-9]{16}"]}]}
TEXT = "key is AKIAIOSFODNN7EXAMPLE ok"


class Guard(CliTest):
    def config(self, document, name="guard.json"):
        path = self.home / name
        path.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(path)

    def guard(self, *words, text=""):
        data = text if isinstance(text, bytes) else text.encode()
        done = subprocess.run([BIN, "guard", *words, "--json"], input=data, capture_output=True, timeout=60, env=self.environment())
        return done.returncode, [json.loads(line) for line in done.stdout.decode().splitlines()], done.stderr.decode()

    def check(self, document, stage, *words, text=""):
        code, lines, _ = self.guard("check", "--config", self.config(document), "--stage", stage, *words, text=text)
        self.assertEqual(len(lines), 1)
        return code, lines[0]

    def stream(self, document, *words, text=""):
        code, lines, _ = self.guard("stream", "--config", self.config(document), *words, text=text)
        return code, lines

    # GR-59 GR-60 GR-67
    def test_check_prints_one_object_with_everything(self):
        code, seen = self.check(AWS, "output", text=TEXT)
        self.assertEqual(code, 1)
        self.assertEqual(set(seen), {"verdict", "blocked", "stage", "tool", "mode", "hits", "decision", "text", "coverage", "report",
                                     "invalid_utf8", "config_hash", "generation"})
        self.assertEqual((seen["verdict"], seen["blocked"], seen["generation"]), ("block", True, 1))
        self.assertEqual(set(seen["hits"][0]), {"check_index", "check", "check_id", "stage", "rule_type", "action", "on_fail", "severity",
                                                "reason_code", "replacement", "entry", "matched", "start", "end", "view", "path"})
        self.assertEqual((seen["hits"][0]["start"], seen["hits"][0]["end"], seen["hits"][0]["matched"]), (7, 27, "AKIAIOSFODNN7EXAMPLE"))
        self.assertEqual(seen["decision"], {"check_index": 0, "check": "aws", "reason_code": "guardrail.regex",
                                            "replacement": "[This answer was withheld by a guardrail.]", "reason": None})
        self.assertEqual(seen["coverage"], [{"check_index": 0, "check": "aws", "status": "ran", "why": None}])
        self.assertEqual(seen["report"], {"patterns": 1, "unbounded": [], "ascii_classes": []})
        code, seen = self.check(AWS, "output", text="AKIA alone")
        self.assertEqual((code, seen["verdict"], seen["hits"], seen["decision"], seen["text"]), (0, "allow", [], None, None))

    # GR-36 GR-61
    def test_arguments_are_json_and_redacted_as_canonical_json(self):
        document = {"checks": [{"type": "blocklist", "stage": "tool_use", "id": "w", "on_fail": "redact", "words": ["secret"]}]}
        code, seen = self.check(document, "tool_use", "--tool", "x", text='{"b": "my Secret", "a": 1.0}')
        self.assertEqual((code, seen["verdict"], seen["text"]), (0, "redact", '{"a":1,"b":"my [redacted]"}'))
        self.assertEqual(seen["hits"][0]["path"], "/b")
        code, seen = self.check(document, "tool_use", "--tool", "x", text="")
        self.assertEqual((code, seen["verdict"]), (0, "allow"))
        code, seen = self.check(document, "tool_use", "--tool", "x", text='{"secret": 1}')
        self.assertEqual((code, seen["hits"][0]["action"], seen["hits"][0]["path"]), (1, "block", None))
        self.assertEqual(seen["decision"]["reason"], "guardrail check 'w' refused this call (guardrail.blocklist)")
        for bad in ("{", '{"a":1,"a":2}', '"\\ud800"', "[" * 129 + "]" * 129, "{} {}"):
            code, lines, err = self.guard("check", "--config", self.config(document), "--stage", "tool_use", text=bad)
            self.assertEqual((code, lines[0]["error"]["code"]), (1, "bad_arguments"), bad)
            self.assertEqual(err.count("\n"), 1)

    # The check saw 1.2345678901234568e+22, and the tool would have received the number.
    # GR-32 GR-36
    def test_a_number_is_checked_as_it_is_written(self):
        number = "12345678901234567890123"
        for action, verdict in (("block", "block"), ("redact", "block"), ("log", "allow")):
            document = {"checks": [{"type": "regex", "stage": "tool_use", "id": "n", "on_fail": action, "patterns": [number]}]}
            code, seen = self.check(document, "tool_use", "--tool", "pay", text='{"to": [%s]}' % number)
            self.assertEqual((code, seen["verdict"], seen["hits"][0]["path"]), (int(verdict == "block"), verdict, "/to/0"))

    # GR-14 GR-62
    def test_coverage_says_why_a_check_did_not_run(self):
        document = {"checks": [
            {"type": "blocklist", "stage": "output", "words": ["x"]},
            {"type": "blocklist", "stage": "tool_use", "words": ["x"]},
            {"type": "tool_pattern", "stage": "tool_use", "tools": ["a*"]},
            {"type": "blocklist", "stage": "tool_use", "tools": ["b"], "words": ["x"]},
            {"type": "blocklist", "stage": "tool_use", "args": ["/q"], "words": ["x"]}]}
        _, seen = self.check(document, "tool_use", "--skip", "1", "--tool", "c", text='{"z":1}')
        self.assertEqual([one["why"] for one in seen["coverage"]], ["stage", "caller", None, "tool", "args"])
        _, seen = self.check(document, "tool_use", text='{"q":"y"}')
        self.assertEqual([one["why"] for one in seen["coverage"]], ["stage", None, "no_tool", "no_tool", None])
        self.assertEqual([one["status"] for one in seen["coverage"]], ["skipped", "ran", "skipped", "skipped", "ran"])

    # GR-6 GR-66 GR-67
    def test_errors_are_one_object_and_one_line(self):
        cases = [("{", "syntax"), ('{"checks":[{}]}', "shape"), ('{"chekcs":[]}', "unknown_key"), ('{"mode":"Active"}', "shape"),
                 ('{"max_hold_bytes":1}', "out_of_range"), ('\ufeff{}', "syntax"), ('{} x', "syntax"), ('{"mode":"active","mode":"active"}', "syntax"),
                 ('{"checks":[{"type":"regex","stage":"output","patterns":[]}]}', "empty_list"),
                 ('{"checks":[{"type":"regex","stage":"output","patterns":["(a"]}]}', "invalid_regex"),
                 ('{"checks":[{"type":"tool_pattern","stage":"output","tools":["a"]}]}', "not_allowed_here")]
        for text, code in cases:
            for verb in (["check", "--stage", "output"], ["stream", "--delta", "1"]):
                exit_code, lines, err = self.guard(*verb, "--config", self.config(text), text="x")
                self.assertEqual((exit_code, len(lines), lines[0]["error"]["code"]), (1, 1, code), text)
                self.assertEqual(set(lines[0]["error"]), {"code", "message", "check", "check_index", "path", "detail"})
                self.assertEqual(err.count("\n"), 1)
        exit_code, lines, err = self.guard("check", "--config", str(self.home / "none.json"), "--stage", "output")
        self.assertEqual((exit_code, lines[0]["error"]["code"]), (64, "io"))
        self.assertIn("none.json", lines[0]["error"]["message"])

    # GR-59 GR-61 GR-63 GR-67
    def test_wrong_usage_is_64(self):
        config = self.config(AWS)
        for words in (["check", "--config", config], ["check", "--config", config, "--stage", "nowhere"],
                      ["check", "--config", config, "--stage", "output", "--tool", "x"],
                      ["check", "--config", config, "--stage", "output", "--skip", "a"],
                      ["check", "--config", config, "--stage", "tool_use", "--tool", b"a\xff"],
                      ["stream", "--config", config], ["stream", "--config", config, "--delta", "0"],
                      ["stream", "--config", config, "--delta", "1", "--splits", "1"],
                      ["stream", "--config", config, "--delta", "1", "--stage", "tool_use"],
                      ["stream", "--config", config, "--delta", "1", "--tool", "x"],
                      ["stream", "--config", config, "--splits", "2,9"], ["stream", "--config", config, "--splits", "1,,2"]):
            code, _, err = self.guard(*words, text="text")
            self.assertEqual((code, err.count("\n")), (64, 1), words)

    def many(self, count):
        return {"checks": [{"type": "regex", "stage": "output", "id": f"c{check}", "patterns": [f"(?i)order {check * 64 + i}x" for i in range(64)]}
                           for check in range(count // 64)]}

    # GR-11
    def test_compiled_patterns_are_kept_in_the_data_folder_and_never_change_a_verdict(self):
        cache = self.data / "cache"
        config = self.config(self.many(1024))
        words = ("check", "--config", config, "--stage", "output", "--data-dir", str(self.data))
        without = self.guard(*words, text="my Order 700X")
        self.assertEqual((without[0], without[1][0]["hits"][0]["check"]), (1, "c10"))
        self.assertFalse(self.data.exists(), "a dry run makes no data folder")
        self.data.mkdir(mode=0o700)
        self.assertEqual(self.guard(*words, text="my Order 700X"), without)
        kept, = cache.glob("*.patterns")
        self.assertEqual((kept.stat().st_mode & 0o777, cache.stat().st_mode & 0o777), (0o600, 0o700))
        whole = kept.read_bytes()
        self.assertEqual(self.guard(*words, text="my Order 700X"), without)
        self.assertEqual(kept.read_bytes(), whole)
        # A damaged, cut, empty or planted file is made again.
        for bad in (whole[:-1] + bytes([whole[-1] ^ 1]), whole[: len(whole) // 2], b"", b"\0" * 32 + whole[32:]):
            kept.write_bytes(bad)
            self.assertEqual(self.guard(*words, text="my Order 700X"), without)
            self.assertEqual(kept.read_bytes(), whole)
        # Another document has another file.
        other = self.config(self.many(512), "other.json")
        code, lines, _ = self.guard("check", "--config", other, "--stage", "output", "--data-dir", str(self.data), text="my Order 700X")
        self.assertEqual((code, lines[0]["hits"]), (0, []))
        self.assertEqual(len(list(cache.glob("*.patterns"))), 2)

    # The value of `password` was a passphrase only in the second scan, when a mark had replaced the token.
    # PI-67
    def test_a_second_scan_of_a_result_changes_nothing(self):
        policy = self.config("version: 1\nresults: [{hook: output-sanitizer}]\n", "policy.yaml")
        given = json.dumps({"password": "correct horse battery ghp_" + "a" * 200})
        for text in (given, '{"password":"****"}'):
            code, lines, _ = self.guard("check", "--policy", policy, text=text)
            self.assertEqual((code, lines[0]["released"]["value"]), (0, {"password": "****"}))

    # GR-4
    def test_a_text_has_a_limit(self):
        code, lines, _ = self.guard("check", "--config", self.config(AWS), "--stage", "output", text=b"x" * (16 << 20))
        self.assertEqual((code, lines[0]["verdict"]), (0, "allow"))
        code, lines, _ = self.guard("check", "--config", self.config(AWS), "--stage", "output", text=b"x" * ((16 << 20) + 1))
        self.assertEqual((code, lines[0]["error"]["code"]), (1, "text_too_large"))

    # GR-63 GR-64 GR-65
    def test_the_example_of_the_specification(self):
        code, events = self.stream(AWS, "--delta", "8", text=TEXT)
        self.assertEqual(code, 1)
        self.assertEqual(events[0], {"event": "release", "delta": 0, "start": 0, "end": 7, "text": "key is "})
        block = events[1]
        self.assertEqual({name: block[name] for name in ("event", "delta", "check", "reason_code", "start", "end", "at")},
                         {"event": "block", "delta": 3, "check": "aws", "reason_code": "guardrail.regex", "start": 7, "end": 27, "at": 27})
        self.assertEqual(block["replacement"], "[This answer was withheld by a guardrail.]")
        end = events[2]
        self.assertEqual(len(events), 3)
        self.assertEqual([end[name] for name in ("verdict", "armed", "deltas", "bytes_in", "released_bytes", "redacted_bytes", "withheld_bytes")],
                         ["block", True, 4, 30, 7, 0, 23])
        self.assertEqual(set(end), {"event", "verdict", "armed", "deltas", "bytes_in", "released_bytes", "redacted_bytes", "withheld_bytes",
                                    "redactions", "log_hits", "held_max", "invalid_utf8", "coverage", "report", "config_hash", "generation"})

    # GR-44 GR-51 GR-63 GR-64
    def test_what_the_client_sees_does_not_depend_on_the_cuts(self):
        document = {"checks": [
            {"type": "regex", "stage": "output", "id": "key", "on_fail": "redact", "replacement": "***", "patterns": ["AKIA[A-Z0-9]{16}"]},
            {"type": "blocklist", "stage": "output", "id": "word", "on_fail": "log", "words": ["straße"]}]}
        text = ("vor AKIAIOSFODNN7EXAMPLE Straße 👍 AKIA ASIA AKIAIOSFODNN7EXAMPL€ " * 3).encode()
        chance = random.Random(4)
        outcomes = set()
        for _ in range(12):
            sizes, left = [], len(text)
            while left > 0 and len(sizes) < 40:
                sizes.append(chance.randint(0, min(9, left)))
                left -= sizes[-1]
            code, events = self.stream(document, "--splits", ",".join(map(str, sizes)), text=text)
            self.assertEqual(code, 0)
            spans = [(e["start"], e["end"]) for e in events if e["event"] in ("release", "redact")]
            self.assertEqual(spans[0][0], 0)
            self.assertTrue(all(a[1] == b[0] for a, b in zip(spans, spans[1:])))
            self.assertEqual(spans[-1][1], len(text))
            outcomes.add("".join(e.get("text", e.get("replacement", "")) for e in events if e["event"] in ("release", "redact")))
            self.assertEqual([e["check"] for e in events if e["event"] == "log"], ["word"])
            redacted = next(e for e in events if e["event"] == "redact")
            self.assertEqual(set(redacted), {"event", "delta", "start", "end", "check_index", "check", "check_id", "rule_type", "reason_code",
                                             "severity", "replacement", "checks"})
        self.assertEqual(outcomes, {text.decode().replace("AKIAIOSFODNN7EXAMPLE", "***")})
        code, seen = self.check(document, "output", text=text)
        self.assertEqual(outcomes, {seen["text"]})

    # GR-43 GR-53 GR-21
    def test_a_stream_that_no_check_applies_to_is_not_armed(self):
        for document in ("null", "{}", '{"checks":[]}', AWS):
            code, events = self.stream(document, "--delta", "3", "--stage", "tool_output", text="aé\udcffb".encode("utf-8", "surrogateescape"))
            self.assertEqual((code, events[-1]["armed"], events[-1]["verdict"], events[-1]["invalid_utf8"]), (0, False, "allow", 1))
            self.assertEqual("".join(e["text"] for e in events[:-1]), "aé\ufffdb")
        code, events = self.stream(AWS, "--delta", "3", text="")
        self.assertEqual((code, len(events), events[0]["deltas"], events[0]["verdict"], events[0]["armed"]), (0, 1, 0, "allow", True))

    # GR-46 GR-49 GR-65
    def test_what_is_to_be_redacted_does_not_leave_when_it_reaches_into_a_block(self):
        document = {"checks": [{"type": "regex", "stage": "output", "on_fail": "redact", "patterns": ["key=[a-z]{8}"]},
                               {"type": "blocklist", "stage": "output", "words": ["hijk"]}]}
        for size in ("1", "3", "100"):
            code, events = self.stream(document, "--delta", size, text="my key=abcdefghijk")
            self.assertEqual((code, "".join(e["text"] for e in events if e["event"] == "release")), (1, "my "))
            self.assertEqual((events[-1]["released_bytes"], events[-1]["redacted_bytes"], events[-1]["withheld_bytes"]), (3, 0, 15))

    # GR-85
    def test_a_byte_order_mark_before_a_document_is_refused_however_it_is_written(self):
        for name in ("guard.json", "guard.yaml"):
            code, lines, _ = self.guard("check", "--config", self.config('\ufeff{"checks":[]}', name), "--stage", "output")
            self.assertEqual((code, lines[0]["error"]["code"]), (1, "syntax"))

    # GR-1 GR-59
    def test_yaml_and_presets_are_documents_too(self):
        path = self.config("checks:\n  - type: regex\n    stage: output\n    id: aws\n    patterns: ['AKIA[A-Z0-9]{16}']\n", "guard.yaml")
        code, lines, _ = self.guard("check", "--config", path, "--stage", "output", text=TEXT)
        self.assertEqual((code, lines[0]["config_hash"]), (1, self.check(AWS, "output")[1]["config_hash"]))
        code, lines, _ = self.guard("check", "--config", "gallery:secrets", "--stage", "output", text=TEXT)
        self.assertEqual((code, lines[0]["text"]), (0, "key is [redacted] ok"))
        code, lines, _ = self.guard("check", "--config", "gallery:nothing", "--stage", "output", text=TEXT)
        self.assertEqual((code, lines[0]["error"]["code"]), (64, "io"))

    # GR-8
    def test_words_for_people_without_json(self):
        done = subprocess.run([BIN, "guard", "check", "--config", self.config(AWS), "--stage", "output"], input=TEXT.encode(), capture_output=True,
                              timeout=60, env=self.environment())
        self.assertEqual(done.returncode, 1)
        self.assertIn("verdict: block", done.stdout.decode())
        self.assertIn("aws (guardrail.regex) at 7..27", done.stdout.decode())


if __name__ == "__main__":
    unittest.main()
