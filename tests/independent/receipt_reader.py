#!/usr/bin/env python3
"""Verifies a sallyport.receipt.v1 from its published format alone.

    receipt_reader.py FILE --key VKEY

Has its own strict JSON reader, its own RFC 8785 writer, its own tree. Prints {"ok":..,"step":..} and
exits 0 or 1.
"""
import argparse
import hashlib
import json
import sys

from signed_note import Refused, VerifierKey, leaf_hash, open_checkpoint, root_by_proof, strict_base64

LIMIT = 16 * 1024 * 1024
LARGEST = 2**53 - 1
REPEATED = ("policy_hash", "call_id", "session_id", "agent_id", "server", "tool_name", "outcome",
            "trace_id", "run_id", "topic", "topic_id", "instance_id", "sequence")


# --- JSON -------------------------------------------------------------------------------------

def number_text(value):
    """Returns the text that ECMAScript gives a finite double."""
    if isinstance(value, int):
        value = float(value)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, exponent = f"{abs(value)!r}", 0
    if "e" in mantissa:
        mantissa, power = mantissa.split("e")
        exponent = int(power)
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + exponent
    point -= len(digits) - len(digits.lstrip("0"))
    digits = digits.lstrip("0").rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    tail = "." + digits[1:] if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if power > 0 else '-'}{abs(power)}"


ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def string_text(value):
    return '"' + "".join(ESCAPES.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


def canonical(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return string_text(value)
    if isinstance(value, (int, float)):
        return number_text(value)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(f"{string_text(name)}:{canonical(value[name])}" for name in names) + "}"


def no_duplicates(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise Refused("a member name stands twice")
    return dict(pairs)


def strict_number(token):
    value = float(token)
    if abs(value) > LARGEST or number_text(value) != token:
        raise Refused(f"number {token[:40]} is not in its one form")
    return int(token) if value.is_integer() else value


def refuse_constant(token):
    raise Refused(f"{token} is not JSON")


def depth_of(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth_of, inner), default=0)


def parse(data):
    if len(data) > LIMIT:
        raise Refused("too large")
    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise Refused("a byte order mark")
        value = json.loads(text, object_pairs_hook=no_duplicates, parse_float=strict_number,
                           parse_int=strict_number, parse_constant=refuse_constant)
        canonical(value).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise Refused(f"not strict JSON: {error}") from None
    if depth_of(value) > 128:
        raise Refused("nested too deep")
    return value


# --- the receipt ------------------------------------------------------------------------------

def wanted(condition, text):
    if not condition:
        raise Refused(text)


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def check_form(receipt):
    wanted(isinstance(receipt, dict) and set(receipt) == {
        "schema", "entry", "leaf_index", "tree_size", "proof", "checkpoint", "openings"},
        "a receipt has seven members")
    wanted(receipt["schema"] == "sallyport.receipt.v1", "unknown schema")
    entry = receipt["entry"]
    wanted(isinstance(entry, dict) and entry.get("schema") == "sallyport.entry.v1", "no entry")
    wanted(isinstance(entry.get("body"), dict) and is_count(entry.get("sequence")), "no entry")
    wanted(all(isinstance(entry.get(name), str) for name in ("id", "kind", "recorded_at", "instance_id")),
           "an entry lacks a member")
    wanted(is_count(receipt["leaf_index"]) and is_count(receipt["tree_size"]), "no position")
    wanted(isinstance(receipt["proof"], list) and len(receipt["proof"]) <= 64, "no proof")
    wanted(isinstance(receipt["checkpoint"], str) and isinstance(receipt["openings"], list), "no note")
    receipt["proof"] = [strict_base64(item) for item in receipt["proof"]]
    wanted(all(len(item) == 32 for item in receipt["proof"]), "a proof has hashes of 32 bytes")


def field_at(value, pointer):
    wanted(isinstance(pointer, str) and pointer.startswith("/"), "a path is a JSON Pointer")
    for part in pointer[1:].split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list) and part.isascii() and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            wanted(isinstance(value, dict) and part in value, f"{pointer} points at nothing")
            value = value[part]
    return value


def check_opening(entry, opening):
    wanted(isinstance(opening, dict) and set(opening) == {"path", "form", "salt", "value"},
           "an opening has four members")
    salt = strict_base64(opening["salt"])
    wanted(len(salt) == 32 and opening["form"] in ("json", "raw"), "a malformed opening")
    if opening["form"] == "json":
        form, value = b"j", canonical(opening["value"]).encode()
    else:
        form, value = b"r", strict_base64(opening["value"])
    digest = hashlib.sha256(b"sallyport/field/v1\n" + form + salt + value).hexdigest()
    wanted(field_at(entry, opening["path"]) == {"$sealed": "sha256:" + digest},
           f"the opening of {opening['path']} does not match")


def check_meaning(entry):
    for name in REPEATED:
        inner, outer = entry["body"].get(name), entry.get(name)
        if name == "outcome" and isinstance(inner, dict):
            inner = inner.get("kind")
        if inner is not None and outer is not None and type(inner) is type(outer):
            wanted(inner == outer, f"{name} of entry and body differ")


def verify(data, key):
    """Yields the name of each step before the step runs."""
    yield "form"
    receipt = parse(data)
    check_form(receipt)
    entry = receipt["entry"]
    yield "signature"
    origin, size, root = open_checkpoint(receipt["checkpoint"].encode(), key)
    yield "origin"
    wanted(origin == key.name, "the checkpoint is of another origin")
    yield "size"
    wanted(size == receipt["tree_size"], "tree_size is not the checkpoint's")
    yield "position"
    wanted(receipt["leaf_index"] == entry["sequence"] < size, "the entry is at another place")
    yield "inclusion"
    leaf = leaf_hash(canonical(entry).encode())
    wanted(root_by_proof(receipt["leaf_index"], size, leaf, receipt["proof"]) == root,
           "the proof does not lead to the signed root")
    yield "opening"
    for opening in receipt["openings"]:
        check_opening(entry, opening)
    yield "meaning"
    check_meaning(entry)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("file")
    parser.add_argument("--key", required=True, help="name+hash+base64")
    options = parser.parse_args()
    step = "key"
    try:
        key = VerifierKey(options.key)
        with open(options.file, "rb") as file:
            data = file.read(LIMIT + 1)
        for step in verify(data, key):
            pass
    except (Refused, OSError) as refusal:
        print(json.dumps({"ok": False, "step": step, "detail": str(refusal)}))
        return 1
    print(json.dumps({"ok": True, "step": step}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
