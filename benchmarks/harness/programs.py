"""Programs in separate sessions that answer lines of JSON.

Rule: nothing of a program survives its end: it is killed with all its descendants, in any group or session. Only
processes with our mark in their environment are killed. Chrome's processes without it end with their parent.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import attrs
import trio

from benchmarks.site import ROOT

MARK = "CDPENGINE_BENCHMARK_PEER"  # environment variable with the mark
STOP_PATIENCE = 6.0  # timeout for a program to end after its input, in seconds
KILL_ROUNDS = 20
PAUSE = 0.05  # seconds; a killed process needs a moment to end
CHUNK = 1 << 20
SHOWN = 200


class Cannot(Exception):
    """A side cannot perform the measured task. The message is the reason."""


def say(text: str) -> None:
    """Print progress to standard error."""
    print(text, file=sys.stderr, flush=True)


@attrs.define(eq=False)
class Program:
    """A running program. Its standard error goes to a file, so that it never blocks."""

    process: trio.Process
    mark: str
    _errors: IO[bytes]
    _rest: bytearray = attrs.field(factory=bytearray)

    @classmethod
    async def start(
        cls, command: Sequence[str], more: Mapping[str, str] | None = None, cwd: Path = ROOT
    ) -> Program:
        """Start a program. `more` is added to its environment. Raises Cannot if it cannot be started."""
        mark = secrets.token_hex(8)
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        try:
            process = await trio.lowlevel.open_process(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(more or {}), MARK: mark},
                start_new_session=True,
                cwd=cwd,
            )
        except OSError as error:
            errors.close()
            raise Cannot(f"cannot be started: {error}") from None
        return cls(process, mark, errors)

    async def send(self, message: object) -> None:
        assert self.process.stdin is not None
        await self.process.stdin.send_all(json.dumps(message).encode() + b"\n")

    async def line(self) -> bytes:
        """Return the next line of its output. Raises EOFError at the end."""
        assert self.process.stdout is not None
        searched = 0
        while (end := self._rest.find(b"\n", searched)) < 0:
            searched = len(self._rest)
            more = await self.process.stdout.receive_some(CHUNK)
            if not more:
                raise EOFError
            self._rest += more
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        return line

    async def receive(self) -> dict[str, Any]:
        """Return the next object of its output. Other lines, such as banners of libraries, are skipped."""
        while True:
            with contextlib.suppress(json.JSONDecodeError):
                found = json.loads(await self.line())
                if isinstance(found, dict):
                    return found

    @asynccontextmanager
    async def answering(self, what: str, patience: float) -> AsyncIterator[None]:
        """Limit the block to `patience` seconds. Raises Cannot if the program does not answer `what`, or ends."""
        try:
            with trio.fail_after(patience):
                yield
        except trio.TooSlowError:
            raise Cannot(f"did not answer {what} within {patience:g} s") from None
        except (trio.BrokenResourceError, trio.ClosedResourceError, EOFError):
            raise Cannot(f"ended at {what}{await self.last_words()}") from None

    async def last_words(self) -> str:
        """Return ": " and the last line of its standard error, or ""."""
        with trio.move_on_after(1):
            await self.process.wait()  # its last output is available then
        self._errors.seek(0)
        lines = self._errors.read().decode("utf-8", "replace").strip().splitlines()
        return f": {lines[-1][:SHOWN]}" if lines else ""

    async def end(self, patience: float = STOP_PATIENCE) -> None:
        """Close its input, wait `patience` seconds, and kill all that is left of it."""
        with trio.CancelScope(shield=True):
            assert self.process.stdin is not None
            await self.process.stdin.aclose()
            with trio.move_on_after(patience):
                await self.process.wait()
            with contextlib.suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
            await kill_marked(self.mark)
            assert self.process.stdout is not None
            await self.process.stdout.aclose()
            self._errors.close()


@asynccontextmanager
async def open_program(
    command: Sequence[str], more: Mapping[str, str] | None = None, cwd: Path = ROOT
) -> AsyncIterator[Program]:
    program = await Program.start(command, more, cwd)
    try:
        yield program
    finally:
        await program.end()


def marked(mark: str) -> list[int]:
    """Return the ids of all living processes with this mark. Empty on systems without /proc."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to another user
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return found


async def kill_marked(mark: str) -> None:
    empty = 0
    for _ in range(KILL_ROUNDS):
        left = marked(mark)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        # Two empty scans are required: a starting process briefly has no environment, and so no mark.
        empty = 0 if left else empty + 1
        if empty == 2:
            return
        await trio.sleep(PAUSE)
