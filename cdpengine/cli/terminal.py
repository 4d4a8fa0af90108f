"""The terminal: how wide it is, whether it has colours, and text cut to fit it.

Rule: width is counted in columns, as a terminal does (most CJK characters take two), not in characters.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import IO, TYPE_CHECKING, Any

from cdpengine.errors.foreign import escape_lines

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

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
