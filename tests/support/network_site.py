"""A small site for tests of the network: it echoes requests in its responses and remembers them."""

from __future__ import annotations

import base64
import json
import re
import threading

import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine

PAGE = "<!doctype html><title>t</title><script>self.own = typeof self.early</script>"

ASK = """async (path, init) => {
    try {
        const reply = await fetch(path, init);
        return [reply.status, await reply.text(), reply.headers.get("x-made")];
    } catch (error) {
        return String(error);
    }
}"""
"""Fetch in the page and return status, text and the header X-Made, or the error."""

REFUSED = "TypeError: Failed to fetch"

WORKER = "onmessage = async (event) => postMessage(await (await fetch(event.data)).text());"

ASK_IN_WORKER = """(path) => new Promise((resolve) => {
    const worker = new Worker("/worker.js");
    worker.onmessage = (event) => resolve(event.data);
    worker.onerror = () => resolve("failed");
    worker.postMessage(path);
})"""


class Site:
    """Pages at "/", "/page...". "/echo..." responds with its method, path, request body and X-Extra.

    "/slow..." responds when a test releases it.
    """

    def __init__(self, server: HTTPServer) -> None:
        self.url = server.url_for("/")
        self.elsewhere = self.url.replace("127.0.0.1", "localhost")
        self.requested: list[str] = []
        server.expect_request("/worker.js").respond_with_data(WORKER, content_type="text/javascript")
        server.expect_request("/redirect").respond_with_data(
            "", status=302, headers={"Location": "/echo/redirected"}
        )
        self._slow = threading.Event()
        for path in ("/echo", "/secret", "/"):
            server.expect_request(_below(path)).respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.requested.append(request.path)
        if request.path.startswith("/slow"):
            self._slow.wait(20)
        if request.path.startswith("/secret") and not _allowed(request):
            return Response("who?", 401, {"WWW-Authenticate": 'Basic realm="r"'})
        if request.path.startswith(("/echo", "/secret")):
            echoed = [
                request.method,
                request.path,
                request.get_data(as_text=True),
                request.headers.get("X-Extra"),
            ]
            headers = {"Access-Control-Allow-Origin": "*"}
            return Response(json.dumps(echoed), 200, headers, content_type="application/json")
        return Response(PAGE, content_type="text/html")

    async def slow_requested(self) -> None:
        """Wait until the server has received a request for "/slow...".

        `let_slow_go` releases the response.
        """
        with trio.fail_after(10):
            while not any(path.startswith("/slow") for path in self.requested):  # noqa: ASYNC110 - another thread
                await trio.sleep(0.01)
        self.requested.clear()

    def let_slow_go(self) -> None:
        slow, self._slow = self._slow, threading.Event()
        slow.set()


def _below(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path) + ".*")


def _allowed(request: Request) -> bool:
    return request.headers.get("Authorization") == "Basic " + base64.b64encode(b"ada:s3cret").decode()


async def ask(page: cdpengine.Page, path: str, **init: object) -> object:
    return await page.evaluate(ASK, path, dict(init), timeout=20)


def echo(path: str, *, method: str = "GET", posted: str = "", extra: str | None = None) -> str:
    return json.dumps([method, path, posted, extra])
