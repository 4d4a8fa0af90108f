"""Resident memory of this process.

Rule: the value of the operating system after a garbage collection, like the peers' values. Linux only, like all
benchmarks of memory.
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
