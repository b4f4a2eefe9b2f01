#!/usr/bin/env python3
"""Spans of `sallyport serve` at an OpenTelemetry collector."""
import http.server
import json
import socket
import threading
import time
import unittest

from mcp_support import PATIENCE
from serve_support import ServeTest, Session

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


class Collector:
    """Keeps the received reports."""

    def __init__(self, test, status=200):
        self.requests, collector = [], self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                collector.requests.append((self.path, dict(self.headers), json.loads(body)))
                self.send_response(status)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def spans(self):
        return [span for _, _, body in list(self.requests) for group in body.get("resourceSpans", [])
                for scope in group["scopeSpans"] for span in scope["spans"]]

    def metrics(self):
        """Returns the newest report by name."""
        for _, _, body in reversed(list(self.requests)):
            for group in body.get("resourceMetrics", []):
                return {metric["name"]: metric for scope in group["scopeMetrics"] for metric in scope["metrics"]}
        return {}

    def await_spans(self, test, count):
        end = time.monotonic() + PATIENCE
        while len(self.spans()) < count:
            test.assertLess(time.monotonic(), end, self.requests)
            time.sleep(0.02)
        return self.spans()


def attributes(span):
    return {one["key"]: next(iter(one["value"].values())) for one in span["attributes"]}


