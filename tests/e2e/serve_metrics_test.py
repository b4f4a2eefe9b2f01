#!/usr/bin/env python3
"""The output of `/metrics` of `sallyport serve`, parsed as strictly as its format requires."""
import hashlib
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import unittest

from approvals_support import ApprovalsTest
from mcp_support import PATIENCE
from serve_support import ServeTest, Session, in_background, modern

EFFECTS = pathlib.Path(__file__).with_name("mcp_effects_server.py")
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf'({NAME})(?:\{{((?:{NAME}="(?:[^"\\\n]|\\["\\n])*",?)+)\}})? (-?[0-9.e+-]+|[+-]Inf|NaN)')
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"')
POLICY = """version: 1
autonomy: {tier: act_auto}
guardrails:
  checks:
    - {type: blocklist, stage: tool_use, id: word, words: [%s]}
"""


def parse(text):
    """Returns samples by name and labels. Every line must belong to a family that was declared once."""
    types, samples, family = {}, {}, None
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            family = line.split(" ")[2]
            assert family not in types, f"{family} is there twice"
            types[family] = None
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == family and kind in ("counter", "gauge", "histogram"), line
            types[name] = kind
        else:
            found = SAMPLE.fullmatch(line)
            assert found, f"no sample: {line!r}"
            name, labels, value = found.groups()
            base = re.sub("_(bucket|sum|count)$", "", name) if types[family] == "histogram" else name
            assert base == family, f"{name} stands below {family}"
            assert types[family] != "counter" or name.endswith("_total"), name
            key = (name, tuple(sorted(LABEL.findall(labels or ""))))
            assert key not in samples, f"{key} is there twice"
            samples[key] = float(value)
    return samples


class Reading:
    def __init__(self, text):
        self.samples = parse(text)

    def get(self, name, **labels):
        return self.samples.get((name, tuple(sorted(labels.items()))))


