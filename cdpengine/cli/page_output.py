"""The commands that print the content of a page: `snapshot`, `text`, `markdown` and `evaluate`.

Rule: the content goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import trio

from cdpengine import _json
from cdpengine.cli.options import (
    F,
    SharedCommand,
    Source,
    absolute_url,
    browser_options,
    json_option,
    timeout_option,
    url_argument,
)
from cdpengine.cli.output import errors_as_json, print_json, say_lines

if TYPE_CHECKING:
    from cdpengine._snapshot.node import Source as PageSource
    from cdpengine._snapshot.render.lines import Mode, RefsFor


_MODES = ("role", "ai", "aria", "numbered", "webarena")
_SOURCES = ("ax", "computed", "hybrid", "dom")


@click.command(cls=SharedCommand, short_help="Print a page's roles, names and refs.")
@url_argument
@click.option(
    "--mode",
    type=click.Choice(_MODES),
    default="role",
    show_default=True,
    help="The format of the snapshot.",
)
@click.option(
    "--source",
    "read_from",
    type=click.Choice(_SOURCES),
    help="The source of the snapshot; by default the best available one.",
)
@click.option("--frame", metavar="FRAME", help="Only this frame: its id, its name, or a pattern of its URL.")
@click.option("--root", metavar="CSS", help="Only the content of the first element that matches.")
@click.option("--interactive", is_flag=True, help="Only interactive elements.")
@click.option("--compact", is_flag=True, help="Omit structure that contains no refs.")
@click.option("--max-depth", type=click.IntRange(min=0), metavar="N", help="Levels of the tree to show.")
@click.option("--max-chars", type=click.IntRange(min=1), metavar="N", help="Maximum length, in characters.")
@click.option(
    "--max-tokens", type=click.IntRange(min=1), metavar="N", help="Maximum length, in estimated tokens."
)
@click.option(
    "--refs",
    type=click.Choice(("actions", "all")),
    default="actions",
    show_default=True,
    help="The elements with refs: interactive and named ones, or every element with a line.",
)
@click.option("--ignored", is_flag=True, help="With --mode aria, include the nodes that Chrome ignores.")
@timeout_option("each of loading and the snapshot", 30_000)
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
    """Load URL and print its role snapshot: the content for screen readers, with a ref for each element.

    Without a URL, it uses the page of the browser that `cdpengine open` started.

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

    with errors_as_json(enabled=as_json):
        trio.run(take)


def _options(command: F) -> F:
    for option in (
        browser_options,
        json_option,
        timeout_option("each of loading and reading", 30_000),
        click.option(
            "--max-chars", type=click.IntRange(min=1), metavar="N", help="Maximum length, in characters."
        ),
        click.option("--main-only", is_flag=True, help="Omit navigation, footers and the like."),
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
            content = await extract(target, main_only=main_only, max_chars=max_chars, timeout=timeout)
            if as_json:
                print_json({"url": page.url, "title": await page.title(), kind: content})
            else:
                say_lines(content)

    with errors_as_json(enabled=as_json):
        trio.run(read)


@click.command(short_help="Print the content of a page as plain text.")
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
    """Load URL and print its readable content, frames included, as plain text."""
    _print("text", url, target, main_only, max_chars, timeout_ms, as_json, Source(executable, endpoint))


@click.command(short_help="Print the content of a page as Markdown.")
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
    """Load URL and print its readable content as Markdown: headings, links, lists, tables, code."""
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


# --- evaluate ------------------------------------------------------------------------------------------------

RESCUES = ("terminate", "reload", "close")


@click.command(short_help="Evaluate JavaScript in a page, under a deadline.")
@click.argument("words", nargs=-1, metavar="[URL] EXPRESSION")
@timeout_option("the expression", 30_000)
@click.option(
    "--ref", metavar="REF", help="Pass the element with this ref, of a fresh snapshot, to the function."
)
@click.option(
    "--recover",
    type=click.Choice(RESCUES),
    default="terminate",
    show_default=True,
    help="How far to go with an unresponsive page.",
)
@click.option(
    "--raw", is_flag=True, help="Write a string value unchanged, without a line end. Not to a terminal."
)
@json_option
@browser_options
@click.pass_context
def evaluate(
    ctx: click.Context,
    words: tuple[str, ...],
    timeout_ms: int,
    ref: str | None,
    recover: str,
    raw: bool,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL, evaluate EXPRESSION in it and print the value: strings as text, other values as JSON.

    Text of a page could control a terminal. So control characters, and those that hide or reverse text,
    are always printed as escapes such as \\x1b; line ends and tabs stay. --raw writes
    the text unchanged, into a pipe or a file.

    With --endpoint and no URL, it runs in the running browser's first page. A promise is awaited. A script
    that times out is stopped, and the exit status is 3; for one that throws it is 1. An EXPRESSION that
    begins with a dash must be last, after "--".

    \b
    Examples:
      cdpengine evaluate https://example.com 'document.title'
      cdpengine evaluate https://example.com 'el => el.outerHTML' --ref e3
      cdpengine evaluate about:blank 'while (true) {}' --timeout-ms 500 --json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)
    if not words or len(words) > 2:
        raise click.UsageError(f"expected a URL and an EXPRESSION, got {len(words)} words")
    if len(words) == 1 and endpoint is None:
        raise click.UsageError("without a URL, --endpoint is required. For the page of a session, use 'eval'")
    if raw and as_json:
        raise click.UsageError("--raw writes text unchanged, --json as JSON; give only one")
    if raw and sys.stdout.isatty():
        raise click.UsageError(
            "--raw writes text of a page, which could control a terminal; send it to a pipe or a file"
        )
    url = absolute_url(ctx, ctx.command.params[0], words[0]) if len(words) == 2 else None

    async def run() -> None:
        async with source.open_page(url, timeout=30) as page:
            if ref is not None:
                await page.snapshot()
            value = await page.evaluate(
                words[-1],
                target=ref,
                timeout=timeout_ms / 1000,
                recover=recover,  # type: ignore[arg-type]
            )
            if as_json:
                print_json({"value": value})
            elif raw and isinstance(value, str):
                sys.stdout.buffer.write(_json.replace_unpaired(value).encode())
                sys.stdout.buffer.flush()
            elif isinstance(value, str):
                say_lines(value)
            else:
                print_json(value)

    with errors_as_json(enabled=as_json):
        trio.run(run)
