"""`cdpengine trace stats`: the figures of a recording."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdpengine.cli.options import Failed, json_option
from cdpengine.cli.output import errors_as_json, print_json
from cdpengine.cli.trace_reading import damage_of, file_argument, lines_of, tell_damage

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from cdpengine.debug.figures import (
        ActionFigures,
        Counts,
        Durations,
        Figures,
        MethodFigures,
        SessionFigures,
    )

PLAIN_WIDTH = 160
_SHOWN_GAPS = 10


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
    """Count what is in a recording, by method, by session and by action. Memory does not grow with its length.

    Durations are milliseconds from a command to its reply; p50, p95 and p99 are at most 1 % off, max is exact.
    "open" counts commands without a reply, and actions without an end. Bytes are those on the wire. Actions are
    the program's own, such as "page.click"; "failed" counts those that ended with an exception, "refused" the
    commands sent for them that Chrome refused.

    \b
    Example:
      cdpengine trace stats traffic.jsonl.zst --top 20
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.figures import Tally
    from cdpengine.debug.recording import open_recording

    tally = Tally()
    with errors_as_json(wanted=as_json), open_recording(file) as recording:
        tally.add_all(lines_of(recording))
        figures = tally.figures()
        if as_json:
            damage = [{"line": line, "reason": reason} for line, reason in damage_of(recording)]
            print_json({"file": str(file), "damage": damage, "figures": _short(figures, top)})
        else:
            _print(figures, top)
        if tell_damage(recording):
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
    from rich.console import Console

    terminal = sys.stdout.isatty()
    console = Console(highlight=False, markup=False, width=None if terminal else PLAIN_WIDTH)
    counts = figures.counts
    console.print(
        f"{figures.messages:,} messages in {figures.seconds:.3f} s: {counts.calls:,} calls, "
        f"{counts.replies:,} replies ({counts.errors:,} refused), {counts.events:,} events, "
        f"{figures.strays:,} that are none of these"
    )
    console.print(
        f"{_bytes(counts.bytes_out)} out, {_bytes(counts.bytes_in)} in; "
        f"{counts.unanswered:,} calls without a reply; {figures.actions:,} actions; "
        f"{figures.http:,} asked over HTTP"
    )
    if figures.events_per_second is not None:
        console.print(
            f"{figures.events_per_second:,.1f} events a second; {figures.busiest_events:,} in the busiest one, "
            f"from {figures.busiest_second} s on"
        )
    _print_gaps(console, figures)
    console.print()
    console.print(_methods(figures.methods[:top], console))
    _print_left_out(console, len(figures.methods), top)
    console.print()
    console.print(_sessions(figures.sessions[:top], console))
    _print_left_out(console, len(figures.sessions), top)
    if figures.by_action:
        console.print()
        console.print(_actions(figures.by_action[:top], console))
        _print_left_out(console, len(figures.by_action), top)


def _print_gaps(console: Console, figures: Figures) -> None:
    if not figures.gaps:
        console.print("no gaps: no message was lost while it was recorded")
        return
    console.print(
        f"gaps: {figures.lost:,} messages were lost while it was recorded, "
        f"{figures.missing:,} lines are not in the file",
        style="bold red",
    )
    for gap in figures.gaps[:_SHOWN_GAPS]:
        console.print(f"  at {gap.t:.3f} s: {gap.count:,} {'lost' if gap.told else 'not in the file'}")
    _print_left_out(console, len(figures.gaps), _SHOWN_GAPS)


def _print_left_out(console: Console, count: int, shown: int | None) -> None:
    if shown is not None and count > shown:
        console.print(f"... and {count - shown:,} more")


_COLUMNS = ("calls", "events", "out", "in", "p50 ms", "p95 ms", "p99 ms", "max ms", "refused", "open")


_ACTION_COLUMNS = ("count", "p50 ms", "p95 ms", "p99 ms", "max ms", "failed", "refused", "open")


def _table(console: Console, *first: str, columns: Sequence[str] = _COLUMNS) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2, pad_edge=False)
    for name in first:
        table.add_column(name, overflow="fold", min_width=8)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _methods(methods: Sequence[MethodFigures], console: Console) -> Table:
    from cdpengine.debug.shown import safe

    table = _table(console, "method")
    for each in methods:
        table.add_row(safe(each.method), *_cells(each.counts, each.durations))
    return table


def _sessions(sessions: Sequence[SessionFigures], console: Console) -> Table:
    from cdpengine.debug.shown import SHORT_ID, safe

    connections = list(dict.fromkeys(each.connection for each in sessions))
    table = _table(console, "session", "target")
    for each in sessions:
        name = safe(each.session[:SHORT_ID]) or "browser"
        if len(connections) > 1:
            name += f" ({connections.index(each.connection) + 1})"
        target = safe(f"{each.type} {each.target[:SHORT_ID]} {each.url[:60]}".strip())
        table.add_row(name, target, *_cells(each.counts, each.durations))
    if len(connections) > 1:
        names = ", ".join(f"({number}) {safe(name)}" for number, name in enumerate(connections, 1))
        table.caption = f"connections: {names}"
    return table


def _actions(actions: Sequence[ActionFigures], console: Console) -> Table:
    from cdpengine.debug.shown import safe

    table = _table(console, "action", columns=_ACTION_COLUMNS)
    for each in actions:
        table.add_row(
            safe(each.name),
            _count(each.count),
            *_times(each.durations),
            _count(each.failed),
            _count(each.refused),
            _count(each.unended),
        )
    return table


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
