"""Lines of a document as one source reads it, with all that the sources have to agree on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cdpengine
from cdpengine._page.scripts.page_functions import IsolatedWorlds
from cdpengine._snapshot.node import Document, FrameRequest, Node


def request_of(page: cdpengine.Page, worlds: IsolatedWorlds, **more: Any) -> FrameRequest:
    frame = page.frames[0]
    return FrameRequest(
        session=page.session, worlds=worlds, frame_id=frame.id, loader_id=frame.loader_id, **more
    )


def described(node: Node) -> str:
    """Return all that the sources have to agree on, but for how deep it is."""
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
    """Return what is shown but texts, each line under what it is in."""

    def below(nodes: list[Node], depth: int) -> Iterator[str]:
        for node in nodes:
            if node.kind != "text":
                yield "  " * depth + described(node)
                yield from below(node.children, depth + 1)

    return list(below(document.roots, 0))
