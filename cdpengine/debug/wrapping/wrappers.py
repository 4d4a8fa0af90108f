"""Wrappers of browsers: files that a program starts instead of a browser's executable.

Rule: on Linux, the wrappers are mounted over the executables, for the program only (`mounts.py`), so the program
finds them at any path. Where the system allows no mounts, the environment names them (`names.py`).
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from cdpengine._launch.find import Machine
from cdpengine.debug.wrapping import mounts, wrapper
from cdpengine.debug.wrapping.executables import find_executables
from cdpengine.debug.wrapping.names import name_wrappers
from cdpengine.errors import InvalidArgumentError

RECORDED_BROWSER = "CDPENGINE_RECORDED_BROWSER"
"""Environment variable with the path of a recorded browser, for programs that name the path themselves."""

SOCKET = "recorder"
_PROBE_SECONDS = 10.0
_LONGEST_INTERPRETER = 120  # characters; the kernel reads 127 or 255 bytes of a script's first line


@attrs.frozen
class Wrappers:
    """The wrappers of a machine's browsers.

    `executables` are the real executables by the wrapper's number: descriptors, or paths without mounts. `prefix`
    is the beginning of the command, `environment` the command's environment. `places` are the browsers' paths.
    """

    executables: Mapping[int, str | int]
    prefix: Sequence[str]
    environment: Mapping[str, str]
    places: Sequence[Path]

    @property
    def mounted(self) -> bool:
        """Whether the wrappers are mounted over the executables."""
        return bool(self.prefix)

    def close(self) -> None:
        """Close the descriptors of the executables."""
        for each in self.executables.values():
            if isinstance(each, int):
                os.close(each)


def make_wrappers(machine: Machine, folder: Path, browser: Path | None, *, mounted: bool = True) -> Wrappers:
    """Write the wrappers into `folder`. Blocks.

    `browser` is one that the search may not find, and the one for programs that ask for a recorded browser.
    `mounted=False` uses no mounts.

    Raises InvalidArgumentError if there is no browser, and OSError.
    """
    named = [] if browser is None else [browser]
    if not find_executables(machine, named):
        raise InvalidArgumentError(
            what="browser",
            given="no installed browser",
            expected="the path of an executable (--browser PATH)",
        )
    wrappers = _mount(machine, folder, find_executables(machine, named)) if mounted else None
    return wrappers or _name(machine, folder, find_executables(machine, named, scripts=True))


def _mount(machine: Machine, folder: Path, found: Sequence[Path]) -> Wrappers | None:
    """Return wrappers that are mounted over the executables, None where the system allows no mounts."""
    if machine.platform != "linux":
        return None
    files = _write_wrappers(folder, len(found))
    pairs = [str(each) for pair in zip(files, found, strict=True) for each in pair]
    prefix = [sys.executable, "-IS", str(mounts.__file__), *pairs, "--"]
    if not _succeeds(prefix):
        return None
    environment = {**machine.environment, RECORDED_BROWSER: str(found[0])}
    opened = {number: os.open(path, os.O_RDONLY | os.O_CLOEXEC) for number, path in enumerate(found)}
    return Wrappers(opened, prefix, environment, found)


def _name(machine: Machine, folder: Path, found: Sequence[Path]) -> Wrappers:
    """Return wrappers that the environment names."""
    files = _write_wrappers(folder, len(found))
    environment = {
        **machine.environment,
        **name_wrappers(machine, folder, dict(zip(found, files, strict=True))),
        RECORDED_BROWSER: str(files[0]),
    }
    return Wrappers({number: str(path) for number, path in enumerate(found)}, [], environment, found)


def _write_wrappers(folder: Path, count: int) -> list[Path]:
    return [_write_wrapper(folder / "wrappers" / str(number), folder, number) for number in range(count)]


def _write_wrapper(path: Path, folder: Path, number: int) -> Path:
    source = (
        f"import sys\n"
        f"sys.path.insert(0, {str(Path(wrapper.__file__).parent)!r})\n"
        f"from wrapper import become_browser\n"
        f"del sys.path[0]\n"
        f"become_browser({str(folder / SOCKET)!r}, {number})\n"
    )
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{_first_lines(sys.executable)}\n{source}")
    path.chmod(0o755)
    return path


def _first_lines(interpreter: str) -> str:
    """Return the beginning of a script for Python, as a script for sh if the path is not fit for a first line."""
    if " " not in interpreter and len(os.fsencode(interpreter)) <= _LONGEST_INTERPRETER:
        return f"#!{interpreter} -IS"
    return f"#!/bin/sh\n''':'\nexec {shlex.quote(interpreter)} -IS \"$0\" \"$@\"\n'''"


def _succeeds(command: Iterable[str]) -> bool:
    done = subprocess.run(
        list(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=_PROBE_SECONDS, check=False
    )
    return done.returncode == 0
