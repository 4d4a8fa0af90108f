"""Download: one file that a page loads: how far it is, where it is in the end, or why it is not.

Rule: it says only what Chrome or the file system has confirmed; `path` is there when the whole file is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from cdpengine._budget import within
from cdpengine._protocol.domains.browser import DownloadProgressed
from cdpengine.errors import DownloadFailedError, shown_url

if TYPE_CHECKING:
    from cdpengine._page.downloads.downloads import Downloads

DownloadState = Literal["running", "completed", "cancelled", "failed", "refused"]


@attrs.frozen
class DownloadProgress:
    """How far a download is: bytes received, bytes in all (None while that is not known), and its state."""

    received: int
    total: int | None
    state: DownloadState


class Download:
    """A download. Get it from `page.expect_download(...)`, or look at `browser.downloads`.

    `url` is where it comes from, `suggested_filename` the server's name for it, which is not to be trusted.
    Expected without a directory, its file is in a temporary folder, `path.parent`, and is removed when the browser
    ends.
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
        self.staging: Path | None = None
        self.refused = False
        self.was_asked_for = False
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
        self.was_asked_for = self.was_asked_for or self._path is not None
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
        self.was_asked_for = True
        return self._path

    async def cancel(self, *, timeout: float = 30) -> None:
        """End the download; its partial file is removed. No error when it has ended: a whole file stays.

        Raises DeadlineExceededError, ConnectionLostError.
        """
        with within(f"cancel the download of {shown_url(self.url)}", timeout):
            await self._downloads.cancel(self)

    # --- for Downloads -----------------------------------------------------------------------------------------

    def note(self, progress: DownloadProgressed) -> None:
        """Take what Chrome says of the bytes."""
        self._received = max(self._received, int(progress.received_bytes))
        self._total = int(progress.total_bytes) or None

    def end(self, path: Path | None) -> None:
        """Note that the file is whole, and where it is, if it is ours."""
        self._path = path
        self._state = "completed"
        self._failure = "" if path is not None else "Chrome put it where its own settings say"

    def fail(self, reason: str) -> None:
        """Note why there will be no file."""
        self._state = "failed"
        self._failure = reason

    def end_cancelled(self) -> None:
        """Note that Chrome has ended it, for a reason that it does not tell: ours, if we had asked for it."""
        if self.refused:
            self._state = "refused"
            self._failure = "nobody expected it: use page.expect_download()"
        elif self.cancelled:
            self._state = "cancelled"
            self._failure = "it was cancelled"
        else:
            of = "" if self._total is None else f" of {self._total}"
            self.fail(
                f"Chrome gave it up after {self._received}{of} bytes (the server or the network broke off)"
            )
