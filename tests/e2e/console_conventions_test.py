#!/usr/bin/env python3
"""Rules for every route of the HTTP API: no sealed content for people who may not read it, and one form of problems, lists, conditions and
limits."""
import json
import signal
import subprocess
import time
import unittest
import urllib.parse

from cli_support import BIN, MAKE_LEDGER
from console_api_support import ApiTest, ROOT, TOKENS
from serve_support import Session, events, in_background

SECRET = "planted-7c1f93"
STREAMS = ("/stream", "/approvals/stream")
OWN = ("/session", "/sessions", "/openapi.json")


class EveryRoute(ApiTest):
    tier = "act_with_approval"

    def filled_gate(self):
        """A gate with data behind every route; the data is secret where possible."""
        self.session = self.start(self.policy(more=f"# {SECRET}\nrules:\n  - {{id: no-shell, then: deny, when: {{tool: shell}}, message: {SECRET}}}\n"),
                                  config="\n  console: {policies: activate}")
        self.session.said("shell", {"command": ["true", SECRET]})
        answered = in_background(lambda: self.session.said("write_file", {"path": SECRET, "text": SECRET}))
        item = self.asked()
        self.assertEqual(self.api("POST", f"approvals/{item['request_id']}/respond", {"approved": True, "binding": item["binding"], "reason": SECRET}, role="approver")[0], 200)
        answered.get(timeout=60)
        other = Session(self.server)
        self.waits = in_background(lambda: self.tried(other))
        item = self.asked()
        self.assertEqual(self.api("PUT", "policies/drafts/next", {"text": f"version: 1\n# {SECRET}\n"}, role="controller")[0], 200)
        started = self.api("POST", "backtests", {"policy": "starter"}, role="controller")[2]
        self.wait_until(lambda: self.get("backtests/" + started["id"])["state"] != "running", seconds=60)
        call = self.get("calls")["items"][-1]["call_id"]
        agent = self.get("agents")["items"][0]["agent"]
        pins = self.get("pins")["items"]
        policy = self.get("policies")["items"][0]["hash"]
        size = self.get("log/checkpoint").split("\n")[1]
        self.names = {"/approvals/": item["request_id"], "/calls/": call, "/agents/": agent, "/grants/": "none", "/backtests/": started["id"]}
        self.others = {"{seq}": str(self.get("calls")["items"][-1]["sequence"]), "{size}": size, "{hash}": policy, "{path}": "entries/000.p/5", "{server}": pins[0]["server"] if pins else "none",
                       "{tool}": pins[0]["tool"] if pins else "none"}
        return json.loads(self.server.ask("GET", ROOT + "openapi.json", token=False)[2])

    @staticmethod
    def tried(session):
        try:
            return session.said("write_file", {"path": SECRET + "2", "text": SECRET})
        except Exception:  # the gate ends before an approver answers
            return None

    def asked(self):
        self.wait_until(lambda: self.get("approvals", role="approver")["approvals"])
        return self.get("approvals", role="approver")["approvals"][0]

    def address(self, path):
        for prefix, name in self.names.items():
            if path.startswith(prefix):
                path = path.replace("{id}", urllib.parse.quote(name, safe=""))
        for name, value in self.others.items():
            path = path.replace(name, urllib.parse.quote(value, safe="/" if name == "{path}" else ""))
        path = path.replace("{name}", "next" if "drafts" in path else "policy")
        return path[1:] + {"/facets": "?field=tool", "/log/proof": "?from=1&to=3", "/entries": "?limit=500"}.get(path, "")

    def reads(self, document):
        return [(path, self.address(path)) for path, item in document["paths"].items() if "get" in item and path not in (*STREAMS, *OWN)]

    def asks(self, path, role="viewer", method="GET", **headers):
        time.sleep(0.025)  # fifty requests a second are allowed
        return self.server.ask(method, ROOT + path, headers={"Content-Type": None, **{name.replace("_", "-"): value for name, value in headers.items()}},
                               token=TOKENS[role])

    # CO-50: by no route, streams included; each person who opens content is recorded once a minute
    def test_a_viewer_gets_no_sealed_content_by_any_route(self):
        document = self.filled_gate()
        opened = set()
        for path, address in self.reads(document):
            status, _, said = self.asks(address)
            self.assertNotIn(SECRET.encode(), said, path)
            self.assertIn(status, (200, 403) if "openings" in path or path == "/passkeys" else (200, 404) if "/grants/" in path else (200,), (path, said[:300]))
            for role in ("auditor", "approver", "controller"):
                if SECRET.encode() in self.asks(address, role)[2]:
                    opened.add((path, role))
        self.assertLessEqual({("/calls/{id}", "auditor"), ("/entries/{seq}/openings", "auditor"), ("/approvals/{id}", "approver"), ("/policies/{hash}", "controller"),
                              ("/log/export", "auditor"), ("/policies/drafts/{name}", "controller")}, opened)
        # The policy's text is content too: explaining a hypothetical call once revealed it.
        for role, told in (("viewer", False), ("auditor", True), ("controller", True)):
            said = self.api("POST", "explain", {"call": {"agent": "a", "server": "fake", "tool": "shell", "input": {"command": ["true"]}}}, role=role)[2]
            self.assertEqual((said["verdict"], said["decided_by"]["rule"], SECRET in json.dumps(said), "reason" in said.get("withheld", [])), ("refused", "no-shell", told, not told))
        streams = [self.server.open("GET", ROOT + path[1:] + ("?after=0" if path == "/stream" else ""), headers={"Content-Type": None}, token=TOKENS["viewer"]) for path in STREAMS]
        item = self.asked()
        self.assertEqual(self.api("POST", f"approvals/{item['request_id']}/respond", {"approved": False, "binding": item["binding"], "reason": SECRET}, role="approver")[0], 200)
        for stream, last in zip(streams, (b'"kind":"hitl.approval_denied"', b"event: hitl.approval_denied")):
            heard = b""
            while last not in heard:
                heard += stream.readline()
            self.assertNotIn(SECRET.encode(), heard)
            stream.close()
        noted = [row["body"]["who"] for row in self.told("ledger", "show", "--kind", "control", "--limit", 500) if row["body"].get("control") == "content_opened"]
        self.assertEqual(set(noted), {"user:auditor", "user:approver", "user:controller"})
        self.assertLessEqual(max(noted.count(who) for who in noted), 3)  # one a minute, on a slow machine
        self.assertNotIn("user:viewer", noted)

    # CO-66: ETags and 304, HEAD, lists and cursors, problems, limits and rates
    def test_every_route_follows_the_conventions(self):
        document = self.filled_gate()
        lists = 0
        for path, address in self.reads(document):
            status, got, said = self.asks(address, "auditor")
            if status != 200:
                self.assertEqual((got["content-type"], status in (403, 404)), ("application/problem+json", True), (path, said))
                continue
            tag = got["etag"]
            head = self.asks(address, "auditor", method="HEAD")
            self.assertEqual((head[0], head[2]), (200, b""), path)
            if path != "/health" and "stats" not in path:
                again = self.asks(address, "auditor", If_None_Match=tag)
                self.assertIn(again[0], (304, 200), path)
                if again[0] == 200:
                    self.assertNotEqual(again[1]["etag"], tag, path)  # it has changed meanwhile
                else:
                    self.assertEqual((again[2], again[1]["etag"]), (b"", tag), path)
            names = [one["name"] for one in document["paths"][path]["get"].get("parameters", []) if one["in"] == "query"]
            if "cursor" not in names or "{id}" in path:
                continue
            lists += 1
            body = json.loads(said)
            if path != "/approvals":  # this list keeps the shape of AP-30
                self.assertLessEqual({"items", "next", "prev", "tree_size", "total", "exact"}, set(body), path)
            more = "&" if "?" in address else "?"
            for wrong, code in (("limit=501", "invalid"), ("limit=0", "invalid"), ("cursor=nonsense", "bad_cursor")):
                status, got, said = self.asks(address.replace("?limit=500", "") + (more if "?limit" not in address else "?") + wrong, "auditor")
                self.assertEqual((status, json.loads(said)["code"], got["content-type"]), (400, code, "application/problem+json"), (path, wrong))
        self.assertGreaterEqual(lists, 8)
        self.writes(document)
        self.rates()

    # CO-66 (partly): `calls?agnet=x` used to list every call
    def test_an_unknown_parameter_of_a_query_is_refused_on_every_route(self):
        document = self.filled_gate()
        for path, item in document["paths"].items():
            for method in item:
                address = self.address(path)
                known = [one["name"] for one in item[method].get("parameters", []) if one.get("in") == "query"]
                status, _, said = self.asks(address + ("&" if "?" in address else "?") + "no_such=1", "controller" if method != "get" else "auditor", method=method.upper())
                if path.startswith("/session") or status == 403:
                    continue  # the request is refused earlier for another reason
                said = json.loads(said)
                self.assertEqual((status, said["code"], said["place"]), (400, "invalid", "no_such"), (method, path))
                for name in known:
                    self.assertIn(name, said["detail"])
        for address, meant in (("calls?agnet=x", "agent"), ("stream?topic=calls", "topics"), ("approvals?stat=all", "state"), ("calls?treesize=3", "tree_size")):
            self.assertIn(f"did you mean `{meant}`", self.api("GET", address, role="viewer")[2]["detail"], address)

    def writes(self, document):
        strict = 0
        for path, item in document["paths"].items():
            for method in [name.upper() for name in item if name != "get"]:
                if path.startswith("/session"):
                    continue
                address = self.address(path)
                most = 1 << 20 if path.startswith(("/policies", "/backtests")) else 64 << 10
                who = "controller" if path.startswith(("/policies", "/backtests", "/agents", "/pins", "/grants")) else "approver"
                schema = item[method.lower()].get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                if schema.get("additionalProperties") is False:
                    status, _, said = self.api(method, address, {"zzz": 1}, role="viewer" if path == "/explain" else who)
                    self.assertEqual((status, said.get("code"), said.get("place")), (400, "invalid", "zzz"), (method, path, said))
                    strict += 1
                # The server itself reads no body over 4 MiB, the limit of a batch.
                if path not in ("/explain", "/approvals/batch") and method != "DELETE":
                    status, _, said = self.api(method, address, {"x": "y" * (most + 1000)}, role=who)
                    self.assertEqual((status, said.get("code")), (413, "too_large"), (method, path, said))
                time.sleep(0.05)
                self.assertEqual(self.api("PATCH", address, {}, role="controller")[2]["code"], "method")
        self.assertGreater(strict, 8)
        self.assertEqual(self.api("GET", "no/such/route")[2]["code"], "not_found")
        status, _, said = self.api("PUT", "policies/drafts/next", {"text": "version: 1\n"}, role="controller", headers={"If-Match": '"other"'})
        self.assertEqual((status, said["code"]), (412, "precondition_failed"))

    def rates(self):
        """The 51st request of a second gets a wait time in its response."""
        for _ in range(400):
            status, got, said = self.server.ask("GET", ROOT + "health", headers={"Content-Type": None}, token=TOKENS["viewer"])
            if status == 429:
                break
        self.assertEqual((status, json.loads(said)["code"]), (429, "too_many_requests"))
        self.assertGreaterEqual(int(got["retry-after"]), 1)
        self.assertIn("ratelimit", got)


