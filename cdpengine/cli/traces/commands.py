"""`cdpengine trace`: the group of the commands that read recordings, with `export` and `replay`.

Rule: nothing is written before the first piece of it could be made.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Failed, may_overwrite, output_option
from cdpengine.cli.output import say
from cdpengine.cli.traces.diff import diff
from cdpengine.cli.traces.show import file_argument, lines_of, show, tell_damage
from cdpengine.cli.traces.stats import stats
from cdpengine.errors import MeasurementFailedError, RecordingIncompleteError, os_reason

if TYPE_CHECKING:
    from cdpengine.debug.reading.recording import Recording


@click.group(short_help="Read recordings of traffic: show, count, compare, export.")
def trace() -> None:
    """Read recordings of the protocol's traffic, made with --record FILE, CDPENGINE_RECORD or debug.record.

    A file that is damaged, cut off or no recording at all gives an error with the number of the line, after
    everything that could be read; the exit status is 1 then.
    """


for command in (show, stats, diff):
    trace.add_command(command)


@trace.command(short_help="Make a Perfetto trace, an HTTP archive or a page of a recording.")
@file_argument
@click.option(
    "--perfetto", "form", flag_value="perfetto", help="A trace for ui.perfetto.dev and chrome://tracing."
)
@click.option("--har", "form", flag_value="har", help="An HTTP archive (HAR 1.2) of the requests of pages.")
@click.option(
    "--html", "form", flag_value="html", help="One page with a timeline and a table that one can filter."
)
@output_option("Where to write; standard output without it.", dash=True, default="-")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="With --html: messages at most [200000]."
)
def export(file: Path, form: str | None, output: Path, limit: int | None) -> None:
    """Write a recording in another format; what is in it is as redacted as the recording is.

    --har needs the requests to be in the recording: a page's session must have been sent Network.enable.

    \b
    Examples:
      cdpengine trace export --perfetto traffic.jsonl -o traffic.json
      cdpengine trace export --har traffic.jsonl -o traffic.har
      cdpengine trace export --html traffic.jsonl.zst -o traffic.html
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.recording import open_recording

    if form is None:
        raise click.UsageError("one of --perfetto, --har and --html says what to make")
    if limit is not None and form != "html":
        raise click.UsageError("--limit goes with --html")
    if str(output) == "-" and sys.stdout.isatty():
        raise click.UsageError("-o FILE says where to write; standard output is a terminal")
    if str(output) != "-" and output.exists() and file.exists() and output.samefile(file):
        raise click.UsageError("-o names the recording itself")
    with open_recording(file) as recording:
        pieces = {"perfetto": _perfetto, "har": _har, "html": _html}[form](recording, limit)
        try:
            first = next(pieces)  # what cannot be made is reported before anything is written
        except RecordingIncompleteError:
            tell_damage(recording)
            raise
        try:
            with _open_output(output) as stream:
                stream.write(first)
                stream.writelines(pieces)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise MeasurementFailedError("the export", str(output), os_reason(error)) from error
        if tell_damage(recording):
            raise Failed


def _perfetto(recording: Recording, _limit: int | None) -> Iterator[bytes]:
    from cdpengine.debug.reading.perfetto import trace_document

    return trace_document(recording.header, lines_of(recording))


def _har(recording: Recording, _limit: int | None) -> Iterator[bytes]:
    from cdpengine.debug.reading.har import archive_document

    yield archive_document(recording, lines_of(recording))


def _html(recording: Recording, limit: int | None) -> Iterator[bytes]:
    from cdpengine.debug.reading.html_page import MOST_LINES, page_document

    yield from page_document(recording.header, recording.path.name, lines_of(recording), limit or MOST_LINES)


@contextmanager
def _open_output(output: Path) -> Iterator[IO[bytes]]:
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from cdpengine._launch.private_files import new_file

    # As with the recording itself: what is seen of a page is for the owner only.
    with new_file(output, overwrite=may_overwrite()) as stream:
        yield stream


@trace.command(short_help="Serve a recording as a browser.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--listen", "port", type=click.IntRange(0, 65535), default=0, metavar="PORT", help="0: any free."
)
@click.option(
    "--patience-ms",
    type=click.IntRange(min=0),
    default=2000,
    show_default=True,
    metavar="N",
    help="How much longer than recorded a call waits for what comes before its reply.",
)
@click.option("--strict", is_flag=True, help="Entered texts must be the recorded ones.")
def replay(file: Path, port: int, patience_ms: int, strict: bool) -> None:
    """Serve the recording FILE as a browser's endpoint on this machine, until a program leaves it, or Ctrl-C.

    Programs connect as to a browser, once each: a recorded connection is played to one client. Replies and events
    come in the recorded order. The first call that was not recorded ends the command with what was expected there,
    and exit status 1; it reaches the program as an error of the protocol. What was redacted fits everything; with
    --strict, entered texts must have the fingerprints that were recorded of them.
    """
    from cdpengine import debug

    async def run() -> None:
        async with debug.replay(file, port=port, patience=patience_ms / 1000, strict=strict) as running:
            say(running.endpoint)
            told = _tell(running.passed_over)
            try:
                await running.until_divergence()
            finally:
                _tell(running.passed_over[told:])

    trio.run(run)


def _tell(passed_over: Sequence[str]) -> int:
    for what in passed_over:
        say(f"not replayed: {what}", err=True)
    return len(passed_over)
