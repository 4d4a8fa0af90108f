"""The browsers' executables that a program on this machine may start.

Rule: the search covers the places of installed browsers, the folders in which clients keep downloaded ones, and
the environment variables with which clients name one. It runs nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from cdpengine._launch.find import ROWS, Machine, candidates

VARIABLES = (
    "CDPENGINE_BROWSER",
    "CHROME_PATH",
    "CHROME_BIN",
    "CHROME_EXECUTABLE",
    "PUPPETEER_EXECUTABLE_PATH",
    "PLAYWRIGHT_MCP_EXECUTABLE_PATH",
    "AGENT_BROWSER_EXECUTABLE_PATH",
    "SE_BROWSER_PATH",
)
"""Environment variables with which clients name a browser's executable."""

_DOWNLOADED = (
    ("PLAYWRIGHT_BROWSERS_PATH", "ms-playwright", "chromium*-*/chrome-*/*"),
    ("PUPPETEER_CACHE_DIR", "puppeteer", "chrome*/*/chrome*/*"),
    ("SE_CACHE_PATH", "selenium", "chrome*/*/*/*"),
    ("", "rod/browser", "chromium-*/*"),
)
"""Folders of downloaded browsers: a variable with the folder, its name in the user's cache folder, the files."""

_MACOS_FILE = "*.app/Contents/MacOS/*"
_NAMES = frozenset(
    {
        "chrome",
        "chromium",
        "headless_shell",
        "chrome-headless-shell",
        "headless-shell",
        "Google Chrome for Testing",
    }
)
_HEADLESS = ("headless_shell", "headless-shell", "chrome-headless-shell")
_SCRIPTS = Path("/usr/bin")
_LAUNCHERS = frozenset({"snap", "flatpak"})
"""Programs that start a browser in a container, without the descriptors of the debugging pipe."""


def names_on_path() -> tuple[str, ...]:
    """Return the names under which clients look for browsers on the PATH."""
    return (*(name for row in ROWS for name in row.names), *_HEADLESS)


def find_executables(machine: Machine, named: Iterable[Path] = ()) -> list[Path]:
    """Return the paths of all executables of browsers, the `named` ones first. Links are resolved, and unique.

    Distributions install a browser with a script that starts it. The script is left out, so that it runs as usual.
    """
    found: dict[Path, None] = {}
    scripts = _scripts(machine)
    for path in (*named, *_from_variables(machine), *_installed(machine), *_downloaded(machine.environment)):
        if machine.kind(path) == "program":
            resolved = Path(os.path.realpath(path))
            resolved = scripts.get(resolved, resolved)
            if resolved.name not in _LAUNCHERS and "flatpak" not in resolved.parts:
                found.setdefault(resolved)
    return list(found)


def _scripts(machine: Machine) -> dict[Path, Path]:
    """Return the executables that the scripts of distributions start, by the script."""
    started = {}
    for row in ROWS:
        program = next((Path(path) for path in row.linux if machine.kind(Path(path)) == "program"), None)
        if program is None or _is_script(program):
            continue
        for name in row.names:
            for folder in (_SCRIPTS, program.parent):
                script = Path(os.path.realpath(folder / name))
                if machine.kind(script) == "program" and _is_script(script):
                    started[script] = program.resolve()
    return started


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _from_variables(machine: Machine) -> Iterator[Path]:
    for name in VARIABLES:
        if value := machine.environment.get(name):
            yield Path(machine.path(value))


def _installed(machine: Machine) -> Iterator[Path]:
    for row in ROWS:
        yield from map(Path, candidates(machine, row))
    for folder in machine.environment.get("PATH", "").split(os.pathsep):
        if folder:
            yield from (Path(folder, name) for name in _HEADLESS)
    yield Path("/headless-shell/headless-shell")


def _downloaded(environment: Mapping[str, str]) -> Iterator[Path]:
    home = Path(environment.get("HOME") or "/")
    caches = home / "Library/Caches" if sys.platform == "darwin" else home / ".cache"
    for variable, folder, files in _DOWNLOADED:
        root = Path(environment.get(variable) or caches / folder)
        for pattern in (files, f"{files}/{_MACOS_FILE}"):
            yield from (each for each in sorted(root.glob(pattern)) if each.name in _NAMES)
