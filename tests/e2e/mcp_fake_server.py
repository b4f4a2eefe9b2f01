#!/usr/bin/env python3
"""A tool server of the session era, with a tool for each kind of bad behaviour.

It is no example of a good server: it answers by hand, so that it can also answer wrongly.
"""
import json
import os
import sys
import time

TASKS = {}  # ids of tasks -> the result of their call
ASKED = {}  # ids of our own questions -> id of the call that waits for the answer


def say(message):
    sys.stdout.write(json.dumps(message, separators=(",", ":"), ensure_ascii=False) + "\n")
    sys.stdout.flush()


def raw(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(id, result):
    say({"jsonrpc": "2.0", "id": id, "result": result})


def text(id, said, **more):
    answer(id, {"content": [{"type": "text", "text": said}], **more})


def notify(method, params):
    say({"jsonrpc": "2.0", "method": method, "params": params})


def tool(name, **more):
    return {"name": name, "description": f"tool {name}", "inputSchema": {"type": "object"}, **more}


NAMES = ("echo slow die die_before garbage wrong_id twice flood stall huge deep error secret structured progress ask_roots "
         "ask_sampling ask_twice environment exact pid half_line duplicate_keys log spoof_progress rename").split()


def tools():
    suffix = os.environ.get("FAKE_DESCRIPTION", "")
    listed = [tool(name) for name in NAMES]
    listed[0]["description"] += suffix
    if suffix:
        listed[1]["annotations"] = {"readOnlyHint": True}
    if os.environ.get("FAKE_HINTS"):
        listed[NAMES.index("pid")]["annotations"] = json.loads(os.environ["FAKE_HINTS"])
    return listed


def task(id):
    now = "2026-01-01T00:00:00Z"
    return {"taskId": id, "status": "completed", "createdAt": now, "lastUpdatedAt": now, "ttl": None}


def call(id, name, arguments, params):
    if "task" in params:
        made = f"t{len(TASKS) + 1}"
        TASKS[made] = arguments.get("message", "")
        answer(id, {"task": task(made)})
        notify("notifications/tasks/status", task(made))
    elif name == "echo":
        text(id, arguments.get("message", ""))
    elif name == "exact":  # numbers that a double cannot hold, and members in a given order
        raw('{"result":{"structuredContent":{"z":12345678901234567890123,"a":1.50,"n":1e2},'
            '"content":[],"x-unknown":{"k":[1.0]}},"jsonrpc":"2.0","id":%s}' % json.dumps(id))
    elif name == "slow":
        time.sleep(arguments.get("seconds", 0.2))
        text(id, "slept")
    elif name == "die":
        os._exit(3)
    elif name == "die_before":
        sys.stdout.write('{"jsonrpc":"2.0","id":%s,"resu' % json.dumps(id))
        sys.stdout.flush()
        os._exit(4)
    elif name == "garbage":
        raw("Starting up... {not json")
        raw("[1,2")
        raw("\x00\x01")
        text(id, "after the garbage")
    elif name == "wrong_id":
        text(999999, "to nobody")
        text("no such id", "to nobody")
        text(None, "to nobody")
        text(id, "the right one")
    elif name == "twice":
        text(id, "first")
        text(id, "second")
    elif name == "flood":
        for i in range(arguments.get("count", 20000)):
            notify("notifications/message", {"level": "info", "data": f"flood {i}"})
        text(id, "flooded")
    elif name == "stall":
        pass
    elif name == "huge":
        text(id, "x" * arguments["bytes"])
    elif name == "deep":
        raw('{"jsonrpc":"2.0","id":%s,"result":%s1%s}' % (json.dumps(id), "[" * 5000, "]" * 5000))
    elif name == "duplicate_keys":
        raw('{"jsonrpc":"2.0","id":%s,"result":{"content":[],"content":[{"type":"text","text":"other"}]}}' % json.dumps(id))
    elif name == "half_line":
        sys.stdout.write('{"jsonrpc":"2.0","id":%s,' % json.dumps(id))
        sys.stdout.flush()
        time.sleep(0.1)
        raw('"result":{"content":[{"type":"text","text":"in two pieces"}]}}')
    elif name == "error":
        say({"jsonrpc": "2.0", "id": id, "error": {"code": -32050, "message": "no such row", "data": {"key": arguments.get("key")}}})
    elif name == "secret":
        text(id, "key AKIAIOSFODNN7EXAMPLE ends", structuredContent={"k": "AKIAIOSFODNN7EXAMPLE"}, _meta={"k": "AKIAIOSFODNN7EXAMPLE"})
    elif name == "structured":
        answer(id, {"content": [{"type": "text", "text": "two"}, {"type": "text", "text": "parts"},
                                {"type": "resource_link", "uri": "file:///x", "name": "x"}],
                    "structuredContent": {"rows": [1, 2]}, "isError": arguments.get("fails", False)})
    elif name == "progress":
        token = params.get("_meta", {}).get("progressToken")
        for i in range(arguments.get("count", 3)):
            notify("notifications/progress", {"progressToken": token, "progress": i, "total": 3, "message": f"AKIAIOSFODNN7EXAMPLE {i}"})
        text(id, "progressed")
    elif name == "spoof_progress":
        notify("notifications/progress", {"progressToken": "nobody's", "progress": 1})
        text(id, "spoofed")
    elif name == "log":
        notify("notifications/message", {"level": "error", "data": "key AKIAIOSFODNN7EXAMPLE"})
        sys.stderr.write("a line on stderr\n")
        sys.stderr.flush()
        text(id, "logged")
    elif name in ("ask_roots", "ask_sampling"):
        method = "roots/list" if name == "ask_roots" else "sampling/createMessage"
        ASKED["q1"] = id
        say({"jsonrpc": "2.0", "id": "q1", "method": method, "params": {"messages": [], "maxTokens": 5}})
    elif name == "environment":
        text(id, json.dumps(sorted(os.environ)))
    elif name == "pid":
        text(id, str(os.getpid()))
    elif name == "rename":
        os.environ["FAKE_DESCRIPTION"] = arguments.get("suffix", "")
        notify("notifications/tools/list_changed", {})
        text(id, "renamed")
    else:
        say({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": f"unknown tool {name}"}})


def note(message):
    if os.environ.get("FAKE_HEARD"):
        with open(os.environ["FAKE_HEARD"], "a") as heard:
            heard.write(json.dumps(message) + "\n")


def hear(message):
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method is None:
        waiting = ASKED.pop(id, None)
        if waiting is not None:
            text(waiting, "was told " + json.dumps(message.get("result", message.get("error")), sort_keys=True))
    elif method == "initialize":
        if os.environ.get("FAKE_NEVER_OPENS"):
            os._exit(9)
        answer(id, {"protocolVersion": params["protocolVersion"], "serverInfo": {"name": "fake", "version": "1"},
                    "capabilities": {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}, "prompts": {}},
                    "x-unknown": 12345678901234567890123})
    elif method == "tools/list":
        answer(id, {"tools": tools()})
    elif method == "tools/call":
        if os.environ.get("FAKE_CALLED"):
            with open(os.environ["FAKE_CALLED"], "a") as called:
                called.write(params["name"] + "\n")
        call(id, params["name"], params.get("arguments", {}), params)
    elif method == "tasks/list":
        answer(id, {"tasks": [task(known) for known in TASKS]})
    elif method in ("tasks/get", "tasks/cancel", "tasks/result") and params["taskId"] not in TASKS:
        say({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": "no such task"}})
    elif method == "tasks/result":
        text(id, TASKS[params["taskId"]], _meta={"io.modelcontextprotocol/related-task": {"taskId": params["taskId"]}})
    elif method in ("tasks/get", "tasks/cancel"):
        answer(id, task(params["taskId"]))
    elif method == "resources/read":
        answer(id, {"contents": [{"uri": params["uri"], "text": "secret AKIAIOSFODNN7EXAMPLE"}]})
    elif method == "prompts/get":
        answer(id, {"messages": [{"role": "user", "content": {"type": "text", "text": "hello"}}]})
    elif method == "x/echo":  # an unknown method: returns its parameters
        answer(id, {"got": params})
    elif method == "resources/templates/list" and params.get("never"):
        pass
    elif method == "logging/setLevel":
        note(message)
        answer(id, {})
    elif id is not None:
        say({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})
    else:
        note(message)


def main():
    if os.environ.get("FAKE_NOTE_PIDS"):
        with open(os.environ["FAKE_NOTE_PIDS"], "a") as pids:
            pids.write(f"{os.getpid()}\n")
    for line in sys.stdin:
        hear(json.loads(line))


main()
