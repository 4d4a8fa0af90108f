"""Bounds of real time on a machine where other programs want the processors, too.

Rule: a bound is asserted as it stands where nothing else runs, and stretched by how busy the machine is at that moment.
"""

from __future__ import annotations

import os
from pathlib import Path

_LOAD = Path("/proc/loadavg")


def slack(seconds: float) -> float:
    """Return a bound for now: `seconds`, times the programs that want to run for each processor where that is more than 1."""
    return seconds * max(1.0, _wanting() / (os.cpu_count() or 1))


def _wanting() -> float:
    """Return how many programs want to run: now, or of late, whichever is more."""
    of_late = os.getloadavg()[0]
    if not _LOAD.exists():
        return of_late
    now = _LOAD.read_text().split()[3].partition("/")[0]
    return max(of_late, float(now) - 1)  # without the one that asks
