"""Healing: from a stale ref to what stands in its place now, only where that is sure.

Rule: the frame that the ref's node was in is looked at anew, whole, and what has the same role, name and place
among those alike is taken if the frame still has as many of them, and if it was not there beside the old one.
"""

from __future__ import annotations

import attrs

from cdpengine._api.targets import frame_of
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.capture import Capture, Scope, capture
from cdpengine._snapshot.refs import Ref, RefTable
from cdpengine.errors import StaleRefError


async def look_again(
    page: PageTarget, worlds: IsolatedWorlds, ref: Ref, error: StaleRefError, seconds: float
) -> Capture | None:
    """Read what the frame of a stale ref shows now, in `seconds`; None when it was replaced meanwhile.

    Raises `error` when the frame is gone, and as `Session.call` does.
    """
    frame = frame_of(page, ref)
    if frame is None:
        raise error
    return await capture(page, worlds, Scope(frame=frame), seconds)


def successor(page: PageTarget, refs: RefTable, ref: Ref, error: StaleRefError) -> Ref:
    """Return the ref of what stands in the place of `ref`, right after its frame got its refs.

    Raises `error`, with those of the frame that have the same role and name, when it is not sure.
    """
    frame = frame_of(page, ref)
    healed = None if frame is None else refs.successor(ref, frame.loader_id)
    if frame is None or healed is None:
        here = () if frame is None else refs.alternatives(ref, {frame.loader_id})
        raise attrs.evolve(error, alternatives=here, candidates=True)
    return healed
