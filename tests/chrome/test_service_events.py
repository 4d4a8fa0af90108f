"""Events of a session over HTTP: page events, reconnects, stalled readers, and every ending."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
import trio
import trio.testing
from busy_machine import slack
from pytest_httpserver import HTTPServer

from cdpengine.service.serving import Listening, serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

TOKEN = "the-token-of-the-tests"
PAGE = """<!doctype html><title>Busy</title><link rel=icon href="data:,"><button id=go onclick="act()">Go</button>
<a id=save href="/file" download>Save</a><script>
function act() {
  console.warn("careful"); setTimeout(() => { throw new TypeError("not ready") });
  fetch("/data"); confirm("Sure?"); history.pushState({}, "", "#there"); open("/other");
}</script>"""

FLOOD = """new Promise((done) => {
  let n = 0;
  const go = () => { for (let i = 0; i < 100; i++) console.log("x".repeat(10000) + n++); n < 2000 ? setTimeout(go) : done(n) };
  go();
})"""


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    for path, html in (("/page", PAGE), ("/other", "<title>Other</title><link rel=icon href='data:,'>")):
        httpserver.expect_request(path).respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/data").respond_with_data("[]", content_type="application/json")
    httpserver.expect_request("/file").respond_with_data(
        "hello", headers={"Content-Disposition": 'attachment; filename="file.txt"'}
    )
    return httpserver.url_for("").rstrip("/")


def number_of(event_id: str) -> int:
    return int(event_id.partition("-")[2])


class Listener:
    """A client on its own socket that reads events, or does not."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.last_id = ""
        self.status = 0
        self._read = b""

    async def ask(self, path: str, last_id: str) -> None:
        port = self.stream.socket.getpeername()[1]
        again = f"Last-Event-ID: {last_id}\r\n" if last_id else ""
        head = (
            f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {TOKEN}\r\n{again}\r\n"
        )
        await self.stream.send_all(head.encode())
        headers = await self._block(b"\r\n\r\n")
        assert headers is not None
        self.status = int(headers.split()[1])
        assert self.status != 200 or b"content-type: text/event-stream" in headers

    async def _block(self, end: bytes) -> bytes | None:
        while end not in self._read:
            got = await self.stream.receive_some()
            if not got:
                return None
            self._read += got
        block, _, self._read = self._read.partition(end)
        return block

    async def read(self, until: Callable[[], bool] = lambda: False) -> None:
        """Read to the end, or until a condition holds. Each event follows the one before, or reports the
        number of lost ones.
        """
        while not until() and (block := await self._block(b"\n\n")) is not None:
            fields = dict(line.split(": ", 1) for line in block.decode().splitlines())
            before, self.last_id = self.last_id, fields["id"]
            if "data" not in fields:
                continue
            name, data = fields["event"], json.loads(fields["data"])
            self.events.append((name, data))
            if before and name != "end" and not self.filtered:
                missing = data["count"] if name == "lost" and "targetId" not in data else 1
                assert number_of(self.last_id) == number_of(before) + missing, (
                    before,
                    self.last_id,
                    name,
                    data,
                )

    filtered = False

    def has(self, name: str, count: int = 1, **fields: Any) -> bool:
        found = [data for each, data in self.events if each == name and fields.items() <= data.items()]
        return len(found) >= count

    @property
    def end(self) -> str:
        name, data = self.events[-1]
        assert name == "end", self.events[-3:]
        assert data["message"]
        return str(data["reason"])


class Client:
    def __init__(self, listening: Listening, http: httpx.AsyncClient) -> None:
        self.listening, self.http = listening, http

    async def act(self, **request: Any) -> dict[str, Any]:
        session = request.pop("session", "default")
        answer: dict[str, Any] = (
            await self.http.post("/act", json=request, params={"session": session})
        ).json()
        assert answer["ok"], answer
        return answer

    @asynccontextmanager
    async def listen(self, last_id: str = "", **params: str) -> AsyncIterator[Listener]:
        port = int(self.listening.url.rpartition(":")[2])
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            listener = Listener(stream)
            listener.filtered = "events" in params or "targetId" in params
            await listener.ask(f"/events?{urlencode(params)}", last_id)
            yield listener


@asynccontextmanager
async def running(**settings: Any) -> AsyncIterator[Client]:
    policy = UrlPolicy(allow_private=True)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        serve(ServiceSettings(token=TOKEN, url_policy=policy, **settings)) as listening,
        httpx.AsyncClient(base_url=listening.url, headers=headers, timeout=60) as http,
    ):
        yield Client(listening, http)


