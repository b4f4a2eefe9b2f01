#!/usr/bin/env python3
"""Protocol messages with random changes by rules of the grammar, and a tool server that sends only such messages.

As a program it is that server: `mutations.py SEED`. Each message about a call holds a secret in one of its members.
"""
import json
import random
import sys

MARKER = "AKIAIOSFODNN7EXAMPLE"
SECRET = f"key {MARKER} ends"
LEGACY = "2025-11-25"

NUMBERS = ["0", "-0", "1", "-1", "1.0", "1e400", "-1e-400", "9007199254740993", "12345678901234567890123", "1E3", "0.1",
           "18446744073709551616", "1.7976931348623157e308"]
TEXTS = ["", " ", "a\u0000b", "\ufeff", "\u202etxet", "\ud7ff\ue000", "\U0001f600", "\u0301" * 50, "{}", "[1,2", "null", "true",
         "../../etc/passwd", "x" * 5000, '"', "\\", "\r\n", "\u2028", "notifications/cancelled", "tools/call", "2.0", "%s%n"]
RAW = ['"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\/"', '"\\x"', "nul", "NaN", "Infinity", "'a'", "01", "1.", "+1", ".5", "//"]
NAMES = ["id", "method", "params", "result", "error", "jsonrpc", "_meta", "progressToken", "name", "arguments", "content", "type",
         "text", "structuredContent", "isError", "code", "message", "data", "uri", "cursor", "nextCursor", "taskId", "task",
         "resultType", "inputRequests", "requestState", "x-unknown", "", "\u0000", "toString", "__proto__", "$ref"]


class Raw(str):
    """A text that is written unchanged."""


class Pairs(list):
    """An object with ordered members; some may have the same name."""


