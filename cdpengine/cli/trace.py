"""`cdpengine trace`: the commands that read recordings. Each is registered here, and has a file of its own."""

from __future__ import annotations

import click

from cdpengine.cli.trace_diff import diff
from cdpengine.cli.trace_export import export
from cdpengine.cli.trace_replay import replay
from cdpengine.cli.trace_show import show
from cdpengine.cli.trace_stats import stats


@click.group(short_help="Read recordings of traffic: show, count, compare, export.")
def trace() -> None:
    """Read recordings of the protocol's traffic, made with --record FILE, CDPENGINE_RECORD or debug.record.

    A file that is damaged, cut off or no recording at all gives an error with the number of the line, after
    everything that could be read; the exit status is 1 then.
    """


for command in (show, stats, diff, export, replay):
    trace.add_command(command)
