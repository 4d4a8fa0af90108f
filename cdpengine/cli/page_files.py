"""The commands that write a page to a file: `har`, `trace`, `screenshot` and `pdf`.

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
    SharedCommand,
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
    from cdpengine._pictures.editing import ImageFormat
    from cdpengine._pictures.pdf import PdfOptions


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


class _Numbers(click.ParamType):  # type: ignore[type-arg]
    """Numbers with a separator, as 1280x720 or 0,0,300,200."""

    def __init__(self, name: str, separator: str, count: int) -> None:
        self.name = name
        self._separator = separator
        self._count = count

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float, ...]:
        try:
            numbers = tuple(float(part) for part in str(value).lower().split(self._separator))
        except ValueError:
            numbers = ()
        if len(numbers) != self._count:
            self.fail(f"{value!r} is not of the form {self.name}", param, ctx)
        return numbers


# --- pictures and paper --------------------------------------------------------------------------------------


@click.command(cls=SharedCommand, short_help="Save a page as a picture.")
@url_argument
@output_option("The file: .png, .jpg, .jpeg or .webp.")
@click.option("--full-page", is_flag=True, help="The whole page, not only the viewport.")
@click.option("--target", metavar="CSS", help="Only the first element that matches.")
@click.option("--clip", type=_Numbers("X,Y,WIDTH,HEIGHT", ",", 4), help="Only this rectangle, in CSS pixels.")
@click.option(
    "--format",
    "image_format",
    type=click.Choice(("png", "jpeg", "webp")),
    help="The format, if the file's name does not imply it.",
)
@click.option("--quality", type=click.IntRange(0, 100), help="For jpeg and webp.")
@click.option("--scale", type=click.FloatRange(0.01, 10), help="Picture pixels per CSS pixel.")
@click.option("--omit-background", is_flag=True, help="Keep unpainted areas transparent.")
@click.option("--refs", is_flag=True, help="Frame elements and label them with their refs.")
@timeout_option("each of loading and the picture", 30_000)
@json_option
@browser_options
def screenshot(
    url: str,
    output: Path,
    full_page: bool,
    target: str | None,
    clip: tuple[float, ...] | None,
    image_format: ImageFormat | None,
    quality: int | None,
    scale: float | None,
    omit_background: bool,
    refs: bool,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and save a picture of it. --full-page supports pages of any height.

    Without -o, `screenshot [FILE]` uses the page of the browser that `cdpengine open` started.

    \b
    Example:
      cdpengine screenshot --full-page https://example.com -o page.png
      cdpengine screenshot --viewport 390x844 --scale 2 https://example.com -o phone.webp
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine import BoundingBox
    from cdpengine._pictures.editing import ImageOptions, format_of

    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    overwrite = may_overwrite()
    with errors_as_json(enabled=as_json):
        # Refuse wrong options before a browser starts.
        ImageOptions(format_of(output, image_format), quality, scale, omit_background)

        async def take() -> None:
            async with source.open_page("about:blank", timeout=timeout) as page:
                await page.goto(url, timeout=timeout)
                found = None if target is None else await page.find(css=target, timeout=timeout)
                data = await page.screenshot(
                    output,
                    target=found,
                    clip=None if clip is None else BoundingBox(*clip),
                    full_page=full_page,
                    format=image_format,
                    quality=quality,
                    scale=scale,
                    omit_background=omit_background,
                    refs=refs,
                    overwrite=overwrite,
                    timeout=timeout,
                )
                if as_json:
                    print_json({"url": page.url, "path": output, "bytes": len(data)})
                else:
                    say(f"{output}: {len(data):,} bytes")

        trio.run(take)


@click.command(cls=SharedCommand, short_help="Save a page as PDF.")
@url_argument
@output_option("The file.")
@click.option(
    "--paper", metavar="NAME|WxH", default="A4", show_default=True, help="Letter, A3, 10cmx20cm, ..."
)
@click.option(
    "--margin", metavar="LENGTH[,...]", help="One length, two or four: 1cm, or 1cm,2cm. 1 cm by default."
)
@click.option("--landscape", is_flag=True, help="Use landscape orientation.")
@click.option("--no-background", is_flag=True, help="Omit background colours and images.")
@click.option(
    "--scale", type=click.FloatRange(0.1, 2), default=1, show_default=True, help="The scale of the content."
)
@click.option("--pages", metavar="RANGES", help="Only these pages: 1-3,5.")
@click.option("--header", metavar="HTML", help="Printed above each page.")
@click.option("--footer", metavar="HTML", help="Printed below: '<span class=pageNumber></span>', say.")
@click.option("--css-page-size", is_flag=True, help="Prefer the page's @page size.")
@click.option("--outline", is_flag=True, help="Add bookmarks from the headings.")
@timeout_option("each of loading and printing", 30_000)
@json_option
@browser_options
def pdf(
    url: str,
    output: Path,
    paper: str,
    margin: str | None,
    landscape: bool,
    no_background: bool,
    scale: float,
    pages: str | None,
    header: str | None,
    footer: str | None,
    css_page_size: bool,
    outline: bool,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and save it as PDF, as Chrome would print it."""
    from cdpengine._pictures.pdf import PAPERS, print_params

    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    overwrite = may_overwrite()
    options: PdfOptions = {
        "landscape": landscape,
        "background": not no_background,
        "scale": scale,
        "css_page_size": css_page_size,
        "outline": outline,
    }
    width, across, height = paper.partition("x")
    if paper.lower() in PAPERS or not across:
        options["paper"] = paper  # type: ignore[typeddict-item]
    else:
        options["paper"] = (width, height)
    if margin is not None:
        lengths = margin.split(",")
        options["margin"] = lengths[0] if len(lengths) == 1 else lengths
    if pages is not None:
        options["pages"] = pages
    if header is not None:
        options["header"] = header
    if footer is not None:
        options["footer"] = footer
    with errors_as_json(enabled=as_json):
        print_params(options)  # refuse wrong options before a browser starts

        async def save() -> None:
            async with source.open_page(url, timeout=timeout) as page:
                size = await page.pictures.save_pdf(output, overwrite=overwrite, timeout=timeout, **options)
                if as_json:
                    print_json({"url": page.url, "path": output, "bytes": size})
                else:
                    say(f"{output}: {size:,} bytes")

        trio.run(save)
