#!/usr/bin/env python3
"""Every entry goes to external consumers: a NATS JetStream stream, and an address over HTTP."""
import http.server
import json
import threading
import time
import unittest

from mcp_support import PATIENCE
from nats_support import SERVER, Broker, free_port
from serve_support import ServeTest, Session

SECRET = "planted-7f3a9c"


class Siem:
    """Keeps posted entries. `status` can be set to refuse them."""

    def __init__(self, port=0):
        self.bodies, self.headers, self.status, siem = [], [], 200, self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                if siem.status == 200:
                    siem.bodies.append(body)
                    siem.headers.append(dict(self.headers))
                self.send_response(siem.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/in"

    def lines(self):
        return [line for body in list(self.bodies) for line in body.splitlines()]

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class EventsTest(ServeTest):
    def until(self, what, longest=PATIENCE):
        end = time.monotonic() + longest
        while not what():
            self.assertLess(time.monotonic(), end, "it did not happen in time")
            time.sleep(0.05)

    def entries(self):
        """Returns the contents of the log, as an export gives them."""
        lines = self.good("ledger", "export", "--format", "jsonl").lines()
        return [line["entry"] for line in lines if "entry" in line]

    def siem(self):
        siem = Siem()
        self.addCleanup(siem.stop)
        return siem

    def serve_events(self, events, **env):
        return self.serve(f"events: {json.dumps(events)}", env=env)


@unittest.skipUnless(SERVER, "SKIPPED: nats-server is not installed")
class JetStreamTest(EventsTest):
    def start_broker(self, port=None):
        broker = Broker(self.folder / "jetstream", port)
        self.addCleanup(broker.stop)
        return broker

    def jetstream(self, broker, **more):
        return [{"name": "bus", "jetstream": {"url": broker.url, "subject": "sallyport.entries", **more}}]

    # SC-58 SC-59
    def test_every_entry_is_one_message_in_order_under_its_id_and_nothing_sealed_is_open(self):
        broker = self.start_broker()
        broker.add_stream("AUDIT", "sallyport.entries.>")
        server = self.serve_events(self.jetstream(broker, stream="AUDIT"))
        session = Session(server)
        for n in range(5):
            session.said("echo", {"message": f"{SECRET}-{n}"})
        server.stop()
        entries = self.entries()
        # The next process sends `stopped` and the entries that came with it.
        server = self.serve_events(self.jetstream(broker, stream="AUDIT"))
        self.until(lambda: broker.count("AUDIT") >= len(entries))
        server.stop()
        messages = broker.messages("AUDIT")
        entries = self.entries()[:len(messages)]
        self.assertEqual([headers["Nats-Msg-Id"] for _, headers, _ in messages], [entry["id"] for entry in entries])
        self.assertEqual([json.loads(body) for _, _, body in messages],
                         [{"entry": entry, "openings": []} for entry in entries])
        self.assertEqual([headers["Sallyport-Sequence"] for _, headers, _ in messages],
                         [str(n) for n in range(len(messages))])
        self.assertEqual({subject for subject, _, _ in messages}, {f"sallyport.entries.{entry['kind']}" for entry in entries})
        self.assertNotIn(SECRET, json.dumps(messages))
        self.assertIn(SECRET, self.good("ledger", "export", "--format", "jsonl").out)

    # SC-59
    def test_a_broker_that_is_down_delays_messages_and_no_call(self):
        port = free_port()
        server = self.serve_events([{"name": "bus", "jetstream": {"url": f"nats://127.0.0.1:{port}", "subject": "s"}}])
        session = Session(server)
        begin = time.monotonic()
        for n in range(20):
            session.said("echo", {"message": str(n)})
        self.assertLess(time.monotonic() - begin, 5)
        self.until(lambda: any("`bus` does not take entries" in line for line in server.errors))
        broker = self.start_broker(port)
        broker.add_stream("S", "s.>")
        count = len(self.entries())
        self.until(lambda: broker.count("S") >= count)
        self.until(lambda: any("`bus` takes entries again" in line for line in server.errors))
        metrics = server.ask("GET", "/metrics", token=False)[2].decode()
        self.assertRegex(metrics, r'sallyport_events_sent_total\{consumer="bus"\} \d\d')
        self.assertRegex(metrics, r'sallyport_events_failures_total\{consumer="bus"\} [1-9]')

    # SC-58 SC-59
    def test_a_process_that_is_killed_loses_nothing_and_repeats_nothing_in_the_stream(self):
        broker = self.start_broker()
        broker.add_stream("S", "s.>")
        events = [{"name": "bus", "jetstream": {"url": broker.url, "subject": "s"}}]
        for _ in range(3):
            server = self.serve_events(events)
            session = Session(server)
            for n in range(5):
                session.said("echo", {"message": str(n)})
            server.process.kill()
            server.process.wait()
        server = self.serve_events(events)
        count = len(self.entries())
        self.until(lambda: broker.count("S") >= count)
        server.stop()
        ids = [headers["Nats-Msg-Id"] for _, headers, _ in broker.messages("S")]
        self.assertEqual(ids, [entry["id"] for entry in self.entries()][:len(ids)])

    # SC-59
    def test_without_a_stream_the_log_says_what_is_missing(self):
        broker = self.start_broker()
        server = self.serve_events(self.jetstream(broker))
        self.until(lambda: any("no stream has the subject" in line for line in server.errors))


class HttpTest(EventsTest):
    def http(self, siem, name="siem", **more):
        return [{"name": name, "http": {"url": siem.url, **more}}]

    # SC-58
    def test_entries_come_in_order_each_once_where_nothing_fails(self):
        siem = self.siem()
        server = self.serve_events(self.http(siem, bearer_env="SIEM_TOKEN"), SIEM_TOKEN="t0ken")
        session = Session(server)
        begin = time.monotonic()
        session.said("echo", {"message": SECRET})
        count = len(self.entries())
        self.until(lambda: len(siem.lines()) >= count)
        self.assertLess(time.monotonic() - begin, 3)
        lines = [json.loads(line)["entry"]["sequence"] for line in siem.lines()]
        self.assertEqual(lines, list(range(len(lines))))
        self.assertEqual(siem.headers[0]["Authorization"], "Bearer t0ken")
        self.assertEqual(siem.headers[0]["Content-Type"], "application/x-ndjson")
        self.assertNotIn(SECRET, "".join(siem.bodies))
        server.stop()
        self.assertNotIn("t0ken", "".join(server.errors))
        self.assertEqual(self.good("ledger", "verify").code, 0)

    # SC-58
    def test_a_consumer_goes_on_where_it_stood_and_each_has_its_own_cursor(self):
        one, two = self.siem(), self.siem()
        server = self.serve_events(self.http(one, "one"))
        Session(server).said("echo", {"message": "x"})
        count = len(self.entries())
        self.until(lambda: len(one.lines()) >= count)
        server.stop()
        before = len(one.lines())
        server = self.serve_events(self.http(one, "one") + self.http(two, "two"))
        Session(server).said("echo", {"message": "y"})
        count = len(self.entries())
        self.until(lambda: len(two.lines()) >= count and len(one.lines()) >= count)
        sequences = [json.loads(line)["entry"]["sequence"] for line in one.lines()]
        self.assertEqual(sequences, list(range(len(sequences))), before)
        self.assertEqual([json.loads(line)["entry"]["sequence"] for line in two.lines()][:count], list(range(count)))

    # SC-58
    def test_what_is_refused_waits_and_comes_again(self):
        siem = self.siem()
        siem.status = 503
        server = self.serve_events(self.http(siem))
        session = Session(server)
        session.said("echo", {"message": "x"})
        self.until(lambda: any("it answers 503" in line for line in server.errors))
        siem.status = 200
        count = len(self.entries())
        self.until(lambda: len(siem.lines()) >= count)
        sequences = [json.loads(line)["entry"]["sequence"] for line in siem.lines()]
        self.assertEqual(sequences, list(range(len(sequences))))

    # SC-58
    def test_one_process_at_a_time_serves_a_consumer(self):
        siem = self.siem()
        first = self.serve_events(self.http(siem))
        second = self.serve_events(self.http(siem))
        for server in (first, second):
            Session(server).said("echo", {"message": "x"})
        count = len(self.entries())
        self.until(lambda: len(siem.lines()) >= count)
        first.process.kill()
        first.process.wait()
        Session(second).said("echo", {"message": "y"})
        count = len(self.entries())
        self.until(lambda: len({json.loads(line)["entry"]["sequence"] for line in siem.lines()}) >= count)

    def test_the_forms_of_siems(self):
        cef, ocsf = self.siem(), self.siem()
        server = self.serve_events(self.http(cef, "cef", format="cef") + self.http(ocsf, "ocsf", format="ocsf"))
        Session(server).said("echo", {"message": SECRET})
        count = len(self.entries())
        self.until(lambda: len(cef.lines()) >= count and len(ocsf.lines()) >= count)
        self.assertTrue(all(line.startswith("CEF:0|Sallyport|sallyport|") for line in cef.lines()))
        exported = self.good("ledger", "export", "--format", "cef").out.splitlines()
        self.assertEqual(cef.lines()[:count], exported[:count])
        events = [json.loads(line) for line in ocsf.lines()]
        entries = self.entries()
        for event, entry in zip(events, entries):
            self.assertEqual((event["metadata"]["uid"], event["metadata"]["sequence"]), (entry["id"], entry["sequence"]))
            self.assertEqual(event["type_uid"], event["class_uid"] * 100 + event["activity_id"])
        calls = [event for event in events if event["class_uid"] == 6003]
        self.assertIn("echo", {event["api"]["operation"] for event in calls})
        self.assertIn(3, {event["activity_id"] for event in events if event["class_uid"] == 6002})
        self.assertNotIn(SECRET, "".join(cef.bodies + ocsf.bodies))

    def test_a_configuration_that_cannot_work_stops_the_start(self):
        for events, why in (
                ([{"name": "a"}], "needs `jetstream` or `http`"),
                ([{"name": "a b", "http": {"url": "https://x.example"}}], "not a name of a consumer"),
                ([{"name": "a", "http": {"url": "http://siem.example/in"}}], "without encryption"),
                ([{"name": "a", "http": {"url": "https://x.example", "bearer_env": "NOT_SET"}}], "NOT_SET"),
                ([{"name": "a", "jetstream": {"url": "nats://broker.example:4222", "subject": "s"}}], "without encryption"),
                ([{"name": "a", "jetstream": {"url": "nats://u:p@127.0.0.1:4222", "subject": "s"}}], "not an address of NATS"),
                ([{"name": "a", "jetstream": {"url": "nats://127.0.0.1:4222", "subject": "s.>"}}], "not a subject"),
                ([{"name": "a", "http": {"url": "https://x.example"}}] * 2, "duplicate name")):
            outcome = self.run_bare("serve", "--config", self.configure(f"events: {json.dumps(events)}"))
            self.assertEqual(outcome.code, 64, outcome.err)
            self.assertIn(why, outcome.err)


if __name__ == "__main__":
    unittest.main()
