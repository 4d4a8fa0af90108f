"""Download: one file that a page loads, its record for the engine, and the temporary folder of such files.

Rule: a Download reports only results confirmed by Chrome or the file system. `path` is set once the file is
complete.

The folder is created with the first file, is readable by its owner only, and is removed with its files when the
browser ends. If the program was killed, the next one that starts a browser removes it (`_launch/owned_folder.py`).
A warning lists files whose path was never requested.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

import attrs
import trio

from cdpengine._budget import within
from cdpengine._launch.owned_folder import DOWNLOADS_PREFIX, OwnedFolder, remove_owned
from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.browser import DownloadProgressed, DownloadWillBegin
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    DownloadFailedError,
    InvalidArgumentError,
    SessionGoneError,
    os_reason,
    shown_url,
)

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
    Chrome's id for it. `frame_id` identifies the frame that loaded it. If it was expected without a directory, its
    file is in a temporary folder, `path.parent`, which is removed when the browser ends.
    """

    def __init__(self, record: DownloadRecord) -> None:
        self._record = record
        self.guid = record.guid
        self.url = record.url
        self.suggested_filename = record.suggested_filename
        self.frame_id = record.frame_id

    def __repr__(self) -> str:
        progress = self.progress
        return f"<Download {shown_url(self.url)[:60]!r} {self.state} {progress.received}/{progress.total}>"

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the context, or None for the default one."""
        return self._record.context_id

    @property
    def directory(self) -> Path | None:
        """The directory for the file, or None if the engine does not place it."""
        return self._record.directory

    @property
    def refused(self) -> bool:
        """Whether the download was unexpected."""
        return self._record.refused

    @property
    def cancelled(self) -> bool:
        """Whether its end was requested."""
        return self._record.cancelled

    @property
    def state(self) -> DownloadState:
        """One of "running", "completed", "cancelled", "failed" and "refused" (an unexpected download)."""
        return self._record.state

    @property
    def ended(self) -> bool:
        """Whether the download is over, with or without a file."""
        return self._record.ended

    @property
    def received(self) -> int:
        """The number of received bytes."""
        return self._record.received

    @property
    def total(self) -> int | None:
        """The total number of bytes, or None while the server has not reported it."""
        return self._record.total

    @property
    def path(self) -> Path | None:
        """The finished file, or None until it is complete and in its place."""
        return self._record.take_path()

    @property
    def failure(self) -> str:
        """The reason for a missing file; "" while the download runs, and when the file exists."""
        return self._record.failure

    @property
    def progress(self) -> DownloadProgress:
        """The current progress."""
        return self._record.progress

    async def progresses(self) -> AsyncIterator[DownloadProgress]:
        """Iterate over the progress: the current one, and each later change up to the end.

        Steps that are faster than the consumer are skipped. Raises ConnectionLostError.
        """
        known: DownloadProgress | None = None
        while known is None or known.state == "running":
            await self._record.wait_for_change(known)
            known = self.progress
            yield known

    async def wait(self, *, timeout: float = 30) -> Path:
        """Wait until the file is complete and in its place, and return its path.

        Raises DownloadFailedError with the reason if there is no file, DeadlineExceededError (the download
        continues), ConnectionLostError.
        """
        with within(f"wait for the download of {shown_url(self.url)}", timeout) as budget:
            try:
                await self._record.wait_until_ended()
            except BaseException:
                budget.step(f"{self.received} of {self.total or 'unknown'} bytes received")
                raise
        if (path := self.path) is None:
            raise DownloadFailedError(url=self.url, reason=self.failure)
        return path

    async def cancel(self, *, timeout: float = 30) -> None:
        """End the download and remove its partial file. Does nothing to a download that has ended.

        Raises DeadlineExceededError, ConnectionLostError.
        """
        with within(f"cancel the download of {shown_url(self.url)}", timeout):
            await self._record.cancel()


class DownloadRecord:
    """The engine's record of one download; `download` is the object for the user.

    `root` is the browser's session. `changes` is notified of each change of a download. `staging` is the file to
    which Chrome writes. `path_was_requested`: the user knows the path of the file.
    """

    def __init__(
        self, begun: DownloadWillBegin, context_id: str | None, root: Session, changes: Notifier
    ) -> None:
        self.guid = begun.guid
        self.url = begun.url
        self.suggested_filename = begun.suggested_filename
        self.frame_id = begun.frame_id
        self.context_id = context_id
        self.directory: Path | None = None
        self.staging: Path | None = None
        self.refused = False
        self.cancelled = False
        self.path_was_requested = False
        self.state: DownloadState = "running"
        self.received = 0
        self.total: int | None = None
        self.failure = ""
        self.download = Download(self)
        self._path: Path | None = None
        self._root = root
        self._changes = changes

    @property
    def ended(self) -> bool:
        """Whether the download is over, with or without a file."""
        return self.state != "running"

    @property
    def progress(self) -> DownloadProgress:
        """The current progress."""
        return DownloadProgress(self.received, self.total, self.state)

    def take_path(self) -> Path | None:
        """Return the finished file, or None, and note that its path was requested."""
        self.path_was_requested = self.path_was_requested or self._path is not None
        return self._path

    async def wait_for_change(self, known: DownloadProgress | None, *, also_progress: bool = True) -> None:
        """Wait until the download has ended or its progress differs from `known`.

        Raises ConnectionLostError.
        """

        def changed() -> bool:
            if self.ended:
                return True
            if error := self._root.error():
                raise error
            return also_progress and self.progress != known

        await self._changes.wait_for(changed)

    async def wait_until_ended(self) -> None:
        """Wait until the download is complete and in its place, or has ended. Raises ConnectionLostError."""
        await self.wait_for_change(None, also_progress=False)

    async def cancel(self) -> None:
        """Cancel the download in Chrome, and wait until it has ended. Does nothing to an ended download."""
        if self.ended:
            await trio.lowlevel.checkpoint()
            return
        self.post_cancel()
        await self.wait_until_ended()

    def post_cancel(self) -> None:
        """Cancel the download in Chrome without waiting."""
        self.cancelled = True
        # Not awaited: an event reports the result. An error means that the download had already ended.
        with suppress(SessionGoneError, ConnectionLostError):
            self._root.post("Browser.cancelDownload", guid=self.guid, **in_context(self.context_id))

    def note(self, progress: DownloadProgressed) -> None:
        """Update the progress from a report by Chrome."""
        self.received = max(self.received, int(progress.received_bytes))
        self.total = int(progress.total_bytes) or None

    def end(self, path: Path | None) -> None:
        """Mark the file as complete, with its path if the engine placed it."""
        self._path = path
        self.state = "completed"
        self.failure = "" if path is not None else "Chrome saved it as its own settings define"

    def fail(self, reason: str) -> None:
        """Mark the download as failed."""
        self.state = "failed"
        self.failure = reason

    def end_cancelled(self) -> None:
        """Mark the download as ended by Chrome. The reason is a requested cancellation, if any."""
        if self.refused:
            self.state = "refused"
            self.failure = "it was not expected: use page.expect_download()"
        elif self.cancelled:
            self.state = "cancelled"
            self.failure = "it was cancelled"
        else:
            of = "" if self.total is None else f" of {self.total}"
            self.fail(f"Chrome gave it up after {self.received}{of} bytes (the server or the network failed)")


def in_context(context_id: str | None) -> dict[str, str]:
    """Return the parameter of a browser command that names a context."""
    return {} if context_id is None else {"browserContextId": context_id}


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

    async def remove(self, downloads: Iterable[DownloadRecord]) -> None:
        """Remove the folder with its files, and log the files that were never requested. Bounded and shielded."""
        if self._owned is None:
            return
        owned, self._owned = self._owned, None
        directory = owned.path.resolve() / "files"
        for download in downloads:
            if (
                download.state == "completed"
                and download.directory == directory
                and not download.path_was_requested
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
