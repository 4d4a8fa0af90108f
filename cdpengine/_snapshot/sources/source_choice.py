"""Choice of the source for a frame's document, with its reason and its fallback.

Rule: if the caller names a source, no other is tried. Otherwise the best source gets the first part of the time.
If it fails, the document is read from the DOM alone in the rest of the time. If additions to the nodes
(clickables, boxes) fail, the document is returned without them, and the reason mentions it.

The choice precedes any request for the accessibility tree: once requested, the renderer builds the tree to the
end. A probe in the frame's isolated world, which takes milliseconds, counts the factors of the cost. The constants
were measured with Chromium 156 on two slow cores: `Accessibility.getFullAXTree` of documents of 1,000 to 20,000
links and paragraphs, from the command to the last byte of the reply, cold. 4,000 links to other pages took 313 ms,
16,000 paragraphs 920 ms. Links to fragments without a target: 1,000 took 233 ms, 2,000 304, 4,000 746, 8,000
2,188, 20,000 16,000; 4,000 of them with 8,000 paragraphs 1,433 ms. Links to a fragment that an id matches, and
`href="#"`, cost as much as other links.

Boxes come from one capture of the session's process (`DOMSnapshot.captureSnapshot`), which has all its frames. No
element is requested separately.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from typing import Literal
from weakref import WeakSet

import attrs
import trio

from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import VALUE
from cdpengine._protocol.domains.dom_snapshot import Capture
from cdpengine._protocol.session import Connection, Session
from cdpengine._snapshot.node import Box, Document, FrameRequest, Source, walk
from cdpengine._snapshot.sources.ax import read_ax
from cdpengine._snapshot.sources.computed import read_computed, read_dom
from cdpengine.errors import (
    EvaluationFailedError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
)

FIRST_PART = 0.6
"""Fraction of a frame's time in which the first source has to finish."""

_WITH_ADDITIONS = 0.8
"""Fraction of it after which nothing is added any more."""

_Plain = Literal["ax", "computed", "dom"]
_Reader = Callable[[FrameRequest], Awaitable[Document]]

READERS: Mapping[_Plain, _Reader] = {
    "ax": read_ax,
    "computed": read_computed,
    "dom": read_dom,
}
"""Functions that read a document, by the source's name."""

_offer_computed: WeakSet[Connection] = WeakSet()
"""Connections to browsers that offer computed roles to pages. That does not change while a browser runs."""


@attrs.define(eq=False)
class SharedCaptures:
    """`DOMSnapshot` captures that frames share while they are read together.

    A capture has all frames of a process.
    """

    _captures: dict[Session, tuple[float, Capture]] = attrs.field(factory=dict, init=False)
    _locks: dict[Session, trio.Lock] = attrs.field(factory=dict, init=False)

    async def of(self, session: Session, since: float) -> Capture:
        """Return a capture of the session's process that began at `since` (trio's clock) or later."""
        async with self._locks.setdefault(session, trio.Lock()):
            known = self._captures.get(session)
            if known is None or known[0] < since:
                known = trio.current_time(), await fetch_capture(session)
                self._captures[session] = known
            return known[1]


async def read_document(
    request: FrameRequest, requested: Source | None, captures: SharedCaptures
) -> Document:
    """Read one document from the source `requested`, or from the best one if None. `Document.source` names it.

    Raises the errors of `Session.call` if even the DOM cannot be read; InvalidArgumentError for a source that this
    browser does not have.
    """
    began = trio.current_time()
    if requested is None or requested == "hybrid":
        document = await _read_best(request)
        if requested == "hybrid":
            document.source, document.reason = (
                "hybrid",
                f"requested, based on the best source: {document.reason}",
            )
    else:
        document = await READERS[requested](request)
        document.reason = "asked for"
    if document.unknown:
        document.reason += f"; {document.unknown}"
    if request.boxes and document.viewport is None:
        await _add_boxes(request, document, captures, began)
    return document


SECONDS_PER_ELEMENT = 80e-6
"""Time to make, serialize, send and read one element with its text."""

SECONDS_PER_FRAGMENT_AND_LINK = 36e-9
SECONDS_PER_FRAGMENT_AND_ELEMENT = 15e-9
"""Chrome searches the document for each link to a fragment that no id matches. Links slow the search more."""

SECONDS_AT_LEAST = 5e-3

WORST_SHARE = 0.7
"""Fraction of the time that the forecast for the tree may take. The rest is for slower machines."""


@attrs.frozen(kw_only=True)
class Probe:
    """The counts of _snapshot/sources/probe.js for one document.

    `fragments` are links whose fragment no id matches. `computed` is whether elements have Chrome's computedRole
    and computedName.
    """

    elements: int
    links: int = 0
    fragments: int = 0
    computed: bool = False


