"""Layout of tables: the columns that fit a width, and their cells. Pure, except that it loads rich on first use.

Rule: width is counted in terminal columns (most CJK characters take two), not in characters. The first column of a
table identifies the rows. If not all columns fit, figures are omitted, the least important first, and named below
the table. Then texts are cut, as long as different rows still look different. Finally the first column is folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs


def fit(text: str, columns: int) -> tuple[str, int]:
    """Return the string, cut to at most `columns` columns ("..." at its end), and its width."""
    from rich.cells import cell_len, set_cell_size

    length = cell_len(text)
    if length <= columns:
        return text, length
    dots = "..."[: max(0, columns)]
    return set_cell_size(text, max(0, columns - len(dots))) + dots, max(0, columns)


def fit_middle(text: str, columns: int) -> str:
    """Return the string, cut to at most `columns` columns, with "..." in its middle."""
    from rich.cells import cell_len, chop_cells, set_cell_size

    if cell_len(text) <= columns:
        return text
    room = columns - len("...")
    if room < 2:
        return fit(text, columns)[0]
    # A wide character at the cut is omitted. The end of a string is the beginning of the reversed one.
    end = chop_cells(text[::-1], room // 2)[0][::-1]
    return set_cell_size(text, room - cell_len(end)).rstrip() + "..." + end


_GAP = "  "

_FIRST_SHARE, _TEXT_SHARE = 0.6, 0.35
"""Fractions of the width that the first text column and each other one get before figures are omitted."""

Cut = Literal["end", "middle", "fold"]
"""How to shorten a long string: cut its end, cut its middle, or continue it in more lines."""


@attrs.frozen
class Column:
    """One column. `values` has a string for each row; a `figure` is never cut.

    Columns with the highest `yields` are omitted first, those with 0 never. A column without any value is
    omitted first.
    """

    name: str
    values: Sequence[str]
    yields: int = 0
    figure: bool = True

    @property
    def natural(self) -> int:
        """The width of the whole column, in columns of the terminal."""
        return max(_length(text) for text in (self.name, *self.values))


@attrs.frozen
class Layout:
    """The visible columns with their widths, and the names of the others. `cut` applies to the first one."""

    columns: tuple[Column, ...]
    widths: tuple[int, ...]
    left_out: tuple[str, ...] = ()
    cut: Cut = "end"


def lay_out(columns: Sequence[Column], width: int | None) -> Layout:
    """Lay out the columns in `width` columns of the terminal; None for unlimited."""
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
            # Even the mandatory columns do not fit: fold the first column into the rest of the width.
            rest = _total([widths[each.name] for each in others]) + len(_GAP) if others else 0
            widths[first.name] = max(_LEAST, width - rest)
    # An omitted column without values loses nothing, so it is not named.
    names = tuple(column.name for column in columns if column.name in left_out and any(column.values))
    chosen = (first, *others)
    sizes = tuple(widths[column.name] for column in chosen)
    return Layout(chosen, sizes, names, _choose_cut(first.values, sizes[0]))


_LEAST = 8
"""Minimum width of a text column."""


def table_head(layout: Layout) -> str:
    """Return the line of the columns' names."""
    cells = [
        _cell(column.name, column, size) for column, size in zip(layout.columns, layout.widths, strict=True)
    ]
    return _GAP.join(cells).rstrip()


def table_width(layout: Layout) -> int:
    """Return the width of the lines, in columns of the terminal."""
    return _total(layout.widths)


def table_row(layout: Layout, number: int) -> list[str]:
    """Return the lines of a row: one, or several if its first cell is folded."""
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
    # The first column and other texts are left-aligned. Figures are right-aligned.
    return padding + text if column.figure else text + padding


def _least(column: Column) -> int:
    """Return the minimum width at which different texts still look different with one of both cuts."""
    low, high = min(_LEAST, column.natural), column.natural
    while low < high:
        size = (low + high) // 2
        if _choose_cut(column.values, size) == "fold":
            low = size + 1
        else:
            high = size
    return low


def _choose_cut(texts: Sequence[str], size: int) -> Cut:
    """Return a way to cut texts to `size` columns so that different ones still differ."""
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
