"""`cdpengine recording show` prints a recording line by line, `recording stats` its statistics.

Rule: all readable lines are used first. Then each unreadable one is reported on standard error, and the exit
status is 1. All commands that read recordings open their files and report damage with these functions.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdpengine.cli.options import Failed, json_option
from cdpengine.cli.output import (
    PLAIN_WIDTH,
    errors_as_json,
    limit,
    painter,
    print_json,
    printable,
    safe_console,
    say,
    width,
)
from cdpengine.errors.texts import escape_line
from cdpengine.shell.tables import fit

if TYPE_CHECKING:
    from rich.console import Console

    from cdpengine.debug.reading.display import Piece
    from cdpengine.debug.reading.figures import (
        ActionFigures,
        Counts,
        Durations,
        Figures,
        MethodFigures,
        SessionFigures,
    )
    from cdpengine.debug.reading.recording import Recording
    from cdpengine.debug.recording_format import Line
    from cdpengine.shell.tables import Column


_NAMED = 10
"""Maximum number of damaged lines that are listed."""

_EACH = 4096
"""Number of lines between two updates of the progress bar."""

file_argument = click.argument("file", type=click.Path(path_type=Path))


def lines_of(recording: Recording) -> Iterator[Line]:
    """Yield all lines, with a progress bar if standard error is a terminal."""
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
    """Return the faults of a recording that was read to its end: line numbers and reasons."""
    return [(damage.line, damage.reason) for damage in recording.all_damage]


def print_damage(recording: Recording) -> bool:
    """Print the faults of a recording that was read to its end; return whether it has any."""
    found = damage_of(recording)
    for line, reason in found[:_NAMED]:
        say(f"Error: {recording.path}, line {line}: {reason}", err=True)
    more = max(recording.damaged_lines, len(found)) - _NAMED
    if more > 0:
        say(f"Error: ... and {more} more unreadable lines", err=True)
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
        raise click.BadParameter(f"{value!r} is not a duration such as 100ms, 1.5s or 250us", ctx, param)
    return float(found[1]) * _UNITS[found[2]]


@click.command(short_help="Show a recording, one line a message.")
@file_argument
@click.option("--method", "-m", "methods", multiple=True, metavar="GLOB", help="Methods such as 'Network.*'.")
@click.option(
    "--session",
    "-s",
    "sessions",
    multiple=True,
    metavar="ID",
    help="Beginning of a session's id, or 'browser'.",
)
@click.option("--target", "-t", "targets", multiple=True, metavar="ID", help="Beginning of a target's id.")
@click.option("--id", "ids", type=int, multiple=True, metavar="N", help="Commands and replies with this id.")
@click.option(
    "--text",
    "texts",
    multiple=True,
    metavar="TEXT",
    help="Messages that contain TEXT, in any case; several: all of them.",
)
@click.option(
    "--slow", callback=duration, metavar="DURATION", help="Replies that took at least 100ms, 1.5s, ..."
)
@click.option("--errors", is_flag=True, help="Only refusals, invalid messages, and losses.")
@click.option("--spans", is_flag=True, help="Only the program's actions with their messages.")
@click.option(
    "--span",
    "span_names",
    multiple=True,
    metavar="GLOB|N",
    help="Only actions such as 'page.click*', or number N.",
)
@click.option("--full", is_flag=True, help="Print whole lines.")
@click.option(
    "--follow", "-f", is_flag=True, help="Continue as the file grows, until the recording ends, or Ctrl-C."
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
    must all match. There are no colours if the output is not a terminal, or with NO_COLOR.

    \b
    Examples:
      cdpengine recording show traffic.jsonl.zst --method 'Page.*' --errors
      cdpengine recording show traffic.jsonl --slow 100ms --span 'page.click*'
      cdpengine recording show -f traffic.jsonl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.display import Choice, Chooser

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
        if print_damage(recording):
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
    from cdpengine.debug.reading.display import show_line

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
    """Return a function that joins pieces to a line of output, cut at `width` columns."""
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


_MOST_GAPS = 10


@click.command(short_help="Count a recording: methods, sessions, actions, durations, gaps.")
@file_argument
@click.option(
    "--top",
    type=click.IntRange(min=1),
    metavar="N",
    help="Only the N most frequent methods, sessions and actions.",
)
@json_option
def stats(file: Path, top: int | None, as_json: bool) -> None:
    """Count the messages of a recording by method, session and action. Memory does not grow with its length.

    Durations are milliseconds from a command to its reply; p50, p95 and p99 are at most 1 % off, max is exact.
    "open" counts commands without a reply, and actions without an end. Bytes are those on the wire. Actions are
    the program's own, such as "page.click"; "failed" counts those that ended with an exception, "refused" the
    commands sent for them that Chrome refused.

    \b
    Example:
      cdpengine recording stats traffic.jsonl.zst --top 20
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.figures import Tally
    from cdpengine.debug.reading.recording import open_recording

    tally = Tally()
    with errors_as_json(enabled=as_json), open_recording(file) as recording:
        tally.add_all(lines_of(recording))
        figures = tally.figures()
        if as_json:
            damage = [{"line": line, "reason": reason} for line, reason in damage_of(recording)]
            print_json({"file": str(file), "damage": damage, "figures": _short(figures, top)})
        else:
            _print(figures, top)
        if print_damage(recording):
            raise Failed


