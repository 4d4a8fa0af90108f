"""Sessions and targets: the parts that end together, and the parts that are unaffected."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import pytest
import trio
import trio.testing
from scripting import attach, settled

from cdpengine._protocol.feed import CRASHED
from cdpengine._protocol.session import Connection, Session
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, SessionGoneError, TargetCrashedError
from cdpengine.testing import Request, ScriptedPeer

Ending = Callable[[ScriptedPeer], None]

ENDINGS: dict[str, tuple[Ending, type[SessionGoneError]]] = {
    "detached": (lambda peer: peer.detach_target("S"), SessionGoneError),
    "destroyed": (
        lambda peer: peer.send_event("Target.targetDestroyed", {"targetId": "T-S"}),
        SessionGoneError,
    ),
    "renderer crashed": (lambda peer: peer.crash_target("S"), TargetCrashedError),
    "target crashed": (
        lambda peer: peer.send_event(
            "Target.targetCrashed", {"targetId": "T-S", "status": "crashed", "errorCode": 5}
        ),
        TargetCrashedError,
    ),
}


async def test_a_session_exists_from_its_attachment_on(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S", "T-S", kind="iframe", url="http://x/")
    assert (session.id, session.target_id, session.target_type) == ("S", "T-S", "iframe")
    assert session.parent is connection.root
    attachment = await connection.targets.attachments.receive()
    assert attachment.session is session
    assert attachment.info.url == "http://x/"
    assert not attachment.waiting
    await session.call("Page.enable")
    assert peer.received[-1].session_id == "S"


async def test_a_session_is_usable_right_after_its_attachment(
    peer: ScriptedPeer, connection: Connection
) -> None:
    def attach_it(_request: Request) -> dict[str, str]:
        peer.attach_target("S", "T")
        return {"sessionId": "S"}

    peer.on("Target.attachToTarget", attach_it)
    reply = await connection.root.call("Target.attachToTarget", targetId="T", flatten=True)
    assert await connection.targets.sessions[reply["sessionId"]].call("A.b") == {}


async def test_the_same_attachment_twice_is_one_session(peer: ScriptedPeer, connection: Connection) -> None:
    first = await attach(connection, peer, "S")
    assert await attach(connection, peer, "S") is first
    assert connection.statistics().sessions == 1


@pytest.mark.parametrize("how", ENDINGS)
async def test_an_ended_session_ends_its_calls_only(
    peer: ScriptedPeer, connection: Connection, how: str
) -> None:
    end, expected = ENDINGS[how]
    session = await attach(connection, peer, "S", "T-S")
    other = await attach(connection, peer, "O", "T-O")
    hold = peer.hold("A.b")
    ended: list[str | None] = []

    async def call(method: str) -> None:
        with pytest.raises(expected) as caught:
            await session.call(method)
        assert type(caught.value) is expected
        assert "T-S" in str(caught.value)
        ended.append(caught.value.method)

    peer.on("A.c", hold)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(call, "A.b")
        nursery.start_soon(call, "A.c")
        nursery.start_soon(other.call, "A.b")
        nursery.start_soon(connection.root.call, "A.b")
        await hold.wait(4)
        end(peer)
        await settled(connection)
        await trio.testing.wait_all_tasks_blocked()
        assert sorted(map(str, ended)) == ["A.b", "A.c"]
        assert connection.statistics().in_flight == 2
        assert await other.call("A.d") == {}
        hold.release()
    await settled(connection)
    assert connection.statistics().late_replies == 2
    with pytest.raises(expected, match=r"during A\.later"):
        await session.call("A.later")
    assert peer.count("A.later") == 0


@pytest.mark.parametrize("how", ["detached", "destroyed"])
async def test_streams_of_an_ended_session_end_after_their_buffered_events(
    peer: ScriptedPeer, connection: Connection, how: str
) -> None:
    session = await attach(connection, peer, "S", "T-S")
    async with session.subscribe("A.*") as events:
        peer.send_event("A.last", session_id="S")
        ENDINGS[how][0](peer)
        await settled(connection)
        assert (await events.receive()).method == "A.last"
        with pytest.raises(SessionGoneError):
            await events.receive()
    assert session.ended
    with pytest.raises(SessionGoneError):
        async with session.subscribe("A.*"):
            pytest.fail("subscribed to an ended session")
    with pytest.raises(SessionGoneError):
        await session.wait_for("A.b")


@pytest.mark.parametrize("how", ["renderer crashed", "target crashed"])
async def test_a_crashed_session_lives_again_after_a_reload(
    peer: ScriptedPeer, connection: Connection, how: str
) -> None:
    session = await attach(connection, peer, "S", "T-S")

    def reloaded(_request: Request) -> None:
        peer.send_event("Inspector.targetReloadedAfterCrash", session_id="S")

    async with session.subscribe("Page.*") as events:
        peer.send_event("Page.before", session_id="S")
        ENDINGS[how][0](peer)
        await settled(connection)
        assert session.crashed
        assert not session.ended
        assert (await events.receive()).method == "Page.before"
        with pytest.raises(TargetCrashedError):
            await events.receive()
        with pytest.raises(TargetCrashedError):
            await session.call("Runtime.evaluate")
        # Measured: Chrome sends this before it answers the reload, and the domains stay enabled.
        peer.on("Page.reload", reloaded)
        assert await session.call("Page.reload") == {}
        assert session.error() is None
        peer.send_event("Page.after", session_id="S")
        assert (await events.receive()).method == "Page.after"
        assert await session.call("Runtime.evaluate") == {}
    await settled(connection)
    assert peer.count("Page.enable") == 1
    assert peer.count("Page.disable") == 1


async def test_a_crash_reported_twice_counts_once(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S", "T-S")
    async with session.subscribe("A.*") as events:
        ENDINGS["renderer crashed"][0](peer)
        ENDINGS["target crashed"][0](peer)
        await settled(connection)
        with pytest.raises(TargetCrashedError):
            await events.receive()
        with pytest.raises(trio.WouldBlock):
            events.receive_nowait()


async def test_a_crash_of_the_target_of_the_connection_ends_only_its_calls(
    peer: ScriptedPeer, connection: Connection
) -> None:
    # On a page's own endpoint, the session without an id is the page.
    session = await attach(connection, peer, "S")
    hold = peer.hold("A.b")
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def call() -> None:
            with pytest.raises(TargetCrashedError):
                await connection.root.call("A.b")

        nursery.start_soon(session.call, "A.b")
        await hold.wait(2)
        peer.send_event("Inspector.targetCrashed")
        assert await session.call("A.c") == {}
        peer.send_event("Inspector.targetReloadedAfterCrash")
        hold.release()
    await session.call("A.c")


async def test_children_end_with_their_parent(peer: ScriptedPeer, connection: Connection) -> None:
    page = await attach(connection, peer, "page")
    frame = await attach(connection, peer, "frame", kind="iframe", parent="page")
    worker = await attach(connection, peer, "worker", kind="worker", parent="frame")
    other = await attach(connection, peer, "other")
    hold = peer.hold("A.b")
    errors: dict[str, SessionGoneError] = {}

    async def call(name: str, session: Session) -> None:
        with pytest.raises(SessionGoneError) as caught:
            await session.call("A.b")
        errors[name] = caught.value

    assert frame.parent is page
    assert worker.parent is frame
    async with trio.open_nursery() as nursery:
        for name, session in (("page", page), ("frame", frame), ("worker", worker)):
            nursery.start_soon(call, name, session)
        await hold.wait(3)
        peer.detach_target("page")
    assert "through which it was attached" in errors["worker"].reason
    assert "through which it was attached" not in errors["page"].reason
    assert list(connection.targets.sessions.values()) == [other]
    assert await other.call("A.c") == {}
    await settled(connection)


async def test_a_child_ends_alone(peer: ScriptedPeer, connection: Connection) -> None:
    page = await attach(connection, peer, "page")
    frame = await attach(connection, peer, "frame", parent="page")
    peer.detach_target("frame", parent="page")
    await settled(connection)
    assert frame.ended
    assert not page.ended
    assert await page.call("A.b") == {}


async def test_news_of_unknown_sessions_and_targets_is_normal_life(
    peer: ScriptedPeer, connection: Connection
) -> None:
    peer.detach_target("nobody")
    peer.send_event("Target.targetDestroyed", {"targetId": "nobody"})
    peer.send_event("Target.targetCrashed", {"targetId": "nobody"})
    peer.send_event("Inspector.targetCrashed", session_id="nobody")
    peer.attach_target("S", parent="nobody")
    peer.send_event("Target.brandNew", {"x": 1})
    await settled(connection)
    assert connection.statistics().sessions == 0
    assert connection.statistics().events_of_unknown_sessions == 2


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"sessionId": 5},
        {"sessionId": "S"},
        {"sessionId": "S", "targetInfo": {"type": "page"}},
        {"targetInfo": None},
    ],
)
async def test_target_events_of_another_shape_are_skipped(
    peer: ScriptedPeer, connection: Connection, params: dict[str, object]
) -> None:
    deep = '{"x":' + "[" * 400 + "]" * 400 + "}"
    for method in (
        "Target.attachedToTarget",
        "Target.detachedFromTarget",
        "Target.targetCreated",
        "Target.targetInfoChanged",
        "Target.targetDestroyed",
        "Target.targetCrashed",
    ):
        peer.send_event(method, params)
        peer.send_raw(f'{{"method":"{method}","params":{deep}}}')
        peer.send_raw(f'{{"method":"{method}","params":null}}')
    await settled(connection)
    assert connection.statistics().sessions == 0


async def test_new_kinds_of_target_and_new_fields(peer: ScriptedPeer, connection: Connection) -> None:
    info = {"targetId": "T", "type": "hologram", "brandNew": {"x": [1]}}
    peer.send_event("Target.attachedToTarget", {"sessionId": "S", "targetInfo": info, "new": 1})
    await settled(connection)
    assert connection.targets.sessions["S"].target_type == "hologram"


async def test_infos_cover_living_targets_only(peer: ScriptedPeer, connection: Connection) -> None:
    infos = connection.targets.infos
    await attach(connection, peer, "S", "T-S")
    assert set(infos) == {"T-S"}
    peer.send_event("Target.targetCreated", {"targetInfo": {"targetId": "T", "type": "page", "url": "a"}})
    peer.send_event("Target.targetInfoChanged", {"targetInfo": {"targetId": "T", "type": "page", "url": "b"}})
    await attach(connection, peer, "S2", "T")
    peer.detach_target("S2")
    peer.detach_target("S")
    await settled(connection)
    # No event will report the end of a target that was never announced. An announced target lives on.
    assert set(infos) == {"T"}
    peer.send_event("Target.targetDestroyed", {"targetId": "T"})
    await settled(connection)
    assert not infos


async def test_two_sessions_of_one_target(peer: ScriptedPeer, connection: Connection) -> None:
    first = await attach(connection, peer, "S1", "T")
    second = await attach(connection, peer, "S2", "T")
    peer.detach_target("S1")
    await settled(connection)
    assert first.ended
    assert not second.ended
    assert set(connection.targets.infos) == {"T"}
    peer.send_event("Target.targetDestroyed", {"targetId": "T"})
    await settled(connection)
    assert second.ended


async def test_many_sessions_come_and_go_without_a_trace(peer: ScriptedPeer, connection: Connection) -> None:
    for n in range(300):
        peer.attach_target(f"S{n}", f"T{n}")
        peer.detach_target(f"S{n}")
    await settled(connection)
    assert not connection.targets.sessions
    assert not connection.targets.infos


async def test_attachments_end_with_the_connection(peer: ScriptedPeer, connection: Connection) -> None:
    await attach(connection, peer, "S")
    peer.drop()
    with pytest.raises(ConnectionLostError):
        await connection.root.wait_for("A.b")
    assert [attachment.session.id async for attachment in connection.targets.attachments] == ["S"]


async def test_sinks_run_before_later_messages(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S")
    seen: list[str] = []
    session.on_event("A.moved", lambda event: seen.append(event.params["to"]))

    def move(_request: Request) -> None:
        peer.send_event("A.moved", {"to": "there"}, session_id="S")

    peer.on("A.move", move)
    await session.call("A.move")
    assert seen == ["there"]


async def test_a_sink_can_remove_itself(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S")
    seen: list[str] = []

    def once(_event: object) -> None:
        seen.append("once")
        session.off_event("A.b", once)

    session.on_event("A.b", once)
    session.on_event("A.b", lambda _: seen.append("always"))
    peer.send_event("A.b", session_id="S")
    peer.send_event("A.b", session_id="S")
    await settled(connection)
    assert seen == ["once", "always", "always"]


async def test_a_callback_that_raises_is_logged_and_ends_nothing(
    peer: ScriptedPeer, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    session = await attach(connection, peer, "S", "T-S")
    seen: list[str] = []

    def fail(*_args: object) -> None:
        seen.append("called")
        raise ZeroDivisionError("mine")

    for method in ("A.b", CRASHED):
        session.on_event(method, fail)
        session.on_event(method, lambda event: seen.append(event.method))
    session.on_end(fail)
    session.on_end(lambda: seen.append("end"))
    async with session.subscribe("A.*", enable=False) as events:
        for _ in range(2):
            peer.send_event("A.b", session_id="S")
            assert (await events.receive()).method == "A.b"
    peer.on("A.ask", result={"answered": True})
    assert await session.call("A.ask") == {"answered": True}
    peer.send_event("Inspector.targetCrashed", session_id="S")
    await settled(connection)
    peer.detach_target("S")
    await settled(connection)
    assert seen == ["called", "A.b"] * 2 + ["called", CRASHED, "called", "end"]
    assert connection.statistics().failed_callbacks == 4
    assert connection.lost is None
    records = [record for record in caplog.records if "failed" in record.getMessage()]
    assert [record.levelname for record in records] == ["ERROR"] * 4
    assert "a callback for A.b failed with ZeroDivisionError" in records[0].getMessage()
    assert records[0].exc_info is not None
    with pytest.raises(ZeroDivisionError):
        session.on_end(fail)  # it has ended: the callback runs immediately


async def test_on_end_is_called_once(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S", "T-S")
    seen: list[str] = []
    session.on_end(lambda: seen.append("before"))
    peer.detach_target("S")
    peer.send_event("Target.targetDestroyed", {"targetId": "T-S"})
    await settled(connection)
    session.on_end(lambda: seen.append("after"))
    assert seen == ["before", "after"]


async def test_repr_and_errors_name_only_the_target(peer: ScriptedPeer, connection: Connection) -> None:
    session = await attach(connection, peer, "S", "0123456789ABCDEF", url="https://x/?token=hunter2")
    assert repr(session) == "<Session page 01234567>"
    peer.detach_target("S")
    await settled(connection)
    assert repr(session) == "<Session page 01234567 ended>"
    with pytest.raises(SessionGoneError) as caught:
        await session.call("A.b", text="hunter2")
    assert "hunter2" not in str(caught.value)
    error = session.error()
    assert isinstance(error, SessionGoneError)


@pytest.mark.parametrize("way", ["call", "post"])
async def test_parameters_are_passed_by_name_or_as_a_mapping(
    peer: ScriptedPeer, root: Session, way: str
) -> None:
    async def send(*given: object, **named: object) -> None:
        if way == "call":
            await root.call("D.m", *given, **named)  # type: ignore[arg-type]
        else:
            await root.post("D.m", *given, **named).raw()  # type: ignore[arg-type]
        sent.append(peer.received[-1].params)

    sent: list[object] = []
    await send(a=1, given=2)
    await send({"a": 1})
    await send(MappingProxyType({"method": 1}), b=2)
    await send({})
    await send(None)
    assert sent == [{"a": 1, "given": 2}, {"a": 1}, {"method": 1, "b": 2}, {}, {}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("https://example.com", r"a str, .*call\(\"D.m\", \{\"name\": value\}\)"),
        ([("a", 1)], "a list, "),
        ({1: 2}, "keys that are not str"),
        ({"a": 1}, "a both in the mapping and by name"),
    ],
)
async def test_unsendable_parameters_explain_what_to_write(
    peer: ScriptedPeer, root: Session, given: object, message: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        await root.call("D.m", given, a=2)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError, match=message):
        root.post("D.m", given, a=2)  # type: ignore[arg-type]
    assert peer.received == []
