"""`cdpengine recording`: the group of the commands that read recordings, with `export`, `replay` and `diff`.

Rule: a command creates its output only after the first piece is ready. `diff` lists the differences of two
recordings; its exit status is 0 for equal ones, 1 for different ones.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click
import trio

from cdpengine.cli.options import Failed, json_option, may_overwrite, output_option
from cdpengine.cli.output import errors_as_json, limit, painter, print_json, say, width
from cdpengine.cli.recordings.showing import damage_of, file_argument, lines_of, print_damage, show, stats
from cdpengine.errors import FileNotWrittenError, FileUnreadableError, os_reason
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine.debug.reading.compare import Comparison, Count, RoleDifference
    from cdpengine.debug.reading.recording import Recording


@click.group(short_help="Read recordings of traffic: show, count, compare, export.")
def recording() -> None:
    """Read recordings of the protocol's traffic, made with --record FILE, CDPENGINE_RECORD or debug.record.

    If a file is damaged, truncated or not a recording, the commands print the readable part and then an
    error with the line number; the exit status is 1.
    """


for command in (show, stats):
    recording.add_command(command)


@recording.command(short_help="Convert a recording to a Perfetto trace, an HTTP archive or a page.")
@file_argument
@click.option(
    "--perfetto", "form", flag_value="perfetto", help="A trace for ui.perfetto.dev and chrome://tracing."
)
@click.option("--har", "form", flag_value="har", help="An HTTP archive (HAR 1.2) of the requests of pages.")
@click.option("--html", "form", flag_value="html", help="One page with a timeline and a table with filters.")
@output_option("The file; by default standard output.", dash=True, default="-")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --html: maximum number of messages [200000].",
)
def export(file: Path, form: str | None, output: Path, limit: int | None) -> None:
    """Write a recording in another format, with the redaction of the recording.

    --har needs requests in the recording: a page's session must have enabled the Network domain.

    \b
    Examples:
      cdpengine recording export --perfetto traffic.jsonl -o traffic.json
      cdpengine recording export --har traffic.jsonl -o traffic.har
      cdpengine recording export --html traffic.jsonl.zst -o traffic.html
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.recording import open_recording

    if form is None:
        raise click.UsageError("give --perfetto, --har or --html")
    if limit is not None and form != "html":
        raise click.UsageError("--limit needs --html")
    if str(output) == "-" and sys.stdout.isatty():
        raise click.UsageError("give -o FILE: standard output is a terminal")
    if str(output) != "-" and output.exists() and file.exists() and output.samefile(file):
        raise click.UsageError("-o is the recording itself")
    with open_recording(file) as recording:
        pieces = {"perfetto": _perfetto, "har": _har, "html": _html}[form](recording, limit)
        first = next(pieces)  # an error is reported before the file is created
        try:
            with _open_output(output) as stream:
                stream.write(first)
                stream.writelines(pieces)
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FileNotWrittenError("the export", str(output), os_reason(error)) from error
        if print_damage(recording):
            raise Failed


def _perfetto(recording: Recording, _limit: int | None) -> Iterator[bytes]:
    from cdpengine.debug.reading.perfetto import trace_document

    return trace_document(recording.header, lines_of(recording))


def _har(recording: Recording, _limit: int | None) -> Iterator[bytes]:
    from cdpengine.debug.reading.har import archive_document

    try:
        yield archive_document(recording, lines_of(recording))
    except FileUnreadableError:
        print_damage(recording)
        raise


def _html(recording: Recording, limit: int | None) -> Iterator[bytes]:
    from cdpengine.debug.reading.display import MOST_LINES, page_document

    yield from page_document(recording.header, recording.path.name, lines_of(recording), limit or MOST_LINES)


@contextmanager
def _open_output(output: Path) -> Iterator[IO[bytes]]:
    if str(output) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    from cdpengine._launch.private_files import new_file

    # As with the recording itself, only the owner may read the content of a page.
    with new_file(output, overwrite=may_overwrite()) as stream:
        yield stream


@recording.command(short_help="Serve a recording as a browser.")
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
    help="Additional time, beyond the recorded one, that a call waits for the messages before its reply.",
)
@click.option("--strict", is_flag=True, help="Require the recorded input texts.")
def replay(file: Path, port: int, patience_ms: int, strict: bool) -> None:
    """Serve the recording FILE as a browser's endpoint on this machine, until a call diverges, or Ctrl-C.

    Programs connect as to a browser, once each: each recorded connection serves one client. Replies and events
    come in the recorded order. The first unrecorded call ends the command with the expected call and exit status
    1; the program gets a protocol error. Redacted values match any value. With --strict, input texts must have
    their recorded fingerprints.
    """
    from cdpengine import debug

    async def run() -> None:
        async with debug.replay(file, port=port, patience=patience_ms / 1000, strict=strict) as running:
            say(running.endpoint)
            count = _print_passed_over(running.passed_over)
            try:
                await running.until_divergence()
            finally:
                _print_passed_over(running.passed_over[count:])

    trio.run(run)


def _print_passed_over(passed_over: Sequence[str]) -> int:
    for what in passed_over:
        say(f"not replayed: {what}", err=True)
    return len(passed_over)


# --- diff ----------------------------------------------------------------------------------------------------

