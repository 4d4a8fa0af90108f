"""The conditions of a run: the machine, the versions, the load, and the speed of constant work.

Rule: unknown facts are None or left out, never guessed. Nothing here identifies the machine or its user.
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
TOOLS = ("node", "valgrind")

QUIET = 0.5  # maximum load for each core of a quiet machine


@attrs.frozen
class Machine:
    """The cores available to this program, the browser's version, and all facts for the report, by name."""

    cores: int
    browser: str
    facts: dict[str, str]


def core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def look_at_machine(executable: str) -> Machine:
    """Inspect this machine. Runs the browser with --version, and other programs that a case may use."""
    cores = core_count()
    browser = program_version([executable, "--version"]) or executable
    packages = "".join(f", {name} {version(name)}" for name in PACKAGES)
    facts = {
        "machine": f"{processor_name()}, {cores} cores{memory_size()}",
        "system": f"{system_name()}, kernel {platform.release()}, {platform.machine()}",
        "browser": browser,
        "engine": f"cdpengine {cdpengine.__version__}, Python {platform.python_version()}{packages}",
    }
    found = {name: program_version([name, "--version"]) for name in TOOLS}
    tools = [f"{name} {text.removeprefix(f'{name}-')}" for name, text in found.items() if text]
    if tools:
        facts["tools"] = ", ".join(tools)
    return Machine(cores, browser, facts)


def memory_size() -> str:
    try:
        return f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f} GB"
    except (AttributeError, ValueError, OSError):
        return ""


def processor_name() -> str:
    for line in _text("/proc/cpuinfo").splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in ("model name", "hardware", "cpu model"):
            return " ".join(value.split())
    return platform.processor() or platform.machine()


def system_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return f"{platform.system()} {platform.version()}"


def program_version(command: list[str]) -> str:
    """Return the first line that a program prints, or "" if it cannot run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return " ".join(done.stdout.strip().partition("\n")[0].split())


def look_at_load() -> float | None:
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def busy(load: float | None, cores: int) -> str:
    """Describe the load of a machine that is not quiet. Returns "" if it is quiet or unknown."""
    if load is None or load <= QUIET * cores:
        return ""
    return f"the load was {load:.1f} on {cores} cores before the run began"


def _text(path: str) -> str:
    try:
        return Path(path).read_text("utf-8", "replace").strip()
    except OSError:
        return ""
