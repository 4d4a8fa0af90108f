"""Staleness: what became of a node whose ref no longer names it.

Rule: Chrome is asked, not guessed at, and only once something failed or healing was asked for; a page that does
not answer that in time leaves the error as it was.
"""

from __future__ import annotations

from contextlib import suppress

import trio

from cdpengine._api.targets import frame_of, resolve, stale
from cdpengine._page.frames import renderer_id
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.refs import Ref, RefTable, parse_ref_text
from cdpengine.errors import Became, ConnectionLostError, RemoteError, SessionGoneError, StaleRefError
from cdpengine.js import own

_PATIENCE = 1.0
"""Seconds that Chrome gets to say what became of a node; the error itself must not wait longer for it."""

_WHERE = own("""function () {
  return !this.isConnected ? "detached" : (this.ownerDocument || this) !== document ? "moved" : "";
}""")

_REASONS: dict[Became, str] = {
    "removed": "it was removed from the document, and is gone",
    "detached": "it was taken out of the document; the page may still hold it",
    "moved": "it was moved to another frame's document",
}


async def explain_stale(
    page: PageTarget, refs: RefTable, worlds: IsolatedWorlds, error: StaleRefError
) -> StaleRefError:
    """Return the error with what became of the node and with what the page has instead."""
    ref_id = parse_ref_text(error.ref.partition(" ")[0])
    if ref_id is None or error.candidates or error.became in ("dropped", "foreign"):
        return error
    try:
        ref = refs.lookup(ref_id)
    except StaleRefError:
        return error  # dropped meanwhile
    told: StaleRefError | None = None
    with trio.move_on_after(_PATIENCE), suppress(SessionGoneError, ConnectionLostError):
        told = await staleness(page, refs, worlds, ref)
    return told or stale(page, refs, ref, error.became, error.reason)


async def staleness(
    page: PageTarget, refs: RefTable, worlds: IsolatedWorlds, ref: Ref
) -> StaleRefError | None:
    """Return the error that says why a ref is stale; None for one whose node is in its document.

    Raises SessionGoneError and ConnectionLostError.
    """
    frame = frame_of(page, ref)
    if frame is None:
        return stale(page, refs, ref, "frame gone", "its frame is gone")
    session = page.session_of(frame)
    if frame.loader_id != ref.loader_id:
        before, now = refs.renderer_of(ref), await renderer_id(session)
        if before is not None and now is not None and before != now:
            return stale(page, refs, ref, "swapped", "its document was replaced by one in another process")
        return stale(page, refs, ref, "replaced", "its document was replaced by another one")
    became, reason = await _fate(resolve(page, refs, ref), worlds)
    if frame_of(page, ref) is not frame or frame.loader_id != ref.loader_id:
        return await staleness(page, refs, worlds, ref)  # what was asked about was another document
    return stale(page, refs, ref, became, reason) if became else None


async def _fate(node: Node, worlds: IsolatedWorlds) -> tuple[Became, str]:
    with object_group("fate") as group:
        try:
            found = await worlds.resolve(node, group)
            return _said(await found.call(_WHERE, returns=Became))  # type: ignore[arg-type]
        except RemoteError as error:
            moved = "does not belong to the document" in error.message
            return _said("moved" if moved else "removed")


def _said(became: Became) -> tuple[Became, str]:
    return became, _REASONS.get(became, "")
