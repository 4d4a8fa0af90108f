"""File names of downloads: safe ones from suggested names, and their places in a directory.

Rule: a suggested file name is never used as a path. It is converted to one path component that every file system
accepts, and an existing file is never overwritten.
"""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from pathlib import Path

from cdpengine._launch.private_files import move_new

LONGEST_NAME = 200
"""Maximum length of a file name in UTF-8 bytes. File systems allow 255; the rest is for a number."""

_LONGEST_ENDING = 24
"""Maximum length of the ending that is kept in a shortened name, in bytes."""

_FALLBACK = "download"

_FORBIDDEN = frozenset('<>:"/\\|?*')

_RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "clock$", "conin$", "conout$"]
    + [f"{device}{number}" for device in ("com", "lpt") for number in "0123456789¹²³"]
)
"""Device names of Windows, with any ending."""

_MOST_TRIES = 10_000


def safe_file_name(suggested: str) -> str:
    """Return a safe file name from a suggested one: one printable component of at most 200 bytes.

    Separators and characters forbidden on some system become "_". Control and formatting characters, including
    those that change the text direction, are dropped. A name never begins with a dot, a dash or a space, is never
    a device name, and is never empty.
    """
    text = unicodedata.normalize("NFC", suggested)
    cleaned = "".join(
        "_" if character in _FORBIDDEN else " " if character.isspace() else character
        for character in text
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    name = _trim(_shorten(_trim(cleaned)))
    if not name:
        return _FALLBACK
    if name.partition(".")[0].rstrip(" ").casefold() in _RESERVED or name.startswith("-"):
        name = f"_{name}"
    return name


def numbered(name: str, number: int) -> str:
    """Return the name for the file `number`: 0 is the name itself, 1 gives "report (1).pdf"."""
    if number == 0:
        return name
    stem, dot, ending = name.rpartition(".")
    return f"{stem} ({number}){dot}{ending}" if stem else f"{name} ({number})"


def place_file(source: Path, directory: Path, name: str) -> Path:
    """Move a file into `directory` under `name`, with a number if the name is taken. Return its path.

    Blocks, so call it in a thread. Raises OSError.
    """
    for number in range(_MOST_TRIES):
        target = directory / numbered(name, number)
        with suppress(FileExistsError):
            move_new(source, target)
            return target
    raise FileExistsError(f"{_MOST_TRIES} files named {name!r} exist already")


def _trim(name: str) -> str:
    return name.lstrip(" .").rstrip(" .")


def _shorten(name: str) -> str:
    if len(name.encode()) <= LONGEST_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > _LONGEST_ENDING:
        return _cut(name, LONGEST_NAME)
    suffix = f"{dot}{ending}"
    return _cut(stem, LONGEST_NAME - len(suffix.encode())) + suffix


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")
