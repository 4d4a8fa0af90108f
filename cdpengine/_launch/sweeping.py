"""The removal of temporary folders whose owner has ended, during a browser's start, which does not wait for it."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import trio

from cdpengine._launch.owned_folder import (
    DOWNLOADS_PREFIX,
    OUTPUTS_PREFIX,
    PROFILE_PREFIX,
    RECORDERS_PREFIX,
    SINGLETON_SOCKET,
    OwnedFolder,
    remove_profile,
)
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery

_log = get_logger("cdpengine.browser")

_AT_MOST = 200
"""Maximum number of folders that one start checks."""

_ENDING_SECONDS = 3.0
"""Seconds for a browser to end whose owner was killed. Its lifeline ends it within 0.3 s."""

_PAUSE = 0.1
_CONNECT_SECONDS = 0.5


@trio.lowlevel.enable_ki_protection
async def sweep_profiles() -> None:
    """Remove the profiles without an owner. If cancelled, it finishes the current folder."""
    stop = threading.Event()
    async with open_body_nursery() as nursery:
        nursery.start_soon(_set_when_cancelled, stop)
        await trio.to_thread.run_sync(sweep_folder, Path(tempfile.gettempdir()), stop.wait)


@trio.lowlevel.enable_ki_protection
async def _set_when_cancelled(stop: threading.Event) -> None:
    try:
        await trio.sleep_forever()
    finally:
        stop.set()


def sweep_folder(folder: Path, stopped_within: Callable[[float], bool]) -> int:
    """Remove the profiles without an owner in `folder`, and return their number.

    `stopped_within` waits up to the given seconds and returns whether to stop.
    """
    removed = 0
    try:
        for path in _profiles_in(folder)[:_AT_MOST]:
            if stopped_within(0):
                break
            removed += _remove_unowned(path, stopped_within)
    except OSError as error:  # the browser's start does not depend on it
        _log.info("could not look for profiles whose owner was killed: %s", error)
    if removed:
        _log.info("removed profiles whose owner was killed from %s: %d", folder, removed)
    return removed


def _profiles_in(folder: Path) -> list[Path]:
    prefixes = (PROFILE_PREFIX, DOWNLOADS_PREFIX, OUTPUTS_PREFIX, RECORDERS_PREFIX)
    with os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(prefixes) and entry.is_dir(follow_symlinks=False)
        ]


def _remove_unowned(path: Path, stopped_within: Callable[[float], bool]) -> bool:
    profile = OwnedFolder.take_over(path)
    if profile is None:
        return False
    try:
        return _browser_ends(path, stopped_within) and not remove_profile(path)
    finally:
        profile.release()


# --- browsers without an owner ---------------------------------------------------------------------------------


def _browser_ends(profile: Path, stopped_within: Callable[[float], bool]) -> bool:
    """Wait until no browser uses a profile. Return whether that happened in time."""
    end = time.monotonic() + _ENDING_SECONDS
    while _is_used(profile):
        if time.monotonic() > end or stopped_within(_PAUSE):
            return False
    return True


def _is_used(profile: Path) -> bool:
    return _answers(profile / SINGLETON_SOCKET) or _is_named_by_a_process(profile)


def _answers(link: Path) -> bool:
    """Return whether a browser listens on its singleton socket. This also finds browsers in other containers."""
    if sys.platform == "win32":
        return False
    else:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_CONNECT_SECONDS)
                connection.connect(str(link.readlink()))
        except (TimeoutError, BlockingIOError):
            return True  # it runs but is too busy to answer: the queue of its socket is full
        except OSError:
            return False
        return True


def _is_named_by_a_process(profile: Path) -> bool:
    """Return whether a process has the profile on its command line. A starting browser does not listen yet."""
    if sys.platform != "linux":
        return False
    else:
        name = os.fsencode(profile)
        for process in Path("/proc").iterdir():
            if process.name.isdecimal():
                with contextlib.suppress(OSError):  # it has ended, or is another user's
                    if name in (process / "cmdline").read_bytes():
                        return True
        return False
