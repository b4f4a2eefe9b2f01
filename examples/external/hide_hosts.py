#!/usr/bin/python3
"""A result guard: names of internal hosts are replaced in every text of the result."""
import json
import re
import sys


def hidden(value):
    if isinstance(value, str):
        return re.sub(r"[\w.-]+\.corp\.example", "[host]", value)
    if isinstance(value, list):
        return [hidden(item) for item in value]
    if isinstance(value, dict):
        return {name: hidden(item) for name, item in value.items()}
    return value


result = json.load(sys.stdin)["result"]
if hidden(result) == result:
    print(json.dumps({"verdict": "allow"}))
else:
    print(json.dumps({"verdict": "redact", "value": hidden(result)}))
