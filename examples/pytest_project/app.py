"""The application under test: a shop with a login, items and orders. Replace it by your own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SITE = Path(__file__).parent / "site"

PAGES = {"/login": "login.html", "/shop": "shop.html", "/shop.js": "shop.js"}
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

Reply = tuple[int, object]


def read_page(name: str) -> str:
    """Return the content of a file of the site."""
    return (SITE / name).read_text("utf-8")


def log_in(body: dict[str, str]) -> Reply:
    """Accept the one customer."""
    if body == {"name": "Ada", "password": "engine"}:
        return 200, {"welcome": body["name"]}
    return 403, {"error": "Unknown name or wrong password"}


def list_items(_body: dict[str, str]) -> Reply:
    """Return the items and their prices."""
    return 200, [{"name": "Apples", "price": 3}, {"name": "Pears", "price": 4}]


def order(body: dict[str, str]) -> Reply:
    """Accept an order."""
    return 201, {"number": 4711, "item": body["item"]}


API: dict[str, Callable[[dict[str, str]], Reply]] = {
    "/api/login": log_in,
    "/api/items": list_items,
    "/api/orders": order,
}


class Shop(BaseHTTPRequestHandler):
    """Serves the pages and the API."""

    def do_GET(self) -> None:
        """Answer with a page, or with the result of the API."""
        name = PAGES.get(self.path)
        if name is not None:
            self.send(200, TYPES[Path(name).suffix], read_page(name))
        else:
            self.call({})

    def do_POST(self) -> None:
        """Answer with the result of the API."""
        self.call(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def call(self, body: dict[str, str]) -> None:
        """Call the API."""
        function = API.get(self.path)
        status, result = (404, {"error": "Not found"}) if function is None else function(body)
        self.send(status, "application/json", json.dumps(result))

    def send(self, status: int, content_type: str, content: str) -> None:
        """Send a response."""
        data = content.encode()
        self.send_response(HTTPStatus(status))
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


@contextmanager
def serve() -> Iterator[str]:
    """Serve the application during the block, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
