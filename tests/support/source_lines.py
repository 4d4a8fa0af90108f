"""The lines of a document as one source reads it, with the parts on which all sources must agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cdpengine
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._snapshot.node import Document, FrameRequest, Node


def request_of(page: cdpengine.Page, worlds: IsolatedWorlds, **more: Any) -> FrameRequest:
    frame = page.frames[0]
    return FrameRequest(
        session=page.session, worlds=worlds, frame_id=frame.id, loader_id=frame.loader_id, **more
    )


def described(node: Node) -> str:
    """Return the parts of a line on which all sources must agree, without its depth."""
    ref = node.backend_node_id if node.wants_ref else None
    says = [f"{node.role} {node.name!r}", f"backend={ref}", f"kind={node.kind}"]
    says += [f"{state}={value}" for state, value in sorted(node.states, key=str)]
    says += [
        f"{key}={getattr(node, key)!r}"
        for key in ("value", "url", "description", "placeholder")
        if getattr(node, key)
    ]
    return " ".join(says)


def lines(document: Document) -> list[str]:
    """Return the shown elements except text nodes, each line under its parent."""

    def below(nodes: list[Node], depth: int) -> Iterator[str]:
        for node in nodes:
            if node.kind != "text":
                yield "  " * depth + described(node)
                yield from below(node.children, depth + 1)

    return list(below(document.roots, 0))
