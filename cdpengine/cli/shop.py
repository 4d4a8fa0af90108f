"""The demo's web server: a small shop page of our own, on loopback, at a port that is free.

Rule: it serves the files of demo_site/ and nothing else, and it ends with its `with` block.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

FILES = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/shop.css": ("shop.css", "text/css; charset=utf-8"),
    "/shop.js": ("shop.js", "text/javascript; charset=utf-8"),
}

SHUTDOWN_POLL = 0.02
"""Seconds between two looks at whether to stop: the longest that leaving the block waits for the server."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer with one of the files, or 404."""
        found = FILES.get(self.path)
        if found is None:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        name, content_type = found
        body = files("cdpengine.cli").joinpath("demo_site", name).read_bytes()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name is http.server's
        """Stay silent: the demo's own steps are what is to be read."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a browser that left before it had its answer; a closed tab does that."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def serve_shop() -> Iterator[str]:
    """Serve the shop while the body runs; gives its URL."""
    with _Server(("127.0.0.1", 0), _Handler) as server:
        thread = threading.Thread(
            target=server.serve_forever, args=(SHUTDOWN_POLL,), name="demo shop", daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()
