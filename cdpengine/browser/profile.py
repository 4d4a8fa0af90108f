"""The profile folder that a browser runs on, and the port file that Chrome leaves in it.

Rule: a temporary profile is gone when its browser has ended, whatever the ending; a user's profile is never
deleted. A port file is believed only in a temporary profile: in a user's, it can be an earlier run's, or that
of another browser which has the profile open.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import stat
import tempfile
from pathlib import Path

import attrs
import trio

_log = logging.getLogger("cdpengine.browser")

PORT_FILE = "DevToolsActivePort"
_SINGLETON_SOCKET = "SingletonSocket"

# A child of Chrome that is still dying may write while the folder is being emptied: remove again until it
# stays away.
_REMOVAL_DEADLINE = 5.0
_REMOVAL_PAUSE = 0.05


@attrs.frozen
class Profile:
    """A profile folder; `temporary` ones are ours to remove."""

    path: Path
    temporary: bool

    @classmethod
    def prepare(cls, given: Path | None) -> Profile:
        """Make a temporary profile, or take the given one.

        Raises OSError when the folder cannot be made or written.
        """
        if given is None:
            return cls(path=Path(tempfile.mkdtemp(prefix="cdpengine-profile-")), temporary=True)
        path = given.expanduser().absolute()
        path.mkdir(parents=True, exist_ok=True)
        return cls(path=path, temporary=False)

    def websocket_endpoint(self) -> str | None:
        """Return the endpoint that a temporary profile's port file names; None while it is not complete."""
        if not self.temporary:
            return None
        try:
            text = (self.path / PORT_FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        return parse_port_file(text)

    async def remove(self) -> None:
        """Remove a temporary profile; do nothing to a user's.

        Takes a few seconds at most and raises nothing: what cannot be removed is reported on the logger
        "cdpengine.browser", because an error of its own would hide how the browser ended.
        """
        if not self.temporary:
            return
        with trio.move_on_after(_REMOVAL_DEADLINE, shield=True):
            while await trio.to_thread.run_sync(_remove_tree, self.path):  # noqa: ASYNC110 - no event tells
                await trio.sleep(_REMOVAL_PAUSE)
            return
        _log.warning(
            "the temporary profile %s could not be removed within %g s", self.path, _REMOVAL_DEADLINE
        )


def parse_port_file(text: str) -> str | None:
    """Read Chrome's DevToolsActivePort: the port on the first line, the path on the second.

    None while the file is not complete: Chrome does not write it in one go.
    """
    lines = text.splitlines()
    if len(lines) < 2 or not lines[0].strip().isdecimal() or not lines[1].startswith("/devtools/browser/"):
        return None
    return f"ws://127.0.0.1:{int(lines[0])}{lines[1].strip()}"


def _socket_folder(profile: Path) -> Path | None:
    """Return the folder that Chrome made outside the profile for its singleton socket.

    The path of a socket must be short, so Chrome keeps it in the system's temporary folder and links to it
    from the profile. A Chrome that ends in order removes the folder; a killed one leaves it.
    """
    link = profile / _SINGLETON_SOCKET
    if not link.is_symlink():
        return None
    folder = link.readlink().parent
    # Removed is only what is as Chrome makes it: a folder of its own that holds nothing but these two.
    known = {_SINGLETON_SOCKET, "SingletonCookie"}
    if folder.is_absolute() and folder.is_dir() and {entry.name for entry in folder.iterdir()} <= known:
        return folder
    return None


def _remove_tree(path: Path) -> bool:
    """Remove what can be removed; return whether something is left."""
    with contextlib.suppress(OSError):
        path.rmdir()  # needs no descriptor: a program that has none left does not leave an empty folder
        return False
    with contextlib.suppress(OSError):
        if folder := _socket_folder(path):
            shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        for folder in (path, *(p for p in path.rglob("*") if p.is_dir() and not p.is_symlink())):
            # A folder without the write bit cannot be emptied by its owner.
            folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)
    return path.exists()
