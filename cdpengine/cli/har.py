"""`cdpengine har URL -o FILE`: what a page asks the network for while it loads, as an HTTP archive."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import click
import trio

from cdpengine.cli.options import Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, say
from cdpengine.cli.output_files import may_overwrite, output_option
from cdpengine.errors import DeadlineExceededError
from cdpengine.errors.foreign import escape_json

MOST_REQUESTS = 10_000
"""Requests that are kept, if nobody says otherwise."""


@click.command(short_help="Write a page's requests as an HTTP archive.")
@url_argument
@output_option("Where to write; - is standard output.", dash=True)
@click.option("--no-bodies", is_flag=True, help="Leave out the bodies of the responses.")
@click.option(
    "--largest-body",
    type=click.IntRange(min=0),
    default=2**20,
    show_default=True,
    metavar="BYTES",
    help="Leave out bodies above that size.",
)
@click.option(
    "--requests",
    type=click.IntRange(min=1),
    default=MOST_REQUESTS,
    show_default=True,
    metavar="N",
    help="How many of the latest requests to keep.",
)
@click.option("--no-settle", is_flag=True, help="Do not wait until the page is at rest after it has loaded.")
@click.option("--with-secrets", is_flag=True, help="Leave cookies, tokens and posted data in it.")
@timeout_option("the loading, the coming to rest and the archive, each,", 30_000)
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
    """Load URL and write its requests and their answers as an HTTP archive (HAR 1.2), secrets redacted.

    Browsers' developer tools and HAR viewers open it. The file is readable by its owner only. With --json, a
    summary is printed.

    \b
    Example:
      cdpengine har https://example.com -o example.har
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)
    timeout = timeout_ms / 1000
    to_standard_output = str(output) == "-"
    if as_json and to_standard_output:
        raise click.UsageError("--json prints a summary; give -o a FILE with it")
    overwrite = may_overwrite()

    async def take() -> None:
        from cdpengine._activity.har import encode
        from cdpengine._activity.options import ActivityOptions
        from cdpengine._page.downloads.output_file import output_file

        options = ActivityOptions(console=0, errors=0, requests=requests)
        async with source.open_page(url, timeout=timeout, activity=options) as page:
            if not no_settle:
                # A page that never rests is archived all the same.
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

    with errors_as_json(wanted=as_json):
        trio.run(take)
