"""The commands that write the loading of a page to a file: `har` and `trace`.

Rule: a file is written completely or not at all, and impossible options are refused before a browser starts. A
page that never becomes idle is still written: `har` has the requests of its loading, `trace` Chrome's
trace of it.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import (
    Failed,
    Source,
    browser_options,
    json_option,
    may_overwrite,
    output_option,
    timeout_option,
    url_argument,
)
from cdpengine.cli.output import errors_as_json, print_json, say, show_progress
from cdpengine.errors import DeadlineExceededError
from cdpengine.errors.texts import escape_json

if TYPE_CHECKING:
    from cdpengine._measure.tracing import TraceProgress, TraceReport


MOST_REQUESTS = 10_000
"""Default number of requests to keep."""


@click.command(short_help="Write a page's requests as an HTTP archive.")
@url_argument
@output_option("The file; - is standard output.", dash=True)
@click.option("--no-bodies", is_flag=True, help="Omit the bodies of the responses.")
@click.option(
    "--largest-body",
    type=click.IntRange(min=0),
    default=2**20,
    show_default=True,
    metavar="BYTES",
    help="Omit bodies above this size.",
)
@click.option(
    "--requests",
    type=click.IntRange(min=1),
    default=MOST_REQUESTS,
    show_default=True,
    metavar="N",
    help="Number of the latest requests to keep.",
)
@click.option("--no-settle", is_flag=True, help="Do not wait until the page is idle after loading.")
@click.option("--with-secrets", is_flag=True, help="Include cookies, tokens and posted data.")
@timeout_option("each of loading, settling and archiving", 30_000)
@json_option
@browser_options
def har(
    url: str,
    output: Path,
    no_bodies: bool,
    largest_body: int,
    requests: int,
    no_settle: bool,
    with_secrets: bool,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and write its requests and responses as an HTTP archive (HAR 1.2), secrets redacted.

    Browsers' developer tools and HAR viewers open it. Only the owner can read the file. --json prints a
    summary.

    \b
    Example:
      cdpengine har https://example.com -o example.har
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    to_standard_output = str(output) == "-"
    if as_json and to_standard_output:
        raise click.UsageError("--json prints a summary; use it with -o FILE")
    overwrite = may_overwrite()

    async def take() -> None:
        from cdpengine._activity.har import encode
        from cdpengine._activity.options import ActivityOptions
        from cdpengine._page.downloads.output_file import output_file

        options = ActivityOptions(console=0, errors=0, requests=requests)
        async with source.open_page(url, timeout=timeout, activity=options) as page:
            if not no_settle:
                # A page that never becomes idle is still archived.
                with contextlib.suppress(DeadlineExceededError):
                    await page.settled(timeout=timeout)
            archive = await page.activity.har(
                bodies=not no_bodies, largest_body=largest_body, redacted=not with_secrets, timeout=timeout
            )
            dropped = page.activity.requests.dropped
        content = encode(archive)
        if to_standard_output:
            sys.stdout.buffer.write(escape_json(content.decode()).encode())
            sys.stdout.buffer.flush()
            return
        async with output_file("the HTTP archive", output, overwrite=overwrite) as file:
            await file.write(content)
        entries = archive["log"]["entries"]
        if as_json:
            print_json(
                {
                    "url": url,
                    "file": str(output),
                    "requests": len(entries),
                    "failed": sum(entry["response"]["status"] == 0 for entry in entries),
                    "dropped": dropped,
                    "bytes": len(content),
                }
            )
        else:
            say(f"{output}: {len(entries)} requests, {len(content)} bytes", err=True)

    with errors_as_json(enabled=as_json):
        trio.run(take)


# --- trace ---------------------------------------------------------------------------------------------------

_MB = 1e6


@click.command("trace", short_help="Trace Chrome while it loads a page, for Perfetto.")
@url_argument
@output_option("The file: .json, or .pftrace (smaller, faster); a further .gz compresses.")
@click.option(
    "--categories", metavar="NAMES", help="Chrome's categories or patterns, comma-separated: 'v8*,blink'."
)
@click.option("--screenshots", is_flag=True, help="Include pictures of the page.")
@click.option(
    "--for",
    "seconds",
    type=click.FloatRange(0),
    default=0,
    metavar="S",
    help="Seconds to trace after the load.",
)
@click.option(
    "--buffer-mb", type=click.IntRange(1), metavar="N", help="Size of Chrome's buffer; by default 200 MB."
)
@timeout_option("each of loading and writing", 60_000)
@json_option
@browser_options
def trace(
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

    The exit status is also 1 if Chrome's buffer was too small and the trace is incomplete.
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

    with errors_as_json(enabled=as_json):
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
        say("Error: Chrome's buffer was too small: the trace is incomplete. Use --buffer-mb", err=True)
        raise Failed


def _show(progress: TraceProgress) -> None:
    if progress.phase == "recording":
        message = f"tracing: {progress.seconds:.0f} s, buffer {progress.buffer_full:.0%}"
    else:
        message = f"writing: {progress.written / _MB:.1f} MB"
    show_progress(message)
