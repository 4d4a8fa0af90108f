"""The source `ax`: one frame's document from Chrome's accessibility tree, with its clickable elements.

Rule: one call on the frame's own session, decoded once; the rest is pure (`ax_nodes.fold`). For a part of a
document, only that part is requested: the tree of one list item takes 2 ms, the whole tree 1.5 s. Chrome reports 0
for a missing bound of a number field, so the element's attributes decide. They are requested only if a bound is 0.
A bound of 0 is not shown for an element that is gone, or beyond the first `MOST_DESCRIBED`.

The walk that other sources use to read documents finds the clickables (_snapshot/sources/walk_clickables.js),
without names. It returns their backend node ids in document order and, on request, their places in the flat tree.
A clickable that Chrome's accessibility tree lacks is inserted by that place: the elements inside it move below it,
and nothing else moves. Visible content that the tree lacks comes from the DOM (_snapshot/sources/ax_grafts.py).
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import msgspec
import trio

from cdpengine import _json
from cdpengine._collector import pause_collector
from cdpengine._page.accessibility import keep_warm
from cdpengine._page.scripts.page_functions import context_gone
from cdpengine._protocol.domains.accessibility import AXNode, AXTree
from cdpengine._protocol.domains.dom import DescribedNode, DescribeNodeReply
from cdpengine._protocol.session import Session
from cdpengine._snapshot.node import Document, FrameRequest, Node, walk
from cdpengine._snapshot.sources.ax_grafts import Graft, Place, add_grafts, add_missing
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import ax_nodes, decode_ax_tree, mask_secrets
from cdpengine._snapshot.sources.computed import read_dom, role_and_name_source
from cdpengine._snapshot.sources.document_kinds import describe_kind
from cdpengine._snapshot.sources.internals import CustomElements
from cdpengine._snapshot.sources.listeners import Listening
from cdpengine._snapshot.sources.numbers import number_elements
from cdpengine._snapshot.sources.walk import (
    TRIES,
    Installed,
    ask_walk,
    forget_walk,
    install_walk,
)
from cdpengine.errors import ProtocolError, RemoteError

_LOOKING = 0.8
"""Fraction of the frame's time to spend on clickables."""

_LONGEST_QUERY = 1.0
"""Maximum time for a part, in seconds; also limited to a quarter of the frame's time.

In a frame of another origin, Chrome answers only after drawing, which may never happen. The whole tree is
available immediately.
"""


async def read_ax(request: FrameRequest) -> Document:
    """Return the frame's document from Chrome's accessibility tree, including closed shadow roots.

    Raises the errors of `Session.request`. A reply is refused only if it is not JSON.
    """
    started = time.perf_counter()
    keep_warm(request.session)
    if request.root is None:
        method, params = "Accessibility.getFullAXTree", _frame(request)
    else:
        method, params = "Accessibility.queryAXTree", {"backendNodeId": request.root}
    await trio.lowlevel.checkpoint_if_cancelled()
    call = request.session.post(method, **params)
    reply: msgspec.Raw | bytes | None = None
    try:
        clickables, unknown = await _clickables(request)
        longest = math.inf if request.root is None else min(_LONGEST_QUERY, request.seconds / 4)
        with trio.move_on_after(longest):
            reply = await call.raw()
    finally:
        call.abandon()
    within: frozenset[int] | None = None
    if reply is None or (request.root is not None and not _holds(reply, request.root)):
        # Chrome returns nothing for an element without a node in the tree (a `span`, a hidden element), and
        # never answers in a frame that is not drawn. The whole tree then has the element's content.
        params = {"backendNodeId": request.root, "depth": -1, "pierce": True}
        described = await request.session.request("DOM.describeNode", params, DescribeNodeReply)
        within = _backend_ids(described.node)
        reply = await request.session.post("Accessibility.getFullAXTree", **_frame(request)).raw()
    fetched = time.perf_counter()
    for _ in range(TRIES):
        if clickables is None or not await clickables.find_hidden(reply):
            break
        clickables, unknown = await _clickables(request)
    ids = frozenset[int]() if clickables is None else frozenset(clickables.ids)
    draggables = frozenset[int]() if clickables is None else clickables.draggables
    secrets = frozenset[int]() if clickables is None else clickables.secrets
    make = partial(_make_document, reply, within, request, ids, draggables, secrets)
    try:
        with pause_collector():
            doubtful: list[Node] = []
            document = make(doubtful)
            missing = _find_missing(document, clickables, reply)
        grafts = [] if clickables is None else await clickables.grafts()
        if clickables is not None and (missing or grafts):
            places = await clickables.places(missing) if missing else []
            with pause_collector():
                doubtful = []
                document = make(doubtful, places, grafts)
    except ValueError as error:
        raise ProtocolError(method=method, reason=str(error), raw=bytes(reply)) from None
    if doubtful:
        await check_bounds(request.session, doubtful)
    document.unknown = unknown
    if clickables is not None:
        document.skipped, document.skipped_acting = clickables.skipped
        document.kind, document.content_type = clickables.kind
    document.session_id = request.session.id
    document.loader_id = request.loader_id
    document.source = "ax"
    document.milliseconds = {
        "fetch": (fetched - started) * 1000,
        "fold": (time.perf_counter() - fetched) * 1000,
    }
    return document


