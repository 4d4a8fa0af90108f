"""DownloadFolder: the files of downloads until the browser ends, and safe names for them.

Rule: the folder is made with the first such file, readable by its owner only, and removed with all its files when
the browser ends; where the program was killed, by the next one that starts a browser (`_launch/owned_folder.py`).
Files that were not fetched by then are named in a warning. A name from outside is text, not a path: what comes out
is one path component that every file system accepts, and a file that exists is never overwritten.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import trio

from cdpengine._launch.owned_folder import DOWNLOADS_PREFIX, OwnedFolder, remove_owned
from cdpengine._launch.private_files import move_new
from cdpengine._logs import get_logger
from cdpengine._page.downloads.download import Download
from cdpengine.errors import InvalidArgumentError, os_reason, shown_url

logger = get_logger("cdpengine.browser")

_REMOVAL_SECONDS = 5.0


class DownloadFolder:
    """The folder of one browser. Nothing is on the disk before `path` is asked for."""

    def __init__(self) -> None:
        self._owned: OwnedFolder | None = None
        self._making = trio.Lock()

    async def path(self) -> Path:
        """Return the directory for files, made if need be. Raises InvalidArgumentError where none can be made."""
        async with self._making:
            if self._owned is None:
                try:
                    self._owned = await trio.to_thread.run_sync(OwnedFolder.make, DOWNLOADS_PREFIX)
                except OSError as error:
                    raise InvalidArgumentError(
                        what="directory",
                        given=f"none, and no temporary folder can be made ({os_reason(error)})",
                        expected="a directory for the file",
                    ) from error
        # Beside the folder's own file, whose name a server could give as well.
        return self._owned.path.resolve() / "files"

    async def remove(self, downloads: Iterable[Download]) -> None:
        """Remove it with its files, and name those that nobody had asked for. Bounded and shielded."""
        if self._owned is None:
            return
        owned, self._owned = self._owned, None
        directory = owned.path.resolve() / "files"
        for download in downloads:
            if (
                download.state == "completed"
                and download.directory == directory
                and not download.was_asked_for
            ):
                logger.warning(
                    "the download of %s is removed with the browser, and nobody had asked where it is: give "
                    "expect_download a directory, or use download.wait() before the browser ends",
                    shown_url(download.url),
                )
        with trio.move_on_after(_REMOVAL_SECONDS, shield=True):
            left = await trio.to_thread.run_sync(remove_owned, owned.path, abandon_on_cancel=True)
            if left:
                logger.warning(
                    "the folder of downloads could not be removed whole: remove it by hand: %s", owned.path
                )
        owned.release()


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
