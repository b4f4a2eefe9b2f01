#!/usr/bin/env python3
"""Spans and metrics of `sallyport mcp` if the standard variables name a collector."""
import unittest

from mcp_support import McpTest
from serve_telemetry_test import Collector, attributes


class McpTelemetry(McpTest):
    def client_with(self, **variables):
        client = self.client(options=["--policy", "transparent", "--name", "fake"], env={**self.environment(), **variables})
        client.open()
        return client

    # MP-87 (partly): calls over standard streams have the same spans.
    def test_a_call_over_standard_streams_is_a_server_span_and_a_client_span_below_it(self):
        collector = Collector(self)
        client = self.client_with(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_SERVICE_NAME="wrapped")
        client.result("echo", {"message": "1"})
        client.close()
        server, call = sorted(collector.spans(), key=lambda span: span["kind"])
        self.assertEqual((server["name"], call["parentSpanId"]), ("tools/call echo", server["spanId"]))
        self.assertEqual(attributes(server)["sallyport.server"], "fake")
        self.assertNotIn("message", str(collector.spans()))
        self.assertIn("mcp.server.operation.duration", collector.metrics())
        path, _, body = collector.requests[0]
        self.assertEqual(path, "/v1/traces")
        self.assertIn("wrapped", str(body["resourceSpans"][0]["resource"]))

    def test_a_collector_that_is_not_there_costs_no_call(self):
        client = self.client_with(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
        self.assertEqual(client.result("echo", {"message": "1"})["content"][0]["text"], "1")
        client.close()

    def test_variables_that_cannot_be_are_told_and_change_nothing(self):
        client = self.client_with(OTEL_EXPORTER_OTLP_ENDPOINT="http://collector.example.com")
        self.assertEqual(client.result("echo", {"message": "1"})["content"][0]["text"], "1")
        client.close()


if __name__ == "__main__":
    unittest.main()
