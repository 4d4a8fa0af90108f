"""Bounds of real time that scale with the load of the machine.

Rule: on an idle machine the bound applies unchanged. On a busy machine it grows with the current load.
"""

from __future__ import annotations

import os
from pathlib import Path

_LOAD = Path("/proc/loadavg")


def slack(seconds: float) -> float:
    """Return `seconds`, multiplied by the runnable programs per processor if there are more than one."""
    return seconds * max(1.0, _wanting() / (os.cpu_count() or 1))


def _wanting() -> float:
    """Return the number of runnable programs: the current count or the load average, whichever is higher."""
    of_late = os.getloadavg()[0]
    if not _LOAD.exists():
        return of_late
    now = _LOAD.read_text().split()[3].partition("/")[0]
    return max(of_late, float(now) - 1)  # minus this process
