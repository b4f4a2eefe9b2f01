#!/usr/bin/env python3
"""Guards outside of Sallyport: their input, their permitted answers, and the effect of their failures."""
import http.server
import json
import os
import pathlib
import ssl
import subprocess
import sys
import threading
import time
import unittest

from cli_support import BIN
from external_support import HEAD, ONCE, OPEN, ExternalTest
from mcp_support import FAKE
from serve_support import ServeTest, Session

MEMBERS = ["schema", "at", "call", "classification", "effects", "rules", "policy_hash", "deadline_ms"]
# Gives the answer that the message of the call requests.
ECHO = """
answer = q["call"]["input"]["message"]
if answer.startswith("{"):
    print(answer)
elif answer == "fail":
    sys.exit(3)
elif answer == "killed":
    os.kill(os.getpid(), 9)
elif answer == "nothing":
    pass
elif answer == "late":
    say(verdict="allow"); time.sleep(60)
elif answer == "flood":
    print('{"verdict":"allow","pad":"' + "x" * 2_000_000 + '"}')
else:
    say(verdict="allow")
"""
ALLOW = '{"verdict":"allow"}'
KEY = "AKIA" + "ABCDEFGHIJKLMNOP"


class Answers(ExternalTest):
    # RU-64 RU-65 RU-67
    def test_a_guard_is_told_of_the_call_and_denies_with_its_own_words(self):
        guard = self.program("guard.py", """
json.dump(q, open(sys.argv[0] + ".seen", "w"))
say(verdict="deny", message="not on a Friday", rule="friday")
""")
        client = self.gate(self.entry(guard, sees="input"))
        self.assertEqual(self.echo(client, "hi"), ("not on a Friday", True))
        seen = json.loads((self.folder / "guard.py.seen").read_text())
        self.assertEqual(list(seen), MEMBERS)
        self.assertEqual((seen["schema"], seen["at"], seen["deadline_ms"]), ("sallyport.external.v1", "call", 20_000))
        call = seen["call"]
        self.assertEqual((call["tool"], call["server"], call["input"]), ("echo", "fake", {"message": "hi"}))
        self.assertTrue(call["agent"].startswith("uid:"))
        self.assertEqual(seen["effects"], [{"class": "unknown"}])
        record = [each for each in self.records() if each["terminal"]][0]
        run = [each for each in record["guards"] if each["guard"] == "external:check"][0]
        self.assertEqual((run["stage"], run["verdict"], run["rule"]), ("external", "deny", "friday"))
        self.assertEqual(seen["policy_hash"], record["policy_hash"])

    # RU-64: without `sees: input`, secrets are removed from the input.
    def test_a_guard_that_sees_a_preview_sees_no_secret(self):
        guard = self.program("guard.py", 'open(sys.argv[0] + ".seen", "w").write(json.dumps(q)); say(verdict="allow")\n')
        client = self.gate(self.entry(guard))
        self.assertEqual(self.echo(client, "key " + KEY)[1], False)
        seen = (self.folder / "guard.py.seen").read_text()
        self.assertNotIn(KEY, seen)
        call = json.loads(seen)["call"]
        self.assertNotIn("input", call)
        self.assertIn("[REDACTED:", call["preview"]["raw_input"]["message"])

    # RU-65 RU-66: each valid shape, and each kind of invalid answer.
    def test_an_answer_of_another_shape_denies(self):
        client = self.gate(self.entry(self.program("guard.py", ECHO), sees="input", deadline_ms=4000))
        self.assertEqual(self.echo(client, ALLOW), (ALLOW, False))
        self.assertEqual(self.echo(client, '{"verdict":"escalate","message":"look"}')[1], False)
        wrong = ["fail", "killed", "nothing", "flood", "late", ALLOW + ALLOW, "{}", '{"verdict":"maybe"}', '{"verdict":"deny"}',
                 '{"verdict":"deny","message":""}', '{"verdict":"deny","message":5}', '{"verdict":"rewrite"}', "{",
                 '{"verdict":"allow","note":"x"}', '{"verdict":"allow","message":"x"}', '{"verdict":"deny","message":"x","rule":7}',
                 '{"verdict":"rewrite","input":12345678901234567890}', '{"verdict":"block","reason":"of results"}']
        for message in wrong:
            text, error = self.echo(client, message)
            self.assertTrue(error, message)
            self.assertIn("guard external:check failed: " + ("timeout" if message == "late" else "error"), text)
        client.wait_for_error("external:check failed: exit code 3")
        client.wait_for_error("external:check failed: signal 9")
        client.wait_for_error("the answer is over 1 MiB")
        self.one_end_for_each_call(2 + len(wrong))

    # RU-65: `ask` makes an approval request with the words of the guard.
    def test_a_guard_asks(self):
        sections = OPEN + "approvals: {hold_s: 0}\n"
        client = self.gate(self.entry(self.program("guard.py", 'say(verdict="ask", message="is this meant?")\n')), sections=sections)
        self.assertIn("pending_approval", self.echo(client)[0])
        asked = self.good("approvals", "list", "--json").lines()
        self.assertEqual([each["description"] for each in asked], ["is this meant?"])

    # RU-64 RU-11: a rewriter runs before the rules, which see its result.
    def test_a_rewriter_changes_the_input_before_rules_decide(self):
        rewriter = self.program("rewriter.py", """
q["call"]["input"]["message"] = q["call"]["input"]["message"].upper()
say(verdict="rewrite", input=q["call"]["input"])
""")
        sections = OPEN + """rules:
  - {id: no-loud, then: deny, message: Speak softly., when: {args: {type: arg_equals, value: {at: /message, value: LOUD}}}}
"""
        client = self.gate(self.entry(rewriter, kind="rewriter", sees="input"), sections=sections)
        self.assertEqual(self.echo(client, "soft"), ("SOFT", False))
        text, error = self.echo(client, "loud")
        self.assertEqual((error, "Blocked by rule `no-loud`" in text), (True, True), text)

    # RU-64: each kind has the rights of the corresponding library function, and no others.
    def test_a_kind_says_only_what_it_may(self):
        guard = self.program("guard.py", ECHO)
        client = self.gate(self.entry(guard, id="boss", kind="authorizer", sees="input"))
        self.assertEqual(self.echo(client, '{"verdict":"deny","message":"no"}'), ("no", True))
        for answer in ('{"verdict":"rewrite","input":{"message":"x"}}', '{"verdict":"escalate","message":"x"}'):
            self.assertTrue(self.echo(client, answer)[1])
        client = self.gate(self.entry(guard, kind="rewriter", sees="input"))
        self.assertEqual(self.echo(client, '{"verdict":"rewrite","input":{"message":"x"}}'), ("x", False))
        self.assertTrue(self.echo(client, '{"verdict":"ask","message":"x"}')[1])

    # RU-64 RU-65: results, in the shapes of PI-1.
    def test_a_result_guard_blocks_redacts_and_escalates(self):
        guard = self.program("guard.py", """
text = q["result"]["value"]["content"][0]["text"]
if text == "block":
    say(verdict="block", reason="not for you")
elif text == "redact":
    q["result"]["value"]["content"][0]["text"] = "***"
    say(verdict="redact", value=q["result"])
elif text == "wrong":
    say(verdict="deny", message="is of calls")
else:
    say(verdict="allow")
""")
        client = self.gate(self.entry(guard, kind="result", when={"tool": "echo"}))
        self.assertIn("not for you", self.echo(client, "block")[0])
        self.assertEqual(self.echo(client, "redact")[0], "***")
        self.assertEqual(self.echo(client, "fine"), ("fine", False))
        text = self.echo(client, "wrong")[0]
        self.assertIn("guard external:check failed", text)

    def escalating(self, **more):
        guard = self.program("guard.py", 'say(verdict="escalate", message="look \\x1bat this")\n')
        return self.gate(self.entry(guard, kind="result", **more))

    def items(self):
        opened = [entry["body"] for entry in self.good("ledger", "show", "--kind", "approval", "--json").lines()]
        return [one["request_id"] for one in opened], self.good("approvals", "list", "--json").lines()

    # What a guard said about a list or a notification opened nothing.
    # PI-80 (partly)
    def test_an_escalation_about_a_message_that_is_no_result_opens_an_item(self):
        client = self.escalating()
        client.request("tools/list")
        client.close()
        opened, items = self.items()
        self.assertEqual([(item["guard"], item["message"], item["request_id"]) for item in items], [("external:check", "look at this", *opened)])

    # Each progress message opened the item again, with the text as the guard wrote it, and the result opened another.
    # PI-83 PI-88
    def test_equal_escalations_of_one_call_share_one_item(self):
        client = self.escalating(when={"tool": "progress"})
        client.result("progress", _meta={"progressToken": "p"})
        client.close()
        opened, items = self.items()
        self.assertEqual([(item["message"], item["count"], item["request_id"]) for item in items], [("look at this", 4, *opened)])
        self.assertEqual(self.records()[-1]["post_invocation"]["escalation_ids"], opened)

    # The client read the reason as the guard wrote it.
    # PI-88
    def test_the_reason_for_a_withheld_list_has_no_secret(self):
        guard = self.program("guard.py", 'say(verdict="block", reason="has \\x1b[31m AKIAIOSFODNN7EXAMPLE")\n')
        client = self.gate(self.entry(guard, kind="result", when={"tool": "tools/list"}))
        self.assertEqual(client.request("tools/list")["error"]["message"], "Result withheld by external:check: has [31m [REDACTED:secret]")

    # PI-38 (partly) PI-86
    def test_an_answer_about_a_result_that_is_no_verdict_is_malformed(self):
        client = self.gate(self.entry(self.program("guard.py", 'print(q["result"]["value"]["content"][0]["text"])\n'), kind="result",
                                      when={"tool": "echo"}))
        wrong = ['{"verdict":"block"}', '{"verdict":"block","reason":""}', '{"verdict":"block","reason":5}',
                 '{"verdict":"Block","reason":"x"}', '{"verdict":"redact"}', '{"verdict":"allow","x":1}', "{}", "no JSON"]
        for answer in wrong:
            text, error = self.echo(client, answer)
            self.assertTrue(error, answer)
            self.assertIn("guard external:check failed: malformed", text)
        client.close()
        failures = [record["post_invocation"]["failure"] for record in self.records() if record["terminal"]]
        self.assertEqual(failures, [{"guard": "external:check", "class": "malformed"}] * len(wrong))

    # RU-64: `when` has the conditions of rules; an unknown value counts as a match.
    def test_a_guard_is_asked_only_where_its_conditions_hold_or_may_hold(self):
        guard = self.program("guard.py", 'say(verdict="deny", message="asked")\n')
        say_no = {"args": {"type": "arg_equals", "value": {"at": "/message", "value": "no"}}}
        client = self.gate(self.entry(guard, when=say_no))
        self.assertEqual(self.echo(client, "yes"), ("yes", False))
        self.assertEqual(self.echo(client, "no"), ("asked", True))
        client = self.gate(self.entry(guard, when={"tool": "other"}))
        self.assertEqual(self.echo(client, "yes"), ("yes", False))

    # RU-66: an interval that fails open is bracketed by two entries (LE-71).
    def test_on_error_allow_is_recorded_as_an_interval(self):
        client = self.gate(self.entry(self.program("guard.py", ECHO), sees="input", on_error="allow"))
        self.assertEqual(self.echo(client, "fail"), ("fail", False))
        self.assertEqual(self.echo(client, "killed"), ("killed", False))
        self.assertEqual(self.echo(client, "fine"), ("fine", False))
        client.close()
        entries = self.controls("fail_open_started", "fail_open_ended")
        self.assertEqual([(each["control"], each["guard"], each.get("calls")) for each in entries],
                         [("fail_open_started", "external:check", None), ("fail_open_ended", "external:check", 2)])

    # RU-64: events before and after a call, records after it.
    def test_events_and_records_reach_their_programs(self):
        keep = 'open(sys.argv[0] + ".seen", "a").write(json.dumps(q) + "\\n"); say(verdict="allow")\n'
        client = self.gate(self.entry(self.program("events.py", keep), id="bus", kind="events"),
                           self.entry(self.program("sink.py", keep), id="siem", kind="sink"))
        self.assertEqual(self.echo(client, "key " + KEY)[1], False)
        client.close()
        kinds = [each["event"]["kind"] for each in self.lines_of("events.py.seen") if each["call"]["tool"] == "echo"]
        self.assertEqual(kinds[0], "tool_authorization_started")
        self.assertIn("tool_execution_finished", kinds)
        records = [each["record"] for each in self.lines_of("sink.py.seen")]
        self.assertEqual([each["tool_name"] for each in records if each["terminal"]], ["echo"])
        self.assertNotIn(KEY, (self.folder / "events.py.seen").read_text() + (self.folder / "sink.py.seen").read_text())

    # RU-66: an event that announces an action stops it if the event program denies it.
    def test_an_event_program_that_refuses_stops_the_call(self):
        body = """
if q["event"]["kind"] == "tool_authorization_started" and q["call"]["tool"] == "echo":
    say(verdict="deny", message="frozen")
else:
    say(verdict="allow")
"""
        client = self.gate(self.entry(self.program("events.py", body), id="bus", kind="events"))
        text, error = self.echo(client)
        self.assertTrue(error)
        self.assertIn("event sink failed: external:bus", text)

    # With `on_error: allow`, a `deny` of an event program once counted as its failure, and the call ran.
    # EV-60 RU-66 LE-71 (partly)
    def test_an_event_program_that_may_fail_still_stops_what_it_denies(self):
        body = """
kind, message = q["event"]["kind"], open(sys.argv[0] + ".do").read()
if kind == "tool_authorization_started" and message == "deny":
    say(verdict="deny", message="frozen")
elif kind == "tool_execution_started" and message == "fail":
    sys.exit(1)
else:
    say(verdict="allow")
"""
        todo = self.write("events.py.do", "deny")
        client = self.gate(self.entry(self.program("events.py", body), id="bus", kind="events", on_error="allow"))
        text, error = self.echo(client)
        self.assertTrue(error)
        self.assertEqual(text, "event sink failed: external:bus")
        todo.write_text("fail")
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        todo.write_text("allow")
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        client.close()
        entries = self.controls("fail_open_started", "fail_open_ended")
        self.assertEqual([(each["control"], each["guard"], each.get("calls")) for each in entries],
                         [("fail_open_started", "external:bus", None), ("fail_open_ended", "external:bus", 1)])

    # EV-60
    def test_a_start_that_an_event_program_denies_ends_with_70(self):
        body = 'say(verdict="deny", message="frozen")\n'
        policy = self.external_policy(self.entry(self.program("events.py", body), id="bus", kind="events"))
        outcome = self.run_bare("mcp", "--policy", policy, "--data-dir", self.data, "--", sys.executable, FAKE)
        self.assertEqual(outcome.code, 70)
        self.assertIn("sallyport: event sink failed: external:bus\n", outcome.err)

    # RU-66: a failing sink stops nothing, and its failure is recorded.
    def test_a_failing_sink_stops_nothing_and_is_on_record(self):
        client = self.gate(self.entry(self.program("sink.py", "sys.exit(1)\n"), id="siem", kind="sink"))
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        client.close()
        failed = [row["body"] for row in self.good("ledger", "show", "--kind", "hook_failed", "--json").lines()]
        self.assertEqual({each["hook"] for each in failed}, {"external:siem"})

    # RU-70: one process answers many questions, paired by `id`, also out of order.
    def test_a_program_that_serves_answers_line_by_line(self):
        server = self.program("server.py", """
for line in sys.stdin:
    q = json.loads(line)
    message = q["call"]["input"]["message"]
    if message == "pid":
        say(id=q["id"], verdict="deny", message=str(os.getpid()))
    elif message == "first":
        held = q
        open(sys.argv[0] + ".held", "w").close()
    elif message == "second":
        say(id=q["id"], verdict="allow")
        say(id=held["id"], verdict="deny", message="held back")
    else:
        say(id=q["id"], verdict="allow")
""", head=HEAD)
        client = self.gate(self.entry(server, mode="serve", sees="input"))
        self.assertEqual(self.echo(client, "pid"), self.echo(client, "pid"))
        first = client.ask("tools/call", {"name": "echo", "arguments": {"message": "first"}})
        self.wait_until((self.folder / "server.py.held").exists)  # two concurrent calls arrive in any order
        self.assertEqual(self.echo(client, "second"), ("second", False))
        self.assertIn("held back", client.answer(first)["result"]["content"][0]["text"])

    # RU-70: at most three restarts a minute; while the program is not running, calls are denied.
    def test_a_program_that_keeps_ending_is_restarted_three_times_a_minute(self):
        server = self.program("server.py", """
open(sys.argv[0] + ".starts", "a").write("{}\\n")
for line in sys.stdin:
    q = json.loads(line)
    if q["call"]["input"]["message"] == "die":
        sys.exit(1)
    say(id=q["id"], verdict="allow")
""", head=HEAD)
        client = self.gate(self.entry(server, mode="serve", sees="input"))
        self.assertEqual(self.echo(client, "fine"), ("fine", False))
        for _ in range(6):
            self.assertTrue(self.echo(client, "die")[1])
        self.assertEqual(len(self.lines_of("server.py.starts")), 4)
        self.assertTrue(self.echo(client, "fine")[1])


