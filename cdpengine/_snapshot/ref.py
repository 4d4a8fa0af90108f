"""Ref: the name of one node, with the node's role and name as of a snapshot; and the numbers of refs. Pure.

Rule: a Ref never changes; the table of its page (`refs.py`) knows what the node is called now. A number is given
once. It outlives the table, the page and the browser that it was given in, so that an old ref never names another
element: its use is refused, with the reason.

A name may have a counter: a number or a time in brackets at the beginning or end, "Inbox (3)", or a countdown,
"Resend in 30 s". Where several elements have the same name but for a counter, they are a series, "Photo (3)", and
the counter tells them apart. A bare number and a price are no counters: they tell items apart.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakSet

import attrs
import msgspec

from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import StaleRefError

if TYPE_CHECKING:
    from cdpengine._snapshot.refs import RefTable

# As lines of snapshots, people and models write it: e3, @e3, 3, ref=e3, [ref=e3], "e3", (e3), e3. and e3,
_REF_TEXT = re.compile(
    r"""[\s\[("'`<]*(?:@|ref\s?[=:]\s?["']?)?e?([1-9][0-9]{0,17})[\s\])"'`>.,;:]*""", re.ASCII
)


@attrs.frozen(slots=False)  # a first look makes thousands: with slots each takes twice as long
class Ref:
    """One node, as it was in the snapshot that gave the ref or last found it changed: number `snapshot`.

    `nth` counts the nodes with refs of the same role and name in one frame's document, from 0 in the order of
    the page. `backend_node_id` is Chrome's, unique within a renderer process; `loader_id` names the document:
    after a navigation the same backend id can be another node. `session_id` is the session that the node was
    seen through; over another connection the frame has another one.
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
    """Return "e3" for "e3", "@e3", "ref=e3", "[ref=e3]" and "3" (as numbered snapshots show it).

    Quotes, brackets and punctuation around it do not count. None for another text.
    """
    match = _REF_TEXT.fullmatch(text)
    return f"e{match[1]}" if match else None


class Entry(msgspec.Struct, eq=False):
    """A node with a ref. `born` and `seen` are the numbers of the first and the latest snapshot that had it.

    `alike` is how many of the same role and name its document had, 0 where only a part of it was looked at.
    `former` are the frames that it was in before, the latest ones.
    """

    ref: Ref
    renderer: Renderer
    born: int
    seen: int
    alike: int = 0
    former: tuple[str | None, ...] = ()


@attrs.define(eq=False)
class Renderer:
    """The nodes of one renderer process, by backend node id.

    `known`: `id` is that of the process, not of a document.
    """

    id: str | None
    known: bool
    nodes: dict[int, Entry] = attrs.field(factory=dict)


_WRITTEN = re.compile(r""" "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' """, re.VERBOSE)
_IN_LINE = re.compile(r"\[ref=(e[0-9]+)\]|^\s*\[([0-9]+)\] ")


def ref_of_line(line: str) -> str:
    """Return the ref of a line of a snapshot, "" for none. What the page wrote is no part of it."""
    found = _IN_LINE.search(_WRITTEN.sub("", line))
    return "" if found is None else found[1] or f"e{found[2]}"


@attrs.define(eq=False)
class RefNumbers:
    """The numbers of the tables that share them. `last` is the newest one, 0 before the first.

    Numbers up to `ended` were given in browsers that have ended.
    """

    last: int = 0
    ended: int = attrs.field(default=0, init=False)
    _tables: WeakSet[RefTable] = attrs.field(factory=WeakSet, init=False)

    def add(self, table: RefTable, last_number: int) -> None:
        """Let a table take its numbers from here. `last_number` is the last one that it gave before."""
        self.last = max(self.last, last_number)
        self._tables.add(table)

    def take(self) -> int:
        """Return the next number."""
        self.last += 1
        return self.last

    def end_browser(self) -> None:
        """Note that the browser in which all numbers so far were given has ended."""
        self.ended = self.last

    def explain(self, ref_id: str) -> StaleRefError:
        """Return the error for a ref that was given, and that the page's own table does not keep."""
        if int(ref_id[1:]) <= self.ended:
            return StaleRefError(
                ref=ref_id,
                description="from an earlier snapshot",
                reason="it was given in a browser, or a session, that has ended since",
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


_UNIT = r"(?:s|secs?|seconds?|mins?|minutes?|h|hours?|left|new|unread)"
_NUMBER = rf"[(\[]\s*[0-9][0-9.,:'\u00a0\u202f ]*\+?(?:\s*{_UNIT}\b|\s*%)*\s*[)\]]"
_CLOCK = r"\b[0-9]{1,3}:[0-9]{2}(?::[0-9]{2})?\b|\b[0-9]{1,5}\s?(?:s|secs?|seconds?)\b"
_COUNTER = re.compile(rf"^\s*{_NUMBER}\s*|\s*{_NUMBER}\s*$|{_CLOCK}")


def without_counter(name: str) -> str:
    """Return the name without its counters; "" where there is nothing else in it."""
    return _COUNTER.sub("", name).strip()
