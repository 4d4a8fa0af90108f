"""Renderer processes: which one a document is in. Backend node ids count per renderer process.

Rule: Chrome names no process to a client, but each renderer has one V8 isolate for its pages, of which
`Runtime.getIsolateId` tells a random id: two documents are in one process when that is the same.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from cdpengine._page.frames import Frame
from cdpengine._protocol.domains.runtime import IsolateIdReply
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError

_known: WeakKeyDictionary[Session, dict[str, str]] = WeakKeyDictionary()
"""What was told, by loader id. A document stays in the process that it is in."""

_DOCUMENTS_REMEMBERED = 100


async def renderer_id(session: Session) -> str | None:
    """Return the id of the renderer process that answers on `session` now; None from a browser that tells none.

    Raises as `Session.call` does.
    """
    try:
        return (await session.request("Runtime.getIsolateId", {}, IsolateIdReply)).id
    except RemoteError:
        return None


async def renderer_of(session: Session, frame: Frame) -> str | None:
    """Return the id of the process that the frame's present document is in; asked once for each document.

    Should the document be replaced meanwhile, it may be that of the next one. Raises as `Session.call` does.
    """
    loader_id = frame.loader_id
    known = _known.setdefault(session, {})
    told = known.get(loader_id)
    if told is None:
        told = await renderer_id(session)
        # Chrome tells of a new document before that document's process answers anything.
        if told is not None and frame.loader_id == loader_id and frame.session_id == session.id:
            known[loader_id] = told
            while len(known) > _DOCUMENTS_REMEMBERED:
                del known[next(iter(known))]
    return told
