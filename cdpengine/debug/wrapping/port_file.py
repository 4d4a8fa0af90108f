"""The file DevToolsActivePort in a browser's profile, with the port of a proxy instead of the browser's port.

Rule: a reader never sees the browser's own port. Before the browser starts, the file is a link into a folder that
does not exist. A reader finds no file there, and the browser cannot write it. When the proxy listens, a complete
file replaces the link in one step.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

NOT_WRITTEN = b"Error writing DevTools active port to file"
"""Part of the line in which the browser reports that it could not write the file."""


class PortFile:
    """The port file of one browser, from before its start."""

    def __init__(self, path: Path, missing: Path) -> None:
        """Replace the file at `path` by a link to `missing`. Raises OSError."""
        self._path = path
        self._missing = missing
        self._previous: bytes | None = None
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            self._previous = path.read_bytes()
        path.unlink(missing_ok=True)
        path.symlink_to(missing)

    def write(self, port: int, browser_path: str) -> None:
        """Write the port of the proxy, in the browser's format. Raises OSError."""
        self._replace(f"{port}\n{browser_path}".encode())
        self._previous = None

    def restore(self) -> None:
        """Restore the previous state, unless the file was written."""
        with contextlib.suppress(OSError):
            if self._path.readlink() != self._missing:
                return
            if self._previous is not None:
                self._replace(self._previous)
            else:
                self._path.unlink()

    def _replace(self, content: bytes) -> None:
        part = self._path.with_name(f"{self._path.name}.{self._missing.name}")
        part.touch(mode=0o600)
        part.write_bytes(content)
        part.replace(self._path)
