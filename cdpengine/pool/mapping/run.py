"""A function run for each line of a file, with outcomes appended to files, so that the run can be resumed.

Rule: an input with a written outcome is never run again. An input that was running at the end of the program has
no outcome. It is run again, or with `once` reported as a failure of type "Interrupted". A result that cannot be
written ends the run. Written outcomes survive a kill. Outcomes older than `SYNCHRONIZED_EACH` survive a power
failure.
"""

from __future__ import annotations

import os
import stat
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self, Unpack

import attrs
import trio

from cdpengine import _json
from cdpengine._json_values import to_plain
from cdpengine._launch.private_files import write_private
from cdpengine._nursery import open_body_nursery
from cdpengine.errors import (
    EngineError,
    FileNotWrittenError,
    InvalidArgumentError,
    JobCancelledError,
    PackageMissingError,
    PoolUnavailableError,
    os_reason,
)
from cdpengine.errors.texts import cut, hide_secrets
from cdpengine.pool.jobs import JobFunction, JobOptions, JobResult, JobResults, address_of
from cdpengine.pool.mapping.inputs import InputReader, MapInput, changed, survey
from cdpengine.pool.mapping.journal import encode_failure, encode_value
from cdpengine.pool.mapping.line_file import not_written
from cdpengine.pool.mapping.run_files import MapFiles, RunFiles

if TYPE_CHECKING:
    from cdpengine._api.browser import Page

SYNCHRONIZED_EACH = 1.0
"""Interval between flushes to disk, in seconds."""

_FINISHING = 60.0
"""Maximum time for writing a line or closing the files while cancellation is blocked, in seconds."""

_LONGEST_REASON = 1000

_LEFT = (PoolUnavailableError, JobCancelledError)
"""Job errors that are independent of the input, which is left for the next run."""


class Mapper(Protocol):
    """A runner of jobs: a BrowserPool or a BrowserCluster."""

    def map(
        self,
        function: JobFunction[Any, Any],
        items: Any,
        *,
        ahead: int | None = None,
        **options: Unpack[JobOptions],
    ) -> JobResults[Any]:
        """Run the function for each item."""


@attrs.define
class MapCounts:
    """The progress of a run.

    `total`: number of inputs, None while unknown. `done` and `failed`: outcomes of this run; `done_before` and
    `failed_before`: outcomes of earlier runs. `begun`: start time on trio's clock.
    """

    total: int | None = None
    done_before: int = 0
    failed_before: int = 0
    done: int = 0
    failed: int = 0
    begun: float = attrs.field(factory=trio.current_time)

    @property
    def rate(self) -> float:
        """Outcomes a second in this run."""
        return (self.done + self.failed) / max(1e-9, trio.current_time() - self.begun)

    @property
    def all_done(self) -> int:
        """Completed inputs, including earlier runs."""
        return self.done_before + self.done

    @property
    def all_failed(self) -> int:
        """Failed inputs, including earlier runs."""
        return self.failed_before + self.failed

    @property
    def left(self) -> int | None:
        """Inputs without an outcome, or None while unknown."""
        return None if self.total is None else self.total - self.all_done - self.all_failed


