"""Which source reads a frame's document: the choice, what is tried when it fails, and the reason why.

Rule: a source that was asked for is the only one that is tried. Otherwise the best one has the first part of the
time; where that does not do, the document is read from the DOM alone in the rest. What is added to the nodes (what
the page made clickable, boxes) is never worth the document: where it fails, the document is there without, and the
reason says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal
from weakref import WeakSet

import attrs
import trio

from cdpengine._protocol.connection import Connection
from cdpengine._protocol.domains.dom_snapshot import Capture
from cdpengine._protocol.session import Session
from cdpengine._snapshot.ax import read_ax
from cdpengine._snapshot.boxes import add_boxes
from cdpengine._snapshot.computed import read_computed
from cdpengine._snapshot.dom import read_dom
from cdpengine._snapshot.domsnapshot import fetch_capture
from cdpengine._snapshot.forecast import choose
from cdpengine._snapshot.node import Document, Source
from cdpengine._snapshot.probe import probe
from cdpengine._snapshot.request import FrameRequest
from cdpengine.errors import EvaluationFailedError, InvalidArgumentError, ProtocolError, RemoteError

FIRST_PART = 0.6
"""The part of a frame's time in which the first source has to be done."""

_WITH_ADDITIONS = 0.8
"""The part of it after which nothing is added any more."""

_Plain = Literal["ax", "computed", "dom"]
_Reader = Callable[[FrameRequest], Awaitable[Document]]

READERS: Mapping[_Plain, _Reader] = {
    "ax": read_ax,
    "computed": read_computed,
    "dom": read_dom,
}
"""What reads a document by itself, by the source's name."""

_offer_computed: WeakSet[Connection] = WeakSet()
"""Connections to browsers that were seen to tell pages computed roles: that does not change while one runs."""


@attrs.define(eq=False)
class SharedCaptures:
    """`DOMSnapshot` captures while frames are read together: one holds all frames of a process."""

    _captures: dict[Session, tuple[float, Capture]] = attrs.field(factory=dict, init=False)
    _locks: dict[Session, trio.Lock] = attrs.field(factory=dict, init=False)

    async def of(self, session: Session, since: float) -> Capture:
        """Return a capture of the session's process that was begun at `since` (trio's clock) or later."""
        async with self._locks.setdefault(session, trio.Lock()):
            known = self._captures.get(session)
            if known is None or known[0] < since:
                known = trio.current_time(), await fetch_capture(session)
                self._captures[session] = known
            return known[1]


async def read_document(request: FrameRequest, wanted: Source | None, captures: SharedCaptures) -> Document:
    """Read one document from the source that is `wanted`, None for the best there is; the result says which.

    Raises as `Session.call` does when it was refused, at last by the DOM; InvalidArgumentError for a source that
    this browser does not have.
    """
    began = trio.current_time()
    if wanted is None or wanted == "hybrid":
        document = await _best(request)
        if wanted == "hybrid":
            document.source, document.reason = "hybrid", f"asked for, on what is best: {document.reason}"
    else:
        document = await READERS[wanted](request)
        document.reason = "asked for"
    if document.unknown:
        document.reason += f"; {document.unknown}"
    if request.boxes and document.viewport is None:
        await _add_boxes(request, document, captures, began)
    return document


async def _add_boxes(
    request: FrameRequest, document: Document, captures: SharedCaptures, began: float
) -> None:
    """Add the boxes, in the time that there is for it."""
    with trio.move_on_after(
        max(0.0, began + request.seconds * _WITH_ADDITIONS - trio.current_time())
    ) as time:
        try:
            await add_boxes(request, document, await captures.of(request.session, began))
        except (RemoteError, ProtocolError) as refused:
            document.reason += f"; its boxes are not known: {refused}"
    if time.cancelled_caught:
        document.reason += "; there was no time to ask for its boxes"


async def _best(request: FrameRequest) -> Document:
    began = trio.current_time()
    source, reason = await _choice(request)
    if source != "dom":
        seconds = request.seconds * FIRST_PART
        with trio.move_on_after(seconds) as time:
            try:
                document = await READERS[source](request.within(seconds))
            except (RemoteError, ProtocolError, InvalidArgumentError) as refused:
                _offer_computed.discard(request.session.connection)
                reason = f"{source} failed: {refused}"
            else:
                document.reason = reason
                return await _with_skipped(request, document, began) if document.skipped else document
        if time.cancelled_caught:
            reason = f"{source} did not come within {seconds:.1f} s"
        request = request.within(request.seconds - seconds)
    document = await read_dom(request)
    document.reason = reason
    return document


async def _with_skipped(request: FrameRequest, document: Document, began: float) -> Document:
    """Return what the DOM says where the source could not say all of it; the document itself where that fails."""
    seconds = request.seconds - (trio.current_time() - began)
    with trio.move_on_after(max(0.0, seconds * _WITH_ADDITIONS)):
        try:
            whole = await read_dom(request.within(seconds))
        except (RemoteError, ProtocolError) as refused:
            document.reason += f"; dom failed: {refused}"
        else:
            whole.reason = (
                f"content-visibility: auto keeps {document.skipped} elements from {document.source}"
            )
            return whole
    return document


async def _choice(request: FrameRequest) -> tuple[_Plain, str]:
    connection = request.session.connection
    if connection in _offer_computed:
        return "computed", "the browser tells roles and names inside the page"
    try:
        seen = await probe(request)
    except (RemoteError, ProtocolError, EvaluationFailedError) as refused:
        return "ax", f"the document could not be looked at before: {refused}"
    if seen.computed:
        _offer_computed.add(connection)
    return choose(seen, request.seconds * FIRST_PART)
