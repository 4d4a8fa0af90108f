"""Processes of this machine, read from /proc. Linux only."""

from __future__ import annotations

import contextlib
from pathlib import Path


def processes_of(folder: Path) -> list[int]:
    """Return the live processes whose command line contains `folder`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if str(folder).encode() in (entry / "cmdline").read_bytes():
                    found.append(int(entry.name))
    return found


def state_of(pid: int) -> str | None:
    """Return the state letter of a process, or None if it does not exist."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None
