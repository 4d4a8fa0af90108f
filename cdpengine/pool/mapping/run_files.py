"""The files of one run: its results, its failures, and its journal, which says of what run they are.

Rule: what they hold is read before anything is done. An input with a line among the results or the failures has
its outcome. The journal's first line says what has to stay the same when a run goes on: the function, the file of
failures, and whether inputs are marked before they are begun; those marks are its other lines. A failure whose
input was done later is taken out of its file.
"""

from __future__ import annotations

import contextlib
import os
from array import array
from pathlib import Path
from typing import Any, Self

import attrs

from cdpengine import _json
from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.mapping.inputs import MapInput
from cdpengine.pool.mapping.journal import Recorded, encode_begun
from cdpengine.pool.mapping.line_file import LineFile


def failures_beside(output: Path) -> Path:
    """Return where failures go if nobody says otherwise: "out.failures.jsonl" for "out.jsonl"."""
    return output.with_name(f"{output.stem}.failures.jsonl")


def journal_beside(output: Path) -> Path:
    """Return the journal of a run: "out.jsonl.journal" for "out.jsonl"."""
    return output.with_name(f"{output.name}.journal")


@attrs.frozen(kw_only=True)
class MapFiles:
    """What a run reads and writes, and how it goes on with what is there.

    - `function`: names what is done; another one cannot go on with the same files.
    - `inputs`: lines of inputs; None for standard input.
    - `output`: where results go; the journal is beside it. `failures`: where failures go.
    - `folder`: where values that are bytes go, each as a file; None leaves them in their line, as base64.
    - `once`: an input is marked before it is begun, and one without an outcome is not begun again.
    - `retry_failures`: inputs that failed before are done again; not with `once`.
    """

    function: str
    inputs: Path | None
    output: Path
    failures: Path = attrs.field(default=attrs.Factory(lambda files: failures_beside(files.output), True))
    folder: Path | None = None
    once: bool = False
    retry_failures: bool = False

    def __attrs_post_init__(self) -> None:
        if self.once and self.retry_failures:
            raise InvalidArgumentError(
                what="retry_failures",
                given="True with `once`",
                expected="one of them: inputs are begun once only",
            )

    @property
    def journal(self) -> Path:
        """The journal."""
        return journal_beside(self.output)


@attrs.define(eq=False)
class RunFiles:
    """The open files of a run. `recorded`: inputs that are not done any more; `begun`: those with a mark."""

    settings: MapFiles
    journal: LineFile
    output: LineFile
    failures: LineFile
    recorded: Recorded = attrs.field(factory=Recorded)
    begun: Recorded = attrs.field(factory=Recorded)
    done_before: int = 0
    failed_before: int = 0
    _failed: Recorded = attrs.field(factory=Recorded)
    _outdated: int = 0
    """Lines of failures whose inputs have another outcome since."""

    @classmethod
    def open(cls, settings: MapFiles) -> Self:
        """Open, lock and read them; leave whole lines only.

        Raises InvalidArgumentError where they are not those of such a run, or another one has them;
        ResultsNotWrittenError.
        """
        _check_names(settings)
        with contextlib.ExitStack() as on_failure:
            journal = LineFile.open(settings.journal, what="journal")
            on_failure.callback(journal.close, remove_empty=True)
            header = _read_header(journal)
            _check_header(settings, header)
            output = LineFile.open(settings.output, what="output")
            on_failure.callback(output.close, remove_empty=header is None)
            failures = LineFile.open(settings.failures, what="failures")
            on_failure.callback(failures.close, remove_empty=True)
            files = cls(settings, journal, output, failures)
            files._read(header)
            on_failure.pop_all()
        return files

    def _read(self, header: dict[str, Any] | None) -> None:
        self.output.scan(self.recorded.add)
        self.done_before = self.recorded.count
        self.failures.scan(self._take_failure)
        self.failed_before = self._failed.count
        if header is None:
            self.journal.append(_header_line(self.settings))
        elif self.settings.once:
            self.journal.scan(self.begun.add, start=len(_header_line(self.settings)))
        if self._outdated:
            self._take_out_outdated()
        if not self.settings.retry_failures:
            self.recorded.add_all(self._failed)

    def _take_failure(self, line: int, digest: str) -> None:
        if self.recorded.has(line) or not self._failed.add(line, digest):
            self._outdated += 1

    def _take_out_outdated(self) -> None:
        """Leave the last line of each failure alone, and none of an input that was done."""
        places = array("I", bytes(4 * (self._failed.highest + 1)))
        count = 0

        def note(line: int, _digest: str) -> None:
            nonlocal count
            if line <= self._failed.highest:
                places[line] = count
            count += 1

        self.failures.scan(note)
        self.failures.keep_only(
            lambda place, line: (
                not self.recorded.has(line) and self._failed.has(line) and places[line] == place
            )
        )
        self._outdated = 0

    # --- while it runs ---------------------------------------------------------------------------------------

    def mark_begun(self, entry: MapInput) -> None:
        """Mark an input as begun, so that it outlasts a power cut. Raises ResultsNotWrittenError."""
        self.journal.append(encode_begun(entry))
        self.journal.synchronize()

    def add_result(self, entry: MapInput, line: bytes) -> None:
        """Append the line of an input that is done. Raises ResultsNotWrittenError."""
        self.output.append(line)
        if self.settings.retry_failures:
            self.recorded.add(entry.line, entry.digest)
            self._outdated += self._failed.has(entry.line)

    def add_failure(self, entry: MapInput, line: bytes) -> None:
        """Append the line of an input that failed. Raises ResultsNotWrittenError."""
        self.failures.append(line)
        if self.settings.retry_failures:
            self._outdated += not self._failed.add(entry.line, entry.digest)

    def synchronize(self) -> None:
        """Have all outcomes outlast a power cut. Raises ResultsNotWrittenError."""
        for file in (self.output, self.failures, self.journal):
            file.synchronize()

    def close(self) -> None:
        """Synchronize and close them. Raises ResultsNotWrittenError; they are closed then, too."""
        with contextlib.ExitStack() as closing:
            for file in (self.journal, self.output):
                closing.callback(file.close)
            closing.callback(self.failures.close, remove_empty=True)
            self.synchronize()
            if self._outdated:
                self._take_out_outdated()


