"""Refs: short names for nodes, and the table of a page that assigns them.

Rule: a ref always names the same node. Numbers increase and are never reused; a node keeps its ref in later
snapshots. Memory is bounded: beyond `max_refs`, the least recently seen refs are dropped. The descriptions of the
latest dropped refs are kept, so that the error for their use has the reason.

Chrome's backend node ids are unique, and never reused, within one renderer process. So the key of a node is
(renderer, backend node): a node that moves to another document of its process stays the same. If the renderer is
unknown, the document's loader id replaces it. This is equally safe, but a moved node gets a second ref.
"""

from __future__ import annotations

import functools
import heapq
from collections import deque
from collections.abc import Collection, Iterator, Mapping

import attrs

from cdpengine._checks import check_count
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.ref import (
    Entry,
    ReceivedRefs,
    Ref,
    RefNumbers,
    Renderer,
    parse_ref_text,
    without_counter,
)
from cdpengine._snapshot.ref_parts import AssignedRefs, PartsOfDocument, RefsByNode, Validity
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import NodeNotFoundError, StaleRefError
from cdpengine.errors.selectors import advise

__all__ = ["Entry", "Ref", "RefTable", "parse_ref_text"]

_DROPPED_REMEMBERED = 5_000
_FORMER_REMEMBERED = 3
_DOCUMENTS_REMEMBERED = 1_000
_MOST_ALTERNATIVES = 5


@attrs.define(eq=False)
class _View:
    """One document during the assignment of refs; `groups` has its entries by role and name."""

    document: Document
    renderer: Renderer
    partial: bool
    groups: dict[tuple[str, str], list[Entry]] = attrs.field(factory=dict)