@attrs.define(eq=False)
class MapRun:
    """A run. `async with MapRun.open(files) as run`, then `await run.do(pool, function)`."""

    counts: MapCounts
    _files: RunFiles
    _reader: InputReader
    _streamed: bool

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: MapFiles) -> AsyncIterator[Self]:
        """Open the files of a run for a block, and read their contents. Leaving the block completes them.

        Raises InvalidArgumentError if the files belong to another run or to other inputs, or another run uses
        them, and FileNotWrittenError.
        """
        with ExitStack() as inputs:
            read, name, descriptor = await _open_inputs(settings.inputs, inputs)
            streamed = not stat.S_ISREG(os.fstat(descriptor).st_mode)
            if settings.folder is not None:
                _make_folder(settings.folder)
            files = await trio.to_thread.run_sync(RunFiles.open, settings)
            try:
                counts = MapCounts(done_before=files.done_before, failed_before=files.failed_before)
                if settings.retry_failures:
                    counts.failed_before = 0
                if not streamed:
                    tick = trio.from_thread.check_cancelled
                    counts.total = await trio.to_thread.run_sync(survey, name, read, files.recorded, tick)
                    os.lseek(descriptor, 0, os.SEEK_SET)
                    counts.begun = trio.current_time()
                async with open_body_nursery() as nursery:
                    nursery.start_soon(_synchronize_now_and_then, files)
                    yield cls(counts, files, InputReader(name, read, files.recorded), streamed)
            finally:
                with trio.move_on_after(_FINISHING, shield=True):
                    await trio.to_thread.run_sync(files.close)

    async def do(
        self,
        mapper: Mapper,
        function: JobFunction[Any, Any],
        *,
        suffix: str | None = None,
        far: bool = False,
        ahead: int | None = None,
        **options: Unpack[JobOptions],
    ) -> None:
        """Run `await function(page, value)` for each input without an outcome, and write the result.

        `suffix`: with a folder, values other than bytes are also written as JSON to files with that suffix. `far`:
        the function runs in another process; with `once`, inputs are then marked when they are submitted. `ahead`:
        maximum number of inputs read without a written outcome; the default is the mapper's. `options` are options
        of jobs (`JobOptions`). Raises the errors of `mapper.map`, FileNotWrittenError, PackageMissingError, and
        InvalidArgumentError if standard input has other lines than before.
        """
        once = self._files.settings.once
        work = OnInput(function, self._mark_begun if once and not far else None)
        items = self._inputs(marking=once and far)
        options.setdefault("url", address_of_input)
        async with mapper.map(work, items, ahead=ahead, **options) as results:
            async for result in results:
                await self._record(result, suffix)
        if self._streamed:
            self.counts.total = self._reader.count

    async def _inputs(self, *, marking: bool) -> AsyncIterator[MapInput]:
        begun = self._files.begun
        while (some := await self._read_some()) is not None:
            for entry in some:
                if entry.problem:
                    await self._fail(entry, "InvalidInput", entry.problem)
                elif begun.has(entry.line):
                    if not begun.matches(entry.line, entry.digest):
                        raise changed(str(self._files.settings.inputs or "standard input"), entry.line)
                    reason = "it was running when an earlier run ended, and may begin only once"
                    await self._fail(entry, "Interrupted", reason)
                else:
                    if marking:
                        await self._mark_begun(entry)
                    yield entry

    async def _read_some(self) -> list[MapInput] | None:
        # Standard input may block forever. The reading thread is then abandoned.
        return await trio.to_thread.run_sync(self._reader.read_some, abandon_on_cancel=self._streamed)

    # --- outcomes --------------------------------------------------------------------------------------------

    async def _mark_begun(self, entry: MapInput) -> None:
        await trio.to_thread.run_sync(self._files.mark_begun, entry)

    async def _fail(self, entry: MapInput, kind: str, message: str) -> None:
        line = encode_failure(entry, {"type": kind, "message": message}, attempts=0, seconds=0)
        await self._write(partial(self._add_failure, entry, line))

    async def _record(self, result: JobResult[Any], suffix: str | None) -> None:
        if isinstance(result.error, PackageMissingError):
            raise result.error  # affects all inputs, which are left until it is installed
        if not isinstance(result.error, _LEFT):
            await self._write(partial(self._add_outcome, result, suffix))

    async def _write(self, write: Callable[[], bool]) -> None:
        """Write and count an outcome. It is written even during cancellation."""
        with trio.move_on_after(_FINISHING, shield=True):
            is_done = await trio.to_thread.run_sync(write)
            self.counts.done += is_done
            self.counts.failed += not is_done

    def _add_outcome(self, result: JobResult[Any], suffix: str | None) -> bool:
        entry: MapInput = result.item  # type: ignore[assignment]  # the items are those of `_inputs`
        attempts = len(result.attempts)
        seconds = sum(attempt.seconds for attempt in result.attempts)
        error = result.error
        if error is None:
            try:
                value = self._place(entry, result.value, suffix)
                line = encode_value(entry, value, attempts=attempts, seconds=seconds)
            except FileNotWrittenError:
                raise
            except Exception as refused:  # noqa: BLE001 - a value that cannot be written down is the job's failure
                error = refused
            else:
                self._files.add_result(entry, line)
                return True
        line = encode_failure(entry, describe_failure(error), attempts=attempts, seconds=seconds)
        return self._add_failure(entry, line)

    def _add_failure(self, entry: MapInput, line: bytes) -> bool:
        self._files.add_failure(entry, line)
        return False

    def _place(self, entry: MapInput, value: object, suffix: str | None) -> object:
        """Return a value, or the name of the file with the value."""
        folder = self._files.settings.folder
        if folder is None:
            return value
        if isinstance(value, bytes | bytearray | memoryview):
            content = bytes(value)
            suffix = _suffix_of(content)
        elif suffix is not None:
            content = _json.encode_text(to_plain(value)).encode()
        else:
            return value
        path = folder / f"{entry.line}-{entry.digest}{suffix}"
        try:
            write_private(path, content)
        except OSError as error:
            raise not_written(path, error) from error
        return str(path)


