#!/usr/bin/env python3
"""State at providers: one agent cannot use the responses of another."""
import json
import unittest

from model_answers import CHAT, MESSAGES, MODELS, RESPONSES, Answer, call, frames, say
from model_provider import STREAM, Provider, Reply
from model_support import ModelTest, guards


class ProviderState(ModelTest):
    def one(self, policy=None, answer=None):
        provider = Provider(self)
        provider.otherwise = answer or Answer(say("hello"))
        proxy = self.proxy(provider, policy=policy, apis=(RESPONSES,))
        ada, bob = proxy.agents.values()
        return provider, proxy, ada, bob

    def get(self, proxy, token, id, method="GET", below=""):
        return proxy.send(method, f"/v1/responses/{id}{below}", None, [("authorization", f"Bearer {token}")])

    # MP-25
    def test_a_response_works_only_for_the_agent_that_obtained_it_also_after_a_restart(self):
        provider, proxy, ada, bob = self.one()
        id = proxy.ask(RESPONSES, token=ada).json()["id"]
        for _ in range(2):
            count = len(provider.requests)
            refused = self.get(proxy, bob, id)
            self.assertEqual((refused.status, len(provider.requests)), (404, count))
            self.assertEqual(self.get(proxy, bob, id, "DELETE").status, 404)
            self.assertEqual(self.get(proxy, bob, id, "POST", "/cancel").status, 404)
            self.assertEqual(self.get(proxy, bob, id, below="/input_items").status, 404)
            self.assertEqual(self.get(proxy, ada, id).status, 200)
            proxy.kill()
            proxy.start()

    # MP-35
    def test_a_conversation_goes_on_only_from_state_that_passed_here(self):
        provider, proxy, ada, bob = self.one()
        first = proxy.ask(RESPONSES, token=ada)
        id = first.json()["id"]
        self.assertEqual(proxy.ask(RESPONSES, token=ada, previous_response_id=id).status, 200)
        self.assertEqual(proxy.audit()["state"], [first.header("x-sallyport-record")])
        count = len(provider.requests)
        self.assertEqual(proxy.ask(RESPONSES, token=bob, previous_response_id=id).status, 404)
        self.assertEqual(proxy.ask(RESPONSES, token=ada, previous_response_id="resp_of_nobody").status, 404)
        self.assertEqual(len(provider.requests), count)

    # MP-25, MP-35: an image that the provider keeps, named by its item alone, was open to every agent
    def test_a_generated_image_works_only_for_the_agent_that_got_it(self):
        made = {"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": "aGk="}
        provider, proxy, ada, bob = self.one(answer=Reply(json.dumps({**Answer(say("x")).body(RESPONSES), "output": [made]}).encode(), framing="length"))
        self.assertEqual(proxy.ask(RESPONSES, token=ada).status, 200)
        for item, statuses in (({"type": "image_generation_call", "id": "ig_1"}, [404, 200]), (made, [200, 200])):
            named = {"model": MODELS[RESPONSES], "input": [item, {"role": "user", "content": "make it blue"}]}
            self.assertEqual([proxy.ask(RESPONSES, named, token=token).status for token in (bob, ada)], statuses)

    # MP-25: the container in which code of one agent ran was open to every agent
    def test_a_container_of_an_answer_works_only_for_the_agent_that_got_it(self):
        ran = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "cntr_1", "outputs": []}
        body = {**Answer(say("x")).body(RESPONSES), "output": [ran]}
        message = {**Answer(say("x")).body(MESSAGES), "container": {"id": "container_1", "expires_at": "2027-01-01T00:00:00Z"}}
        stream = Answer(say("x")).events(MESSAGES)
        delta = next(at for at, (name, _) in enumerate(stream) if name == "message_delta")
        value = json.loads(stream[delta][1])
        value["delta"]["container"] = {"id": "container_2", "expires_at": "2027-01-01T00:00:00Z"}
        stream[delta] = ("message_delta", json.dumps(value))
        provider = Provider(self, *[Reply(json.dumps(one).encode(), framing="length") for one in (body, message)], Reply(frames(stream), type=STREAM))
        proxy = self.proxy(provider)
        ada, bob = proxy.agents.values()
        self.assertEqual([proxy.ask(api, token=ada, stream=api == MESSAGES and at == 2).status for at, api in enumerate((RESPONSES, MESSAGES, MESSAGES))], [200] * 3)
        names = [(RESPONSES, {"tools": [{"type": "code_interpreter", "container": "cntr_1"}]}),
                 (RESPONSES, {"tools": [{"type": "shell", "environment": {"type": "container_reference", "container_id": "cntr_1"}}]}),
                 (MESSAGES, {"container": "container_1"}), (MESSAGES, {"container": {"id": "container_2", "skills": []}})]
        for api, named in names:
            with self.subTest(named=named):
                count = len(provider.requests)
                refused = proxy.ask(api, token=bob, **named)
                self.assertEqual((refused.status, len(provider.requests)), (404, count), refused.body)
                self.assertEqual(proxy.ask(api, token=ada, **named).status, 200)
                self.assertEqual(len(proxy.audit()["state"]), 1)

    # MP-25: an operator may make a container or a vector store for all agents, and its use gives it no owner
    def test_a_container_of_the_operator_works_for_all_agents(self):
        provider, proxy, ada, bob = self.one()
        ran = {"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "code": "1", "container_id": "cntr_1", "outputs": []}
        provider.otherwise = Reply(json.dumps({**Answer(say("x")).body(RESPONSES), "output": [ran]}).encode(), framing="length")
        for token in (ada, bob, ada):
            self.assertEqual(proxy.ask(RESPONSES, token=token, tools=[{"type": "code_interpreter", "container": "cntr_1"}]).status, 200)
        provider.otherwise = Answer(say("x"))
        for token in (ada, bob):
            self.assertEqual(proxy.ask(RESPONSES, token=token, tools=[{"type": "file_search", "vector_store_ids": ["vs_1"]}]).status, 200)

    # MP-25: a vector store that one agent made here was open to the file search of every agent
    def test_a_vector_store_works_only_for_the_agent_that_made_it(self):
        provider = Provider(self, Reply(b'{"id": "vs_1", "object": "vector_store"}', framing="length"))
        proxy = self.proxy(provider, apis=(RESPONSES,), pass_through=["/v1/vector_stores"])
        ada, bob = proxy.agents.values()
        self.assertEqual(proxy.send("POST", "/v1/vector_stores", b"{}", proxy.headers(RESPONSES, ada)).status, 200)
        tools = [{"type": "file_search", "vector_store_ids": ["vs_of_the_operator", "vs_1"]}]
        self.assertEqual([proxy.ask(RESPONSES, token=token, tools=tools).status for token in (bob, ada)], [404, 200])

    # MP-25, MP-35
    def test_an_item_of_an_answer_works_only_for_the_agent_that_got_it(self):
        provider, proxy, ada, bob = self.one()
        for stream in (False, True):
            provider.otherwise = Answer(say("hello"), seed=f"item {stream}")
            item = proxy.ask(RESPONSES, token=ada, stream=stream).object(RESPONSES)["output"][0]["id"]
            named = {"model": MODELS[RESPONSES], "input": [{"type": "item_reference", "id": item}, {"role": "user", "content": "go on"}]}
            count = len(provider.requests)
            self.assertEqual(proxy.ask(RESPONSES, named, token=bob).status, 404)
            self.assertEqual(len(provider.requests), count)
            self.assertEqual(proxy.ask(RESPONSES, named, token=ada).status, 200)

    # MP-1, MP-25
    def test_files_and_batches_that_pass_unchecked_belong_to_the_agent_that_made_them(self):
        made = {"/v1/files": {"id": "file-1", "object": "file"}, "/v1/batches": {"id": "batch_1", "object": "batch", "output_file_id": "file-2"}}
        provider = Provider(self)
        provider.otherwise = lambda request: Reply(json.dumps(made.get(request.path, {"id": "other"})).encode(), framing="length") if request.api is None else Answer(say("read"))
        proxy = self.proxy(provider, apis=(RESPONSES,), pass_through=["/v1/files", "/v1/batches"])
        ada, bob = proxy.agents.values()

        def ask(token, method, path, body=None):
            return proxy.send(method, path, body, [("authorization", f"Bearer {token}"), ("content-type", "application/json")]).status
        reads = {"model": MODELS[RESPONSES], "input": [{"role": "user", "content": [{"type": "input_file", "file_id": "file-1"}]}]}
        self.assertEqual(ask(ada, "GET", "/v1/files/file-1"), 404)  # the agent did not get it through this proxy
        self.assertEqual(ask(ada, "POST", "/v1/files", {"purpose": "user_data"}), 200)
        self.assertEqual(ask(ada, "POST", "/v1/batches", {"input_file_id": "file-1"}), 200)
        for _ in range(2):
            for token, wanted in ((ada, 200), (bob, 404)):
                count = len(provider.requests)
                with self.subTest(wanted=wanted):
                    self.assertEqual([ask(token, *request) for request in (
                        ("GET", "/v1/files/file-1"), ("GET", "/v1/files/file-1/content"), ("GET", "/v1/files/file-2/content"), ("GET", "/v1/batches/batch_1"),
                        ("POST", "/v1/batches/batch_1/cancel", {}), ("POST", "/v1/batches", {"input_file_id": "file-1"}))], [wanted] * 6)
                    self.assertEqual(proxy.ask(RESPONSES, reads, token=token).status, wanted)
                    self.assertEqual(len(provider.requests) - count, 7 if wanted == 200 else 0)
            proxy.kill()
            proxy.start()
        self.assertEqual(ask(bob, "POST", "/v1/batches", '{"input_file_id": "x", "input_file_id": "file-1"}'), 400)
        self.assertEqual(ask(ada, "DELETE", "/v1/files/file-1"), 200)
        self.assertEqual(ask(ada, "GET", "/v1/files/file-1"), 404)
        self.assertEqual({tuple(entry["degraded"]) for entry in proxy.entries() if entry["route"] == "/v1/files"}, {("ungoverned",)})

    # MP-35
    def test_a_policy_refuses_state_of_the_provider(self):
        provider, proxy, ada, _ = self.one(policy=guards(model={"state": "refuse"}))
        id = proxy.ask(RESPONSES, token=ada).json()["id"]
        self.assertEqual(proxy.ask(RESPONSES, token=ada, previous_response_id=id).status, 403)

    # MP-64
    def test_a_conversation_that_the_provider_keeps_gets_a_result_for_a_refused_call(self):
        refuse = {"type": "regex", "stage": "tool_use", "id": "no-force", "args": ["/command"], "patterns": ["--force"]}
        provider, proxy, ada, _ = self.one(policy=guards(refuse), answer=Answer(call("run", {"command": "git push --force"}, id="call_1")))
        id = proxy.ask(RESPONSES, token=ada).json()["id"]
        provider.otherwise = Answer(say("I see."), seed="2")
        self.assertEqual(proxy.ask(RESPONSES, token=ada, previous_response_id=id).status, 200)
        added = [item for item in provider.requests[-1].json()["input"] if item.get("type") == "function_call_output"]
        self.assertEqual([item["call_id"] for item in added], ["call_1"])
        self.assertIn("refused", added[0]["output"])

    # MP-65
    def test_a_response_that_is_fetched_later_passes_the_output_stage(self):
        hide = {"type": "regex", "stage": "output", "id": "hide", "patterns": ["sk-[a-z]{8}"], "on_fail": "redact"}
        _, proxy, ada, _ = self.one(policy=guards(hide), answer=Answer(say("the key is sk-abcdefgh")))
        first = proxy.ask(RESPONSES, token=ada).json()
        fetched = self.get(proxy, ada, first["id"])
        self.assertNotIn(b"sk-abcdefgh", fetched.body)
        self.assertEqual(fetched.json()["output"], first["output"])

    # MP-65
    def test_the_policy_keeps_answers_from_being_stored(self):
        provider, proxy, ada, _ = self.one(policy=guards(model={"store": "false"}))
        proxy.ask(RESPONSES, token=ada)
        self.assertIs(provider.requests[-1].json()["store"], False)
        proxy.ask(RESPONSES, token=ada, store=True)
        self.assertIs(provider.requests[-1].json()["store"], False)


class Rules(ModelTest):
    # MP-22
    def test_a_model_outside_the_list_of_an_agent_is_refused_before_any_attempt(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards(model={"allow": {"agent:ada": ["claude-*"], "*": ["gpt-*"]}}))
        ada, bob = proxy.agents.values()
        self.assertEqual([proxy.ask(MESSAGES, token=ada).status, proxy.ask(MESSAGES, token=bob).status, proxy.ask(CHAT, token=ada).status,
                          proxy.ask(CHAT, token=bob).status], [200, 403, 403, 200])
        self.assertEqual(len(provider.requests), 2)

    # MP-34
    def test_parts_that_no_check_reads_are_on_record_or_refused(self):
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
        body = {"model": MODELS[MESSAGES], "max_tokens": 5, "messages": [{"role": "user", "content": [image, {"type": "text", "text": "what is it?"}]}]}
        for refuse in (False, True):
            with self.subTest(refuse=refuse):
                provider = Provider(self)
                proxy = self.proxy(provider, policy=guards(model={"unread": "refuse"} if refuse else {"unread": "record"}), apis=(MESSAGES,))
                answer = proxy.ask(MESSAGES, body)
                unread = proxy.audit()["unread"]
                self.assertTrue(any("/messages/0/content/0" in part["path"] for part in unread), unread)
                self.assertEqual(answer.status, 403 if refuse else 200)
                self.assertEqual(len(provider.requests), 0 if refuse else 1)
                proxy.stop()

    # MP-36
    def test_tools_that_the_provider_runs_are_named_refused_or_taken_out(self):
        tools = [{"type": "web_search_20250305", "name": "web_search"}, {"name": "own", "input_schema": {"type": "object"}}]
        for rule, status in (("allow", 200), ("refuse", 403), ("strip", 200)):
            with self.subTest(rule=rule):
                provider = Provider(self)
                proxy = self.proxy(provider, policy=guards(model={"provider_tools": rule}), apis=(MESSAGES,))
                choice = {"type": "tool", "name": "web_search"}
                answer = proxy.ask(MESSAGES, tools=tools, tool_choice=choice)
                self.assertEqual(answer.status, status)
                if rule == "refuse":
                    self.assertIn("web_search", answer.json()["error"]["message"])
                else:
                    sent = [tool["name"] for tool in provider.requests[-1].json()["tools"]]
                    self.assertEqual(sent, ["own"] if rule == "strip" else ["web_search", "own"])
                    self.assertEqual(provider.requests[-1].json().get("tool_choice"), None if rule == "strip" else choice)
                self.assertIn("provider_tool:web_search_20250305", proxy.audit()["degraded"])
                proxy.stop()

    # MP-36: a tool inside a namespace was not seen
    def test_tools_of_the_provider_inside_a_namespace_are_refused_or_taken_out(self):
        own = {"type": "function", "name": "own"}
        tools = [{"type": "namespace", "name": "both", "tools": [own, {"type": "web_search"}]}]
        for rule, status in (("refuse", 403), ("strip", 200)):
            provider = Provider(self)
            proxy = self.proxy(provider, policy=guards(model={"provider_tools": rule}), apis=(RESPONSES,))
            self.assertEqual(proxy.ask(RESPONSES, tools=tools).status, status)
            self.assertEqual([asked.json()["tools"][0]["tools"] for asked in provider.requests], [[own]] if rule == "strip" else [])
            self.assertIn("provider_tool:web_search", proxy.audit()["degraded"])
            proxy.stop()

    # MP-28
    def test_a_blocked_prompt_reaches_no_provider(self):
        provider = Provider(self)
        proxy = self.proxy(provider, policy=guards({"type": "blocklist", "stage": "input", "id": "no", "words": ["launch code"], "replacement": "not that"}))
        for api in (MESSAGES, CHAT, RESPONSES):
            answer = proxy.ask(api, "tell me the launch code")
            self.assertEqual((answer.status, answer.json()["error"]["message"], answer.header("x-sallyport-decision")), (403, "not that", "deny"))
        self.assertEqual(provider.requests, [])
        kinds = [event["kind"] for event in proxy.entries("event") if event["kind"].startswith(("model", "policy"))]
        self.assertEqual(kinds, ["policy_denied"] * 3)
        self.assertEqual([record["outcome"] for record in proxy.entries(count=3)], ["blocked"] * 3)

    # MP-29, MP-5
    def test_a_redacted_prompt_is_the_same_bytes_in_every_request(self):
        provider = Provider(self)
        hide = {"type": "regex", "stage": "input", "id": "hide", "patterns": ["sk-[a-z]{8}"], "on_fail": "redact"}
        proxy = self.proxy(provider, policy=guards(hide), apis=(MESSAGES,))
        text = ('{ "model":"%s" , "max_tokens":1e1,\n"system":"key sk-abcdefgh \\u00e9\\/","messages":[{"role":"user","content":"turn %%d"}]}' % MODELS[MESSAGES])
        for turn in range(3):
            self.assertEqual(proxy.ask(MESSAGES, (text % turn).encode()).status, 200)
            self.assertEqual(provider.requests[-1].body.decode(), (text % turn).replace('"key sk-abcdefgh \\u00e9\\/"', '"key [redacted] \u00e9/"'))


if __name__ == "__main__":
    unittest.main()