def dumps(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, (dict, Pairs)):
        members = value.items() if isinstance(value, dict) else value
        return "{" + ",".join(json.dumps(str(name), ensure_ascii=False) + ":" + dumps(item) for name, item in members) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(dumps, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


class Mutator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, share):
        return self.random.random() < share

    def some(self, values):
        return self.random.choice(values)

    def value(self):
        kind = self.random.randrange(12)
        if kind == 0:
            return Raw(self.some(NUMBERS))
        if kind == 1:
            return self.some(TEXTS)
        if kind == 2:
            return Raw(self.some(RAW)) if self.chance(0.3) else None
        if kind == 3:
            depth = self.some([1, 5, 60, 99, 127, 128, 129, 400])
            return Raw("[" * depth + "]" * depth) if self.chance(0.5) else Raw('{"a":' * depth + "1" + "}" * depth)
        if kind == 4:
            return {self.some(NAMES): self.value() for _ in range(self.random.randrange(4))}
        if kind == 5:
            return [self.value() for _ in range(self.random.randrange(4))]
        if kind == 6 and self.chance(0.05):
            return "x" * self.some([70_000, 1 << 20, 3 << 20])
        if kind == 7 and self.chance(0.05):
            return [1] * self.some([1000, 20_000, 260_000])
        return self.some([True, False, None, 0, -1, 2**53, "text", [], {}])

    def places(self, value, found=None):
        """Returns every container in it."""
        found = [] if found is None else found
        if isinstance(value, dict):
            found.append(value)
            for item in value.values():
                self.places(item, found)
        elif isinstance(value, list) and not isinstance(value, Pairs):
            found.append(value)
            for item in value:
                self.places(item, found)
        return found

    def change(self, message):
        """Makes one change in it."""
        place = self.some(self.places(message))
        if isinstance(place, list):
            if place and self.chance(0.5):
                place[self.random.randrange(len(place))] = self.value()
            else:
                place.insert(self.random.randrange(len(place) + 1), self.value())
            return
        name = self.some(list(place)) if place else None
        kind = self.random.randrange(7)
        if kind == 0 and name is not None:
            del place[name]
        elif kind == 1 and name is not None:
            place[self.some(NAMES)] = place.pop(name)
        elif kind == 2 and name is not None:
            place[name] = self.value()
        elif kind == 3 and name is not None:
            place[name] = {"a": {"b": [place[name]]}}
        elif kind == 4 and name is not None and isinstance(place[name], dict):
            place[name] = Pairs([*place[name].items(), *place[name].items()])
        else:
            place[self.some(NAMES)] = self.value()

    def plant(self, message):
        """The secret, in a member of any kind."""
        place = self.some(self.places(message))
        kind = self.random.randrange(6)
        if isinstance(place, list):
            place.append(self.some([SECRET, {"type": "text", "text": SECRET}, {"x": SECRET}, [SECRET]]))
            return
        texts = [name for name, item in place.items() if isinstance(item, str) and name not in ("jsonrpc", "method", "id")]
        if kind <= 2 and texts:
            place[self.some(texts)] = SECRET
        elif kind == 3:
            place[self.some(["x-" + MARKER, MARKER, f"a {MARKER} b"])] = self.value()
        elif kind == 4:
            place[self.some(["x-note", "_meta", "annotations", "note"])] = {"deep": [{"er": SECRET}]}
        else:
            place[self.some(["x-note", "text", "description", "title", "data"])] = SECRET

    def spoil(self, text):
        """Changes the text; usually the result is no longer JSON."""
        kind = self.random.randrange(7)
        at = self.random.randrange(len(text) + 1)
        if kind == 0:
            return text[:at]
        if kind == 1:
            return text[:at] + self.some(["\x00", "\xff", "{", "}", ",", '"', "\\", "\t", "\u2028"]) + text[at:]
        if kind == 2:
            return text + self.some([" ", "x", "{}", ",", "\r", text])
        if kind == 3:
            return "[" + text + "," + text + "]"
        if kind == 4:
            return "[" + text + "]"
        if kind == 5:
            return self.some([" ", "\t", "\ufeff", "\r"]) + text
        return text[:at] + text[at + 1:]

    def mutated(self, message, planted=False, changes=(0, 0, 1, 1, 2, 4)):
        for _ in range(self.some(changes)):
            self.change(message)
        if planted:
            self.plant(message)
        text = dumps(message).replace("\n", " ")
        return self.spoil(text) if self.chance(0.06) else text

    # Messages of the server.

    def result(self, method):
        if method == "resources/read":
            return {"contents": [{"uri": "file:///x", "mimeType": "text/plain", "text": "plain"},
                                 {"uri": "file:///y", "blob": "AAAA"}], "_meta": {}}
        if method == "prompts/get":
            return {"description": "d", "messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]}
        if method == "completion/complete":
            return {"completion": {"values": ["a", "b"], "total": 2, "hasMore": False}}
        if method == "resources/list":
            return {"resources": [{"uri": "file:///x", "name": "x", "title": "t", "description": "d"}]}
        if method == "resources/templates/list":
            return {"resourceTemplates": [{"uriTemplate": "file:///{x}", "name": "x", "description": "d"}]}
        if method == "prompts/list":
            return {"prompts": [{"name": "p", "description": "d", "arguments": [{"name": "a", "description": "d"}]}]}
        if method == "tools/call":
            return {"content": [{"type": "text", "text": "plain", "annotations": {"audience": ["user"]}},
                                {"type": "image", "data": "AAAA", "mimeType": "image/png"},
                                {"type": "resource", "resource": {"uri": "file:///x", "text": "inside"}},
                                {"type": "resource_link", "uri": "file:///x", "name": "x", "description": "d"}],
                    "structuredContent": {"rows": [{"a": 1, "b": "two"}, {"a": 2.5, "b": None}]}, "isError": self.chance(0.2), "_meta": {"k": "v"}}
        return {"ok": True, "note": "plain"}

    def answer(self, id, method):
        if self.chance(0.15):
            return {"jsonrpc": "2.0", "id": id, "error": {"code": -32050, "message": "no such row", "data": {"key": ["k"]}}}
        return {"jsonrpc": "2.0", "id": id, "result": self.result(method)}

    def notification(self, token):
        method, params = self.some([
            ("notifications/progress", {"progressToken": token, "progress": self.random.randrange(9), "total": 9, "message": "on the way"}),
            ("notifications/message", {"level": "info", "logger": "l", "data": {"text": "said"}}),
            ("notifications/resources/updated", {"uri": "file:///x", "title": "t"}),
            ("notifications/resources/list_changed", {"_meta": {}}),
            ("notifications/cancelled", {"requestId": self.some([1, "a", 10**6]), "reason": "why not"}),
            ("notifications/tasks/status", {"taskId": "t1", "status": "working", "statusMessage": "still"}),
            ("notifications/elicitation/complete", {"elicitationId": "e"}),
            ("notifications/x-unknown", {"text": "said"})])
        return {"jsonrpc": "2.0", "method": method, "params": params}

    def question(self):
        method, params = self.some([
            ("sampling/createMessage", {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}], "maxTokens": 5,
                                        "systemPrompt": "s"}),
            ("elicitation/create", {"message": "which?", "requestedSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}),
            ("roots/list", {}), ("ping", {}), ("x/unknown", {"text": "said"})])
        return {"jsonrpc": "2.0", "id": self.some([f"q{self.random.randrange(10**6)}", self.random.randrange(10**6)]),
                "method": method, "params": params}

    # Messages of the client.

    def request(self, id):
        meta = {"progressToken": self.some([id, f"p{id}"])} if self.chance(0.7) else {}
        method, params = self.some([
            ("tools/call", {"name": "echo", "arguments": {"message": "m", "n": [1, {"a": None}]}}),
            ("tools/call", {"name": "echo", "arguments": {}}),
            ("tools/call", {"name": self.some(["other", "", "echo "]), "arguments": {"x": 1}}),
            ("resources/read", {"uri": "file:///x"}), ("prompts/get", {"name": "p", "arguments": {"a": "b"}}),
            ("completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": "b"}}),
            ("resources/list", {}), ("resources/templates/list", {}), ("prompts/list", {"cursor": "c"}),
            ("resources/subscribe", {"uri": "file:///x"}), ("logging/setLevel", {"level": "info"}), ("ping", {}),
            ("tasks/get", {"taskId": "t1"}), ("x/echo", {"a": [1, 2]}), ("server/discover", {})])
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, **({"_meta": meta} if meta else {})}}

    def telling(self, id):
        method, params = self.some([
            ("notifications/cancelled", {"requestId": self.some([id - 1, id - 2, "a"]), "reason": "enough"}),
            ("notifications/progress", {"progressToken": id, "progress": 1}), ("notifications/roots/list_changed", {}),
            ("tools/call", {"name": "echo", "arguments": {}})])
        return {"jsonrpc": "2.0", "method": method, "params": params}


