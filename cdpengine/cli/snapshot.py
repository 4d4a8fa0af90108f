"""`cdpengine snapshot URL`: a page as roles, names and refs."""

from __future__ import annotations

import click
import trio

from cdpengine.cli.options import Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json


@click.command(short_help="Print a page's roles, names and refs.")
@url_argument
@click.option("--interactive", is_flag=True, help="Only what can be acted on.")
@click.option("--compact", is_flag=True, help="Leave out structure that holds nothing with a ref.")
@click.option("--max-depth", type=click.IntRange(min=0), metavar="N", help="Levels of the tree to show.")
@click.option("--max-chars", type=click.IntRange(min=1), metavar="N", help="Characters after which to cut.")
@timeout_option("the loading and the snapshot, each,", 30_000)
@json_option
@browser_options
def snapshot(
    url: str,
    interactive: bool,
    compact: bool,
    max_depth: int | None,
    max_chars: int | None,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and print its role snapshot: what a screen reader would be told, with a ref for each element.

    \b
    Example:
      cdpengine snapshot --interactive https://example.com
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)

    async def take() -> None:
        async with source.open_page(url, timeout=timeout_ms / 1000) as page:
            taken = await page.snapshot(
                interactive=interactive,
                compact=compact,
                max_depth=max_depth,
                max_chars=max_chars,
                timeout=timeout_ms / 1000,
            )
            if as_json:
                print_json(
                    {
                        "url": page.url,
                        "title": await page.title(),
                        "snapshot": taken.text,
                        "refs": taken.refs,
                        "stats": taken.stats,
                    }
                )
            else:
                click.echo(taken.text)

    with errors_as_json(wanted=as_json):
        trio.run(take)
