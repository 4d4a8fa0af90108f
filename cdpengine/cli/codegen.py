"""`cdpengine codegen`: write the program of a step trace or of a cache entry.

Rule: the program goes to standard output or to a file, and notes about omitted actions to standard error.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import may_overwrite, output_option
from cdpengine.cli.output import say
from cdpengine.errors import FileNotWrittenError, os_reason, packages_named

if TYPE_CHECKING:
    from cdpengine.codegen.steps import RecordedStep


@click.command(short_help="Write a program of recorded actions.")
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A step trace, or the file of an action cache.",
)
@click.option(
    "--entry", metavar="ID", help="An entry of the action cache; without --from, of the user's cache."
)
@click.option(
    "--target",
    type=click.Choice(["program", "test", "script", "requests"]),
    default="program",
    show_default=True,
    help="A Python program, a test for pytest, an action script, or a JSON list of requests.",
)
@click.option(
    "--assertions", "asserts", is_flag=True, help="With --entry: assert the condition after each step."
)
@output_option("The file of the program; -: standard output.", dash=True, default="-")
def codegen(source: Path | None, entry: str | None, target: str, asserts: bool, output: Path) -> None:
    """Write the actions of a step trace or of a cache entry as a program.

    The program finds elements by role and name. Passwords and withheld strings are variables: the Python programs
    read ${password} from the environment variable PASSWORD.

    \b
    Examples:
      cdpengine codegen --from shop.zip
      cdpengine codegen --from shop.zip --target test -o test_shop.py
      cdpengine codegen --entry 1f0c... --assertions
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.codegen.steps import merge_steps

    notes: list[str] = []
    if entry is not None:
        steps = _steps_of_entry(source, entry, notes, asserts=asserts)
    elif source is not None:
        steps = _steps_of_trace(source, notes)
    else:
        raise click.UsageError("Give a step trace with --from, or a cache entry with --entry.")
    _write(_text_of(merge_steps(steps), target, output, notes), output)
    for note in notes:
        say(f"note: {note}", err=True)


def _steps_of_trace(source: Path, notes: list[str]) -> list[RecordedStep]:
    from cdpengine.codegen.from_trace import steps_of_trace
    from cdpengine.debug.steps.reading import open_step_trace

    return steps_of_trace(open_step_trace(source), notes)


def _steps_of_entry(
    source: Path | None, key_id: str, notes: list[str], *, asserts: bool
) -> list[RecordedStep]:
    with packages_named():
        from cdpengine.cache import ActionCache, read_config
        from cdpengine.codegen.from_entry import steps_of_entry

    async def read() -> list[RecordedStep]:
        async with ActionCache.open(source, config=await read_config()) as cache:
            found = await cache.get(key_id)
        if found is None:
            raise click.UsageError(f"The cache has no entry {key_id!r}; see cdpengine cache list.")
        return steps_of_entry(found, notes, asserts=asserts)

    return trio.run(read)


def _text_of(steps: list[RecordedStep], target: str, output: Path, notes: list[str]) -> str:
    """Return the steps in the form of a target. A test has the name of its file."""
    from cdpengine.codegen.action_script import write_script
    from cdpengine.codegen.python_code import write_program, write_test
    from cdpengine.codegen.request_list import write_requests
    from cdpengine.codegen.steps import variables_of

    if names := variables_of(steps):
        shown = [name.upper() if target in ("program", "test") else f"${{{name}}}" for name in names]
        notes.append(f"give values to {', '.join(shown)}")
    match target:
        case "script":
            return write_script(steps, notes)
        case "requests":
            return write_requests(steps, notes)
        case "test":
            name = output.stem.removeprefix("test_")
            return write_test(steps, name=name if name.isidentifier() else "recorded")
    return write_program(steps)


def _write(text: str, output: Path) -> None:
    from cdpengine._launch.private_files import new_file

    if str(output) == "-":
        sys.stdout.write(text)
        return
    try:
        with new_file(output, overwrite=may_overwrite()) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise FileNotWrittenError("the program", str(output), os_reason(error)) from error