class Telemetry(ServeTest):
    def metric(self, server, name):
        page = server.ask("GET", "/metrics", token=False)[2].decode()
        return [float(line.rpartition(" ")[2]) for line in page.splitlines() if line.startswith(name)]

    # MP-87 (partly): tool calls have the same spans, with the names of MCP.
    def test_a_tool_call_is_a_server_span_and_a_client_span_below_it(self):
        collector = Collector(self)
        server = self.serve(f"telemetry: {{otlp: '{collector.url}', service_name: gate}}")
        session = Session(server)
        before = time.time()
        session.call("echo", {"message": "a text that is content"}, _meta={"traceparent": f"00-{TRACE}-{PARENT}-01"})
        client, above = sorted(collector.await_spans(self, 2), key=lambda span: -span["kind"])
        self.assertEqual((above["name"], above["kind"], above["traceId"], above["parentSpanId"]), ("tools/call echo", 2, TRACE, PARENT))
        self.assertEqual((client["name"], client["kind"], client["traceId"], client["parentSpanId"]), ("tools/call echo", 3, TRACE, above["spanId"]))
        said = attributes(above)
        self.assertEqual({key: said[key] for key in ("mcp.method.name", "gen_ai.operation.name", "gen_ai.tool.name", "sallyport.server", "jsonrpc.request.id")},
                         {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "echo",
                          "sallyport.server": "fake", "jsonrpc.request.id": "1"})
        self.assertEqual(attributes(client)["network.transport"], "pipe")
        self.assertNotIn("error.type", said)
        self.assertNotIn("status", above)
        times = [int(span[key]) / 1e9 for span in (above, client) for key in ("startTimeUnixNano", "endTimeUnixNano")]
        self.assertTrue(before - 1 <= times[0] <= times[2] <= times[3] <= times[1] <= time.time() + 1, times)
        path, headers, body = collector.requests[0]
        self.assertEqual((path, headers["Content-Type"]), ("/v1/traces", "application/json"))
        self.assertIn({"key": "service.name", "value": {"stringValue": "gate"}}, body["resourceSpans"][0]["resource"]["attributes"])
        self.assertNotIn("content", json.dumps(collector.requests))
        # Its id equals the id of the record.
        entry = self.run_bare("ledger", "calls", "--json", "--data-dir", self.folder / "data").out
        self.assertIn(said["sallyport.call_id"], entry)

    def test_failures_have_a_type_and_what_is_not_sampled_is_not_told(self):
        collector = Collector(self)
        server = self.serve(f"telemetry: {{otlp: '{collector.url}/v1/traces'}}")
        session = Session(server)
        session.call("echo", {"message": "1"}, _meta={"traceparent": f"00-{TRACE}-{PARENT}-00"})
        session.call("no-such-tool-" + "x" * 300)
        session.call("echo", {"message": "2"})
        spans = collector.await_spans(self, 3)
        self.assertNotIn(TRACE, [span["traceId"] for span in spans])
        failed = [span for span in spans if "status" in span]
        self.assertEqual([span["name"] for span in failed], ["tools/call"])
        self.assertEqual(failed[0]["status"], {"code": 2})
        self.assertTrue(attributes(failed[0])["error.type"])
        self.assertEqual(len({span["traceId"] for span in spans}), 2)

    def test_the_standard_variables_name_the_collector(self):
        collector = Collector(self)
        server = self.serve(env={"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url + "/", "OTEL_SERVICE_NAME": "from-env",
                                 "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b,x-other=c"})
        Session(server).call("echo", {"message": "1"})
        # Spans that wait when the server ends are sent.
        self.assertEqual(server.stop(), 0)
        self.assertEqual(len(collector.spans()), 2)
        self.assertIn("mcp.server.operation.duration", collector.metrics())
        path, headers, body = collector.requests[0]
        self.assertEqual((path, headers["x-key"], headers["x-other"]), ("/v1/traces", "a b", "c"))
        self.assertIn("from-env", json.dumps(body["resourceSpans"][0]["resource"]))

    # MP-88
    def test_metrics_are_told_under_the_names_of_opentelemetry(self):
        collector = Collector(self)
        server = self.serve(f"telemetry: {{otlp: '{collector.url}'}}", env={"OTEL_METRIC_EXPORT_INTERVAL": "100"})
        Session(server).call("echo", {"message": "1"})

        def counted():
            told = collector.metrics().get("sallyport_calls_total", {"sum": {"dataPoints": []}})
            return [point["asDouble"] for point in told["sum"]["dataPoints"]]

        end = time.monotonic() + PATIENCE
        while counted() != [1.0]:
            self.assertLess(time.monotonic(), end, collector.requests)
            time.sleep(0.02)
        told = collector.metrics()
        self.assertTrue(told["sallyport_calls_total"]["sum"]["isMonotonic"])
        duration = told["mcp.server.operation.duration"]
        points = [point for point in duration["histogram"]["dataPoints"] if attributes(point)["mcp.method.name"] == "tools/call"]
        self.assertEqual((duration["unit"], points[0]["count"]), ("s", "1"))
        self.assertEqual(sum(int(count) for count in points[0]["bucketCounts"]), 1)
        collector.await_spans(self, 2)
        self.assertEqual({path for path, _, _ in collector.requests}, {"/v1/traces", "/v1/metrics"})

    def test_without_a_collector_nothing_is_told_or_counted(self):
        server = self.serve(env={"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"})
        Session(server).call("echo", {"message": "1"})
        self.assertEqual(self.metric(server, "sallyport_telemetry_spans_total"), [])

    def test_a_collector_that_does_not_answer_costs_spans_and_nothing_else(self):
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        for url in (Collector(self, status=503).url, f"http://127.0.0.1:{silent.getsockname()[1]}"):
            with self.subTest(url):
                server = self.serve(f"telemetry: {{otlp: '{url}'}}")
                session = Session(server)
                for i in range(5):
                    self.assertEqual(session.said("echo", {"message": str(i)}), str(i))
                end = time.monotonic() + PATIENCE
                while self.metric(server, 'sallyport_telemetry_spans_total{outcome="dropped"}') != [10.0]:
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.05)
                # A span counts as dropped before its server gives the reason.
                complaints = lambda: [line for line in server.errors if "did not take what was sent" in line]
                while not complaints():
                    self.assertLess(time.monotonic(), end, server.errors)
                    time.sleep(0.05)
                self.assertEqual(len(complaints()), 1, server.errors)
                session.call("echo", {"message": "last"})
                begin = time.monotonic()
                self.assertEqual(server.stop(), 0)
                self.assertLess(time.monotonic() - begin, 10)

    def test_what_cannot_be_is_refused_or_told(self):
        for section, why in (("telemetry: {otlp: 'http://collector.example.com:4318'}", "allow_http"), ("telemetry: {otlp: nowhere}", "this is not a URL"),
                             ("telemetry: {}", "otlp"), ("telemetry: {otlp: 'http://127.0.0.1:1', grpc: true}", "grpc")):
            done = self.run_bare("serve", "--config", self.configure(section))
            self.assertEqual(done.code, 64, (section, done.err))
            self.assertIn(why, done.err)
        server = self.serve(env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector.example.com:4318"})
        Session(server).call("echo", {"message": "1"})
        self.assertTrue([line for line in server.errors if "no spans are exported" in line], server.errors)


if __name__ == "__main__":
    unittest.main()
