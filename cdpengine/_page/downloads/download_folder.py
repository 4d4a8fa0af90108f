"""DownloadFolder: where the files go that somebody expects without saying where, until the browser ends.

Rule: it is made with the first such file, for its owner's eyes only, and removed with all that is in it when the
browser ends; where the program was killed, by the next one that starts a browser (`_launch/leftovers.py`). A file
that nobody asked for by then is named in a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import trio

from cdpengine._launch.leftovers import DOWNLOADS_PREFIX
from cdpengine._launch.owned_folder import OwnedFolder, remove_owned
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
