"""Resident memory of a process with its drivers, as Linux reports it. The standard library alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path


def resident(process: int) -> float:
    """Return the resident memory, in MB, of a process and its descendants, without browsers."""
    try:
        text = Path(f"/proc/{process}/status").read_text("utf-8", errors="replace")
    except OSError:
        return 0.0  # it has ended
    status = dict(line.split(":\t", 1) for line in text.splitlines() if ":\t" in line)
    name = status.get("Name", "")
    if name.startswith("chrom") and not name.startswith("chromedriver"):
        return 0.0
    own = int(status.get("VmRSS", "0 kB").split()[0]) / 1024
    return own + sum(map(resident, children_of(process)))


def children_of(process: int) -> Iterator[int]:
    """Yield the ids of a process's children."""
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            yield from map(int, listed.read_text("ascii").split())
