"""What the commands that read recordings share: a progress bar, and how damage is told.

Rule: everything that can be read is used first; then each line that could not be is named on standard error, and
the exit status is 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cdpengine.cli.output import say
from cdpengine.cli.terminal import safe_console

if TYPE_CHECKING:
    from cdpengine.debug.reading.recording import Recording
    from cdpengine.debug.recording_format import Line

_TOLD = 10
"""Damaged lines that are told of by name."""

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
    for line, reason in found[:_TOLD]:
        say(f"Error: {recording.path}, line {line}: {reason}", err=True)
    more = max(recording.damaged_lines, len(found)) - _TOLD
    if more > 0:
        say(f"Error: ... and {more} more lines that could not be read", err=True)
    return bool(found)
