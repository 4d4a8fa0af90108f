"""Running a command and recording the browsers that it starts.

Rule: the command has this program's terminal, standard streams and process group. Signals to this program are
passed on to the command, and this program ends after it. Ctrl-C in a terminal reaches both, so it is not passed
on.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import attrs
import trio

from cdpengine._launch.find import this_machine
from cdpengine._launch.owned_folder import RECORDERS_PREFIX, OwnedFolder, remove_owned
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.instruments import Instruments
from cdpengine.debug.recording.recorder import record_traffic
from cdpengine.debug.recording.traffic_recorder import LIMIT
from cdpengine.debug.wrapping.port_relay import SharedParts
from cdpengine.debug.wrapping.wrapped_browsers import WrappedBrowsers
from cdpengine.debug.wrapping.wrappers import SOCKET, Wrappers, make_wrappers
from cdpengine.errors import InvalidArgumentError, os_reason

_SIGNALLED = 128
_NOT_FOUND = 127


@attrs.frozen
class RecordedCommand:
    """The outcome of a command.

    `status` is its exit status, 128 + N if signal N ended it. `browsers` and `messages` are the numbers of
    recorded browsers and messages. `ended_browsers` is the number of browsers that still ran after the command and
    were ended. `places` are the paths of the wrapped browsers, `mounted` whether the wrappers were mounted there.
    """

    status: int
    browsers: int
    messages: int
    ended_browsers: int
    places: Sequence[Path]
    mounted: bool


async def record_command(
    command: Sequence[str],
    file: Path,
    *,
    browser: Path | None = None,
    mounted: bool = True,
    unredacted: bool = False,
    keep_arguments: bool = False,
    limit: int = LIMIT,
    overwrite: bool = False,
    note: Callable[[str], None],
) -> RecordedCommand:
    """Run `command` and record the traffic of all browsers that it starts to `file`.

    `browser` is a further executable to record. `mounted=False` replaces no paths, only names on the PATH. The
    other options are those of `proxy`. `note` is called with a line for each browser that is not recorded.

    Raises InvalidArgumentError without a browser, on Windows, and for a file that cannot be created, and
    FileNotWrittenError if the recording could not be written.
    """
    if sys.platform == "win32":
        raise InvalidArgumentError(
            what="system", given="Windows", expected="Linux or macOS, to record a command"
        )
    import httpx

    instruments = Instruments()
    async with (
        _folder() as folder,
        record_traffic(
            instruments,
            file,
            unredacted=unredacted,
            keep_arguments=keep_arguments,
            limit=limit,
            overwrite=overwrite,
        ) as recorder,
        httpx.AsyncClient(trust_env=False, timeout=None) as http,  # noqa: S113 - the proxy has timeouts
    ):
        make = lambda: make_wrappers(this_machine(), folder, browser, mounted=mounted)  # noqa: E731
        wrappers = await trio.to_thread.run_sync(make)
        shared = SharedParts(instruments, http, folder / "missing")
        browsers = WrappedBrowsers(wrappers.executables, shared, note)
        with contextlib.closing(wrappers):
            async with open_body_nursery() as nursery:
                await nursery.start(browsers.serve, folder / SOCKET)
                status = await _run(command, wrappers, note)
                left = await browsers.end()
        return RecordedCommand(
            status,
            browsers.count,
            recorder.statistics().messages,
            left,
            wrappers.places,
            wrappers.mounted,
        )


@contextlib.asynccontextmanager
async def _folder() -> AsyncIterator[Path]:
    """Yield a private folder. A later start removes it if this program is killed."""
    owned = await trio.to_thread.run_sync(OwnedFolder.make, RECORDERS_PREFIX)
    try:
        yield owned.path
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(remove_owned, owned.path)
            owned.release()


# --- the command -----------------------------------------------------------------------------------------------


async def _run(command: Sequence[str], wrappers: Wrappers, note: Callable[[str], None]) -> int:
    """Run the command to its end, and return its exit status as shells do."""
    passed_on = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)
    with trio.open_signal_receiver(*passed_on) as signals:
        try:
            process = await trio.lowlevel.open_process(
                [*wrappers.prefix, *command], env=dict(wrappers.environment)
            )
        except OSError as error:
            note(f"cannot run {command[0]}: {os_reason(error)}")
            return _NOT_FOUND
        async with open_body_nursery() as nursery:
            nursery.start_soon(_pass_signals, signals, process)
            # A cancelled command ends before its recording.
            with trio.CancelScope(shield=True):
                status = await process.wait()
    return status if status >= 0 else _SIGNALLED - status


async def _pass_signals(signals: AsyncIterator[int], process: subprocess.Popen[bytes] | trio.Process) -> None:
    async for number in signals:
        if number in (signal.SIGINT, signal.SIGQUIT) and _is_in_foreground():
            continue  # the terminal has sent it to the command, too
        process.send_signal(number)


def _is_in_foreground() -> bool:
    try:
        with open("/dev/tty", "rb") as terminal:  # noqa: PTH123 - opens at once
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False