class RefTable:
    """All refs of one page. At most `max_refs` are kept, plus the excess of the latest snapshot.

    Only one thread uses a table (`ref_tables` has separate ones for each), so it needs no lock.

    `last_number` is the start of counting: refs up to it belong to a table that is gone. `numbers` are shared by
    several tables.
    """

    def __init__(
        self, *, max_refs: int = 50_000, last_number: int = 0, numbers: RefNumbers | None = None
    ) -> None:
        self._max_refs = check_count("max_refs", max_refs, least=1)
        self._numbers = RefNumbers(last_number) if numbers is None else numbers
        self._numbers.add(self, last_number)
        self._snapshots = 0
        self._drops = 0
        self._by_id: dict[str, Entry] = {}
        self._renderers: dict[tuple[str | None, bool], Renderer] = {}
        self._received = ReceivedRefs()
        self._looked: dict[str | None, int] = {}  # loader -> the last snapshot that read the whole document
        self._dropped: dict[str, tuple[str, str]] = {}  # id -> description, reason
        self._dropped_order: deque[str] = deque()

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def last_number(self) -> int:
        """The newest number of the table, shared numbers included; 0 before the first."""
        return self._numbers.last

    @property
    def snapshots(self) -> int:
        """The number of snapshots with refs from this table; also the number of the latest one."""
        return self._snapshots

    # --- assignment ----------------------------------------------------------------------------------------

    def assign(
        self, documents: Collection[Document], *, partial: bool = False, every: bool = False
    ) -> Mapping[Node, Ref]:
        """Assign refs to the nodes of one snapshot that need one, or to `every` element, in document order.

        Nodes that only the accessibility tree has (`Document.loose`) follow at the end.

        `documents` are the snapshot's documents, outer ones first; a document below another one's node
        (`Node.document`) may be omitted. `partial` is whether only a part of them was read (`root=`). In this
        case, and for a document that is `cut`, `nth` of known nodes stays unchanged.

        A known node keeps its id; its role, name and nth are updated. Of several nodes with one backend node id,
        the first gets the ref.
        """
        only = next(iter(documents)) if len(documents) == 1 and not (partial or every) else None
        if only is not None and (again := self._reassign(only)) is not None:
            return again
        assigned = RefsByNode()
        done: set[int] = set()
        self._snapshots += 1
        for document in documents:
            self._walk(document, partial, every, done, assigned)
        self._renderers = {key: each for key, each in self._renderers.items() if each.nodes}
        self._make_room(len(assigned))
        if only is not None and only.shared is not None and (kept := only.shared.recall(AssignedRefs)):
            kept.roots, kept.refs = only.roots, assigned
        return assigned

    def _reassign(self, document: Document) -> Mapping[Node, Ref] | None:
        """Return the refs of a document whose nodes were the last to get refs here; None for any other."""
        kept = None if document.shared is None else document.shared.recall(AssignedRefs)
        if (
            kept is None
            or kept.roots is not document.roots
            or kept.snapshot != self._snapshots
            or kept.validity != self._validity(document)
        ):
            return None
        self._snapshots += 1
        kept.reassign(self._snapshots, self._by_id.__getitem__)
        self._note_looked(document)
        return kept.refs

    def _validity(self, document: Document) -> Validity:
        place = document.frame_id, document.loader_id, document.session_id, document.renderer_id
        return (self, self._drops, *place)

    def _walk(
        self, document: Document, partial: bool, every: bool, done: set[int], assigned: RefsByNode
    ) -> None:
        if id(document) in done:
            return
        done.add(id(document))
        view = _View(document, self._renderer(document), partial or document.cut)
        give = functools.partial(self._give, view, assigned)
        known, groups, snapshot = view.renderer.nodes.get, view.groups, self._snapshots
        parts = None
        if document.shared is not None and not every:
            validity = self._validity(document)
            parts = PartsOfDocument.begin(
                document, document.shared, snapshot, validity, known, partial=view.partial
            )
        place = document.frame_id, document.session_id, document.loader_id
        stack = document.roots[::-1]
        while stack:
            node = stack.pop()
            if parts is not None and parts.give(node, groups, assigned, give):
                continue
            if node.wants_ref or (every and node.kind != "text" and node.backend_node_id is not None):
                entry = known(node.backend_node_id)  # type: ignore[arg-type]
                if entry is None or entry.latest == snapshot:
                    give(node)
                else:
                    # An inlined `_give` for unchanged nodes. Most nodes are unchanged, and a call for each takes
                    # longer.
                    ref, role, name = entry.ref, node.role, node.name
                    group = groups.get((role, name))
                    if group is None:
                        group = groups[role, name] = []
                    if (
                        ref.name == name
                        and ref.role == role
                        and ref.nth == len(group)
                        and (ref.frame_id, ref.session_id, ref.loader_id) == place
                    ):
                        entry.latest = snapshot
                        group.append(entry)
                        assigned[node] = ref
                    else:
                        give(node)
            if node.document is not None:
                self._walk(node.document, partial, every, done, assigned)
            elif node.children:
                stack.extend(reversed(node.children))
        for node in document.loose:
            give(node)
        if not view.partial:
            for group in view.groups.values():
                count = len(group)
                for entry in group:
                    entry.alike = count
            self._note_looked(document)

    def _note_looked(self, document: Document) -> None:
        self._looked.pop(document.loader_id, None)
        self._looked[document.loader_id] = self._snapshots
        while len(self._looked) > _DOCUMENTS_REMEMBERED:
            del self._looked[next(iter(self._looked))]

    def _renderer(self, document: Document) -> Renderer:
        named = document.renderer_id
        key = (named, True) if named is not None else (document.loader_id, False)
        if key not in self._renderers:
            self._renderers[key] = Renderer(*key)
        return self._renderers[key]

    def _give(self, view: _View, assigned: dict[Node, Ref], node: Node) -> Entry:
        number = node.backend_node_id
        assert number is not None
        entry = view.renderer.nodes.get(number)
        if entry is not None and entry.latest == self._snapshots:
            return entry
        key = node.role, node.name
        group = view.groups.get(key)
        if group is None:
            group = view.groups[key] = []
        nth = len(group)
        if entry is None:
            entry = self._new(node, number, nth, view)
        else:
            entry.latest = self._snapshots
            self._update(entry, node, nth, view)
        group.append(entry)
        assigned[node] = entry.ref
        return entry

    def _new(self, node: Node, number: int, nth: int, view: _View) -> Entry:
        ref = self._ref(f"e{self._numbers.take()}", node, number, nth, view.document)
        entry = Entry(ref, view.renderer, self._snapshots, self._snapshots)
        view.renderer.nodes[number] = self._by_id[ref.id] = entry
        return entry

    def _update(self, entry: Entry, node: Node, nth: int, view: _View) -> None:
        ref, document = entry.ref, view.document
        same = ref.name == node.name and ref.role == node.role and ref.loader_id == document.loader_id
        if ref.frame_id != document.frame_id:
            entry.former = (*entry.former[-_FORMER_REMEMBERED:], ref.frame_id)
        if same and view.partial:
            nth = ref.nth
        elif not same:
            entry.alike = 0
        if not same or ref.nth != nth or ref.session_id != document.session_id:
            entry.ref = self._ref(ref.id, node, ref.backend_node_id, nth, document)

    def _ref(self, ref_id: str, node: Node, number: int, nth: int, document: Document) -> Ref:
        return Ref(
            ref_id,
            node.role,
            node.name,
            nth,
            number,
            document.frame_id,
            document.session_id,
            document.loader_id,
            self._snapshots,
        )

    # --- finding -------------------------------------------------------------------------------------------

    def lookup(self, text: str) -> Ref:
        """Return the ref that "e3", "@e3", "ref=e3" or "3" names.

        Raises NodeNotFoundError if the string is not a ref, or is one that this page never assigned; StaleRefError
        if the ref was dropped. A known ref's node may be gone from the document.
        """
        ref_id = parse_ref_text(text)
        if ref_id is None:
            shown = quote(shorten(text, 80))
            advice = advise(text) or (
                f"For a CSS selector, pass the result of await page.find({shown}); "
                "page.find also takes role=, name= and text="
            )
            reason = f'not a ref; refs look like "e3", "@e3" or "ref=e3". {advice}'
            raise NodeNotFoundError(target=shown, reason=reason)
        entry = self._by_id.get(ref_id)
        if entry is not None:
            return entry.ref
        if int(ref_id[1:]) > self.last_number:
            newest = f"the newest one is e{self.last_number}" if self.last_number else "it has given none yet"
            raise NodeNotFoundError(target=ref_id, reason=f"this page never gave that ref; {newest}")
        if ref_id in self._dropped:
            description, reason = self._dropped[ref_id]
            raise StaleRefError(ref=ref_id, description=description, reason=reason, became="dropped")
        raise self._numbers.explain(ref_id)

    def give(self, refs: Mapping[str, Ref], caller: object) -> None:
        """Record that a caller receives these refs, with their current roles and names."""
        self._received.note(refs, caller)

    def as_received(self, ref: Ref, caller: object) -> Ref:
        """Return the ref as its caller last received it; if no caller ever did, the current one."""
        return self._received.find(ref.id, caller) or self.find(ref.id) or ref

    def rename(self, ref_id: str, role: str, name: str) -> Ref | None:
        """Record a node's new role and name, and return its ref; None if the table does not have it."""
        entry = self._by_id.get(ref_id)
        if entry is None:
            return None
        counted = role == entry.ref.role and without_counter(name) == without_counter(entry.ref.name)
        entry.ref = attrs.evolve(entry.ref, role=role, name=name)
        if not (counted and entry.alike == 1):
            entry.alike = 0
        self._drops += 1  # invalidates the stored refs of the same nodes
        return entry.ref

    def others(self, ref: Ref) -> Iterator[Ref]:
        """Return the other refs of the ref's document, as of its last complete read."""
        looked = self._looked.get(ref.loader_id, 0)
        return (
            entry.ref
            for entry in self._by_id.values()
            if entry.ref.loader_id == ref.loader_id and entry.ref.id != ref.id and entry.latest >= looked
        )

    def share(self, numbers: RefNumbers) -> None:
        """Use `numbers` to number new refs from now on."""
        if numbers is not self._numbers:
            numbers.add(self, self.last_number)
            self._numbers = numbers

    def find(self, ref_id: str) -> Ref | None:
        """Return the table's current ref with this id; None if the table does not have it."""
        entry = self._by_id.get(ref_id)
        return None if entry is None else entry.ref

    def knows(self, ref: Ref) -> bool:
        """Return whether this table assigned this Ref and still has it."""
        entry = self._by_id.get(ref.id)
        return (
            entry is not None
            and entry.ref.backend_node_id == ref.backend_node_id
            and ref.frame_id in (entry.ref.frame_id, *entry.former)
        )

    def known(self, loader_id: str | None, backend_node_id: int) -> Ref | None:
        """Return the ref of a node of that document, None if it has none."""
        for renderer in self._renderers.values():
            entry = renderer.nodes.get(backend_node_id)
            if entry is not None and entry.ref.loader_id == loader_id:
                return entry.ref
        return None

    def renderer_of(self, ref: Ref) -> str | None:
        """Return the renderer process (`renderer_id`) of the ref's node; None if unknown."""
        entry = self._by_id.get(ref.id)
        return entry.renderer.id if entry is not None and entry.renderer.known else None

    def alternatives(self, ref: Ref, loader_ids: Collection[str | None]) -> tuple[Ref, ...]:
        """Return other refs of the same role and name in these documents, of the same frame first; at most five.

        If none exist, return the one whose name differs only by a counter. The latest snapshots determine the
        result, so the nodes may be gone by now.
        """
        alike = [
            entry
            for entry in self._alike(ref) or self._alike_but_for_a_counter(ref)
            if entry.ref.loader_id in loader_ids
        ]
        # The most recently seen first; among them, first the same frame, in document order.
        alike.sort(key=lambda entry: (-entry.latest, entry.ref.frame_id != ref.frame_id, entry.ref.nth))
        return tuple(entry.ref for entry in alike[:_MOST_ALTERNATIVES])

    def successor(self, ref: Ref, loader_id: str | None) -> Ref | None:
        """Return the replacement of a node that is gone, by (role, name, nth); None if it is ambiguous.

        Call it right after all of document `loader_id` was read. The result is unambiguous if the document has as
        many nodes of that role and name as the ref's document had, and the node at its position is new. If it has
        none, the result is the only node of that role whose name differs only by a counter, provided that the
        ref's document had no other such node.
        """
        old = self._by_id.get(ref.id)
        if old is None or not old.alike:
            return None
        if self._looked.get(loader_id) != self._snapshots:
            return None
        here = [entry for entry in self._alike(old.ref) if entry.ref.loader_id == loader_id]
        if not here and old.alike == 1:
            here = [
                entry for entry in self._alike_but_for_a_counter(old.ref) if entry.ref.loader_id == loader_id
            ]
        if len(here) != old.alike:
            return None
        placed = next((entry for entry in here if entry.ref.nth == old.ref.nth), None)
        return placed.ref if placed is not None and placed.born > old.latest else None

    def _alike(self, ref: Ref) -> list[Entry]:
        """Return the other nodes with the role and name of `ref`, as of their documents' last complete read."""
        return [
            entry
            for entry in self._by_id.values()
            if entry.ref.name == ref.name and entry.ref.role == ref.role and self._is_other(entry, ref)
        ]

    def _alike_but_for_a_counter(self, ref: Ref) -> list[Entry]:
        """Return the other node of that role whose name differs only by a counter; [] if several exist."""
        old = self._by_id.get(ref.id)
        if old is not None and self._had_series(old):
            return []
        found = [entry for entry in self._of_label(ref) if self._is_other(entry, ref)]
        return found if len(found) == 1 else []

    def _had_series(self, old: Entry) -> bool:
        """Return whether a node's document had another one whose name differs only by a counter."""
        return any(
            entry.born <= old.latest <= entry.latest and entry.ref.loader_id == old.ref.loader_id
            for entry in self._of_label(old.ref)
        )

    def _of_label(self, ref: Ref) -> Iterator[Entry]:
        label = without_counter(ref.name)
        others = self._by_id.values() if label else ()
        return (
            entry
            for entry in others
            if entry.ref.role == ref.role
            and entry.ref.id != ref.id
            and without_counter(entry.ref.name) == label
        )

    def _is_other(self, entry: Entry, ref: Ref) -> bool:
        return entry.ref.id != ref.id and entry.latest >= self._looked.get(entry.ref.loader_id, 0)

    # --- bounding memory -----------------------------------------------------------------------------------

    def shrink(self, keep: int, reason: str) -> None:
        """Drop the least recently seen refs, until `keep` are left."""
        excess = len(self._by_id) - keep
        for entry in heapq.nsmallest(excess, self._by_id.values(), key=lambda entry: entry.latest):
            self._drop(entry, reason)

    def _make_room(self, needed: int) -> None:
        if len(self._by_id) > max(self._max_refs, needed):
            # Drops more than needed, because each call examines all entries.
            self.shrink(
                max(self._max_refs * 7 // 8, needed),
                f"it was not in the latest snapshots, and at most {self._max_refs} refs are kept",
            )

    def _drop(self, entry: Entry, reason: str) -> None:
        ref = entry.ref
        del self._by_id[ref.id]
        self._received.forget(ref.id)
        self._drops += 1
        nodes = entry.renderer.nodes
        del nodes[ref.backend_node_id]
        if not nodes:
            self._renderers.pop((entry.renderer.id, entry.renderer.known), None)
        self._dropped[ref.id] = (ref.describe(), reason)
        self._dropped_order.append(ref.id)
        if len(self._dropped_order) > _DROPPED_REMEMBERED:
            del self._dropped[self._dropped_order.popleft()]
