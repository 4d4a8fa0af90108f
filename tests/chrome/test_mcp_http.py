"""MCP over streamable HTTP: both protocol revisions, a session for each client, disconnects, and the guard."""

from __future__ import annotations

import gc
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import httpx2
import mcp_types as types
import pytest
import trio
from act_cases import CASES, run_case, serve_pages
from busy_machine import slack
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pytest_httpserver import HTTPServer

from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.service.mcp_tools import TOOLS
from cdpengine.service.serving import Listening, serve
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = [
    pytest.mark.chrome,
    # The SDK's client leaves the streams of its HTTP client to the garbage collector.
    pytest.mark.filterwarnings("ignore:.*async_generator object:pytest.PytestUnraisableExceptionWarning"),
]

TOKEN = "the-token-of-the-tests"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
POLICY = UrlPolicy(schemes=frozenset({"http", "https", "data", "javascript"}), allow_private=True)
BY_KIND = {kind: (tool.name, action) for tool in TOOLS for action, kind in tool.kinds.items()}


@pytest.fixture(autouse=True)
def collect_what_the_sdk_left() -> Iterator[None]:
    """Collect them here, and not during another test."""
    yield
    gc.collect()


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    return serve_pages(httpserver)


@asynccontextmanager
async def running(**settings: Any) -> AsyncIterator[Listening]:
    given = {"url_policy": POLICY, "mcp_capabilities": CAPABILITIES, **settings}
    async with serve(ServiceSettings(token=TOKEN, **given)) as listening:
        yield listening


@asynccontextmanager
async def connected(listening: Listening, mode: str, query: str = "") -> AsyncIterator[Client]:
    async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http:
        transport = streamable_http_client(f"{listening.url}/mcp{query}", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def ask(client: Client, request: dict[str, Any]) -> dict[str, Any]:
    """Call the tool of the request's kind, and return the whole response."""
    name, action = BY_KIND[request["kind"]]
    fields = {key: value for key, value in request.items() if key != "kind"}
    result = await client.call_tool(name, {**fields, **({"action": action} if action else {})})
    assert isinstance(result.structured_content, dict), text_of(result)
    answer: dict[str, Any] = result.structured_content
    return answer


SERVED = [
    case
    for case in CASES
    if case.evaluate_enabled and all(step["kind"] in BY_KIND and "engine" not in step for step in case.steps)
]


@pytest.mark.sample(60, start=1)
@pytest.mark.parametrize("first", range(0, len(SERVED), 4))
async def test_the_table_over_streamable_http(first: int, site: str, tmp_path: Path) -> None:
    file = tmp_path / "upload.txt"
    file.write_text("x")
    places = {"site": site, "folder": str(tmp_path), "file": str(file)}
    mode = "legacy" if first // 4 % 2 else "auto"
    async with (
        running(files=Path("/"), mcp_structured=True, commands_enabled=True) as listening,
        connected(listening, mode) as client,
    ):
        asking = partial(ask, client)
        wrong = [await run_case(case, asking, asking, places) for case in SERVED[first : first + 4]]
    assert not any(wrong), "\n".join(filter(None, wrong))


META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(slack(5)):
        while not condition():  # noqa: ASYNC110 - the service's own tasks have no event for it
            await trio.sleep(0.005)


async def leave(listening: Listening, session_id: str, call: dict[str, Any]) -> None:
    """Post a call as a client of either revision, and close the connection as soon as the call runs."""
    head = {**HEADERS, "Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if session_id:
        head["Mcp-Session-Id"] = session_id
    else:
        head |= {
            "Mcp-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": call["params"]["name"],
        }
    async with httpx.AsyncClient(headers=head, timeout=60) as http, trio.open_nursery() as nursery:
        nursery.start_soon(partial(http.post, f"{listening.url}/mcp", json=call))
        await until(lambda: "requests_under_way 1.0" in listening.service.metrics.text().decode())
        nursery.cancel_scope.cancel()


async def test_disconnect_ends_call_and_next_call_runs_immediately(site: str) -> None:
    seen: list[str] = []

    async def note(request: httpx2.Request) -> None:
        seen.append(request.headers.get("mcp-session-id", ""))

    async with running() as listening:
        for mode in ("legacy", "auto"):
            async with (
                httpx2.AsyncClient(headers=HEADERS, timeout=60, event_hooks={"request": [note]}) as http,
                Client(streamable_http_client(f"{listening.url}/mcp", http_client=http), mode=mode) as client,
            ):
                await client.call_tool("navigate", {"url": f"{site}/stage"})
                params = {
                    "name": "evaluate",
                    "arguments": {"function": "while (true);", "timeoutMs": 60_000},
                    "_meta": META,
                }
                hang = {"jsonrpc": "2.0", "id": "one", "method": "tools/call", "params": params}
                await leave(listening, seen[-1], hang)
                began = trio.current_time()
                answer = await client.call_tool("click", {"selector": "#go", "diff": False})
                assert not answer.is_error, text_of(answer)
                assert trio.current_time() - began < slack(0.5)
                assert bool(seen[-1]) is (mode == "legacy")


async def test_endpoint_is_guarded_and_ends_with_the_service(site: str) -> None:
    started = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    async with running(session_idle=0.5) as listening:
        async with httpx.AsyncClient(base_url=listening.url) as http:
            for headers, status in (
                ({}, 401),
                ({"Authorization": "Bearer wrong"}, 401),
                ({**HEADERS, "Origin": "https://evil.example"}, 403),
                ({**HEADERS, "Host": "evil.example"}, 403),
                ({**HEADERS, "Mcp-Session-Id": "nobody"}, 404),
                ({**HEADERS, "Mcp-Session-Id": "../x"}, 400),
            ):
                for method in ("POST", "GET", "DELETE"):
                    answer = await http.request(method, "/mcp", headers=headers, json=started)
                    assert answer.status_code == status, (headers, method, answer.text)
        async with httpx2.AsyncClient(headers=HEADERS, timeout=60) as http2:
            transport = streamable_http_client(
                f"{listening.url}/mcp", http_client=http2, terminate_on_close=False
            )
            async with Client(transport, mode="legacy") as client:
                assert (await client.list_tools()).tools
                began = trio.current_time()
    assert trio.current_time() - began < slack(4), "a client's open stream does not delay the end"
