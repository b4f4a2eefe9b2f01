#!/usr/bin/env python3
"""Tool calls that a model proposes: decided before they leave, handed out, sent for approval, and answered."""
import hashlib
import json
import re
import threading
import unittest

from model_answers import APIS, CHAT, MESSAGES, MODELS, RESPONSES, Answer, call, frames, say
from model_provider import STREAM, Provider, Reply
from model_support import ModelTest, guards

REVIEWER = "token-of-rita-0123456789"
NO_FORCE = {"type": "regex", "stage": "tool_use", "id": "no-force", "args": ["/command"], "patterns": ["--force"]}
APPROVALS = {"reviewers": [{"name": "user:rita", "token": "sha256:" + hashlib.sha256(REVIEWER.encode()).hexdigest(), "roles": ["approver"]}]}


def calls_in(api, body):
    """Returns the tool calls of an unstreamed answer, as name and input."""
    if api == MESSAGES:
        return [(part["name"], part["input"]) for part in body["content"] if part["type"] == "tool_use"]
    if api == CHAT:
        return [(one["function"]["name"], json.loads(one["function"]["arguments"])) for one in body["choices"][0]["message"].get("tool_calls") or []]
    return [(item["name"], json.loads(item["arguments"])) for item in body["output"] if item["type"] == "function_call"]


def with_result(api, id, output, name="run", arguments='{"command": "ls"}'):
    """A request that carries the result of a call."""
    if api == MESSAGES:
        return {"model": MODELS[api], "max_tokens": 100, "messages": [
            {"role": "user", "content": "go"}, {"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": json.loads(arguments)}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output}]}]}
    if api == CHAT:
        return {"model": MODELS[api], "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}]},
            {"role": "tool", "tool_call_id": id, "content": output}]}
    return {"model": MODELS[api], "input": [
        {"role": "user", "content": "go"}, {"type": "function_call", "call_id": id, "name": name, "arguments": arguments},
        {"type": "function_call_output", "call_id": id, "output": output}]}


