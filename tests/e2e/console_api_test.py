#!/usr/bin/env python3
"""Tests the HTTP API of the web console from outside: rights, approval requests, lists, proofs and the stream."""
import json
import subprocess
import sys
import time
import unittest

from cli_support import BIN, MAKE_LEDGER
from console_people_support import PEOPLE, ROOT, TOKENS, Browser, ConsoleTest, digest
from serve_support import Session, events, in_background

ALL = set(PEOPLE)
A, V, U, C = {"approver"}, {"viewer"}, {"auditor"}, {"controller"}
# Every cell of the table in section 7 whose route exists.
ROUTES = [
    ("GET", "approvals", A | V), ("GET", "approvals/none", A | V), ("GET", "approvals/stream", A | V),
    ("POST", "approvals/none/respond", A), ("POST", "approvals/none/escalate", A), ("POST", "approvals/none/cancel", A),
    ("POST", "approvals/batch", A), ("GET", "stream", V), ("GET", "calls", V | U), ("GET", "calls/none", V | U),
    ("GET", "calls/none/receipts", V), ("GET", "entries", V), ("GET", "entries/0", V), ("GET", "entries/0/openings", U),
    ("GET", "entries/0/receipt", V), ("GET", "facets", V), ("GET", "stats", V), ("GET", "log/checkpoint", V),
    ("GET", "log/checkpoint/1", V), ("GET", "log/tile/none", V), ("GET", "log/proof", V), ("GET", "log/export", V), ("GET", "log/keys", V), ("GET", "log/gaps", V),
    ("GET", "intervals", V), ("GET", "health", ALL),
    ("GET", "agents", V), ("GET", "agents/none", V), ("GET", "agents/none/trust", V), ("GET", "agents/none/proposals", V),
    ("POST", "agents/none/tier", C), ("GET", "pins", V), ("GET", "pins/none/none", V), ("POST", "pins/none/none/accept", C),
    ("GET", "grants", V), ("GET", "grants/none", V), ("POST", "grants/none/revoke", C),
    ("GET", "calls/none/explain", V | U), ("POST", "explain", V | U), ("GET", "policies", V), ("GET", "policies/none", V),
    ("GET", "policies/drafts/none", V), ("PUT", "policies/drafts/none", C), ("GET", "schemas/none", V), ("POST", "policies/check", C),
    ("POST", "policies/test", C), ("POST", "policies/activate", C),
    ("POST", "backtests", C), ("GET", "backtests", V), ("GET", "backtests/none", V), ("DELETE", "backtests/none", C),
    ("POST", "passkeys/options", A | C), ("POST", "passkeys", A | C), ("GET", "passkeys", A | C), ("DELETE", "passkeys/none", A | C),
]
OWN = [("GET", "session"), ("DELETE", "session"), ("GET", "sessions"), ("DELETE", "sessions/none")]
OPEN = [("POST", "session/link"), ("POST", "session/token"), ("POST", "session/passkey"), ("GET", "openapi.json")]
HEADERS = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin",
           "cross-origin-resource-policy": "same-origin"}


