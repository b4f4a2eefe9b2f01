#!/usr/bin/env python3
"""Budgets of agents for models, and the counted usage."""
import concurrent.futures
import json
import unittest

from model_answers import APIS, CHAT, MESSAGES, RESPONSES, Answer, say
from model_provider import STALL, STREAM, Provider, Reply
from model_support import ModelTest, guards

PRICES = '    prices: {"claude-*": {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}, "gpt-5-mini": {input: 1, output: 2}}\n'


def budget(**limits):
    return guards(model={"budgets": [{"agent": "*", "per": "day", **limits}]})


class Budgets(ModelTest):
    # MP-71
    def test_a_request_without_room_reaches_no_provider(self):
        provider = Provider(self, Answer(say("hello")))
        proxy = self.proxy(provider, policy=budget(tokens=100))
        for api, kind in ((MESSAGES, "billing_error"), (CHAT, "insufficient_quota"), (RESPONSES, "insufficient_quota")):
            answer = proxy.ask(api)
            self.assertEqual((answer.status, answer.header("x-should-retry"), answer.header("x-sallyport-decision")), (402, "false", "budget"))
            self.assertEqual(answer.json()["error"]["type"], kind)
        self.assertEqual(provider.requests, [])
        self.assertEqual([(record["outcome"], record["attempts"]) for record in proxy.entries(count=3)], [("refused", 0)] * 3)

    # MP-72
    def test_what_the_provider_reports_replaces_what_was_reserved(self):
        provider = Provider(self)
        provider.otherwise = Answer(say("hello"), usage=(25, 40))
        proxy = self.proxy(provider, policy=budget(tokens=1200))
        for _ in range(3):  # each reserves over a thousand and uses 65
            self.assertEqual(proxy.ask(MESSAGES, stream=True).status, 200)
        self.assertEqual(proxy.ask(MESSAGES).status, 402)
        used = [record["usage"] for record in proxy.entries(count=4)][:3]
        self.assertEqual([(usage["input_tokens"], usage["output_tokens"]) for usage in used], [(25, 40)] * 3)

    # MP-88
    def test_metrics_say_how_full_a_budget_is_and_how_long_requests_took(self):
        older = ["gen_ai_client_operation_duration_seconds_count", "gen_ai_client_operation_time_to_first_chunk_seconds_count",
                 "gen_ai_client_token_usage_count"]
        newer = ["gen_ai_client_inference_duration_seconds_count", "gen_ai_client_inference_time_to_first_chunk_seconds_count",
                 "gen_ai_client_inference_usage_input_tokens_total", "gen_ai_client_inference_usage_output_tokens_total"]
        latest = {"OTEL_SEMCONV_STABILITY_OPT_IN": "http,gen_ai_latest_experimental"}
        for environment, here, gone, ratio in (({}, older, newer, "0.01"), (latest, newer, older, "0.02")):
            with self.subTest(environment=environment):
                provider = Provider(self)
                provider.otherwise = Answer(say("hello"), usage=(25, 40))
                limits = [{"agent": "*", "per": "day", "tokens": 6500, "output_tokens": 100000}, {"agent": "*", "per": "session", "tokens": 9000}]
                proxy = self.proxy(provider, policy=guards(model={"budgets": limits}), apis=(MESSAGES,), environment=environment)
                self.assertEqual(proxy.ask(MESSAGES, stream=True).status, 200)
                proxy.audit()
                page = proxy.send("GET", "/metrics").text()
                self.assertIn('sallyport_model_budget_used_ratio{agent="*",model="*",per="day"} ' + ratio + "\n", page)
                self.assertEqual(page.count("\nsallyport_model_budget_used_ratio{"), 1)
                for name in here:
                    self.assertIn(f'\n{name}{{gen_ai_operation_name="chat",gen_ai_provider_name="anthropic",gen_ai_request_model=', page)
                for name in gone:
                    self.assertNotIn(name, page)
                proxy.kill()

    # MP-72
    def test_counters_survive_a_restart(self):
        provider = Provider(self, Answer(say("hello"), usage=(500, 500)))
        proxy = self.proxy(provider, policy=budget(tokens=2000))
        self.assertEqual(proxy.ask(MESSAGES).status, 200)
        proxy.kill()
        proxy.start()
        self.assertEqual(proxy.ask(MESSAGES).status, 402)

    # MP-72
    def test_concurrent_requests_do_not_take_the_same_room(self):
        provider = Provider(self, Answer(say("hello"), usage=(10, 10)))
        proxy = self.proxy(provider, policy=budget(output_tokens=4 * 1024))
        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            statuses = list(pool.map(lambda _: proxy.ask(MESSAGES).status, range(12)))
        self.assertLessEqual(set(statuses), {200, 402})
        self.assertIn(200, statuses)

    # MP-70
    def test_a_budget_counts_for_the_agents_models_and_windows_that_it_names(self):
        provider = Provider(self, Answer(say("hello")))
        limits = [{"agent": "agent:ada", "model": "claude-*", "per": "hour", "tokens": 10},
                  {"agent": "*", "model": "gpt-5-mini", "per": "request", "output_tokens": 50},
                  {"agent": "*", "per": "session", "input_tokens": 1000000}, {"agent": "*", "per": "month", "tokens": 100000000}]
        proxy = self.proxy(provider, policy=guards(model={"budgets": limits}))
        ada, bob = proxy.agents.values()
        self.assertEqual(proxy.ask(MESSAGES, token=ada).status, 402)
        self.assertEqual(proxy.ask(MESSAGES, token=bob).status, 200)
        self.assertEqual(proxy.ask(CHAT, token=bob, max_tokens=40).status, 200)
        self.assertEqual(proxy.ask(CHAT, token=bob, max_tokens=60).status, 402)
        self.assertEqual(proxy.ask(RESPONSES, token=ada).status, 200)

    # MP-73
    def test_cost_is_usage_times_price_with_cache_reads_apart(self):
        provider = Provider(self, Answer(say("hello"), usage=(1000, 100), cached=400))
        proxy = self.proxy(provider, policy=guards(), model_settings=PRICES)
        proxy.ask(MESSAGES)
        record = proxy.audit()
        usage = record["usage"]
        cost = usage["input_tokens"] * 3 + usage["output_tokens"] * 15 + (usage["cache_read_input_tokens"] or 0) * 0.3 + (
            usage["cache_creation_input_tokens"] or 0) * 3.75
        self.assertEqual((record["cost_microusd"], record["price"]), (round(cost), "claude-*"))
        self.assertEqual(record["usage_source"], "reported")

    # MP-73
    def test_a_model_without_a_price_is_refused_where_dollars_are_counted(self):
        provider = Provider(self, Answer(say("hello")))
        proxy = self.proxy(provider, policy=budget(cost_usd=5), model_settings=PRICES)
        refused = proxy.ask(RESPONSES)
        self.assertEqual((refused.status, refused.json()["error"]["code"]), (402, "no_price"))
        self.assertEqual(proxy.ask(MESSAGES).status, 200)

    # MP-73
    def test_the_proxy_asks_chat_streams_for_usage_and_keeps_it_from_clients_that_did_not(self):
        provider = Provider(self)
        provider.otherwise = Answer(say("hello"), usage=(7, 8), with_usage=True)
        proxy = self.proxy(provider, usage="ask")
        answer = proxy.ask(CHAT, stream=True)
        self.assertEqual(provider.requests[-1].json()["stream_options"], {"include_usage": True})
        self.assertNotIn(b'"prompt_tokens"', answer.body)
        self.assertEqual(proxy.audit()["usage"]["input_tokens"], 7)
        answer = proxy.ask(CHAT, stream=True, stream_options={"include_usage": True})
        self.assertIn(b'"prompt_tokens"', answer.body)

    # MP-13, MP-73: the answer to `{"include_usage": false, "include_usage": true}` depends on the parser.
    def test_options_of_the_client_are_changed_and_never_doubled(self):
        provider = Provider(self)
        provider.otherwise = Answer(say("hello"), usage=(7, 8), with_usage=True)
        proxy = self.proxy(provider, usage="ask", policy=guards(model={"store": "false"}))
        for options, wanted in ((None, {}), ({}, {}), ({"include_usage": False}, {}), ({"include_obfuscation": False}, {"include_obfuscation": False})):
            for store in (None, True, False):
                with self.subTest(options=options, store=store):
                    answer = proxy.ask(CHAT, stream=True, stream_options=options, store=store)
                    members = json.loads(provider.requests[-1].body, object_pairs_hook=list)
                    self.assertEqual(len(members), len({name for name, _ in members}))
                    sent = dict(members)
                    self.assertEqual((sorted(sent["stream_options"]), sent["store"]), (sorted([*wanted.items(), ("include_usage", True)]), False))
                    self.assertNotIn(b'"prompt_tokens"', answer.body)

    # MP-72: a quarter of the bytes of the text, without the frames around it.
    def test_an_answer_without_usage_is_estimated_and_never_free(self):
        provider = Provider(self, Answer(say("hello " * 200)))
        proxy = self.proxy(provider)
        proxy.ask(CHAT, stream=True)
        record = proxy.audit()
        self.assertEqual(record["usage_source"], "estimated")
        self.assertEqual(record["usage"]["output_tokens"], 300)

    # MP-72, MP-79: a message of Anthropic begins with a usage of one token of output. A client that read a whole answer and left before its
    # end paid for that one.
    def test_an_answer_that_the_client_leaves_costs_what_came(self):
        answer = Answer(say("hello " * 200), usage=(25, 400))
        events = [piece + b"\n\n" for piece in answer.stream(MESSAGES).split(b"\n\n") if piece]
        provider = Provider(self, Reply(*events[:-2], STALL, type=STREAM))
        proxy = self.proxy(provider, policy=budget(output_tokens=500))
        begun = proxy.begin(MESSAGES, stream=True, max_tokens=250)
        begun.until(b"content_block_stop")
        begun.leave()
        record = proxy.audit()
        self.assertEqual((record["outcome"], record["usage_source"]), ("cancelled", "estimated"))
        self.assertEqual((record["usage"]["input_tokens"], record["usage"]["output_tokens"]), (25, 300))
        self.assertEqual(proxy.ask(MESSAGES, max_tokens=250).status, 402)

    # MP-72: an answer whose provider counts only the input had free output
    def test_a_count_that_the_provider_leaves_out_is_estimated(self):
        body = Answer(say("hello " * 200)).body(CHAT)
        cases = {"prompt_tokens": (10, 300), "completion_tokens": (None, 10)}
        provider = Provider(self, *[Reply(json.dumps({**body, "usage": {name: 10}}).encode(), framing="length") for name in cases])
        proxy = self.proxy(provider)
        for name, (given, counted) in cases.items():
            self.assertEqual(proxy.ask(CHAT).status, 200)
            record = proxy.audit()
            with self.subTest(reported=name):
                self.assertEqual((record["usage_source"], record["usage"]["output_tokens"]), ("estimated", counted))
                self.assertTrue(given is None and record["usage"]["input_tokens"] > 0 or record["usage"]["input_tokens"] == given)


if __name__ == "__main__":
    unittest.main()
