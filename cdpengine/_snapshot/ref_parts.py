"""The refs of nodes that documents share, whole ones or parts: the very nodes of before mostly keep theirs.

Rule: nothing is taken for known but by identity: of the node, of its entry in the table, and of the ref of that.
Where one of them is another one, or the node's place among its like has changed, the table gives the ref.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import attrs

from cdpengine._snapshot.node import Document, Node, walk

if TYPE_CHECKING:
    from cdpengine._snapshot.refs import Entry, Ref, RefTable


@attrs.define(eq=False)
class Given:
    """The refs that the nodes of one document were given, kept with these nodes (`Document.shared`).

    They hold for a document of the same nodes as long as its `place` and the `state` of the table are the same.
    """

    table: RefTable
    place: tuple[str | None, ...]
    state: tuple[int, int]
    refs: Mapping[Node, Ref]
    entries: tuple[Entry, ...] = ()


@attrs.define(eq=False)
class Part:
    """The nodes of a part that want refs, their entries, and the refs that these had, side by side.

    There are no entries before the first time.
    """

    nodes: list[Node]
    entries: list[Entry] = attrs.field(factory=list)
    refs: list[Ref] = attrs.field(factory=list)


Validity = tuple[tuple[str | None, ...], int]
"""Where the document is, and how many refs its table has dropped."""


@attrs.define(eq=False)
class GivenParts:
    """The nodes with refs of a document's parts, by the outermost node of each, kept with these nodes.

    They hold for the same table, as long as `validity` is the same.
    """

    table: RefTable
    validity: Validity
    parts: dict[Node, Part] = attrs.field(factory=dict)


@attrs.define(eq=False)
class PartsOfDocument:
    """The parts of one document while its nodes get their refs."""

    _tops: AbstractSet[Node]
    _before: Mapping[Node, Part]
    _now: dict[Node, Part]

    @classmethod
    def begin(cls, document: Document, table: RefTable, validity: Validity) -> PartsOfDocument | None:
        """Return them; None where the document shares nothing. From now on they are kept with it."""
        shared = document.shared
        if shared is None:
            return None
        before = shared.given_parts
        usable = before is not None and before.table is table and before.validity == validity
        shared.given_parts = now = GivenParts(table, validity)
        return cls(shared.tops, before.parts if before is not None and usable else {}, now.parts)

    def give(
        self,
        node: Node,
        groups: dict[tuple[str, str], list[Entry]],
        snapshot: int,
        given: dict[Node, Ref],
        give_one: Callable[[Node], Entry],
    ) -> bool:
        """Give the nodes of the part whose outermost node this is their refs, in the snapshot of that number.

        `groups` has the entries of the same role and name in the document so far, `given` gets the refs, and what
        is not as before has its ref from `give_one`. False where there is no such part, or frames are in it.
        """
        part = self._find(node) if node in self._tops else None
        if part is None:
            return False
        self._now[node] = part
        if not part.entries:
            part.entries = [give_one(each) for each in part.nodes]
            part.refs = [entry.ref for entry in part.entries]
            return True
        for place, (each, entry, ref) in enumerate(zip(part.nodes, part.entries, part.refs, strict=True)):
            if entry.ref is ref and entry.seen != snapshot:
                key = ref.role, ref.name
                group = groups.get(key)
                if group is None:
                    group = groups[key] = []
                if ref.nth == len(group):
                    entry.seen = snapshot
                    group.append(entry)
                    given[each] = ref
                    continue
            part.entries[place] = entry = give_one(each)
            part.refs[place] = entry.ref
        return True

    def _find(self, top: Node) -> Part | None:
        part = self._before.get(top)
        if part is not None:
            return part
        wanting: list[Node] = []
        for each in walk([top]):
            if each.document is not None:
                return None
            if each.wants_ref:
                wanting.append(each)
        return Part(wanting)
