"""The source `ax`: one frame's document out of Chrome's accessibility tree.

Rule: one call on the frame's own session, decoded once; what comes of it is pure (`tree.fold`). A part of a
document is asked for as a part: the tree of one list item comes in 2 ms where the whole takes 1.5 s.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

import msgspec
import trio

from cdpengine.errors import UndecodableReply
from cdpengine.session.session import Session
from cdpengine.snapshot.axtree import AXNode, AXTree, ax_nodes, decode_ax_tree
from cdpengine.snapshot.bounds import check_bounds
from cdpengine.snapshot.collector import collector_paused
from cdpengine.snapshot.node import Document, Node
from cdpengine.snapshot.request import FrameRequest
from cdpengine.snapshot.tree import fold, fold_within

_warm: WeakSet[Session] = WeakSet()


def keep_warm(session: Session) -> None:
    """Have Chrome keep the session's accessibility trees from one snapshot to the next, from now on.

    `Accessibility.enable` is sent once for each session and not waited for; Chrome obeys in order. It stays on:
    without it, each snapshot makes the whole tree anew.
    """
    if session not in _warm:
        if session.hold_domain("Accessibility"):
            session.post("Accessibility.enable")
        _warm.add(session)


async def read_ax(request: FrameRequest) -> Document:
    """Return the frame's document as Chrome's accessibility tree has it. Closed shadow roots are in it.

    Raises as `Session.request` does; a reply is refused only when it is not JSON.
    """
    started = time.perf_counter()
    keep_warm(request.session)
    if request.root is None:
        method, params = "Accessibility.getFullAXTree", _frame(request)
    else:
        method, params = "Accessibility.queryAXTree", {"backendNodeId": request.root}
    await trio.lowlevel.checkpoint_if_cancelled()
    reply = await request.session.post(method, **params).raw()
    within: frozenset[int] | None = None
    if request.root is not None and not _holds(reply, request.root):
        # Chrome answers with nothing for an element that has no node of its own in the tree (a `span`, what is
        # hidden); what is in it is found in the whole tree.
        described = await request.session.call(
            "DOM.describeNode", backendNodeId=request.root, depth=-1, pierce=True
        )
        within = _backend_ids(described["node"])
        reply = await request.session.post("Accessibility.getFullAXTree", **_frame(request)).raw()
    fetched = time.perf_counter()
    try:
        with collector_paused():
            doubtful: list[Node] = []
            document = _made(reply, within, request, doubtful)
    except ValueError as error:
        raise UndecodableReply(method=method, reason=str(error), raw=bytes(reply)) from None
    if doubtful:
        await check_bounds(request.session, doubtful)
    document.session_id = request.session.id
    document.loader_id = request.loader_id
    document.source = "ax"
    document.milliseconds = {
        "fetch": (fetched - started) * 1000,
        "fold": (time.perf_counter() - fetched) * 1000,
    }
    return document


def _frame(request: FrameRequest) -> dict[str, Any]:
    # Without a frame it is the root document of the session's target, also where that is in another process.
    return {} if request.frame_id == request.session.target_id else {"frameId": request.frame_id}


def _holds(reply: msgspec.Raw | bytes, number: int) -> bool:
    return any(node.backend_node_id == number for chunk in ax_nodes(reply) for node in chunk)


def _made(
    reply: msgspec.Raw | bytes, within: frozenset[int] | None, request: FrameRequest, doubtful: list[Node]
) -> Document:
    """Make the document of a reply. The whole tree is held in memory only where it is asked for."""
    if within is None and not request.raw:
        return fold(ax_nodes(reply), frame_id=request.frame_id, owners=request.owners, doubtful=doubtful)
    tree = decode_ax_tree(reply)
    document = (
        fold(tree, frame_id=request.frame_id, owners=request.owners, doubtful=doubtful)
        if within is None
        else fold_within(tree, within, frame_id=request.frame_id, owners=request.owners, doubtful=doubtful)
    )
    if request.raw:
        document.ax = tree if within is None else _part(tree, within)
    return document


def _part(tree: AXTree, within: frozenset[int]) -> AXTree:
    """Return the nodes that are within, and what is below them."""
    by_id = {node.node_id: node for node in tree.nodes}
    waiting = [node.node_id for node in reversed(tree.nodes) if node.backend_node_id in within]
    taken: dict[str, AXNode] = {}
    while waiting:
        node = by_id.get(waiting.pop())
        if node is not None and node.node_id not in taken:
            taken[node.node_id] = node
            waiting.extend(reversed(node.child_ids))
    return AXTree(tuple(taken.values()))


def _backend_ids(node: Mapping[str, Any]) -> frozenset[int]:
    """Return the ids of a described node and of all in it; documents of frames are documents of their own."""
    found: set[int] = set()
    waiting = [node]
    while waiting:
        each = waiting.pop()
        if isinstance(number := each.get("backendNodeId"), int):
            found.add(number)
        for key in ("children", "shadowRoots", "pseudoElements"):
            waiting.extend(each.get(key) or ())
    return frozenset(found)
