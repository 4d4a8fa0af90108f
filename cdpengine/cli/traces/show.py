"""`cdpengine trace show`: a recording as one line of text for each of its own; and what all such commands share.

Rule: everything that can be read is used first; then each line that could not be is named on standard error, and
the exit status is 1.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdpengine.cli.options import Failed
from cdpengine.cli.output import fit, painter, printable, safe_console, say, width

if TYPE_CHECKING:
    from cdpengine.debug.reading.recording import Recording
    from cdpengine.debug.reading.shown_lines import Piece
    from cdpengine.debug.recording_format import Line


_NAMED = 10
"""Damaged lines that are named one by one."""

_EACH = 4096
"""Lines between two moves of the progress bar."""

file_argument = click.argument("file", type=click.Path(path_type=Path))


def lines_of(recording: Recording) -> Iterator[Line]:
    """Give all lines, with a progress bar on standard error when that is a terminal."""
    if not sys.stderr.isatty():
        yield from recording
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("reading {task.fields[lines]:,} lines"),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=safe_console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=recording.size, lines=0)
        for number, line in enumerate(recording, 1):
            if number % _EACH == 0:
                progress.update(task, completed=recording.position, lines=number)
            yield line


def damage_of(recording: Recording) -> list[tuple[int, str]]:
    """Return what is wrong with a recording that was read to its end: numbers of lines, and why."""
    return [(damage.line, damage.reason) for damage in recording.all_damage]


def tell_damage(recording: Recording) -> bool:
    """Print what is wrong with a recording that was read to its end; say whether there was anything."""
    found = damage_of(recording)
    for line, reason in found[:_NAMED]:
        say(f"Error: {recording.path}, line {line}: {reason}", err=True)
    more = max(recording.damaged_lines, len(found)) - _NAMED
    if more > 0:
        say(f"Error: ... and {more} more lines that could not be read", err=True)
    return bool(found)


STYLES = {
    "time": "dim", "session": "magenta", "id": "dim", "call": "cyan", "reply": "green", "event": "blue",
    "error": "bold red", "duration": "dim", "slow": "yellow", "very-slow": "bold yellow", "span": "bold magenta",
    "note": "dim italic", "payload": "",
}  # fmt: skip

_PATIENCE = 0.1
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(us|ms|s)?")
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, None: 1.0}


def duration(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Return "100ms", "1.5s" or "250us" as milliseconds."""
    if value is None:
        return None
    found = _DURATION.fullmatch(value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is no duration; 100ms, 1.5s and 250us are", ctx, param)
    return float(found[1]) * _UNITS[found[2]]


@click.command(short_help="Show a recording, one line a message.")
@file_argument
@click.option("--method", "-m", "methods", multiple=True, metavar="GLOB", help="Methods such as 'Network.*'.")
@click.option(
    "--session", "-s", "sessions", multiple=True, metavar="ID", help="How a session's id begins; 'browser'."
)
@click.option("--target", "-t", "targets", multiple=True, metavar="ID", help="How a target's id begins.")
@click.option("--id", "ids", type=int, multiple=True, metavar="N", help="Commands and replies with this id.")
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="Messages that hold TEXT, in any case; several: all.",
)
@click.option(
    "--slow", callback=duration, metavar="DURATION", help="Replies that took at least 100ms, 1.5s, ..."
)
@click.option("--errors", is_flag=True, help="Only refusals, messages that are none, and losses.")
@click.option("--spans", is_flag=True, help="Only the program's actions, and what they sent and got.")
@click.option(
    "--span",
    "span_names",
    multiple=True,
    metavar="GLOB|N",
    help="Only actions such as 'page.click*', or number N.",
)
@click.option("--full", is_flag=True, help="Whole lines, however long.")
@click.option(
    "--follow", "-f", is_flag=True, help="Go on as the file grows, until the recording ends, or Ctrl-C."
)
def show(
    file: Path,
    methods: tuple[str, ...],
    sessions: tuple[str, ...],
    targets: tuple[str, ...],
    ids: tuple[int, ...],
    texts: tuple[str, ...],
    slow: float | None,
    errors: bool,
    spans: bool,
    span_names: tuple[str, ...],
    full: bool,
    follow: bool,
) -> None:
    """Show a recording: time in seconds, direction, session, id, method, duration, payload.

    "->" was sent to the browser, "<-" came from it; "[3]" is the number of the action that caused it. Without
    --full, lines are cut at the terminal's width. Several values of one filter are alternatives; different filters
    must all hold. Colours go away when the output is no terminal, or with NO_COLOR.

    \b
    Examples:
      cdpengine trace show traffic.jsonl.zst --method 'Page.*' --errors
      cdpengine trace show traffic.jsonl --slow 100ms --span 'page.click*'
      cdpengine trace show -f traffic.jsonl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.shown_lines import Choice, Chooser

    chooser = Chooser(
        Choice(
            methods=methods,
            sessions=sessions,
            targets=targets,
            ids=ids,
            texts=texts,
            slow=slow,
            errors=errors,
            spans=span_names or (("*",) if spans else ()),
        )
    )
    with _open(file, follow=follow) as recording:
        _print_chosen(recording, chooser.wants, full=full, follow=follow)
        if tell_damage(recording):
            raise Failed


def _open(file: Path, *, follow: bool) -> AbstractContextManager[Recording]:
    if not follow:
        from cdpengine.debug.reading.recording import open_recording

        return open_recording(file)
    from cdpengine.debug.reading.recording import follow_recording

    def wait() -> None:
        sys.stdout.flush()
        time.sleep(_PATIENCE)

    return follow_recording(file, wait=wait)


def _print_chosen(recording: Recording, wants: Callable[..., bool], *, full: bool, follow: bool) -> None:
    from cdpengine.debug.reading.shown_lines import show_line

    columns = None if full else width()
    text_of = _liner(columns)
    limit = None if columns is None else 4 * columns
    write = sys.stdout.write
    for line in recording:
        if wants(line):
            write(text_of(show_line(line, payload_limit=limit)) + "\n")
        if follow and line.k == "end":
            break
    sys.stdout.flush()


def _liner(width: int | None) -> Callable[[Iterable[Piece]], str]:
    """Return what makes a line of the output from pieces, cut at `width` columns."""
    paint = painter(STYLES)

    def text_of(pieces: Iterable[Piece]) -> str:
        left = width
        parts = []
        for piece in pieces:
            text = printable(piece.text)
            if left is not None:
                text, taken = fit(text, left)
                left -= taken
            parts.append(paint(text, piece.style))
            if left is not None and left <= 0:
                break
        return "".join(parts)

    return text_of
