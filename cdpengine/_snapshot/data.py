"""SnapshotNode: one line of a snapshot as data, for programs.

Rule: what the lines say, the nodes say: one for each line but remarks, in the same order, nothing cut and nothing
escaped. They are made when they are first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from types import MappingProxyType

import attrs

from cdpengine._page.wanted_text import Words, collapse_space, holds
from cdpengine._snapshot.lines import says_description
from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.text import is_token

State = str | int | float | bool


@attrs.frozen(kw_only=True)
class SnapshotNode:
    """One line of a snapshot: an element, or a run of text (role "text").

    role: what the line calls it, see docs/snapshots.md.
    name: the accessible name on one line, "" where it has none.
    value: what a field holds; None where it holds nothing or where that is secret (`states["value"]` is "hidden").
    states: such as {"checked": True, "level": 2}, those that are false left out.
    text: of a text, its words, with the line breaks that `pre` and the like draw; of an element, those that are
        all there is inside and stand on its line, else "".
    ref: what actions take; None for a node without one.
    parent: the place in `Snapshot.nodes` of the node that it is in; None outermost.
    frame: the id of the frame (as in `page.frames`) in whose document it is.
    url: a link's whole address; of a frame's element, that of the document in it.
    description, placeholder: "" where there is none, or where the name says it; a description also where what is
        shown inside, or the line after it, says it.
    clickable: the page made it clickable without saying so by its role.
    remark: why what is in it could not be looked at, "" otherwise.
    """

    role: str
    name: str = ""
    value: str | None = None
    states: Mapping[str, State] = attrs.field(factory=dict, hash=False)
    text: str = ""
    ref: Ref | None = None
    parent: int | None = None
    frame: str | None = None
    url: str = ""
    description: str = ""
    placeholder: str = ""
    clickable: bool = False
    remark: str = ""


@attrs.define(eq=False, slots=False)
class ShownNodes:
    """The nodes of a snapshot: those of a document that its lines stand for, None for all of them.

    `texts` says whether texts inside stand on the lines of what they are in. `repeated` are the nodes whose
    description other lines say; None where that is still to be found.
    """

    document: Document
    refs: Mapping[Node, Ref]
    lines: Sequence[Node | None] | None = None
    texts: bool = True
    repeated: AbstractSet[Node] | None = None

    @cached_property
    def data(self) -> tuple[SnapshotNode, ...]:
        """The nodes as data, in the order of the lines."""
        return tuple(self._made())

    def _made(self) -> Iterator[SnapshotNode]:
        shown = None if self.lines is None else set(self.lines)
        nodes: list[Node] = []
        depths: list[int] = []
        found: list[tuple[str, int | None, str | None]] = []  # text, parent, frame
        stack: list[tuple[Node, int | None, str | None]] = [
            (node, None, self.document.frame_id) for node in reversed(self.document.roots)
        ]
        while stack:
            node, parent, frame = stack.pop()
            only = node.children[0] if len(node.children) == 1 and node.children[0].kind == "text" else None
            below = parent
            is_shown = shown is None or node in shown
            if is_shown:
                text = (
                    node.name if node.kind == "text" else only.name if only is not None and self.texts else ""
                )
                below = len(nodes)
                nodes.append(node)
                depths.append(0 if parent is None else depths[parent] + 1)
                found.append((text, parent, node.frame_id or frame))
            if only is None or not is_shown:
                inner = frame if node.document is None else node.document.frame_id
                stack.extend((child, below, inner) for child in reversed(node.children))
        for place, (node, (text, parent, frame)) in enumerate(zip(nodes, found, strict=True)):
            said_after = (
                says_description(place, nodes, depths, with_texts=self.texts)
                if self.repeated is None
                else node in self.repeated
            )
            yield _data(
                node, text, self.refs.get(node), parent, frame, "" if said_after else node.description
            )

    def saying(self, wanted: Words, exact: bool, *, innermost: bool) -> set[str]:
        """Return the ids of the refs that say the text: by their name, or by all that is said inside of them.

        With `innermost`, not those of what holds another such ref.
        """
        words: dict[Node, str] = {}
        holding: set[Node] = set()  # what has such a ref, or something inside of it has
        found: set[str] = set()
        for node in reversed(list(walk(self.document.roots))):
            inside = " ".join(word for child in node.children if (word := words.pop(child)))
            words[node] = inside or node.name
            if not holding.isdisjoint(node.children):
                holding.add(node)
                if innermost:
                    continue
            ref = self.refs.get(node)
            if ref is not None and any(
                holds(collapse_space(each), wanted, exact) for each in (node.name, words[node]) if each
            ):
                found.add(ref.id)
                holding.add(node)
        return found


def _data(
    node: Node, text: str, ref: Ref | None, parent: int | None, frame: str | None, description: str
) -> SnapshotNode:
    if node.kind == "text":
        return SnapshotNode(role="text", text=text, parent=parent, frame=frame)
    return SnapshotNode(
        role=node.role if is_token(node.role) else "generic",
        name=node.name,
        value=node.value,
        states=MappingProxyType(dict(node.states)),
        text=text,
        ref=ref,
        parent=parent,
        frame=frame,
        url=node.url or (node.document.url if node.document is not None else ""),
        description=description,
        placeholder=node.placeholder,
        clickable=node.clickable,
        remark=node.remark,
    )
