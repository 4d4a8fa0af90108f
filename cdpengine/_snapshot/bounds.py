"""Bounds of number fields: those of 0 that the accessibility tree tells, and the page did not give.

Rule: Chrome tells 0 for a bound that is missing, so what the element says itself decides. It is asked only where a
bound is 0; of an element that is gone, or beyond the first `MOST_ASKED`, a bound of 0 is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine._protocol.session import Session
from cdpengine._snapshot.node import Node
from cdpengine.errors import RemoteError

MOST_ASKED = 200
"""Elements of one document that are asked."""

_ATTRIBUTES = {"min": ("min", "aria-valuemin"), "max": ("max", "aria-valuemax")}
_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)


async def check_bounds(session: Session, nodes: Sequence[Node]) -> None:
    """Take the bounds of 0 that no attribute gives away from the nodes. One round trip.

    Raises as `Session.call` does, but for elements that are gone.
    """
    calls = [
        session.post("DOM.describeNode", backendNodeId=node.backend_node_id) for node in nodes[:MOST_ASKED]
    ]
    try:
        for node, call in zip(nodes, calls, strict=False):
            try:
                given = (await call.decoded(DescribeNodeReply)).node.attributes
            except RemoteError:
                given = []  # gone meanwhile
            keep_given(node, dict(zip(given[::2], given[1::2], strict=False)))
    finally:
        for call in calls:
            call.abandon()
    for node in nodes[MOST_ASKED:]:
        keep_given(node, {})


def keep_given(node: Node, attributes: Mapping[str, str]) -> None:
    """Take away the bounds of 0 of which no attribute of the element is a number. Pure."""
    node.states = tuple(
        (state, value)
        for state, value in node.states
        if state not in _ATTRIBUTES
        or value != 0
        or any(_NUMBER.fullmatch(attributes.get(name, "")) for name in _ATTRIBUTES[state])
    )
