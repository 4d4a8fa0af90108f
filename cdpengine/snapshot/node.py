"""Node: one thing that a snapshot shows, whatever source it came from.

Rule: every source of a snapshot makes these, and rendering, refs and searching know nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

import attrs

Kind = Literal["interactive", "content", "structural", "text"]


@attrs.define(eq=False)
class Node:
    """A shown element or a run of text.

    `name` is the accessible name on one line (of a text: the text). `states` are pairs such as ("checked",
    True), ("checked", "mixed"), ("level", 2), in the order in which they are shown. `value` is a field's value
    as the page has it, None where there is none or where it is secret. `url` is a link's whole address.
    """

    role: str
    kind: Kind
    name: str = ""
    states: tuple[tuple[str, str | int | float | bool], ...] = ()
    value: str | None = None
    url: str = ""
    description: str = ""
    placeholder: str = ""
    backend_node_id: int | None = None
    frame_id: str | None = None
    children: list[Node] = attrs.field(factory=list)

    @property
    def wants_ref(self) -> bool:
        """Whether it gets a ref: what can be acted on, and content that has a name."""
        return self.backend_node_id is not None and (
            self.kind == "interactive" or (self.kind == "content" and self.name != "")
        )


@attrs.frozen
class Document:
    """The nodes of one frame's document: `roots` are the outermost shown ones, in the order of the page."""

    roots: list[Node]
    url: str = ""
    title: str = ""
    frame_id: str | None = None
    nodes_seen: int = 0


def walk(roots: Iterable[Node]) -> Iterator[Node]:
    """Go through all nodes, parents before children, in the order of the page."""
    stack = list(roots)
    stack.reverse()
    while stack:
        node = stack.pop()
        yield node
        if node.children:
            stack.extend(reversed(node.children))