_STYLES = {"-": "red", "+": "green", "bold": "bold", "head": "cyan", "notice": "yellow"}
_MUCH = 2.0
"""Minimum factor between the medians of a method that are printed."""

_ENOUGH_MS = 1.0
"""Medians below this are noise, in milliseconds."""


@recording.command(short_help="Compare two recordings.")
@click.argument("first", type=click.Path(path_type=Path))
@click.argument("second", type=click.Path(path_type=Path))
@click.option("--full", is_flag=True, help="Print whole commands and all counts.")
@json_option
def diff(first: Path, second: Path, full: bool, as_json: bool) -> None:
    """List the differences of the SECOND recording from the FIRST, session by session.

    Ids, times and ports are ignored. The recordings are equal if each session ("page 1") was sent the same
    commands in the same order, had the same refusals, and sent the same kinds of events: the exit status is 0
    then, and 1 otherwise. Counts of events and durations differ from run to run: they are ignored.

    \b
    Example:
      cdpengine recording diff good.jsonl bad.jsonl
    """  # noqa: D301 - \b keeps click from re-wrapping the paragraph
    from cdpengine.debug.reading.compare import Commands, Conduct, compare
    from cdpengine.debug.reading.recording import open_recording

    commands = Commands()
    conducts = []
    with errors_as_json(enabled=as_json), ExitStack() as files:
        # Open both before reading either one: a file that is not a recording is refused immediately.
        recordings = [files.enter_context(open_recording(path)) for path in (first, second)]
        for recording in recordings:
            conduct = Conduct(commands)
            conduct.add_all(lines_of(recording))
            conducts.append(conduct)
        comparison = compare(conducts[0], conducts[1], commands)
        if as_json:
            damage = {
                str(recording.path): [
                    {"line": line, "reason": reason} for line, reason in damage_of(recording)
                ]
                for recording in recordings
            }
            print_json({"same": comparison.same, "damage": damage, "comparison": comparison})
        else:
            _print(comparison, str(first), str(second), full=full)
        damaged = [print_damage(recording) for recording in recordings]
    if any(damaged) or not comparison.same:
        raise Failed


def _print(comparison: Comparison, first: str, second: str, *, full: bool) -> None:
    out = _Printer(full=full)
    out.line(f"--- {first}", "bold")
    out.line(f"+++ {second}", "bold")
    for mark, roles in (("-", comparison.only_first), ("+", comparison.only_second)):
        for name in roles:
            out.line(f"{mark} session: {name}", mark)
    for role in comparison.roles:
        _print_role(out, role)
    _print_counts(out, comparison.counts, full=full)
    if comparison.same:
        out.line("the same commands, refusals and kinds of events", "bold")


def _print_role(out: _Printer, role: RoleDifference) -> None:
    out.line(f"@@ {role.role}: {role.commands[0]} and {role.commands[1]} commands @@", "head")
    if role.first is not None:
        out.line("  too different to list all; the first difference:")
        out.line(f"- {role.first[0]}", "-")
        out.line(f"+ {role.first[1]}", "+")
    for change in role.changes or ():
        text = f"  ... {change.command} ..." if not change.mark else f"{change.mark} {change.command}"
        out.line(text, change.mark)
    for command in role.moved:
        out.line(f"  in another order: {command}", "notice")
    for text, before, after in role.refusals:
        out.line(f"  refused {before} and {after} times: {text}", "notice")
    for method, before, after in role.events:
        mark, count = ("-", before) if before else ("+", after)
        out.line(f"{mark} event {method} ({count})", mark)


def _print_counts(out: _Printer, counts: tuple[Count, ...], *, full: bool) -> None:
    listed = [count for count in counts if full or _is_much(count) or count.counts[0] != count.counts[1]]
    if not listed:
        return
    from cdpengine.cli.output import print_table
    from cdpengine.shell.tables import Column

    out.line("counts, and medians in ms:", "head")
    medians = [count.medians if None not in count.medians else (None, None) for count in listed]
    columns = [
        Column("method", [escape_line(count.method) for count in listed], figure=False),
        Column("first", [f"{count.counts[0]:,}" for count in listed]),
        Column("second", [f"{count.counts[1]:,}" for count in listed]),
        Column("first ms", [_milliseconds(before) for before, _ in medians], 2),
        Column("second ms", [_milliseconds(after) for _, after in medians], 2),
        Column("times", ["" if count.ratio is None else f"x {count.ratio:.2f}" for count in listed], 1),
    ]
    much = [number for number, count in enumerate(listed) if _is_much(count)]
    print_table(columns, width=None if full else limit(), highlighted=much, advice="--full shows them")


def _milliseconds(median: float | None) -> str:
    return "" if median is None else f"{median:,.1f}"


def _is_much(count: Count) -> bool:
    ratio = count.ratio
    if ratio is None or max(each or 0.0 for each in count.medians) < _ENOUGH_MS:
        return False
    return ratio >= _MUCH or ratio <= 1 / _MUCH


class _Printer:
    """Prints lines: escaped for a terminal, cut at its width."""

    def __init__(self, *, full: bool) -> None:
        self._columns = None if full else width()
        self._paint = painter(_STYLES)

    def line(self, text: str, style: str = "") -> None:
        say(text, columns=self._columns, paint=lambda line: self._paint(line, style))
