"""SmallProxy: an HTTP proxy on loopback that answers every request itself and remembers the requests."""

from __future__ import annotations

import base64
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler


class SmallProxy(socketserver.ThreadingTCPServer):
    """`requested` are the requested URLs. With `credentials` ("user:password") it requires them."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, name: str, credentials: str | None = None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.name = name
        self.requested: list[str] = []
        self.expected = None if credentials is None else base64.b64encode(credentials.encode()).decode()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: SmallProxy

    def do_GET(self) -> None:
        expected = self.server.expected
        if expected is not None and self.headers.get("Proxy-Authorization") != f"Basic {expected}":
            self._answer(407, b"who are you?", ("Proxy-Authenticate", 'Basic realm="small"'))
            return
        self.server.requested.append(self.path)
        self._answer(200, f"<title>by {self.server.name}</title>".encode())

    def do_CONNECT(self) -> None:
        self.server.requested.append(self.path)
        self._answer(502, b"no tunnels")

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Type", "text/html"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        """Log nothing."""


@contextmanager
def small_proxy(name: str, credentials: str | None = None) -> Iterator[SmallProxy]:
    """Run a proxy for a block."""
    with SmallProxy(name, credentials) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()
