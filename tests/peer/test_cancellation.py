"""Every public coroutine, cancelled at each moment: the connection still works and nothing is left behind."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import cdp.page
import pytest
import trio
import trio.testing
from scripting import attach

from cdpengine._protocol.session import Connection, Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import InvalidArgumentError
from cdpengine.testing import ScriptedPeer, walk_cancellations

Operation = Callable[[Session], Awaitable[object]]


async def subscribe(session: Session) -> None:
    async with session.subscribe("Network.*", "CSS.*"):
        await session.call("A.inside")


async def nested(session: Session) -> None:
    async with session.subscribe("Network.*"), session.subscribe("Network.*", "Log.*") as events:
        await session.call("A.event")
        await events.receive()


async def enabled(session: Session) -> None:
    async with session.enabled("Page", "Runtime"):
        await trio.lowlevel.checkpoint()


async def wait(session: Session) -> None:
    await session.wait_for("Network.event")


async def hold_by_hand(session: Session) -> None:
    session.domains.add_user("Page")
    session.domains.release("Page")
    await trio.lowlevel.checkpoint()


async def several(session: Session) -> None:
    calls = [session.post(f"A.m{n}") for n in range(3)]
    try:
        for call in calls:
            await call.result()
    finally:
        for call in calls:
            call.abandon()


OPERATIONS: dict[str, Operation] = {
    "call": lambda session: session.call("A.b", text="x" * 1000),
    "request": lambda session: session.request("A.b", {}, dict),
    "execute": lambda session: session.execute(cdp.page.enable()),
    "subscribe": subscribe,
    "nested subscribe": nested,
    "enabled": enabled,
    "wait_for": wait,
    "_release_domains": hold_by_hand,
    "several posts": several,
}


async def nothing_left(connection: Connection, peer: ScriptedPeer, session: Session) -> None:
    assert connection.lost is None
    assert not session.feed._streams
    assert not session.domains.users
    assert not session.domains._enabling
    # The peer parses every message, and an error there would end the test: only whole messages arrived.
    assert await session.call("Test.alive", n=1) == {}
    assert peer.received[-1].params == {"n": 1}
    assert connection.statistics().in_flight == 0
    assert connection.statistics().queued == 0


@pytest.mark.parametrize("name", OPERATIONS)
async def test_of_a_session(name: str, peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S")
    operation = OPERATIONS[name]

    def event(_request: object) -> None:
        peer.send_event("Network.event", session_id="S")

    peer.on("A.event", event)
    if name == "wait_for":
        peer.on("Network.enable", event)
    tasks = trio.lowlevel.current_statistics().tasks_living

    async def check() -> None:
        await nothing_left(connection, peer, session)
        assert trio.lowlevel.current_statistics().tasks_living == tasks

    runs = await walk_cancellations(lambda: operation(session), check)
    assert runs >= 3
    enables = [request.method for request in peer.received if request.method.endswith(".enable")]
    assert enables or not name.endswith(("subscribe", "enabled", "wait_for"))


async def test_of_a_stream(peer: ScriptedPeer, connection: Connection) -> None:
    sent = 0
    got: list[int] = []
    async with connection.root.subscribe("X.*") as events:

        async def operation() -> None:
            nonlocal sent
            for _ in range(3):
                peer.send_event("X.e", {"n": sent})
                sent += 1
            await connection.root.call("A.b")
            for _ in range(3):
                got.append((await events.receive()).params["n"])  # noqa: PERF401 (items before a cancellation count)

        assert await walk_cancellations(operation) > 5
        await connection.root.call("A.b")
        while len(got) < sent:
            got.append(events.receive_nowait().params["n"])
    assert got == list(range(sent))


async def test_cancelling_a_waiting_stream(connection: Connection) -> None:
    async with connection.root.subscribe("X.*") as events:
        sent = 0
        got: list[int] = []

        async def operation() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(deliver)
                got.append((await events.receive()).params["n"])

        async def deliver() -> None:
            nonlocal sent
            await trio.lowlevel.checkpoint()
            connection.root.feed.deliver(Event("X.e", None, b'{"n":%d}' % sent))
            sent += 1

        await walk_cancellations(operation)
        assert got + [event.params["n"] for event in rest(events)] == list(range(sent))


def rest(events: object) -> list[Event]:
    receive: Callable[[], Event] = events.receive_nowait  # type: ignore[attr-defined]
    got = []
    while True:
        try:
            got.append(receive())
        except trio.WouldBlock:
            return got


async def test_of_opening_and_closing_a_connection(peer: ScriptedPeer) -> None:
    await trio.testing.wait_all_tasks_blocked()  # the peer's tasks have started
    tasks = trio.lowlevel.current_statistics().tasks_living

    async def operation() -> None:
        async with peer.connect() as connection:
            await connection.root.call("A.b")

    async def check() -> None:
        # The peer needs a moment to notice that its clients are gone.
        while trio.lowlevel.current_statistics().tasks_living != tasks:
            await trio.testing.wait_all_tasks_blocked()
        async with peer.connect() as connection:
            assert await connection.root.call("Test.alive") == {}
        while trio.lowlevel.current_statistics().tasks_living != tasks:
            await trio.testing.wait_all_tasks_blocked()

    assert await walk_cancellations(operation, check, own_steps_only=peer.kind == "websocket") >= 3


async def test_of_a_transports_receive(peer: ScriptedPeer) -> None:
    sent = 0
    got: list[int] = []
    async with peer.open_transport() as transport:

        async def operation() -> None:
            nonlocal sent
            for _ in range(2):
                peer.send_raw(str(sent))
                sent += 1
            for _ in range(2):
                got.append(int(await transport.receive()))  # noqa: PERF401 (as above)

        await walk_cancellations(operation)
        while len(got) < sent:
            got.append(int(await transport.receive()))
    assert got == list(range(sent))


async def test_of_a_transports_aclose(peer: ScriptedPeer) -> None:
    async def operation() -> None:
        async with peer.open_transport() as transport:
            await transport.aclose()

    async def check() -> None:
        while peer.links and peer.link.open:
            await trio.testing.wait_all_tasks_blocked()

    await walk_cancellations(operation, check, own_steps_only=True)


async def test_of_many_callers_while_a_large_message_is_written(
    peer: ScriptedPeer, connection: Connection
) -> None:
    # The message does not fit into the socket's buffers: its caller is cancelled during the write.
    text = "x" * 8_000_000

    async def operation() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: connection.root.call("A.large", text=text))
            nursery.start_soon(lambda: connection.root.call("A.small"))

    async def check() -> None:
        await nothing_left(connection, peer, connection.root)
        peer.received.clear()

    for moment in range(0, 40, 4):
        with trio.CancelScope() as scope:
            async with cancelled_after(scope, moment):
                await operation()
        await check()


@asynccontextmanager
async def cancelled_after(scope: trio.CancelScope, ticks: int) -> AsyncIterator[None]:
    async def cancel() -> None:
        for _ in range(ticks):
            await trio.lowlevel.checkpoint()
        scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(cancel)
        yield


# --- the walk itself ---------------------------------------------------------------------------------------


async def test_the_walk_meets_every_checkpoint() -> None:
    reached: list[int] = []

    async def operation() -> None:
        reached.append(0)
        for n in range(1, 4):
            await trio.lowlevel.checkpoint()
            reached.append(n)

    runs = await walk_cancellations(operation, own_steps_only=True)
    assert runs == 5  # before the start, at each of the three checkpoints, and untouched
    assert reached == [0, 0, 0, 1, 0, 1, 2, 0, 1, 2, 3]


async def test_a_walk_over_a_sample_of_moments() -> None:
    reached: list[int] = []

    async def operation() -> None:
        reached.append(0)
        for n in range(1, 8):
            await trio.lowlevel.checkpoint()
            reached.append(n)

    runs = await walk_cancellations(operation, own_steps_only=True, every=3)
    assert (
        runs == 5
    )  # before the start, at the first, fourth and seventh of the seven checkpoints, and untouched
    ends = [here for here, after in pairwise([*reached, 0]) if after == 0]
    assert ends == [0, 0, 3, 6, 7]
    with pytest.raises(InvalidArgumentError, match="every"):
        await walk_cancellations(operation, every=0)


async def test_the_walk_reports_a_fault_and_its_moment() -> None:
    held: list[str] = []

    async def leaks() -> None:
        held.append("resource")
        await trio.lowlevel.checkpoint()
        await trio.lowlevel.checkpoint()
        held.clear()

    async def check() -> None:
        assert not held

    with pytest.raises(AssertionError) as caught:
        await walk_cancellations(leaks, check)
    assert caught.value.__notes__ == ["the operation was cancelled at step 0"]


async def test_the_walk_reaches_the_tick_of_the_answer() -> None:
    lost: list[int] = []

    async def swallows() -> None:
        # Takes the value, then yields before returning it: a cancellation in between loses the value.
        send, receive = trio.open_memory_channel[int](1)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(send.send, 1)
            value = await receive.receive()
            try:
                await trio.lowlevel.checkpoint()
            except trio.Cancelled:
                lost.append(value)
                raise

    await walk_cancellations(swallows)
    assert lost


async def test_the_walk_is_bounded() -> None:
    async def long() -> None:
        for _ in range(100):
            await trio.lowlevel.checkpoint()

    with pytest.raises(InvalidArgumentError, match="most"):
        await walk_cancellations(long, most=50)


async def test_cancellation_from_outside_passes_through_the_walk() -> None:
    with trio.move_on_after(0) as scope:
        await walk_cancellations(trio.sleep_forever)
    assert scope.cancelled_caught
