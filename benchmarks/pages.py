"""The pages that benchmarks run on, and a server on loopback for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def rows(count: int) -> str:
    """Return a page of rows of link, text, button and checkbox: 16 accessibility nodes a row."""
    line = (
        '<li><a href="/item/{0}">Item {0}</a> <span>In stock: {0} pieces</span> <button>Buy {0}</button>'
        ' <label><input type="checkbox"> Compare {0}</label></li>'
    )
    return "<h1>Stock</h1><ul>" + "".join(line.format(number) for number in range(count)) + "</ul>"


def fragment_links(count: int) -> str:
    """Return a page of links to its own fragments: they make Chrome's accessibility tree quadratic."""
    return "".join(f'<p><a href="#part{number}">Part {number}</a></p>' for number in range(count))


def frames(count: int) -> str:
    """Return a page of frames with ten rows each."""
    return "<h1>Frames</h1>" + '<iframe src="/rows/10" title="part"></iframe>' * count


_KINDS = {"rows": rows, "fragments": fragment_links, "frames": frames}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        kind, _, count = self.path.strip("/").partition("/")
        make = _KINDS.get(kind)
        body = b"" if make is None else f"<!doctype html><title>{kind}</title>{make(int(count))}".encode()
        self.send_response(404 if make is None else 200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name for it
        """Say nothing."""


@contextmanager
def serve() -> Iterator[str]:
    """Serve `/rows/N`, `/fragments/N` and `/frames/N`; gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, name="pages")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