def _short(figures: Figures, top: int | None) -> Figures:
    import attrs

    return attrs.evolve(
        figures,
        methods=figures.methods[:top],
        sessions=figures.sessions[:top],
        by_action=figures.by_action[:top],
    )


def _print(figures: Figures, top: int | None) -> None:
    console = safe_console(highlight=False, markup=False, width=limit() or PLAIN_WIDTH)
    counts = figures.counts
    console.print(
        f"{figures.messages:,} messages in {figures.seconds:.3f} s: {counts.calls:,} calls, "
        f"{counts.replies:,} replies ({counts.errors:,} refused), {counts.events:,} events, "
        f"{figures.strays:,} of no known kind"
    )
    console.print(
        f"{_bytes(counts.bytes_out)} out, {_bytes(counts.bytes_in)} in; "
        f"{counts.unanswered:,} calls without a reply; {figures.actions:,} actions; "
        f"{figures.http:,} over HTTP"
    )
    if figures.events_per_second is not None:
        console.print(
            f"{figures.events_per_second:,.1f} events a second; {figures.busiest_events:,} in the busiest one, "
            f"from {figures.busiest_second} s on"
        )
    _print_gaps(console, figures)
    console.print()
    _print_methods(figures.methods[:top])
    _print_left_out(console, len(figures.methods), top)
    console.print()
    _print_sessions(figures.sessions[:top])
    _print_left_out(console, len(figures.sessions), top)
    if figures.by_action:
        console.print()
        _print_actions(figures.by_action[:top])
        _print_left_out(console, len(figures.by_action), top)


def _print_gaps(console: Console, figures: Figures) -> None:
    if not figures.gaps:
        console.print("no gaps: no message was lost during the recording")
        return
    console.print(
        f"gaps: {figures.lost:,} messages were lost during the recording, "
        f"{figures.missing:,} lines are missing in the file",
        style="bold red",
    )
    for gap in figures.gaps[:_MOST_GAPS]:
        console.print(f"  at {gap.t:.3f} s: {gap.count:,} {'lost' if gap.told else 'missing in the file'}")
    _print_left_out(console, len(figures.gaps), _MOST_GAPS)


def _print_left_out(console: Console, count: int, printed: int | None) -> None:
    if printed is not None and count > printed:
        console.print(f"... and {count - printed:,} more")


_FIGURES = {
    "calls": 0,
    "events": 1,
    "out": 7,
    "in": 6,
    "p50 ms": 3,
    "p95 ms": 8,
    "p99 ms": 9,
    "max ms": 5,
    "refused": 4,
    "open": 4,
}
"""Figures of a method or a session, and how soon each is omitted in a narrow terminal: 9 first, 0 never."""