def _check_names(settings: MapFiles) -> None:
    named = {
        "inputs": settings.inputs,
        "output": settings.output,
        "failures": settings.failures,
        "journal": settings.journal,
    }
    seen: dict[str, str] = {}
    for what, path in named.items():
        if path is not None and (other := seen.setdefault(os.path.realpath(path), what)) != what:
            raise InvalidArgumentError(
                what=what, given=f"{path}, which is the {other} too", expected="another file"
            )


# --- the journal's first line --------------------------------------------------------------------------------

_FORMAT = 1
_LONGEST_HEADER = 2**16


def _header(settings: MapFiles) -> dict[str, Any]:
    return {
        "map": _FORMAT,
        "function": settings.function,
        "failures": os.path.relpath(
            os.path.realpath(settings.failures), os.path.realpath(settings.output.parent)
        ),
        "once": settings.once,
    }


def _header_line(settings: MapFiles) -> bytes:
    return _json.encode(_header(settings)) + b"\n"


def _read_header(journal: LineFile) -> dict[str, Any] | None:
    """Return what the journal says of its run; None where nothing was written to it, or not the whole line."""
    with journal.reading() as stream:
        line = stream.readline(_LONGEST_HEADER)
    if not line.endswith(b"\n") and len(line) == journal.size and (not line or line[:1] in b"{\0"):
        journal.cut_to(0)
        return None
    try:
        header = _json.decode_leniently(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("map") != _FORMAT:
        raise InvalidArgumentError(
            what="journal", given=f"{journal.path}, which `map` did not write", expected="another output"
        )
    return header


_SAID = {
    "function": "the function",
    "failures": "the file of failures",
    "once": "once",
}


def _check_header(settings: MapFiles, header: dict[str, Any] | None) -> None:
    if header is None:
        return
    if not settings.output.exists():
        raise InvalidArgumentError(
            what="output",
            given=f"{settings.output}, which is gone while {settings.journal.name} is there",
            expected=f"all files of a run; to begin anew, remove {settings.journal.name} and the failures too",
        )
    for name, now in _header(settings).items():
        if header.get(name) != now:
            raise InvalidArgumentError(
                what=_SAID[name],
                given=f"{now} for {settings.output}, which was begun with {header.get(name)}",
                expected="what it was begun with, or another output",
            )
