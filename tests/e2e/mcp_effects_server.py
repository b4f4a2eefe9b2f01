#!/usr/bin/env python3
"""A tool server of the session era whose one effect can be counted as lines in the file $EFFECTS."""
import json
import os
import subprocess
import sys
import time


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name):
    return {"name": name, "description": name, "inputSchema": {"type": "object"}}


def call(name, arguments, meta):
    if name == "write_file":
        for i in range(arguments.get("steps", 0)):
            say({"method": "notifications/progress", "params": {"progressToken": meta.get("progressToken"), "progress": i}})
            time.sleep(arguments.get("pace", 0))
        with open(os.environ["EFFECTS"], "a") as effects:
            effects.write(json.dumps(arguments, sort_keys=True) + "\n")
        time.sleep(arguments.get("seconds", 0))
        return "written"
    ran = subprocess.run(arguments["command"], capture_output=True, text=True,
                         env={k: v for k, v in os.environ.items() if k not in arguments.get("without", [])})
    return json.dumps({"code": ran.returncode, "stderr": ran.stderr, "agent": os.environ.get("SALLYPORT_AGENT")})


for line in sys.stdin:
    message = json.loads(line)
    method, params, id = message.get("method"), message.get("params", {}), message.get("id")
    if method == "initialize":
        say({"id": id, "result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                  "serverInfo": {"name": "effects", "version": "1"}}})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [tool("write_file"), tool("shell")]}})
    elif method == "tools/call":
        text = call(params["name"], params.get("arguments", {}), params.get("_meta", {}))
        say({"id": id, "result": {"content": [{"type": "text", "text": text}]}})
    elif id is not None:
        say({"id": id, "error": {"code": -32601, "message": "Method not found"}})
