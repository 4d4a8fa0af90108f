"""Execution contexts: in which of a page's worlds something is evaluated.

Rule: the main frame of a session needs no context, it is Chrome's default. For the main world of a frame inside of
it, Chrome is asked for its contexts each time: their numbers start anew with every renderer process, so one that
was remembered could name another frame's. It is asked on the evaluation session, where nothing else wants to know:
Chrome tells them only when `Runtime` is enabled anew. The numbers are the same on all sessions of a process.
"""

from __future__ import annotations

import msgspec

from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session
from cdpengine.errors import NodeNotFoundError, RemoteError


class _AuxData(msgspec.Struct, rename="camel"):
    frame_id: str = ""
    is_default: bool = False


class _Context(msgspec.Struct, rename="camel"):
    id: int
    aux_data: _AuxData = msgspec.field(default_factory=_AuxData)


class _ContextCreated(msgspec.Struct):
    context: _Context


_MARK = "Runtime.executionContextCreated"


async def context_of(
    page: PageTarget, session: Session, worlds: IsolatedWorlds, frame: Frame, world: str
) -> int | None:
    """Return the id of the frame's context in that world, None for the session's default one.

    Raises NodeNotFoundError when the frame is gone; as `PageTarget.evaluation_session_of`, for the main world of a
    frame inside.
    """
    gone = NodeNotFoundError(
        target=f"frame {frame.url[:200] or frame.id[:8]}", reason="it is gone, or moved to another process"
    )
    if world == "isolated":
        try:
            return await worlds.users_context(session, frame.id)
        except RemoteError:
            raise gone from None
    if frame.id == session.target_id:
        return None
    evaluation_session = await page.evaluation_session_of(session.target_id or page.target_id)
    # Enabling tells all contexts that there are, before it is answered.
    async with (
        evaluation_session.subscribe(_MARK, enable=False) as events,
        evaluation_session.enabled("Runtime"),
    ):
        found = None
        while events.statistics().waiting:
            context = (await events.receive()).decode(_ContextCreated).context
            if context.aux_data.is_default and context.aux_data.frame_id == frame.id:
                found = context.id
    if found is None:
        raise gone
    return found
