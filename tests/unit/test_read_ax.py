"""The source `ax` over a session: one call, for any shape of the reply."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
import trio.testing
from snapshot_trees import reply, snapshot_of_document

from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session, open_connection
from cdpengine._snapshot.node import FrameRequest
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.render import SnapshotOptions
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine.errors import ProtocolError, RemoteError

Answer = Callable[[dict[str, Any]], str | None]


class AnsweringTransport:
    """Answers each command with the result of `answer`: the rest of a reply's JSON, or no reply."""

    name = "a browser in memory"
    largest_outgoing = 1 << 20

    def __init__(self, answer: Answer) -> None:
        self.commands: list[dict[str, Any]] = []
        self._answer = answer
        self._send, self._receive = trio.open_memory_channel[str](100)

    async def send(self, *messages: bytes) -> None:
        for command in map(json.loads, messages):
            self.commands.append(command)
            answer = self._answer(command)
            if answer is not None:
                await self._send.send(f'{{"id":{command["id"]},{answer}}}')

    async def receive(self) -> str:
        return await self._receive.receive()

    async def aclose(self) -> None:
        self._send.close()


@asynccontextmanager
async def session_that_answers(answer: Answer) -> AsyncIterator[tuple[Session, AnsweringTransport]]:
    transport = AnsweringTransport(answer)
    async with open_connection(transport) as connection:
        yield connection.root, transport


def result(value: object) -> Answer:
    return lambda _: f'"result":{json.dumps(value)}'


async def take_snapshot(
    session: Session, table: RefTable, options: SnapshotOptions | None = None
) -> Snapshot:
    request = FrameRequest(session=session, worlds=IsolatedWorlds(), frame_id="F", loader_id="L")
    return snapshot_of_document(await read_ax(request), table, options or SnapshotOptions())


async def test_one_call_makes_a_snapshot() -> None:
    page = reply(("heading", "Tools", {"level": 1}), ("button", "Buy"), ("button", "Buy"))
    async with session_that_answers(result(page)) as (session, transport):
        table = RefTable()
        snapshot = await take_snapshot(session, table)
        assert [(command["method"], command["params"]) for command in transport.commands] == [
            ("Accessibility.enable", {}),
            ("Accessibility.getFullAXTree", {"frameId": "F"}),
        ]
        assert str(snapshot).splitlines() == [
            '- heading "Tools" [ref=e1] [level=1]',
            '- button "Buy" [ref=e2]',
            '- button "Buy" [ref=e3] [nth=1]',
        ]
        ref = snapshot.find("button", "Buy", nth=1)
        assert (ref.backend_node_id, ref.frame_id, ref.session_id, ref.loader_id) == (
            13,
            "F",
            session.id,
            "L",
        )
        assert table.lookup("e3") is ref
        assert snapshot.stats.milliseconds["fetch"] > 0
        again = await take_snapshot(session, table, SnapshotOptions(interactive=True))
        assert list(again.refs) == ["e2", "e3"]


async def test_a_reply_of_an_odd_shape_is_read_all_the_same() -> None:
    page = reply(("button", "Buy"))
    page["nodes"][1]["backendDOMNodeId"] = 7
    page["nodes"][1]["description"] = "not a value"
    page["nodes"][1]["ignored"] = None
    async with session_that_answers(result(page)) as (session, _):
        snapshot = await take_snapshot(session, RefTable())
        assert snapshot.text == '- button "Buy" [ref=e1]'
        assert snapshot.find(role="button").frame_id == "F"


async def test_a_reply_without_nodes() -> None:
    async with session_that_answers(result({})) as (session, _):
        snapshot = await take_snapshot(session, RefTable())
        assert snapshot.text.startswith("# nothing to show")
        assert (len(snapshot.refs), snapshot.stats.nodes_seen, snapshot.url) == (0, 0, "")


@pytest.mark.parametrize("nested", ["[" * 100_000 + "]" * 100_000])
async def test_an_unreadable_reply_is_refused(nested: str) -> None:
    async with session_that_answers(lambda _: f'"result":{{"nodes":{nested}}}') as (session, _):
        table = RefTable()
        with pytest.raises(ProtocolError, match=r"Accessibility\.getFullAXTree"):
            await take_snapshot(session, table)
        assert len(table) == 0


async def test_an_error_of_chrome_is_passed_on() -> None:
    answer = '"error":{"code":-32000,"message":"Frame with the given frameId is not found."}'
    async with session_that_answers(lambda _: answer) as (session, _):
        with pytest.raises(RemoteError, match="not found"):
            await take_snapshot(session, RefTable())


async def test_a_cancelled_read_creates_no_refs(autojump_clock: trio.testing.MockClock) -> None:
    async with session_that_answers(lambda _: None) as (session, _):
        table = RefTable()
        with trio.move_on_after(5) as scope:
            await take_snapshot(session, table)
        assert scope.cancelled_caught
        assert len(table) == 0
