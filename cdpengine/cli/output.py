"""Printing: text, tables that fit the terminal, and JSON in one shape for all commands.

Rule: only this module prints, so that no command can forget to escape a page's text, which could control the
terminal. Text is printed by `say` or `say_lines`, tables by `safe_console`; both escape it. With --json, standard
output is always one JSON document. An error is {"error": {"type", "message", ...}} with the error's attributes,
without secrets, and with the same exit status as without --json.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import attrs
import click

from cdpengine import _json
from cdpengine.cli.options import Failed
from cdpengine.errors import ActionSyntaxError, EngineError, InvalidArgumentError, packages_named
from cdpengine.errors.root import describe_fields
from cdpengine.errors.texts import escape_json, escape_line, escape_lines
from cdpengine.shell.tables import Column, fit, lay_out, table_head, table_row, table_width

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
    from cdpengine._json_values import to_plain

    plain = to_plain(document)
    text = escape_json(_json.encode_text(plain, indent=2))
    # Python's escapes for characters outside of the encoding would be invalid JSON.
    click.echo(text if printable(text) == text else _json.encode_ascii(plain, indent=2))


@contextmanager
def errors_as_json(*, enabled: bool) -> Iterator[None]:
    """If `enabled`, print errors of the block also as JSON; the message still goes to standard error."""
    try:
        with packages_named():
            yield
    except EngineError as error:
        if not enabled:
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
    columns = os.environ.get("COLUMNS", "")
    return width() if sys.stdout.isatty() or (columns.isdecimal() and int(columns)) else None


def has_colours() -> bool:
    """Return whether standard output supports colours: it is a terminal, and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def printable(text: str, stream: IO[str] | None = None) -> str:
    """Return the string with escapes for characters outside of the encoding of the stream (standard output)."""
    encoding = getattr(stream or sys.stdout, "encoding", None) or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)


def safe_console(**options: Any) -> Console:
    """Return a rich console with these `options` that escapes each `str`."""
    from rich.console import Console

    class SafeConsole(Console):
        def render_str(self, text: str, **how: Any) -> Text:
            return super().render_str(printable(escape_lines(text), self.file), **how)

    return SafeConsole(**options)


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

_STYLES = {"head": "bold", "rule": "dim", "note": "dim", "notice": "yellow"}


def print_table(
    columns: Sequence[Column], *, width: int | None, highlighted: Collection[int] = (), advice: str = ""
) -> None:
    """Print the table to standard output, in `width` columns of the terminal; None for unlimited.

    Rows whose numbers are in `highlighted` are highlighted. If columns are omitted, a line names them; `advice`
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

    print_line(table_head(layout), "head")
    print_line(_rule() * table_width(layout), "rule")
    for number in range(len(layout.columns[0].values)):
        for line in table_row(layout, number):
            print_line(line, "notice" if number in highlighted else "")
    if layout.left_out and width is not None:
        more = f"; {advice}" if advice else ""
        note = f"omitted at {width} columns: {', '.join(layout.left_out)}{more}"
        for line in textwrap.wrap(note, width):
            print_line(line, "note")


def _rule() -> str:
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    return "\u2500" if sys.stdout.isatty() and encoding == "utf8" else "-"