async def test_events_are_live_and_reconnecting_client_misses_none(
    site: str,
) -> None:
    async with running(heartbeat=0.2) as client:
        async with client.listen() as listener:
            opened = await client.act(kind="newTab", url=f"{site}/page")
            page = opened["targetId"]
            await client.act(kind="click", selector="#go")
            with trio.fail_after(slack(10)):
                await listener.read(
                    lambda: (
                        listener.has("requestEnded", url=f"{site}/data")
                        and listener.has("navigation", url=f"{site}/other")
                        and listener.has("pageError")
                    )
                )
        expected: list[tuple[str, dict[str, Any]]] = [
            ("pageOpened", {"targetId": page}),
            ("navigation", {"targetId": page, "url": f"{site}/page", "sameDocument": False}),
            ("request", {"targetId": page, "url": f"{site}/page", "type": "Document", "method": "GET"}),
            ("response", {"targetId": page, "url": f"{site}/page", "status": 200}),
            ("console", {"targetId": page, "level": "warning", "text": "careful"}),
            ("pageError", {"targetId": page, "text": "TypeError: not ready"}),
            ("request", {"targetId": page, "url": f"{site}/data", "type": "Fetch"}),
            ("dialog", {"targetId": page, "type": "confirm", "text": "Sure?"}),
            ("dialogClosed", {"targetId": page, "accepted": False}),
            ("navigation", {"targetId": page, "url": f"{site}/page#there", "sameDocument": True}),
            ("pageOpened", {"opener": page}),
        ]
        for name, fields in expected:
            assert listener.has(name, **fields), (name, fields, listener.events)
        assert not listener.has("lost")
        # Events are recorded without a listener too.
        popup = next(data["targetId"] for name, data in listener.events if data.get("opener") == page)
        await client.act(kind="evaluate", function="console.log('meanwhile')", targetId=page)
        await client.act(kind="click", selector="#save", targetId=page)
        await client.act(kind="close", targetId=popup)
        async with client.listen(last_id=listener.last_id) as again:
            with trio.fail_after(slack(10)):
                await again.read(lambda: again.has("downloadEnded") and again.has("pageClosed"))
            assert again.has("console", text="meanwhile", targetId=page)
            assert again.has("download", suggestedFilename="file.txt", targetId=page)
            assert again.has("downloadEnded", state="refused")
            assert again.has("pageClosed", targetId=popup)
            assert not again.has("lost")
            assert not again.has("console", text="careful"), "events that were read are not sent again"
        # One page and some kinds of events only. The stream ends with the page.
        async with client.listen(targetId=page, events="console,dialog") as part:
            await client.act(kind="evaluate", function="console.log('one')", targetId=page)
            await client.act(kind="close", targetId=page)
            with trio.fail_after(slack(10)):
                await part.read()
            assert [name for name, _ in part.events] == ["console", "end"]
            assert part.end == "pageClosed"


async def test_each_ending_is_named_and_no_client_resumes_in_new_session(site: str) -> None:
    async with running(sessions=2) as client:
        async with client.listen(session="ada") as ada, client.listen(session="bob") as bob:
            await client.http.delete("/sessions/ada")
            with trio.fail_after(slack(10)):
                await ada.read()
            assert ada.end == "sessionClosed"
            gone = await client.http.get(
                "/events", params={"session": "ada"}, headers={"Last-Event-ID": ada.last_id or "x-1"}
            )
            assert gone.status_code == 404
            assert gone.json()["error"]["kind"] == "sessionNotFound"
            await client.act(kind="tabs", session="ada")
            async with client.listen(session="ada", last_id=ada.last_id or "x-1") as anew:
                await anew.read(lambda: bool(anew.events))
                assert anew.events[0] == (
                    "lost",
                    {"count": None, "reason": "the id belongs to a session that has ended"},
                )
            await client.act(kind="tabs", session="eve")
            with trio.fail_after(slack(10)):
                await bob.read()
            assert bob.end == "roomNeeded"
        async with client.listen(session="eve") as eve:
            async with client.listening.service.sessions.use("eve") as session:
                reply = await session.actor.browser.session.call("SystemInfo.getProcessInfo")
            os.kill(
                next(each["id"] for each in reply["processInfo"] if each["type"] == "browser"), signal.SIGKILL
            )
            with trio.fail_after(slack(10)):
                await eve.read()
            assert eve.end == "browserGone"


@pytest.mark.slow
async def test_stalled_client_delays_neither_page_nor_clients_nor_shutdown(site: str) -> None:
    async with AsyncExitStack() as outside:
        async with running() as client:
            await client.act(kind="newTab", url=f"{site}/page")
            stuck = await outside.enter_async_context(client.listen())
            late = await outside.enter_async_context(client.listen())
            async with client.listen() as quick, trio.open_nursery() as nursery:
                nursery.start_soon(quick.read, lambda: quick.has("console", text="x" * 10000 + "1999"))
                assert (await client.act(kind="evaluate", function=FLOOD))["result"] == 2000
                began = trio.current_time()
                assert (await client.act(kind="hover", selector="body"))["ok"]
                assert trio.current_time() - began < slack(2)
            # A client that reads late learns the number of missed events, and gets the latest.
            await late.read(lambda: late.has("console", text="x" * 10000 + "1999"))
            assert late.has("lost")
            assert "cdpengine_listeners 2.0" in (await client.http.get("/metrics")).text
            began = trio.current_time()
        assert trio.current_time() - began < slack(4), "the service ended although a client read nothing"
        assert not stuck.events
