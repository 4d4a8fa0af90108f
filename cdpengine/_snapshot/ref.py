"""Ref: a short name of one node, with the node's role and name as of a snapshot. Its numbers and receivers. Pure.

Rule: a Ref never changes; its page's table (`refs.py`) has the node's current role and name. A number is used
once. It outlives the table, the page and the browser of its node, so that an old ref never names another element:
its use raises an error with the reason.

A name may have a counter: a number or a time in brackets at the beginning or end, "Inbox (3)", or a countdown,
"Resend in 30 s". Several elements whose names differ only by a counter are a series, "Photo (3)", which the
counter distinguishes. A bare number and a price are not counters: they distinguish items.

A caller acts on the role and name that it received with a ref. A caller is a connection: two connections to one
browser share the refs of a page, but each acts on what it received itself. A connection that has received nothing
yet continues where an earlier one ended. The engine also reads pages internally, to replay or plan a flow. Refs
that a task receives in such a block (`unseen`) count as received inside the block only, in this task.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

import attrs
import msgspec

from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import StaleRefError

# The forms in snapshots and in input by people and models: e3, @e3, 3, ref=e3, [ref=e3], "e3", (e3), e3. and e3,
_REF_TEXT = re.compile(
    r"""[\s\[("'`<]*(?:@|ref\s?[=:]\s?["']?)?e?([1-9][0-9]{0,17})[\s\])"'`>.,;:]*""", re.ASCII
)


@attrs.frozen(slots=False)  # a first snapshot makes thousands; with slots each takes twice as long
class Ref:
    """One node as of the snapshot with number `snapshot`, which assigned the ref or last found it changed.

    `nth` counts the nodes with refs of the same role and name in one frame's document, from 0 in document order.
    `backend_node_id` is Chrome's id for the node, unique within a renderer process. `loader_id` names the
    document: after a navigation the same backend id can be another node. `session_id` is the session that read the
    node; over another connection the frame has another session.
    """

    id: str
    role: str
    name: str
    nth: int
    backend_node_id: int
    frame_id: str | None
    session_id: str | None
    loader_id: str | None
    snapshot: int = 0

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        return f"{self.id} {self.describe()}{f' (nth={self.nth})' if self.nth else ''}"

    def describe(self) -> str:
        """Return the role and the name, quoted, escaped and cut to 80 characters, for messages."""
        return f"{self.role} {quote(shorten(self.name, 80))}" if self.name else self.role


def parse_ref_text(text: str) -> str | None:
    """Return "e3" for "e3", "@e3", "ref=e3", "[ref=e3]" and "3" (the form of numbered snapshots).

    Ignores quotes, brackets and punctuation around it. Returns None for any other string.
    """
    match = _REF_TEXT.fullmatch(text)
    return f"e{match[1]}" if match else None


class Entry(msgspec.Struct, eq=False):
    """A node with a ref. `born` and `latest` are the numbers of the first and the latest snapshot that had it.

    `alike` is the number of nodes with the same role and name in its document, 0 if only a part of it was read.
    `former` are the latest frames that it was in before.
    """

    ref: Ref
    renderer: Renderer
    born: int
    latest: int
    alike: int = 0
    former: tuple[str | None, ...] = ()


@attrs.define(eq=False)
class Renderer:
    """The nodes of one renderer process, by backend node id.

    `known` is whether `id` names the process, and not a document.
    """

    id: str | None
    known: bool
    nodes: dict[int, Entry] = attrs.field(factory=dict)


_WRITTEN = re.compile(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """, re.VERBOSE)
_IN_LINE = re.compile(r"\[ref=(e[0-9]+)\]|^\s*\[([0-9]+)\] ")


def ref_of_line(line: str) -> str:
    """Return the ref of a line of a snapshot, "" if none exists. Ignores quoted content of the page."""
    found = _IN_LINE.search(_WRITTEN.sub("", line))
    return "" if found is None else found[1] or f"e{found[2]}"


class NumberedRefs(Protocol):
    """Refs of one page, with numbers that other pages share."""

    def find(self, ref_id: str) -> Ref | None:
        """Return the current ref with this id; None if the page does not have it."""


@attrs.define(eq=False)
class RefNumbers:
    """The numbers of the tables that share them. `last` is the newest one, 0 before the first.

    Numbers up to `ended` belong to browsers that have ended.
    """

    last: int = 0
    ended: int = attrs.field(default=0, init=False)
    _tables: WeakSet[NumberedRefs] = attrs.field(factory=WeakSet, init=False)

    def add(self, table: NumberedRefs, last_number: int) -> None:
        """Register a table that takes its numbers from here. `last_number` is its last earlier number."""
        self.last = max(self.last, last_number)
        self._tables.add(table)

    def take(self) -> int:
        """Return the next number."""
        self.last += 1
        return self.last

    def end_browser(self) -> None:
        """Record that the browser of all numbers so far has ended."""
        self.ended = self.last

    def explain(self, ref_id: str) -> StaleRefError:
        """Return the error for an assigned ref that the page's own table does not have."""
        if int(ref_id[1:]) <= self.ended:
            return StaleRefError(
                ref=ref_id,
                description="from an earlier snapshot",
                reason="its browser or session has ended",
                became="foreign",
            )
        for table in self._tables:
            if (ref := table.find(ref_id)) is not None:
                return StaleRefError(
                    ref=ref_id,
                    description=ref.describe(),
                    reason="it is an element of another tab",
                    became="foreign",
                )
        return StaleRefError(
            ref=ref_id,
            description="from an early snapshot",
            reason="it was dropped long ago, to bound memory, or its page has ended",
            became="dropped",
        )


# --- refs that callers received ------------------------------------------------------------------------------

_Own = dict["ReceivedRefs", dict[str, Ref]]

_own: ContextVar[_Own | None] = ContextVar("cdpengine_own_looks", default=None)
"""Refs that the engine received in the current task's blocks, by table; None outside of blocks."""


@attrs.define(eq=False)
class ReceivedRefs:
    """The refs of one table by their ids, as each caller last received them."""

    _by_caller: WeakKeyDictionary[object, dict[str, Ref]] = attrs.field(factory=WeakKeyDictionary, init=False)
    _latest: dict[str, Ref] = attrs.field(factory=dict, init=False)

    def note(self, refs: Mapping[str, Ref], caller: object) -> None:
        """Record that a caller receives these refs or, in an `unseen` block, that the engine does."""
        own = _own.get()
        if own is not None:
            own.setdefault(self, {}).update(refs)
            return
        self._latest.update(refs)
        self._by_caller.setdefault(caller, {}).update(refs)

    def find(self, ref_id: str, caller: object) -> Ref | None:
        """Return a ref as the caller last received it, or else as any caller did; None if none did."""
        own = _own.get()
        if own is not None and (known := own.get(self, {}).get(ref_id)) is not None:
            return known
        return self._by_caller.get(caller, {}).get(ref_id) or self._latest.get(ref_id)

    def forget(self, ref_id: str) -> None:
        """Forget the ref with this id, which the table drops."""
        for received in (self._latest, *self._by_caller.values()):
            received.pop(ref_id, None)


@contextmanager
def unseen() -> Iterator[None]:
    """Count refs that this task receives in the block as received by the engine, not by a caller."""
    around = _own.get() or {}
    token = _own.set({table: dict(refs) for table, refs in around.items()})
    try:
        yield
    finally:
        _own.reset(token)


# --- counters in names ---------------------------------------------------------------------------------------

_UNIT = r"(?:s|secs?|seconds?|mins?|minutes?|h|hours?|left|new|unread)"
_NUMBER = rf"[(\[]\s*[0-9][0-9.,:'\u00a0\u202f ]*\+?(?:\s*{_UNIT}\b|\s*%)*\s*[)\]]"
_CLOCK = r"\b[0-9]{1,3}:[0-9]{2}(?::[0-9]{2})?\b|\b[0-9]{1,5}\s?(?:s|secs?|seconds?)\b"
_COUNTER = re.compile(rf"^\s*{_NUMBER}\s*|\s*{_NUMBER}\s*$|{_CLOCK}")


def without_counter(name: str) -> str:
    """Return the name without its counters; "" if nothing else is left."""
    return _COUNTER.sub("", name).strip()
