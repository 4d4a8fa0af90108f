"""`cdpengine trace diff`: what one recording did that another did not. Exit status 0 the same, 1 different."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdpengine.cli.options import Failed, json_option
from cdpengine.cli.output import errors_as_json, limit, painter, print_json, say, width
from cdpengine.cli.traces.show import damage_of, lines_of, tell_damage
from cdpengine.errors.foreign import escape_line

if TYPE_CHECKING:
    from cdpengine.debug.reading.compare import Comparison, Count, RoleDifference

_STYLES = {"-": "red", "+": "green", "bold": "bold", "head": "cyan", "told": "yellow"}
_MUCH = 2.0
"""Times slower or faster from which on a method's median is told."""

_ENOUGH_MS = 1.0
"""Milliseconds below which both medians are noise."""


@click.command(short_help="Compare two recordings.")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Whole commands, however long, and all counts.")
@json_option
def diff(first: Path, second: Path, full: bool, as_json: bool) -> None:
    """Tell what the SECOND recording did differently from the FIRST, session by session.

    Ids, times and ports are left aside. The two are the same when each session ("page 1") was sent the same
    commands in the same order, was refused the same, and sent the same kinds of events: the exit status is 0
    then, and 1 otherwise. Counts of events and durations differ from run to run: they make no difference.

    \b
    Example:
      cdpengine trace diff good.jsonl bad.jsonl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.compare import Commands, Conduct, compare
    from cdpengine.debug.reading.recording import open_recording

    commands = Commands()
    conducts = []
    with errors_as_json(wanted=as_json), ExitStack() as files:
        # Both are opened before either is read: a file that is not a recording is refused at once.
        recordings = [files.enter_context(open_recording(path)) for path in (first, second)]
        for recording in recordings:
            conduct = Conduct(commands)
            conduct.add_all(lines_of(recording))
            conducts.append(conduct)
        comparison = compare(conducts[0], conducts[1], commands)
        if as_json:
            damage = {
                str(recording.path): [
                    {"line": line, "reason": reason} for line, reason in damage_of(recording)
                ]
                for recording in recordings
            }
            print_json({"same": comparison.same, "damage": damage, "comparison": comparison})
        else:
            _print(comparison, str(first), str(second), full=full)
        damaged = [tell_damage(recording) for recording in recordings]
    if any(damaged) or not comparison.same:
        raise Failed


def _print(comparison: Comparison, first: str, second: str, *, full: bool) -> None:
    out = _Printer(full=full)
    out.line(f"--- {first}", "bold")
    out.line(f"+++ {second}", "bold")
    for mark, roles in (("-", comparison.only_first), ("+", comparison.only_second)):
        for name in roles:
            out.line(f"{mark} session: {name}", mark)
    for role in comparison.roles:
        _print_role(out, role)
    _print_counts(out, comparison.counts, full=full)
    if comparison.same:
        out.line("the same commands, refusals and kinds of events", "bold")


def _print_role(out: _Printer, role: RoleDifference) -> None:
    out.line(f"@@ {role.role}: {role.commands[0]} and {role.commands[1]} commands @@", "head")
    if role.first is not None:
        out.line("  too different to be told one by one; the first difference:")
        out.line(f"- {role.first[0]}", "-")
        out.line(f"+ {role.first[1]}", "+")
    for change in role.changes or ():
        text = f"  ... {change.command} ..." if not change.mark else f"{change.mark} {change.command}"
        out.line(text, change.mark)
    for command in role.moved:
        out.line(f"  in another order: {command}", "told")
    for text, before, after in role.refusals:
        out.line(f"  refused {before} and {after} times: {text}", "told")
    for method, before, after in role.events:
        mark, count = ("-", before) if before else ("+", after)
        out.line(f"{mark} event {method} ({count})", mark)


def _print_counts(out: _Printer, counts: tuple[Count, ...], *, full: bool) -> None:
    told = [count for count in counts if full or _is_much(count) or count.counts[0] != count.counts[1]]
    if not told:
        return
    from cdpengine.cli.traces.tables import Column, print_table

    out.line("counts, and medians in ms:", "head")
    medians = [count.medians if None not in count.medians else (None, None) for count in told]
    columns = [
        Column("method", [escape_line(count.method) for count in told], figure=False),
        Column("first", [f"{count.counts[0]:,}" for count in told]),
        Column("second", [f"{count.counts[1]:,}" for count in told]),
        Column("first ms", [_milliseconds(before) for before, _ in medians], 2),
        Column("second ms", [_milliseconds(after) for _, after in medians], 2),
        Column("times", ["" if count.ratio is None else f"x {count.ratio:.2f}" for count in told], 1),
    ]
    much = [number for number, count in enumerate(told) if _is_much(count)]
    print_table(columns, width=None if full else limit(), told=much, advice="--full shows them")


def _milliseconds(median: float | None) -> str:
    return "" if median is None else f"{median:,.1f}"


def _is_much(count: Count) -> bool:
    ratio = count.ratio
    if ratio is None or max(each or 0.0 for each in count.medians) < _ENOUGH_MS:
        return False
    return ratio >= _MUCH or ratio <= 1 / _MUCH


class _Printer:
    """Prints lines: safe for a terminal, cut at its width."""

    def __init__(self, *, full: bool) -> None:
        self._columns = None if full else width()
        self._paint = painter(_STYLES)

    def line(self, text: str, style: str = "") -> None:
        say(text, columns=self._columns, paint=lambda line: self._paint(line, style))
