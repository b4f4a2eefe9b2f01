"""Checkpoints as signed notes, from the public texts of signed-note and tlog-checkpoint alone.

Shares no code with the product. Ed25519 is left to the `openssl` command.
"""
import base64
import binascii
import hashlib
import os
import subprocess
import tempfile


class Refused(Exception):
    """The input is invalid; the text gives the reason."""


def strict_base64(text):
    if not isinstance(text, str):
        raise Refused("not base64: not a string")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(f"not base64: {error}") from None
    # Python accepts set bits after the end; another encoder would not have written them.
    if base64.b64encode(data).decode() != text:
        raise Refused("base64 is not in its one canonical form")
    return data


class VerifierKey:
    def __init__(self, text):
        parts = text.strip().split("+", 2)
        if len(parts) != 3:
            raise Refused("a verifier key is name+hash+base64")
        self.name, key_id, encoded = parts
        data = strict_base64(encoded)
        if len(data) != 33 or data[0] != 1:
            raise Refused("only Ed25519 verifier keys are known")
        self.key_id = hashlib.sha256(self.name.encode() + b"\n" + data).digest()[:4]
        if self.key_id.hex() != key_id:
            raise Refused("the key id is not that of name and key")
        self.public_key = data[1:]

    def verify(self, message, signature):
        # SubjectPublicKeyInfo: SEQUENCE { SEQUENCE { OID 1.3.101.112 }, BIT STRING key }
        info = bytes.fromhex("302a300506032b6570032100") + self.public_key
        with tempfile.TemporaryDirectory() as folder:
            paths = {}
            for name, content in (("key", info), ("message", message), ("signature", signature)):
                paths[name] = os.path.join(folder, name)
                with open(paths[name], "wb") as file:
                    file.write(content)
            command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-rawin",
                       "-inkey", paths["key"], "-in", paths["message"], "-sigfile",
                       paths["signature"]]
            done = subprocess.run(command, capture_output=True, check=False)
        return done.returncode == 0


def open_checkpoint(data, key):
    """Returns (origin, size, root) of a note that `key` has signed."""
    try:
        note = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("a note is UTF-8") from None
    if any(ord(c) < 0x20 and c != "\n" for c in note):
        raise Refused("a note has no control characters")
    split = note.rfind("\n\n")
    if split < 0 or not note.endswith("\n"):
        raise Refused("a note is text, an empty line and signature lines")
    text, signatures = note[:split + 1], note[split + 2:-1].split("\n")
    if len(signatures) > 64:
        raise Refused("more than 64 signatures")
    verified = False
    for line in signatures:
        parts = line.split(" ")
        if len(parts) != 3 or parts[0] != "\u2014" or not parts[1] or "+" in parts[1]:
            raise Refused("a signature line is malformed")
        signature = strict_base64(parts[2])
        if len(signature) < 5:
            raise Refused("a signature is too short")
        if parts[1] != key.name or signature[:4] != key.key_id:
            continue
        if len(signature) != 68 or not key.verify(text.encode(), signature[4:]):
            raise Refused("the signature of the pinned key does not verify")
        verified = True
    if not verified:
        raise Refused("no signature by the pinned key")
    return read_checkpoint(text)


def read_checkpoint(text):
    lines = text.split("\n")
    if len(lines) < 4 or not all(lines[:-1]):
        raise Refused("a checkpoint has three lines that are not empty")
    origin, size, root = lines[:3]
    if not size.isascii() or not size.isdigit() or (size[0] == "0" and size != "0"):
        raise Refused("the tree size is not a plain decimal number")
    digest = strict_base64(root)
    if len(digest) != 32:
        raise Refused("the root hash has 32 bytes")
    return origin, int(size), digest


def leaf_hash(entry):
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left, right):
    return hashlib.sha256(b"\x01" + left + right).digest()


def root_by_proof(index, size, leaf, proof):
    """RFC 9162 2.1.3.2, the same tree as that of RFC 6962."""
    if index >= size:
        raise Refused("the leaf is not in the tree")
    node, last, value = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            raise Refused("the inclusion proof is too long")
        if node & 1 or node == last:
            value = node_hash(sibling, value)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            value = node_hash(value, sibling)
        node, last = node >> 1, last >> 1
    if last:
        raise Refused("the inclusion proof is too short")
    return value
