"""`cdpengine trace replay FILE`: a recording served as a browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import trio

from cdpengine.cli.output import say


@click.command(short_help="Serve a recording as a browser.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--listen", "port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="0: any free."
)
@click.option(
    "--patience-ms",
    type=click.IntRange(min=0),
    default=2000,
    show_default=True,
    metavar="N",
    help="How much longer than recorded a call waits for what comes before its reply.",
)
@click.option("--strict", is_flag=True, help="Entered texts must be the recorded ones.")
def replay(file: Path, port: int, patience_ms: int, strict: bool) -> None:
    """Serve the recording FILE as a browser's endpoint on this machine, until a program leaves it, or Ctrl-C.

    Programs connect as to a browser, once each: a recorded connection is played to one client. Replies and events
    come in the recorded order. The first call that was not recorded ends the command with what was expected there,
    and exit status 1; it reaches the program as an error of the protocol. What was redacted fits everything; with
    --strict, entered texts must have the fingerprints that were recorded of them.
    """
    from cdpengine import debug

    async def run() -> None:
        async with debug.replay(file, port=port, patience=patience_ms / 1000, strict=strict) as running:
            say(running.endpoint)
            told = _tell(running.passed_over)
            try:
                await running.until_divergence()
            finally:
                _tell(running.passed_over[told:])

    trio.run(run)


def _tell(passed_over: Sequence[str]) -> int:
    for what in passed_over:
        say(f"not replayed: {what}", err=True)
    return len(passed_over)