@attrs.frozen
class OnInput:
    """Adapter of a function of a page and a value to a function of a page and an input. `begin` runs first."""

    function: JobFunction[Any, Any]
    begin: Callable[[MapInput], Awaitable[None]] | None = None

    async def __call__(self, page: Page, entry: MapInput) -> Any:
        """Call the function with the input's value."""
        if self.begin is not None:
            await self.begin(entry)
        return await self.function(page, entry.value)


def address_of_input(entry: MapInput) -> str | None:
    """Return the address of an input, or None."""
    return address_of(entry.value)


def describe_failure(error: Exception) -> dict[str, str]:
    """Return an error's type and message without secrets, and its location in the user's code."""
    if isinstance(error, EngineError):
        return {"type": type(error).__name__, "message": str(error)}
    description = {
        "type": type(error).__name__,
        "message": cut(hide_secrets(str(error)[: 2 * _LONGEST_REASON]), _LONGEST_REASON),
    }
    if frames := traceback.extract_tb(error.__traceback__):
        last = frames[-1]
        description["at"] = f"{Path(last.filename).name}:{last.lineno} in {last.name}"
    return description


_SUFFIXES = ((b"\x89PNG", ".png"), (b"\xff\xd8\xff", ".jpg"), (b"%PDF", ".pdf"), (b"RIFF", ".webp"))


def _suffix_of(content: bytes) -> str:
    return next((suffix for start, suffix in _SUFFIXES if content.startswith(start)), ".bin")


async def _open_inputs(path: Path | None, closing: ExitStack) -> tuple[Callable[[int], bytes], str, int]:
    """Return a read function for the inputs, their name, and their descriptor."""
    if path is None:
        await trio.lowlevel.checkpoint()
        return partial(os.read, 0), "standard input", 0
    flags = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    try:
        # Opening a named pipe waits for a writer, possibly forever.
        descriptor = await trio.to_thread.run_sync(os.open, path, flags, abandon_on_cancel=True)
        closing.callback(os.close, descriptor)
        os.read(descriptor, 0)  # fails for a folder
    except OSError as error:
        raise InvalidArgumentError(
            what="inputs", given=str(path), expected=f"a readable file ({os_reason(error)})"
        ) from None
    return partial(os.read, descriptor), str(path), descriptor


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgumentError(
            what="folder of files",
            given=str(folder),
            expected=f"a folder that can be created ({os_reason(error)})",
        ) from None


async def _synchronize_now_and_then(files: RunFiles) -> None:
    while True:
        await trio.sleep(SYNCHRONIZED_EACH)
        await trio.to_thread.run_sync(files.synchronize)
