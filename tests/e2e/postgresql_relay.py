"""A relay between a gateway and PostgreSQL. It passes, holds or cuts the traffic, or distributes transactions over
several connections as a pooler does."""
import os
import pathlib
import queue
import socket
import struct
import tempfile
import threading
import time

CANCEL, SSL, GSS = 80877102, 80877103, 80877104


class Relay:
    """A Unix socket in front of a server's socket. `hold` simulates a network that loses everything."""

    def __init__(self, server):
        self.to = str(server.folder / ".s.PGSQL.5432")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sallyport-relay-"))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.folder / ".s.PGSQL.5432"))
        os.chmod(self.folder / ".s.PGSQL.5432", 0o777)
        os.chmod(self.folder, 0o755)
        self.listener.listen(64)
        self.open = threading.Event()
        self.open.set()
        self.pairs = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.open.wait()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.to)
        except OSError:
            client.close()
            return
        self.pairs.append((client, server))
        for source, target in ((client, server), (server, client)):
            threading.Thread(target=self.pump, args=(source, target), daemon=True).start()

    def pump(self, source, target):
        try:
            while data := source.recv(65536):
                self.open.wait()
                target.sendall(data)
        except OSError:
            pass
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def hold(self):
        self.open.clear()

    def release(self):
        self.open.set()

    def stop(self):
        self.open.set()
        self.listener.close()
        for pair in self.pairs:
            for each in pair:
                each.close()

    def url(self, url, server):
        return url.replace(str(server.folder), str(self.folder))


class DistantRelay(Relay):
    """A distant server: bytes arrive `seconds` later in both directions, in order."""

    seconds = 0.0

    def pump(self, source, target):
        under_way = queue.Queue()
        threading.Thread(target=self.deliver, args=(under_way, target), daemon=True).start()
        try:
            while data := source.recv(65536):
                under_way.put((time.monotonic() + self.seconds, data))
        except OSError:
            pass
        under_way.put((0, b""))

    @staticmethod
    def deliver(under_way, target):
        while True:
            due, data = under_way.get()
            time.sleep(max(0, due - time.monotonic()))
            try:
                if data:
                    target.sendall(data)
                    continue
                target.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            return


class TransactionPooler(Relay):
    """Each transaction of a client goes to the next of two connections, as with `pool_mode = transaction`."""

    def serve(self, client):
        startup = self.startup(client)
        if startup is None:
            return client.close()
        backends = []
        for _ in range(2):
            backend = socket.socket(socket.AF_UNIX)
            backend.connect(self.to)
            backend.sendall(startup)
            greeting = self.until_ready(backend)
            backends.append(backend)
        try:
            client.sendall(greeting)
            self.hand_out(client, backends)
        except OSError:
            pass  # the client has disconnected
        for each in (client, *backends):
            each.close()

    def hand_out(self, client, backends):
        turn, pending = 0, b""
        while data := client.recv(65536):
            batch, pending = self.whole_batch(pending + data)
            while batch:
                backend = backends[turn % 2]
                turn += 1
                backend.sendall(batch)
                client.sendall(self.until_ready(backend))
                batch, pending = self.whole_batch(pending)

    @staticmethod
    def startup(client):
        while True:
            head = client.recv(8, socket.MSG_WAITALL)
            if len(head) < 8:
                return None
            length, code = struct.unpack("!II", head)
            if code in (SSL, GSS):
                client.sendall(b"N")
                continue
            if code == CANCEL:
                return None
            return head + client.recv(length - 8, socket.MSG_WAITALL)

    @staticmethod
    def until_ready(backend):
        """Returns everything up to ReadyForQuery."""
        said = b""
        while True:
            head = backend.recv(5, socket.MSG_WAITALL)
            if len(head) < 5:
                return said
            said += head
            length = struct.unpack("!I", head[1:])[0] - 4
            if length:
                said += backend.recv(length, socket.MSG_WAITALL)
            if head[:1] == b"Z":
                return said

    @staticmethod
    def whole_batch(pending):
        """Returns the bytes up to the first Sync, and the rest."""
        at = end = 0
        while len(pending) - at >= 5:
            length = 1 + struct.unpack("!I", pending[at + 1:at + 5])[0]
            if len(pending) - at < length:
                break
            kind = pending[at:at + 1]
            at += length
            if kind in (b"S", b"Q", b"X"):
                end = at
                break
        return pending[:end], pending[end:]
