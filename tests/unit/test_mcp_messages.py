"""JSON-RPC of the MCP server: each request with a readable id has one answer with that id, over both
transports.
"""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio
import trio.testing
from busy_machine import slack

from cdpengine.act import ActResponse
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_transport import stdio
from cdpengine.service.mcp_transport.http import open_endpoint
from cdpengine.service.mcp_transport.messages import Accepted, Refusal, read_message
from cdpengine.service.mcp_transport.stdio import open_messages
from cdpengine.service.settings import ServiceSettings

Answers = list[dict[str, Any]]
Exchange = Callable[[bytes], Awaitable[Answers]]
"""Sends a message, and returns its answers."""


def message(**members: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


def call(identity: Any, **arguments: Any) -> bytes:
    return message(id=identity, method="tools/call", params={"name": "type", "arguments": arguments})


INITIALIZE = message(
    id="first",
    method="initialize",
    params={"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
)
INITIALIZED = message(method="notifications/initialized")


async def perform(request: Mapping[str, Any]) -> ActResponse:
    """Answer a request with itself."""
    await trio.lowlevel.checkpoint()
    return ActResponse(kind=request["kind"], ok=True, result=dict(request))


@asynccontextmanager
async def over_stdio() -> AsyncIterator[Exchange]:
    ours, theirs = trio.testing.memory_stream_pair()
    buffer = b""

    async def exchange(raw: bytes) -> Answers:
        nonlocal buffer
        mark = random.randbytes(8).hex()
        await ours.send_all(raw + b"\n")
        answers: Answers = []
        await trio.testing.wait_all_tasks_blocked()
        await ours.send_all(message(id=mark, method="ping") + b"\n")
        while True:
            while b"\n" not in buffer:
                buffer += await ours.receive_some()
            line, _, buffer = buffer.partition(b"\n")
            answers.append(json.loads(line))
            if answers[-1].get("id") == mark:
                return answers[:-1]

    async with trio.open_nursery() as nursery, open_messages(theirs, theirs) as (incoming, outgoing):
        server = ToolServer(perform, McpSettings()).server()
        nursery.start_soon(server.run, incoming, outgoing, server.create_initialization_options())
        await exchange(INITIALIZE)
        await exchange(INITIALIZED)
        yield exchange
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def open_http(
    perform_in: Callable[[str, Mapping[str, Any]], Awaitable[ActResponse]],
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield a client with an initialized MCP session."""

    async def close(_session: str) -> bool:
        await trio.lowlevel.checkpoint()
        return True

    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    async with open_endpoint(perform_in, close, ServiceSettings(token="x" * 20)) as endpoint:
        transport = httpx.ASGITransport(app=endpoint)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1", headers=headers
        ) as http:
            begun = await http.post("/mcp", content=INITIALIZE)
            http.headers["mcp-session-id"] = begun.headers["mcp-session-id"]
            await http.post("/mcp", content=INITIALIZED)
            yield http


@asynccontextmanager
async def over_http() -> AsyncIterator[Exchange]:
    async def perform_in(_session: str, request: Mapping[str, Any]) -> ActResponse:
        return await perform(request)

    async with open_http(perform_in) as http:

        async def exchange(raw: bytes) -> Answers:
            response = await http.post("/mcp", content=raw)
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                lines = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
                return [json.loads(line) for line in lines if line]
            return [response.json()] if response.content.strip() else []

        yield exchange


TRANSPORTS = pytest.mark.parametrize("transport", [over_stdio, over_http])


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


DEEP = b'{"jsonrpc":"2.0","id":9,"method":"ping","params":{"a":%s%s}}'
REFUSED: list[tuple[bytes, int, Any]] = [
    (message(id=1, method="none"), -32601, 1),
    (message(id="a", method="none"), -32601, "a"),
    (message(id=1, method="p\ud83d"), -32601, 1),
    (message(id=1, method="tools/call"), -32602, 1),
    (message(id=1, method="tools/call", params={"name": "type", "arguments": []}), -32602, 1),
    (message(id=1, method="tools/list", params=[]), -32602, 1),
    (message(id=1, method="tools/list", params="x"), -32602, 1),
    (message(id=1, method=5), -32600, 1),
    (message(id=1), -32600, 1),
    (message(id=1, method="ping", result={}), -32600, 1),
    (message(id=1, method="ping", error={"code": 1, "message": "x"}), -32600, 1),
    (b'{"id": 1, "method": "ping"}', -32600, 1),
    (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600, 1),
    (message(id=1.5, method="ping"), -32600, 1.5),
    (message(id=True, method="ping"), -32600, None),
    (message(id=None, method="ping"), -32600, None),
    (message(id=[], method="ping"), -32600, None),
    (message(id="\udc00", method="ping"), -32600, "\udc00"),
    (message(method=5), -32600, None),
    (DEEP % (b"1" * 5_000, b""), -32600, 9),
    (DEEP % (b"1e400", b""), -32600, 9),
    (DEEP % (b"[" * 5_000, b"]" * 5_000), -32600, 9),
    (DEEP % (b"[" * 300, b"]" * 300), -32600, 9),
    (DEEP % (b'["\\ud83d",' + b"[" * 900, b"]" * 901), -32600, 9),
    (DEEP % (b"NaN", b""), -32700, 9),
    (DEEP % (b'"\xff"', b""), -32700, 9),
    (b'{"jsonrpc": "2.0", "params": {"id": 8}, "id": "b", "method"', -32700, "b"),
    (b'{"jsonrpc": "2.0", "id": 12', -32700, None),  # the number may continue
    (b'{"jsonrpc": "2.0", "method": "ping', -32700, None),
    (b'{"a": "' + b'\\"' * 50_000, -32700, None),
    (b"[]", -32600, None),
    (b"[" + message(id=1, method="ping") + b"]", -32600, None),
    (b"3", -32600, None),
    (b"null", -32600, None),
    (b"nonsense", -32700, None),
]
UNANSWERED = [
    message(method="notifications/none"),
    message(method="notifications/none", params=[]),
    message(method="notifications/cancelled", params={"requestId": []}),
    b'{"jsonrpc": "1.0", "method": "notifications/none"}',
    b'{"jsonrpc": "2.0", "method": "notifications/none", "params": {"a": %s}}' % (b"1" * 5_000),
    b'{"jsonrpc": "2.0", "method": "notifications/none", "params": {"a": %s1%s}}'
    % (b"[" * 5_000, b"]" * 5_000),
    message(id=77, result={}),
    message(id=77, result=5),
    message(id=77, error="x"),
]


@TRANSPORTS
async def test_each_wrong_message_has_the_code_of_the_standard(
    transport: Callable[[], Any],
) -> None:
    wrong = []
    with trio.fail_after(slack(60)):
        async with transport() as exchange:
            for raw, code, identity in REFUSED:
                answers = await exchange(raw)
                found = [(each["error"]["code"], each["id"]) for each in answers if "error" in each]
                if found != [(code, identity)] or len(answers) != 1:
                    wrong.append((raw[:120], answers))
            for raw in UNANSWERED:
                wrong += [(raw[:120], answer) for answer in await exchange(raw)]
            assert (await exchange(message(id=5, method="ping")))[0]["result"] == {}
    assert not wrong, "\n".join(map(str, wrong))


@TRANSPORTS
@pytest.mark.parametrize("text", ["\ud83d", "a\udc00b", "\ude00\ud83d", "\U0001f600\ud83d \ud83d"])
async def test_arguments_keep_unpaired_surrogates(transport: Callable[[], Any], text: str) -> None:
    async with transport() as exchange:
        (answer,) = await exchange(call(3, text=text, selector=f"#{text}"))
    echoed = json.loads(answer["result"]["content"][0]["text"])
    assert (echoed["text"], echoed["selector"]) == (text, f"#{text}")


def test_other_strings_get_a_replacement_character() -> None:
    read = read_message(message(id=1, method="initialize", params={"clientInfo": {"name": "a\ud83d"}}))
    assert isinstance(read, Accepted)
    assert json.loads(read.text)["params"]["clientInfo"]["name"] == "a\ufffd"


async def test_lines_in_pieces_blank_lines_and_long_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "LONGEST_MESSAGE", 1_000)
    monkeypatch.setattr(stdio, "_ENDING", 0)  # nothing answers the messages of the second part
    long = message(id=6, method="ping", params={"a": "x" * 1_000})
    async with over_stdio() as exchange:
        for blank in (b"", b"  \r", b"\n\n"):
            assert await exchange(blank) == []
        assert (await exchange(message(id=4, method="ping") + b"\r"))[0]["id"] == 4
        assert [each["error"]["code"] for each in await exchange(long)] == [-32600]
        (answer,) = await exchange(message(id=5, method="tools/list")[:-1] + b" " * 500 + b"}")
        assert answer["id"] == 5
        ours, theirs = trio.testing.memory_stream_pair()
        read: list[str] = []

        async def collect() -> None:
            lines = stdio._Messages(theirs, stdio._Writer(theirs))
            read.extend([line async for line in lines])

        async with trio.open_nursery() as nursery:
            nursery.start_soon(collect)
            for piece in (
                b'{"jsonrpc": "2.0", "id"',
                b': 1, "method": "p',
                b'ing"}\n',
                long[:700],
                long[700:],
            ):
                await ours.send_all(piece)
                await trio.testing.wait_all_tasks_blocked()
            await ours.send_all(b"\n" + message(id=2, method="ping"))
            await ours.send_eof()
        assert [json.loads(line)["id"] for line in read] == [1, 2], "the end of the input ends a line"


async def test_a_request_with_the_id_of_an_unanswered_one_is_refused_over_http() -> None:
    began, go_on = trio.Event(), trio.Event()

    async def wait(_session: str, request: Mapping[str, Any]) -> ActResponse:
        began.set()
        await go_on.wait()
        return ActResponse(kind=request["kind"], ok=True, result={})

    async with open_http(wait) as http:
        first: list[httpx.Response] = []

        async def ask() -> None:
            first.append(await http.post("/mcp", content=call(7, text="x")))

        with trio.fail_after(slack(20)):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ask)
                await began.wait()
                for same in (7, "7"):
                    second = await http.post("/mcp", content=call(same, text="x"))
                    assert second.json()["error"]["code"] == -32600
                    assert second.json()["id"] == same
                go_on.set()
            again = await http.post("/mcp", content=call(7, text="x"))
        assert '"result"' in first[0].text
        assert '"result"' in again.text


# --- fuzz ------------------------------------------------------------------------------------------------------

SCALARS = ["", "x", "\ud83d", "a\udc00", "\U0001f600", 0, -1, 1.5, 2**70, 1e308, True, False, None, "0"]
METHODS = ["ping", "tools/list", "tools/call", "initialize", "none", "", "\udc00", "notifications/cancelled"]


def random_value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.random()
    if kind < 0.15 and depth < 4:
        return [random_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    if kind < 0.35 and depth < 4:
        names = ["name", "arguments", "_meta", "progressToken", "cursor", "text", "id", "requestId", "\ud83d"]
        return {rng.choice(names): random_value(rng, depth + 1) for _ in range(rng.randrange(4))}
    return rng.choice(SCALARS)


def random_message(rng: random.Random, number: int) -> bytes:
    """Return a message. Most are requests with an id, and many are invalid."""
    members: dict[str, Any] = {"jsonrpc": "2.0"}
    if rng.random() < 0.9:
        members["id"] = rng.choice([f"n{number}", f"n{number}", 10_000 + number, random_value(rng)])
    members["method"] = rng.choice(METHODS) if rng.random() < 0.95 else random_value(rng)
    if rng.random() < 0.6:
        arguments = {"text": random_value(rng), "selector": rng.choice(SCALARS)}
        params = {"name": rng.choice(["type", "none", random_value(rng)]), "arguments": arguments}
        members["params"] = rng.choice([params, params, random_value(rng)])
    for _ in range(rng.choice([0, 0, 0, 1])):
        members[rng.choice(["jsonrpc", "id", "method", "params", "result", "error"])] = random_value(rng)
    raw = json.dumps(members, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    change = rng.random()
    place = rng.randrange(len(raw))
    if change < 0.1:
        raw = raw[: place + 1]
    elif change < 0.2:
        raw = raw[:place] + rng.choice([b"\xff", b"NaN", b"}", b'"', b"[" * 300, b"\\", b"\0"]) + raw[place:]
    elif change < 0.25:
        raw = b"[" + raw + b"]"
    return raw.replace(b"\n", b" ")


@TRANSPORTS
@pytest.mark.parametrize("count", [300, pytest.param(5_000, marks=pytest.mark.slow)])
async def test_random_messages_have_one_answer_each(transport: Callable[[], Any], count: int) -> None:
    rng = random.Random(count)
    wrong: list[Any] = []
    codes: Counter[Any] = Counter()
    with trio.fail_after(slack(300)):
        async with transport() as exchange:
            for number in range(count):
                raw = random_message(rng, number)
                answers = await exchange(raw)
                answers = [each for each in answers if "method" not in each]
                codes.update(each.get("error", {}).get("code", "result") for each in answers)
                due = answers_due(raw)
                if [each["id"] for each in answers] != due:
                    wrong.append((raw, due, answers))
                if number % 50 == 0:
                    (good,) = await exchange(call(f"good{number}", text="x", selector="a"))
                    assert good["id"] == f"good{number}"
                    assert not good["result"].get("isError")
    assert not wrong, "\n".join(map(str, wrong[:10]))
    assert codes.keys() >= {"result", -32700, -32600, -32601, -32602}
    assert not codes.keys() - {"result", -32700, -32600, -32601, -32602}, codes


def answers_due(raw: bytes) -> list[Any]:
    """Return the ids of the answers to a message, by the standard library's parser.

    For invalid JSON they are the server's own reading, which the table above tests.
    """
    try:
        parsed = json.loads(raw.decode(), parse_constant=int)
    except ValueError:
        refused = read_message(raw)
        return [refused.id] if isinstance(refused, Refusal) else []
    if not isinstance(parsed, dict):
        return [None]
    identity = parsed.get("id")
    is_id = isinstance(identity, str | int | float) and not isinstance(identity, bool)
    if "method" not in parsed and parsed.keys() & {"result", "error"}:
        return []
    if "id" not in parsed and isinstance(parsed.get("method"), str):
        return []
    return [identity if is_id else None]


# --- the end of the input ------------------------------------------------------------------------------------


async def answers_after_the_end(
    perform: Callable[[Mapping[str, Any]], Awaitable[ActResponse]], *lines: bytes, cancel_after: float = 10
) -> Answers:
    """Send these lines, end the input, and return all answers. Cancel the server after some seconds."""
    ours, theirs = trio.testing.memory_stream_pair()
    received = b""

    async def serve() -> None:
        with trio.move_on_after(cancel_after):
            async with open_messages(theirs, theirs) as (incoming, outgoing):
                server = ToolServer(perform, McpSettings()).server()
                await server.run(incoming, outgoing, server.create_initialization_options())
        await theirs.send_eof()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(serve)
        await ours.send_all(b"\n".join((INITIALIZE, INITIALIZED, *lines, b"")))
        await ours.send_eof()
        async for piece in ours:
            received += piece
    return [json.loads(line) for line in received.splitlines()]


async def test_requests_are_answered_after_the_input_has_ended() -> None:
    async def perform_later(request: Mapping[str, Any]) -> ActResponse:
        await trio.testing.wait_all_tasks_blocked()
        await trio.testing.wait_all_tasks_blocked()
        return await perform(request)

    answers = await answers_after_the_end(perform_later, *(call(number) for number in range(5)), call("last"))
    assert [sorted(each, key=str) for each in answers] == [["id", "jsonrpc", "result"]] * 7
    assert {each["id"] for each in answers} == {"first", 0, 1, 2, 3, 4, "last"}


@pytest.mark.parametrize("by_signal", [False, True])
async def test_requests_that_do_not_end_get_an_error(
    by_signal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "_ENDING", 60 if by_signal else 0.2)

    async def perform_never(request: Mapping[str, Any]) -> ActResponse:
        if request.get("text") == "quick":
            return await perform(request)
        await trio.sleep_forever()
        raise AssertionError

    answers = await answers_after_the_end(
        perform_never,
        call(1),
        call(2, text="quick"),
        call(1),
        call(3),
        message(method="notifications/cancelled", params={"requestId": 3}),
        cancel_after=0.5 if by_signal else 30,
    )
    results = [each["id"] for each in answers if "result" in each]
    errors = [(each["id"], each["error"]["message"]) for each in answers if "error" in each]
    assert sorted(results, key=str) == [2, "first"]
    ended = "the server ended before the request was done"
    assert [each for each in errors if each[0] != 3] == [(1, ended)] * 2


async def test_a_client_that_reads_no_more_is_not_waited_for() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    stream = trio.lowlevel.FdStream(write)
    writer = stdio._Writer(stream)
    writer.expect(1)
    with trio.move_on_after(0.3) as scope:
        await writer.wait_for_answers()
    assert scope.cancelled_caught
    os.close(read)
    with trio.fail_after(10):
        await writer.wait_for_answers()
    await stream.aclose()
