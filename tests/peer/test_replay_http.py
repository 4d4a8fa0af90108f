"""HTTP requests next to the websockets: recorded by the proxy, answered by a replay."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing

from cdpengine import debug
from cdpengine._protocol.transport import TransportBroken
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.debug.http_websocket_server import (
    HttpAnswer,
    HttpRequest,
    Socket,
    serve_http_and_websockets,
)
from cdpengine.errors import ReplayDivergedError
from cdpengine.testing import walk_cancellations

pytestmark = pytest.mark.usefixtures("guard")

SECRET = "c4nary-typed"


class Browser:
    """Answers as Chrome does under /json, with one page whose title and URL contain a secret."""

    def __init__(self) -> None:
        self.endpoint = ""
        self.made = 0
        self.targets: dict[str, dict[str, str]] = {}
        self.add(f"http://a.example/?token={SECRET}")

    def add(self, url: str) -> dict[str, str]:
        self.made += 1
        target = f"{self.made:032X}"
        self.targets[target] = {
            "id": target,
            "title": f"Signed in with password={SECRET}",
            "type": "page",
            "url": url,
            "webSocketDebuggerUrl": f"ws://{self.endpoint}/devtools/page/{target}",
        }
        return self.targets[target]

    async def answer(self, request: HttpRequest) -> HttpAnswer:
        await trio.lowlevel.checkpoint()
        path, _, query = request.target.partition("?")
        last = path.rpartition("/")[2]
        page: Any
        match path.rstrip("/").split("/")[2:]:
            case ["version"]:
                page = {"Browser": "X/1", "webSocketDebuggerUrl": f"ws://{self.endpoint}/devtools/browser/b"}
            case ["protocol"]:
                page = {
                    "domains": [{"domain": "A", "types": [{"name": "password", "value": "token=abcdef"}]}]
                }
            case [] | ["list"]:
                page = list(self.targets.values())
            case ["new"] if request.method == "PUT":
                page = self.add(query or "about:blank")
            case ["new"]:
                return HttpAnswer(405, b"Using unsafe HTTP verb GET to invoke /json/new.")
            case ["activate", _] if last in self.targets:
                return HttpAnswer(200, b"Target activated", "text/html; charset=UTF-8")
            case ["close", _] if self.targets.pop(last, None):
                return HttpAnswer(200, b"Target is closing", "text/html; charset=UTF-8")
            case _:
                return HttpAnswer(404, f"No such target id: {last}".encode(), "text/html; charset=UTF-8")
        return HttpAnswer(200, json.dumps(page).encode(), "application/json; charset=UTF-8")

    async def take(self, socket: Socket) -> None:
        await socket.accept()
        try:
            while True:
                call = json.loads(await socket.receive())
                await socket.send(json.dumps({"id": call["id"], "result": {"at": socket.request.target}}))
        except TransportBroken:
            pass


@pytest.fixture
async def browser() -> AsyncIterator[Browser]:
    browser = Browser()
    async with serve_http_and_websockets(browser.answer, browser.take) as (host, port):
        browser.endpoint = f"{host}:{port}"
        yield browser


Program = Callable[[str], Awaitable[list[object]]]


async def use_tabs(endpoint: str) -> list[object]:
    """Act like a client without the browser's websocket: tabs by /json, one websocket for each."""
    seen: list[object] = []
    async with httpx.AsyncClient(base_url=endpoint, trust_env=False) as client:

        async def get(path: str, method: str = "GET") -> Any:
            answer = await client.request(method, path)
            if "json" in answer.headers["content-type"]:
                return answer.json()
            return answer.status_code, answer.text

        version = await get("/json/version/")
        assert version["webSocketDebuggerUrl"].startswith(endpoint.replace("http", "ws"))
        seen.append(len((await get("/json/protocol"))["domains"]))
        seen.append(len(await get("/json")))
        first = await get("/json/new?http://127.0.0.1:4000/hall", "PUT")
        second = await get("/json/new", "PUT")
        seen += [first["url"], second["url"], await get("/json/new")]
        seen.append([each["id"] for each in await get("/json/list")])
        seen.append(await get(f"/json/activate/{first['id']}"))
        async with open_websocket(second["webSocketDebuggerUrl"]) as transport:
            await transport.send(b'{"id":1,"method":"Page.enable"}')
            seen.append(json.loads(await transport.receive())["result"]["at"])
        for _ in range(2):
            seen.append(await get(f"/json/close/{second['id']}"))
        seen.append(await get("/json/activate/nobody"))
        seen.append([each["id"] for each in await get("/json/list")])
    return seen


@pytest.fixture
async def tape(browser: Browser, tmp_path: Path) -> tuple[Path, list[object]]:
    path = tmp_path / "tabs.jsonl"
    async with debug.proxy(f"http://{browser.endpoint}", record=path, limit=0) as proxy:
        seen = await use_tabs(proxy.endpoint)
        while any(passage.ending is None for passage in proxy.passages):
            await trio.testing.wait_all_tasks_blocked(0.005)
    return path, seen


