"""Calls into a page, cancelled or not, while their session or connection ends: the outcome for the caller."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import pytest
import trio
import trio.testing
from scripting import attach

from cdpengine._evaluate.replies import receive_value
from cdpengine._page.navigation.liveness import post_empty_evaluation
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
    value_of,
)
from cdpengine._protocol.calls import Turn
from cdpengine._protocol.domains.runtime import EvaluateReply, RemoteObject
from cdpengine._protocol.session import Connection, Session
from cdpengine.errors import ConnectionLostError, EvaluationTerminatedError, RemoteError, SessionGoneError
from cdpengine.testing import SILENCE, Refusal, Request, ScriptedPeer
from cdpengine.testing.peer import Answer


async def _evaluate_in_turn(session: Session, group: ObjectGroup) -> None:
    call = await Turn(session.send_shared, partial(post_empty_evaluation, session)).post(
        lambda: expression_command(session, "1", group=group), waits=lambda: None
    )
    try:
        await call.raw()
    finally:
        call.abandon()


def _end_session(session: Session) -> None:
    def gone(method: str | None) -> SessionGoneError:
        return SessionGoneError(target="page", reason="x", method=method)

    session.connection.wire.fail_calls(session.id, gone)
    session.feed.end(gone)


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
        _end_session,
        SessionGoneError,
    ),
    "connection": (lambda session: session.connection.wire.close(), ConnectionLostError),
}


def _silent(peer: ScriptedPeer) -> list[Request]:
    """Let the peer answer no call into a page. Return the calls."""
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
async def test_ends_during_an_open_group(
    use: str, end: str, cancelled: bool, connection: Connection, peer: ScriptedPeer
) -> None:
    """The caller gets the cancellation if any, otherwise the reason of the end, and never an error of the
    release.
    """
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


WORDS = ["Execution was terminated", "Internal error"]


@pytest.mark.parametrize(
    ("hits", "repeats", "sent"), [(1, True, 2), (8, True, 9), (9, True, 9), (1, False, 1)]
)
@pytest.mark.parametrize("words", WORDS)
async def test_a_call_hit_by_a_termination_is_sent_again(
    words: str, hits: int, repeats: bool, sent: int, connection: Connection, peer: ScriptedPeer
) -> None:
    """The engine repeats the same call, unless it must not run twice or too many terminations hit it."""
    session = await attach(connection, peer, "S")
    came: list[Request] = []

    def take(request: Request) -> Answer:
        came.append(request)
        return Refusal(-32000, words) if len(came) <= hits else {"result": {"type": "number", "value": 5}}

    peer.on("Runtime.callFunctionOn", take)
    call = ExecutionContext(session, 7).post("f", 1, repeats=repeats)
    if hits < sent:
        assert await value_of(call, int) == 5
    else:
        with pytest.raises(EvaluationTerminatedError, match="another page in the same renderer process"):
            await value_of(call, int)
    assert len(came) == sent
    assert all(each.params == came[0].params for each in came)
    assert call.done


async def test_reading_a_value_is_not_repeated(connection: Connection, peer: ScriptedPeer) -> None:
    """A getter of the value can be the script that had to be terminated."""
    session = await attach(connection, peer, "S")
    came: list[Request] = []

    def take(request: Request) -> Answer:
        if "arguments" in request.params:  # otherwise it compares JSON.stringify
            came.append(request)
        return Refusal(-32000, WORDS[0])

    peer.on("Runtime.callFunctionOn", take)
    reply = EvaluateReply(result=RemoteObject(type="object", object_id="1.7.3"))
    with object_group("test") as group, pytest.raises(EvaluationTerminatedError):
        await receive_value(session, reply, group)
    assert len(came) == 1


@pytest.mark.parametrize("end", ENDS)
async def test_a_repeated_call_ends_with_its_session(
    end: str, connection: Connection, peer: ScriptedPeer
) -> None:
    session = await attach(connection, peer, "S")
    came: list[Request] = []

    def take(request: Request) -> Answer:
        came.append(request)
        return SILENCE if len(came) > 1 else Refusal(-32000, WORDS[0])

    peer.on("Runtime.callFunctionOn", take)
    finish, reason = ENDS[end]

    async def ask() -> None:
        with pytest.raises(reason):
            await ExecutionContext(session, 7).call("f", returns=int)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(ask)
        while len(came) < 2:
            await trio.testing.wait_all_tasks_blocked()
        finish(session)


async def test_a_cancelled_call_is_not_sent_again(connection: Connection, peer: ScriptedPeer) -> None:
    session = await attach(connection, peer, "S")
    came: list[Request] = []

    def take(request: Request) -> Answer:
        came.append(request)
        call.abandon()
        return Refusal(-32000, WORDS[0])

    peer.on("Runtime.callFunctionOn", take)
    call = ExecutionContext(session, 7).post("f")
    await connection.root.call("Test.settled")
    assert len(came) == 1


@pytest.mark.parametrize("end", ENDS)
async def test_a_release_after_the_end_raises_nothing(
    end: str, connection: Connection, peer: ScriptedPeer
) -> None:
    session = await attach(connection, peer, "S")
    with object_group("test") as group:
        group.on(session)
        ENDS[end][0](session)
    RemoteHandle(session, "1.7.3").release()
    ExecutionContext(session, 7).send("f")


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


async def test_the_id_of_an_object_of_an_earlier_document_is_not_sent(
    connection: Connection, peer: ScriptedPeer
) -> None:
    """When that document returns, Chrome numbers objects from 1 again, so an old id would name another
    object.
    """
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
