"""Printing: text, tables that fit the terminal, and JSON in one shape for all commands.

Rule: only here is anything printed, so that no command can forget that a page's text may be meant for the
terminal. Text goes through `say` or `say_lines`, tables through `safe_console`; both escape it. With --json,
standard output is one JSON document whatever happens; an error is {"error": {"type", "message", ...}} with the
error's own fields beside them, without secrets, and the exit status is the same as without --json. Width is
counted in columns, as a terminal does (most CJK characters take two), not in characters.

The first column of a table tells the rows apart. Where there is not room for all columns, figures are left out,
the least important first, and named below the table; then texts are cut, so far as rows that differ still look
different, and at last the first column is folded.
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
    """Print one line, whatever is in it, to standard output or (`err`) standard error.

    `columns` cuts it; `paint` colours it, where there are colours.
    """
    _print(escape_line(text), err=err, paint=paint, columns=columns)


def say_lines(text: str, *, err: bool = False, paint: Callable[[str], str] | None = None) -> None:
    """Print a text that may have several lines; what is foreign in it cannot command a terminal."""
    _print(escape_lines(text), err=err, paint=paint, columns=None)


def _print(safe: str, *, err: bool, paint: Callable[[str], str] | None, columns: int | None) -> None:
    text = printable(safe, sys.stderr if err else sys.stdout)
    if columns is not None:
        text, _ = fit(text, columns)
    click.echo(text if paint is None else paint(text), err=err)


def show_progress(text: str) -> None:
    """Put a text in the place of the present line of the terminal that is standard error; "" clears it."""
    click.echo(f"\r\x1b[K{printable(escape_line(text), sys.stderr)}", nl=False, err=True)


def print_json(document: object) -> None:
    """Print a value as one JSON document, bytes as base64; what a terminal could obey is escaped."""
    from cdpengine._plain import to_plain

    plain = to_plain(document)
    text = escape_json(_json.encode_text(plain, indent=2))
    # Python's escapes, for what the output's encoding lacks, would be no JSON.
    click.echo(text if printable(text) == text else _json.encode_ascii(plain, indent=2))


@contextmanager
def errors_as_json(*, wanted: bool) -> Iterator[None]:
    """Print what the body raises as JSON too, when `wanted`; the message still goes to standard error."""
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
    """Return the error's type, its message and its own fields, without secrets."""
    # RemoteError has a `message` of its own: Chrome's words, which are part of ours.
    description: dict[str, object] = {"type": type(error).__name__, "message": str(error)}
    for name, value in describe_fields(error).items():
        description.setdefault(name, value)
    return description


# --- the terminal --------------------------------------------------------------------------------------------

PLAIN_WIDTH = 160
"""Columns where the output is no terminal, and COLUMNS says nothing."""


def width() -> int:
    """Return the columns of the terminal."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def limit() -> int | None:
    """Return the columns that what is printed may take; None for any: no terminal, and COLUMNS says nothing."""
    given = os.environ.get("COLUMNS", "")
    return width() if sys.stdout.isatty() or (given.isdecimal() and int(given)) else None


def has_colours() -> bool:
    """Say whether standard output takes colours: it is a terminal, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def printable(text: str, stream: IO[str] | None = None) -> str:
    """Return the text with what the encoding of the stream (standard output) lacks written as escapes."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def fit(text: str, columns: int) -> tuple[str, int]:
    """Return the text, cut so that it takes at most `columns` columns ("..." at its end), and those it takes."""
    from rich.cells import cell_len, set_cell_size

    length = cell_len(text)
    if length <= columns:
        return text, length
    dots = "..."[: max(0, columns)]
    return set_cell_size(text, max(0, columns - len(dots))) + dots, max(0, columns)


def safe_console(**options: Any) -> Console:
    """Return a console of rich's, with its `options`, that escapes each text that it is given as a `str`."""
    from rich.console import Console

    class SafeConsole(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(printable(escape_lines(text), self.file), **how)

    return SafeConsole(**options)


def fit_middle(text: str, columns: int) -> str:
    """Return the text, cut so that it takes at most `columns` columns: "..." stands in its middle."""
    from rich.cells import cell_len, chop_cells, set_cell_size

    if cell_len(text) <= columns:
        return text
    kept = columns - len("...")
    if kept < 2:
        return fit(text, columns)[0]
    # A wide character that a cut would halve is left out; turned around, the end of a text is its beginning.
    end = chop_cells(text[::-1], kept // 2)[0][::-1]
    return set_cell_size(text, kept - cell_len(end)).rstrip() + "..." + end


def painter(styles: dict[str, str]) -> Callable[[str, str], str]:
    """Return a function that colours a text by the name of a style, and changes nothing without colours."""
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
    return Layout(shown, sizes, names, _choose_cut(first.values, sizes[0]))


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
        if _choose_cut(column.values, size) == "fold":
            low = size + 1
        else:
            high = size
    return low


def _choose_cut(texts: Sequence[str], size: int) -> Cut:
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
