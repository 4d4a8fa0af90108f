"""`cdpengine map`: run a function for each line of a file, with progress; an interrupted run can be continued.

Rule: this module only parses and prints; reading inputs, running the function and writing results is in
cdpengine/pool/mapping.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine.cli.options import Failed, json_option
from cdpengine.cli.output import errors_as_json, print_json, safe_console, say

if TYPE_CHECKING:
    from cdpengine.cluster import BrowserCluster
    from cdpengine.pool import BrowserPool, JobOptions
    from cdpengine.pool.mapping import MapCounts, MapFiles, NamedFunction
    from cdpengine.pool.members import Members

PROGRESS_EACH = 10.0
"""Interval between progress lines if standard error is no terminal, in seconds."""

_REDRAWN_EACH = 0.25

AHEAD = 1000
"""Number of inputs that are read ahead, so that inputs of a slow host do not block the others."""


@click.command("map", short_help="Run a function for each line of a file, in many pages at the same time.")
@click.argument("function")
@click.argument("inputs", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option(
    "--output",
    "-o",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of results; if it exists, the run continues.",
)
@click.option(
    "--failures",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file of failures; by default OUT.failures.jsonl for OUT.jsonl.",
)
@click.option(
    "--files",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder for pictures and archives; by default they are part of their line.",
)
@click.option(
    "--pages",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="Number of pages in each browser.",
)
@click.option(
    "--browsers",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of browsers; with --endpoint, of connections to each.",
)
@click.option(
    "--browser",
    "executable",
    metavar="PATH|CHANNEL",
    help="The browser to start: a path, or chrome, chromium, edge, brave.",
)
@click.option(
    "--endpoint",
    "endpoints",
    multiple=True,
    metavar="URL",
    help="Use running browsers: http://host:port or ws://..., several times for several.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Use the workers of Dask: tcp://host:8786. --browsers and --pages are those of each worker.",
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    metavar="N",
    help="Number of retries after failures of the browser or the network.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60,
    show_default=True,
    metavar="S",
    help="Timeout of one attempt, in seconds.",
)
@click.option(
    "--no-manners",
    is_flag=True,
    help="Ignore robots.txt and the rate limit for foreign hosts.",
)
@click.option("--retry-failures", is_flag=True, help="Retry the failures of earlier runs.")
@click.option(
    "--once",
    is_flag=True,
    help="Begin no input twice: inputs that were running when a run ended fail. By default they run again.",
)
@json_option
def map_(
    function: str,
    inputs: Path,
    output: Path,
    failures: Path | None,
    folder: Path | None,
    pages: int,
    browsers: int,
    executable: str | None,
    endpoints: tuple[str, ...],
    scheduler: str | None,
    retries: int,
    timeout: float,
    no_manners: bool,
    retry_failures: bool,
    once: bool,
    as_json: bool,
) -> None:
    """Run FUNCTION for each line of INPUTS ("-": standard input), and append each result as a line to a file.

    FUNCTION is one of markdown, snapshot, screenshot, har, links, or your own `async def name(page, item)`:
    module.py:name, or package.module:name. A line that begins with { or a quotation mark is JSON, an object (with
    a URL as "url") or a string; any other line is a URL. Empty lines are ignored.

    If a run was interrupted or killed, or the disk was full, the same command continues it: an input with a
    result or failure does not run again. Inputs that were running do, unless --once. INPUTS may
    have new lines at its end. To start over, remove the results, the failures and OUT.journal.

    For foreign hosts, robots.txt is obeyed, with at most 2 pages of a host at a time and one new page a second.

    The exit status is 0 if all inputs succeeded, 1 if some failed, in this run or before.

    \b
    Examples:
      cdpengine map markdown urls.txt -o pages.jsonl
      cdpengine map shop.py:prices urls.jsonl -o prices.jsonl --browsers 2 --retries 2
      cdpengine map screenshot urls.txt -o shots.jsonl --files shots
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    if executable is not None and endpoints:
        raise click.UsageError("--browser starts browsers and --endpoint uses running ones; give only one")
    if once and retries:
        raise click.UsageError("--once begins each input once, --retries tries again; give only one")
    if once and retry_failures:
        raise click.UsageError("--once begins each input once, --retry-failures again; give only one")

    with errors_as_json(enabled=as_json):
        from cdpengine.pool import BrowserPool
        from cdpengine.pool.manners import Manners
        from cdpengine.pool.mapping import MapFiles, find_function
        from cdpengine.pool.mapping.run_files import failures_beside

        found = find_function(function)
        files = MapFiles(
            function=found.name,
            inputs=None if str(inputs) == "-" else inputs,
            output=output,
            failures=failures or failures_beside(output),
            folder=folder,
            once=once,
            retry_failures=retry_failures,
        )
        manners = None if no_manners else Manners()
        mapper: BrowserPool | BrowserCluster
        if scheduler is None:
            mapper = BrowserPool(_members(endpoints, browsers, executable), pages=pages, manners=manners)
        else:
            from cdpengine.cluster import BrowserCluster
            from cdpengine.cluster.sending import send_with_code

            members = _members(endpoints, browsers, executable)
            mapper = BrowserCluster(scheduler, browsers=members, pages=pages, manners=manners)
            if found.file is not None:
                send_with_code(found.file)
        options: JobOptions = {**found.options, "retries": retries, "timeout": timeout}
        counts = trio.run(_work, files, found, mapper, options, as_json)
    if counts.all_failed:
        raise Failed


def _members(endpoints: Sequence[str], browsers: int, executable: str | None) -> list[Members]:
    from cdpengine.pool import LaunchedBrowsers, LaunchOptions, RemoteBrowsers

    if endpoints:
        return [RemoteBrowsers(each, connections=browsers) for each in endpoints]
    options = LaunchOptions() if executable is None else LaunchOptions(executable=executable)
    return [LaunchedBrowsers(browsers, options=options)]


async def _work(
    files: MapFiles,
    found: NamedFunction,
    mapper: BrowserPool | BrowserCluster,
    options: JobOptions,
    as_json: bool,
) -> MapCounts:
    from cdpengine.pool import BrowserPool
    from cdpengine.pool.mapping import MapRun

    async with MapRun.open(files) as run:
        try:
            if run.counts.left != 0:
                async with _progress(run.counts), mapper:
                    ahead = max(AHEAD, 2 * mapper.capacity)
                    far = not isinstance(mapper, BrowserPool)
                    function, suffix = found.function, found.suffix
                    await run.do(mapper, function, suffix=suffix, far=far, ahead=ahead, **options)
        finally:
            _print_end(files, run.counts, as_json=as_json)
    return run.counts


def _print_end(files: MapFiles, counts: MapCounts, *, as_json: bool) -> None:
    seconds = trio.current_time() - counts.begun
    if as_json:
        print_json(
            {
                "output": str(files.output),
                "failures": str(files.failures),
                "done": counts.done,
                "failed": counts.failed,
                "done_before": counts.done_before,
                "failed_before": counts.failed_before,
                "left": counts.left,
                "seconds": seconds,
            }
        )
        return
    parts = [f"{files.output}: {counts.done} done in {seconds:.1f} s, {counts.rate:.1f} a second"]
    if counts.done_before:
        parts.append(f"{counts.done_before} before")
    if counts.all_failed:
        before = f", {counts.failed_before} of them before" if counts.failed_before else ""
        parts.append(f"{counts.all_failed} failed ({files.failures}{before})")
    if counts.left:
        parts.append(f"{counts.left} left: the same command continues")
    elif counts.left is None:
        parts.append("not all of standard input was read: the same command continues with the same lines")
    say("; ".join(parts), err=True)


# --- progress ------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _progress(counts: MapCounts) -> AsyncIterator[None]:
    """Show the progress during the block: a bar in a terminal, otherwise a line at intervals."""
    if not sys.stderr.isatty():
        async with open_body_nursery() as nursery:
            nursery.start_soon(_each, PROGRESS_EACH, lambda: say(_describe(counts), err=True))
            yield
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=safe_console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def show() -> None:
            bar.update(
                task,
                completed=counts.all_done + counts.all_failed,
                total=counts.total,
                description=_describe(counts),
            )

        async with open_body_nursery() as nursery:
            show()
            nursery.start_soon(_each, _REDRAWN_EACH, show)
            yield


async def _each(seconds: float, show: Callable[[], None]) -> None:
    while True:
        await trio.sleep(seconds)
        show()


def _describe(counts: MapCounts) -> str:
    known = "" if counts.total is None else f" of {counts.total}"
    text = f"{counts.all_done + counts.all_failed}{known}, {counts.rate:.1f} a second, {counts.all_failed} failed"
    if counts.left and counts.rate:
        text += f", about {_format_time(counts.left / counts.rate)} left"
    return text


def _format_time(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
