"""`cdpengine snapshot URL`: a page as roles, names and refs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, say_lines

if TYPE_CHECKING:
    from cdpengine._snapshot.node import Source as PageSource
    from cdpengine._snapshot.options import Mode, RefsFor

_MODES = ("role", "ai", "aria", "numbered", "webarena")
_SOURCES = ("ax", "computed", "hybrid", "dom")


@click.command(short_help="Print a page's roles, names and refs.")
@url_argument
@click.option(
    "--mode",
    type=click.Choice(_MODES),
    default="role",
    show_default=True,
    help="How the page is written down.",
)
@click.option(
    "--source",
    "read_from",
    type=click.Choice(_SOURCES),
    help="Where to read it from; the best there is by default.",
)
@click.option("--frame", metavar="FRAME", help="Only this frame: its id, its name, or a pattern of its URL.")
@click.option("--root", metavar="CSS", help="Only what is in the first element that matches.")
@click.option("--interactive", is_flag=True, help="Only what can be acted on.")
@click.option("--compact", is_flag=True, help="Leave out structure that holds nothing with a ref.")
@click.option("--max-depth", type=click.IntRange(min=0), metavar="N", help="Levels of the tree to show.")
@click.option("--max-chars", type=click.IntRange(min=1), metavar="N", help="Characters after which to cut.")
@click.option("--max-tokens", type=click.IntRange(min=1), metavar="N", help="The same in tokens, estimated.")
@click.option(
    "--refs",
    type=click.Choice(("actions", "all")),
    default="actions",
    show_default=True,
    help="What has a ref: what can be acted on and named content, or every element with a line.",
)
@click.option("--ignored", is_flag=True, help="With --mode aria, also the nodes that Chrome shows nobody.")
@timeout_option("the loading and the snapshot, each,", 30_000)
@json_option
@browser_options
def snapshot(
    url: str,
    mode: Mode,
    read_from: PageSource | None,
    frame: str | None,
    root: str | None,
    interactive: bool,
    compact: bool,
    max_depth: int | None,
    max_chars: int | None,
    max_tokens: int | None,
    refs: RefsFor,
    ignored: bool,
    timeout_ms: int,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL and print its role snapshot: what a screen reader would be told, with a ref for each element.

    \b
    Example:
      cdpengine snapshot --interactive https://example.com
      cdpengine snapshot --mode ai --root main --max-tokens 4000 https://example.com
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)

    async def take() -> None:
        async with source.open_page(url, timeout=timeout_ms / 1000) as page:
            taken = await page.snapshot(
                mode=mode,
                source=read_from,
                frame=frame,
                root=root,
                interactive=interactive,
                compact=compact,
                max_depth=max_depth,
                max_chars=max_chars,
                max_tokens=max_tokens,
                refs=refs,
                ignored=ignored,
                timeout=timeout_ms / 1000,
            )
            if as_json:
                nodes = {"nodes": taken.to_json()["nodes"]} if mode == "aria" else {}
                print_json(
                    {
                        "url": page.url,
                        "title": await page.title(),
                        "mode": mode,
                        "snapshot": taken.text,
                        "refs": taken.refs,
                        "gaps": taken.gaps,
                        "stats": taken.stats,
                        **nodes,
                    }
                )
            else:
                say_lines(taken.text)

    with errors_as_json(wanted=as_json):
        trio.run(take)
