"""The files of one run: its results, its failures, and its journal, which identifies the run.

Rule: the files are read before any work. An input with a line in the results or failures has its outcome. The
journal's first line lists the settings that must not change when a run is resumed: the function, the file of
failures, and whether inputs are marked before they begin. Its other lines are these marks. A failure whose input
completed later is removed from its file.
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
from cdpengine.pool.mapping.inputs import MapInput, Recorded
from cdpengine.pool.mapping.journal import encode_begun
from cdpengine.pool.mapping.line_file import LineFile


def failures_beside(output: Path) -> Path:
    """Return the default file for failures: "out.failures.jsonl" for "out.jsonl"."""
    return output.with_name(f"{output.stem}.failures.jsonl")


def journal_beside(output: Path) -> Path:
    """Return the journal of a run: "out.jsonl.journal" for "out.jsonl"."""
    return output.with_name(f"{output.name}.journal")


@attrs.frozen(kw_only=True)
class MapFiles:
    """The inputs and outputs of a run, and how it resumes.

    - `function`: name of the function; another function cannot resume with the same files.
    - `inputs`: file with the inputs, one a line; None for standard input.
    - `output`: file for results, with the journal in the same folder. `failures`: file for failures.
    - `folder`: folder for values that are bytes, one file each; None writes them to their line as base64.
    - `once`: inputs are marked before they begin, and an input without an outcome is not run again.
    - `retry_failures`: inputs that failed before are run again; not with `once`.
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
    """The open files of a run. `recorded`: inputs that need no run; `begun`: marked inputs."""

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
    """Number of failure lines whose input has a later outcome."""

    @classmethod
    def open(cls, settings: MapFiles) -> Self:
        """Open, lock and read the files. Remove incomplete lines.

        Raises InvalidArgumentError if the files belong to another run or another run uses them, and
        FileNotWrittenError.
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
        """Keep only the last line of each failure, and none of a completed input."""
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
        """Mark an input as begun, and flush the mark to disk. Raises FileNotWrittenError."""
        self.journal.append(encode_begun(entry))
        self.journal.synchronize()

    def add_result(self, entry: MapInput, line: bytes) -> None:
        """Append the line of a completed input. Raises FileNotWrittenError."""
        self.output.append(line)
        if self.settings.retry_failures:
            self.recorded.add(entry.line, entry.digest)
            self._outdated += self._failed.has(entry.line)

    def add_failure(self, entry: MapInput, line: bytes) -> None:
        """Append the line of a failed input. Raises FileNotWrittenError."""
        self.failures.append(line)
        if self.settings.retry_failures:
            self._outdated += not self._failed.add(entry.line, entry.digest)

    def synchronize(self) -> None:
        """Flush all outcomes to disk (fsync). Raises FileNotWrittenError."""
        for file in (self.output, self.failures, self.journal):
            file.synchronize()

    def close(self) -> None:
        """Synchronize and close the files. Raises FileNotWrittenError after closing them."""
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
                what=what, given=f"{path}, which is also the {other}", expected="another file"
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
    """Return the journal's settings of its run, or None if its first line is missing or incomplete."""
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


_SETTING_NAMES = {
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
            given=f"{settings.output}, which is missing although {settings.journal.name} exists",
            expected=f"all files of a run; to start over, also remove {settings.journal.name} and the failures",
        )
    for name, now in _header(settings).items():
        if header.get(name) != now:
            raise InvalidArgumentError(
                what=_SETTING_NAMES[name],
                given=f"{now} for {settings.output}, whose run began with {header.get(name)}",
                expected="the same as before, or another output",
            )
