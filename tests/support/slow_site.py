"""A site with slow documents, for tests of the time between an action and the server's response."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

DELAY = 0.25
"""Response time of the server, in seconds."""

REST = "<button id=b onclick='this.dataset.on = 1'>{0} button</button><input id=i>"
OLD = "<!doctype html><title>old</title>" + REST.format("old")
NEW = "<!doctype html><title>new</title>" + REST.format("new")


class SlowSite:
    """A slow site. `requested` are the requested paths, with the method."""

    def __init__(self, server: HTTPServer) -> None:
        self.server = server
        self.requested: list[str] = []
        self.arrived = threading.Event()
        self.delay = DELAY
        self.start = ""
        server.expect_request("/start").respond_with_handler(
            lambda _request: Response(self.start, content_type="text/html")
        )
        for path, answer in {
            "/slow": lambda: Response(NEW, content_type="text/html"),
            "/redirect": lambda: Response(status=303, headers={"Location": "/slow"}),
            "/late": lambda: Response("<title>late</title>", content_type="text/html"),
            "/none": lambda: Response(status=204),
            "/file": lambda: Response(b"abc", headers={"Content-Disposition": "attachment; filename=a.txt"}),
        }.items():
            server.expect_request(path).respond_with_handler(self._answering(answer))
        server.expect_request("/refresh").respond_with_data(
            "<meta http-equiv=refresh content='0;url=/slow'><title>hop</title>", content_type="text/html"
        )
        server.expect_request("/hop").respond_with_data(
            "<title>hop</title><script>location = '/slow'</script>", content_type="text/html"
        )
        for path in ("/first", "/third", "/pushed"):
            server.expect_request(path).respond_with_data(
                f"<title>{path[1:]}</title>{REST.format(path[1:])}", content_type="text/html"
            )

    def _answering(self, answer: Callable[[], Response]) -> Callable[[Request], Response]:
        def handle(request: Request) -> Response:
            self.requested.append(f"{request.method} {request.path}")
            self.arrived.set()
            time.sleep(self.delay)
            return answer()

        return handle

    def url(self, path: str) -> str:
        return self.server.url_for(path)

    async def show(self, page: cdpengine.Page, html: str) -> None:
        """Show a page with this content, with another page before it in the history."""
        self.start = OLD + html
        await page.goto(self.url("/first"))
        await page.goto(self.url("/start"))
        self.requested.clear()
        self.arrived.clear()

    async def wait_until_requested(self) -> None:
        """Wait until the page has requested one of the slow documents."""
        with trio.fail_after(10):
            await trio.to_thread.run_sync(self.arrived.wait, 9, abandon_on_cancel=True)