class Peer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers.get("Authorization"), body))
        message = body["call"]["input"]["message"] if body["at"] == "call" else ""
        status = int(message) if message.isdigit() else 200
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("Location", "/elsewhere")
        text = json.dumps({"verdict": "deny", "message": "by address"} if message == "no" else {"verdict": "allow"}).encode()
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


class Addresses(ExternalTest):
    def setUp(self):
        super().setUp()
        self.peer = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Peer)
        self.peer.seen = []
        threading.Thread(target=self.peer.serve_forever, daemon=True).start()
        self.addCleanup(self.peer.server_close)
        self.addCleanup(self.peer.shutdown)
        self.url = f"http://127.0.0.1:{self.peer.server_address[1]}/judge"

    # RU-69 RU-66: the token is in the request and nowhere else; a status other than 200 denies, and no redirect is followed.
    def test_an_address_is_asked_with_a_token_that_is_in_no_record(self):
        token = "Bearer some-token-of-the-peer"
        client = self.gate(self.entry(None, url=self.url, sees="input", header_env={"Authorization": "PEER_TOKEN"}),
                           env={"PEER_TOKEN": token, "http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"})
        self.assertEqual(self.echo(client, "yes"), ("yes", False))
        self.assertEqual(self.echo(client, "no"), ("by address", True))
        for status in ("500", "201", "204", "302", "307", "308"):
            self.assertTrue(self.echo(client, status)[1], status)
        self.assertEqual({path for path, _, _ in self.peer.seen}, {"/judge"})
        self.assertEqual({given for _, given, _ in self.peer.seen}, {token})
        client.close()
        self.assertNotIn(token, json.dumps(self.good("ledger", "show", "--limit", "10000", "--json").lines()) + "".join(client.errors))

    # RU-69: a certificate that the system does not trust is invalid.
    def test_an_address_needs_a_verified_certificate(self):
        made, key = self.folder / "made.pem", self.folder / "made.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", made], check=True, capture_output=True)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(made, key)
        self.peer.socket = tls.wrap_socket(self.peer.socket, server_side=True)
        entry = self.entry(None, url=self.url.replace("http://127.0.0.1", "https://localhost"), sees="input")
        client = self.gate(entry)
        self.assertTrue(self.echo(client, "yes")[1])
        self.assertEqual(self.peer.seen, [])
        client = self.gate(entry, env={"SSL_CERT_FILE": made})
        self.assertEqual(self.echo(client, "yes"), ("yes", False))
        client = self.gate({**entry, "url": entry["url"].replace("localhost", "127.0.0.1")}, env={"SSL_CERT_FILE": made})
        self.assertTrue(self.echo(client, "yes")[1], "the certificate is of another name")

    # RU-69
    def test_an_address_without_its_token_denies(self):
        client = self.gate(self.entry(None, url=self.url, sees="input", header_env={"Authorization": "PEER_TOKEN"}))
        self.assertTrue(self.echo(client, "yes")[1])
        client.wait_for_error("the variable `PEER_TOKEN` of the header `Authorization` is not set")
        self.assertEqual(self.peer.seen, [])

    # RU-69: a guard's address must be `https` or on this machine.
    def test_an_address_elsewhere_needs_tls(self):
        policy = self.external_policy(self.entry(None, url="http://192.0.2.1/judge"))
        done = self.cli("policy", "check", policy)
        self.assertEqual(done.code, 1)
        self.assertIn("without encryption", done.err)


