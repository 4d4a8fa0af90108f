"""A browser's profile folder, and Chrome's port file in it.

Rule: a temporary profile is removed when its browser has ended, in any way. If its owner was killed, the next
program that starts a browser removes it (`_launch/owned_folder.py`). A user's profile is never deleted. Only the
port file of a temporary profile is trusted: in a user's profile it can be from an earlier run or from another
browser. Trio is imported late, because a command starts its browser before that (`_launch/early.py`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import attrs

from cdpengine._launch.owned_folder import (
    PROFILE_PREFIX,
    OwnedFolder,
    remove_profile,
    remove_socket_folder,
    socket_folder,
)

PORT_FILE = "DevToolsActivePort"

_TEMPORARY = "tmp"
# Chrome keeps its singleton socket in its temporary folder, in a folder org.chromium.Chromium.XXXXXX (other
# products have shorter names). It does not start if the socket's path is too long for the system: sockaddr_un has
# 108 bytes on Linux and 104 on macOS, including the final zero.
_LONGEST_SOCKET_NAME = len("/org.chromium.Chromium.XXXXXX/SingletonSocket")
_LONGEST_SOCKET_PATH = 103 if sys.platform == "darwin" else 107

# A dying child of Chrome may write while the folder is being emptied, so the removal is repeated.
_REMOVAL_DEADLINE = 5.0
_REMOVAL_PAUSE = 0.05


@attrs.frozen
class Profile:
    """A profile folder.

    `owned` is set for a temporary profile, which will be removed; None for a user's profile.
    """

    path: Path
    owned: OwnedFolder | None

    @property
    def temporary(self) -> bool:
        """Whether the profile is temporary and will be removed."""
        return self.owned is not None

    @classmethod
    def prepare(cls, directory: Path | None) -> Profile:
        """Create a temporary profile, or use the given one.

        Raises OSError if the folder cannot be created or written.
        """
        if directory is None:
            folder = OwnedFolder.make(PROFILE_PREFIX)
            return cls(path=folder.path, owned=folder)
        path = directory.expanduser().absolute()
        path.mkdir(parents=True, exist_ok=True)
        return cls(path=path, owned=None)

    def environment(self, base: Mapping[str, str]) -> Mapping[str, str]:
        """Return the browser's environment, with a temporary folder inside a temporary profile.

        A killed Chrome leaves files there; so they are removed with the profile. The system's temporary folder is
        used if the path of a socket would be too long, and on Windows. If `base` has a TMPDIR that differs from
        this program's, it is kept.

        Raises OSError if the folder cannot be created.
        """
        folder = self.path / _TEMPORARY
        if (
            not self.temporary
            or sys.platform == "win32"
            or base.get("TMPDIR") not in (None, os.environ.get("TMPDIR"))
            or len(os.fsencode(folder)) + _LONGEST_SOCKET_NAME > _LONGEST_SOCKET_PATH
        ):
            return base
        folder.mkdir(mode=0o700)
        return {**base, "TMPDIR": str(folder)}

    def websocket_endpoint(self) -> str | None:
        """Return the endpoint in a temporary profile's port file, or None while the file is incomplete."""
        if not self.temporary:
            return None
        try:
            text = (self.path / PORT_FILE).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None
        return parse_port_file(text)

    def socket_folder(self) -> Path | None:
        """Return Chrome's socket folder of a temporary profile, for `remove`."""
        return socket_folder(self.path) if self.temporary else None

    async def remove(self, sockets: Path | None = None) -> None:
        """Remove a temporary profile, and the socket folder that it had before its browser ended.

        Does nothing to a user's profile. Takes a few seconds at most and raises no error: failures are logged to
        "cdpengine.browser", because an exception would hide how the browser ended.
        """
        if self.owned is None:
            return
        import trio

        with trio.move_on_after(_REMOVAL_DEADLINE, shield=True):
            left = await trio.to_thread.run_sync(remove_profile, self.path)
            await trio.to_thread.run_sync(remove_socket_folder, sockets)
            # Listing a folder needs a descriptor, and the lock's descriptor may be the only one available. From
            # here on, other programs may remove the folder too.
            self.owned.release()
            while left:
                await trio.sleep(_REMOVAL_PAUSE)
                left = await trio.to_thread.run_sync(remove_profile, self.path)
            return
        from cdpengine._logs import get_logger

        get_logger("cdpengine.browser").warning(
            "cannot remove the temporary profile %s within %g s: remove it manually",
            self.path,
            _REMOVAL_DEADLINE,
        )


def parse_port_file(text: str) -> str | None:
    """Parse Chrome's DevToolsActivePort: the port on the first line, the path on the second.

    Return None while the file is incomplete, since Chrome does not write it atomically.
    """
    lines = text.splitlines()
    if len(lines) < 2 or not lines[0].strip().isdecimal() or not lines[1].startswith("/devtools/browser/"):
        return None
    return f"ws://127.0.0.1:{int(lines[0])}{lines[1].strip()}"
