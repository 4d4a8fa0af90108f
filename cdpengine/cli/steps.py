"""`cdpengine step-trace view`, also `cdpengine trace view`: make the page of a step trace."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from cdpengine.cli.options import check_new_file, force_option, may_overwrite
from cdpengine.cli.output import say
from cdpengine.errors import FileNotWrittenError, os_reason


@click.group("step-trace", short_help="View step traces: actions with the pages around them.")
def step_trace() -> None:
    """View step traces, made with page.trace_steps or context.trace_steps."""


@step_trace.command(short_help="Make one HTML page of a step trace.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--output",
    "-o",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="HTML",
    help="The page; by default the name of FILE with .html.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in the default browser.")
@force_option
@click.pass_context
def view(ctx: click.Context, file: Path, output: Path | None, opens: bool) -> None:
    """Write FILE as one HTML page, which needs no server and loads nothing, and print its name.

    The page has the redaction of the trace, and only its owner can read it. A trace without an end, whose program
    was killed, is shown up to its last entry.

    \b
    Examples:
      cdpengine trace view shop.zip --open
      cdpengine trace view shop.zip -o /tmp/shop.html
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine._launch.private_files import new_file
    from cdpengine.debug.steps.reading import open_step_trace
    from cdpengine.debug.steps.view import page_of

    place = output or file.with_suffix(".html")
    option = next(each for each in ctx.command.params if each.name == "output")
    check_new_file(ctx, option, place)
    trace = open_step_trace(file)
    try:
        with new_file(place, overwrite=may_overwrite()) as stream:
            stream.writelines(page_of(trace))
    except OSError as error:
        raise FileNotWrittenError("the page", str(place), os_reason(error)) from error
    say(str(place))
    if opens:
        webbrowser.open(place.absolute().as_uri())
