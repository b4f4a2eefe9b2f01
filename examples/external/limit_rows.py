#!/usr/bin/python3
"""A rewriter: a query returns at most 100 rows."""
import json
import sys

call_input = json.load(sys.stdin)["call"]["input"]
if call_input.get("limit", 1000) <= 100:
    print(json.dumps({"verdict": "allow"}))
else:
    print(json.dumps({"verdict": "rewrite", "input": {**call_input, "limit": 100}}))
