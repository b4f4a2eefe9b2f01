"""A hostile server on another port of this machine: it records all requests and serves its own page."""
import http.server
import threading


class Thief:
    def __init__(self, test, page="<!doctype html><title>other</title>"):
        self.heard = []  # (path, headers)
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                owner.heard.append((self.path, dict(self.headers.items())))
                body = page.encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.server.server_close)
        test.addCleanup(self.server.shutdown)
        self.port = self.server.server_address[1]

    def url(self, host):
        return f"http://{host}:{self.port}/"

    def cookies(self):
        return [headers["Cookie"] for _, headers in self.heard if "Cookie" in headers]