_ACTION_FIGURES = {
    "count": 0,
    "p50 ms": 1,
    "p95 ms": 5,
    "p99 ms": 6,
    "max ms": 4,
    "failed": 2,
    "refused": 3,
    "open": 3,
}

_TARGET_YIELDS = 2
_LONGEST_URL = 60
"""Maximum width of a target's URL, in columns."""

_ADVICE = "--json and wider terminals show them"


def _figures(figures: dict[str, int], rows: Sequence[list[str]]) -> list[Column]:
    from cdpengine.shell.tables import Column

    return [
        Column(name, [row[number] for row in rows], yields)
        for number, (name, yields) in enumerate(figures.items())
    ]


def _print_methods(methods: Sequence[MethodFigures]) -> None:
    from cdpengine.cli.output import print_table
    from cdpengine.shell.tables import Column

    rows = [_cells(each.counts, each.durations) for each in methods]
    first = Column("method", [escape_line(each.method) for each in methods], figure=False)
    print_table([first, *_figures(_FIGURES, rows)], width=limit(), advice=_ADVICE)


def _print_sessions(sessions: Sequence[SessionFigures]) -> None:
    from cdpengine.cli.output import print_table
    from cdpengine.debug.reading.display import SHORT_ID
    from cdpengine.shell.tables import Column

    connections = list(dict.fromkeys(each.connection for each in sessions))
    length = _distinct_length([each.session for each in sessions])
    names, targets = [], []
    for each in sessions:
        name = escape_line(each.session[:length]) or "browser"
        if len(connections) > 1:
            name += f" ({connections.index(each.connection) + 1})"
        names.append(name)
        url = fit(escape_line(each.url), _LONGEST_URL)[0]
        targets.append(f"{escape_line(each.type)} {escape_line(each.target[:SHORT_ID])} {url}".strip())
    rows = [_cells(each.counts, each.durations) for each in sessions]
    columns = [
        Column("session", names, figure=False),
        Column("target", targets, _TARGET_YIELDS, figure=False),
    ]
    print_table([*columns, *_figures(_FIGURES, rows)], width=limit(), advice=_ADVICE)
    if len(connections) > 1:
        numbered = ", ".join(f"({number}) {escape_line(name)}" for number, name in enumerate(connections, 1))
        say(f"connections: {numbered}")


def _distinct_length(ids: Sequence[str]) -> int:
    """Return the number of characters that distinguish different ids; 8 at least."""
    from cdpengine.debug.reading.display import SHORT_ID

    length, different = SHORT_ID, set(ids)
    longest = max(map(len, different), default=0)
    while length < longest and len({each[:length] for each in different}) < len(different):
        length += 4
    return length


def _print_actions(actions: Sequence[ActionFigures]) -> None:
    from cdpengine.cli.output import print_table
    from cdpengine.shell.tables import Column

    rows = [
        [
            _count(each.count),
            *_times(each.durations),
            _count(each.failed),
            _count(each.refused),
            _count(each.unended),
        ]
        for each in actions
    ]
    first = Column("action", [escape_line(each.name) for each in actions], figure=False)
    print_table([first, *_figures(_ACTION_FIGURES, rows)], width=limit(), advice=_ADVICE)


def _cells(counts: Counts, durations: Durations | None) -> list[str]:
    return [
        _count(counts.calls),
        _count(counts.events),
        _bytes(counts.bytes_out) if counts.bytes_out else "",
        _bytes(counts.bytes_in) if counts.bytes_in else "",
        *_times(durations),
        _count(counts.errors),
        _count(counts.unanswered),
    ]


def _times(durations: Durations | None) -> list[str]:
    if durations is None:
        return ["", "", "", ""]
    return [f"{value:,.1f}" for value in (durations.p50, durations.p95, durations.p99, durations.most)]


def _count(count: int) -> str:
    return f"{count:,}" if count else ""


def _bytes(size: int) -> str:
    amount = float(size)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
