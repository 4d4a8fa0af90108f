"""`cdpengine record`: run a program and record the browsers that it starts."""

from __future__ import annotations

from pathlib import Path

import click
import trio

from cdpengine.cli.options import may_overwrite, output_option
from cdpengine.cli.output import say

_LISTED = 5
"""Maximum number of browsers that are listed if none was started."""


@click.command(
    short_help="Run a program and record the browsers that it starts.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@output_option("The recording (JSON lines; .zst compresses), secrets redacted.")
@click.option(
    "--browser",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="PATH",
    help="A browser that the search does not find.",
)
@click.option("--no-mounts", is_flag=True, help="Replace browsers only on the PATH and in variables.")
@click.option("--unredacted", is_flag=True, help="Write secrets too.")
@click.option("--keep-arguments", is_flag=True, help="Keep the arguments and results of scripts.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="BYTES",
    help="Cut messages above this size in the recording; 0: never [262144].",
)
@click.option("--quiet", is_flag=True, help="Print no summary.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND...")
def record(
    output: Path,
    browser: Path | None,
    no_mounts: bool,
    unredacted: bool,
    keep_arguments: bool,
    limit: int | None,
    quiet: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND and record the protocol traffic of all browsers that it starts, whatever client it uses.

    COMMAND finds its browser as usual, at any path. It runs unchanged: its terminal, signals and exit status are
    those of this command. Traffic over a debugging pipe and over a debugging port is recorded. A browser that
    still runs after COMMAND is ended.

    \b
    Examples:
      cdpengine record -o traffic.jsonl -- python scrape.py
      cdpengine record -o traffic.jsonl.zst -- npx playwright test
      cdpengine recording stats traffic.jsonl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.recording.traffic_recorder import LIMIT
    from cdpengine.debug.wrapping.recorded_command import record_command

    def note(text: str) -> None:
        say(f"cdpengine record: {text}", err=True)

    async def run() -> int:
        done = await record_command(
            command,
            output,
            browser=browser,
            mounted=not no_mounts,
            unredacted=unredacted,
            keep_arguments=keep_arguments,
            limit=LIMIT if limit is None else limit,
            overwrite=may_overwrite(),
            note=note,
        )
        if done.ended_browsers:
            note(f"ended browsers that still ran after the command: {done.ended_browsers}")
        if not done.browsers:
            places = [str(each) for each in done.places]
            more = f" and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
            where = "" if done.mounted else " by name"
            note(f"the command started none of these browsers{where}: {', '.join(places[:_LISTED])}{more}")
        elif not quiet:
            note(f"{output}: messages: {done.messages:,}, browsers: {done.browsers}")
        return done.status

    return trio.run(run)
