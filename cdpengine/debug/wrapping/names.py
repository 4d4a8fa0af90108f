"""Names that lead a program to wrappers, where no mounts are possible: the PATH, variables, download folders.

Rule: a name leads to the wrapper of the browser that it named before. A variable that named none leads to the
first browser, so that a program with a fallback is recorded. The search on the PATH and in download folders finds
nothing that it did not find before.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from cdpengine._launch.find import Machine
from cdpengine.debug.wrapping.executables import (
    DOWNLOADS,
    VARIABLES,
    download_folder,
    downloaded_files,
    names_on_path,
)

_ALSO_OTHER_BROWSERS = frozenset({"SE_BROWSER_PATH"})
"""Variables that are set for other browsers than Chrome as well, so they are never added."""

_OF_DOWNLOADS = {"PUPPETEER_CACHE_DIR": "PUPPETEER_EXECUTABLE_PATH"}
"""Variables that would hide the browsers in a download folder, by the variable of the folder."""


def name_wrappers(machine: Machine, folder: Path, wrappers: Mapping[Path, Path]) -> dict[str, str]:
    """Return the variables that lead to wrappers. Write their files into `folder`.

    `wrappers` are the wrappers' files by the resolved paths of the executables.
    """
    changed = _mirror_downloads(machine, folder, wrappers)
    hiding = {_OF_DOWNLOADS[each] for each in changed if each in _OF_DOWNLOADS}
    first = next(iter(wrappers.values()))
    for variable in VARIABLES:
        value = machine.environment.get(variable)
        file = _wrapper_of(Path(machine.path(value)), wrappers) if value else first
        if file is not None and (value or variable not in _ALSO_OTHER_BROWSERS | hiding):
            changed[variable] = str(file)
    changed["PATH"] = _add_to_path(machine, folder / "path", wrappers)
    return changed


def _wrapper_of(path: Path, wrappers: Mapping[Path, Path]) -> Path | None:
    return wrappers.get(Path(os.path.realpath(path)))


def _add_to_path(machine: Machine, names: Path, wrappers: Mapping[Path, Path]) -> str:
    """Return a PATH on which the names of browsers lead to wrappers."""
    names.mkdir()
    folders = machine.environment.get("PATH", "").split(os.pathsep)
    for name in names_on_path():
        places = (machine.path(each) / name for each in folders if each)
        first = next((Path(place) for place in places if machine.kind(place) == "program"), None)
        if first is not None and (file := _wrapper_of(first, wrappers)) is not None:
            (names / name).symlink_to(file)
    return os.pathsep.join([str(names), *folders])


def _mirror_downloads(machine: Machine, folder: Path, wrappers: Mapping[Path, Path]) -> dict[str, str]:
    """Return the variables of download folders whose browsers lead to wrappers."""
    changed = {}
    for number, downloads in enumerate(DOWNLOADS):
        root = download_folder(downloads, machine.environment)
        files = downloaded_files(downloads, machine.environment)
        replaced = {file: found for file in files if (found := _wrapper_of(file, wrappers)) is not None}
        if downloads.variable and replaced:
            mirror = folder / "downloads" / str(number)
            mirror.parent.mkdir(exist_ok=True)
            _mirror(root, mirror, replaced)
            changed[downloads.variable] = str(mirror)
    return changed


def _mirror(folder: Path, mirror: Path, replaced: Mapping[Path, Path]) -> None:
    """Make a folder of links to the content of another one, except for the `replaced` files inside."""
    mirror.mkdir()
    for each in folder.iterdir():
        place = mirror / each.name
        if each in replaced:
            place.symlink_to(replaced[each])
        elif any(each in file.parents for file in replaced):
            _mirror(each, place, replaced)
        else:
            place.symlink_to(each.absolute())