MOST_DESCRIBED = 200
"""Maximum number of elements of one document whose attributes are requested."""

_ATTRIBUTES = {"min": ("min", "aria-valuemin"), "max": ("max", "aria-valuemax")}
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


async def check_bounds(session: Session, nodes: Sequence[Node]) -> None:
    """Remove bounds of 0 that no attribute sets. Takes one round trip.

    Raises the errors of `Session.call`, except for elements that are gone.
    """
    calls = [
        session.post("DOM.describeNode", backendNodeId=node.backend_node_id)
        for node in nodes[:MOST_DESCRIBED]
    ]
    try:
        for node, call in zip(nodes, calls, strict=False):
            try:
                attributes = (await call.decoded(DescribeNodeReply)).node.attributes
            except RemoteError:
                attributes = []  # the element is gone
            keep_set_bounds(node, dict(zip(attributes[::2], attributes[1::2], strict=False)))
    finally:
        for call in calls:
            call.abandon()
    for node in nodes[MOST_DESCRIBED:]:
        keep_set_bounds(node, {})


def keep_set_bounds(node: Node, attributes: Mapping[str, str]) -> None:
    """Remove bounds of 0 for which the element has no attribute with a number. Pure."""
    node.states = tuple(
        (state, value)
        for state, value in node.states
        if state not in _ATTRIBUTES
        or value != 0
        or any(_NUMBER.fullmatch(attributes.get(name, "")) for name in _ATTRIBUTES[state])
    )


def _frame(request: FrameRequest) -> dict[str, Any]:
    # The default is the root document of the session's target, even if that is in another process.
    return {} if request.frame_id == request.session.frame_id else {"frameId": request.frame_id}


def _holds(reply: msgspec.Raw | bytes, number: int) -> bool:
    return any(node.backend_node_id == number for chunk in ax_nodes(reply) for node in chunk)


async def _clickables(request: FrameRequest) -> tuple[Clickables | None, str]:
    """Find clickable elements. On failure return the reason instead of raising."""
    if not request.clickables:
        return None, ""
    with trio.move_on_after(request.seconds * _LOOKING) as time_left:
        try:
            found = await find_clickables(request)
        except (RemoteError, ProtocolError) as refused:
            return None, f"further clickable elements are unknown: {refused}"
        else:
            return found, found.refusal
    assert time_left.cancelled_caught
    return None, "no time was left to find further clickable elements"


def _find_missing(document: Document, clickables: Clickables | None, reply: msgspec.Raw | bytes) -> list[int]:
    """Return the clickables without a node in the tree, outer ones first."""
    if clickables is None or not clickables.ids:
        return []
    listed = {node.backend_node_id for node in walk(document.roots)}
    if clickables.ids <= listed:
        return []
    known = {node.backend_node_id for chunk in ax_nodes(reply) for node in chunk}
    return [number for number in clickables.ids if number not in known]


def _make_document(
    reply: msgspec.Raw | bytes,
    within: frozenset[int] | None,
    request: FrameRequest,
    clickables: frozenset[int],
    draggables: frozenset[int],
    secrets: frozenset[int],
    doubtful: list[Node],
    missing: Sequence[Place] = (),
    grafts: Sequence[Graft] = (),
) -> Document:
    """Make the document of a reply. Decodes the whole tree into memory only if needed."""
    fold_nodes = partial(
        fold,
        frame_id=request.frame_id,
        owners=request.owners,
        clickables=clickables,
        draggables=draggables,
        doubtful=doubtful,
    )
    if within is None and not request.raw and not missing and not grafts and not secrets:
        return fold_nodes(ax_nodes(reply))
    tree = decode_ax_tree(reply)
    if secrets:
        tree = mask_secrets(tree, secrets)
    if missing:
        tree = add_missing(tree, missing)
        if within is not None:
            within |= clickables
    tree, ready = add_grafts(tree, grafts) if grafts else (tree, {})
    inside = None if within is None else within.union(*(graft.ids for graft in grafts))
    document = fold_nodes(tree, within=inside, ready=ready)
    if request.raw:
        document.ax = tree if within is None else _part(tree, within)
    return document


def _part(tree: AXTree, within: frozenset[int]) -> AXTree:
    """Return the nodes in `within` and their descendants."""
    by_id = {node.node_id: node for node in tree.nodes}
    waiting = [node.node_id for node in reversed(tree.nodes) if node.backend_node_id in within]
    taken: dict[str, AXNode] = {}
    while waiting:
        node = by_id.get(waiting.pop())
        if node is not None and node.node_id not in taken:
            taken[node.node_id] = node
            waiting.extend(reversed(node.child_ids))
    return AXTree(tuple(taken.values()))


def _backend_ids(node: DescribedNode) -> frozenset[int]:
    """Return the ids of a described node and its descendants, without the documents of frames."""
    found: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        found.add(each.backend_node_id)
        waiting += (*each.children, *each.shadow_roots, *each.pseudo_elements)
    return frozenset(found)


