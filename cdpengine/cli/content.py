"""`cdpengine text URL` and `cdpengine markdown URL`: what a page says."""

from __future__ import annotations

import click
import trio

from cdpengine.cli.options import F, Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, say_lines


def _options(command: F) -> F:
    for option in (
        browser_options,
        json_option,
        timeout_option("the loading and the reading, each,", 30_000),
        click.option("--max-chars", type=click.IntRange(min=1), metavar="N", help="Characters to cut at."),
        click.option("--main-only", is_flag=True, help="Leave out navigation, footers and the like."),
        click.option("--target", metavar="CSS", help="Only the first element that matches."),
        url_argument,
    ):
        command = option(command)
    return command


def _print(
    kind: str,
    url: str,
    target: str | None,
    main_only: bool,
    max_chars: int | None,
    timeout_ms: int,
    as_json: bool,
    source: Source,
) -> None:
    timeout = timeout_ms / 1000

    async def read() -> None:
        async with source.open_page(url, timeout=timeout) as page:
            extract = page.extract_text if kind == "text" else page.extract_markdown
            said = await extract(target, main_only=main_only, max_chars=max_chars, timeout=timeout)
            if as_json:
                print_json({"url": page.url, "title": await page.title(), kind: said})
            else:
                say_lines(said)

    with errors_as_json(wanted=as_json):
        trio.run(read)


@click.command(short_help="Print what a page says, as plain text.")
@_options
def text(
    url: str,
    target: str | None,
    main_only: bool,
    max_chars: int | None,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and print what a reader sees of it, frames included, as plain text."""
    _print("text", url, target, main_only, max_chars, timeout_ms, as_json, Source(executable, endpoint))


@click.command(short_help="Print what a page says, as Markdown.")
@_options
def markdown(
    url: str,
    target: str | None,
    main_only: bool,
    max_chars: int | None,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and print what a reader sees of it as Markdown: headings, links, lists, tables, code."""
    _print(
        "markdown",
        url,
        target,
        main_only,
        max_chars,
        timeout_ms,
        as_json,
        Source(executable, endpoint),
    )
