"""Download: one file that a page loads, and the temporary folder of such files.

Rule: a Download reports only results confirmed by Chrome or the file system. `path` is set once the file is
complete.

The folder is created with the first file, is readable by its owner only, and is removed with its files when the
browser ends. If the program was killed, the next one that starts a browser removes it (`_launch/owned_folder.py`).
A warning lists files whose path was never requested. A suggested file name is never used as a path: it is
converted to one path component that every file system accepts, and an existing file is never overwritten.
"""

from __future__ import annotations

import unicodedata
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs
import trio

from cdpengine._budget import within
from cdpengine._launch.owned_folder import DOWNLOADS_PREFIX, OwnedFolder, remove_owned
from cdpengine._launch.private_files import move_new
from cdpengine._logs import get_logger
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.browser import DownloadProgressed
from cdpengine.errors import DownloadFailedError, InvalidArgumentError, os_reason, shown_url

if TYPE_CHECKING:
    from cdpengine._page.downloads.downloads import Downloads


DownloadState = Literal["running", "completed", "cancelled", "failed", "refused"]


@attrs.frozen
class DownloadProgress:
    """The progress of a download: received bytes, total bytes (None while unknown), and its state."""

    received: int
    total: int | None
    state: DownloadState


@not_picklable("its URL, or the path of the saved file")
class Download:
    """A download. Get it from `page.expect_download(...)` or `browser.downloads`.

    `url` is its source, `suggested_filename` the server's name for it, which is not trustworthy. `guid` is
    Chrome's id for it. `frame_id` and `context_id` identify the frame and context that loaded it. `refused`: it
    was unexpected. `cancelled`: its end was requested. If it was expected without a directory, its file is in a
    temporary folder, `path.parent`, which is removed when the browser ends.
    """

    def __init__(
        self, downloads: Downloads, guid: str, url: str, suggested_filename: str, frame_id: str
    ) -> None:
        self.guid = guid
        self.url = url
        self.suggested_filename = suggested_filename
        self.frame_id = frame_id
        self.context_id: str | None = None
        self.directory: Path | None = None
        self._staging: Path | None = None
        self.refused = False
        self._is_path_requested = False
        self.cancelled = False
        self._downloads = downloads
        self._state: DownloadState = "running"
        self._received = 0
        self._total: int | None = None
        self._path: Path | None = None
        self._failure = ""

    def __repr__(self) -> str:
        return f"<Download {shown_url(self.url)[:60]!r} {self._state} {self._received}/{self._total}>"

    @property
    def state(self) -> DownloadState:
        """One of "running", "completed", "cancelled", "failed" and "refused" (an unexpected download)."""
        return self._state

    @property
    def ended(self) -> bool:
        """Whether the download is over, with or without a file."""
        return self._state != "running"

    @property
    def received(self) -> int:
        """The number of received bytes."""
        return self._received

    @property
    def total(self) -> int | None:
        """The total number of bytes, or None while the server has not reported it."""
        return self._total

    @property
    def path(self) -> Path | None:
        """The finished file, or None until it is complete and in its place."""
        self._is_path_requested = self._is_path_requested or self._path is not None
        return self._path

    @property
    def failure(self) -> str:
        """The reason for a missing file; "" while the download runs, and when the file exists."""
        return self._failure

    @property
    def progress(self) -> DownloadProgress:
        """The current progress."""
        return DownloadProgress(self._received, self._total, self._state)

    async def progresses(self) -> AsyncIterator[DownloadProgress]:
        """Iterate over the progress: the current one, and each later change up to the end.

        Steps that are faster than the consumer are skipped. Raises ConnectionLostError.
        """
        known: DownloadProgress | None = None
        while known is None or known.state == "running":
            await self._downloads.wait_for_change(self, known)
            known = self.progress
            yield known

    async def wait(self, *, timeout: float = 30) -> Path:
        """Wait until the file is complete and in its place, and return its path.

        Raises DownloadFailedError with the reason if there is no file, DeadlineExceededError (the download
        continues), ConnectionLostError.
        """
        with within(f"wait for the download of {shown_url(self.url)}", timeout) as budget:
            try:
                await self._downloads.wait_until_ended(self)
            except BaseException:
                budget.step(f"{self._received} of {self._total or 'unknown'} bytes received")
                raise
        if self._path is None:
            raise DownloadFailedError(url=self.url, reason=self._failure)
        self._is_path_requested = True
        return self._path

    async def cancel(self, *, timeout: float = 30) -> None:
        """End the download and remove its partial file. Does nothing to a download that has ended.

        Raises DeadlineExceededError, ConnectionLostError.
        """
        with within(f"cancel the download of {shown_url(self.url)}", timeout):
            await self._downloads.cancel(self)

    # --- for Downloads -----------------------------------------------------------------------------------------

    def _note(self, progress: DownloadProgressed) -> None:
        """Update the progress from a report by Chrome."""
        self._received = max(self._received, int(progress.received_bytes))
        self._total = int(progress.total_bytes) or None

    def _end(self, path: Path | None) -> None:
        """Mark the file as complete, with its path if the engine placed it."""
        self._path = path
        self._state = "completed"
        self._failure = "" if path is not None else "Chrome saved it as its own settings define"

    def _fail(self, reason: str) -> None:
        """Mark the download as failed."""
        self._state = "failed"
        self._failure = reason

    def _end_cancelled(self) -> None:
        """Mark the download as ended by Chrome. The reason is a requested cancellation, if any."""
        if self.refused:
            self._state = "refused"
            self._failure = "it was not expected: use page.expect_download()"
        elif self.cancelled:
            self._state = "cancelled"
            self._failure = "it was cancelled"
        else:
            of = "" if self._total is None else f" of {self._total}"
            self._fail(
                f"Chrome gave it up after {self._received}{of} bytes (the server or the network failed)"
            )


logger = get_logger("cdpengine.browser")

_REMOVAL_SECONDS = 5.0


class DownloadFolder:
    """The temporary folder of one browser. It is created on the first use of `path`."""

    def __init__(self) -> None:
        self._owned: OwnedFolder | None = None
        self._making = trio.Lock()

    async def path(self) -> Path:
        """Return the directory for files, created if needed.

        Raises InvalidArgumentError if it cannot be created.
        """
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
        # In a subfolder, because the folder contains an owner file whose name a server could use too.
        return self._owned.path.resolve() / "files"

    async def remove(self, downloads: Iterable[Download]) -> None:
        """Remove the folder with its files, and log the files that were never requested. Bounded and shielded."""
        if self._owned is None:
            return
        owned, self._owned = self._owned, None
        directory = owned.path.resolve() / "files"
        for download in downloads:
            if (
                download.state == "completed"
                and download.directory == directory
                and not download._is_path_requested
            ):
                logger.warning(
                    "the download of %s is removed with the browser, and its path was never requested: give "
                    "expect_download a directory, or use download.wait() before the browser ends",
                    shown_url(download.url),
                )
        with trio.move_on_after(_REMOVAL_SECONDS, shield=True):
            left = await trio.to_thread.run_sync(remove_owned, owned.path, abandon_on_cancel=True)
            if left:
                logger.warning(
                    "the folder of downloads could not be removed completely; remove it by hand: %s",
                    owned.path,
                )
        owned.release()


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
