"""`cdpengine evaluate [URL] EXPRESSION`: JavaScript in a page, under a deadline."""

from __future__ import annotations

import json

import click
import trio

from cdpengine.cli.options import Source, absolute_url, browser_options, json_option, timeout_option
from cdpengine.cli.output import errors_as_json, print_json, to_plain

RESCUES = ("terminate", "reload", "close")


@click.command(short_help="Evaluate JavaScript in a page, under a deadline.")
@click.argument("words", nargs=-1, metavar="[URL] EXPRESSION")
@timeout_option("the expression", 30_000)
@click.option(
    "--ref", metavar="REF", help="Pass the element with this ref, of a fresh snapshot, to the function."
)
@click.option(
    "--rescue",
    type=click.Choice(RESCUES),
    default="terminate",
    show_default=True,
    help="How far to go with a page that does not answer any more.",
)
@json_option
@browser_options
@click.pass_context
def evaluate(
    ctx: click.Context,
    words: tuple[str, ...],
    timeout_ms: int,
    ref: str | None,
    rescue: str,
    as_json: bool,
    executable: str | None,
    endpoint: str | None,
) -> None:
    """Load URL, evaluate EXPRESSION in it and print the value: text as it is, anything else as JSON.

    With --endpoint and no URL, it is evaluated in the running browser's first page. A promise is awaited. A script
    that is not done in time is stopped, and the exit status is 3; one that threw gives 1. An EXPRESSION that
    begins with a dash goes last, after "--".

    \b
    Examples:
      cdpengine evaluate https://example.com 'document.title'
      cdpengine evaluate https://example.com 'el => el.outerHTML' --ref e3
      cdpengine evaluate about:blank 'while (true) {}' --timeout-ms 500 --json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)
    if not words or len(words) > 2:
        raise click.UsageError(
            f"an EXPRESSION is wanted, with a URL before it; {len(words)} words were given"
        )
    if len(words) == 1 and endpoint is None:
        raise click.UsageError("without a URL, --endpoint says in which browser's page to evaluate")
    url = absolute_url(ctx, ctx.command.params[0], words[0]) if len(words) == 2 else None

    async def run() -> None:
        async with source.open_page(url, timeout=30) as page:
            if ref is not None:
                await page.snapshot()
            value = await page.evaluate(
                words[-1],
                target=ref,
                timeout=timeout_ms / 1000,
                rescue=rescue,  # type: ignore[arg-type]
            )
            if as_json:
                print_json({"value": value})
            elif isinstance(value, str):
                click.echo(value)
            else:
                click.echo(json.dumps(to_plain(value), ensure_ascii=False, indent=2))

    with errors_as_json(wanted=as_json):
        trio.run(run)
