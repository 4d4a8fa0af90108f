"""Refs: short names for nodes, and the table that gives them out.

Rule: a ref names one node of one document, (session, loader, backend node), and never another one. Numbers go
up and are not used again; a node that is seen again keeps its ref. Memory is bounded: the refs of a document
that was replaced are dropped, and beyond `max_refs` those not seen for the longest time; the latest dropped
ones are remembered by description, so that their use is refused with the reason.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable

import attrs

from cdpengine.errors import InvalidArgument, NodeNotFound, StaleRef
from cdpengine.snapshot.node import Node
from cdpengine.snapshot.text import quote, shorten

_REF_TEXT = re.compile(r"\s*(?:@|ref=)?e([1-9][0-9]{0,17})\s*", re.ASCII)


@attrs.frozen
class Ref:
    """One node of one document, as it was in the snapshot that gave or confirmed the ref.

    `nth` counts the nodes with refs of the same role and name, from 0 in the order of the page.
    `backend_node_id` is Chrome's, unique within the renderer process that `session_id` talks to.
    `loader_id` names the document; after a navigation the same backend id can be another node.
    """

    id: str
    role: str
    name: str
    nth: int
    backend_node_id: int
    frame_id: str | None
    session_id: str | None
    loader_id: str | None

    def __str__(self) -> str:
        nth = f" (nth={self.nth})" if self.nth else ""
        return f"{self.id} {self.describe()}{nth}"

    def describe(self) -> str:
        """Return the role and the name, quoted, escaped and cut to 80 characters, for messages."""
        return f"{self.role} {quote(shorten(self.name, 80))}" if self.name else self.role


def parse_ref_text(text: str) -> str | None:
    """Return "e3" for "e3", "@e3" and "ref=e3", None for a text that is no ref."""
    match = _REF_TEXT.fullmatch(text)
    return f"e{match[1]}" if match else None


_Key = tuple[str | None, str | None, int]


class RefTable:
    """All refs of one page. At most `max_refs` are kept, plus what the latest snapshot holds beyond that."""

    def __init__(self, *, max_refs: int = 50_000) -> None:
        if max_refs < 1:
            raise InvalidArgument(what="max_refs", given=repr(max_refs), expected="1 or more")
        self._max_refs = max_refs
        self._last_number = 0
        self._by_key: dict[_Key, Ref] = {}  # ordered by when the node was last seen
        self._by_id: dict[str, Ref] = {}
        self._dropped: dict[str, tuple[str, str]] = {}  # id -> description, reason
        self._dropped_order: deque[str] = deque()

    def __len__(self) -> int:
        return len(self._by_key)

    def assign(
        self, nodes: Iterable[Node], *, session_id: str | None, frame_id: str | None, loader_id: str | None
    ) -> dict[Node, Ref]:
        """Give refs to the nodes that want one, all from one document and in the order of the page.

        A node seen before keeps its id; role, name and nth are brought up to date. Of several nodes with one
        backend node id the first gets the ref. Refs of an earlier document of this frame are dropped.
        """
        self._drop_if(
            lambda ref: (
                ref.session_id == session_id and ref.frame_id == frame_id and ref.loader_id != loader_id
            ),
            "its document was replaced by another one",
        )
        given: dict[Node, Ref] = {}
        taken: set[int] = set()
        counts: dict[tuple[str, str], int] = {}
        for node in nodes:
            number = node.backend_node_id
            if number is None or not node.wants_ref or number in taken:
                continue
            taken.add(number)
            alike = (node.role, node.name)
            nth = counts.get(alike, 0)
            counts[alike] = nth + 1
            key = (session_id, loader_id, number)
            ref = self._by_key.pop(key, None)
            if ref is None:
                self._last_number += 1
                ref_id = f"e{self._last_number}"
                ref = Ref(ref_id, node.role, node.name, nth, number, frame_id, session_id, loader_id)
                self._by_id[ref_id] = ref
            elif ref.name != node.name or ref.nth != nth or ref.role != node.role or ref.frame_id != frame_id:
                ref = Ref(ref.id, node.role, node.name, nth, number, frame_id, session_id, loader_id)
                self._by_id[ref.id] = ref
            self._by_key[key] = ref
            given[node] = ref
        self._drop_oldest(keep=len(given))
        return given

    def lookup(self, text: str) -> Ref:
        """Return the ref that "e3", "@e3" or "ref=e3" names.

        Raises NodeNotFound when it is no ref, or one that this page never gave; StaleRef when it was dropped.
        That the ref is known does not say that the node still is in the document.
        """
        ref_id = parse_ref_text(text)
        if ref_id is None:
            raise NodeNotFound(
                target=quote(shorten(text, 80)), reason='not a ref; refs look like "e3", "@e3" or "ref=e3"'
            )
        ref = self._by_id.get(ref_id)
        if ref is not None:
            return ref
        if int(ref_id[1:]) > self._last_number:
            newest = (
                f"the newest one is e{self._last_number}" if self._last_number else "it has given none yet"
            )
            raise NodeNotFound(target=ref_id, reason=f"this page never gave that ref; {newest}")
        description, reason = self._dropped.get(
            ref_id, ("from an early snapshot", "it was dropped long ago, to bound memory")
        )
        raise StaleRef(ref=ref_id, description=description, reason=reason)

    def drop_document(self, loader_id: str, reason: str = "its document was replaced by another one") -> None:
        """Drop the refs of a document that is gone."""
        self._drop_if(lambda ref: ref.loader_id == loader_id, reason)

    def drop_session(self, session_id: str | None, reason: str = "its frame's session ended") -> None:
        """Drop the refs of a session that is gone: its frame was removed, or moved to another process."""
        self._drop_if(lambda ref: ref.session_id == session_id, reason)

    def _drop_if(self, unwanted: Callable[[Ref], bool], reason: str) -> None:
        for key in [key for key, ref in self._by_key.items() if unwanted(ref)]:
            self._drop(key, reason)

    def _drop_oldest(self, *, keep: int) -> None:
        excess = len(self._by_key) - max(self._max_refs, keep)
        if excess > 0:
            reason = f"it was not in the latest snapshots, and at most {self._max_refs} refs are kept"
            for key in [key for key, _ in zip(self._by_key, range(excess), strict=False)]:
                self._drop(key, reason)

    def _drop(self, key: _Key, reason: str) -> None:
        ref = self._by_key.pop(key)
        del self._by_id[ref.id]
        self._dropped[ref.id] = (ref.describe(), reason)
        self._dropped_order.append(ref.id)
        if len(self._dropped_order) > _DROPPED_REMEMBERED:
            del self._dropped[self._dropped_order.popleft()]


_DROPPED_REMEMBERED = 5_000
