#!/usr/bin/env python3
"""A client of tlog-tiles folders, written from the public specification alone.

    tlog_reader.py FOLDER --key VKEY

Verifies the checkpoint, reads every tile and every entry bundle, recomputes each level from the one
below, and checks an inclusion proof of each entry that is made from tiles only. Prints
{"ok":..,"size":..} and exits 0, or 1 with the reason in `error`.
"""
import argparse
import json
import pathlib
import sys

from signed_note import (Refused, VerifierKey, leaf_hash, node_hash, open_checkpoint, root_by_proof)

WIDTH = 256
HASH = 32


def tile_path(level, number, width):
    parts = [f"{number % 1000:03d}"]
    while number >= 1000:
        number //= 1000
        parts.insert(0, f"x{number % 1000:03d}")
    path = f"tile/{level}/" + "/".join(parts)
    return path if width == WIDTH else f"{path}.p/{width}"


def tree_hash(hashes):
    """MTH of RFC 6962 over leaf hashes."""
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return node_hash(tree_hash(hashes[:split]), tree_hash(hashes[split:]))


class Log:
    def __init__(self, folder, key):
        self.folder = pathlib.Path(folder)
        self.origin, self.size, self.root = open_checkpoint(self.fetch("checkpoint"), key)
        if self.origin != key.name:
            raise Refused("the checkpoint is of another origin")
        self.levels = []
        self.entries = 0
        self.cache = {}

    def fetch(self, name):
        try:
            return (self.folder / name).read_bytes()
        except OSError as error:
            raise Refused(f"{name}: {error.strerror}") from None

    def tiles(self, level, count):
        for begin in range(0, count, WIDTH):
            width = min(WIDTH, count - begin)
            yield begin, width, self.fetch(tile_path(level, begin // WIDTH, width))

    def read_hashes(self):
        count, level = self.size, 0
        while count:
            hashes = []
            for begin, width, data in self.tiles(level, count):
                if len(data) != width * HASH:
                    raise Refused(f"{tile_path(level, begin // WIDTH, width)} has {len(data)} bytes")
                hashes += [data[i:i + HASH] for i in range(0, len(data), HASH)]
            self.levels.append(hashes)
            count, level = count // WIDTH, level + 1

    def check_entries(self):
        for begin, width, data in self.tiles("entries", self.size):
            at = 0
            for index in range(begin, begin + width):
                length = int.from_bytes(data[at:at + 2], "big")
                entry = data[at + 2:at + 2 + length]
                if at + 2 > len(data) or len(entry) != length:
                    raise Refused(f"the bundle of entry {index} is cut off")
                if leaf_hash(entry) != self.levels[0][index]:
                    raise Refused(f"entry {index} does not hash to its leaf")
                at += 2 + length
                self.entries += 1
            if at != len(data):
                raise Refused(f"the bundle from entry {begin} has bytes left over")

    def check_levels(self):
        for level in range(1, len(self.levels)):
            below = self.levels[level - 1]
            for index, value in enumerate(self.levels[level]):
                if tree_hash(below[index * WIDTH:(index + 1) * WIDTH]) != value:
                    raise Refused(f"hash {index} of level {level} is not that of its tile")

    def subtree(self, begin, end):
        """MTH(D[begin:end]) from the largest tile hashes that lie completely inside."""
        if (begin, end) in self.cache:
            return self.cache[begin, end]
        size = end - begin
        level, span = 0, 1
        while span < size:
            level, span = level + 1, span * WIDTH
        if span == size and begin % span == 0:
            value = self.levels[level][begin // span]
        else:
            split = 1
            while split * 2 < size:
                split *= 2
            value = node_hash(self.subtree(begin, begin + split), self.subtree(begin + split, end))
        self.cache[begin, end] = value
        return value

    def proof(self, index):
        begin, end, path = 0, self.size, []
        while end - begin > 1:
            split = 1
            while split * 2 < end - begin:
                split *= 2
            middle = begin + split
            if index < middle:
                path.append(self.subtree(middle, end))
                end = middle
            else:
                path.append(self.subtree(begin, middle))
                begin = middle
        return path[::-1]

    def verify(self):
        if self.size == 0:
            raise Refused("the log is empty")
        self.read_hashes()
        self.check_levels()
        self.check_entries()
        if self.subtree(0, self.size) != self.root:
            raise Refused("the tiles do not lead to the signed root")
        for index in range(self.size):
            leaf = self.levels[0][index]
            if root_by_proof(index, self.size, leaf, self.proof(index)) != self.root:
                raise Refused(f"the inclusion proof of entry {index} fails")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder")
    parser.add_argument("--key", required=True, help="name+hash+base64")
    options = parser.parse_args()
    try:
        log = Log(options.folder, VerifierKey(options.key))
        log.verify()
    except Refused as refusal:
        print(json.dumps({"ok": False, "size": 0, "error": str(refusal)}))
        return 1
    print(json.dumps({"ok": True, "size": log.size, "origin": log.origin}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
