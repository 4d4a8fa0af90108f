"""The memory of a browser's process tree, as measured by Linux.

Rule: shared memory is counted once, by the proportional set size (Pss in /proc/PID/smaps_rollup, proc(5)), or by
the resident size if the kernel does not provide it. A process that ends during the measurement counts as zero.
Reading takes milliseconds, so it belongs in a thread.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

_PROC = Path("/proc")
_KILOBYTE = 1024


def can_measure() -> bool:
    """Return whether this system reports the memory of processes in /proc."""
    return sys.platform == "linux" and (_PROC / "self" / "stat").exists()


def tree_memory(pid: int) -> int:
    """Return the memory of a process and its descendants in bytes, or 0 after its end."""
    return sum(map(_memory_of, descendants(pid, _parents())))


def descendants(pid: int, parents: Mapping[int, int]) -> list[int]:
    """Return `pid` and all its descendants. `parents` maps each process to its parent. Pure."""
    children: defaultdict[int, list[int]] = defaultdict(list)
    for child, parent in parents.items():
        children[parent].append(child)
    found, ahead = [], [pid]
    seen = {pid}
    while ahead:
        each = ahead.pop()
        found.append(each)
        for child in children[each]:
            if child not in seen:
                seen.add(child)
                ahead.append(child)
    return found


def _parents() -> dict[int, int]:
    parents = {}
    for entry in _numbered(_PROC.iterdir()):
        text = _read(entry / "stat")
        if text:
            # "123 (a name) with ) in it) S 1 ...": the part after the last parenthesis contains no name.
            parents[int(entry.name)] = int(text.rpartition(")")[2].split()[1])
    return parents


def _numbered(entries: Iterable[Path]) -> Iterable[Path]:
    return (entry for entry in entries if entry.name.isdecimal())


def _memory_of(pid: int) -> int:
    for name, mark in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        for line in _read(_PROC / str(pid) / name).splitlines():
            if line.startswith(mark):
                return int(line.split()[1]) * _KILOBYTE
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError:
        return ""  # it ended, or belongs to another user
