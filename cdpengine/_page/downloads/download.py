"""Download: one file that a page loads; and the folder that keeps such files until the browser ends.

Rule: it says only what Chrome or the file system has confirmed; `path` is there when the whole file is.

The folder is made with the first such file, readable by its owner only, and removed with all its files when
the browser ends; where the program was killed, by the next one that starts a browser (`_launch/owned_folder.py`).
Files that were not fetched by then are named in a warning. A name from outside is text, not a path: what comes out
is one path component that every file system accepts, and a file that exists is never overwritten.
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
    """How far a download is: bytes received, bytes in all (None while that is not known), and its state."""

    received: int
    total: int | None
    state: DownloadState


@not_picklable("its URL, or the path that it was saved to")
class Download:
    """A download. Get it from `page.expect_download(...)`, or look at `browser.downloads`.

    `url` is where it comes from, `suggested_filename` the server's name for it, which is not to be trusted. `guid`
    is Chrome's name of it; `frame_id` and `context_id` say whose it is. `refused`: nobody expected it;
    `cancelled`: it was told to stop. Expected without a directory, its file is in a temporary folder,
    `path.parent`, and is removed when the browser ends.
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
        self._was_asked_for = False
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
        """One of "running", "completed", "cancelled", "failed", and "refused": nobody expected it."""
        return self._state

    @property
    def ended(self) -> bool:
        """Whether nothing will come any more."""
        return self._state != "running"

    @property
    def received(self) -> int:
        """Bytes that have come."""
        return self._received

    @property
    def total(self) -> int | None:
        """Bytes in all; None while the server has not said how many."""
        return self._total

    @property
    def path(self) -> Path | None:
        """The finished file; None until it is whole and in its place."""
        self._was_asked_for = self._was_asked_for or self._path is not None
        return self._path

    @property
    def failure(self) -> str:
        """Why there is no file; "" while it runs and when it is there."""
        return self._failure

    @property
    def progress(self) -> DownloadProgress:
        """How far it is now."""
        return DownloadProgress(self._received, self._total, self._state)

    async def progresses(self) -> AsyncIterator[DownloadProgress]:
        """Iterate over the progress: as it is now, and each time it is another, up to the end.

        Steps that follow each other faster than they are looked at are passed over. Raises ConnectionLostError.
        """
        known: DownloadProgress | None = None
        while known is None or known.state == "running":
            await self._downloads.wait_for_change(self, known)
            known = self.progress
            yield known

    async def wait(self, *, timeout: float = 30) -> Path:
        """Wait until the file is whole and in its place; return its path.

        Raises DownloadFailedError with the reason when it will not come, DeadlineExceededError (the download goes
        on), ConnectionLostError.
        """
        with within(f"wait for the download of {shown_url(self.url)}", timeout) as budget:
            try:
                await self._downloads.wait_until_ended(self)
            except BaseException:
                budget.step(f"{self._received} of {self._total or 'unknown'} bytes had come")
                raise
        if self._path is None:
            raise DownloadFailedError(url=self.url, reason=self._failure)
        self._was_asked_for = True
        return self._path

    async def cancel(self, *, timeout: float = 30) -> None:
        """End the download; its partial file is removed. No error when it has ended: a whole file stays.

        Raises DeadlineExceededError, ConnectionLostError.
        """
        with within(f"cancel the download of {shown_url(self.url)}", timeout):
            await self._downloads.cancel(self)

    # --- for Downloads -----------------------------------------------------------------------------------------

    def _note(self, progress: DownloadProgressed) -> None:
        """Take what Chrome says of the bytes."""
        self._received = max(self._received, int(progress.received_bytes))
        self._total = int(progress.total_bytes) or None

    def _end(self, path: Path | None) -> None:
        """Note that the file is whole, and where it is, if it is ours."""
        self._path = path
        self._state = "completed"
        self._failure = "" if path is not None else "Chrome put it where its own settings say"

    def _fail(self, reason: str) -> None:
        """Note why there will be no file."""
        self._state = "failed"
        self._failure = reason

    def _end_cancelled(self) -> None:
        """Note that Chrome has ended it, for a reason that it does not tell: ours, if we had asked for it."""
        if self.refused:
            self._state = "refused"
            self._failure = "nobody expected it: use page.expect_download()"
        elif self.cancelled:
            self._state = "cancelled"
            self._failure = "it was cancelled"
        else:
            of = "" if self._total is None else f" of {self._total}"
            self._fail(
                f"Chrome gave it up after {self._received}{of} bytes (the server or the network broke off)"
            )


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
                and not download._was_asked_for
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
    name = _trim(_shorten(_trim(kept)))
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


def _trim(name: str) -> str:
    return name.lstrip(" .").rstrip(" .")


def _shorten(name: str) -> str:
    if len(name.encode()) <= LONGEST_NAME:
        return name
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending.encode()) > _LONGEST_ENDING:
        return _cut(name, LONGEST_NAME)
    kept = f"{dot}{ending}"
    return _cut(stem, LONGEST_NAME - len(kept.encode())) + kept


def _cut(text: str, most: int) -> str:
    return text.encode()[:most].decode(errors="ignore")
