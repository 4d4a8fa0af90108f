"""Calls into a page, cancelled or not, while their session or their connection ends: what the caller gets then."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from scripting import attach

from cdpengine._page.scripts.node_lists import objects_of_nodes
from cdpengine._page.scripts.page_functions import (
    NO_OBJECT,
    ExecutionContext,
    ObjectGroup,
    RemoteHandle,
    context_gone,
    expression_command,
    object_group,
    object_of_node,
)
from cdpengine._page.scripts.sign_of_life import post_nothing
from cdpengine._protocol.calls import Turn
from cdpengine._protocol.connection import Connection
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError
from cdpengine.testing import SILENCE, Refusal, Request, ScriptedPeer
from cdpengine.testing.peer import Answer


async def _evaluate_in_turn(session: Session, group: ObjectGroup) -> None:
    call = await Turn(session, post_nothing).post(
        lambda: expression_command(session, "1", group=group), waits=lambda: None
    )
    try:
        await call.raw()
    finally:
        call.abandon()


USES: dict[str, Callable[[Session, ObjectGroup], Awaitable[object]]] = {
    "call": lambda session, group: ExecutionContext(session, 7).call("f", 1, returns=int, group=group),
    "call on an object": lambda session, group: RemoteHandle(session, "1.7.3").call(
        "f", returns=int, group=group
    ),
    "make": lambda session, group: ExecutionContext(session, 7).make("f", group=group),
    "evaluate": lambda session, _group: ExecutionContext(session, 7).evaluate("1", returns=int),
    "a node": lambda session, group: object_of_node(
        ExecutionContext(session, 7).post_resolve(5, group), session
    ),
    "nodes": lambda session, group: objects_of_nodes(session, [5, 6], group),
    "number of a node": lambda session, _group: RemoteHandle(session, "1.7.3").backend_node_id(),
    "a script in its turn": _evaluate_in_turn,
}

ENDS: dict[str, tuple[Callable[[Session], None], type[Exception]]] = {
    "session": (
        lambda session: session._end(
            lambda method: SessionGoneError(target="page", reason="x", method=method)
        ),
        SessionGoneError,
    ),
    "connection": (lambda session: session.connection._lose("cut"), ConnectionLostError),
}


def _silent(peer: ScriptedPeer) -> list[Request]:
    """Have the peer answer no call into a page. Returns those that came."""
    came: list[Request] = []

    def take(request: Request) -> Answer:
        came.append(request)
        return SILENCE

    for method in ("Runtime.callFunctionOn", "Runtime.evaluate", "DOM.resolveNode", "DOM.describeNode"):
        peer.on(method, take)
    return came


@pytest.mark.parametrize("cancelled", [True, False])
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("use", USES)
async def test_what_ends_while_a_group_is_open(
    use: str, end: str, cancelled: bool, connection: Connection, peer: ScriptedPeer
) -> None:
    """The cancellation where there is one, else the reason of the end; never an error of the release."""
    session = await attach(connection, peer, "S")
    came = _silent(peer)
    finish, reason = ENDS[end]
    raised: BaseException | None = None

    async def run() -> None:
        nonlocal raised
        try:
            with scope, object_group("test") as group:
                group.on(session)
                await USES[use](session, group)
        except reason as error:
            raised = error

    scope = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        while not came:
            await trio.testing.wait_all_tasks_blocked()
        if cancelled:
            scope.cancel()
        finish(session)
    assert scope.cancelled_caught is cancelled
    assert (raised is None) is cancelled
    assert raised is None or type(raised) is reason


@pytest.mark.parametrize("end", ENDS)
async def test_a_release_after_the_end_raises_nothing(
    end: str, connection: Connection, peer: ScriptedPeer
) -> None:
    session = await attach(connection, peer, "S")
    with object_group("test") as group:
        group.on(session)
        ENDS[end][0](session)
    RemoteHandle(session, "1.7.3").release()
    ExecutionContext(session, 7).tell("f")


async def test_a_group_is_released_once_in_each_of_its_sessions(
    connection: Connection, peer: ScriptedPeer
) -> None:
    first, second = await attach(connection, peer, "S"), await attach(connection, peer, "T")
    with object_group("test") as group:
        for session in (first, second, first):
            group.on(session)
    group.release()
    await connection.root.call("Test.settled")
    released = [each.session_id for each in peer.received if each.method == "Runtime.releaseObjectGroup"]
    assert sorted(map(str, released)) == ["S", "T"]


async def test_the_id_of_an_object_whose_document_was_left_is_not_sent(
    connection: Connection, peer: ScriptedPeer
) -> None:
    """Where that document comes back, Chrome numbers objects from 1 again: an old id would name another one."""
    session = await attach(connection, peer, "S")
    refusal = Refusal(-32000, "Cannot find context with specified id")
    sent: list[object] = []

    def call(request: Request) -> Answer:
        sent.append(request.params["objectId"])
        return {"result": {"type": "number", "value": 1}} if sent[-1] == "1.7.3" else refusal

    peer.on("Runtime.callFunctionOn", call)
    handle = RemoteHandle(session, "1.7.3")
    assert await handle.call("f", returns=int) == 1
    session.documents_shown += 1
    assert handle.lost
    with pytest.raises(RemoteError) as caught:
        await handle.call("f", returns=int)
    assert context_gone(caught.value)
    assert await RemoteHandle(session, "1.7.3").call("f", returns=int) == 1
    handle.release()
    await connection.root.call("Test.settled")
    assert sent == ["1.7.3", NO_OBJECT, "1.7.3"]
    assert not [each for each in peer.received if each.method == "Runtime.releaseObject"]
