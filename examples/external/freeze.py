#!/usr/bin/python3
"""A guard: while the file FREEZE is in the data folder, nothing is pushed."""
import json
import os
import sys

request = json.load(sys.stdin)
pushes = any(effect["class"] == "git.push" for effect in request["effects"])
if pushes and os.path.exists(os.path.join(os.environ["SALLYPORT_DATA_DIR"], "FREEZE")):
    answer = {"verdict": "deny", "message": "The release is frozen. Push tomorrow.", "rule": "freeze"}
else:
    answer = {"verdict": "allow"}
print(json.dumps(answer))
