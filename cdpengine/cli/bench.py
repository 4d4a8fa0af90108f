"""`cdpengine bench`: measure a running or a new browser, and explain slow results.

Rule: this module only prints; the measurements and their evaluation are in cdpengine/bench.py.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Failed, Source, absolute_url, json_option, record_options
from cdpengine.cli.output import errors_as_json, print_json, safe_console
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cdpengine.bench import BenchReport, Progress


def _page_url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return value and absolute_url(ctx, param, value)


@click.command(short_help="Measure a browser: round trips, throughput, events, snapshots.")
@click.argument("endpoint", required=False)
@click.option(
    "--url",
    metavar="URL",
    callback=_page_url,
    help="Also load this page, and take snapshots.",
)
@click.option(
    "--browser", "executable", metavar="PATH|CHANNEL", help="Without ENDPOINT: the browser to start."
)
@click.option(
    "--rounds", type=click.IntRange(1, 1000), default=5, show_default=True, help="Number of repetitions."
)
@click.option("--quick", is_flag=True, help="One short round: orders of magnitude only.")
@record_options
@json_option
def bench(
    endpoint: str | None, url: str | None, executable: str | None, rounds: int, quick: bool, as_json: bool
) -> None:
    """Measure the browser at ENDPOINT (http://host:port or ws://...), or a new one.

    It works in new tabs, which it closes, and opens no port. The median is the main figure; 5 % of the
    rounds are slower than p95. If a measurement fails, its reason is printed and the exit status is 1.

    \b
    Examples:
      cdpengine bench
      cdpengine bench http://127.0.0.1:9222 --url https://example.com --json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.bench import QUICK, Effort, advise, measure_browser

    source = Source(executable, endpoint)
    effort = QUICK if quick else Effort(rounds=rounds)

    async def measure() -> BenchReport:
        async with source.open() as browser:
            with _progress() as progress:
                return await measure_browser(browser, url=url, effort=effort, progress=progress)

    with errors_as_json(enabled=as_json):
        report = trio.run(measure)
    advice = advise(report)
    if as_json:
        figures = [
            {
                "name": each.name,
                "unit": each.unit,
                "median": each.median if each.values else None,
                "p95": each.p95 if each.values else None,
                "values": each.values,
                "detail": each.detail,
                "cannot": each.cannot,
            }
            for each in report.figures
        ]
        print_json(
            {
                "product": report.product,
                "endpoint": report.endpoint,
                "load_per_core": report.load,
                "figures": figures,
                "advice": advice,
            }
        )
    else:
        _print(report, advice)
    if any(each.cannot for each in report.figures):
        raise Failed


@contextmanager
def _progress() -> Iterator[Progress]:
    """Return a progress display: a bar on standard error in a terminal, otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda _done, _all, _next: None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}  {task.description}"))
    with Progress(*columns, console=safe_console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1)
        yield lambda done, total, name: bar.update(task, completed=done, total=total, description=name)


def _print(report: BenchReport, advice: list[str]) -> None:
    from rich import box
    from rich.table import Table

    from cdpengine.bench import show

    console = safe_console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 140)
    load = "" if report.load is None else f", a load of {report.load:.1f} for each core here"
    console.print(escape_line(f"{report.product} at {report.endpoint}{load}"))
    table = Table(box=box.SIMPLE_HEAD if console.is_terminal else box.ASCII2, pad_edge=False)
    table.add_column("case")
    for name in ("median", "p95"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("unit")
    table.add_column("what", overflow="fold")
    for each in report.figures:
        if each.cannot:
            table.add_row(
                each.name, "cannot", "", each.unit, escape_line(each.cannot.partition("\n")[0]), style="red"
            )
        else:
            table.add_row(
                each.name,
                show(each.median),
                show(each.p95),
                each.unit,
                escape_line(each.detail),
            )
    console.print(table)
    for words in advice or ["These figures show no cause of slowness."]:
        console.print(f"- {escape_line(words)}", style="yellow" if advice else "green")
