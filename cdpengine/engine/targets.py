"""What an action can be aimed at, and how that becomes a node.

Rule: a ref is checked before it is used: same session, same document, still the same node. Where that does not
hold it is refused, and nothing is sent to any other element.
"""

from __future__ import annotations

from typing import TypeAlias

import attrs

from cdpengine.browser.node import Node
from cdpengine.browser.page_target import PageTarget
from cdpengine.errors import InvalidArgument, StaleRef
from cdpengine.snapshot.refs import Ref, RefTable


@attrs.frozen
class BackendNode:
    """A node by Chrome's `backendDOMNodeId`, in the process of the page's main frame. For those who have one."""

    id: int

    def __attrs_post_init__(self) -> None:
        if isinstance(self.id, bool) or not isinstance(self.id, int) or self.id < 1:
            raise InvalidArgument(
                what="BackendNode", given=repr(self.id), expected="a backendDOMNodeId, 1 or more"
            )


Target: TypeAlias = str | Ref | BackendNode
"""A ref as text ("e3", "@e3", "ref=e3"), a Ref out of a snapshot, or a BackendNode."""


def describe_target(target: Target) -> str:
    """Return a short text for messages; whatever was passed, also nonsense."""
    if isinstance(target, Ref):
        return target.id
    if isinstance(target, BackendNode):
        return f"backend node {target.id}"
    return str(target)[:80]


def resolve(page: PageTarget, refs: RefTable, target: Target) -> Node:
    """Return the node that `target` names.

    Raises StaleRef when the document that the ref was given for was replaced or its process is gone,
    NodeNotFound for a ref that this page never gave, InvalidArgument for what is no target at all.
    """
    if isinstance(target, BackendNode):
        return Node(page.session, target.id, page.frames.main.id, describe_target(target))
    if isinstance(target, Ref):
        known = refs.lookup(target.id)
        if known.backend_node_id != target.backend_node_id or known.loader_id != target.loader_id:
            raise StaleRef(
                ref=target.id,
                description=target.describe(),
                reason="it was given by another page or document",
            )
    elif isinstance(target, str):
        known = refs.lookup(target)
    else:
        raise InvalidArgument(
            what="target",
            given=f"a {type(target).__name__}",
            expected='a ref such as "e3", a Ref, or a BackendNode',
        )
    session = page.frame_sessions.get(known.session_id)
    if session is None:
        raise StaleRef(
            ref=known.id,
            description=known.describe(),
            reason="its frame is gone, or moved to another process",
        )
    frame = page.frames.get(known.frame_id) if known.frame_id is not None else page.frames.main
    if frame is None or frame.loader_id != known.loader_id:
        raise StaleRef(
            ref=known.id, description=known.describe(), reason="its document was replaced by another one"
        )
    return Node(session, known.backend_node_id, frame.id, str(known))