def serve(seed):
    mutator, said = Mutator(seed), 0
    out = open(sys.stdout.fileno(), "wb", buffering=0, closefd=False)

    def say(text):
        out.write(text.encode("utf-8", "surrogatepass").replace(b"\n", b" ") + b"\n")

    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "method" not in message or "id" not in message:
            continue
        id, method, params = message["id"], message["method"], message.get("params")
        params = params if isinstance(params, dict) else {}
        if method == "initialize":
            say(dumps({"jsonrpc": "2.0", "id": id, "result": {
                "protocolVersion": LEGACY, "serverInfo": {"name": "mutant", "version": "1"},
                "capabilities": {"tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}}}))
        elif method == "tools/list":
            listed = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
            said += 1
            if said % 20 == 0:  # earlier listed tools stay unchanged
                extra = {"name": f"extra{said}", "description": "d", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
                mutator.plant(extra)
                listed["tools"].append(extra)
                listed["x-note"] = SECRET
            say(dumps({"jsonrpc": "2.0", "id": id, "result": listed}))
        else:
            meta = params.get("_meta")
            token = meta.get("progressToken") if isinstance(meta, dict) else None
            while mutator.chance(0.3):
                say(mutator.mutated(mutator.question() if mutator.chance(0.3) else mutator.notification(token), True))
            say(mutator.mutated(mutator.answer(id, method), True))
            # After every mutation the call ends.
            say(dumps({"jsonrpc": "2.0", "id": id, "result": {"content": [{"type": "text", "text": "plain"}]}}))


if __name__ == "__main__":
    serve(int(sys.argv[1]))