async def test_a_program_gets_the_recorded_http_answers(tape: tuple[Path, list[object]]) -> None:
    path, seen = tape
    for _ in range(3):
        async with debug.replay(path, complete=True, strict=True) as replay:
            assert await use_tabs(replay.endpoint) == seen
            assert replay.passed_over == []


async def test_bodies_and_paths_are_recorded_without_secrets(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "tabs.jsonl"
    async with (
        debug.proxy(f"http://{browser.endpoint}", record=path) as proxy,
        httpx.AsyncClient(base_url=proxy.endpoint, trust_env=False) as client,
    ):
        assert SECRET in (await client.put(f"/json/new?http://b.example/?access_token={SECRET}")).text
        assert SECRET in (await client.get("/json/list")).text
        await client.get("/json/protocol")
        await client.get("/json/close/nobody")
        await client.get("/devtools/inspector.html")  # recordings omit other paths of the browser
    assert SECRET not in path.read_text()
    with debug.open_recording(path) as recording:
        lines = [line for line in recording if line.k == "http"]
        assert recording.damage == []
    assert [(line.m, line.status) for line in lines] == [
        ("PUT", 200),
        ("GET", 200),
        ("GET", 200),
        ("GET", 404),
    ]
    made, listed, protocol, closed = (json.loads(bytes(line.msg)) for line in lines)
    assert "[redacted]" in lines[0].url
    assert "[redacted]" in made["title"]
    assert "[redacted]" in listed[0]["url"]
    assert protocol["domains"][0]["types"][0] == {"name": "password", "value": "token=abcdef"}
    assert closed == "No such target id: nobody"


@pytest.mark.parametrize("strict", [True, False])
async def test_the_strict_mode_compares_secrets_in_a_path(
    browser: Browser, tmp_path: Path, strict: bool
) -> None:
    path = tmp_path / "tabs.jsonl"
    async with (
        debug.proxy(f"http://{browser.endpoint}", record=path) as proxy,
        httpx.AsyncClient(base_url=proxy.endpoint, trust_env=False) as client,
    ):
        await client.put(f"/json/new?http://b.example/?access_token={SECRET}")
        async with open_websocket(proxy.ws_endpoint) as transport:
            await transport.send(b'{"id":1,"method":"A.a"}')
            await transport.receive()

    async def again(token: str) -> int:
        async with debug.replay(path, strict=strict) as replay, httpx.AsyncClient(trust_env=False) as client:
            target = f"{replay.endpoint}/json/new?http://b.example/?access_token={token}"
            return (await client.put(target)).status_code

    assert await again(SECRET) == 200
    if not strict:
        assert await again("c4nary-other") == 200
        return
    with pytest.raises(ReplayDivergedError, match="the text entered as url differs") as caught:
        await again("c4nary-other")
    assert "c4nary" not in str(caught.value)


async def test_a_body_above_the_limit_is_cut_and_not_served(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "tabs.jsonl"
    async with (
        debug.proxy(f"http://{browser.endpoint}", record=path, limit=100) as proxy,
        httpx.AsyncClient(base_url=proxy.endpoint, trust_env=False) as client,
    ):
        await client.get("/json/list")
        async with open_websocket(proxy.ws_endpoint) as transport:
            await transport.send(b'{"id":1,"method":"A.a"}')
            await transport.receive()
    with pytest.raises(ReplayDivergedError, match="record with limit=0"):
        async with debug.replay(path) as replay, httpx.AsyncClient(trust_env=False) as client:
            answer = await client.get(f"{replay.endpoint}/json/list")
            assert answer.status_code == 500


@pytest.mark.parametrize(
    ("method", "target", "message"),
    [
        ("PUT", "/json/new?http://127.0.0.1:4000/other", "another text|url"),
        ("GET", "/json/close/nobody-else", "/json/close/nobody-else over HTTP: it was not recorded there"),
        ("PUT", f"/json/new?http://127.0.0.1:4000/?password={SECRET}", "url"),
    ],
)
async def test_an_unrecorded_http_request_diverges(
    tape: tuple[Path, list[object]], method: str, target: str, message: str
) -> None:
    with pytest.raises(ReplayDivergedError, match=message) as caught:
        async with debug.replay(tape[0]) as replay, httpx.AsyncClient(trust_env=False) as client:
            answer = await client.request(method, replay.endpoint + target)
            assert answer.status_code == 500
            assert SECRET not in answer.text
    assert SECRET not in str(caught.value)


async def test_http_requests_that_a_program_omits_delay_nothing(tape: tuple[Path, list[object]]) -> None:
    path, seen = tape
    async with debug.replay(path, patience=0.05) as replay:
        async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
            answer = await client.get(f"{replay.endpoint}/json/close/{'3'.zfill(32)}")
            assert (answer.status_code, answer.text) in seen
        assert replay.left > 3


async def test_a_cancellation_at_any_moment_leaves_nothing_behind(tape: tuple[Path, list[object]]) -> None:
    async def operation() -> None:
        async with debug.replay(tape[0]) as replay, httpx.AsyncClient(trust_env=False) as client:
            await client.get(f"{replay.endpoint}/json/list")

    await walk_cancellations(operation, own_steps_only=True)
