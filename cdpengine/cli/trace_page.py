"""`cdpengine trace-page URL -o FILE`: what Chrome does while it loads a page, as a trace for Perfetto."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Failed, Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, say, show_progress
from cdpengine.cli.output_files import may_overwrite, output_option

if TYPE_CHECKING:
    from cdpengine._measure.tracing import TraceProgress, TraceReport

_MB = 1e6


@click.command("trace-page", short_help="Trace Chrome while it loads a page, for Perfetto.")
@url_argument
@output_option("The file: .json, or .pftrace (smaller, faster); .gz after it compresses.")
@click.option(
    "--categories", metavar="NAMES", help="Chrome's categories or patterns, with commas: 'v8*,blink'."
)
@click.option("--screenshots", is_flag=True, help="Put pictures of the page into it.")
@click.option(
    "--for", "seconds", type=click.FloatRange(0), default=0, metavar="S", help="Seconds after the load."
)
@click.option("--buffer-mb", type=click.IntRange(1), metavar="N", help="Chrome's buffer; 200 MB by default.")
@timeout_option("the loading and the writing, each,", 60_000)
@json_option
@browser_options
def trace_page(
    url: str,
    output: Path,
    categories: str | None,
    screenshots: bool,
    seconds: float,
    buffer_mb: int | None,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL in a new tab and trace the browser meanwhile; https://ui.perfetto.dev opens the file.

    Exit status 1 also where Chrome's buffer was too small, and the trace lacks some of what happened.
    """
    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    overwrite = may_overwrite()
    progress = _show if sys.stderr.isatty() else None

    async def run() -> TraceReport:
        async with source.open_page("about:blank", timeout=timeout) as page:
            async with page.measure.trace(
                output,
                categories=None if categories is None else categories.split(","),
                screenshots=screenshots,
                buffer_size=None if buffer_mb is None else buffer_mb << 20,
                progress=progress,
                overwrite=overwrite,
                timeout=timeout,
            ) as trace:
                await page.goto(url, timeout=timeout)
                await trio.sleep(seconds)
            assert trace.report is not None
            return trace.report

    with errors_as_json(wanted=as_json):
        try:
            report = trio.run(run)
        finally:
            if progress is not None:
                show_progress("")
    if as_json:
        print_json({"url": url, "trace": report})
    else:
        compressed = f" ({report.size / _MB:.1f} MB compressed)" if report.size != report.written else ""
        traced = f"{report.seconds:.1f} s traced, {report.written / _MB:.1f} MB{compressed}"
        say(f"{output}: {traced}. Open it at https://ui.perfetto.dev")
    if report.data_lost:
        say("Error: Chrome's buffer was too small: the trace is not whole. Use --buffer-mb", err=True)
        raise Failed


def _show(progress: TraceProgress) -> None:
    if progress.phase == "recording":
        said = f"tracing: {progress.seconds:.0f} s, buffer {progress.buffer_full:.0%}"
    else:
        said = f"writing: {progress.written / _MB:.1f} MB"
    show_progress(said)
