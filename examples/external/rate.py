#!/usr/bin/python3
"""A guard that keeps running: an agent makes at most 60 calls a minute."""
import collections
import json
import sys
import time

calls = collections.defaultdict(collections.deque)
for line in sys.stdin:
    request = json.loads(line)
    times = calls[request["call"]["agent"]]
    now = time.monotonic()
    while times and now - times[0] > 60:
        times.popleft()
    answer = {"id": request["id"], "verdict": "allow"}
    if len(times) >= 60:
        answer = {"id": request["id"], "verdict": "deny", "message": "Over 60 calls a minute. Wait."}
    else:
        times.append(now)
    print(json.dumps(answer), flush=True)
