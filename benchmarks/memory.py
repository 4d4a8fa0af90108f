"""Resident memory of this process.

Rule: what the operating system says, after Python's collector ran; not what Python believes that it holds. As the
peers tell of theirs. Linux only, as the benchmarks of memory are.
"""

from __future__ import annotations

import gc
import re
from pathlib import Path


def resident() -> float:
    """Return this process's resident memory, in MB."""
    gc.collect()
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    assert found is not None
    return int(found[1]) / 1024
