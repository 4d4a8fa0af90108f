"""The conditions of a run: the machine, the versions, the load.

Rule: unknown facts are "", None or left out, never guessed. Nothing here identifies the machine or its user.
"""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

import attrs

import cdpengine

PACKAGES = ("trio", "trio-websocket", "msgspec", "attrs")
TOOLS = ("node", "valgrind", "perf")

_NEVER_ENDS = 10.0  # timeout of a program that prints its version, in seconds


@attrs.frozen
class Machine:
    """The machine and the versions. Memory is in GB; `cores` are available to this program."""

    system: str
    kernel: str
    architecture: str
    processor: str
    cores: int
    memory: float | None
    governor: str
    browser: str
    python: str
    engine: str
    packages: dict[str, str]
    tools: dict[str, str]

    def lines(self) -> list[tuple[str, str]]:
        """Return the known facts as pairs of name and description."""
        processor = f"{self.processor or self.architecture}, {self.cores} cores"
        if self.memory:
            processor += f", {self.memory:.0f} GB"
        if self.governor:
            processor += f", governor {self.governor}"
        packages = ", ".join(f"{name} {number}" for name, number in self.packages.items())
        tools = ", ".join(f"{name} {number}" for name, number in self.tools.items())
        found = [
            ("machine", processor),
            ("system", f"{self.system}, kernel {self.kernel}, {self.architecture}"),
            ("browser", self.browser),
            ("engine", f"cdpengine {self.engine}, Python {self.python}, {packages}"),
        ]
        return [*found, ("tools", tools)] if tools else found


@attrs.frozen
class Load:
    """The load average over one minute, and the seconds of all cores stolen by other machines so far.

    None if unknown.
    """

    average: float | None = None
    stolen: float | None = None


QUIET = 0.5
"""Maximum load for each core of a quiet machine."""


def busy(load: Load, cores: int) -> str:
    """Describe the load of a machine that is not quiet. Returns "" if it is quiet or unknown."""
    if load.average is None or load.average <= QUIET * cores:
        return ""
    return f"the load was {load.average:.1f} on {cores} cores before the run began"


def core_count() -> int:
    """Return the number of cores available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def look_at_machine(executable: str) -> Machine:
    """Inspect this machine. Runs the browser with --version, and other programs that a case may use."""
    return Machine(
        system=system_name(),
        kernel=platform.release(),
        architecture=platform.machine(),
        processor=processor_name(),
        cores=core_count(),
        memory=memory_size(),
        governor=_text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        browser=program_version([executable, "--version"]) or executable,
        python=platform.python_version(),
        engine=cdpengine.__version__,
        packages={name: version(name) for name in PACKAGES},
        tools={
            name: told.split()[-1].removeprefix(f"{name}-").removeprefix("v")
            for name in TOOLS
            if (told := program_version([name, "--version"]))
        },
    )


def look_at_load() -> Load:
    """Measure the load now."""
    average = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return Load(average, stolen_seconds(_text("/proc/stat")))


def stolen_seconds(text: str) -> float | None:
    """Return the stolen time of our cores in /proc/stat, in seconds, or None."""
    first = text.splitlines()[0].split() if text else []
    ticks_a_second = 100  # USER_HZ, on every Linux
    return int(first[8]) / ticks_a_second if len(first) > 8 and first[0] == "cpu" else None


def memory_size() -> float | None:
    """Return the memory in GB, or None if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    except (AttributeError, ValueError, OSError):
        return None


def processor_name(text: str | None = None) -> str:
    """Return the processor's name from /proc/cpuinfo, or ""."""
    for line in (_text("/proc/cpuinfo") if text is None else text).splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in ("model name", "hardware", "cpu model"):
            return " ".join(value.split())
    return platform.processor() if text is None else ""


def system_name() -> str:
    """Return the system's name and version."""
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError, AttributeError):
        return f"{platform.system()} {platform.version()}"


def program_version(command: list[str]) -> str:
    """Return the first line of a program's version, or ""."""
    try:
        said = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=_NEVER_ENDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = said.stdout.strip().splitlines()
    return " ".join(lines[0].split()) if said.returncode == 0 and lines else ""


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").strip()
    except OSError:
        return ""
