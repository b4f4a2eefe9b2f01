"""A NATS broker with JetStream on this machine, and a handwritten client."""
import base64
import json
import os
import shutil
import socket
import subprocess
import time

SERVER = shutil.which("nats-server") or next(
    (path for path in ("/usr/sbin/nats-server", "/usr/local/bin/nats-server") if os.access(path, os.X_OK)), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    def __init__(self, folder, port=None):
        self.port, self.folder = port or free_port(), folder
        self.url = f"nats://127.0.0.1:{self.port}"
        self.process = subprocess.Popen(
            [SERVER, "-a", "127.0.0.1", "-p", str(self.port), "-js", "-sd", str(folder)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(20)

    def request(self, subject, body=None):
        """Sends one request and returns its answer, both JSON."""
        with socket.create_connection(("127.0.0.1", self.port), 10) as link:
            stream = link.makefile("rwb")
            stream.readline()  # INFO
            data = json.dumps(body or {}).encode()
            stream.write(b'CONNECT {"verbose":false,"headers":true,"lang":"hand","version":"1"}\r\n'
                         b"SUB answers 1\r\nPUB %s answers %d\r\n%s\r\n" % (subject.encode(), len(data), data))
            stream.flush()
            while True:
                words = stream.readline().split()
                if words[:1] == [b"PING"]:
                    stream.write(b"PONG\r\n")
                    stream.flush()
                elif words[:1] == [b"MSG"]:
                    return json.loads(stream.read(int(words[-1]) + 2)[:-2])

    def add_stream(self, name, subject):
        answer = self.request(f"$JS.API.STREAM.CREATE.{name}", {"name": name, "subjects": [subject], "storage": "file"})
        assert "error" not in answer, answer

    def count(self, name):
        answer = self.request(f"$JS.API.STREAM.INFO.{name}")
        return answer.get("state", {}).get("messages", 0)

    def messages(self, name):
        """Returns subject, headers and body of each message, in order."""
        found = []
        for sequence in range(1, self.count(name) + 1):
            message = self.request(f"$JS.API.STREAM.MSG.GET.{name}", {"seq": sequence})["message"]
            lines = base64.b64decode(message["hdrs"]).decode().split("\r\n")[1:]
            headers = dict(line.split(": ", 1) if ": " in line else line.split(":", 1) for line in lines if line)
            found.append((message["subject"], headers, base64.b64decode(message["data"]).decode()))
        return found
