"""What an action can be aimed at, and how that becomes a node.

Rule: a ref is checked before it is used: same frame, same document, still the same node. Where that does not
hold it is refused, and nothing is sent to any other element. Over which connection it was given does not matter.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs

from cdpengine._page.finding import FoundNode
from cdpengine._page.frames import Frame
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine._snapshot.refs import Ref, RefTable
from cdpengine.errors import Became, InvalidArgumentError, StaleRefError


@attrs.frozen
class BackendNode:
    """A node by Chrome's `backendDOMNodeId`, in the process of the page's main frame. For those who have one."""

    id: int

    def __attrs_post_init__(self) -> None:
        if isinstance(self.id, bool) or not isinstance(self.id, int) or self.id < 1:
            raise InvalidArgumentError(
                what="BackendNode", given=repr(self.id), expected="a backendDOMNodeId, 1 or more"
            )


ElementTarget: TypeAlias = str | Ref | BackendNode | FoundNode
"""A ref as text ("e3", "@e3", "ref=e3", "3"), a Ref out of a snapshot, a BackendNode, or what `page.find` gave."""


def describe_target(target: ElementTarget) -> str:
    """Return a short text for messages; whatever was passed, also nonsense."""
    if isinstance(target, Ref):
        return target.id
    if isinstance(target, BackendNode):
        return f"backend node {target.id}"
    if isinstance(target, FoundNode):
        return target.description
    return str(target)[:80]


def resolve(page: PageTarget, refs: RefTable, target: ElementTarget) -> Node:
    """Return the node that `target` names, in the session that its frame has now.

    Raises StaleRefError when the document that the ref was given for was replaced or its frame is gone,
    NodeNotFoundError for a ref that this page never gave, InvalidArgumentError for what is no target at all.
    """
    if isinstance(target, BackendNode):
        return Node(page.session, target.id, page.frames.main.id, describe_target(target))
    if isinstance(target, FoundNode):
        return _found(page, target)
    ref = known_ref(refs, target)
    frame = frame_of(page, ref)
    if frame is None:
        raise stale(page, refs, ref, "frame gone", "its frame is gone")
    if frame.loader_id != ref.loader_id:
        raise stale(page, refs, ref, "replaced", "its document was replaced by another one")
    return Node(
        page.session_of(frame),
        ref.backend_node_id,
        frame.id,
        str(ref),
        valid=lambda: page.frames.get(frame.id) is frame and frame.loader_id == ref.loader_id,
    )


def known_ref(refs: RefTable, target: object) -> Ref:
    """Return what the table knows now of a ref, given as text or as a Ref. Raises as `resolve` does."""
    if isinstance(target, Ref):
        known = refs.lookup(target.id)
        if not refs.knows(target):
            raise StaleRefError(
                ref=target.id,
                description=target.describe(),
                reason="it was given by another page or document",
                became="foreign",
            )
        return known
    if isinstance(target, str):
        return refs.lookup(target)
    raise InvalidArgumentError(
        what="target",
        given=f"a {type(target).__name__}",
        expected='a ref such as "e3", a Ref, a BackendNode, or what page.find() gave',
    )


def frame_of(page: PageTarget, ref: Ref) -> Frame | None:
    """Return the frame that the ref's node was in, if the page still has it."""
    return page.frames.main if ref.frame_id is None else page.frames.get(ref.frame_id)


def stale(page: PageTarget, refs: RefTable, ref: Ref, became: Became, reason: str) -> StaleRefError:
    """Return the error that says so, with what the page has of the same role and name."""
    return StaleRefError(
        ref=ref.id,
        description=ref.describe(),
        reason=reason,
        became=became,
        alternatives=refs.alternatives(ref, {frame.loader_id for frame in page.frames}),
    )


def _found(page: PageTarget, target: FoundNode) -> Node:
    session = page.frame_sessions.get(target.session_id)
    frame = page.frames.get(target.frame_id)
    if session is None or frame is None or frame.loader_id != target.loader_id:
        raise StaleRefError(
            ref="the node that was found",
            description=target.description,
            reason="its document was replaced by another one, or is another page's",
        )
    return Node(
        session,
        target.backend_node_id,
        frame.id,
        target.description,
        valid=lambda: page.frames.get(frame.id) is frame and frame.loader_id == target.loader_id,
    )
