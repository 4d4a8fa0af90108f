"""`cdpengine trace export`: a recording as what other programs open: Perfetto, HAR viewers, a browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from cdpengine.cli.options import Failed
from cdpengine.cli.output_files import may_overwrite, output_option
from cdpengine.cli.trace_reading import file_argument, lines_of, tell_damage
from cdpengine.errors import MeasurementFailedError, RecordingIncompleteError, os_reason

if TYPE_CHECKING:
    from cdpengine.debug.reading.recording import Recording


@click.command(short_help="Make a Perfetto trace, an HTTP archive or a page of a recording.")
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
            first = next(pieces)  # what cannot be made is told before anything is written
        except RecordingIncompleteError:
            tell_damage(recording)
            raise
        try:
            with _opened(output) as stream:
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
def _opened(output: Path) -> Iterator[IO[bytes]]:
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from cdpengine._launch.private_files import new_file

    # As with the recording itself: what a page's user sees is nobody's but the owner's.
    with new_file(output, overwrite=may_overwrite()) as stream:
        yield stream
