"""The MCP server with a client of the protocol's SDK: the table of cases, responses, and cancellation."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
import trio
from act_cases import CASES, run_case, serve_pages
from busy_machine import slack
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from pytest_httpserver import HTTPServer

from cdpengine._pictures.sizes import size_of
from cdpengine.act import KINDS, ActingRequest, ActRequest
from cdpengine.act.tooling.table import CAPABILITIES
from cdpengine.act.tooling.texts import cut
from cdpengine.service.app import Service
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_tools import TOOLS
from cdpengine.service.outputs import open_outputs
from cdpengine.service.serving import open_service
from cdpengine.service.settings import ServiceSettings
from cdpengine.service.url_policy import UrlPolicy

pytestmark = pytest.mark.chrome

POLICY = UrlPolicy(schemes=frozenset({"http", "https", "data", "javascript"}), allow_private=True)


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    return serve_pages(httpserver)


@asynccontextmanager
async def connect_client(endpoint: str, **offered: Any) -> AsyncIterator[tuple[Client, Service]]:
    settings = ServiceSettings(
        token="x" * 32,
        endpoint=endpoint,
        url_policy=POLICY,
        files=Path("/"),
        reads_ahead=True,
        commands_enabled=True,
    )
    async with open_service(settings) as service:
        server = ToolServer(
            partial(service.perform, "mcp"), McpSettings(capabilities=CAPABILITIES, **offered)
        )
        async with Client(server.server()) as client:
            yield client, service


Running = Callable[..., AbstractAsyncContextManager[tuple[Client, Service]]]


@pytest.fixture
def connected(shared_endpoint: str) -> Running:
    """Connects a client to a new server on the shared browser."""
    return partial(connect_client, shared_endpoint)


def text_of(result: types.CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))


BY_KIND = {kind: (tool.name, action) for tool in TOOLS for action, kind in tool.kinds.items()}


async def ask(client: Client, request: dict[str, Any]) -> dict[str, Any]:
    """Call the tool of the request's kind, and return the whole response."""
    name, action = BY_KIND.get(request["kind"], (request["kind"], ""))
    fields = {key: value for key, value in request.items() if key != "kind"}
    if issubclass(KINDS.get(request["kind"], ActRequest), ActingRequest):
        fields.setdefault("diff", False)  # a snapshot of a hung page is slow
    result = await client.call_tool(name, {**fields, **({"action": action} if action else {})})
    assert isinstance(result.structured_content, dict), text_of(result)
    answer: dict[str, Any] = result.structured_content
    assert result.is_error is not answer["ok"]
    return answer


async def ask_without_scripts(client: Client, service: Service, request: dict[str, Any]) -> dict[str, Any]:
    async with service.sessions.use("mcp") as session:
        session.actor.evaluate_enabled = False
        try:
            return await ask(client, request)
        finally:
            session.actor.evaluate_enabled = True


# An unknown tool is no request, and the server does not know the tests' search engines.
OFFERED = [
    case
    for case in CASES
    if all(step["kind"] in KINDS and step.get("engine") not in ("local", "gone") for step in case.steps)
]


@pytest.mark.sample(6, start=2)
@pytest.mark.parametrize("first", range(0, len(OFFERED), 14))
async def test_the_table_over_mcp(first: int, site: str, tmp_path: Path, connected: Running) -> None:
    file = tmp_path / "upload.txt"
    file.write_text("x")
    places = {"site": site, "folder": str(tmp_path), "file": str(file)}
    async with connected(structured=True) as (client, service):
        without = partial(ask_without_scripts, client, service)
        wrong = [
            await run_case(case, partial(ask, client), without, places)
            for case in OFFERED[first : first + 14]
        ]
    assert not any(wrong), "\n".join(filter(None, wrong))


async def test_responses_for_models(site: str, connected: Running) -> None:
    async with connected() as (client, _):
        first = text_of(await client.call_tool("navigate", {"url": f"{site}/stage"}))
        assert first == f"{site}/stage (status 200)"
        with_page = await client.call_tool("navigate", {"url": f"{site}/stage", "diff": True})
        assert 'button "Go" [ref=' in text_of(with_page)
        seen = text_of(await client.call_tool("snapshot", {"interactive": True}))
        ref = seen.partition('button "Change" [ref=')[2].partition("]")[0]
        changed = text_of(await client.call_tool("click", {"ref": ref}))
        assert '~ - paragraph: "changed"' in changed
        assert 'button "Go"' not in changed, "and not the whole page"
        assert text_of(await client.call_tool("click", {"ref": ref})) == "nothing changed"
        agreeing = text_of(await client.call_tool("snapshot", {"find": "agree"}))
        assert re.search(r'/stage\n- checkbox "Agree" \[ref=e\d+\]$', agreeing)
        asked = text_of(await client.call_tool("click", {"selector": "#ask"}))
        assert "a confirm opened ('Sure?'), answered Cancel" in asked
        covered = await client.call_tool("click", {"selector": "#under", "timeoutMs": 500})
        assert covered.is_error
        assert "it is covered by" in text_of(covered)
        picture = await client.call_tool("screenshot", {})
        assert [block.type for block in picture.content] == ["image"]
        wrong = await client.call_tool("tabs", {"action": "opne"})
        assert wrong.is_error
        assert 'one of "list", "new"' in text_of(wrong)
        unknown = await client.call_tool("clik", {})
        assert unknown.is_error
        assert "no tool 'clik'" in text_of(unknown)


