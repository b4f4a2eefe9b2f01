#!/usr/bin/env python3
"""Approval requests, seen and answered over HTTP."""
import hashlib
import json
import pathlib
import subprocess
import sys
import time
import unittest

from approvals_support import HELD_CALL
from serve_support import META, ServeTest, Server, Session, events, in_background, modern, modern_headers

SERVER = pathlib.Path(__file__).with_name("mcp_effects_server.py")
PATH = "/api/v1/approvals"
ADA, BOB, EVE = "token-of-ada-0123456789", "token-of-bob-0123456789", "token-of-eve-0123456789"
POLICY = """version: 1
autonomy: {{tier: act_with_approval{human}}}
approvals:
  hold_s: {hold}
  quorum: {quorum}
  reviewers:
    - {{name: "user:ada", token: "{ada}", roles: [approver]}}
    - {{name: "user:bob", token: "{bob}", roles: [approver]}}
    - {{name: "user:eve", token: "{eve}", roles: [controller]}}
"""


def digest(token):
    return "sha256:" + hashlib.sha256(token.encode()).hexdigest()


class ApprovalsOverHttp(ServeTest):
    def start(self, quorum=1, human="", hold=50, more=""):
        self.effects = self.folder / "effects"
        self.write("policy.yaml", POLICY.format(hold=hold, quorum=quorum, human=human, ada=digest(ADA), bob=digest(BOB), eve=digest(EVE)))
        self.server = self.serve("policy: ./policy.yaml" + more, (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        return Session(self.server)

    def write_file(self, session, name):
        return in_background(lambda: session.said("write_file", {"path": name, "text": "hi"}))

    def api(self, method="GET", path="", body=None, token=ADA):
        status, headers, said = self.server.ask(method, PATH + path, body, token=token)
        return status, json.loads(said or b"null")

    def waiting(self, count=1):
        for _ in range(400):
            status, said = self.api()
            self.assertEqual(status, 200)
            if len(said["approvals"]) >= count:
                return said["approvals"]
            time.sleep(0.05)
        self.fail("nothing waits")

    def respond(self, item, body, token=ADA):
        return self.api("POST", f"/{item['request_id']}/respond", body, token)

    def ran(self):
        return self.effects.read_text().splitlines() if self.effects.exists() else []

    # AP-46
    def test_a_task_of_one_of_several_servers_is_told_on_a_stream_of_its_own(self):
        self.start()
        self.server.stop()
        command = json.dumps([sys.executable, str(SERVER)])
        config = self.write("several.yaml", "version: 1\ndata_dir: data\nserve:\n  listen: 127.0.0.1:0\n  policy: ./policy.yaml\n"
                            f"  upstreams: [{{name: one, command: {command}}}, {{name: two, command: {command}}}]\n")
        self.server = Server(self, config, self.environment(EFFECTS=str(self.effects)))
        self.addCleanup(self.end_server, self.server)
        tasks = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
        call = {"name": "two.write_file", "arguments": {"path": "a.txt", "text": "hi"}}
        _, said = self.stateless(self.server, modern("tools/call", call, capabilities=tasks))
        task = said[-1]["result"]["taskId"]
        self.assertTrue(task.startswith("two."), task)
        listen = modern("subscriptions/listen", {"notifications": {"taskIds": [task]}}, id="L", capabilities=tasks)
        stream = self.server.open(body=listen, headers=modern_headers(listen))
        heard = (json.loads(event["data"]) for event in events(stream))
        first = next(heard)
        self.assertEqual(first["params"], {"_meta": {META + "subscriptionId": "L"}, "notifications": {"taskIds": [task]}})
        self.respond(self.waiting()[0], {"approved": True})
        told = [next(heard) for _ in range(2)]
        self.assertEqual([(one["method"], one["params"]["taskId"], one["params"]["status"], one["params"]["_meta"]) for one in told],
                         [("notifications/tasks", task, status, {META + "subscriptionId": "L"}) for status in ("working", "completed")])
        self.assertEqual(told[1]["params"]["result"]["content"][0]["text"], "written")
        self.assertEqual(len(self.ran()), 1)

    # AP-30 AP-27
    def test_a_yes_over_http_runs_the_held_call_once(self):
        session = self.start()
        result = self.write_file(session, "a.txt")
        [item] = self.waiting()
        self.assertEqual((item["tool_name"], item["state"], item["kind"]), ("write_file", "pending", "approval"))
        status, page = self.api(path="/" + item["request_id"])
        self.assertEqual((status, page["request"]["args"]), (200, [{"path": "a.txt", "text": "hi"}]))
        self.assertEqual(self.ran(), [])
        status, said = self.respond(item, {"approved": True, "binding": item["binding"]})
        self.assertEqual((status, said["state"]), (200, "approved"))
        self.assertEqual(result.get(timeout=20), "written")
        self.assertEqual(len(self.ran()), 1)
        status, said = self.respond(item, {"approved": True})
        self.assertEqual((status, said["state"]), (409, "used"))
        status, page = self.api(path="/" + item["request_id"])
        self.assertEqual(page["responses"][0]["reviewer"], "user:ada")
        self.assertEqual(page["responses"][0]["door"], "http:token")
        self.assertEqual(self.api(path="?state=used")[1]["approvals"][0]["request_id"], item["request_id"])
        self.assertEqual(self.api(path="?state=all&after=" + item["request_id"])[1]["approvals"], [])
        self.assertEqual(self.api(path="?kind=question")[1]["approvals"], [])

    # AP-30 AP-44
    def test_who_is_not_a_reviewer_and_what_is_no_answer_change_nothing(self):
        session = self.start()
        result = self.write_file(session, "a.txt")
        [item] = self.waiting()
        yes = {"approved": True}
        self.assertEqual(self.respond(item, yes, token=False)[0], 401)
        self.assertEqual(self.respond(item, yes, token="x" * 30)[0], 401)
        self.assertEqual(self.respond(item, yes, token=self.server.token)[0], 401)
        self.assertEqual(self.respond(item, yes, token=EVE)[0], 403)
        self.assertEqual(self.api("POST", "/apr_none/respond", yes)[0], 404)
        self.assertEqual(self.api(path="/apr_none")[0], 404)
        self.assertEqual(self.respond(item, {"approved": True, "binding": "sha256:" + "0" * 64})[0], 412)
        for unnamed in (5, None, {}, ["sha256:"]):
            self.assertEqual(self.respond(item, {"approved": True, "binding": unnamed})[0], 400)
        self.assertEqual(self.respond(item, {"approved": True, "binding": ""})[0], 412)
        self.assertEqual(self.respond(item, {"approved": False, "reason": 5})[0], 400)
        self.assertEqual(self.respond(item, {"approved": True, "signature": "ed25519:AAAA"})[0], 403)
        self.assertEqual(self.respond(item, {})[0], 400)
        self.assertEqual(self.respond(item, [])[0], 400)
        self.assertEqual(self.respond(item, "{")[0], 400)
        self.assertEqual(self.respond(item, {"approved": True, "reason": "x" * 70000})[0], 413)
        self.assertEqual(self.api("GET", f"/{item['request_id']}/respond")[0], 405)
        self.assertEqual(self.api("GET", f"/{item['request_id']}/other")[0], 404)
        self.assertEqual(self.api(path="/" + item["request_id"])[1]["state"], "pending")
        self.assertEqual(self.ran(), [])
        self.assertEqual(self.respond(item, {"approved": False, "reason": "not today"})[1]["state"], "denied")
        self.assertIn("not today", result.get(timeout=20))
        self.assertEqual(self.ran(), [])

    # AP-2
    def test_the_reviewer_is_whoever_the_token_belongs_to(self):
        session = self.start()
        result = self.write_file(session, "a.txt")
        [item] = self.waiting()
        status, said = self.respond(item, {"approved": True, "reviewer": "user:bob"})
        self.assertEqual(status, 400)
        self.assertIn("leave `reviewer` out", said["error"])
        self.assertEqual(self.api(path="/" + item["request_id"])[1]["responses"], [])
        self.respond(item, {"approved": False})
        result.get(timeout=20)

    # AP-12
    def test_only_true_is_a_yes(self):
        session = self.start()
        for word in ("true", 1, [True], None):
            result = self.write_file(session, f"{word}.txt")
            [item] = self.waiting()
            self.assertEqual(self.respond(item, {"approved": word})[1]["state"], "denied", word)
            result.get(timeout=20)
        self.assertEqual(self.ran(), [])

    # AP-30 AP-42
    def test_a_batch_has_a_verdict_and_a_binding_for_each(self):
        session = self.start()
        results = [self.write_file(session, f"{i}.txt") for i in range(3)]
        items = self.waiting(3)
        first, second, third = items
        status, said = self.api("POST", "/batch", [
            {"request_id": first["request_id"], "approved": True, "binding": first["binding"]},
            {"request_id": second["request_id"], "approved": True, "binding": first["binding"]},
            {"request_id": third["request_id"], "approved": False, "binding": third["binding"]},
            {"request_id": third["request_id"], "approved": True}, {"approved": True}])
        self.assertEqual(status, 200)
        self.assertEqual([answer["ok"] for answer in said["answers"]], [True, False, True, False, False])
        self.assertEqual(said["answers"][1]["status"], 412)
        self.assertEqual(self.api("POST", "/batch", {"all": True})[0], 400)
        self.respond(second, {"approved": False})
        for result in results:
            result.get(timeout=20)
        self.assertEqual(len(self.ran()), 1)

    # AT-17
    def test_a_call_that_needs_a_human_is_not_approved_in_a_batch(self):
        session = self.start(human=", requires_human: true", more="\n  console: {strong: []}")
        result = self.write_file(session, "a.txt")
        [item] = self.waiting()
        yes = {"request_id": item["request_id"], "approved": True, "binding": item["binding"]}
        self.assertEqual(self.api("POST", "/batch", [yes])[1]["answers"][0]["ok"], False)
        self.assertEqual(self.respond(item, yes)[1]["state"], "approved")
        self.assertEqual(result.get(timeout=20), "written")

    # CO-38 (partly): a token alone answers no request that `console.strong` lists
    def test_a_token_alone_does_not_answer_what_needs_a_passkey_or_a_key(self):
        session = self.start(human=", requires_human: true")
        self.write_file(session, "a.txt")
        [item] = self.waiting()
        self.assertEqual(item["may_answer"], {"ok": False, "why": "strong_needed"})
        status, said = self.respond(item, {"approved": True, "binding": item["binding"]})
        self.assertEqual((status, said["code"]), (403, "strong_needed"))
        self.assertEqual(self.ran(), [])

    # AP-10
    def test_a_quorum_needs_two_people(self):
        session = self.start(quorum=2)
        result = self.write_file(session, "a.txt")
        [item] = self.waiting()
        self.assertEqual(self.respond(item, {"approved": True})[1]["state"], "pending")
        self.respond(item, {"approved": True})
        self.assertEqual(self.ran(), [])
        self.assertEqual(self.respond(item, {"approved": True}, token=BOB)[1]["state"], "approved")
        self.assertEqual(result.get(timeout=20), "written")

    # A file in the server's folder with the name of the current shipped policy once named approvers.
    def test_a_file_called_like_a_shipped_policy_names_nobody(self):
        self.effects = self.folder / "effects"
        self.write("ask-before-effects", f'reviewers:\n  - {{name: "user:mallory", token: "{digest(EVE)}", roles: [approver]}}\n')
        self.server = self.serve("policy: ask-before-effects", (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        self.assertEqual(self.api(token=EVE)[0], 401)
        (self.data / "reviewers.yaml").write_text(f'reviewers:\n  - {{name: "user:ada", token: "{digest(ADA)}", roles: [approver]}}\n')
        self.assertEqual(self.api(token=EVE)[0], 401)
        self.assertEqual(self.api(token=ADA)[0], 200)

    # RU-18 RU-73 RU-71
    def test_rules_are_shown_and_a_reason_is_required_where_one_says_so(self):
        session = self.start()
        policy = self.folder / "policy.yaml"
        policy.write_text(policy.read_text() + "rules: [{id: files, then: ask, when: {class: fs.write}, message: Say why, reason: required}]\n")
        self.server.stop()
        self.server = self.serve("policy: ./policy.yaml", (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        session = Session(self.server)
        result = self.write_file(session, "/srv/a.txt")
        [item] = self.waiting()
        page = self.api(path="/" + item["request_id"])[1]
        for shown in (item, page):
            self.assertEqual((shown["rules"]["rule"], shown["rules"]["message"], shown["reason_required"]), ("files", "Say why", True))
            self.assertEqual(shown["rules"]["effects"][0]["path"]["written"], "/srv/a.txt")
        for body in ({"approved": True}, {"approved": True, "reason": " "}):
            status, said = self.respond(item, body)
            self.assertEqual(status, 400, said)
            self.assertIn("asks for a reason", json.dumps(said))
        self.assertEqual(self.ran(), [])
        self.assertEqual(self.respond(item, {"approved": True, "reason": "it is mine"})[0], 200)
        self.assertEqual(result.get(timeout=60), "written")

    # The current policy names no approver for a call: the list of the data folder counts (AP-10).
    def test_people_of_the_data_folder_answer_where_the_policy_names_nobody(self):
        self.effects = self.folder / "effects"
        self.server = self.serve("policy: ask-before-effects", (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        (self.data / "reviewers.yaml").write_text(f'reviewers:\n  - {{name: "user:ada", token: "{digest(ADA)}", roles: [approver]}}\n')
        session = Session(self.server)
        result = self.write_file(session, "a.txt")
        [item] = self.waiting()
        self.assertEqual(self.respond(item, {"approved": True})[1]["state"], "approved")
        self.assertEqual(result.get(timeout=20), "written")
        result = self.write_file(session, "b.txt")
        [item] = self.waiting()
        mine = self.write("mine.yaml", f'reviewers:\n  - {{name: "user:mallory", token: "{digest(EVE)}", roles: [approver]}}\n')
        token = self.write("token", EVE + "\n")
        token.chmod(0o600)
        self.refused(1, "approvals", "approve", item["request_id"], "--reviewers", mine, "--name", "user:mallory", "--token-file", token)
        self.assertEqual(len(self.ran()), 1)
        self.assertEqual(self.respond(item, {"approved": True})[1]["state"], "approved")
        self.assertEqual(result.get(timeout=20), "written")

    def test_whoever_is_struck_off_hears_no_more(self):
        self.start()
        news = self.server.open("GET", PATH + "/stream", token=ADA)
        policy = self.folder / "policy.yaml"
        policy.write_text("\n".join(line for line in policy.read_text().splitlines() if "user:ada" not in line) + "\n")
        self.assertEqual(list(events(news)), [])
        self.assertEqual(self.api(token=ADA)[0], 401)
        self.assertEqual(self.api(token=BOB)[0], 200)

    # The list is cached while its file is unchanged; a change of the file still counts at once.
    def test_a_list_that_is_kept_is_read_again_as_soon_as_its_file_changes(self):
        self.start()
        policy = self.folder / "policy.yaml"
        both = policy.read_text()
        time.sleep(3.1)  # long enough that the file counts as settled
        for _ in range(2):
            self.assertEqual((self.api(token=ADA)[0], self.api(token=BOB)[0]), (200, 200))
        policy.write_text("\n".join(line for line in both.splitlines() if "user:ada" not in line) + "\n")
        self.assertEqual((self.api(token=ADA)[0], self.api(token=BOB)[0]), (401, 200))
        other = self.write("other.yaml", both)
        other.replace(policy)
        self.assertEqual((self.api(token=ADA)[0], self.api(token=BOB)[0]), (200, 200))
        policy.unlink()
        self.assertNotEqual(self.api(token=ADA)[0], 200)

    # LE-82 (partly)
    def test_a_kind_or_a_state_that_is_none_is_an_error_and_no_empty_list(self):
        self.start()
        for query, said in (("?state=dune", "there is no state `dune`; one of pending, approved"), ("?kind=aproval", "there is no kind `aproval`")):
            status, answer = self.api(path=query)
            self.assertEqual(status, 400)
            self.assertIn(said, answer["error"])

    # AP-25 AP-30
    def test_a_question_is_answered_in_words_over_http(self):
        self.start()
        asking = subprocess.Popen([HELD_CALL, self.data, "--effects", self.effects, "--policy", self.folder / "policy.yaml",
                                   "--ask", "Which branch?"], stdout=subprocess.PIPE, env=self.environment(), text=True)
        self.addCleanup(lambda: (asking.kill(), asking.wait(), asking.stdout.close()))
        [item] = self.waiting()
        self.assertEqual((item["kind"], item["description"]), ("question", "Which branch?"))
        self.assertEqual(len(self.api(path="?kind=question")[1]["approvals"]), 1)
        self.assertEqual(self.api(path="?kind=approval")[1]["approvals"], [])
        for wrong in ({"approved": True}, {"answer": 1}, {"answer": ""}, {"answer": "x", "approved": True}, {}):
            self.assertEqual(self.respond(item, wrong)[0], 400, wrong)
        self.assertEqual(self.respond(item, {"answer": "main"}, EVE)[0], 403)
        self.assertEqual(self.respond(item, {"answer": "main", "binding": "sha256:0"})[0], 412)
        self.assertEqual(self.respond(item, {"answer": "main"}), (200, {"request_id": item["request_id"], "state": "approved"}))
        lines = [json.loads(asking.stdout.readline()) for _ in range(2)]
        self.assertEqual((lines[1]["answer"], lines[1]["text"], lines[1]["by"]), ("answered", "main", "user:ada"))
        self.assertEqual(self.api(path="/" + item["request_id"])[1]["answer"], "main")
        self.assertEqual(self.respond(item, {"answer": "dev"})[0], 409)

    # AP-43
    def test_after_thirty_approvals_each_names_what_it_is_about(self):
        session = self.start()
        results = [self.write_file(session, f"{n}.txt") for n in range(31)]
        items = self.waiting(31)
        for item in items[:30]:
            self.assertEqual(self.respond(item, {"approved": True})[0], 200)
        status, said = self.respond(items[30], {"approved": True})
        self.assertEqual((status, "binding" in said["error"]), (429, True))
        self.assertEqual(self.respond(items[30], {"approved": True, "binding": items[30]["binding"]})[0], 200)
        for result in results:
            self.assertEqual(result.get(timeout=60), "written")

    # AP-35
    def test_a_pending_result_says_where_people_find_the_question(self):
        session = self.start(hold=1, more="\n  public_url: https://gate.example.com/\n  allowed_hosts: [gate.example.com]")
        said = session.call("write_file", {"path": "a.txt", "text": "hi"})[-1]["result"]["structuredContent"]["sallyport"]
        self.assertEqual(said["status"], "pending_approval")
        self.assertEqual(said["url"], f"https://gate.example.com{PATH}/{said['approval_id']}")
        self.assertEqual(self.api(path="/" + said["approval_id"])[0], 200)
        self.assertGreater(said["retry_after_s"], 0)

    # AP-32
    def test_what_was_sealed_for_one_agent_serves_no_other(self):
        people = "".join(f'    - {{name: "user:{name}", client: "{name}", roles: [approver]}}\n' for name in ("dana", "erin"))
        self.write("policy.yaml", "version: 1\nautonomy: {tier: act_with_approval}\napprovals:\n  reviewers:\n" + people.replace(
            'client: "dana"', 'client: "ann"').replace('client: "erin"', 'client: "bob"'))
        self.effects = self.folder / "effects"
        agents = ", ".join(f"{{name: {name}, token_sha256: {digest(token)[7:]}}}" for name, token in (("ann", "a" * 32), ("bob", "b" * 32)))
        server = self.serve(f"policy: ./policy.yaml\n  agents: [{agents}]", (sys.executable, SERVER), {"EFFECTS": str(self.effects)})
        call = {"name": "write_file", "arguments": {"path": "a.txt", "text": "hi"}}

        def ask(token, **more):
            return self.stateless(server, modern("tools/call", {**call, **more}, capabilities={"elicitation": {}}), token=token)[1][-1]
        state = ask("a" * 32)["result"]["requestState"]
        yes = {"sallyport.approval": {"action": "accept", "content": {"decision": "approve"}}}
        stolen = ask("b" * 32, requestState=state, inputResponses=yes)
        self.assertEqual(stolen["error"]["code"], -32602, stolen)
        self.assertEqual(self.ran(), [])
        done = ask("a" * 32, requestState=state, inputResponses=yes)
        self.assertEqual(done["result"]["content"][0]["text"], "written")
        self.assertEqual(len(self.ran()), 1)

    # AP-35 (partly)
    def test_a_session_whose_call_waits_for_a_person_is_not_idle(self):
        session = self.start(hold=1, more="\n  sessions: 1\n  idle: 2s")
        call = {"path": "a.txt", "text": "hi"}
        self.assertIn("pending_approval", session.said("write_file", call))
        [item] = self.waiting()
        time.sleep(5.5)
        opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "h", "version": "1"}}}
        self.assertEqual(self.server.ask(body=opening)[0], 503)
        self.assertEqual(self.respond(item, {"approved": True})[1]["state"], "approved")
        self.assertEqual(session.said("write_file", call), "written")

    # AP-30 AP-27
    def test_a_stream_tells_what_happens_within_a_second(self):
        session = self.start()
        news = self.server.open("GET", PATH + "/stream", token=ADA)
        self.assertEqual(news.getheader("content-type"), "text/event-stream")
        heard = events(news)
        self.write_file(session, "a.txt")
        asked = next(heard)
        self.assertEqual(asked["event"], "hitl.approval_requested")
        [item] = self.waiting()
        self.assertIn(item["request_id"], asked["data"])
        begin = time.monotonic()
        self.respond(item, {"approved": False})
        kinds = {next(heard)["event"] for _ in range(2)}
        self.assertLessEqual({"hitl.response_received", "hitl.approval_denied"}, kinds)
        self.assertLess(time.monotonic() - begin, 20)
        self.assertEqual(self.server.stop(), 0)


if __name__ == "__main__":
    unittest.main()
