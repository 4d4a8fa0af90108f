"""`cdpengine run`: an action script, done in a browser.

Rule: all of a script is read before the browser starts. Each step is one line of output; what the script says with
`stop` is the last.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Failed, Source, absolute_url, browser_options, json_option
from cdpengine.cli.output import errors_as_json, print_json, say, say_lines

if TYPE_CHECKING:
    from cdpengine.act import ScriptRun


def _check_url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else absolute_url(ctx, param, value)


@click.command(short_help="Do an action script.")
@click.argument("script", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--url", callback=_check_url, metavar="URL", help="Where to begin; a blank page without it.")
@click.option("--snapshot", "shows", is_flag=True, help="Print the page with its numbers at the end.")
@json_option
@browser_options
def run(
    script: Path, url: str | None, shows: bool, as_json: bool, executable: str | None, endpoint: str | None
) -> None:
    """Do the actions in SCRIPT ("-": standard input), one a line, to the first that fails.

    The numbers are those that `cdpengine snapshot --mode numbered` shows; lines that begin with # are comments.

    \b
    Actions:
      click [12]    hover [12]    type [7] [text] [1]    press [Control+A]    scroll [down]
      goto [url]    new_tab    tab_focus [1]    close_tab    go_back    go_forward    stop [answer]

    \b
    Example:
      cdpengine run --url https://example.com steps.txt
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    text = sys.stdin.read() if str(script) == "-" else script.read_text(encoding="utf-8")
    source = Source(executable, endpoint)

    async def perform() -> tuple[ScriptRun, str | None]:
        from cdpengine.act import Actor, NewTab, dispatch, run_script

        async with source.open() as browser, browser.new_context() as context:
            actor = Actor(browser, context)
            opened = await dispatch(actor, NewTab(url=url))
            if opened.error is not None:
                raise click.ClickException(opened.error.message)
            done = await run_script(actor, text)
            seen = await dispatch(actor, {"kind": "snapshot", "mode": "numbered"}) if shows else None
            return done, seen.result["snapshot"] if seen is not None and seen.ok else None

    with errors_as_json(wanted=as_json):
        from cdpengine.act import parse_script

        list(parse_script(text))
        done, seen = trio.run(perform)
    if as_json:
        print_json({**_describe(done), **({} if seen is None else {"snapshot": seen})})
    else:
        _say_steps(text, done)
        if seen is not None:
            say_lines(seen)
        if done.answer:
            say(done.answer)
    if not done.ok:
        raise Failed


def _describe(done: ScriptRun) -> dict[str, object]:
    answers = [None if step.response is None else step.response.to_json() for step in done.steps]
    steps = [
        {"line": step.line, "url": step.url, "response": to}
        for step, to in zip(done.steps, answers, strict=True)
    ]
    # Of a script that is done to its first failure, that is the last.
    error = {} if done.ok or not answers or answers[-1] is None else {"error": answers[-1]["error"]}
    return {"ok": done.ok, "steps": steps, "answer": done.answer, **error}


def _say_steps(text: str, done: ScriptRun) -> None:
    lines = text.splitlines()
    for step in done.steps:
        failure = None if step.response is None else step.response.error
        words = lines[step.line - 1].strip()
        # What is typed may be a secret.
        words = f"{words.partition(']')[0]}] ..." if words.startswith("type") else words
        if failure is None:
            say(f"{step.line}: {words}  {step.url or 'no page'}", err=True)
        else:
            say_lines(f"Error: line {step.line}: {words}: {failure.message}\n{failure.hint}", err=True)