class Approver(ExternalTest):
    SECTIONS = """version: 1
autonomy: {tier: act_with_approval%s}
approvals: {hold_s: 0, reviewers: [{name: triage, roles: [approver]}, {name: ada, token: "sha256:%s", roles: [approver]}]%s}
"""

    def ask(self, body, autonomy="", approvals="", id="triage"):
        approver = self.program("approver.py", body)
        return self.gate(self.entry(approver, id=id, kind="approver"),
                         sections=self.SECTIONS % (autonomy, "0" * 64, approvals))

    # RU-67
    def test_an_approver_answers_as_the_reviewer_of_its_name(self):
        client = self.ask('open(sys.argv[0] + ".seen", "w").write(json.dumps(q)); say(verdict="allow")\n')
        self.assertEqual(self.echo(client, "hi"), ("hi", False))
        client.close()
        seen = json.loads((self.folder / "approver.py.seen").read_text())
        self.assertEqual((seen["at"], seen["question"]["tool_name"]), ("question", "echo"))
        said = [row["body"] for row in self.good("ledger", "show", "--kind", "approval", "--json").lines()
                if row["body"].get("record") == "approval_response"]
        self.assertEqual([(each["reviewer"], each["door"]) for each in said], [("triage", "external:triage")])

    # RU-67 RU-66
    def test_an_approver_that_refuses_or_fails_denies(self):
        client = self.ask('say(verdict="deny", message="not today")\n')
        self.assertIn("not today", self.echo(client)[0])
        client = self.ask("sys.exit(1)\n")
        text, error = self.echo(client)
        self.assertEqual((error, "external:triage failed" in text), (True, True), text)

    # RU-67: an approver program is not asked if it is unregistered, or if the call requires a human or two people.
    def test_an_approver_never_answers_where_people_must(self):
        for more in ({"id": "stranger"}, {"autonomy": ", requires_human: true"}, {"approvals": ", dual_control: [echo]"}):
            client = self.ask('say(verdict="allow")\n', **more)
            self.assertIn("pending_approval", json.dumps(client.result("echo", {"message": "hi"})), more)
            client.close()


