"""Shared helpers of the tests against the scripted peer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from cdpengine._protocol.session import Connection, Session
from cdpengine.testing import SILENCE, Request, ScriptedPeer
from cdpengine.testing.peer import Answer

Kind = Literal["websocket", "pipe"]


async def settled(connection: Connection) -> None:
    """Wait until this connection has read everything sent to it before."""
    await connection.root.call("Test.settled")


async def attach(
    connection: Connection, peer: ScriptedPeer, session_id: str, target_id: str | None = None, **options: str
) -> Session:
    """Attach a target and return its session."""
    peer.attach_target(session_id, target_id, **options)  # type: ignore[arg-type]
    await settled(connection)
    return connection.targets.sessions[session_id]


def raw_answer(peer: ScriptedPeer, message: str) -> Callable[[Request], Answer]:
    """Return a handler that answers with `message` unchanged, except that ID becomes the request's id."""

    def answer(request: Request) -> Answer:
        peer.send_raw(message.replace("ID", str(request.id), 1))
        return SILENCE

    return answer
