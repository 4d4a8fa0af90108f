"""The refs of nodes that documents share, whole or in parts. Unchanged node objects mostly keep their refs.

Rule: reuse requires identity of the node, of its entry in the table, and of the entry's ref. If any of them
differs, or the node's position among equal names has changed, the table assigns the ref.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from cdpengine._snapshot.node import Document, Node, SharedNodes, walk
from cdpengine._snapshot.ref import Entry, Ref


class RefsByNode(dict[Node, Ref]):
    """The refs of the nodes of one snapshot.

    `parts` maps the outermost node of a part to the part's refs, which are the same object while unchanged.
    """

    __slots__ = ("parts",)

    def __init__(self) -> None:
        super().__init__()
        self.parts: dict[Node, Mapping[Node, Ref]] = {}


Key = tuple[str, str]
"""A role and a name. Nodes of a document that share both are counted (`Ref.nth`)."""


@attrs.define(eq=False)
class Part:
    """The nodes of a part that need refs, with their entries and their last refs, in the same order.

    `keys` are the roles and names of nodes and refs. There are no entries before the first assignment. `assigned`
    has the refs by node, None if a node of the part shares its ref with another node.
    """

    nodes: list[Node]
    keys: set[Key]
    entries: list[Entry] = attrs.field(factory=list)
    refs: list[Ref] = attrs.field(factory=list)
    assigned: dict[Node, Ref] | None = None


Validity = tuple[object, ...]
"""The table of the refs, its number of dropped refs, and the place of the document."""


@attrs.define(eq=False)
class AssignedRefs:
    """The refs last assigned to the nodes of a document, kept with these nodes (`Document.shared`).

    They apply to the same nodes while `validity` is unchanged. `snapshot` is the number of the latest snapshot
    that assigned them, 0 for a partial one. `parts` are the document's parts by the outermost node of each, in
    document order; `trunk` has the keys of the nodes outside parts. `refs` are those of the document with these
    `roots`, None if the snapshot had other documents too.
    """

    validity: Validity
    snapshot: int
    parts: dict[Node, Part] = attrs.field(factory=dict)
    trunk: set[Key] = attrs.field(factory=set)
    roots: Sequence[Node] = ()
    refs: RefsByNode | None = None
    _entries: tuple[Entry, ...] = attrs.field(default=(), init=False)

    def reassign(self, snapshot: int, entry_of: Callable[[str], Entry]) -> None:
        """Record that all nodes have the same refs in the snapshot with this number."""
        if not self._entries and self.refs is not None:
            self._entries = tuple(entry_of(ref.id) for ref in self.refs.values())
        for entry in self._entries:
            entry.latest = snapshot
        self.snapshot = snapshot


@attrs.define(eq=False)
class PartsOfDocument:
    """The parts of one document during the assignment of refs, in the snapshot with the number `_snapshot`.

    `_counted` are the keys whose nodes are counted again, None for all. A part without any of them keeps its refs
    (`_same`): a key's count can change only if one of its nodes appears, disappears or moves.
    """

    _snapshot: int
    _now: AssignedRefs
    _counted: set[Key] | None = None
    _same: AbstractSet[Node] = frozenset()

    @classmethod
    def begin(
        cls,
        document: Document,
        shared: SharedNodes,
        snapshot: int,
        validity: Validity,
        known: Callable[[int], Entry | None],
        *,
        partial: bool,
    ) -> PartsOfDocument:
        """Return the parts of a document with shared nodes.

        `known` returns the entry of a backend node id.
        """
        before = shared.recall(AssignedRefs)
        if before is not None and before.validity != validity:
            before = None
        now = AssignedRefs(validity, 0 if partial else snapshot)
        shared.keep(now)
        found = cls(snapshot, now)
        counted, outside, in_order = found._sort(
            document, shared.tops, {} if before is None else before.parts
        )
        if before is not None and in_order and not partial and before.snapshot == snapshot - 1:
            found._keep_same(before, counted, outside, known)
        return found

    def _sort(
        self, document: Document, tops: AbstractSet[Node], before: Mapping[Node, Part]
    ) -> tuple[set[Key], list[int], bool]:
        """Find the parts.

        Returns the keys of nodes outside parts or in new ones, the backend node ids of these nodes, and whether
        the order of the other parts is unchanged.
        """
        counted: set[Key] = set()
        outside: list[int] = []
        parts, trunk = self._now.parts, self._now.trunk
        stack = document.roots[::-1]
        while stack:
            node = stack.pop()
            if node in tops:
                part = before.get(node)
                if part is not None:
                    parts[node] = part
                    continue
                part = _make_part(node)
                if part is not None:
                    parts[node] = part
                    counted |= part.keys
                    outside += (each.backend_node_id for each in part.nodes)  # type: ignore[misc]  # as below
                    continue
            if node.wants_ref:
                trunk.add((node.role, node.name))
                outside.append(node.backend_node_id)  # type: ignore[arg-type]  # as above
            if node.document is None:
                stack.extend(reversed(node.children))
        for node in document.loose:
            trunk.add((node.role, node.name))
            outside.append(node.backend_node_id)  # type: ignore[arg-type]  # as above
        remaining = [node for node in before if node in parts]
        in_order = remaining == [node for node in parts if node in before]
        return counted | trunk, outside, in_order

    def _keep_same(
        self,
        before: AssignedRefs,
        counted: set[Key],
        outside: Sequence[int],
        known: Callable[[int], Entry | None],
    ) -> None:
        """Choose the parts that keep their refs."""
        parts, number = self._now.parts, self._snapshot
        counted |= before.trunk
        for node, part in before.parts.items():
            if part.assigned is None or node not in parts:
                counted |= part.keys
        for each in outside:
            if (entry := known(each)) is not None:
                counted.add(
                    (entry.ref.role, entry.ref.name)
                )  # its former name, which may have one node less now
        free = counted.isdisjoint
        same = [node for node, part in parts.items() if part.assigned is not None and free(part.keys)]
        for node in same:
            for entry in parts[node].entries:
                entry.latest = number
        self._counted, self._same = counted, set(same)

    def give(
        self,
        node: Node,
        groups: dict[Key, list[Entry]],
        assigned: RefsByNode,
        give_one: Callable[[Node], Entry],
    ) -> bool:
        """Assign refs to the nodes of the part with this outermost node.

        `groups` has the entries of equal role and name in the document so far, `assigned` receives the refs, and
        `give_one` assigns the ref of a changed node. Returns False if no such part exists, or if it contains
        frames.
        """
        part = self._now.parts.get(node)
        if part is None:
            return False
        if node not in self._same:
            self._give_each(part, groups, assigned, give_one)
        elif part.assigned is not None:
            assigned.update(part.assigned)
        if part.assigned is not None:
            assigned.parts[node] = part.assigned
        return True

    def _give_each(
        self,
        part: Part,
        groups: dict[Key, list[Entry]],
        assigned: RefsByNode,
        give_one: Callable[[Node], Entry],
    ) -> None:
        counted, snapshot = self._counted, self._snapshot
        if part.assigned is None:
            part.entries = [give_one(each) for each in part.nodes]
            self._note(part, assigned)
            return
        changed = False
        for place, (each, entry, ref) in enumerate(zip(part.nodes, part.entries, part.refs, strict=True)):
            if entry.ref is ref and entry.latest != snapshot:
                key = ref.role, ref.name
                if counted is not None and key not in counted:
                    entry.latest = snapshot
                    assigned[each] = ref
                    continue
                group = groups.get(key)
                if group is None:
                    group = groups[key] = []
                if ref.nth == len(group):
                    entry.latest = snapshot
                    group.append(entry)
                    assigned[each] = ref
                    continue
            changed = True
            part.entries[place] = give_one(each)
        if changed:
            self._note(part, assigned)

    def _note(self, part: Part, assigned: RefsByNode) -> None:
        part.refs = [entry.ref for entry in part.entries]
        part.keys.update((ref.role, ref.name) for ref in part.refs)
        whole = all(each in assigned for each in part.nodes)
        part.assigned = dict(zip(part.nodes, part.refs, strict=True)) if whole else None


def _make_part(top: Node) -> Part | None:
    """Return the part with this outermost node; None if it contains a frame."""
    wanting: list[Node] = []
    for each in walk([top]):
        if each.document is not None:
            return None
        if each.wants_ref:
            wanting.append(each)
    return Part(wanting, {(each.role, each.name) for each in wanting})