async def test_picture_is_scaled_for_model_and_file_is_full_size(
    shared_endpoint: str, tmp_path: Path
) -> None:
    settings = ServiceSettings(token="x" * 32, endpoint=shared_endpoint, url_policy=POLICY)
    long = "<body style='margin: 0'><div style='height: 4000px; background: teal'></div><button>End"
    async with (
        open_service(settings) as service,
        open_outputs(tmp_path) as outputs,
        Client(ToolServer(partial(service.perform, "mcp"), McpSettings(), outputs).server()) as client,
    ):
        await client.call_tool("navigate", {"url": f"data:text/html,{long}"})
        quality = {"fullPage": True, "quality": 60}
        for asked in (
            {"fullPage": True},
            {"fullPage": True, "labels": True},
            {**quality, "format": "jpeg"},
            {**quality, "format": "webp"},
        ):
            image_format = asked.get("format", "png")
            answer = await client.call_tool("screenshot", asked)
            (image,) = [block for block in answer.content if isinstance(block, types.ImageContent)]
            assert image.mime_type == f"image/{image_format}"
            assert max(size_of(base64.b64decode(image.data))) == 1568
            note = rf"made smaller, from \d+ x (\d+) pixels: .* is in (\S+\.{image_format})"
            named = re.search(note, text_of(answer))
            assert named is not None
            assert size_of(Path(named[2]).read_bytes())[1] == int(named[1]) > 4000
        for asked in ({}, {"format": "jpeg", "quality": 60}, {"format": "webp", "quality": 60}):
            answer = await client.call_tool("screenshot", asked)
            (shown,) = answer.content
            assert isinstance(shown, types.ImageContent)
            assert size_of(base64.b64decode(shown.data)) == (1280, 720)


HUNG = (
    ("evaluate", {"function": "while (true);"}),
    ("evaluate", {"function": "new Promise(() => {})"}),
    ("wait", {"text": "never there"}),
    ("wait", {"function": "(() => { while (true); })()"}),
    ("download", {"selector": "#go"}),
)


@asynccontextmanager
async def two_clients(endpoint: str) -> AsyncIterator[tuple[Client, Client]]:
    """Return two clients of one server, which act in the same browser session."""
    settings = ServiceSettings(token="x" * 32, endpoint=endpoint, url_policy=POLICY, files=Path("/"))
    async with open_service(settings) as service:
        server = ToolServer(partial(service.perform, "mcp"), McpSettings(capabilities=CAPABILITIES))
        async with Client(server.server()) as first, Client(server.server()) as second:
            yield first, second


@pytest.mark.parametrize("hung", [HUNG[:1], pytest.param(HUNG[1:], marks=pytest.mark.slow)])
async def test_cancelled_call_ends_within_250_ms(
    site: str, shared_endpoint: str, hung: tuple[tuple[str, dict[str, str]], ...]
) -> None:
    """By then its script is stopped, and another client's click is done and answered, with its diff."""
    async with two_clients(shared_endpoint) as (first, second):
        await first.call_tool("navigate", {"url": f"{site}/stage"})
        await first.call_tool("snapshot", {})
        for name, arguments in hung:
            with trio.move_on_after(0.1):
                await first.call_tool(name, arguments)
                raise AssertionError(f"{name} {arguments} returned")
            began = trio.current_time()
            answer = await second.call_tool("click", {"selector": "#go"})
            taken = trio.current_time() - began
            assert not answer.is_error, text_of(answer)
            assert taken < slack(0.25), (name, arguments, taken)
            assert text_of(await first.call_tool("evaluate", {"function": "1 + 1"})) == "2"


