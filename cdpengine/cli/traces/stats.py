"""`cdpengine trace stats`: the figures of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdpengine.cli.options import Failed, json_option
from cdpengine.cli.output import PLAIN_WIDTH, errors_as_json, fit, limit, print_json, safe_console, say
from cdpengine.cli.traces.show import damage_of, file_argument, lines_of, tell_damage
from cdpengine.errors.foreign import escape_line

if TYPE_CHECKING:
    from rich.console import Console

    from cdpengine.cli.traces.tables import Column
    from cdpengine.debug.reading.figures import (
        ActionFigures,
        Counts,
        Durations,
        Figures,
        MethodFigures,
        SessionFigures,
    )

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
    from cdpengine.debug.reading.figures import Tally
    from cdpengine.debug.reading.recording import open_recording

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
    console = safe_console(highlight=False, markup=False, width=limit() or PLAIN_WIDTH)
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
"""The figures of a method or a session, and how soon each is left out in a narrow terminal: 9 first, 0 never."""

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
_URL_SHOWN = 60
"""Columns of a target's URL that are shown at most."""

_ADVICE = "--json and wider terminals show them"


def _figures(figures: dict[str, int], rows: Sequence[list[str]]) -> list[Column]:
    from cdpengine.cli.traces.tables import Column

    return [
        Column(name, [row[number] for row in rows], yields)
        for number, (name, yields) in enumerate(figures.items())
    ]


def _print_methods(methods: Sequence[MethodFigures]) -> None:
    from cdpengine.cli.traces.tables import Column, print_table

    rows = [_cells(each.counts, each.durations) for each in methods]
    first = Column("method", [escape_line(each.method) for each in methods], figure=False)
    print_table([first, *_figures(_FIGURES, rows)], width=limit(), advice=_ADVICE)


def _print_sessions(sessions: Sequence[SessionFigures]) -> None:
    from cdpengine.cli.traces.tables import Column, print_table
    from cdpengine.debug.reading.shown_lines import SHORT_ID

    connections = list(dict.fromkeys(each.connection for each in sessions))
    length = _distinct_length([each.session for each in sessions])
    names, targets = [], []
    for each in sessions:
        name = escape_line(each.session[:length]) or "browser"
        if len(connections) > 1:
            name += f" ({connections.index(each.connection) + 1})"
        names.append(name)
        url = fit(escape_line(each.url), _URL_SHOWN)[0]
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
    """Return how many characters of the ids tell those apart that differ; 8 at least."""
    from cdpengine.debug.reading.shown_lines import SHORT_ID

    length, different = SHORT_ID, set(ids)
    longest = max(map(len, different), default=0)
    while length < longest and len({each[:length] for each in different}) < len(different):
        length += 4
    return length


def _print_actions(actions: Sequence[ActionFigures]) -> None:
    from cdpengine.cli.traces.tables import Column, print_table

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
