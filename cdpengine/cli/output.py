"""Printing: text, tables that fit the terminal, and JSON in one shape for all commands.

Rule: only this module prints, so that no command can forget to escape a page's text, which could control the
terminal. Text is printed by `say` or `say_lines`, tables by `safe_console`; both escape it. With --json, standard
output is always one JSON document. An error is {"error": {"type", "message", ...}} with the error's attributes,
without secrets, and with the same exit status as without --json. Widths are counted in terminal columns, not
characters: most CJK characters take two.

The first column of a table identifies the rows. If not all columns fit, figures are omitted, the least important
first, and named below the table. Then texts are cut, as long as different rows still look different. Finally the
first column is folded.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, Literal

import attrs
import click

from cdpengine import _json
from cdpengine.cli.options import Failed
from cdpengine.errors import ActionSyntaxError, EngineError, InvalidArgumentError, packages_named
from cdpengine.errors.root import describe_fields
from cdpengine.errors.texts import escape_json, escape_line, escape_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text


def say(
    text: str, *, err: bool = False, paint: Callable[[str], str] | None = None, columns: int | None = None
) -> None:
    """Print one line with any content to standard output or (`err`) standard error.

    `columns` is its maximum width; `paint` colours it if colours are enabled.
    """
    _print(escape_line(text), err=err, paint=paint, columns=columns)


def say_lines(text: str, *, err: bool = False, paint: Callable[[str], str] | None = None) -> None:
    """Print a string of one or several lines. Foreign content cannot control the terminal."""
    _print(escape_lines(text), err=err, paint=paint, columns=None)


def _print(safe: str, *, err: bool, paint: Callable[[str], str] | None, columns: int | None) -> None:
    text = printable(safe, sys.stderr if err else sys.stdout)
    if columns is not None:
        text, _ = fit(text, columns)
    click.echo(text if paint is None else paint(text), err=err)


def show_progress(text: str) -> None:
    """Replace the current line of the terminal on standard error; "" clears it."""
    click.echo(f"\r\x1b[K{printable(escape_line(text), sys.stderr)}", nl=False, err=True)


def print_json(document: object) -> None:
    """Print a value as one JSON document, bytes as base64; terminal controls are escaped."""
    from cdpengine._plain import to_plain

    plain = to_plain(document)
    text = escape_json(_json.encode_text(plain, indent=2))
    # Python's escapes for characters outside of the encoding would be invalid JSON.
    click.echo(text if printable(text) == text else _json.encode_ascii(plain, indent=2))


@contextmanager
def errors_as_json(*, wanted: bool) -> Iterator[None]:
    """If `wanted`, print errors of the block also as JSON; the message still goes to standard error."""
    try:
        with packages_named():
            yield
    except EngineError as error:
        if not wanted:
            raise
        print_json({"error": describe_error(error)})
        if isinstance(error, (InvalidArgumentError, ActionSyntaxError)):
            raise
        say_lines(f"Error: {error}", err=True)
        raise Failed from error


def describe_error(error: EngineError) -> dict[str, object]:
    """Return the error's type, message and attributes, without secrets."""
    # RemoteError has an attribute `message`, which is only Chrome's part of the message.
    description: dict[str, object] = {"type": type(error).__name__, "message": str(error)}
    for name, value in describe_fields(error).items():
        description.setdefault(name, value)
    return description


# --- the terminal --------------------------------------------------------------------------------------------

PLAIN_WIDTH = 160
"""Width in columns if the output is no terminal and COLUMNS is not set."""


def width() -> int:
    """Return the width of the terminal in columns."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def limit() -> int | None:
    """Return the maximum width of output in columns, or None (no limit) without a terminal and without COLUMNS."""
    given = os.environ.get("COLUMNS", "")
    return width() if sys.stdout.isatty() or (given.isdecimal() and int(given)) else None


def has_colours() -> bool:
    """Return whether standard output supports colours: it is a terminal, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def printable(text: str, stream: IO[str] | None = None) -> str:
    """Return the string with escapes for characters outside of the encoding of the stream (standard output)."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def fit(text: str, columns: int) -> tuple[str, int]:
    """Return the string, cut to at most `columns` columns ("..." at its end), and its width."""
    from rich.cells import cell_len, set_cell_size

    length = cell_len(text)
    if length <= columns:
        return text, length
    dots = "..."[: max(0, columns)]
    return set_cell_size(text, max(0, columns - len(dots))) + dots, max(0, columns)


def safe_console(**options: Any) -> Console:
    """Return a rich console with these `options` that escapes each `str`."""
    from rich.console import Console

    class SafeConsole(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(printable(escape_lines(text), self.file), **how)

    return SafeConsole(**options)


def fit_middle(text: str, columns: int) -> str:
    """Return the string, cut to at most `columns` columns, with "..." in its middle."""
    from rich.cells import cell_len, chop_cells, set_cell_size

    if cell_len(text) <= columns:
        return text
    kept = columns - len("...")
    if kept < 2:
        return fit(text, columns)[0]
    # A wide character at the cut is omitted. The end of a string is the beginning of the reversed one.
    end = chop_cells(text[::-1], kept // 2)[0][::-1]
    return set_cell_size(text, kept - cell_len(end)).rstrip() + "..." + end


def painter(styles: dict[str, str]) -> Callable[[str, str], str]:
    """Return a function that colours a string by the name of a style, or does nothing without colours."""
    if not has_colours():
        return lambda text, _style: text
    from rich.color import ColorSystem
    from rich.style import Style

    parsed = {name: Style.parse(style) for name, style in styles.items()}
    none = Style()
    return lambda text, style: parsed.get(style, none).render(text, color_system=ColorSystem.STANDARD)


# --- tables --------------------------------------------------------------------------------------------------

_GAP = "  "

_FIRST_SHARE, _TEXT_SHARE = 0.6, 0.35
"""Denominators of the width that the first and each other text column get before figures are omitted."""

_STYLES = {"head": "bold", "rule": "dim", "note": "dim", "told": "yellow"}


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
    shown = (first, *others)
    sizes = tuple(widths[column.name] for column in shown)
    return Layout(shown, sizes, names, _choose_cut(first.values, sizes[0]))


_LEAST = 8
"""Minimum width of a text column."""


def print_table(
    columns: Sequence[Column], *, width: int | None, told: Collection[int] = (), advice: str = ""
) -> None:
    """Print the table to standard output, in `width` columns of the terminal; None for unlimited.

    Rows whose numbers are in `told` are highlighted. If columns are omitted, a line names them; `advice`
    explains how to see them.
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
        note = f"omitted at {width} columns: {', '.join(layout.left_out)}{more}"
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


def _rule() -> str:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return "\u2500" if sys.stdout.isatty() and encoding == "utf8" else "-"
