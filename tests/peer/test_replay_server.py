"""A recording served as a browser: over websockets, in process, and its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest
import trio
import trio.testing
from rounds import one_in

from cdpengine import debug
from cdpengine._protocol.session import Connection, open_connection
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.errors import (
    ConnectFailedError,
    FileUnreadableError,
    InvalidArgumentError,
    RemoteError,
    ReplayDivergedError,
)
from cdpengine.testing import ScriptedPeer, walk_cancellations

pytestmark = pytest.mark.usefixtures("guard")

Program = Callable[[Connection], Awaitable[object]]


async def counting(connection: Connection) -> list[object]:
    """A program that makes three calls and waits for an event."""
    async with connection.root.subscribe("Count.changed") as events:
        values: list[object] = [(await connection.root.call("Count.up", by=n))["value"] for n in (1, 2)]
        values.append((await anext(events)).params)
        await connection.root.call("Count.stop")
    return values


@pytest.fixture
async def tape(tmp_path: Path) -> Path:
    """The recording of `counting`, through a proxy."""
    path = tmp_path / "count.jsonl"
    async with ScriptedPeer() as peer:

        def up(request: object) -> dict[str, int]:
            if peer.count("Count.up") == 2:
                peer.send_event("Count.changed", {"to": 3})
            return {"value": peer.count("Count.up")}

        peer.on("Count.up", up)
        async with (
            debug.proxy(peer.endpoint, record=path) as proxy,
            open_websocket(proxy.ws_endpoint) as transport,
            open_connection(transport) as connection,
        ):
            await counting(connection)
    return path


async def over_websocket(replay: debug.Replay, program: Program) -> object:
    async with httpx.AsyncClient(trust_env=False) as client:
        version = (await client.get(f"{replay.endpoint}/json/version")).json()
    async with (
        open_websocket(version["webSocketDebuggerUrl"]) as transport,
        open_connection(transport) as connection,
    ):
        return await program(connection)


async def in_process(replay: debug.Replay, program: Program) -> object:
    async with replay.open_transport() as transport, open_connection(transport) as connection:
        return await program(connection)


@pytest.fixture(params=[over_websocket, in_process], ids=lambda way: way.__name__)
def run(request: pytest.FixtureRequest) -> Callable[[debug.Replay, Program], Awaitable[object]]:
    way: Callable[[debug.Replay, Program], Awaitable[object]] = request.param
    return way


async def test_a_program_gets_the_recorded_answers(
    tape: Path, run: Callable[[debug.Replay, Program], Awaitable[object]]
) -> None:
    async with debug.replay(tape, complete=True) as replay:
        assert replay.left == 3
        assert await run(replay, counting) == [1, 2, {"to": 3}]
        assert replay.left == 0
        assert replay.divergence is None


async def test_a_divergence_reaches_both_sides(
    tape: Path, run: Callable[[debug.Replay, Program], Awaitable[object]]
) -> None:
    async def other(connection: Connection) -> None:
        await connection.root.call("Count.up", by=1)
        await connection.root.call("Count.up", by=7)

    with pytest.raises(ReplayDivergedError) as caught:
        async with debug.replay(tape) as replay:
            await run(replay, other)
    assert caught.value.diff == ("- by: 2", "+ by: 7")
    assert isinstance(caught.value.__cause__, RemoteError)
    assert "+ by: 7" in caught.value.__cause__.message


async def test_a_divergence_that_the_program_ignores_is_reported_at_the_end(tape: Path) -> None:
    async def deaf(connection: Connection) -> None:
        with pytest.raises(RemoteError):
            await connection.root.call("Count.down")

    with pytest.raises(ReplayDivergedError, match="it sent Count.down"):
        async with debug.replay(tape) as replay:
            await in_process(replay, deaf)


async def test_calls_that_a_program_omits_do_not_block_it_forever(tape: Path) -> None:
    async def hasty(connection: Connection) -> None:
        await connection.root.call("Count.stop")

    async with debug.replay(tape, patience=0.05) as replay:
        await in_process(replay, hasty)
        assert replay.left == 2
    with pytest.raises(ReplayDivergedError, match="2 recorded calls were never made") as caught:
        async with debug.replay(tape, patience=0.05, complete=True) as replay:
            await in_process(replay, hasty)
    assert [text.partition(" ")[0] for text in caught.value.expected] == ["Count.up", "Count.up"]


async def test_a_program_that_does_less_is_reported_on_request(tape: Path) -> None:
    async def lazy(connection: Connection) -> None:
        await connection.root.call("Count.up", by=1)

    async with debug.replay(tape) as replay:
        await in_process(replay, lazy)
    with pytest.raises(ReplayDivergedError, match="2 recorded calls were never made"):
        async with debug.replay(tape, complete=True) as replay:
            await in_process(replay, lazy)


async def test_errors_of_the_program_leave_unchanged(tape: Path) -> None:
    with pytest.raises(KeyError):
        async with debug.replay(tape):
            raise KeyError


async def test_web_pages_and_other_paths_are_refused(tape: Path) -> None:
    async with debug.replay(tape) as replay:
        ws = replay.endpoint.replace("http", "ws") + "/devtools/browser/replay"
        with pytest.raises(ConnectFailedError, match="403"):
            async with open_websocket(ws, headers={"Origin": "http://evil.example"}):
                pass
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(f"{replay.endpoint}/json/list")).json() == []
            assert (await client.get(f"{replay.endpoint}/json/protocol")).status_code == 404


async def test_recordings_that_cannot_be_replayed_are_refused(tape: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_text("{}\n")
    empty = tmp_path / "empty.jsonl"
    empty.write_text(tape.read_text().splitlines()[0] + "\n")
    for path, error in (
        (tmp_path / "none", InvalidArgumentError),
        (foreign, FileUnreadableError),
        (empty, InvalidArgumentError),
    ):
        with pytest.raises(error):
            async with debug.replay(path):
                pass
    with pytest.raises(InvalidArgumentError):
        async with debug.replay(tape, patience=-1):
            pass


async def test_a_missing_end_of_the_file_is_reported(tape: Path) -> None:
    *lines, last = tape.read_bytes().splitlines(keepends=True)
    assert b'"k":"end"' in last
    tape.write_bytes(b"".join(lines))
    async with debug.replay(tape) as replay:
        assert len(replay.passed_over) == 1
        assert f"line {len(lines)}: the recording ends without its last line" in replay.passed_over[0]


async def test_damage_of_the_file_is_reported(tape: Path) -> None:
    with tape.open("a") as file:
        file.write('{"t": 1, "n"')
    async with debug.replay(tape) as replay:
        assert len(replay.passed_over) == 1
        assert "breaks off" in replay.passed_over[0]


async def test_clients_that_leave_or_stay_at_the_end(tape: Path) -> None:
    async with trio.open_nursery() as nursery:
        asked, lost = trio.Event(), trio.Event()

        async def stay(replay: debug.Replay) -> None:
            ws = replay.endpoint.replace("http", "ws") + "/devtools/browser/replay"
            async with open_websocket(ws) as transport, open_connection(transport) as connection:
                await connection.root.call("Count.up", by=1)
                asked.set()
                while connection.lost is None:
                    await trio.testing.wait_all_tasks_blocked(0.005)
                assert "the replay was ended" in connection.lost
                lost.set()

        async with debug.replay(tape) as replay:
            ws = replay.endpoint.replace("http", "ws") + "/devtools/browser/replay"
            async with open_websocket(ws):
                pass
            nursery.start_soon(stay, replay)
            await asked.wait()
        await lost.wait()


async def test_a_cancellation_at_any_moment_leaves_nothing_behind(tape: Path) -> None:
    async def operation() -> None:
        async with debug.replay(tape) as replay:
            await over_websocket(replay, counting)

    await walk_cancellations(operation, own_steps_only=True, every=one_in(4))