class ProposedCalls(ModelTest):
    def id_of(self, name):
        """Each set-up has its own id, because all tests of this class share their ledger."""
        return f"{name}_{self.number}"

    number = 0

    def answer(self, proxy, api, stream):
        return proxy.ask(api, stream=stream).object(api)

    # MP-55, MP-56
    def test_a_call_is_handed_out_with_its_intent_on_record(self):
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    id = f"call_{api}_{stream}"
                    provider = Provider(self, Answer(say("I look."), call("run", {"command": "ls"}, id=id), seed=id))
                    proxy = self.proxy(provider, apis=(api,))
                    self.assertEqual(calls_in(api, self.answer(proxy, api, stream)), [("run", {"command": "ls"})])
                    intent = proxy.entries("intent", count=1)[-1]
                    self.assertEqual((intent["tool_call_id"], intent["provenance"]["model"], intent["requested_input"]),
                                     (id, MODELS[api], {"command": "ls"}))
                    recorded = proxy.audit()["calls"][0]
                    self.assertEqual((recorded["tool_call_id"], recorded["verdict"]), (id, "handed_off"))
                    self.assertTrue(recorded["call_id"])
                    proxy.stop()
                    self.number += 1

    # MP-57
    def test_a_refused_call_is_replaced_by_a_notice_and_the_others_leave(self):
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    provider = Provider(self, Answer(call("run", {"command": "git push --force"}, id=self.id_of("c_bad")), call("run", {"command": "ls"}, id=self.id_of("c_good"))))
                    proxy = self.proxy(provider, policy=guards(NO_FORCE), apis=(api,))
                    whole = self.answer(proxy, api, stream)
                    self.assertEqual(calls_in(api, whole), [("run", {"command": "ls"})])
                    said = json.dumps(whole)
                    self.assertIn("[This tool call was refused by a guardrail.]", said)
                    self.assertIn("guardrail check 'no-force' refused this call", said)
                    self.assertNotIn("--force", said)
                    self.assertEqual([one["verdict"] for one in proxy.audit()["calls"]], ["refused", "handed_off"])
                    proxy.stop()
                    self.number += 1

    # MP-58
    def test_a_rewritten_call_leaves_with_the_new_input_and_the_record_has_both(self):
        redact = {"type": "regex", "stage": "tool_use", "id": "hide", "args": ["/command"], "patterns": ["secret-[a-z]+"], "on_fail": "redact"}
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    provider = Provider(self, Answer(call("run", {"command": "echo secret-word"}, id=self.id_of("c1"))))
                    proxy = self.proxy(provider, policy=guards(redact), apis=(api,))
                    self.assertEqual(calls_in(api, self.answer(proxy, api, stream)), [("run", {"command": "echo [redacted]"})])
                    intent = proxy.entries("intent", count=1)[-1]
                    self.assertEqual((intent["requested_input"]["command"], intent["effective_input"]["command"]), ("echo secret-word", "echo [redacted]"))
                    proxy.stop()
                    self.number += 1

    # MP-59
    def test_a_call_whose_arguments_are_no_json_is_never_handed_out(self):
        for api in APIS:
            with self.subTest(api=api):
                provider = Provider(self, Answer(call("run", '{"command": "ls', id=self.id_of("c1")), stop="length"))
                proxy = self.proxy(provider, apis=(api,))
                whole = self.answer(proxy, api, True)
                self.assertIn("was not handed out", json.dumps(whole))
                self.assertEqual([one["verdict"] for one in proxy.audit()["calls"]], ["not_run"])
                self.assertEqual(self.run_bare("ledger", "show", "--kind", "intent").code, 1)
                proxy.stop()
                self.number += 1

    # MP-59: the limit cut the last call, even if its arguments look complete.
    def test_a_call_that_an_output_limit_cut_is_never_handed_out(self):
        for api in (MESSAGES, CHAT):
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    ids = [f"{api}{stream}{place}" for place in (1, 2)]
                    provider = Provider(self, Answer(*(call("run", {"command": "ls"}, id=id) for id in ids), stop="length"))
                    proxy = self.proxy(provider, apis=(api,))
                    whole = self.answer(proxy, api, stream)
                    self.assertEqual(len(calls_in(api, whole)), 1)
                    self.assertIn("an output limit cut its arguments", json.dumps(whole))
                    self.assertEqual([(one["tool_call_id"], one["verdict"]) for one in proxy.audit()["calls"]], [(ids[0], "handed_off"), (ids[1], "not_run")])
                    proxy.stop()

    # MP-55, MP-56: a computer call may have `action` and `actions`. Only the second was decided, also if it was null.
    def test_every_action_of_a_computer_call_is_decided(self):
        good, bad = {"type": "type", "text": "ls"}, {"type": "type", "text": "git push --force"}
        check = {name: value for name, value in NO_FORCE.items() if name != "args"}
        for number, (members, leaves) in enumerate([({"action": bad, "actions": None}, False), ({"action": bad, "actions": [good]}, False),
                                                    ({"action": good, "actions": [bad]}, False), ({"action": good, "actions": [good]}, True)]):
            for stream in (False, True):
                item = {"type": "computer_call", "id": "cu_1", "call_id": f"call_{number}_{stream}", "status": "completed", "pending_safety_checks": [], **members}
                body = {**Answer(say("x")).body(RESPONSES), "output": [item]}
                done = {"type": "response.output_item.done", "sequence_number": 0, "output_index": 0, "item": item}
                events = frames([(one["type"], json.dumps(one)) for one in (done, {"type": "response.completed", "sequence_number": 1, "response": body})])
                reply = Reply(events, type=STREAM) if stream else Reply(json.dumps(body).encode(), framing="length")
                proxy = self.proxy(Provider(self, reply), policy=guards(check), apis=(RESPONSES,))
                with self.subTest(members=members, stream=stream):
                    answered = proxy.ask(RESPONSES, stream=stream)
                    self.assertEqual((answered.status, b"computer_call" in answered.body, b"--force" in answered.body), (200, leaves, False), answered.body)
                    self.assertEqual([one["verdict"] for one in proxy.audit()["calls"]], ["handed_off" if leaves else "refused"])
                proxy.stop()

    # MP-44, MP-56: members of a call other than its arguments were not checked if another kind of call has such arguments
    def test_other_members_of_a_call_are_checked_as_output(self):
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "run", "arguments": "{}", "input": {"command": "git push --force"}}
        body = {**Answer(say("x")).body(RESPONSES), "output": [item]}
        proxy = self.proxy(Provider(self, Reply(json.dumps(body).encode(), framing="length")), apis=(RESPONSES,),
                           policy=guards({"type": "regex", "stage": "output", "id": "out", "on_fail": "block", "patterns": ["--force"]}))
        answered = proxy.ask(RESPONSES)
        self.assertEqual((answered.status, answered.json()["status"], b"--force" in answered.body), (200, "incomplete", False))

    # MP-32, MP-55, AU-7: some models number their calls from zero in each conversation.
    def test_an_id_that_comes_again_without_a_session_is_another_call(self):
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    provider = Provider(self)
                    proxy = self.proxy(provider, apis=(api,))
                    known, count = set(), len(proxy.entries("tool_audit"))
                    for command in ("ls", "pwd", "pwd", "ls"):
                        provider.then(Answer(call("run", {"command": command}, id=f"run:{api}{stream}")), Answer(say("done")))
                        self.assertEqual(calls_in(api, self.answer(proxy, api, stream)), [("run", {"command": command})])
                        known.add(proxy.audit()["calls"][0]["call_id"])
                        arguments = json.dumps({"command": command})
                        self.assertEqual(proxy.ask(api, with_result(api, f"run:{api}{stream}", f"out of {command}", arguments=arguments)).status, 200)
                    ended = proxy.entries("tool_audit")[count:]
                    self.assertEqual([(one["outcome"]["kind"], one["effective_input"]["command"]) for one in ended], [("completed", command) for command in ("ls", "pwd", "pwd", "ls")])
                    self.assertEqual(len(known), 4)
                    proxy.stop()

    # MP-57: the replacement, the reason and the record are equal in both modes.
    def test_the_notice_for_a_refused_call_begins_with_the_replacement_of_the_check(self):
        for mode in ("hand_off", "defer"):
            for replacement, opening in ((None, "[This tool call was refused by a guardrail.]"), ("Never: by force.", "Never: by force.")):
                with self.subTest(mode=mode, replacement=replacement):
                    check = NO_FORCE | ({"replacement": replacement} if replacement else {})
                    provider = Provider(self, Answer(call("run", {"command": "git push --force"}, id=f"{mode}{replacement}")))
                    proxy = self.proxy(provider, policy=guards(check, model={"tool_calls": mode}), apis=(MESSAGES,))
                    notice = proxy.ask(MESSAGES).json()["content"][0]["text"]
                    self.assertRegex(notice, rf"^{re.escape(opening)} guardrail check 'no-force' refused this call \(guardrail.regex\) \(record [0-9a-f-]{{36}}\)$")
                    proxy.stop()

    # MP-66, AU-8
    def test_a_call_without_an_id_is_recorded_under_that_of_the_governor(self):
        old = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, "function_call": {"name": "run", "arguments": "{}"}}, "finish_reason": "function_call"}]}
        proxy = self.proxy(Provider(self, Reply(json.dumps(old).encode(), framing="length")), apis=(CHAT,))
        self.assertEqual(proxy.ask(CHAT).json(), old)
        known = [(one["tool_call_id"], one["call_id"], one["verdict"]) for one in proxy.audit()["calls"]]
        id = proxy.rows("intent", 1)[-1]["entry"]["call_id"]
        self.assertEqual(known, [(id, id, "handed_off")])

    # MP-55, AU-46, AU-48
    def test_an_id_that_comes_again_in_one_session_is_refused_with_the_reason(self):
        session = [("x-claude-code-session-id", "s1")]
        provider = Provider(self, *(Answer(call("run", {"command": command}, id="run:0")) for command in ("ls", "pwd")))
        proxy = self.proxy(provider, apis=(CHAT,))
        proxy.ask(CHAT, headers=session)
        self.assertIn("idempotency conflict: `run:0` was another call", proxy.ask(CHAT, headers=session).text())
        provider.then(Answer(say("done")), Answer(call("run", {"command": "ls"}, id="run:0")))
        proxy.ask(CHAT, with_result(CHAT, "run:0", "out"), headers=session)
        self.assertIn("`run:0` has its result already", proxy.ask(CHAT, headers=session).text())

    # MP-32, MP-33
    def test_the_first_request_with_the_result_completes_the_call_and_copies_make_no_record(self):
        for api in APIS:
            with self.subTest(api=api):
                provider = Provider(self, Answer(call("run", {"command": "ls"}, id=self.id_of("c1"))))
                hide = {"type": "regex", "stage": "tool_output", "id": "hide", "patterns": ["sk-[a-z]{8}"], "on_fail": "redact"}
                proxy = self.proxy(provider, policy=guards(hide), apis=(api,))
                self.answer(proxy, api, False)
                provider.otherwise = Answer(say("done"))
                for _ in range(2):
                    proxy.ask(api, with_result(api, self.id_of("c1"), "the key is sk-abcdefgh"))
                    sent = provider.requests[-1].body.decode()
                    self.assertIn("the key is [redacted]", sent)
                    self.assertNotIn("sk-abcdefgh", sent)
                records = [record for record in proxy.entries("tool_audit", count=1) if record["tool_call_id"] == self.id_of("c1")]
                self.assertEqual([record["outcome"]["kind"] for record in records], ["completed"])
                proxy.stop()
                self.number += 1

    # MP-30
    def test_a_withheld_result_is_replaced_by_its_notice_and_the_request_goes_on(self):
        stop = {"type": "regex", "stage": "tool_output", "id": "stop", "patterns": ["top secret"], "replacement": "[kept back]"}
        for api in APIS:
            with self.subTest(api=api):
                provider = Provider(self, Answer(say("done")))
                proxy = self.proxy(provider, policy=guards(stop), apis=(api,))
                self.assertEqual(proxy.ask(api, with_result(api, self.id_of("c1"), "this is top secret")).status, 200)
                sent = provider.requests[-1].body.decode()
                self.assertNotIn("top secret", sent)
                self.assertIn("[kept back]", sent)
                if api == MESSAGES:
                    self.assertIs(provider.requests[-1].json()["messages"][-1]["content"][0]["is_error"], True)
                proxy.stop()
                self.number += 1

    def asking(self, api, hold, **model):
        provider = Provider(self, Answer(call("run", {"command": "make deploy"}, id=self.id_of("c1"))))
        policy = json.dumps({"version": 1, "autonomy": {"tier": "act_with_approval"}, "approvals": APPROVALS, "model": {"hold_s": hold, **model}})
        return provider, self.proxy(provider, policy=policy, apis=(api,))

    def respond(self, proxy, approved):
        def ask(method, path="", body=None):
            headers = [("authorization", f"Bearer {REVIEWER}"), ("content-type", "application/json")]
            return proxy.send(method, "/api/v1/approvals" + path, body, headers)
        for _ in range(400):
            waiting = ask("GET").json()["approvals"]
            if waiting:
                return ask("POST", f"/{waiting[0]['request_id']}/respond", {"approved": approved, "binding": waiting[0]["binding"]})
            threading.Event().wait(0.05)
        self.fail("no question came")

    # MP-60
    def test_a_yes_during_the_hold_releases_the_call(self):
        for api in APIS:
            with self.subTest(api=api):
                _, proxy = self.asking(api, 50)
                answered = threading.Thread(target=lambda: self.respond(proxy, True))
                answered.start()
                whole = self.answer(proxy, api, True)
                answered.join()
                self.assertEqual(calls_in(api, whole), [("run", {"command": "make deploy"})])
                self.assertEqual([one["verdict"] for one in proxy.audit()["calls"]], ["handed_off"])
                proxy.stop()
                self.number += 1
        # The ledger records no denial against the agent.
        shown = self.cli("ledger", "show", "--kind", "trust", "--limit", "1000", "--json")
        self.assertNotIn("denied", [json.loads(line)["body"].get("outcome") for line in shown.out.splitlines()])

    # MP-60
    def test_a_no_gives_the_notice(self):
        _, proxy = self.asking(MESSAGES, 50)
        answered = threading.Thread(target=lambda: self.respond(proxy, False))
        answered.start()
        whole = self.answer(proxy, MESSAGES, True)
        answered.join()
        self.assertEqual(calls_in(MESSAGES, whole), [])
        self.assertIn("a person denied it", json.dumps(whole))
        self.assertEqual(whole["stop_reason"], "end_turn")

    # MP-60
    def test_at_the_end_of_the_hold_the_notice_names_the_question_and_the_same_call_joins_it(self):
        provider, proxy = self.asking(MESSAGES, 0)
        whole = self.answer(proxy, MESSAGES, False)
        self.assertIn("pending_approval", json.dumps(whole))
        self.assertEqual(len(proxy.entries("approval", count=1)), 1)
        provider.otherwise = Answer(call("run", {"command": "make deploy"}, id=self.id_of("c2")), seed="2")
        self.answer(proxy, MESSAGES, False)
        self.assertEqual(len(proxy.send("GET", "/api/v1/approvals", None, [("authorization", f"Bearer {REVIEWER}")]).json()["approvals"]), 1)
        self.respond(proxy, True)
        self.assertEqual(calls_in(MESSAGES, self.answer(proxy, MESSAGES, False)), [("run", {"command": "make deploy"})])

    # MP-63
    def test_a_client_that_goes_away_while_a_person_is_asked_takes_the_question_back(self):
        _, proxy = self.asking(MESSAGES, 50)
        begun = proxy.begin(MESSAGES, stream=True)
        begun.until(b"message_start")
        for _ in range(400):
            if proxy.send("GET", "/api/v1/approvals", None, [("authorization", f"Bearer {REVIEWER}")]).json()["approvals"]:
                break
            threading.Event().wait(0.05)
        begun.leave()
        self.assertEqual(proxy.audit()["outcome"], "cancelled")
        for _ in range(400):
            if not proxy.send("GET", "/api/v1/approvals", None, [("authorization", f"Bearer {REVIEWER}")]).json()["approvals"]:
                return
            threading.Event().wait(0.05)
        self.fail("the question stays")

    # MP-62
    def test_a_deferred_call_that_no_door_saw_is_recorded_as_bypassed(self):
        for withhold in (False, True):
            with self.subTest(withhold=withhold):
                provider = Provider(self, Answer(call("run", {"command": "ls"}, id=self.id_of("c1"))))
                proxy = self.proxy(provider, policy=guards(model={"tool_calls": "defer", **({"bypass": "withhold"} if withhold else {})}), apis=(MESSAGES,))
                self.answer(proxy, MESSAGES, True)
                self.assertEqual([one["verdict"] for one in proxy.audit()["calls"]], ["deferred"])
                provider.otherwise = Answer(say("done"))
                proxy.ask(MESSAGES, with_result(MESSAGES, self.id_of("c1"), "a file"))
                self.assertEqual([one["verdict"] for one in proxy.entries(count=2)[-1]["calls"]], ["bypassed"])
                self.assertEqual("a file" in provider.requests[-1].body.decode(), not withhold)
                metrics = proxy.send("GET", "/metrics").text()
                self.assertIn("sallyport_model_bypassed_calls_total 1", metrics)
                proxy.stop()
                self.number += 1

    # The proxy dropped the entries and facts of its guards of results that failed open.
    # PI-39 LE-71 (partly)
    def test_a_guard_of_results_that_fails_open_is_on_record(self):
        program = self.write("check.sh", "#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
        entry = {"id": "check", "kind": "result", "command": [str(program)], "deadline_ms": 20000, "on_error": "allow"}
        provider = Provider(self, Answer(say("done")))
        proxy = self.proxy(provider, policy=guards(external=[entry]), apis=(MESSAGES,))
        self.assertEqual(proxy.ask(MESSAGES, with_result(MESSAGES, "call_open", "a file")).status, 200)
        proxy.audit()
        self.assertIn("a file", provider.requests[-1].body.decode())
        controls = [(one["control"], one["guard"]) for one in proxy.entries("control") if "guard" in one]
        self.assertEqual(controls, [("fail_open_started", "external:check")])

    # MP-55
    def test_observed_calls_pass_as_they_come_and_are_on_record(self):
        provider = Provider(self, Answer(call("run", {"command": "git push --force"}, id=self.id_of("c1"))))
        proxy = self.proxy(provider, policy=guards(NO_FORCE, model={"tool_calls": {"agent:ada": "observe"}}), apis=(MESSAGES,))
        self.assertEqual(calls_in(MESSAGES, self.answer(proxy, MESSAGES, True)), [("run", {"command": "git push --force"})])
        self.assertEqual([one["verdict"] for one in proxy.audit()["calls"]], ["observed"])
        bob = list(proxy.agents.values())[1]
        self.assertEqual(calls_in(MESSAGES, proxy.ask(MESSAGES, stream=True, token=bob).object(MESSAGES)), [])


if __name__ == "__main__":
    unittest.main()
