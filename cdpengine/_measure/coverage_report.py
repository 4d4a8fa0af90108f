"""CoverageReport: what of the scripts and style sheets of a page was used. Pure.

Rule: a text that was loaded several times, at the same place and with the same words, is one entry; what any of
its documents used is used. What could not be seen is named in `gaps`.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine._measure.coverage_ranges import Ranges, clipped, in_characters, rest_of, size_of, united


@attrs.frozen
class CoveredText:
    """One script or style sheet. `used` and `unused` are ranges of characters: `text[start:end]`.

    `line` and `column` (from 0) say where in its document an inline one begins. `text` is None where Chrome did
    not give it any more; sizes are then in UTF-16 units. Sizes are bytes of UTF-8.
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
        """Bytes that nothing used."""
        return self.total_bytes - self.used_bytes


@attrs.frozen
class CoverageGap:
    """A document that went away by itself: what it did in its last `seconds` is not counted (None: all of it)."""

    url: str
    seconds: float | None


@attrs.frozen
class CoverageReport:
    """Scripts and style sheets, in the order in which they were loaded."""

    scripts: tuple[CoveredText, ...]
    sheets: tuple[CoveredText, ...]
    gaps: tuple[CoverageGap, ...] = ()

    @property
    def total_bytes(self) -> int:
        """Bytes of all scripts and sheets."""
        return sum(entry.total_bytes for entry in (*self.scripts, *self.sheets))

    @property
    def used_bytes(self) -> int:
        """Bytes of them that were used."""
        return sum(entry.used_bytes for entry in (*self.scripts, *self.sheets))


@attrs.define(eq=False)
class SeenText:
    """A script or sheet while it is being watched. `used` counts UTF-16 units, `length` too."""

    url: str
    line: int
    column: int
    length: int
    text: str | None = None
    used: Ranges = ()

    def add(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Note that ranges were used."""
        self.used = united(self.used, ranges)

    def entry(self) -> CoveredText:
        """Return what is known of it."""
        if self.text is None:
            used, total = clipped(self.used, self.length), self.length
            used_size = sum(end - start for start, end in used)
        else:
            used = in_characters(self.text, self.used)
            total, used_size = size_of(self.text, ((0, len(self.text)),)), size_of(self.text, used)
        whole = self.length if self.text is None else len(self.text)
        return CoveredText(
            self.url, self.text, used, rest_of(used, whole), total, used_size, self.line, self.column
        )


def same_texts_once(seen: Iterable[SeenText]) -> tuple[CoveredText, ...]:
    """Return one entry for each text, however often it was loaded.

    One whose text Chrome did not give any more is taken for another of its place and length, if there is one.
    """
    texts = list(seen)
    merged: dict[tuple[str, int, int, str | int], SeenText] = {}
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
