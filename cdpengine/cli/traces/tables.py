"""Tables that fit a terminal: the first column tells the rows apart, and the others give way.

Rule: where there is not room for all columns, figures are left out, the least important first, and named below the
table; then texts are cut, so far as rows that differ still look different, and at last the first column is folded.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Collection, Sequence
from typing import Literal

import attrs

from cdpengine.cli.output import fit, fit_middle, painter, printable, say
from cdpengine.errors.foreign import escape_line

_GAP = "  "

_FIRST_SHARE, _TEXT_SHARE = 0.6, 0.35
"""Parts of the terminal that the first column, and each other column of text, gets before figures are left out."""

_STYLES = {"head": "bold", "rule": "dim", "note": "dim", "told": "yellow"}


Cut = Literal["end", "middle", "fold"]
"""How a text that is too long is made to fit: without its end, without its middle, or going on in more lines."""


@attrs.frozen
class Column:
    """One column. `values` has a text for each row; a `figure` is never cut.

    Columns with the highest `yields` are left out first, those with 0 never; one without any value before all.
    """

    name: str
    values: Sequence[str]
    yields: int = 0
    figure: bool = True

    @property
    def natural(self) -> int:
        """The columns of the terminal that all of it takes."""
        return max(_length(text) for text in (self.name, *self.values))


@attrs.frozen
class Layout:
    """Which columns are shown, how wide, and the names of the others. `cut` is how the first one is cut."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    left_out: tuple[str, ...] = ()
    cut: Cut = "end"


def lay_out(columns: Sequence[Column], width: int | None) -> Layout:
    """Find a place for the columns in `width` columns of the terminal; None for as many as they take."""
    first, *others = columns
    widths = {column.name: column.natural for column in columns}
    left_out: list[str] = []
    if width is not None:
        needed = {column.name: column.natural for column in columns}
        needed[first.name] = min(first.natural, max(_least(first), int(width * _FIRST_SHARE)))
        for column in others:
            if not column.figure:
                share = max(_length(column.name), int(width * _TEXT_SHARE))
                needed[column.name] = min(column.natural, share)
        for column in sorted(others, key=lambda each: (not any(each.values), each.yields), reverse=True):
            if _total([needed[first.name], *(needed[each.name] for each in others)]) <= width:
                break
            if column.yields:
                others.remove(column)
                left_out.append(column.name)
        room = width - _total([needed[each.name] for each in (first, *others)])
        for column in (first, *others):
            more = max(0, min(room, column.natural - needed[column.name]))
            widths[column.name] = needed[column.name] + more
            room -= more
        if room < 0:
            # Not even what cannot be left out has room: the first column is folded in what is left of it.
            rest = _total([widths[each.name] for each in others]) + len(_GAP) if others else 0
            widths[first.name] = max(_LEAST, width - rest)
    # Nothing is lost with a column that has no value: it is not named.
    names = tuple(column.name for column in columns if column.name in left_out and any(column.values))
    shown = (first, *others)
    sizes = tuple(widths[column.name] for column in shown)
    return Layout(shown, sizes, names, _cut_of(first.values, sizes[0]))


_LEAST = 8
"""Columns that a text gets at least."""


def print_table(
    columns: Sequence[Column], *, width: int | None, told: Collection[int] = (), advice: str = ""
) -> None:
    """Print the table to standard output, in `width` columns of the terminal, None for as many as it takes.

    Rows whose numbers are in `told` stand out. Where columns are left out, a line says which; `advice` is how to
    see them.
    """
    columns = [
        attrs.evolve(column, values=[printable(escape_line(text)) for text in column.values])
        for column in columns
    ]
    layout = lay_out(columns, width)
    paint = painter(_STYLES)

    def print_line(line: str, style: str) -> None:
        say(line, paint=lambda text: paint(text, style))

    names = [
        _cell(column.name, column, size) for column, size in zip(layout.columns, layout.widths, strict=True)
    ]
    print_line(_GAP.join(names).rstrip(), "head")
    print_line(_rule() * _total(layout.widths), "rule")
    for number in range(len(layout.columns[0].values)):
        for line in _row(layout, number):
            print_line(line, "told" if number in told else "")
    if layout.left_out and width is not None:
        more = f"; {advice}" if advice else ""
        note = f"left out at {width} columns: {', '.join(layout.left_out)}{more}"
        for line in textwrap.wrap(note, width):
            print_line(line, "note")


def _row(layout: Layout, number: int) -> list[str]:
    first, size = layout.columns[0], layout.widths[0]
    head, more = first.values[number], []
    match layout.cut:
        case "fold":
            head, *more = _fold(head, size)
        case "middle":
            head = fit_middle(head, size)
        case "end":
            head = fit(head, size)[0]
    cells = [_cell(head, first, size)]
    for column, columns in zip(layout.columns[1:], layout.widths[1:], strict=True):
        cells.append(_cell(fit(column.values[number], columns)[0], column, columns))
    return [_GAP.join(cells).rstrip(), *more]


def _cell(text: str, column: Column, size: int) -> str:
    padding = " " * max(0, size - _length(text))
    # The first column, and other texts, stand on the left, figures under each other on the right.
    return padding + text if column.figure else text + padding


def _least(column: Column) -> int:
    """Return the fewest columns in which texts that differ still look different, cut at one of both places."""
    low, high = min(_LEAST, column.natural), column.natural
    while low < high:
        size = (low + high) // 2
        if _cut_of(column.values, size) == "fold":
            low = size + 1
        else:
            high = size
    return low


def _cut_of(texts: Sequence[str], size: int) -> Cut:
    """Return how texts can be cut to so many columns so that those that differ still do."""
    different = set(texts)
    if len({fit(text, size)[0] for text in different}) == len(different):
        return "end"
    return "middle" if len({fit_middle(text, size) for text in different}) == len(different) else "fold"


def _fold(text: str, columns: int) -> list[str]:
    from rich.cells import chop_cells

    return chop_cells(text, columns) or [""]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * max(0, len(widths) - 1)


def _length(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _rule() -> str:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return "\u2500" if sys.stdout.isatty() and encoding == "utf8" else "-"
