"""Counting a program's instructions, by `perf stat` or else by `valgrind --tool=callgrind`.

Rule: pure functions parse their output. A counter that is installed but not permitted (perf in most virtual
machines and containers) is detected by one trial on a program that does nothing.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import attrs
import trio

from benchmarks.harness.bench import Cannot

_EVENT = "instructions:u"


def from_perf(text: str) -> int | None:
    """Return the count in the output of `perf stat -x,`, or None. Pure."""
    for line in text.splitlines():
        count, *fields = line.split(",")
        if _EVENT in fields and count.strip().isdecimal():
            return int(count)
    return None


def from_callgrind(text: str) -> int | None:
    """Return the count of all instructions in a callgrind file, or None. Pure."""
    found = re.findall(r"^(?:totals|summary):\s*(\d+)", text, re.MULTILINE)
    return int(found[-1]) if found else None


@attrs.frozen
class Counter:
    """A way to count. `by` describes it."""

    by: str
    command: tuple[str, ...]

    def environment(self) -> dict[str, str]:
        """Return the environment of counted programs: constant hashes, and cached compiled modules."""
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        return kept | {"PYTHONHASHSEED": "0"}

    async def count(self, program: Sequence[str], folder: Path | None = None) -> int:
        """Run a program in `folder` and return its instructions. Raises Cannot without a count."""
        with tempfile.TemporaryDirectory(prefix="instructions-") as kept:
            out = Path(kept) / "count"
            command = [part.format(out=out) for part in self.command]
            done = await trio.run_process(
                [*command, *program],
                env=self.environment(),
                cwd=folder,
                capture_stdout=True,
                capture_stderr=True,
                check=False,
            )
            if done.returncode:
                last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
                raise Cannot(f"{self.command[0]} ended with {done.returncode}: {''.join(last)}")
            text = out.read_text("utf-8", "replace") if out.exists() else ""
        count = from_perf(text) if self.command[0] == "perf" else from_callgrind(text)
        if count is None:
            raise Cannot(f"{self.command[0]} counted nothing here")
        return count


PERF = Counter("perf stat -e instructions:u", ("perf", "stat", "-x,", "-e", _EVENT, "-o", "{out}", "--"))
CALLGRIND = Counter(
    "valgrind --tool=callgrind", ("valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file={out}")
)


async def find_counter() -> Counter:
    """Return the first working counter. Raises Cannot with the reason of each."""
    reasons = []
    for counter in (PERF, CALLGRIND):
        if shutil.which(counter.command[0]) is None:
            reasons.append(f"{counter.command[0]} is not installed")
            continue
        try:
            await counter.count(["true"])
        except Cannot as reason:
            reasons.append(str(reason))
        else:
            return counter
    raise Cannot("; ".join(reasons))