class MetricsTest(ServeTest, ApprovalsTest):
    def read(self, gate, **more):
        status, headers, body = gate.ask("GET", "/metrics", token=False, **more)
        self.assertEqual((status, headers["content-type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        self.text = body.decode()
        return Reading(self.text)

    def until(self, gate, name, value, within=PATIENCE, **labels):
        """Returns the time until the number had this value."""
        begin = time.monotonic()
        while (seen := self.read(gate).get(name, **labels)) != value:
            self.assertLess(time.monotonic() - begin, within, f"{name} {labels} is {seen}, not {value}")
            time.sleep(0.05)
        return time.monotonic() - begin

    def test_calls_latencies_and_requests_are_counted(self):
        server = self.serve()
        session = Session(server)
        for _ in range(3):
            session.said("echo", {"message": "AKIAIOSFODNN7EXAMPLE"})
        session.call("slow", {"seconds": 0.3})
        session.call("no_such_tool")
        session.call("structured", {"fails": True})
        seen = self.read(server)
        agent = self.records()[0]["agent_id"]
        calls = {outcome: seen.get("sallyport_calls_total", outcome=outcome, server="fake", agent=agent, front="mcp_http")
                 for outcome in ("completed", "blocked")}
        self.assertEqual(calls, {"completed": 5, "blocked": 1})
        durations = {error: seen.get("mcp_server_operation_duration_seconds_count", mcp_method_name="tools/call", error_type=error)
                     for error in ("", "blocked", "tool_error")}
        self.assertEqual(durations, {"": 4, "blocked": 1, "tool_error": 1})
        self.assertEqual(seen.get("mcp_client_operation_duration_seconds_count", mcp_method_name="tools/call"), 5)
        self.assertGreater(seen.get("mcp_client_operation_duration_seconds_sum", mcp_method_name="tools/call"), 0.3)
        # The time of the tool is not counted as ours.
        self.assertEqual(seen.get("sallyport_added_latency_seconds_count"), 6)
        self.assertEqual(seen.get("sallyport_decision_seconds_count"), 6)
        total = seen.get("mcp_server_operation_duration_seconds_sum", mcp_method_name="tools/call", error_type="")
        self.assertLess(seen.get("sallyport_added_latency_seconds_sum"), total + 5)
        self.assertGreaterEqual(seen.get("sallyport_added_latency_seconds_sum"), seen.get("sallyport_decision_seconds_sum"))
        self.assertEqual(seen.get("sallyport_ledger_lag_records"), 0)
        self.assertGreater(seen.get("sallyport_ledger_append_seconds_count", result="written"), 6)
        self.assertEqual(seen.get("sallyport_ledger_records_total", kind="tool_audit"), 6)
        self.assertEqual(seen.get("sallyport_http_requests_total", route="/mcp", status="200"), 7)
        self.assertEqual(seen.get("sallyport_sessions"), 1)
        self.assertNotIn("AKIA", self.text)
        server.ask("GET", "/nowhere", token=False)
        self.assertEqual(self.read(server).get("sallyport_http_requests_total", route="other", status="404"), 1)

    def test_histograms_are_whole_and_rise(self):
        server = self.serve()
        Session(server).said("echo", {"message": "x"})
        buckets = {}
        for (name, labels), value in self.read(server).samples.items():
            if name.endswith("_bucket"):
                rest = tuple(label for label in labels if label[0] != "le")
                buckets.setdefault((name, rest), []).append((float(dict(labels)["le"]), value))
        self.assertGreater(len(buckets), 4)
        for (name, labels), counts in buckets.items():
            counts.sort()
            self.assertEqual(counts[-1][0], float("inf"))
            self.assertEqual([count for _, count in counts], sorted(count for _, count in counts), name)
            whole = self.read(server).get(name.replace("_bucket", "_count"), **dict(labels))
            self.assertGreaterEqual(whole, counts[-1][1])

    @unittest.skipUnless(shutil.which("promtool"), "promtool is not installed")
    def test_promtool_finds_nothing_to_say(self):
        server = self.serve()
        Session(server).said("echo", {"message": "x"})
        self.read(server)
        checked = subprocess.run(["promtool", "check", "metrics"], input=self.text.encode(), capture_output=True, timeout=60)
        self.assertEqual((checked.returncode, checked.stdout + checked.stderr), (0, b""))

    # GR-72 GR-79
    def test_hits_by_check_and_action_and_a_refused_policy_are_told(self):
        path = self.write("policy.yaml", POLICY % "swordfish")
        server = self.serve("policy: ./policy.yaml")
        session = Session(server)
        session.call("echo", {"message": "swordfish"})
        seen = self.read(server)
        self.assertEqual(seen.get("sallyport_guard_hits_total", check="word", action="block"), 1)
        self.assertEqual((seen.get("sallyport_policy_generation"), seen.get("sallyport_policy_refused")), (1, 0))
        path.write_text("version: 1\nguardrails: {checks: [{type: none}]}\n")
        self.until(server, "sallyport_policy_refused", 1)
        seen = self.read(server)
        self.assertEqual(seen.get("sallyport_policy_loads_total", result="refused"), 1)
        self.assertEqual(seen.get("sallyport_policy_generation"), 1)
        time.sleep(0.01)
        path.write_text(POLICY % "herring")
        self.until(server, "sallyport_policy_generation", 2)
        seen = self.read(server)
        self.assertEqual((seen.get("sallyport_policy_refused"), seen.get("sallyport_policy_loads_total", result="loaded")), (0, 2))

    # LE-77
    def test_a_locked_ledger_and_its_recovery_are_seen_within_a_second(self):
        config = self.configure().read_text()
        self.write("serve.yaml", config + "ledger: {lock_wait_ms: 200}\n")
        self.configure = lambda more, command: self.folder / "serve.yaml"
        server = self.serve()
        session = Session(server)
        self.assertEqual(self.read(server).get("sallyport_ledger_ready"), 1)
        other = sqlite3.connect(self.data / "ledger.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        self.assertTrue(session.call("echo", {"message": "x"})[-1]["result"]["isError"])
        # The call was refused at this moment, and now the metrics show it.
        self.assertLess(self.until(server, "sallyport_ledger_ready", 0), 1)
        self.assertEqual(self.read(server).get("sallyport_ledger_unavailable", cause="busy"), 1)
        self.assertEqual(server.ask("GET", "/readyz", token=False)[0], 503)
        other.execute("ROLLBACK")
        other.close()
        # A write is tried once a second; calls after the first successful one are not late.
        self.until(server, "sallyport_ledger_ready", 1, within=30)
        self.assertEqual(server.ask("GET", "/readyz", token=False)[0], 200)
        self.assertEqual(self.read(server).get("sallyport_ledger_unavailable", cause="busy"), 0)
        self.assertEqual(session.said("echo", {"message": "on"}), "on")

    # LE-54
    def test_damage_makes_the_ledger_refuse_and_the_metrics_say_so(self):
        server = self.serve()
        session = Session(server)
        session.said("echo", {"message": "x"})
        with sqlite3.connect(self.data / "ledger.db", isolation_level=None) as other:
            other.execute("DELETE FROM entries WHERE sequence = (SELECT max(sequence) FROM entries)")
        self.assertTrue(session.call("echo", {"message": "y"})[-1]["result"]["isError"])
        self.assertLess(self.until(server, "sallyport_ledger_unavailable", 1, cause="corrupt"), 1)
        self.assertEqual(self.read(server).get("sallyport_ledger_ready"), 0)
        self.assertEqual(server.ask("GET", "/readyz", token=False)[0], 503)
        self.assertTrue(session.call("echo", {"message": "z"})[-1]["result"]["isError"])

    def test_questions_to_people_are_counted_whoever_answers_them(self):
        self.policy("autonomy: {tier: act_with_approval}\n" + self.init("user:ada"))
        server = self.serve("policy: ./policy.yaml", (sys.executable, EFFECTS), {"EFFECTS": str(self.effects)})
        session = Session(server)
        result = in_background(lambda: session.said("write_file", {"path": "a", "text": "b"}))
        self.until(server, "sallyport_approvals_pending", 1)
        self.good(*self.answer("approve", self.pending()[0]["request_id"]))
        self.assertEqual(result.get(timeout=PATIENCE), "written")
        self.until(server, "sallyport_approvals", 1, state="used")
        seen = self.read(server)
        self.assertEqual((seen.get("sallyport_approvals_pending"), seen.get("sallyport_approvals_asked_total")), (0, 1))
        self.assertEqual(seen.get("sallyport_approval_wait_seconds_count", outcome="completed"), 1)
        # The approver's time is not counted as ours.
        self.assertEqual(seen.get("sallyport_added_latency_seconds_count"), 0)

    def test_servers_that_fall_and_questions_that_are_dropped_are_counted(self):
        server = self.serve()
        session = Session(server)
        session.call("die")
        self.until(server, "sallyport_upstream_restarts_total", 1, server="fake")
        self.stateless(server, modern("tools/call", {"name": "ask_sampling", "arguments": {}}))
        self.until(server, "sallyport_bridge_degraded_total", 1, feature="sampling")

    def test_who_may_read_it(self):
        token = "token-of-the-monitor-0123456789"
        digest = hashlib.sha256(token.encode()).hexdigest()
        server = self.serve(f"metrics_token_sha256: {digest}")
        self.assertEqual(server.ask("GET", "/metrics", token=False)[0], 401)
        self.assertEqual(server.ask("GET", "/metrics")[0], 401)  # an agent's token gives no access here
        self.assertEqual(server.ask("GET", "/metrics", token=token)[0], 200)
        self.assertEqual(server.ask("POST", "/metrics", token=token)[0], 405)
        self.assertEqual(server.ask("GET", "/metrics", token=token, headers={"Host": "evil.example"})[0], 403)
        self.assertEqual(server.ask(token=token)[0], 401)  # its own token gives no other access


if __name__ == "__main__":
    unittest.main()
