#!/usr/bin/env python3
"""A handwritten tool server of the stateless era: it has no initialization, and asks through its results."""
import json
import os
import sys

VERSION = "2026-07-28"
META = "io.modelcontextprotocol/"
LISTENING = {}
TASK = {"taskId": "t-1", "status": "completed", "result": {"content": [{"type": "text", "text": "the key is AKIAIOSFODNN7EXAMPLE"}]}}


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")) + "\n")
    sys.stdout.flush()


def answer(id, result):
    say({"id": id, "result": {"resultType": "complete", "_meta": {META + "serverInfo": {"name": "modern", "version": "2"}}, **result}})


def text(id, said, **more):
    answer(id, {"content": [{"type": "text", "text": said}], **more})


def wanted(id, questions, state):
    say({"id": id, "result": {"resultType": "input_required", "inputRequests": questions, "requestState": state}})


def call(id, params):
    name, meta, given = params["name"], params["_meta"], params.get("inputResponses")
    if name == "die":
        os._exit(3)
    elif name == "echo":
        text(id, params.get("arguments", {}).get("message", ""))
    elif name == "meta":
        text(id, json.dumps(meta, sort_keys=True))
    elif name == "list_root":
        text(id, "a list", structuredContent=[1, 2])
    elif name == "ask":
        if given is None:
            wanted(id, {"k": {"method": "elicitation/create", "params": {"mode": "form", "message": "Your name?", "requestedSchema": {
                "type": "object", "properties": {"name": {"type": "string"}}}}}}, "state-1")
        else:
            text(id, f"{params['requestState']} {json.dumps(given, sort_keys=True)}")
    elif name == "ask_forever":
        wanted(id, {"k": {"method": "elicitation/create", "params": {"message": "Again?", "requestedSchema": {"type": "object"}}}}, "s")
    elif name == "progress":
        say({"method": "notifications/progress", "params": {"progressToken": meta["progressToken"], "progress": 1}})
        text(id, "done")
    elif name == "later":
        say({"id": id, "result": {"resultType": "task", "taskId": "t-1", "status": "working"}})
        for listen in LISTENING:
            say({"method": "notifications/tasks", "params": {"_meta": {META + "subscriptionId": listen}, **TASK}})
    elif name == "change":
        for listen, filter in LISTENING.items():
            tag = {META + "subscriptionId": listen}
            if filter.get("toolsListChanged"):
                say({"method": "notifications/tools/list_changed", "params": {"_meta": tag}})
            for uri in filter.get("resourceSubscriptions", []):
                say({"method": "notifications/resources/updated", "params": {"_meta": tag, "uri": uri}})
        text(id, "changed")
    else:
        say({"id": id, "error": {"code": -32602, "message": "unknown tool"}})


def hear(message):
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if id is None:
        if method == "notifications/cancelled":
            LISTENING.pop(params["requestId"], None)
        return
    if method == "server/discover":
        return answer(id, {"supportedVersions": [VERSION], "instructions": "be kind", "ttlMs": 1000, "cacheScope": "public",
                           "capabilities": {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "extensions": {"x": {}}}})
    if params.get("_meta", {}).get(META + "protocolVersion") != VERSION or META + "clientCapabilities" not in params["_meta"]:
        return say({"id": id, "error": {"code": -32602, "message": "`_meta` is not as it must be"}})
    if method == "tools/list":
        names = ["echo", "meta", "ask", "ask_forever", "progress", "change", "later", "die"]
        tools = [{"name": name, "description": name, "inputSchema": {"type": "object"}} for name in names]
        tools.append({"name": "list_root", "inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}})
        answer(id, {"tools": tools, "ttlMs": 60000, "cacheScope": "public"})
    elif method == "tools/call":
        call(id, params)
    elif method == "resources/read":
        answer(id, {"contents": [{"uri": params["uri"], "text": "t"}], "ttlMs": 5, "cacheScope": "public"})
    elif method == "tasks/get":
        answer(id, TASK)
    elif method == "subscriptions/listen":
        LISTENING[id] = params["notifications"]
        say({"method": "notifications/subscriptions/acknowledged",
             "params": {"_meta": {META + "subscriptionId": id}, "notifications": params["notifications"]}})
    else:
        say({"id": id, "error": {"code": -32601, "message": "Method not found"}})


for line in sys.stdin:
    hear(json.loads(line))
