"""`cdpengine evaluate URL EXPRESSION`: JavaScript in a page, under a deadline."""

from __future__ import annotations

import json

import click
import trio

from cdpengine.cli.options import Source, browser_options, json_option, timeout_option, url_argument
from cdpengine.cli.output import errors_as_json, print_json, to_plain


@click.command(short_help="Evaluate JavaScript in a page, under a deadline.")
@url_argument
@click.argument("expression")
@timeout_option("the expression", 30_000)
@json_option
@browser_options
def evaluate(
    url: str, expression: str, timeout_ms: int, as_json: bool, executable: str | None, endpoint: str | None
) -> None:
    """Load URL, evaluate EXPRESSION in it and print the value: text as it is, anything else as JSON.

    A promise is awaited. A script that is not done in time is stopped, the exit status is 1, and with --json the
    error's type is "EvaluationTimeout"; one that threw has the type "EvaluationFailed". An EXPRESSION that begins
    with a dash goes last, after "--".

    \b
    Examples:
      cdpengine evaluate https://example.com 'document.title'
      cdpengine evaluate about:blank 'while (true) {}' --timeout-ms 500 --json
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    source = Source(executable, endpoint)

    async def run() -> None:
        async with source.open_page(url, timeout=30) as page:
            value = await page.evaluate(expression, timeout=timeout_ms / 1000)
            if as_json:
                print_json({"value": value})
            elif isinstance(value, str):
                click.echo(value)
            else:
                click.echo(json.dumps(to_plain(value), ensure_ascii=False, indent=2))

    with errors_as_json(wanted=as_json):
        trio.run(run)
