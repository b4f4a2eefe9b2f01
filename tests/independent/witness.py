#!/usr/bin/env python3
"""A witness of transparency logs, from the public texts of tlog-witness, tlog-cosignature and
tlog-checkpoint alone.

    witness.py NAME LOG-VKEY...        serves on a free port of this machine, until it is stopped

Prints its verifier key and its URL. Shares no code with the product; Ed25519 is left to `openssl`.
"""
import base64
import hashlib
import http.server
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time

from signed_note import Refused, VerifierKey, node_hash, open_checkpoint, strict_base64

SIZE_TYPE = "text/x.tlog.size"
EMPTY_ROOT = hashlib.sha256(b"").digest()


def run_openssl(*arguments, **files):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        return subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True).stdout


def is_consistent(old_size, old_root, new_size, new_root, proof):
    """RFC 9162 2.1.4.2; size 0 is consistent with every tree and has no proof."""
    if old_size == 0 or old_size == new_size:
        return not proof and (old_size == 0 or old_root == new_root)
    path = list(proof)
    if old_size & (old_size - 1) == 0:
        path.insert(0, old_root)
    if not path:
        return False
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    first = second = path[0]
    for value in path[1:]:
        if last == 0:
            return False
        if node & 1 or node == last:
            first, second = node_hash(value, first), node_hash(value, second)
            while node and not node & 1:
                node, last = node >> 1, last >> 1
        else:
            second = node_hash(second, value)
        node, last = node >> 1, last >> 1
    return last == 0 and first == old_root and second == new_root


class Witness:
    """Keeps the newest tree of each log and cosigns its consistent successors."""

    def __init__(self, name, seed=b"\x01" * 32):
        self.name = name
        self.private = bytes.fromhex("302e020100300506032b657004220420") + seed
        public = run_openssl("pkey", "-in", "key", "-inform", "DER", "-pubout", "-outform", "DER", key=self.private)[-32:]
        typed = b"\x04" + public
        self.key_id = hashlib.sha256(name.encode() + b"\n" + typed).digest()[:4]
        self.vkey = f"{name}+{self.key_id.hex()}+{base64.b64encode(typed).decode()}"
        self.logs = {}  # by origin: keys
        self.seen = {}  # by origin: size, root
        self.lock = threading.Lock()

    def trust(self, vkey):
        key = VerifierKey(vkey)
        self.logs.setdefault(key.name, []).append(key)

    def cosignature(self, text, when=None):
        when = int(time.time()) if when is None else when
        message = f"cosignature/v1\ntime {when}\n{text}".encode()
        signature = run_openssl("pkeyutl", "-sign", "-keyform", "DER", "-rawin", "-inkey", "key", "-in", "message",
                                key=self.private, message=message)
        line = base64.b64encode(self.key_id + when.to_bytes(8, "big") + signature).decode()
        return f"\u2014 {self.name} {line}\n"

    def add_checkpoint(self, body):
        """Returns status, content type and text of the answer."""
        try:
            old_size, proof, note = self.read_request(body)
            text = note[:note.rindex("\n\n") + 1]
            origin = text.split("\n", 1)[0]
        except (Refused, ValueError) as error:
            return 400, "text/plain", f"{error}\n"
        if origin not in self.logs:
            return 404, "text/plain", "unknown log\n"
        for key in self.logs[origin]:
            try:
                _, size, root = open_checkpoint(note.encode(), key)
                break
            except Refused as error:
                why = error
        else:
            return 403, "text/plain", f"{why}\n"
        with self.lock:
            return self.judge(origin, old_size, proof, size, root, text)

    def judge(self, origin, old_size, proof, size, root, text):
        if old_size > size:
            return 400, "text/plain", "the old size is above the new one\n"
        known_size, known_root = self.seen.get(origin, (0, EMPTY_ROOT))
        if old_size != known_size:
            return 409, SIZE_TYPE, f"{known_size}\n"
        if size == 0 and root != EMPTY_ROOT or not is_consistent(old_size, known_root, size, root, proof):
            return 422, "text/plain", "the tree does not continue what was seen\n"
        self.seen[origin] = (size, root)
        return 200, "text/plain; charset=utf-8", self.cosignature(text)

    @staticmethod
    def read_request(body):
        text = body.decode("utf-8")
        head, empty, note = text.partition("\n\n")
        if not empty:
            raise Refused("no empty line behind the proof")
        first, *hashes = head.split("\n")
        word, _, digits = first.partition(" ")
        if word != "old" or not digits.isascii() or not digits.isdigit() or str(int(digits)) != digits:
            raise Refused("the first line is not `old` and a size")
        if len(hashes) > 63:
            raise Refused("more than 63 proof lines")
        proof = [strict_base64(line) for line in hashes]
        if any(len(value) != 32 for value in proof):
            raise Refused("a proof line is no hash")
        return int(digits), proof, note


class WitnessServer:
    """A witness behind HTTP on this machine. If `answer` is set, every request gets that answer."""

    def __init__(self, witness, port=0):
        self.witness, self.requests, self.answer, self.delay, self.links = witness, [], None, 0, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                outer.links.append(self.connection)

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                time.sleep(outer.delay)
                if not self.path.endswith("/add-checkpoint"):
                    status, kind, text = 404, "text/plain", "nothing is here\n"
                else:
                    status, kind, text = outer.answer or outer.witness.add_checkpoint(body)
                outer.requests.append((time.monotonic(), status, body.decode()))
                data = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client may disconnect at any time
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_port
        self.url = f"http://127.0.0.1:{self.port}/witness"

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
        for link in self.links:  # a client may keep its connection
            try:
                link.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def main():
    witness = Witness(sys.argv[1], os.urandom(32))
    for vkey in sys.argv[2:]:
        witness.trust(vkey)
    server = WitnessServer(witness)
    print(f"witness {witness.name.replace('/', '-')} {witness.vkey} {server.url}", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
