"""The report of used parts of scripts and style sheets, and the arithmetic of ranges. Pure.

Rule: a source that was loaded several times, at the same place and with the same content, is one entry; a part
counts as used if any of its documents used it. `gaps` lists the unobserved documents. Chrome counts in UTF-16
units, Python in characters, files in UTF-8 bytes; this module converts them, so that `text[start:end]` is the part
that Chrome reported.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

import attrs


@attrs.frozen
class CoveredText:
    """One script or style sheet. `used` and `unused` are ranges of characters: `text[start:end]`.

    `line` and `column` (from 0) are the position of an inline script or sheet in its document. `text` is None if
    Chrome had dropped it; sizes are then in UTF-16 units. Otherwise sizes are bytes of UTF-8.
    """

    url: str
    text: str | None = attrs.field(repr=False)
    used: Ranges = attrs.field(repr=False)
    unused: Ranges = attrs.field(repr=False)
    total_bytes: int
    used_bytes: int
    line: int = 0
    column: int = 0

    @property
    def unused_bytes(self) -> int:
        """Number of unused bytes."""
        return self.total_bytes - self.used_bytes


@attrs.frozen
class CoverageGap:
    """A document that navigated on its own: its last `seconds` are not counted (None: its whole life)."""

    url: str
    seconds: float | None


@attrs.frozen
class CoverageReport:
    """The coverage of scripts and style sheets, in the order of loading."""

    scripts: tuple[CoveredText, ...]
    sheets: tuple[CoveredText, ...]
    gaps: tuple[CoverageGap, ...] = ()

    @property
    def total_bytes(self) -> int:
        """Bytes of all scripts and sheets."""
        return sum(entry.total_bytes for entry in (*self.scripts, *self.sheets))

    @property
    def used_bytes(self) -> int:
        """Used bytes of all scripts and sheets."""
        return sum(entry.used_bytes for entry in (*self.scripts, *self.sheets))


@attrs.define(eq=False)
class SourceText:
    """A script or sheet during the measurement. `used` and `length` count UTF-16 units."""

    url: str
    line: int
    column: int
    length: int
    text: str | None = None
    used: Ranges = ()

    def add(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Add used ranges."""
        self.used = unite_ranges(self.used, ranges)

    def entry(self) -> CoveredText:
        """Return the report's entry."""
        if self.text is None:
            used, total = clip_ranges(self.used, self.length), self.length
            used_size = sum(end - start for start, end in used)
        else:
            used = in_characters(self.text, self.used)
            total, used_size = size_of(self.text, ((0, len(self.text)),)), size_of(self.text, used)
        whole = self.length if self.text is None else len(self.text)
        return CoveredText(
            self.url, self.text, used, rest_of(used, whole), total, used_size, self.line, self.column
        )


def same_texts_once(parsed: Iterable[SourceText]) -> tuple[CoveredText, ...]:
    """Return one entry for each source, however often it was loaded.

    A source without text is merged with a source of the same place and length, if one exists.
    """
    texts = list(parsed)
    merged: dict[tuple[str, int, int, str | int], SourceText] = {}
    for each in sorted(texts, key=lambda each: each.text is None):
        place = each.url, each.line, each.column
        alike = (known for key, known in merged.items() if key[:3] == place and known.length == each.length)
        known = next(alike, None) if each.text is None else merged.get((*place, each.text))
        if known is None:
            merged[(*place, each.length if each.text is None else each.text)] = attrs.evolve(each)
        else:
            known.add(each.used)
    order = {(each.url, each.line, each.column): number for number, each in reversed(list(enumerate(texts)))}
    entries = sorted(merged.values(), key=lambda each: order[each.url, each.line, each.column])
    return tuple(each.entry() for each in entries)


Ranges = tuple[tuple[int, int], ...]
"""Ranges [start, end), in order, without overlap."""

_LAST_BMP = "\uffff"


def counted_ranges(nested: Iterable[tuple[int, int, int]]) -> Ranges:
    """Return the ranges with a count above zero. Of nested (start, end, count) ranges, the innermost counts."""
    ordered = sorted(nested, key=lambda entry: (entry[0], -entry[1]))
    used: list[tuple[int, int]] = []
    open_ranges: list[tuple[int, int]] = []  # (end, count), the innermost last
    at = 0

    def go_to(position: int) -> None:
        nonlocal at
        if position > at:
            if open_ranges and open_ranges[-1][1] > 0:
                used.append((at, position))
            at = position

    def close(until: float) -> None:
        while open_ranges and open_ranges[-1][0] <= until:
            go_to(open_ranges[-1][0])
            open_ranges.pop()

    for start, end, count in ordered:
        close(start)
        go_to(start)
        open_ranges.append((end, count))
    close(math.inf)
    return unite_ranges(used)


def unite_ranges(*parts: Iterable[tuple[int, int]]) -> Ranges:
    """Return the union of the parts."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(pair for part in parts for pair in part):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return tuple(merged)


def rest_of(ranges: Ranges, length: int) -> Ranges:
    """Return the parts of [0, length) outside of the ranges."""
    edges = [0, *(edge for pair in ranges for edge in pair), length]
    gaps = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    return tuple((start, end) for start, end in gaps if start < end)


def clip_ranges(ranges: Ranges, length: int) -> Ranges:
    """Return the intersection of the ranges with [0, length)."""
    return tuple((max(0, start), min(end, length)) for start, end in ranges if start < length and end > 0)


def in_characters(text: str, ranges: Ranges) -> Ranges:
    """Convert ranges in UTF-16 units of the text into ranges of characters."""
    if not text or max(text) <= _LAST_BMP:
        return clip_ranges(ranges, len(text))
    ends = list(accumulate(2 if character > _LAST_BMP else 1 for character in text))

    def index(units: int) -> int:
        return bisect_right(ends, units)  # an offset inside a pair counts as before it

    return tuple((index(start), index(end)) for start, end in ranges if index(start) < index(end))


def size_of(text: str, ranges: Ranges) -> int:
    """Return the size of the text's ranges in bytes of UTF-8."""
    if text.isascii():
        return sum(end - start for start, end in ranges)
    return sum(len(text[start:end].encode("utf-8", "surrogatepass")) for start, end in ranges)


def in_order(ranges: Sequence[tuple[int, int]]) -> bool:
    """Return whether the ranges are in order, not empty, and neither touch nor overlap."""
    return all(start < end for start, end in ranges) and all(
        one[1] < next_[0] for one, next_ in pairwise(ranges)
    )
