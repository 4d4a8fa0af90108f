"""The profile folder that a browser runs on, and the port file that Chrome leaves in it.

Rule: a temporary profile is gone when its browser has ended, whatever the ending; one whose owner was killed is
removed by the next program that starts a browser (`_launch/owned_folder.py`). A user's profile is never deleted. A
port file is believed only in a temporary profile: in a user's, it can be an earlier run's, or that of another
browser which has the profile open.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs
import trio

from cdpengine._launch.owned_folder import (
    PROFILE_PREFIX,
    OwnedFolder,
    remove_profile,
    remove_socket_folder,
    socket_folder,
)
from cdpengine._logs import get_logger

_log = get_logger("cdpengine.browser")

PORT_FILE = "DevToolsActivePort"

_TEMPORARY = "tmp"
# Chrome keeps its singleton socket in its folder for temporary files, in a folder org.chromium.Chromium.XXXXXX
# (the names of other products are shorter). It does not start where the path of the socket is too long for the
# system: sockaddr_un has 108 bytes on Linux and 104 on macOS, its final zero included.
_LONGEST_SOCKET_NAME = len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
_LONGEST_SOCKET_PATH = 103 if sys.platform == "darwin" else 107

# A child of Chrome that is still dying may write while the folder is being emptied: remove again until it
# stays away.
_REMOVAL_DEADLINE = 5.0
_REMOVAL_PAUSE = 0.05


@attrs.frozen
class Profile:
    """A profile folder. `owned` says that it is a temporary one of ours, to be removed; None for a user's."""

    path: Path
    owned: OwnedFolder | None

    @property
    def temporary(self) -> bool:
        """Whether it is ours to remove."""
        return self.owned is not None

    @classmethod
    def prepare(cls, given: Path | None) -> Profile:
        """Make a temporary profile, or take the given one.

        Raises OSError when the folder cannot be made or written.
        """
        if given is None:
            folder = OwnedFolder.make(PROFILE_PREFIX)
            return cls(path=folder.path, owned=folder)
        path = given.expanduser().absolute()
        path.mkdir(parents=True, exist_ok=True)
        return cls(path=path, owned=None)

    def environment(self, given: Mapping[str, str]) -> Mapping[str, str]:
        """Return the browser's environment: with a folder for temporary files inside a temporary profile.

        A Chrome that is killed leaves some there, which nothing else names; so they go with the profile. Chrome
        has the system's folder where the path of a socket would be too long, and on Windows. It has the caller's
        where `given` names another than this program's own.

        Raises OSError when the folder cannot be made.
        """
        folder = self.path / _TEMPORARY
        if (
            not self.temporary
            or sys.platform == "win32"
            or given.get("TMPDIR") not in (None, os.environ.get("TMPDIR"))
            or len(os.fsencode(folder)) + _LONGEST_SOCKET_NAME > _LONGEST_SOCKET_PATH
        ):
            return given
        folder.mkdir(mode=0o700)
        return {**given, "TMPDIR": str(folder)}

    def websocket_endpoint(self) -> str | None:
        """Return the endpoint that a temporary profile's port file names; None while it is not complete."""
        if not self.temporary:
            return None
        try:
            text = (self.path / PORT_FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        return parse_port_file(text)

    def socket_folder(self) -> Path | None:
        """Return the folder for sockets that Chrome has made for a temporary profile; for `remove`."""
        return socket_folder(self.path) if self.temporary else None

    async def remove(self, sockets: Path | None = None) -> None:
        """Remove a temporary profile, and the folder for sockets that it had before its browser was ended.

        Does nothing to a user's.
        Takes a few seconds at most and raises nothing: what cannot be removed is reported on the logger
        "cdpengine.browser", because an error of its own would hide how the browser ended.
        """
        if self.owned is None:
            return
        with trio.move_on_after(_REMOVAL_DEADLINE, shield=True):
            left = await trio.to_thread.run_sync(remove_profile, self.path)
            await trio.to_thread.run_sync(remove_socket_folder, sockets)
            # To list a folder takes a descriptor, and the lock's may be the only one that this program can get.
            # From here on, other programs may remove the folder as well.
            self.owned.release()
            while left:
                await trio.sleep(_REMOVAL_PAUSE)
                left = await trio.to_thread.run_sync(remove_profile, self.path)
            return
        _log.warning(
            "the temporary profile %s could not be removed within %g s: remove it by hand",
            self.path,
            _REMOVAL_DEADLINE,
        )


def parse_port_file(text: str) -> str | None:
    """Read Chrome's DevToolsActivePort: the port on the first line, the path on the second.

    None while the file is not complete: Chrome does not write it in one go.
    """
    lines = text.splitlines()
    if len(lines) < 2 or not lines[0].strip().isdecimal() or not lines[1].startswith("/devtools/browser/"):
        return None
    return f"ws://127.0.0.1:{int(lines[0])}{lines[1].strip()}"