class Lagging(ApiTest):
    # CO-49, with the live screen of console_screens_test.py: a stream that lags reports the number of missed entries and ends
    def test_a_stream_that_lags_says_how_many_it_missed(self):
        self.start()
        stream = self.server.open("GET", f"{ROOT}stream?topics=entries,health", headers={"Content-Type": None}, token=TOKENS["viewer"])
        told = events(stream)
        self.assertEqual(next(told)["event"], "health")  # it has read the log once
        self.server.process.send_signal(signal.SIGSTOP)  # the gate gets no time while another process writes
        subprocess.run([MAKE_LEDGER, self.data, "4000", "2000"], check=True, timeout=120)
        self.server.process.send_signal(signal.SIGCONT)
        heard = list(told)
        self.assertEqual(heard[-1]["event"], "lagged")
        told = json.loads(heard[-1]["data"])
        self.assertGreater(told["missed"], 5000)
        seen = [int(one["id"]) for one in heard if one["event"] == "entries"]
        self.assertEqual(seen, list(range(told["size"] - told["missed"] - len(seen), told["size"] - told["missed"])))


class Absent(ApiTest):
    def maintain(self, *words):
        token = self.write("token", TOKENS["controller"])
        token.chmod(0o600)
        done = subprocess.run([BIN, "--data-dir", self.data, "ledger", *map(str, words), "--token-file", token, "--name", "user:controller"], capture_output=True, text=True,
                              env=self.environment(), cwd=self.folder, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)

    # CO-48: erased, pruned or redacted content is labelled so for everyone who may read it; lists and streams stay readable
    def test_what_is_not_there_any_more_is_labelled(self):
        session = self.start()
        session.said("write_file", {"path": "first.txt", "text": "hi"})
        session.said("shell", {"command": ["true", "AKIAIOSFODNN7EXAMPLE"]})
        session.said("write_file", {"path": SECRET, "text": "hi"})
        newest, redacted, oldest = self.get("calls", role="auditor")["items"]
        self.maintain("erase", "--call", newest["call_id"], "--reason", "they asked")
        rows = self.get("calls", role="auditor")["items"]
        self.assertEqual([rows[0]["what"], rows[2]["what"]], ["[erased]", "first.txt"])
        page = self.get(f"calls/{newest['call_id']}", role="auditor")
        self.assertEqual((page["timeline"][0]["input"], page["timeline"][0]["input_state"]), (None, "erased"))
        self.assertNotIn(SECRET, json.dumps(page))
        self.assertEqual(self.get(f"calls/{newest['call_id']}")["timeline"][0]["input_state"], "withheld")
        states = {one["state"] for one in self.get(f"entries/{newest['sequence']}/openings", role="auditor")["openings"]}
        self.assertEqual(states, {"erased"})
        self.assertEqual(self.get(f"calls/{redacted['call_id']}", role="auditor")["timeline"][0]["input_state"], "redacted")
        self.assertIn("[erased]", json.dumps(self.told("ledger", "calls")))
        stream = self.server.open("GET", f"{ROOT}stream?topics=calls&after=0", headers={"Content-Type": None}, token=TOKENS["auditor"])
        heard = events(stream)
        self.assertEqual([json.loads(next(heard)["data"])["call_id"] for _ in range(3)], [oldest["call_id"], redacted["call_id"], newest["call_id"]])
        stream.close()
        self.maintain("prune", "--before", oldest["sequence"] + 1, "--reason", "old")
        self.assertEqual(self.get(f"entries/{oldest['sequence']}", role="auditor")["state"], "pruned")
        self.assertEqual([row["call_id"] for row in self.get("calls", role="auditor")["items"]], [newest["call_id"], redacted["call_id"]])

    # CO-43 (partly) CO-44 (partly): the newest calls are kept in memory, and the list equals the log's list at the same size
    def test_the_newest_calls_are_those_of_the_log_while_it_grows(self):
        subprocess.run([MAKE_LEDGER, self.data, "900", "30"], check=True, timeout=120)
        session = self.start(self.policy(tier="act_auto", more="rules:\n  - {id: no-shell, then: deny, when: {tool: shell}}\n"))
        for turn in range(6):
            for limit in (1, 3, 40, 500) if turn in (0, 5) else (7,):
                for role in ("viewer", "auditor"):
                    page = self.get(f"calls?limit={limit}", role)
                    alike = self.get(f"calls?limit={limit}&tree_size={page['tree_size']}", role)
                    for name in ("items", "tree_size", "total", "exact", "reached"):
                        self.assertEqual(page[name], alike[name], (turn, limit, role, name))
                    self.assertEqual(bool(page["next"]), bool(alike["next"]))
                    time.sleep(0.02)
            session.said("write_file", {"path": f"{turn}.txt", "text": "x" * 300})
            session.said("shell", {"command": ["true"]})
        rest = self.get(f"calls?limit=5&cursor={self.get('calls?limit=4')['next']}")["items"]
        self.assertEqual(self.get("calls?limit=9")["items"][4:], rest)


if __name__ == "__main__":
    unittest.main()
