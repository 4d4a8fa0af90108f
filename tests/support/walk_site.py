"""A generated site for random walks. Each document has a unique number and logs every input event to the
server.

Each element's accessible name contains the number of its document, so a name identifies one element of one
document. Documents log with synchronous requests: the server has an event before the page acts on it.
"""

from __future__ import annotations

import http.server
import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import attrs

PAGES = 6
"""Number of pages of the site.

Every third one is `no-store`, so Chrome never keeps it in the back-forward cache.
"""

SCRIPT = """
const send = (entry) => {
  const request = new XMLHttpRequest();
  request.open("POST", "/log", false);
  request.send(JSON.stringify({ document: NUMBER, trusted: true, ...entry }));
};
const nameOf = (element) => element.closest?.("[data-name]")?.dataset.name ?? element.nodeName;
for (const type of ["click", "auxclick", "input", "change"]) {
  addEventListener(type, (event) => {
    send({ type, trusted: event.isTrusted, name: nameOf(event.composedPath()[0]) });
  }, true);
}
let shown = 0;
const show = (kind) => {
  const message = `${kind} ${++shown} of document NUMBER`;
  send({ type: "dialog", name: message });
  window[kind](message);
};
const rename = () => {
  const item = document.querySelector("#item");
  item.textContent = item.dataset.name = `item ${++shown} of ${NUMBER}`;
};
const addFrame = () => {
  const frame = document.createElement("iframe");
  frame.src = "/frame/0";
  document.body.append(frame);
};
"""

BUTTONS = {
    "count": "this.nextSibling.textContent = ++shown",
    "alert": "show('alert')",
    "late confirm": "setTimeout(() => show('confirm'), 30)",
    "open": "window.open('/page/1')",
    "rename": "rename()",
    "push": "history.pushState(null, '', '/page/pushed' + ++shown)",
    "add frame": "addFrame()",
    "remove frame": "document.querySelector('iframe')?.remove()",
    "move frame": "const f = document.querySelector('iframe'); if (f) f.src = OTHER + '/frame/1'",
}


@attrs.frozen
class Logged:
    """One event that a document reported. `name` identifies the element, or is a dialog's message."""

    document: int
    type: str
    name: str
    trusted: bool = True


class WalkSite:
    """The site on two hosts of loopback.

    `log` has the events of all documents, `served` their titles by number.
    """

    def __init__(self, port: int) -> None:
        self.near = f"http://127.0.0.1:{port}"
        self.far = f"http://localhost:{port}"
        self.log: list[Logged] = []
        self.served: dict[int, str] = {}
        self.downloads = 0
        self._numbers = itertools.count(1)

    def answer(self, method: str, path: str, host: str, body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the response."""
        parts = path.partition("?")[0].strip("/").split("/")
        if parts[0] == "log":
            self.log.append(Logged(**json.loads(body)))
            return 204, {}, b""
        if parts[0] == "file":
            self.downloads += 1
            headers = {"Content-Type": "application/octet-stream", "Content-Disposition": "attachment"}
            return 200, headers, b"some bytes"
        if method == "POST":
            return 303, {"Location": f"/page/{(int(parts[1]) + 1) % PAGES}"}, b""
        number = next(self._numbers)
        page = int(parts[1]) if parts[1:] and parts[1].isdigit() else 0
        other = self.far if host.startswith("127") else self.near
        html = self._frame(number) if parts[0] == "frame" else self._page(page, number, other)
        headers = {"Content-Type": "text/html; charset=utf-8"}
        if page % 3 == 2:
            headers["Cache-Control"] = "no-store"
        return 200, headers, html.encode()

    def _head(self, title: str, number: int, other: str = "") -> str:
        self.served[number] = title
        script = SCRIPT.replace("NUMBER", str(number))
        return (
            f'<!doctype html><title>{title}</title><link rel=icon href="data:,">'
            f"<script>const OTHER = {other!r};{script}</script>"
        )

    def _frame(self, number: int) -> str:
        button = _button(number, "inner", "shown++")
        return self._head(f"frame, document {number}", number) + button + _field(number, "inner field")

    def _page(self, page: int, number: int, other: str) -> str:
        following = f"/page/{(page + 1) % PAGES}"
        links = (
            _link(number, "next", following),
            _link(number, "elsewhere", f"{other}/page/{(page + 2) % PAGES}"),
            _link(number, "new tab", following, "target=_blank"),
            _link(number, "fragment", "#here"),
            _link(number, "save", "/file"),
        )
        buttons = "".join(_button(number, word, script) for word, script in BUTTONS.items())
        frame = "" if page % 3 == 2 else f'<iframe src="{other if page % 3 else ""}/frame/{page}"></iframe>'
        form = (
            f'<form action="/page/{page}" method={"post" if page % 2 else "get"}>'
            f"{_field(number, 'field')}{_button(number, 'send', '', 'submit')}</form>"
            f'<label data-name="choice {number}"><input type=checkbox hidden data-name="choice {number}">'
            f"choice {number}</label>"
        )
        item = f'<button id=item data-name="item 0 of {number}">item 0 of {number}</button>'
        title = f"page {page}, document {number}"
        return self._head(title, number, other) + "".join(links) + buttons + item + form + frame


def _link(number: int, word: str, href: str, more: str = "") -> str:
    return f'<p><a href="{href}" {more} data-name="{word} {number}">{word} {number}</a></p>'


def _button(number: int, word: str, script: str, kind: str = "button") -> str:
    name = f"{word} {number}"
    return f'<button type={kind} data-name="{name}" onclick="{script}">{name}</button><i></i>'


def _field(number: int, word: str) -> str:
    return f'<label>{word} {number} <input data-name="{word} {number}"></label>'


@contextmanager
def serve_walk_site() -> Iterator[WalkSite]:
    """Serve the site in a separate thread until the block ends."""
    site: WalkSite

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def respond(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, headers, body = site.answer(self.command, self.path, self.headers.get("host", ""), sent)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = respond  # noqa: N815 - names that the standard library gives

        def log_message(self, *_: Any) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            """Ignore connections of a killed browser."""

    server = Server(("127.0.0.1", 0), Handler)
    site = WalkSite(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
