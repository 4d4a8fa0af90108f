"""Which parts of a text were used: the arithmetic of ranges, and of the ways to count a text. Pure.

Rule: Chrome counts in UTF-16 units, Python in characters, files in bytes of UTF-8; here is where they are turned
into each other, so that `text[start:end]` is what Chrome meant.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise

Ranges = tuple[tuple[int, int], ...]
"""Ranges [start, end), in order, without overlap."""

_LAST_BMP = "\uffff"


def counted_ranges(nested: Iterable[tuple[int, int, int]]) -> Ranges:
    """Return where the count is above zero: of (start, end, count), the innermost range says."""
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
    return united(used)


def united(*parts: Iterable[tuple[int, int]]) -> Ranges:
    """Return what is in any of the parts."""
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
    """Return what of [0, length) is in none of the ranges."""
    edges = [0, *(edge for pair in ranges for edge in pair), length]
    gaps = [(edges[i], edges[i + 1]) for i in range(0, len(edges), 2)]
    return tuple((start, end) for start, end in gaps if start < end)


def clipped(ranges: Ranges, length: int) -> Ranges:
    """Return the ranges as far as they are within [0, length)."""
    return tuple((max(0, start), min(end, length)) for start, end in ranges if start < length and end > 0)


def in_characters(text: str, ranges: Ranges) -> Ranges:
    """Turn ranges that count UTF-16 units of the text into ranges that count its characters."""
    if not text or max(text) <= _LAST_BMP:
        return clipped(ranges, len(text))
    ends = list(accumulate(2 if character > _LAST_BMP else 1 for character in text))

    def index(units: int) -> int:
        return bisect_right(ends, units)  # an offset inside of a pair counts as before it

    return tuple((index(start), index(end)) for start, end in ranges if index(start) < index(end))


def size_of(text: str, ranges: Ranges) -> int:
    """Return how many bytes of UTF-8 the ranges of the text have."""
    if text.isascii():
        return sum(end - start for start, end in ranges)
    return sum(len(text[start:end].encode("utf-8", "surrogatepass")) for start, end in ranges)


def in_order(ranges: Sequence[tuple[int, int]]) -> bool:
    """Say whether the ranges are in order, not empty, and neither touch nor overlap."""
    return all(start < end for start, end in ranges) and all(
        one[1] < next_[0] for one, next_ in pairwise(ranges)
    )
