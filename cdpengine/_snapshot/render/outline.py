"""Outline: the nodes of a document that have a line, chosen once for all modes, and the lines of unchanged parts.

Rule: an unchanged part consists of the same node objects. So its lines are unchanged if its place and the refs of
its nodes are.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from operator import itemgetter

import attrs

from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.render.lines import (
    Lines,
    RenderedPart,
    SnapshotOptions,
    can_be_acted_on,
    page_and_origin,
)
from cdpengine._snapshot.roles import STRUCTURAL_ROLES

Place = tuple[int, str, str]
"""The depth of a part, and the prefixes of addresses in its document (`page_and_origin`)."""


@attrs.define(eq=False)
class Parts:
    """The lines of a document's parts, by the outermost node of each.

    `tops` are the outermost nodes, `known` the lines from earlier documents, `assigned` the refs
    (`RefsByNode.parts`). `rendered` collects the lines for later documents.
    """

    tops: AbstractSet[Node] = frozenset()
    known: Mapping[Node, RenderedPart] = attrs.field(factory=dict)
    assigned: Mapping[Node, Mapping[Node, Ref]] = attrs.field(factory=dict)
    rendered: dict[Node, RenderedPart] = attrs.field(factory=dict)

    def find(self, node: Node, place: Place, refs: Mapping[Node, Ref]) -> RenderedPart | None:
        """Return the known lines of the part, if it has the same place and refs."""
        part = self.known.get(node)
        if part is None or part.place != place:
            return None
        assigned = self.assigned.get(node)
        if assigned is None or assigned is not part.assigned:
            if list(map(refs.get, part.nodes)) != part.refs:
                return None
            part.assigned = assigned
        self.rendered[node] = part
        return part


@attrs.define(eq=False)
class Outline:
    """The nodes that have a line, in document order, with their depths.

    Each of the `sections` begins at an index: its nodes have the same prefixes of addresses, and the first of them
    are those of a known part, if any. `insides` has for each of the others its only child if that is text, as it
    is on the node's line. `unwritten` are the parts without lines yet: the outermost node, the place, and the
    range of indexes. `too_deep` are the nodes below `max_depth`.
    """

    nodes: list[Node] = attrs.field(factory=list)
    depths: list[int] = attrs.field(factory=list)
    insides: list[Node | None] = attrs.field(factory=list)
    too_deep: list[Node | None] = attrs.field(factory=list)
    sections: list[tuple[int, Place, RenderedPart | None]] = attrs.field(factory=list)
    unwritten: list[tuple[Node, Place, int, int]] = attrs.field(factory=list)

    def keep_parts(self, lines: Lines, refs: Mapping[Node, Ref], parts: Parts) -> None:
        """Keep the new lines of parts, except of those with a line that depends on more than the part."""
        lines.parts = [(start, part) for start, _, part in self.sections if part is not None]
        for top, place, start, end in self.unwritten:
            if bisect_left(lines.dependent, start) < bisect_left(lines.dependent, end):
                continue
            nodes = self.nodes[start:end]
            texts, depths, found = lines.texts[start:end], self.depths[start:end], list(map(refs.get, nodes))
            acting = sum(map(can_be_acted_on, nodes))
            part = RenderedPart(place, texts, nodes, depths, found, acting, parts.assigned.get(top))
            parts.rendered[top] = part
            lines.parts.append((start, part))
        if self.unwritten:
            lines.parts.sort(key=itemgetter(0))


def choose_nodes(
    document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions, parts: Parts
) -> Outline:
    """Return the nodes that the options show."""
    outline, tops = Outline(), parts.tops
    nodes, depths, insides, sections = outline.nodes, outline.depths, outline.insides, outline.sections
    interactive_only, deepest = options.interactive, options.max_depth
    folded = find_folded(document, refs) if options.compact else frozenset()
    opened: tuple[Node, int] | None = None  # the part that is being read, and its first index
    depth, page, origin = place = 0, *page_and_origin(document.url)
    sections.append((0, place, None))
    # For each level above: its node, the remaining siblings, and their place.
    above: list[tuple[Node, Iterator[Node], Place]] = []
    siblings = iter(document.roots)
    while True:
        for node in siblings:
            if tops and node in tops:
                part = parts.find(node, place, refs)
                if part is not None:
                    sections.append((len(nodes), place, part))
                    nodes += part.nodes
                    depths += part.depths
                    continue
                opened = node, len(nodes)
            children, inside = node.children, None
            is_listed = not ((folded and node in folded) or (interactive_only and not can_be_acted_on(node)))
            if is_listed:
                if len(children) == 1 and children[0].kind == "text":
                    inside = children[0]
                if deepest is None or depth <= deepest:
                    nodes.append(node)
                    depths.append(depth)
                    insides.append(inside)
                else:
                    outline.too_deep.append(node)
            if children and inside is None:
                above.append((node, siblings, place))
                siblings = iter(children)
                depth += is_listed
                if node.document is not None:
                    page, origin = page_and_origin(node.document.url)
                    sections.append((len(nodes), (depth, page, origin), None))
                place = depth, page, origin
                break
        else:
            if not above:
                return outline
            outer, siblings, place = above.pop()
            depth, page, origin = place
            if outer.document is not None:
                sections.append((len(nodes), place, None))
            if opened is not None and opened[0] is outer:
                outline.unwritten.append((outer, place, opened[1], len(nodes)))
                opened = None


def find_folded(document: Document, refs: Mapping[Node, Ref]) -> AbstractSet[Node]:
    """Return the unnamed structural nodes that group fewer than two lines, or contain no ref.

    A ref counts only if the node would also have one with refs="actions".
    """
    folded: set[Node] = set()
    below: dict[Node, tuple[int, bool]] = {}  # direct lines after folding; whether a ref is below
    for node in reversed(list(walk(document.roots))):
        lines, has_ref = 0, False
        for child in node.children:
            child_lines, child_has_ref = below.pop(child)
            lines += child_lines if child in folded else 1
            has_ref = has_ref or child_has_ref or (child in refs and child.wants_ref)
        below[node] = lines, has_ref
        is_bare = (
            not node.name and not node.states and node.value is None and not (node in refs and node.wants_ref)
        )
        if node.role in STRUCTURAL_ROLES and is_bare and not node.remark and (lines < 2 or not has_ref):
            folded.add(node)
    return folded
