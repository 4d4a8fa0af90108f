"""`cdpengine demo`: the engine at work on a shop page of its own.

Rule: this file only prints; what is done and how it is checked is in tour.py.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Failed, record_options
from cdpengine.cli.output import safe_console, say
from cdpengine.errors import ConnectionLostError, SessionGoneError
from cdpengine.errors.foreign import escape_line, escape_lines

if TYPE_CHECKING:
    from rich.console import Console

    from cdpengine import Page
    from cdpengine.cli.tour import Step

SHOWN_LINES = 22
"""Lines of the snapshot that are printed; the rest is counted."""


PLAIN_WIDTH = 110
"""Columns of the summary where the output is no terminal."""


@click.command(short_help="See, click, type, hover and evaluate on a page of its own.")
@click.option("--headful", is_flag=True, help="Show the browser's window.")
@click.option(
    "--keep-open", is_flag=True, help="Leave browser and shop open after the last step, until Ctrl-C."
)
@click.option(
    "--browser",
    "executable",
    metavar="PATH|CHANNEL",
    help="The browser to start: a path, or chrome, chromium, edge, brave.",
)
@record_options
def demo(headful: bool, keep_open: bool, executable: str | None) -> None:
    """See, click, type, hover and evaluate on a small shop page, and survive a script that never ends.

    The page is served on loopback by this command itself. Every step is checked against the page's own state and
    printed with its time; the exit status is 1 when one does not hold.

    \b
    Example:
      cdpengine demo --headful --keep-open
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    import cdpengine
    from cdpengine.cli.tour import StepFailed, Tour, serve_shop

    console = safe_console(
        highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PLAIN_WIDTH
    )
    tour = Tour(
        on_step=lambda step: _print_step(console, step),
        on_snapshot=lambda text: _print_snapshot(console, text),
        before_close=_keep_open if keep_open else _close_now,
    )
    held = True
    with serve_shop() as url:
        console.print(f"A shop is open at {url}")
        browser = cdpengine.launch(executable=executable, headless=not headful)
        try:
            trio.run(tour.run, browser, url)
        except StepFailed:
            held = False
    _print_summary(console, tour.steps, held=held)
    if not held:
        raise Failed


def _print_step(console: Console, step: Step) -> None:
    from rich.markup import escape

    mark = "[green]ok[/]    " if step.held else "[red]FAILED[/]"
    console.print(f"{mark} {step.seconds * 1000:7.1f} ms  {escape(step.title)}: [dim]{escape(step.seen)}[/]")


def _print_snapshot(console: Console, text: str) -> None:
    lines = text.splitlines()
    for line in lines[:SHOWN_LINES]:
        console.print(f"           | {line}", style="cyan", markup=False)
    if len(lines) > SHOWN_LINES:
        console.print(f"           | ... {len(lines) - SHOWN_LINES} lines more", style="cyan", markup=False)


def _print_summary(console: Console, steps: list[Step], *, held: bool) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ASCII2 if not sys.stdout.isatty() else box.ROUNDED, title="The demo in short")
    table.add_column("step")
    table.add_column("what the page showed", overflow="fold")
    table.add_column("ms", justify="right")
    table.add_column("")
    for step in steps:
        mark = Text("ok", "green") if step.held else Text("FAILED", "red")
        table.add_row(
            Text(escape_line(step.title)), Text(escape_lines(step.seen)), f"{step.seconds * 1000:.1f}", mark
        )
    console.print()
    console.print(table, soft_wrap=False)
    done = sum(step.held for step in steps)
    console.print(
        f"{done} of {len(steps)} steps did what they say" + ("." if held else "; the last one did not.")
    )


async def _close_now(page: Page) -> None:  # noqa: ARG001 - the tour gives the page to a caller that wants to stay
    await trio.lowlevel.checkpoint()


async def _keep_open(page: Page) -> None:
    """Stay until Ctrl-C, or until the tab or the browser is closed by hand."""

    async def until_closed() -> None:
        with contextlib.suppress(SessionGoneError, ConnectionLostError):
            await page.session.wait_for("Inspector.detached")
        nursery.cancel_scope.cancel()

    with trio.open_signal_receiver(signal.SIGINT) as interrupts:
        say(f"Kept open at {page.url}. Ctrl-C ends it.")
        async with trio.open_nursery() as nursery:
            nursery.start_soon(until_closed)
            async for _ in interrupts:
                nursery.cancel_scope.cancel()