class Checks(ExternalTest):
    # RU-64: errors have a position.
    def test_policy_check_names_the_place_of_an_error(self):
        guard = self.program("guard.py", "")
        good = self.cli("policy", "check", self.external_policy(self.entry(guard)))
        self.assertEqual(good.code, 0, good.err)
        self.assertIn("1 external guard\n", good.out)
        for entry, line in (("{id: a, kind: guard}", "either `command` or `url`"),
                            ("{id: a, kind: gard, command: /bin/true}", "gard"),
                            ("{id: a, kind: guard, command: bin/true}", "is not an absolute path"),
                            ("{id: a, kind: guard, command: /bin/true, deadline_ms: 30001}", "30000"),
                            ("{id: a, kind: guard, command: /bin/true, when: {class: fs.wipe}}", "unknown class `fs.wipe`"),
                            ("{id: a, kind: guard, command: /bin/true, env: [LD_PRELOAD]}", "changes which code runs"),
                            ("{id: a, kind: guard, command: /bin/true, tries: 3}", "unknown key `tries`"),
                            ("{id: a, kind: guard, command: /bin/true, header_env: {X: Y}}", "`header_env` is for `url`"),
                            ("{id: a, kind: guard, url: 'https://x.example/', mode: serve}", "`mode` is for `command`"),
                            ("{id: a, kind: sink, command: /bin/true, when: {class: fs.read}}", "takes `agent`"),
                            ("{id: a, kind: guard, command: /no/such/program}", "`/no/such/program` does not exist")):
            done = self.cli("policy", "check", self.write("bad.yaml", f"{OPEN}external:\n  - {entry}\n"))
            self.assertEqual(done.code, 1, entry)
            self.assertRegex(done.err, r"bad\.yaml:4:\d+: ")
            self.assertIn(line, done.err)

    # RU-64 RU-75: no program is started, and the guard's answer is unknown; a call that is refused anyway is refused.
    def test_a_call_that_an_external_guard_would_be_asked_about_is_undecided(self):
        guard = self.program("guard.py", 'open(sys.argv[0] + ".ran", "w")\n')
        rules = "rules: [{id: no-push, then: deny, when: {class: git.push}}]\n"
        policy = self.external_policy(self.entry(guard, when={"class": ["git.push", "process.exec"]}, on_error="allow"), sections=OPEN + rules)
        call = '{"agent":"claude-code","tool":"Bash","cwd":"/w","input":{"command":"%s"}}'
        cases = "".join(f"- {{name: {name}, call: {call % line}, expect: {{verdict: {verdict}}}}}\n"
                        for name, line, verdict in (("a", "make", "undecided"), ("b", "git push", "refused"), ("c", "cat a", "runs")))
        self.good("policy", "test", policy, "--cases", self.write("cases.yaml", cases))
        self.assertFalse((self.folder / "guard.py.ran").exists())

    # RU-64: the schema knows the section.
    def test_the_schema_of_policies_has_the_section(self):
        keys = self.good("policy", "schema").json()["properties"]["external"]["items"]["properties"]
        self.assertEqual(set(keys), {"id", "kind", "command", "url", "when", "deadline_ms", "on_error", "sees", "env", "header_env", "mode"})


