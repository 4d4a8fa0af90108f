"""`cdpengine codegen`: write the program of a person's actions, of a step trace or of a cache entry.

Rule: the program is written to standard output or to a file, and notes about omitted actions to standard error.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import absolute_url, may_overwrite, output_option
from cdpengine.cli.output import say, say_lines
from cdpengine.errors import EngineError, FileNotWrittenError, os_reason, packages_named

if TYPE_CHECKING:
    from cdpengine import Browser
    from cdpengine.codegen.person_recorder import PersonRecorder
    from cdpengine.codegen.recorded import RecordedStep

_NO_DISPLAY = (
    "Recording needs a window, and no display is set. Run the command under xvfb-run, or pass --endpoint with the "
    "address of a running browser."
)


def _check_url(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    return None if value is None else absolute_url(ctx, param, value)


@click.command(short_help="Write a program of recorded actions.")
@click.argument("url", required=False, callback=_check_url)
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
    "--assertions", "asserts", is_flag=True, help="Assert the effect of each step. Not with a step trace."
)
@click.option("--browser", "executable", metavar="PATH|CHANNEL", help="The browser to start for a person.")
@click.option(
    "--endpoint", metavar="URL", help="Record a new tab of a running browser, and close it at the end."
)
@output_option("The file of the program; -: standard output.", dash=True, default="-")
def codegen(
    url: str | None,
    source: Path | None,
    entry: str | None,
    target: str,
    asserts: bool,
    executable: str | None,
    endpoint: str | None,
    output: Path,
) -> None:
    """Write the actions of a person, a step trace or a cache entry as a program.

    Without --from and --entry, a browser window opens, with URL. Act in it, then close it or press Ctrl-C.

    The program finds elements by role and name. Passwords and withheld strings are variables: the Python programs
    read ${password} from the environment variable PASSWORD.

    \b
    Examples:
      cdpengine codegen https://example.com -o example.py
      cdpengine codegen --from shop.zip
      cdpengine codegen --from shop.zip --target test -o test_shop.py
      cdpengine codegen --entry 1f0c... --assertions
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.codegen.recorded import merge_steps

    if url is not None and (source is not None or entry is not None):
        raise click.UsageError("A URL is recorded in a window; --from and --entry need no URL.")
    notes: list[str] = []
    if entry is not None:
        steps = _steps_of_entry(source, entry, notes, asserts=asserts)
    elif source is not None:
        steps = _steps_of_trace(source, notes)
    else:
        steps = _steps_of_person(url, executable, endpoint, notes, asserts=asserts)
    _write(_text_of(merge_steps(steps), target, output, notes), output)
    for note in notes:
        say(f"note: {note}", err=True)


def _steps_of_person(
    url: str | None, executable: str | None, endpoint: str | None, notes: list[str], *, asserts: bool
) -> list[RecordedStep]:
    with packages_named():
        from cdpengine.codegen.person_recorder import PersonRecorder

    async def record() -> list[RecordedStep]:
        async with _open_window(executable, endpoint) as browser:
            target_id: str | None = None
            if endpoint is not None:
                created = await browser.session.call("Target.createTarget", url="about:blank")
                target_id = created["targetId"]
            page = await browser.wait_for_page(where=lambda each: target_id in (None, each.target_id))
            recorder = PersonRecorder(browser, page, every=endpoint is None)
            if url is not None:
                await recorder.open(url)
            say("recording; close the window or press Ctrl-C to end", err=True)
            with trio.open_signal_receiver(signal.SIGINT) as signals:
                await _record_until(recorder, signals)
            if not page.closed:
                with suppress(EngineError):
                    await page.close()
        return recorder.steps(notes, asserts=asserts)

    return trio.run(record)


async def _record_until(recorder: PersonRecorder, signals: AsyncIterator[int]) -> None:
    """Record until the window closes or a signal arrives."""

    async def stop() -> None:
        await anext(signals)
        recorder.stop()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop)
        await recorder.run()
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def _open_window(executable: str | None, endpoint: str | None) -> AsyncIterator[Browser]:
    """Start a browser with a window, or connect to the running one. The engine leaves its pages to the person."""
    import cdpengine
    from cdpengine._launch.find import find_browser
    from cdpengine._launch.process import LaunchOptions, start_browser

    if endpoint is not None:
        async with cdpengine.connect(endpoint, viewport=None) as browser:
            yield browser
        return
    if sys.platform == "linux" and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise click.UsageError(_NO_DISPLAY)
    options = LaunchOptions(executable=find_browser(executable).path, headless=False)
    async with start_browser(options) as process:
        assert process.endpoint is not None
        async with cdpengine.connect(process.endpoint, viewport=None) as browser:
            yield browser


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
    from cdpengine.codegen.recorded import variables_of
    from cdpengine.codegen.request_list import write_requests

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
        say_lines(text.removesuffix("\n"))
        return
    try:
        with new_file(output, overwrite=may_overwrite()) as stream:
            stream.write(text.encode())
    except OSError as error:
        raise FileNotWrittenError("the program", str(output), os_reason(error)) from error
