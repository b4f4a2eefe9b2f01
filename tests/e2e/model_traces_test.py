#!/usr/bin/env python3
"""Spans of model requests at an OpenTelemetry collector."""
import json
import unittest

from model_answers import APIS, CHAT, MESSAGES, MODELS, PATHS
from model_provider import Provider
from model_support import ModelTest, guard
from serve_telemetry_test import PARENT, TRACE, Collector, attributes

PARENTS = [("traceparent", f"00-{TRACE}-{PARENT}-01"), ("tracestate", "a=b")]


class ModelTraces(ModelTest):
    def traced(self, provider, **more):
        collector = Collector(self)
        return collector, self.proxy(provider, more=f"  telemetry: {{otlp: '{collector.url}'}}\n", **more)

    # MP-87
    def test_a_request_is_a_server_span_and_its_attempts_one_client_span(self):
        provider = Provider(self)
        collector, proxy = self.traced(provider)
        for api in APIS:
            for stream in (False, True):
                with self.subTest(api=api, stream=stream):
                    collector.requests.clear()
                    provider.clear()
                    answer = proxy.ask(api, "a question that is content", stream=stream, headers=PARENTS)
                    self.assertEqual(answer.status, 200, answer.body)
                    client, server = sorted(collector.await_spans(self, 2), key=lambda span: -span["kind"])
                    self.assertEqual((server["name"], server["kind"], server["traceId"], server["parentSpanId"]), (f"POST {PATHS[api]}", 2, TRACE, PARENT))
                    self.assertEqual((client["name"], client["kind"], client["traceId"], client["parentSpanId"]),
                                     (f"chat {MODELS[api]}", 3, TRACE, server["spanId"]))
                    said = attributes(client)
                    entry = next(one for one in proxy.entries() if one["request_id"] == answer.header("x-sallyport-record"))
                    self.assertEqual((said["gen_ai.provider.name"], said["gen_ai.operation.name"], said["gen_ai.request.model"]),
                                     ("anthropic" if api == MESSAGES else "openai", "chat", MODELS[api]))
                    self.assertEqual(said["gen_ai.response.id"], entry["response_id"])
                    self.assertTrue(said["gen_ai.response.model"])
                    self.assertEqual(said["gen_ai.response.finish_reasons"], {"values": [{"stringValue": entry["stop_reason"]}]})
                    self.assertEqual((said["gen_ai.usage.input_tokens"], said["gen_ai.usage.output_tokens"]),
                                     (str(entry["usage"]["input_tokens"]), str(entry["usage"]["output_tokens"])))
                    self.assertNotIn("error.type", said)
                    self.assertEqual(attributes(server)["http.response.status_code"], "200")
                    self.assertEqual(attributes(server)["sallyport.record"], answer.header("x-sallyport-record"))
                    times = [int(span[key]) for span in (server, client) for key in ("startTimeUnixNano", "endTimeUnixNano")]
                    self.assertTrue(times[0] <= times[2] <= times[3] <= times[1], times)
                    # Spans contain neither content nor a key, and the provider gets no trace header.
                    told = json.dumps(collector.requests)
                    for text in ("content", "sk-provider", proxy.token):
                        self.assertNotIn(text, told.replace("Content-", "").replace("content-", ""))
                    sent = {name.lower() for name, _ in provider.requests[0].headers}
                    self.assertFalse(sent & {"traceparent", "tracestate", "baggage"}, sent)

    # MP-87
    def test_what_is_refused_has_no_client_span_and_names_its_error(self):
        collector, proxy = self.traced(Provider(self), policy=guard("input", "forbidden"))
        self.assertEqual(proxy.ask(CHAT, "a forbidden word").status, 403)
        span = collector.await_spans(self, 1)[0]
        self.assertEqual((span["name"], span["kind"], span["status"]), (f"POST {PATHS[CHAT]}", 2, {"code": 2}))
        self.assertEqual(attributes(span)["error.type"], "403")
        self.assertNotIn("parentSpanId", span)
        self.assertNotIn("forbidden", json.dumps(collector.requests))


if __name__ == "__main__":
    unittest.main()