class Examples(ExternalTest):
    FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "external"
    SERVER = HEAD + """
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    r = {"initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "db", "version": "1"}},
         "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("query", "git_push")]}}.get(m["method"], {})
    if m["method"] == "tools/call":
        r = {"content": [{"type": "text", "text": json.dumps(m["params"]["arguments"]) + " from db1.corp.example"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
"""

    # RU-64 RU-65 RU-70: docs/external-guards.md quotes these files.
    def test_the_examples_do_what_they_say(self):
        for example in self.FOLDER.iterdir():
            text = example.read_text().replace("/opt/sallyport/", f"{self.folder}/").replace("kind: ", "deadline_ms: 20000, kind: ")
            self.write(example.name, text).chmod(0o755)
        self.good("policy", "check", self.folder / "policy.yaml")
        server = self.program("server.py", "", head=self.SERVER)
        client = self.client(server, options=("--name", "db", "--policy", str(self.folder / "policy.yaml")))
        client.open()
        self.assertEqual(client.said("query", {"sql": "select 1"}), '{"sql": "select 1", "limit": 100} from [host]')
        self.assertEqual(client.said("query", {"limit": 5}), '{"limit": 5} from [host]')
        self.assertFalse(client.result("git_push").get("isError"))
        (self.data / "FREEZE").touch()
        self.assertIn("The release is frozen. Push tomorrow.", client.said("git_push"))
        lines = "".join(json.dumps({"id": id, "call": {"agent": "a"}}) + "\n" for id in range(61))
        said = subprocess.run([self.folder / "rate.py"], input=lines, capture_output=True, text=True, check=True).stdout
        self.assertEqual([json.loads(line)["verdict"] for line in said.splitlines()], ["allow"] * 60 + ["deny"])
        records = [json.loads(line)["record"] for line in (self.data / "records.jsonl").read_text().splitlines()]
        self.assertEqual(len([each for each in records if each["terminal"]]), 4)

    # RU-68: doctor reports why a program cannot be started before a call needs it.
    def test_doctor_says_whether_each_program_can_be_started(self):
        good = self.program("good.py", ONCE)
        bad = self.program("bad.py", ONCE)
        client = self.gate(self.entry(good, id="good"), self.entry(bad, id="bad"), self.entry(good, id="poor", env=["NO_SUCH_VARIABLE"]))
        client.close()
        bad.chmod(0o777)
        checks = {each["check"]: each for each in self.cli("doctor", "--json").json()["checks"]}
        self.assertEqual([checks["external:" + id]["state"] for id in ("good", "bad", "poor")], ["ok", "fail", "warn"])
        self.assertIn("can be written by other users", checks["external:bad"]["detail"])


