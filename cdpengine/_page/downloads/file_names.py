"""Names for files that a server named: safe on every system, and never taken twice. Pure, but for `place_file`.

Rule: a name from outside is text, not a path. What comes out is one path component that no file system reads
as anything else, and a file that is there already is never touched.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from pathlib import Path

from cdpengine._launch.private_files import move_new

LONGEST_NAME = 200
"""Bytes of a name, as UTF-8. File systems take 255; the rest is for the number of a second file."""

_LONGEST_ENDING = 24
"""Bytes of the part behind the last dot that are kept when a name is cut."""

_FALLBACK = "download"

_FORBIDDEN = frozenset('<>:"/\\|?*')

_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "clock$", "conin$", "conout$"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"]
)
"""Names that Windows takes for devices, whatever ending they have."""

_MOST_TRIES = 10_000


def safe_file_name(suggested: str) -> str:
    """Return a file name made of what a server suggests: one component, printable, at most 200 bytes.

    Separators and characters that some system forbids become "_", control and formatting characters (those that
    turn the direction of text round, too) are dropped; a name never begins with a dot, a dash or a space, is
    never that of a device, and is never empty.
    """
    text = unicodedata.normalize("NFC", suggested)
    kept = "".join(
        "_" if character in _FORBIDDEN else " " if character.isspace() else character
        for character in text
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    name = _trimmed(_shortened(_trimmed(kept)))
    if not name:
        return _FALLBACK
    if name.partition(".")[0].rstrip(" ").casefold() in _RESERVED or name.startswith("-"):
        name = f"_{name}"
    return name


def numbered(name: str, number: int) -> str:
    """Return the name of the file `number`; 0 is the name itself, 1 gives "report (1).pdf"."""
    if number == 0:
        return name
    stem, dot, ending = name.rpartition(".")
    return f"{stem} ({number}){dot}{ending}" if stem else f"{name} ({number})"


def place_file(source: Path, directory: Path, name: str) -> Path:
    """Move a file into `directory` under `name`, or under a numbered one where that is taken; return its path.

    Blocks: call it in a thread. Raises OSError.
    """
    for number in range(_MOST_TRIES):
        target = directory / numbered(name, number)
        with suppress(FileExistsError):
            move_new(source, target)
            return target
    raise FileExistsError(f"{_MOST_TRIES} files of the name {name!r} are there already")


def _trimmed(name: str) -> str:
    return name.lstrip(" .").rstrip(" .")


def _shortened(name: str) -> str:
    if len(name.encode()) <= LONGEST_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > _LONGEST_ENDING:
        return _cut(name, LONGEST_NAME)
    kept = f"{dot}{ending}"
    return _cut(stem, LONGEST_NAME - len(kept.encode())) + kept


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")