async def test_a_value_of_many_levels_is_answered(connected: Running) -> None:
    """Structured data has as many levels as the SDK allows. Deeper data is a string."""
    nested = "Array.from({length: DEPTH}).reduce((inside) => [inside], 7)"
    async with connected(structured=True) as (client, _):
        assert (await ask(client, {"kind": "newTab"}))["ok"]
        for depth in (150, 450):
            answer = await ask(client, {"kind": "evaluate", "function": nested.replace("DEPTH", str(depth))})
            assert answer["ok"], answer
            result = answer["result"] if depth == 150 else json.loads(answer["result"])
            for _level in range(depth):
                [result] = result
            assert result == 7


async def test_hung_page_delays_no_other_call(site: str, connected: Running) -> None:
    async with connected() as (client, _):
        await client.call_tool("navigate", {"url": f"{site}/stage"})
        hung = await client.call_tool("evaluate", {"function": "while (true);", "timeoutMs": 300})
        assert text_of(hung).startswith("evaluationTimeout")
        assert not (await client.call_tool("click", {"selector": "#go"})).is_error


async def test_long_call_reports_progress(site: str, connected: Running) -> None:
    reported: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        reported.append(progress)

    async with connected() as (client, _):
        await client.call_tool("tabs", {"action": "new"})
        await client.call_tool("wait", {"timeMs": 2500}, progress_callback=note)
    assert len(reported) >= 2
    assert reported == sorted(reported)


async def test_as_a_program_over_standard_input_and_output(site: str) -> None:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "cdpengine", "mcp", "--capabilities", "scripts"]
    )
    async with Client(stdio_client(command)) as client:
        assert not (await client.call_tool("navigate", {"url": f"{site}/second"})).is_error
        assert text_of(await client.call_tool("evaluate", {"function": "document.title"})) == "Second"
        with trio.move_on_after(0.1):
            await client.call_tool("evaluate", {"function": "while (true);"})
        began = trio.current_time()
        assert text_of(await client.call_tool("evaluate", {"function": "1 + 1"})) == "2"
        assert trio.current_time() - began < slack(0.25)
        long = text_of(await client.call_tool("evaluate", {"function": "'Ada '.repeat(9000)"}))
        name = long.partition('{"file": "')[2].partition('"')[0]
        found = text_of(await client.call_tool("output", {"file": name, "find": "ada"}))
        assert found.startswith("9000 found\n")
        assert (await client.call_tool("upload", {"selector": "a", "paths": ["/x"]})).is_error


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A temporary folder with a path short enough for a socket in it."""
    with tempfile.TemporaryDirectory(prefix="mcp-") as folder:
        yield Path(folder)


ENDINGS = [
    (signal.SIGTERM, 0),
    pytest.param(signal.SIGINT, 130, marks=pytest.mark.slow),
    pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow),
    pytest.param(None, 0, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("number", "status"), ENDINGS)
async def test_program_exits_normally_while_waiting_for_client(
    number: signal.Signals | None, status: int, short_folder: Path
) -> None:
    """By a signal or by the end of its input. Its browser and its output folder are removed."""
    environment = {**os.environ, "TMPDIR": str(short_folder)}
    command = [sys.executable, "-m", "cdpengine", "mcp"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = await trio.lowlevel.open_process(command, env=environment, **pipes)  # type: ignore[call-overload]
    said = b""

    async def call(identity: int, method: str, **params: object) -> None:
        nonlocal said
        message = {"jsonrpc": "2.0", "id": identity, "method": method, "params": params}
        await process.stdin.send_all(json.dumps(message).encode() + b"\n")
        while f'"id":{identity}'.encode() not in said:
            said += await process.stdout.receive_some()

    about = {"name": "test", "version": "1"}
    try:
        with trio.fail_after(slack(30)):
            await call(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=about)
            await process.stdin.send_all(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
            await call(2, "tools/call", name="tabs", arguments={"action": "new"})
            made = {each.name.rpartition("-")[0] for each in short_folder.glob("cdpengine-*")}
            assert made >= {"cdpengine-outputs", "cdpengine-profile"}, said
            began = trio.current_time()
            if number is None:
                await process.stdin.aclose()
            else:
                process.send_signal(number)
            assert await process.wait() == status
            assert trio.current_time() - began < slack(5)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await process.stdin.aclose()
        await process.stdout.aclose()
    assert not list(short_folder.glob("cdpengine-*")), "nothing is left"


@pytest.mark.parametrize("lines", [1, 10, 1000])
def test_overlong_response_is_cut_at_a_line(lines: int) -> None:
    text = "\n".join(f"- line {number} of the page" for number in range(lines))
    short = cut(text, 100)
    if lines <= 10:
        assert short == text
    else:
        assert text.startswith(f"{short}\n")
        assert 100 <= len(short) <= 250