class Fronts(ExternalTest):
    # RU-64: guards also judge calls of coding agents and their results.
    def test_the_hook_of_a_coding_agent_asks_external_guards(self):
        guard = self.program("guard.py", """
open(sys.argv[0] + ".seen", "a").write(json.dumps(q) + "\\n")
command = q["call"]["input"]["command"]
say(**({"verdict": "deny", "message": "no builds now"} if "make" in command else {"verdict": "allow"}))
""")
        policy = self.external_policy(self.entry(guard, sees="input", when={"class": "process.exec"}))
        event = {"session_id": "s", "hook_event_name": "PreToolUse", "cwd": "/src", "tool_name": "Bash",
                 "tool_input": {"command": "make"}, "tool_use_id": "toolu_1"}
        said = self.good("hook", "--agent", "claude-code", "--policy", policy, stdin=json.dumps(event).encode()).json()
        self.assertEqual(said["hookSpecificOutput"]["permissionDecision"], "deny")
        self.assertIn("no builds now", said["hookSpecificOutput"]["permissionDecisionReason"])
        seen = self.lines_of("guard.py.seen")
        self.assertEqual((seen[0]["call"]["front"], seen[0]["call"]["cwd"], seen[0]["effects"][0]["class"]), ("hook", "/src", "process.exec"))
        event["tool_input"]["command"], event["tool_use_id"] = "cat a", "toolu_2"
        self.good("hook", "--agent", "claude-code", "--policy", policy, stdin=json.dumps(event).encode())
        self.assertEqual(len(self.lines_of("guard.py.seen")), 1)

    def event(self, kind="PreToolUse", command="cat a", **more):
        return json.dumps({"session_id": "s", "hook_event_name": kind, "cwd": "/src", "tool_name": "Bash",
                           "tool_input": {"command": command}, "tool_use_id": "toolu_1", **more}).encode()

    # RU-64
    def test_a_result_that_a_coding_agent_reports_is_judged(self):
        guard = self.program("guard.py", 'say(verdict="block", reason="hidden")\n')
        policy = self.external_policy(self.entry(guard, kind="result", when={"class": "fs.read", "inside": "/src"}))
        hook = ("hook", "--agent", "claude-code", "--policy", policy)
        self.good(*hook, stdin=self.event())
        said = self.good(*hook, stdin=self.event("PostToolUse", tool_response={"stdout": "x", "stderr": ""})).json()
        self.assertIn("hidden", said["reason"])

    # RU-67: an approver answers before a coding agent has to wait.
    def test_an_approver_answers_for_a_coding_agent(self):
        approver = self.program("approver.py", 'say(**({"verdict": "allow"} if "a" in q["effects"][0]["command"] else {"verdict": "deny", "message": "no"}))\n')
        policy = self.external_policy(self.entry(approver, id="triage", kind="approver"), sections="""version: 1
autonomy: {tier: act_with_approval}
approvals: {reviewers: [{name: triage, roles: [approver]}]}
""")
        hook = ("hook", "--agent", "codex", "--policy", policy)
        self.assertEqual(self.cli(*hook, stdin=self.event(command="make a")).out.strip(), "")
        said = self.cli(*hook, stdin=self.event(command="tool")).out
        self.assertIn("deny", said)
        self.assertNotIn("pending", said)


class Served(ServeTest):
    # RU-64: clients of `sallyport serve`.
    def test_sallyport_serve_asks_external_guards(self):
        guard = self.write("guard.py", ONCE + 'say(verdict="deny", message="by " + q["call"]["front"])\n')
        guard.chmod(0o755)
        policy = self.write("policy.yaml", OPEN + f"external: [{{id: a, kind: guard, command: {guard}, when: {{tool: echo}}, deadline_ms: 20000}}]\n")
        server = self.serve(f"policy: {policy}\n")
        self.assertIn("by http", Session(server).said("echo", {"message": "on"}))


if __name__ == "__main__":
    unittest.main()
