"""Leftovers: profiles whose owner was killed, removed by the next program that starts a browser.

Rule: only what nobody owns (`_launch/owned_folder.py`) and no browser uses any more, in the folder for temporary
files, of this user. It happens in a thread beside the start, which waits for nothing of it, and it stops when the
browser's block ends; what is left then is for the next one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import trio

from cdpengine._launch.owned_folder import OwnedFolder, remove_owned
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery

_log = get_logger("cdpengine.browser")

PROFILE_PREFIX = "cdpengine-profile-"
DOWNLOADS_PREFIX = "cdpengine-downloads-"
_SINGLETON_SOCKET = "SingletonSocket"

_AT_MOST = 200
"""Folders that one start looks at."""

_ENDING_SECONDS = 3.0
"""Seconds that a browser whose owner was killed gets to end: its lifeline ends it within 0.3 s of that."""

_PAUSE = 0.1
_CONNECT_SECONDS = 0.5


@trio.lowlevel.enable_ki_protection
async def sweep_profiles() -> None:
    """Remove the profiles that nobody owns. Cancelled, it is over with the folder that it is at."""
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
    """Remove the profiles in `folder` that nobody owns, and return how many.

    `stopped_within` waits so many seconds at most, and says whether there is no more time.
    """
    removed = 0
    try:
        for path in _profiles_in(folder)[:_AT_MOST]:
            if stopped_within(0):
                break
            removed += _remove_unowned(path, stopped_within)
    except OSError as error:  # the browser that is being started can do without this
        _log.info("could not look for profiles whose owner was killed: %s", error)
    if removed:
        _log.info("removed profiles whose owner was killed from %s: %d", folder, removed)
    return removed


def _profiles_in(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith((PROFILE_PREFIX, DOWNLOADS_PREFIX))
            and entry.is_dir(follow_symlinks=False)
        ]


def _remove_unowned(path: Path, stopped_within: Callable[[float], bool]) -> bool:
    profile = OwnedFolder.take_over(path)
    if profile is None:
        return False
    try:
        return _browser_ends(path, stopped_within) and not remove_profile(path)
    finally:
        profile.release()


def remove_profile(path: Path) -> bool:
    """Remove what can be removed of a profile; return whether something is left."""
    with contextlib.suppress(OSError):
        if folder := _socket_folder(path):
            shutil.rmtree(folder, ignore_errors=True)
    return remove_owned(path)


def _socket_folder(profile: Path) -> Path | None:
    """Return the folder that Chrome made outside the profile for its singleton socket.

    The path of a socket must be short, so Chrome keeps it in the system's temporary folder and links to it
    from the profile. A Chrome that ends in order removes the folder; a killed one leaves it.
    """
    link = profile / _SINGLETON_SOCKET
    if not link.is_symlink():
        return None
    folder = link.readlink().parent
    if not folder.is_absolute() or folder.is_symlink() or not folder.is_dir():
        return None
    if sys.platform != "win32" and folder.stat().st_uid != os.geteuid():
        return None
    # Removed is only what is as Chrome makes it: a folder of its own that holds nothing but these two.
    known = {_SINGLETON_SOCKET, "SingletonCookie"}
    return folder if {entry.name for entry in folder.iterdir()} <= known else None


# --- browsers without an owner ---------------------------------------------------------------------------------


def _browser_ends(profile: Path, stopped_within: Callable[[float], bool]) -> bool:
    """Wait until no browser uses a profile any more; say whether that came."""
    end = time.monotonic() + _ENDING_SECONDS
    while _is_used(profile):
        if time.monotonic() > end or stopped_within(_PAUSE):
            return False
    return True


def _is_used(profile: Path) -> bool:
    return _answers(profile / _SINGLETON_SOCKET) or _is_named_by_a_process(profile)


def _answers(link: Path) -> bool:
    """Whether a browser listens on its singleton socket. So one in another container is seen too."""
    if sys.platform == "win32":
        return False
    else:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_CONNECT_SECONDS)
                connection.connect(str(link.readlink()))
        except (TimeoutError, BlockingIOError):
            return True  # it is there, and does not get round to answering: the queue of its socket is full
        except OSError:
            return False
        return True


def _is_named_by_a_process(profile: Path) -> bool:
    """Whether a process has the profile on its command line: one that starts, or ends, listens on no socket."""
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
