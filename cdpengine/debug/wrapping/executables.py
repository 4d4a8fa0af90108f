"""The browsers' executables that a program on this machine may start.

Rule: the search covers the places of installed browsers, the folders in which clients keep downloaded ones, and
the environment variables with which clients name one. It runs nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import attrs

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


@attrs.frozen
class Downloads:
    """A client's folder of downloaded browsers.

    `variable` names it, "" if none does. `folder` is its place in the user's cache folder, and `files`
    a pattern of the files inside.
    """

    variable: str
    folder: str
    files: str


DOWNLOADS = (
    Downloads("PLAYWRIGHT_BROWSERS_PATH", "ms-playwright", "chromium*-*/chrome-*/*"),
    Downloads("PUPPETEER_CACHE_DIR", "puppeteer", "chrome*/*/chrome*/*"),
    Downloads("SE_CACHE_PATH", "selenium", "chrome*/*/*/*"),
    Downloads("", "rod/browser", "chromium-*/*"),
)

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


def find_executables(machine: Machine, named: Iterable[Path] = (), *, scripts: bool = False) -> list[Path]:
    """Return the paths of all executables of browsers, the `named` ones first. Links are resolved, and unique.

    Distributions start a browser with a script. The list has the started browser, or the script with `scripts`.
    """
    found: dict[Path, None] = {}
    started = {} if scripts else _started_by_scripts(machine)
    for path in (*named, *_from_variables(machine), *_installed(machine), *_downloaded(machine)):
        if machine.kind(path) == "program":
            resolved = Path(os.path.realpath(path))
            resolved = started.get(resolved, resolved)
            if resolved.name not in _LAUNCHERS and "flatpak" not in resolved.parts:
                found.setdefault(resolved)
    return list(found)


def _started_by_scripts(machine: Machine) -> dict[Path, Path]:
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


def _downloaded(machine: Machine) -> Iterator[Path]:
    for each in DOWNLOADS:
        yield from downloaded_files(each, machine.environment)


def download_folder(downloads: Downloads, environment: Mapping[str, str]) -> Path:
    """Return the folder of downloads. It may not exist."""
    home = Path(environment.get("HOME") or "/")
    caches = home / "Library/Caches" if sys.platform == "darwin" else home / ".cache"
    return Path(environment.get(downloads.variable) or caches / downloads.folder)


def downloaded_files(downloads: Downloads, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the browsers' files in the folder of downloads. Links are not resolved."""
    root = download_folder(downloads, environment)
    for pattern in (downloads.files, f"{downloads.files}/{_MACOS_FILE}"):
        yield from (each for each in sorted(root.glob(pattern)) if each.name in _NAMES)
