"""Subscriptions: every loss is reported, and domains are enabled by reference count."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from rounds import rounds
from scripting import attach, settled

from cdpengine._protocol.session import Connection, Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import EventsLostError, InvalidArgumentError, RemoteError
from cdpengine.testing import SILENCE, ScriptedPeer


def methods(peer: ScriptedPeer) -> list[str]:
    return [request.method for request in peer.received if not request.method.startswith("Test.")]


async def test_events_of_the_right_session_and_pattern(peer: ScriptedPeer, connection: Connection) -> None:
    first, second = await attach(connection, peer, "A"), await attach(connection, peer, "B")
    async with (
        first.subscribe("X.*", "Y.one") as events,
        second.subscribe("*") as everything,
        connection.root.subscribe("X.*") as of_root,
    ):
        for n, (method, session) in enumerate(
            [("X.a", "A"), ("Y.two", "A"), ("Y.one", "A"), ("X.a", "B"), ("X.a", None), ("XX.a", "A")]
        ):
            peer.send_event(method, {"n": n}, session_id=session)
        await settled(connection)
        assert [(await events.receive()).params["n"] for _ in range(2)] == [0, 2]
        assert (await everything.receive()).session_id == "B"
        assert (await of_root.receive()).params == {"n": 4}
        for stream in (events, everything, of_root):
            with pytest.raises(trio.WouldBlock):
                stream.receive_nowait()


async def test_unknown_events_enum_values_and_fields_pass_through(peer: ScriptedPeer, root: Session) -> None:
    async with root.subscribe("*") as events:
        peer.send_event("Brand.newEvent", {"reason": "brandNewReason", "new": {"x": [None]}})
        event = await events.receive()
    assert (event.method, event.params["reason"]) == ("Brand.newEvent", "brandNewReason")


async def test_many_events_reach_a_consumer_with_buffer_space(peer: ScriptedPeer, root: Session) -> None:
    count = rounds(20_000, 100_000)
    async with root.subscribe("X.*", buffer=count) as events:
        for n in range(count):
            peer.send_event("X.e", {"n": n})
        for n in range(count):
            assert (await events.receive()).params["n"] == n
        assert events.dropped == 0


async def test_many_events_and_a_slow_consumer(peer: ScriptedPeer, connection: Connection) -> None:
    count = rounds(20_000, 100_000)
    got = lost = 0
    expected = 0
    finished = trio.Event()
    async with connection.root.subscribe("X.*", buffer=50) as events, trio.open_nursery() as nursery:

        @nursery.start_soon
        async def consume() -> None:
            nonlocal got, lost, expected
            while expected < count:
                try:
                    event = await events.receive()
                except EventsLostError as gap:
                    lost += gap.count
                    expected += gap.count
                else:
                    assert event.params["n"] == expected
                    expected += 1
                    got += 1
                for _ in range(5):
                    await trio.lowlevel.checkpoint()
            finished.set()

        for n in range(count // 2):
            peer.send_event("X.e", {"n": n})
        # A call during the burst is answered in its turn, by a reader that nothing delays.
        with trio.fail_after(30):
            assert await connection.root.call("A.meanwhile") == {}
        for n in range(count // 2, count):
            peer.send_event("X.e", {"n": n})
        await settled(connection)
        with trio.fail_after(30):
            await finished.wait()
        statistics = events.statistics()
    assert got + lost == count
    assert lost > 0
    assert got > 50
    assert (statistics.received, statistics.dropped) == (got, lost)


async def test_leaving_ends_the_stream(peer: ScriptedPeer, root: Session) -> None:
    async with trio.open_nursery() as nursery, root.subscribe("X.*") as events:

        @nursery.start_soon
        async def wait() -> None:
            with pytest.raises(trio.ClosedResourceError):
                await events.receive()

        await trio.testing.wait_all_tasks_blocked()
    peer.send_event("X.late")
    await settled(root.connection)
    assert events.statistics().received == 0


async def test_wait_for(peer: ScriptedPeer, root: Session) -> None:
    got: list[Event] = []

    def second(event: Event) -> bool:
        return bool(event.params["n"] == 2)

    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def wait() -> None:
            got.append(await root.wait_for("X.e", where=second))

        await trio.testing.wait_all_tasks_blocked()
        for n in range(4):
            peer.send_event("X.e", {"n": n})
    assert [event.params["n"] for event in got] == [2]


async def test_wait_for_reports_lost_events(peer: ScriptedPeer, root: Session) -> None:
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def wait() -> None:
            with pytest.raises(EventsLostError):
                await root.wait_for("X.e", where=lambda _event: False, buffer=1)

        await trio.testing.wait_all_tasks_blocked()
        for _ in range(50):
            root.feed.deliver(Event("X.e", None, b"{}"))


@pytest.mark.parametrize("patterns", [(), ("",), ("Network",), ("Net*",), (5,)])
async def test_invalid_patterns_are_refused(root: Session, patterns: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgumentError):
        async with root.subscribe(*patterns):
            pytest.fail("subscribed")


@pytest.mark.parametrize("buffer", [0, -1, True, 1.5, "9"])
async def test_invalid_buffers_are_refused(root: Session, buffer: int) -> None:
    with pytest.raises(InvalidArgumentError, match="buffer"):
        async with root.subscribe("A.*", buffer=buffer):
            pytest.fail("subscribed")


# --- domains -----------------------------------------------------------------------------------------------


async def test_a_domain_is_enabled_once_and_disabled_by_the_last(peer: ScriptedPeer, root: Session) -> None:
    async with root.subscribe("Network.*"):
        async with root.subscribe("Network.requestWillBeSent", "Log.entryAdded"):
            assert methods(peer) == ["Network.enable", "Log.enable"]
        await settled(root.connection)
        assert methods(peer) == ["Network.enable", "Log.enable", "Log.disable"]
    await settled(root.connection)
    assert methods(peer)[3:] == ["Network.disable"]
    async with root.subscribe("Network.*"):
        assert methods(peer)[4:] == ["Network.enable"]
    await settled(root.connection)
    assert methods(peer)[5:] == ["Network.disable"]


async def test_domains_that_do_more_than_report_are_left_alone(peer: ScriptedPeer, root: Session) -> None:
    async with root.subscribe("Fetch.*", "Debugger.*", "Target.*", "*"):
        pass
    async with root.subscribe("Network.*", enable=False):
        pass
    assert methods(peer) == []


async def test_a_domain_that_needs_another(peer: ScriptedPeer, root: Session) -> None:
    async with root.subscribe("CSS.*"):
        assert methods(peer) == ["DOM.enable", "CSS.enable"]
    await settled(root.connection)
    assert methods(peer)[2:] == ["CSS.disable", "DOM.disable"]


async def test_domains_are_counted_for_each_session(peer: ScriptedPeer, connection: Connection) -> None:
    first, second = await attach(connection, peer, "A"), await attach(connection, peer, "B")
    async with first.subscribe("Network.*"), second.subscribe("Network.*"):
        assert peer.count("Network.enable") == 2
    await settled(connection)
    assert peer.count("Network.disable") == 2


async def test_the_second_subscriber_waits_for_the_enable_of_the_first(
    peer: ScriptedPeer, root: Session
) -> None:
    hold = peer.hold("Network.enable")
    entered: list[int] = []

    async def subscribe(n: int) -> None:
        async with root.subscribe("Network.*"):
            entered.append(n)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(subscribe, 1)
        await hold.wait()
        nursery.start_soon(subscribe, 2)
        await trio.testing.wait_all_tasks_blocked()
        assert entered == []
        hold.release()
    assert sorted(entered) == [1, 2]
    await settled(root.connection)
    assert methods(peer) == ["Network.enable", "Network.disable"]


@pytest.mark.parametrize("written", [False, True])
async def test_the_first_subscriber_is_cancelled_while_enabling_and_the_second_still_gets_its_events(
    peer: ScriptedPeer, root: Session, written: bool
) -> None:
    hold = peer.hold("Network.enable")
    first = trio.CancelScope()
    inside = trio.Event()
    leave = trio.Event()

    async def subscribe_first() -> None:
        with first:
            async with root.subscribe("Network.*"):
                pytest.fail("entered")

    async def subscribe_second() -> None:
        async with root.subscribe("Network.*"):
            inside.set()
            await leave.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(subscribe_first)
        if written:
            await hold.wait()
        nursery.start_soon(subscribe_second)
        if not written:
            # With some schedules, both have posted before the writer runs.
            await trio.lowlevel.checkpoint()
        first.cancel()
        await hold.wait()
        await trio.testing.wait_all_tasks_blocked()
        assert not inside.is_set()
        hold.release()
        await inside.wait()
        assert methods(peer)[-1] == "Network.enable"
        leave.set()
    await settled(root.connection)
    assert methods(peer)[-1] == "Network.disable"
    async with root.subscribe("Log.*"):
        pass


async def test_cancelled_while_enabling_it_is_disabled_again(
    peer: ScriptedPeer, connection: Connection
) -> None:
    hold = peer.hold("Network.enable")
    with trio.CancelScope() as scope:
        async with trio.open_nursery() as nursery:

            @nursery.start_soon
            async def subscribe() -> None:
                async with connection.root.subscribe("Network.*"):
                    pytest.fail("entered")

            await hold.wait()
            scope.cancel()
    await settled(connection)
    assert methods(peer) == ["Network.enable", "Network.disable"]
    assert connection.statistics().in_flight == 0
    hold.release()
    peer.on("Network.enable")
    async with connection.root.subscribe("Network.*"):
        assert methods(peer)[2:] == ["Network.enable"]


async def test_a_refused_enable_reaches_every_waiting_subscriber(
    peer: ScriptedPeer, connection: Connection
) -> None:
    hold = peer.hold("Network.enable")
    errors: list[RemoteError] = []

    async def subscribe() -> None:
        with pytest.raises(RemoteError, match="wasn't found") as caught:
            async with connection.root.subscribe("Network.*"):
                pytest.fail("entered")
        errors.append(caught.value)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(subscribe)
        nursery.start_soon(subscribe)
        (request,) = await hold.wait()
        await trio.testing.wait_all_tasks_blocked()
        request.refuse(-32601, "'Network.enable' wasn't found")
    assert len(errors) == 2
    assert errors[0] is not errors[1]
    # It counts for nothing: the next subscriber tries again.
    peer.on("Network.enable")
    async with connection.root.subscribe("Network.*"):
        assert peer.count("Network.enable") == 2


async def test_a_refused_disable_is_not_an_error(peer: ScriptedPeer, root: Session) -> None:
    peer.on("Network.disable", error=(-32000, "no"))
    async with root.subscribe("Network.*", "Log.*"):
        pass
    await settled(root.connection)
    assert peer.count("Log.disable") == 1


async def test_a_disable_that_is_never_answered_does_not_delay_leaving(
    peer: ScriptedPeer, connection: Connection
) -> None:
    for domain in ("Network", "Log", "Runtime"):
        peer.on(f"{domain}.disable", SILENCE)
    started = trio.current_time()
    async with connection.root.subscribe("Network.*", "Log.*", "Runtime.*"):
        left = trio.current_time()
    assert trio.current_time() - left < 0.5 + (left - started), "leaving did not wait for the answers"
    await settled(connection)
    assert connection.statistics().in_flight == 3, "they end with their session"
    connection.wire.close()
    assert connection.statistics().in_flight == 0


async def test_a_crash_while_enabling_counts_for_nothing(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S")
    peer.crash_target("S")
    await settled(connection)
    with pytest.raises(Exception, match="crashed"):
        async with session.subscribe("Network.*"):
            pytest.fail("entered")
    peer.send_event("Inspector.targetReloadedAfterCrash", session_id="S")
    await settled(connection)
    async with session.subscribe("Network.*"):
        assert methods(peer) == ["Network.enable"]
    await settled(connection)
    assert methods(peer) == ["Network.enable", "Network.disable"]


async def test_a_crashed_session_can_be_listened_to(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S")
    peer.crash_target("S")
    await settled(connection)
    async with session.subscribe("Inspector.targetReloadedAfterCrash", enable=False) as events:
        peer.send_event("Inspector.targetReloadedAfterCrash", session_id="S")
        assert (await events.receive()).method == "Inspector.targetReloadedAfterCrash"


async def test_holding_a_domain_by_hand(peer: ScriptedPeer, root: Session) -> None:
    assert root.domains.add_user("Page")
    assert not root.domains.add_user("Page")
    async with root.subscribe("Page.*"):
        assert methods(peer) == []
    root.domains.release("Page")
    await settled(root.connection)
    assert methods(peer) == []
    root.domains.release("Page")
    await settled(root.connection)
    assert methods(peer) == ["Page.disable"]


async def test_an_error_of_the_body_propagates_unchanged(peer: ScriptedPeer, root: Session) -> None:
    error = KeyError("body")
    with pytest.raises(KeyError) as caught:
        async with root.subscribe("Network.*"):
            raise error
    assert caught.value is error
    await settled(root.connection)
    assert methods(peer) == ["Network.enable", "Network.disable"]