class ConsoleApi(ConsoleTest):
    # CO-67 CO-66 (partly) CO-4 (partly)
    def test_every_route_answers_every_kind_of_client_as_the_table_says(self):
        self.start()
        for method, path, allowed in ROUTES:
            for role in (False, self.server.token, *PEOPLE):
                with self.subTest(route=f"{method} {path}", role=role):
                    if path.endswith("stream"):
                        response = self.server.open(method, ROOT + path, headers={"Content-Type": None}, token=TOKENS.get(role, role))
                        status, got = response.status, {name.lower(): value for name, value in response.getheaders()}
                        said = None if status == 200 else json.loads(response.read())
                        response.close()
                    else:
                        status, got, said = self.api(method, path, {} if method in ("POST", "PUT") else None, role=role)
                    for name, value in HEADERS.items():
                        self.assertEqual(got.get(name), value)
                    self.assertIn("publickey-credentials-get=(self)", got["permissions-policy"])
                    if role not in PEOPLE:
                        self.assertEqual((status, said["code"]), (401, "unknown_token" if role else "no_session"))
                    elif role in allowed:
                        self.assertNotIn(status, (401, 405, 500), said)
                        self.assertNotEqual(said and isinstance(said, dict) and said.get("code"), "role")
                    else:
                        self.assertEqual((status, said["code"], said["error"]), (403, "role", said["detail"]))
                    if status >= 400:
                        self.assertEqual(got["content-type"], "application/problem+json")
                        self.assertEqual((said["type"], said["status"]), ("about:blank", status))
            time.sleep(0.03)  # fifty requests a second are allowed
        for method, path in OWN:
            for role in (False, self.server.token, *PEOPLE):
                self.assertEqual(self.api(method, path, role=role)[0], 401, (method, path, role))

    # CO-65 (partly)
    def test_the_document_has_every_served_route_and_no_other(self):
        self.start()
        status, got, said = self.api("GET", "openapi.json", role=False)
        self.assertEqual((status, said["openapi"]), (200, "3.1.0"))
        written = {(method.upper(), path) for path, item in said["paths"].items() for method in item}
        for method, path in written:
            filled = path[1:].replace("{seq}", "0").replace("{size}", "1")
            for name in ("{id}", "{server}", "{tool}", "{hash}", "{name}", "{path}"):
                filled = filled.replace(name, "none")
            known = [one for one in ROUTES if one[:2] == (method, filled)] or [one for one in OWN + OPEN if one == (method, filled)]
            self.assertTrue(known, (method, path))
        self.assertEqual(len(written), len(ROUTES) + len(OWN) + len(OPEN))
        self.assertEqual(self.server.ask("HEAD", ROOT + "openapi.json", token=False)[0], 200)

    # CO-66 (partly): errors once named options of the command line
    def test_a_wrong_filter_is_named_as_the_query_names_it(self):
        self.start()
        for query, place, said in (("since=yesterday", "since", "since `yesterday` is not a time; "), ("until=2026-13-01", "until", "until `2026-13-01` is not a time; "),
                                   ("since=1h&until=2h", "until", "until is before since"), ("agent=%01", "agent", "agent `"),
                                   ("outcome=nonsense", "outcome", "there is no outcome `nonsense`")):
            for path in ("calls", "entries"):
                status, _, problem = self.api("GET", f"{path}?{query}")
                self.assertEqual((status, problem["place"]), (400, place), query)
                self.assertTrue(problem["detail"].startswith(said), problem["detail"])
                self.assertNotIn("--", problem["detail"])
        for query, place in (("kind=nonsense", "kind"), ("topic=%20", "topic"), ("approval=%01", "approval")):
            problem = self.api("GET", f"entries?{query}")[2]
            self.assertEqual((problem["place"], "--" in problem["detail"]), (place, False), problem)
        # A parameter value without an effect was once ignored.
        item = self.run_one(Session(self.server))
        for path, place in ((f"approvals/{item['request_id']}?full=true", "full"), (f"approvals/{item['request_id']}?full=0", "full"), ("stats?by=kind", "by")):
            status, _, problem = self.api("GET", path)
            self.assertEqual((status, problem["place"]), (400, place), path)
        self.assertEqual(self.api("GET", f"approvals/{item['request_id']}?full=1")[0], 200)
        problem = self.api("POST", "backtests", {"policy": "starter", "since": "yesterday"}, role="controller")[2]
        self.assertEqual((problem["place"], problem["detail"].split(";")[0]), ("since", "since `yesterday` is not a time"))

    # CO-39: a required reason, and the places that keep and show it
    def test_a_reason_is_required_sealed_and_shown_to_those_who_may_read_it(self):
        session = Session(self.start(policy_more="rules: [{id: files, then: ask, when: {class: fs.write}, message: Say why, reason: required}]\n"))
        result = self.held(session)
        item = self.waiting()[0]
        page = Browser(self.server)
        page.sign_in("token", TOKENS["approver"])
        respond = f"approvals/{item['request_id']}/respond"
        for reason in ({}, {"reason": ""}, {"reason": " \n"}):
            refused = page.ask("POST", respond, {"approved": True, "binding": item["binding"], **reason})
            self.assertEqual((refused[0], refused[2]["code"]), (400, "reason_needed"))
        self.assertFalse(self.effects.exists())
        self.assertEqual(page.ask("POST", respond, {"approved": True, "binding": item["binding"], "reason": "a very special reason"})[0], 200)
        result.get(timeout=30)
        self.assertEqual(page.ask("GET", "approvals/" + item["request_id"])[2]["responses"][0]["reason"], "a very special reason")
        self.assertNotIn("special reason", json.dumps(self.api("GET", "approvals/" + item["request_id"])[2]))
        entries = [json.loads(line)["entry"] for line in subprocess.run(
            [BIN, "--data-dir", self.data, "ledger", "export"], capture_output=True, text=True, check=True,
            env=self.environment()).stdout.splitlines() if '"entry"' in line]
        self.assertNotIn("special reason", json.dumps(entries))

    # CO-36 (partly) CO-37 (partly) CO-39 (partly)
    def test_a_session_answers_once_and_names_what_it_saw(self):
        session = Session(self.start())
        result = self.held(session)
        item = self.waiting()[0]
        self.assertEqual(item["may_answer"], {"ok": True, "why": None})
        self.assertEqual((item["risk"]["class"], item["quorum"]["missing"], item["withheld"]), ("fs.write", 1, []))
        page = Browser(self.server)
        page.sign_in("token", TOKENS["approver"])
        status, got, shown = page.ask("GET", "approvals/" + item["request_id"])
        self.assertEqual(status, 200, shown)
        self.assertEqual("".join(piece["text"] for piece in shown["shown"]["segments"]), shown["shown"]["text"])
        self.assertTrue(shown["shown"]["text"].endswith(item["binding"][7:15] + "\n"))
        self.assertEqual(page.ask("GET", "approvals/" + item["request_id"], If_None_Match=got["etag"])[0], 304)
        respond = f"approvals/{item['request_id']}/respond"
        wrong = page.ask("POST", respond, {"approved": True, "binding": "sha256:" + "0" * 64})
        self.assertEqual((wrong[0], wrong[2]["code"]), (412, "binding_mismatch"))
        yes = {"approved": True, "binding": item["binding"], "reason": "looks right"}
        self.assertEqual(page.ask("POST", respond, yes, If_Match='"other"')[2]["code"], "precondition_failed")
        first = page.ask("POST", respond, yes, Idempotency_Key="0123456789")
        again = page.ask("POST", respond, yes, Idempotency_Key="0123456789")
        self.assertEqual((first[0], again[0], first[2], again[1].get("idempotency-replayed")), (200, 200, again[2], "true"))
        self.assertEqual(page.ask("POST", respond, {**yes, "reason": "other"}, Idempotency_Key="0123456789")[0], 422)
        self.assertEqual(result.get(timeout=30), "written")
        self.assertEqual(len(self.effects.read_text().splitlines()), 1)
        _, _, shown = page.ask("GET", "approvals/" + item["request_id"])
        self.assertEqual([(one["reviewer"], one["door"], one["reason"]) for one in shown["responses"]], [("user:ada", "console", "looks right")])
        self.assertEqual(self.api("GET", "approvals/" + item["request_id"])[2]["request"]["args"], None)

    # CO-41: the person who withdrew a request was shown nowhere
    def test_a_question_that_was_taken_back_says_by_whom_and_why(self):
        session = Session(self.start())
        result = self.held(session)
        route = "approvals/" + self.waiting()[0]["request_id"]
        self.assertIsNone(self.api("GET", route, role="approver")[2]["ended"])
        self.assertEqual(self.api("POST", route + "/cancel", {"reason": "a mistake"}, role="approver")[0], 200)
        result.get(timeout=30)
        ended = self.api("GET", route, role="approver")[2]["ended"]
        self.assertRegex(ended.pop("at"), r"^20\d\d-")
        self.assertEqual(ended, {"state": "cancelled", "by": ["user:ada"], "door": "http:token", "reason": "a mistake"})
        self.assertIsNone(self.api("GET", route)[2]["ended"]["reason"])

    # CO-30: a past request was once compared with later approvals, and refused requests hid approved ones
    def test_a_question_is_compared_with_what_was_approved_before_it(self):
        session = Session(self.start())
        first, second = self.run_one(session, "1.txt"), self.run_one(session, "2.txt")
        unlike = lambda item: self.api("GET", "approvals/" + item["request_id"], role="approver")[2]["unlike"]
        self.assertIsNone(unlike(first))
        for number in range(17):
            self.run_one(session, f"no{number}.txt", approved=False)
            time.sleep(0.05)
        last = self.run_one(session, "3.txt", approved=False)
        self.assertEqual((unlike(second)["request_id"], unlike(last)["request_id"]), (first["request_id"], second["request_id"]))
        self.assertEqual(unlike(last)["members"], [{"path": "/path", "before": "2.txt", "now": "3.txt"}])

    # CO-31: the displayed tier was once the tier of the agent's last call
    def test_the_tier_beside_a_question_is_that_of_now(self):
        self.start()
        policy = self.folder / "policy.yaml"
        asks = policy.read_text()
        policy.write_text(asks.replace("act_with_approval", "act_auto"))
        session = Session(self.server)
        for _ in range(100):
            if self.api("GET", "policies")[2]["total"] == 2:
                break
            time.sleep(0.05)
        self.assertEqual(session.said("write_file", {"path": "a", "text": "hi"}), "written")
        policy.write_text(asks)
        for _ in range(100):
            if self.api("GET", "policies")[2]["items"][0]["sequence"] > self.api("GET", "calls")[2]["items"][0]["sequence"]:
                break
            time.sleep(0.05)
        result = self.held(Session(self.server))
        item = self.waiting()[0]
        told = json.loads(subprocess.run([BIN, "--data-dir", self.data, "trust", "show", item["agent_id"], "--json"], capture_output=True, text=True, check=True, env=self.environment(),
                                         cwd=self.folder).stdout)
        shown = self.api("GET", "approvals/" + item["request_id"], role="approver")[2]["agent"]
        self.assertEqual((shown["tier"], shown["counts"]), (told["effective_tier"], {"success": 1}))
        self.assertEqual(shown["tier"], "act_with_approval")
        self.api("POST", f"approvals/{item['request_id']}/cancel", {}, role="approver")
        result.get(timeout=30)

    # CO-30: the edits that the call itself would make
    def test_the_texts_of_an_edit_are_told_as_pairs(self):
        session = Session(self.start())
        given = {"path": "a.txt", "edits": [{"oldText": "a\nb", "newText": "a\nc"}, {"oldText": 1, "newText": "x"}], "old_string": "q", "new_string": ""}
        result = in_background(lambda: session.said("write_file", given))
        item = self.waiting()[0]
        shown = lambda role: self.api("GET", "approvals/" + item["request_id"], role=role)[2]
        self.assertEqual(shown("approver")["edits"], [{"path": "", "before": "q", "now": ""}, {"path": "/edits/0", "before": "a\nb", "now": "a\nc"}])
        self.assertEqual((shown("viewer")["edits"], "edits" in shown("viewer")["withheld"]), (None, True))
        self.api("POST", f"approvals/{item['request_id']}/cancel", {}, role="approver")
        result.get(timeout=30)

    # CO-50 (partly) CO-48 (partly)
    def test_a_viewer_gets_no_sealed_content_and_who_opens_it_is_on_record(self):
        both = "token-of-both-0123456789"
        session = Session(self.start(policy_more=f'    - {{name: "user:pia", token: "{digest(both)}", roles: [auditor, viewer]}}\n'))
        item = self.run_one(session, "very-secret-name.txt")
        _, _, calls = self.api("GET", "calls")
        call = calls["items"][0]["call_id"]
        paths = ["calls", f"calls/{call}", "approvals?state=all", "approvals/" + item["request_id"], f"calls/{call}/receipts", "log/gaps"]
        size = self.api("GET", "stats")[2]["size"]
        paths += [f"entries/{number}" for number in range(size)] + [f"entries/{number}/receipt" for number in range(size)]
        for path in paths:
            status, _, said = self.api("GET", path)
            self.assertEqual(status, 200, (path, said))
            self.assertNotIn("very-secret-name", json.dumps(said), path)
            time.sleep(0.02)
        _, _, shown = self.api("GET", f"calls/{call}", role="auditor")
        self.assertIn("very-secret-name", json.dumps(shown["timeline"][0]["input"]))
        self.assertEqual([step["stage"] for step in shown["timeline"]],
                         ["asked", "first_door", "autonomy", "effect", "second_door", "outcome"])
        self.api("GET", "calls", role="auditor")
        # CO-70 (partly): a filter by text searches only text that this person may see in the rows.
        for role, text, found in (("viewer", "SECRET-name", []), ("auditor", "SECRET-name", [call]), ("auditor", "secret-other", []), ("viewer", "WRITE_", [call])):
            page = self.api("GET", f"calls?text={text}", role=role)[2]
            self.assertEqual([item["call_id"] for item in page["items"]], found, (role, text))
        self.assertIn("very-secret-name", json.dumps(self.api("GET", f"calls/{call}/receipts", role=both)[2]))
        notes = [json.loads(line)["body"] for line in subprocess.run(
            [BIN, "--data-dir", self.data, "ledger", "show", "--kind", "control", "--json"], capture_output=True, text=True, check=True,
            env=self.environment()).stdout.splitlines()]
        opened = [note["who"] for note in notes if note["control"] == "content_opened"]
        self.assertEqual(sorted(set(opened)), ["user:ada", "user:pia", "user:uma"])
        self.assertEqual(opened.count("user:uma"), 1)

    # CO-43 (partly) CO-45 (partly) CO-66 (partly)
    def test_pages_are_cut_at_one_size_and_meet_without_hole_or_repeat(self):
        session = Session(self.start())
        for number in range(3):
            self.run_one(session, f"{number}.txt")
        size = self.api("GET", "stats")[2]["size"]
        seen, cursor = [], ""
        while True:
            _, _, page = self.api("GET", f"entries?limit=4{cursor}")
            self.assertEqual(page["tree_size"], size)
            seen += [item["sequence"] for item in page["items"]]
            if len(seen) == 4:
                self.run_one(session, "later.txt")
            if not page["next"]:
                break
            cursor, last = "&cursor=" + page["next"], page
            time.sleep(0.02)
        self.assertEqual(seen, list(range(size - 1, -1, -1)))
        _, _, back = self.api("GET", f"entries?limit=4&cursor={page['prev']}")
        self.assertEqual([item["sequence"] for item in back["items"]], [item["sequence"] for item in last["items"]])
        _, _, other = self.api("GET", f"entries?limit=4&kind=control{cursor}")
        self.assertEqual(other["code"], "bad_cursor")
        calls, cursor = [], ""
        while True:
            _, _, page = self.api("GET", f"calls?limit=1{cursor}")
            calls += [item["call_id"] for item in page["items"]]
            if not page["next"]:
                break
            cursor = "&cursor=" + page["next"]
        self.assertEqual((len(calls), len(set(calls))), (4, 4))
        _, _, shown = self.api("GET", f"calls/{calls[1]}")
        self.assertEqual((shown["prev"], shown["next"]), (calls[0], calls[2]))
        _, _, turned = self.api("GET", "calls?order=asc")
        self.assertEqual([item["call_id"] for item in turned["items"]], calls[::-1])

    # CO-43 (partly) CO-45 (partly) CO-66 (partly): a page scans a bounded number of records, reports how far it came, and the next page continues there
    def test_a_search_for_what_is_rare_comes_in_parts_without_hole_or_repeat(self):
        subprocess.run([MAKE_LEDGER, self.data, "10000", "1000"], check=True, timeout=300)  # only the second call was refused
        self.start()
        everyone = {"desc": [], "asc": []}
        for order, found in everyone.items():
            parts, cursor = [], ""
            while True:
                page = self.api("GET", f"calls?verdict=refused&order={order}{cursor}")[2]
                parts.append(page["reached"] and page["reached"]["sequence"])
                found += [item["call_id"] for item in page["items"]]
                if not page["next"]:
                    break
                self.assertEqual(page["reached"]["side"], "next")
                self.assertFalse(page["exact"])
                cursor = "&cursor=" + page["next"]
            self.assertGreater(len(parts), 2)
            self.assertIsNone(parts[-1])
            self.assertEqual(parts[:-1], sorted(parts[:-1], reverse=order == "desc"))
        self.assertEqual(everyone, {"desc": ["call-00001"], "asc": ["call-00001"]})
        # Backwards from after the last call.
        last = self.api("GET", f"calls?verdict=refused{cursor.replace('&cursor=', '&order=asc&cursor=')}")[2]
        back, found, side = last["prev"], [], []
        while back:
            page = self.api("GET", f"calls?verdict=refused&order=asc&cursor={back}")[2]
            found += [item["call_id"] for item in page["items"]]
            side.append(page["reached"] and page["reached"]["side"])
            back = page["prev"]
        self.assertEqual(found, ["call-00001"])
        self.assertIn("prev", side)
        self.assertEqual(self.api("GET", "calls?verdict=nonsense")[0], 400)
        # The search for the neighbours of a call in such a list has the same limit; then the list continues.
        last = self.api("GET", "calls?verdict=runs&limit=1")[2]["items"][0]["call_id"]
        shown = self.api("GET", f"calls/{last}?verdict=refused")[2]
        self.assertEqual((shown["next"], shown["prev"], shown["search"]["prev"]), (None, None, None))
        found, cursor = [], shown["search"]["next"]
        while cursor:
            page = self.api("GET", f"calls?verdict=refused&cursor={cursor}")[2]
            found += [item["call_id"] for item in page["items"]]
            cursor = page["next"]
        self.assertEqual(found, ["call-00001"])
        # CO-70 (partly): a search for a text that no call has is split into the same parts.
        cursor, reached = "", []
        while cursor is not None:
            page = self.api("GET", "calls?text=no-call-says-this" + cursor)[2]
            self.assertEqual(page["items"], [])
            reached.append(page["reached"])
            cursor = page["next"] and "&cursor=" + page["next"]
        self.assertGreater(len(reached), 2)
        self.assertIsNone(reached[-1])
        self.assertEqual(self.api("GET", "calls?text=" + "x" * 201)[2]["place"], "text")
        # A value in an index is found at once.
        for rare in ("session=session-3", "verdict=unknown", "until=2020-01-01"):
            self.assertIsNone(self.api("GET", "calls?" + rare)[2]["reached"], rare)

    # CO-25 (partly) CO-49 (partly)
    def test_the_stream_goes_on_behind_the_last_id(self):
        session = Session(self.start())
        stream = self.server.open("GET", ROOT + "stream?topics=approvals,calls,health", headers={"Content-Type": None}, token=TOKENS["viewer"])
        heard = events(stream)
        self.assertEqual(next(heard)["event"], "health")
        item = self.run_one(session)
        frames = []
        while not frames or frames[-1]["event"] != "calls" or json.loads(frames[-1]["data"])["verdict"] != "runs":
            frames.append(next(heard))
        stream.close()
        shown = [json.loads(frame["data"]) for frame in frames]
        asked = next(frame for frame in frames if frame["event"] == "approvals")
        self.assertEqual(json.loads(asked["data"])["request_id"], item["request_id"])
        self.assertEqual([one["what"] for one in shown if "what" in one], [None] * len([one for one in shown if "what" in one]))
        again = self.server.open("GET", ROOT + "stream?topics=approvals,calls", headers={"Content-Type": None, "Last-Event-ID": asked["id"]},
                                 token=TOKENS["viewer"])
        resumed = events(again)
        behind = [frame for frame in frames if int(frame["id"]) > int(asked["id"])]
        self.assertEqual([next(resumed) for _ in behind], behind)
        again.close()
        # The number after the largest one is zero, and the stream began with the first entry.
        for wrong in (str(2**64 - 1), str(2**53), "-1", "x"):
            refused = self.server.ask("GET", ROOT + "stream", headers={"Content-Type": None, "Last-Event-ID": wrong}, token=TOKENS["viewer"])
            self.assertEqual((refused[0], json.loads(refused[2])["place"]), (400, "last-event-id"))

    # An opened stream had not yet read the log, so a page missed entries that were written in between.
    # CO-49 (partly)
    def test_a_stream_tells_each_record_written_once_it_is_open(self):
        session = Session(self.start())
        for n in range(20):
            stream = self.server.open("GET", ROOT + "stream?topics=calls", headers={"Content-Type": None}, token=TOKENS["viewer"])
            session.call("unknown_tool", {"n": n})  # refused at once, on record
            newest = self.api("GET", "calls?limit=1")[2]["items"][0]
            self.assertEqual(json.loads(next(events(stream))["data"])["call_id"], newest["call_id"])
            stream.close()

    # CO-53 (partly) CO-66 (partly)
    def test_checkpoints_proofs_and_receipts_can_be_had(self):
        session = Session(self.start())
        self.run_one(session)
        size = self.api("GET", "stats")[2]["size"]
        _, got, note = self.api("GET", "log/checkpoint")
        self.assertEqual(int(note.splitlines()[1]), size)
        status, _, said = self.api("GET", f"log/checkpoint/{size + 100}")
        self.assertEqual((status, said["code"], said["neighbours"]), (404, "not_found", [size]))
        _, _, proof = self.api("GET", f"log/proof?from=1&to={size}")
        self.assertEqual((proof["old_size"], proof["new_size"]), (1, size))
        self.assertTrue(proof["proof"])
        key = self.api("GET", "log/keys")[2]["keys"][-1]["key"]
        _, _, receipt = self.api("GET", f"entries/{size - 1}/receipt", role="viewer")
        file = self.write("receipt.json", json.dumps(receipt))
        checked = subprocess.run([BIN, "verify", file, "--key", key], capture_output=True, text=True, env=self.environment())
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def banner(self, kinds):
        """Waits for these kinds in the banner; the stream sends them too."""
        for _ in range(400):
            said = self.api("GET", "health")[2]
            if sorted(row["kind"] for row in said["banner"]) == kinds:
                self.assertEqual(said["ok"], not kinds)
                return said["banner"]
            time.sleep(0.05)
        self.fail(f"the banner is {said['banner']}")

    # CO-64 (partly)
    def test_health_names_a_refused_policy_and_a_guard_that_fails_open(self):
        flag = self.folder / "works"
        guard = self.write("guard.py", f"""#!{sys.executable}
import pathlib, sys
sys.stdin.readline()
if not pathlib.Path({str(flag)!r}).exists():
    sys.exit(3)
print('{{"verdict": "allow"}}')
""")
        guard.chmod(0o755)
        session = Session(self.start(policy_more=f"external:\n  - {{id: shaky, kind: guard, command: {guard}, on_error: allow}}\n"))
        stream = self.server.open("GET", ROOT + "stream?topics=health", headers={"Content-Type": None}, token=TOKENS["viewer"])
        heard = events(stream)
        self.assertEqual(json.loads(next(heard)["data"])["banner"], [])
        self.run_one(session)
        row = self.banner(["fail_open"])[0]
        self.assertEqual(row["detail"], "guard external:shaky")
        self.assertEqual(json.loads(next(heard)["data"])["banner"], [row])
        shown = self.api("GET", "intervals?kind=fail_open")[2]["intervals"]
        self.assertEqual(shown[0]["at"], row["since"])
        flag.write_text("")
        self.run_one(session)
        self.banner([])
        self.assertEqual(json.loads(next(heard)["data"])["banner"], [])
        policy = self.folder / "policy.yaml"
        good = policy.read_text()
        policy.write_text(good + "guardrails: {checks: [{type: none}]}\n")
        self.assertTrue(self.banner(["policy_refused"])[0]["since"])
        policy.write_text(good)
        self.banner([])
        stream.close()
        gaps = [gap for gap in self.api("GET", "log/gaps")[2]["gaps"] if gap["kind"] == "fail_open"]
        self.assertEqual(self.api("GET", "intervals?kind=fail_open")[2]["intervals"], gaps)
        # An unknown kind once gave an empty list.
        status, _, said = self.api("GET", "intervals?kind=fail-open")
        self.assertEqual((status, said["place"]), (400, "kind"))
        self.assertIn("there is no kind `fail-open`, did you mean `fail_open`; one of downtime, fail_open, ", said["detail"])
        for kind in said["detail"].split("one of ")[1].split(", "):
            self.assertEqual(self.api("GET", "intervals?kind=" + kind)[0], 200, kind)
        told = subprocess.run([BIN, "--data-dir", self.data, "ledger", "verify", "--gaps", "--json"], capture_output=True, text=True,
                              env=self.environment(), timeout=60)
        self.assertEqual([gap for gap in json.loads(told.stdout)["gaps"] if gap["kind"] == "fail_open"], gaps, told.stderr)
        self.assertEqual(len(gaps), 2)

    # CO-10 (partly)
    def test_without_the_console_the_api_stays(self):
        self.start(more="\n  console: {enabled: false}")
        self.assertEqual(self.server.ask("GET", "/console/", token=False)[0], 404)
        self.assertEqual(self.api("GET", "health")[0], 200)


if __name__ == "__main__":
    unittest.main()