def forecast_ax(probe: Probe) -> float:
    """Return the expected duration of `Accessibility.getFullAXTree` for this document, in seconds."""
    others = max(0, probe.elements - probe.links)
    search = probe.links * SECONDS_PER_FRAGMENT_AND_LINK + others * SECONDS_PER_FRAGMENT_AND_ELEMENT
    return SECONDS_AT_LEAST + probe.elements * SECONDS_PER_ELEMENT + probe.fragments * search


def choose(probe: Probe, seconds: float) -> tuple[Literal["ax", "computed", "dom"], str]:
    """Return the source for a document that has `seconds` of time, and a readable reason."""
    if probe.computed:
        return "computed", "the browser offers roles and names inside the page"
    expected = forecast_ax(probe)
    if expected <= seconds * WORST_SHARE:
        return "ax", "the browser does not offer roles and names inside the page"
    why = f"{probe.elements} elements"
    if probe.fragments * SECONDS_PER_FRAGMENT_AND_LINK * probe.links > expected / 2:
        why = f"{probe.fragments} links to fragments"
    return (
        "dom",
        f"{why}: the accessibility tree would take about {expected:.1f} s of the {seconds:.1f} s left",
    )


@cache
def _source() -> str:
    return own(f"({script('_snapshot/sources/probe')})()")


async def probe(request: FrameRequest) -> Probe:
    """Count the factors of the cost of the frame's accessibility tree. Takes two round trips.

    Raises the errors of `ExecutionContext.call`: RemoteError if the frame or its document is gone.
    """
    context = await request.worlds.context(request.session, request.frame_id)
    return await context.evaluate(_source(), returns=Probe, how=VALUE | {"silent": True})


_VIEWPORT = own("[innerWidth, innerHeight]")


async def add_boxes(request: FrameRequest, document: Document, capture: Capture | None = None) -> None:
    """Fill `Node.box` of the document's nodes, and `Document.viewport`.

    Captures the session's process unless the caller passes a capture, and evaluates once in the frame's isolated
    world. Raises the errors of `Session.request`; the document is unchanged then.
    """
    if capture is None:
        capture = await fetch_capture(request.session)
    context = await request.worlds.context(request.session, request.frame_id)
    viewport = await context.evaluate(_VIEWPORT, returns=tuple[float, float])
    fill_boxes(document, capture, request.frame_id)
    document.viewport = viewport


def fill_boxes(document: Document, capture: Capture, frame_id: str) -> None:
    """Set the box of each node with layout, in the frame's viewport. Pure."""
    captured = capture.document(frame_id)
    if captured is None:
        return
    boxes: dict[int, Box] = {}
    numbers = captured.nodes.backend_node_id
    left, top = captured.scroll_offset_x, captured.scroll_offset_y
    for index, bounds in zip(captured.layout.node_index, captured.layout.bounds, strict=False):
        if len(bounds) == 4 and 0 <= index < len(numbers):
            x, y, width, height = bounds
            boxes.setdefault(numbers[index], (x - left, y - top, width, height))
    for node in walk(document.roots):
        if node.backend_node_id is not None and (box := boxes.get(node.backend_node_id)) is not None:
            node.box = box


async def fetch_capture(session: Session) -> Capture:
    """Capture all documents of the session's process, in one call.

    Raises the errors of `Session.request`.
    """
    params = {"computedStyles": [], "includePaintOrder": False, "includeDOMRects": False}
    return await session.request("DOMSnapshot.captureSnapshot", params, Capture)


async def _add_boxes(
    request: FrameRequest, document: Document, captures: SharedCaptures, began: float
) -> None:
    """Add the boxes within the time that is left for them."""
    with trio.move_on_after(
        max(0.0, began + request.seconds * _WITH_ADDITIONS - trio.current_time())
    ) as time:
        try:
            await add_boxes(request, document, await captures.of(request.session, began))
        except (RemoteError, ProtocolError) as refused:
            document.reason += f"; boxes are unknown: {refused}"
    if time.cancelled_caught:
        document.reason += "; no time was left for boxes"


async def _read_best(request: FrameRequest) -> Document:
    began = trio.current_time()
    source, reason = await _choose_source(request)
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
            reason = f"{source} did not finish within {seconds:.1f} s"
        request = request.within(request.seconds - seconds)
    document = await read_dom(request)
    document.reason = reason
    return document


async def _with_skipped(request: FrameRequest, document: Document, began: float) -> Document:
    """Return the document read from the DOM if the source lacks content; on failure, the document itself."""
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


async def _choose_source(request: FrameRequest) -> tuple[_Plain, str]:
    connection = request.session.connection
    if connection in _offer_computed:
        return "computed", "the browser offers roles and names inside the page"
    try:
        counted = await probe(request)
    except (RemoteError, ProtocolError, EvaluationFailedError) as refused:
        return "ax", f"the document could not be probed: {refused}"
    if counted.computed:
        _offer_computed.add(connection)
    return choose(counted, request.seconds * FIRST_PART)
