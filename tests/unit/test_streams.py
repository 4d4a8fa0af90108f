"""EventStream: bounded, exact about the number and place of lost events, and never losing by cancellation."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._protocol.streams import Event, EventFeed, EventStream
from cdpengine.errors import EngineError, EventsLostError, SessionGoneError, TargetCrashedError


def make_feed(buffer: int, *patterns: str) -> EventFeed:
    return EventFeed(patterns or ("*",), buffer)


def event(number: int) -> Event:
    return Event("Test.event", None, b'{"n":%d}' % number)


def number(received: Event) -> int:
    n = received.params["n"]
    assert isinstance(n, int)
    return n


def gone() -> EngineError:
    return SessionGoneError(target="page", reason="closed")


def crashed() -> TargetCrashedError:
    return TargetCrashedError(target="page", reason="its renderer crashed")


def drain(stream: EventStream) -> list[int | str]:
    """Read the buffered items: numbers of events, "lost N" for gaps, "crash"."""
    got: list[int | str] = []
    while True:
        try:
            got.append(number(stream.receive_nowait()))
        except EventsLostError as lost:
            got.append(f"lost {lost.count}")
        except TargetCrashedError:
            got.append("crash")
        except trio.WouldBlock:
            return got


def test_order_is_kept() -> None:
    feed = make_feed(10)
    stream = EventStream(feed)
    for n in range(10):
        feed.deliver(event(n))
    assert drain(stream) == list(range(10))


def test_the_gap_is_reported_once_at_its_exact_place() -> None:
    feed = make_feed(3)
    stream = EventStream(feed)
    for n in range(8):
        feed.deliver(event(n))
    assert stream.dropped == 5
    assert drain(stream) == [0, 1, 2, "lost 5"]
    feed.deliver(event(8))
    assert drain(stream) == [8]


def test_a_gap_grows_until_the_buffer_has_room() -> None:
    feed = make_feed(2)
    stream = EventStream(feed)
    for n in range(3):
        feed.deliver(event(n))
    assert number(stream.receive_nowait()) == 0
    feed.deliver(event(3))  # room again: after the gap
    feed.deliver(event(4))
    assert drain(stream) == [1, "lost 1", 3, "lost 1"]


def test_gaps_take_no_room_from_events() -> None:
    feed = make_feed(1)
    stream = EventStream(feed)
    feed.deliver(event(0))
    feed.deliver(event(1))
    assert number(stream.receive_nowait()) == 0
    feed.deliver(event(2))
    assert drain(stream) == ["lost 1", 2]


def test_the_error_of_a_gap_has_the_pattern_and_the_count() -> None:
    feed = make_feed(1, "Network.*", "Page.loadEventFired")
    stream = EventStream(feed)
    for n in range(4):
        feed.deliver(event(n))
    stream.receive_nowait()
    with pytest.raises(EventsLostError) as caught:
        stream.receive_nowait()
    lost = caught.value
    assert (lost.count, lost.buffer, lost.pattern) == (3, 1, "Network.*, Page.loadEventFired")


def test_a_reported_gap_no_longer_changes() -> None:
    feed = make_feed(1)
    stream = EventStream(feed)
    feed.deliver(event(0))
    feed.deliver(event(1))
    stream.receive_nowait()
    with pytest.raises(EventsLostError) as caught:
        stream.receive_nowait()
    feed.deliver(event(2))
    feed.deliver(event(3))
    assert caught.value.count == 1


@given(st.integers(1, 5), st.lists(st.sampled_from(["deliver", "receive", "crash"]), max_size=60))
def test_received_and_lost_events_together_are_the_sent_ones(buffer: int, steps: list[str]) -> None:
    feed = make_feed(buffer)
    stream = EventStream(feed)
    sent = 0
    got: list[int | str] = []
    for step in steps:
        if step == "deliver":
            feed.deliver(event(sent))
            sent += 1
        elif step == "crash":
            feed.crash(crashed())
        else:
            try:
                got.append(number(stream.receive_nowait()))
            except EventsLostError as lost:
                got.append(f"lost {lost.count}")
            except TargetCrashedError:
                got.append("crash")
            except trio.WouldBlock:
                pass
        assert stream.statistics().waiting <= buffer
    got += drain(stream)
    expected = 0
    for entry in got:
        if isinstance(entry, int):
            assert entry == expected
            expected += 1
        elif entry != "crash":
            expected += int(entry.removeprefix("lost "))
    assert expected == sent
    statistics = stream.statistics()
    assert statistics.received + statistics.dropped == sent
    assert statistics.waiting == 0


@given(st.lists(st.sampled_from(["deliver", "crash"]), max_size=200))
def test_no_sequence_without_a_consumer_grows_beyond_its_bound(steps: list[str]) -> None:
    feed = make_feed(2)
    stream = EventStream(feed)
    for n, step in enumerate(steps):
        if step == "deliver":
            feed.deliver(event(n))
        else:
            feed.crash(crashed())
    assert len(drain(stream)) <= 4 * (2 + 1)


def test_a_crash_is_reported_in_its_place_and_the_stream_continues() -> None:
    feed = make_feed(10)
    stream = EventStream(feed)
    feed.deliver(event(0))
    feed.crash(crashed())
    feed.crash(crashed())
    feed.deliver(event(1))
    feed.crash(crashed())
    assert drain(stream) == [0, "crash", 1, "crash"]
    feed.crash(crashed())
    assert drain(stream) == ["crash"]


async def test_buffered_events_are_read_before_the_end_is_raised() -> None:
    feed = make_feed(2)
    stream = EventStream(feed)
    for n in range(3):
        feed.deliver(event(n))
    feed.end(gone)
    assert number(await stream.receive()) == 0
    assert number(await stream.receive()) == 1
    with pytest.raises(EventsLostError):
        await stream.receive()
    for _ in range(2):
        with pytest.raises(SessionGoneError):
            await stream.receive()
    with pytest.raises(SessionGoneError):
        stream.receive_nowait()


async def test_the_end_wakes_every_waiting_task() -> None:
    feed = make_feed(1)
    stream = EventStream(feed)

    async def wait() -> None:
        with pytest.raises(SessionGoneError):
            await stream.receive()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        feed.end(gone)


async def test_the_first_reason_of_an_end_stays() -> None:
    feed = make_feed(1)
    stream = EventStream(feed)
    feed.end(gone)
    feed.end(lambda: trio.ClosedResourceError("later"))
    with pytest.raises(SessionGoneError):
        await stream.receive()


async def test_iterating_ends_with_the_reason() -> None:
    feed = make_feed(5)
    stream = EventStream(feed)
    for n in range(3):
        feed.deliver(event(n))
    feed.end(gone)
    got = []
    with pytest.raises(SessionGoneError):
        async for received in stream:
            got.append(number(received))  # noqa: PERF401 (the loop ends with an error, and earlier items count)
    assert got == [0, 1, 2]


async def test_cancelled_receive_loses_nothing() -> None:
    feed = make_feed(5)
    stream = EventStream(feed)
    feed.deliver(event(0))
    with trio.CancelScope() as scope:
        scope.cancel()
        await stream.receive()
    assert scope.cancelled_caught
    assert number(await stream.receive()) == 0

    with trio.CancelScope() as waiting:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.receive)
            await trio.testing.wait_all_tasks_blocked()
            waiting.cancel()
    feed.deliver(event(1))
    assert number(await stream.receive()) == 1


async def test_an_event_that_arrives_in_the_tick_of_the_cancellation_is_received_or_kept() -> None:
    feed = make_feed(5)
    stream = EventStream(feed)
    got: list[int] = []

    async def consume() -> None:
        got.append(number(await stream.receive()))

    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consume)
            await trio.testing.wait_all_tasks_blocked()
            feed.deliver(event(0))
            scope.cancel()
    assert got + drain(stream) == [0]


async def test_receive_gives_other_tasks_their_turn() -> None:
    feed = make_feed(100)
    stream = EventStream(feed)
    for n in range(100):
        feed.deliver(event(n))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(other)
        for _ in range(100):
            await stream.receive()
        nursery.cancel_scope.cancel()
    assert turns >= 90


@pytest.mark.parametrize(
    ("patterns", "method", "wanted"),
    [
        (("*",), "A.b", True),
        (("A.*",), "A.b", True),
        (("A.*",), "AB.c", False),
        (("A.b", "C.d"), "C.d", True),
        (("A.b",), "A.bc", False),
    ],
)
def test_which_events_belong_to_a_stream(patterns: tuple[str, ...], method: str, wanted: bool) -> None:
    assert make_feed(1, *patterns).wants(method) is wanted