# --- clickables ----------------------------------------------------------------------------------------------


async def find_clickables(request: FrameRequest) -> Clickables:
    """Return the elements of the frame's page that are clickable without a role that shows it.

    Raises the errors of `read_dom`.
    """
    kit = role_and_name_source()
    for remaining in reversed(range(TRIES)):
        try:
            installed = await install_walk(request, kit)
            async with Listening(request, installed) as listening:
                await listening.has_changed()
                text = await ask_walk(request, installed, {"do": "clickables", "pointer": request.pointer})
                if text is not None:
                    found = _decode_found(text)
                    if not await number_elements(request, installed, found.last):
                        return Clickables(request, installed, found, listening.refusal)
                    continue  # closed shadow roots were found
        except RemoteError as refused:
            if not context_gone(refused) or not remaining:
                raise
        forget_walk(request.session, request.frame_id, kit)
    raise RemoteError(
        method="Runtime.callFunctionOn",
        code=0,
        message="the frame loaded a new document during each search for clickables",
    )


class _Found(msgspec.Struct):
    numbers: tuple[int, ...] = ()
    customs: tuple[int, ...] = ()
    around: tuple[int, ...] = ()
    last: int = 0
    skipped: int = 0
    acting: int = 0
    draggables: tuple[int, ...] = ()
    secrets: tuple[int, ...] = ()
    beyond: tuple[int, ...] = ()
    type: str = ""
    size: tuple[float, float] | None = None


class _Place(msgspec.Struct):
    inside: tuple[int, ...] = ()
    above: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


class _Places(msgspec.Struct):
    places: tuple[_Place, ...] = ()
    last: int = 0


_decode_found = _json.Decoder(_Found).decode
_decode_places = _json.Decoder(_Places).decode


class Clickables:
    """The clickables of a document: `ids` are their backend node ids in document order.

    `refusal` describes the queries that failed, "" if none did. `skipped` counts the elements that
    `content-visibility: auto` skips and the accessibility tree lacks, and the interactive ones among them.
    `draggables` are draggable elements without a role. `secrets` are the secret fields whose values Chrome does
    not mask. `kind` is the description and MIME type of a document that is not an HTML page.
    """

    def __init__(self, request: FrameRequest, installed: Installed, found: _Found, refusal: str) -> None:
        self._request = request
        self._installed = installed
        ids = installed.ids
        self._numbers = {ids[number]: number for number in found.numbers if ids[number]}
        self.ids: AbstractSet[int] = self._numbers.keys()
        self.refusal = refusal
        self._customs, self._around = found.customs, found.around
        self.skipped = found.skipped, found.acting
        self._beyond = found.beyond
        self.draggables = frozenset(ids[number] for number in found.draggables)
        self.secrets = frozenset(ids[number] for number in found.secrets)
        self.kind = describe_kind(found.type, found.size), found.type

    async def find_hidden(self, reply: msgspec.Raw | bytes) -> bool:
        """Return whether custom elements turn out to hide themselves, so that the search must be repeated.

        An element with a node in Chrome's tree that is not ignored is visible, and so are its ancestors.
        """
        if not self._customs:
            return False
        ids = self._installed.ids
        visible = {node.backend_node_id for chunk in ax_nodes(reply) for node in chunk if not node.ignored}
        known = {number for number, custom in self._installed.customs.items() if custom.internals.hidden}
        doubtful = [number for number in self._customs if ids[number] not in visible or number in known]
        async with CustomElements(self._request, self._installed, with_names=True) as customs:
            found = await customs.find_hidden(doubtful, self._around)
        self.refusal = "; ".join(filter(None, (self.refusal, customs.refusal)))
        return found

    async def grafts(self) -> list[Graft]:
        """Return grafts from the DOM for content that Chrome's tree lacks. Raises the errors of `read_dom`."""
        if not self._beyond:
            return []
        ids = self._installed.ids
        document = await read_dom(self._request)
        nodes = {node.backend_node_id: node for node in walk(document.roots)}
        pairs = zip(self._beyond[::2], self._beyond[1::2], strict=True)
        found = [(nodes[ids[number]], place) for number, place in pairs if ids[number] in nodes]
        places = await self._ask_places([place for _, place in found])
        return [Graft(node, place) for (node, _), place in zip(found, places, strict=False)]

    async def places(self, ids: Sequence[int]) -> list[Place]:
        """Return the places of these elements in the flat tree. Raises the errors of `Session.call`."""
        return await self._ask_places([self._numbers[each] for each in ids])

    async def _ask_places(self, numbers: Sequence[int]) -> list[Place]:
        installed = self._installed
        text = await ask_walk(self._request, installed, {"do": "places", "numbers": numbers})
        if text is None:
            return []
        found = _decode_places(text)
        await number_elements(self._request, installed, found.last)
        known = installed.ids
        return [
            Place(
                each,
                frozenset(known[number] for number in place.inside),
                tuple(known[number] for number in place.above),
                frozenset(known[number] for number in place.after),
            )
            for each, place in zip((known[number] for number in numbers), found.places, strict=False)
        ]
