"""`cdpengine evaluate [URL] EXPRESSION`: JavaScript in a page, under a deadline."""

from __future__ import annotations

import sys

import click
import trio

from cdpengine.cli.options import Source, absolute_url, browser_options, json_option, timeout_option
from cdpengine.cli.output import errors_as_json, print_json, say_lines

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
    help="How far to go with a page that does not answer any more.",
)
@click.option(
    "--raw", is_flag=True, help="Write a value that is text as it is, without a line end. Not to a terminal."
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
    """Load URL, evaluate EXPRESSION in it and print the value: text as text, anything else as JSON.

    Text comes from a page, and could command a terminal: control characters, and those that hide or turn text
    around, are printed as escapes such as \\x1b, wherever the output goes; line ends and tabs stay. --raw writes
    the text as it is, into a pipe or a file.

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
    if raw and as_json:
        raise click.UsageError("--raw writes text as it is, --json as JSON; give only one")
    if raw and sys.stdout.isatty():
        raise click.UsageError(
            "--raw writes what a page wrote, which a terminal would obey; send it to a pipe or a file"
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
                sys.stdout.buffer.write(value.encode("utf-8", "replace"))
                sys.stdout.buffer.flush()
            elif isinstance(value, str):
                say_lines(value)
            else:
                print_json(value)

    with errors_as_json(wanted=as_json):
        trio.run(run)
