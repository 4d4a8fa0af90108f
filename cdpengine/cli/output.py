"""Printing: text, and JSON in one shape for all commands; how wide the terminal is, and whether it has colours.

Rule: only here is anything printed, so that no command can forget that a page's text may be meant for the
terminal. Text goes through `say` or `say_lines`, tables through `safe_console`; both escape it. With --json,
standard output is one JSON document whatever happens; an error is {"error": {"type", "message", ...}} with the
error's own fields beside them, without secrets, and the exit status is the same as without --json. Width is
counted in columns, as a terminal does (most CJK characters take two), not in characters.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import IO, TYPE_CHECKING, Any

import attrs
import click

from cdpengine.cli.options import Failed
from cdpengine.errors import EngineError, InvalidArgumentError, packages_named
from cdpengine.errors.foreign import escape_json, escape_line, escape_lines
from cdpengine.errors.root import describe_fields

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


def to_plain(value: object) -> object:
    """Return `value` as what JSON has. Numbers that JSON lacks become their names, other objects their text.

    A moment is written as JavaScript's own JSON does: ISO 8601 in UTC, with a T, milliseconds and a Z.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else _number_name(value)
        case datetime():
            text = value.astimezone(UTC).isoformat(timespec="milliseconds")
            return f"{text.removesuffix('+00:00')}Z"
        case Mapping():
            return {str(key): to_plain(item) for key, item in value.items()}
        case Sequence() | set() | frozenset() if not isinstance(value, bytes | bytearray | memoryview):
            return [to_plain(item) for item in value]
    kind = type(value)
    if attrs.has(kind):
        names = [field.name for field in attrs.fields(kind) if not field.name.startswith("_")]
        return {name: to_plain(getattr(value, name)) for name in names}
    return str(value)


def show_progress(text: str) -> None:
    """Put a text in the place of the present line of the terminal that is standard error; "" clears it."""
    click.echo(f"\r\x1b[K{printable(escape_line(text), sys.stderr)}", nl=False, err=True)


def print_json(document: object) -> None:
    """Print what `to_plain` makes of it as one JSON document, with escapes for what a terminal could obey."""
    plain = to_plain(document)
    text = escape_json(json.dumps(plain, ensure_ascii=False, indent=2))
    # Python's escapes, for what the output's encoding lacks, would be no JSON.
    click.echo(text if printable(text) == text else json.dumps(plain, indent=2))


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
        if isinstance(error, InvalidArgumentError):
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


def _number_name(value: float) -> str:
    """Return JavaScript's name of a number that JSON has no way to write."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


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
    """Say whether standard output takes colours: a terminal, and nobody said no."""
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
    """Return what colours a text by the name of a style; it changes nothing where there are no colours."""
    if not has_colours():
        return lambda text, _style: text
    from rich.color import ColorSystem
    from rich.style import Style

    parsed = {name: Style.parse(style) for name, style in styles.items()}
    none = Style()
    return lambda text, style: parsed.get(style, none).render(text, color_system=ColorSystem.STANDARD)
