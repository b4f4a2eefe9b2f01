"""Drives the program under test for the fault tests."""

import json
import os
import pathlib
import subprocess

WRITER = os.environ.get("LEDGER_WRITER", "build/dev/bin/ledger_writer")
PRODUCT = os.environ.get("SALLYPORT_BIN", "")


def verify(folder):
    """Returns the report on the whole ledger; the product itself makes it if it is built."""
    if PRODUCT and os.access(PRODUCT, os.X_OK):
        command = [PRODUCT, "ledger", "verify", "--data-dir", str(folder), "--json"]
    else:
        command = [WRITER, str(folder), "--verify"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    report = json.loads(done.stdout or "{}")
    report["exit"] = done.returncode
    report["stderr"] = done.stderr
    return report


def entries(folder):
    """Sequence by id, of every entry."""
    done = subprocess.run(
        [WRITER, str(folder), "--list"], capture_output=True, text=True, timeout=300, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    found = {key: int(sequence) for key, sequence in lines}
    assert len(found) == len(lines), "an id stands twice"
    return found


class Acknowledged:
    """The ids that one writer reported as durable; it writes them to a file that outlives it."""

    def __init__(self, file):
        self.file = pathlib.Path(file)

    def read(self):
        ids = {}
        complaints = []
        text = self.file.read_text()
        for line in text[: text.rfind("\n") + 1].splitlines():
            if line.startswith("{"):
                complaints.append(line)
            else:
                key, sequence = line.split()
                ids[key] = int(sequence)
        return ids, complaints


def start_writing(folder, output, threads, count=0):
    with open(output, "wb") as out:
        process = subprocess.Popen(
            [WRITER, str(folder), "--threads", str(threads), "--count", str(count)], stdout=out
        )
    return process, Acknowledged(output)


class Commanded:
    """A writer that keeps running and executes commands."""

    def __init__(self, folder, *options, **more):
        self.process = subprocess.Popen(
            [WRITER, str(folder), "--commands", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            **more,
        )
        self.opened = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"ok": False, "cause": "gone"}

    def do(self, command):
        self.process.stdin.write(command + "\n")
        return self.answer()

    def close(self):
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass  # the process has ended by itself; its answers give the reason
        self.process.wait(timeout=60)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
