"""PageExpect: dialogs, downloads and popups that an action makes: expected before it, at hand after it.

Rule: each is an `async with` block around what makes it happen; it has subscribed when the block begins. An
exception of the block leaves as itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cdpengine._api.expectations import Expected, arrive
from cdpengine._api.page_base import PageBase
from cdpengine._api.unresponsive import told_unresponsive
from cdpengine._budget import Budget, within
from cdpengine._page.dialogs import AwaitedDialog, Dialog, DialogAnswer
from cdpengine._page.downloads.download import Download
from cdpengine._page.downloads.downloads import AwaitedDownload
from cdpengine._page.urls import UrlPattern
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine._api.page import Page


class PageExpect(PageBase):
    """The part of a Page that expects."""

    @asynccontextmanager
    async def expect_dialog(
        self, *, accept: bool = True, text: str | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Dialog]]:
        """Expect that the block opens a JavaScript dialog, and have it answered as said, at once.

        `accept` is OK or Cancel; `text` goes into a prompt (None: what stands in it). It is the first dialog of
        the block, of the page or a frame of it; others are answered by the page's policy, and of several
        expectations the outer one is first. After the block, `expected.value` is the Dialog with what really
        came of it. `timeout` (seconds) counts from the beginning of the block, which it does not interrupt.

        Raises DeadlineExceededError when none opened, InvalidArgumentError for a text that would go nowhere,
        SessionGoneError.
        """
        if not isinstance(accept, bool):
            raise InvalidArgumentError(what="accept", given=repr(accept)[:80], expected="True or False")
        if text is not None and (not isinstance(text, str) or not accept):
            raise InvalidArgumentError(
                what="text", given=f"a {type(text).__name__}", expected="a str, and accept=True"
            )
        budget = Budget.start("expect a dialog", timeout)
        expected: Expected[Dialog] = Expected("a dialog")
        dialogs = self._target.dialogs
        with dialogs.expecting(DialogAnswer(accept, text)) as awaited:
            yield expected

            def closed() -> Dialog | None:
                return awaited.shown.dialog if awaited.shown is not None and not awaited.shown.open else None

            async with told_unresponsive(self._target, budget.deadline):
                wait = self._target.wait_for
                await arrive(expected, budget, lambda: wait(closed), lambda: _dialog_seen(awaited))

    @asynccontextmanager
    async def expect_download(
        self, directory: str | Path | None = None, *, timeout: float = 30
    ) -> AsyncIterator[Expected[Download]]:
        """Expect that the block begins a download, and let it come into `directory`, which is made if need be.

        None is the directory that the context allows (`new_context(downloads=...)`, `context.allow_downloads`),
        and without one a temporary folder for this user's eyes only: its files are there until `browser` ends, and
        are removed with it; a warning names one that nobody asked for.

        After the block, `expected.value` is the Download; it has begun, and `await expected.value.wait()` gives
        the path of the whole file. Its name is the server's, made safe, with a number where that name is taken:
        nothing is overwritten, and nothing is ever written outside of the directory. It is the first download
        of the page, of a frame or of a popup of it; others are refused, as they always are, with a record in
        `browser.downloads`. The browser must run on this machine. `timeout` (seconds) counts from the beginning
        of the block, which it does not interrupt.

        When the block raises, a download that it began is cancelled, and its partial file removed; afterwards the
        download goes on, until `browser` ends. A `goto` of something that is a download raises
        NavigationFailedError, here too. Raises DeadlineExceededError when none began, InvalidArgumentError for a
        directory that cannot be one, RemoteError where the browser does not allow it, SessionGoneError,
        ConnectionLostError.
        """
        if directory is None:
            directory = await self.browser.download_events.directory_of(self._target.context_id)
        if not isinstance(directory, str | Path) or not str(directory):
            given = f"a {type(directory).__name__}"
            raise InvalidArgumentError(what="directory", given=given, expected="a path, as str or Path")
        budget = Budget.start("expect a download", timeout)
        expected: Expected[Download] = Expected("a download")
        downloads = self.browser.download_events
        async with AsyncExitStack() as stack:
            with within("expect a download", timeout):
                expecting = downloads.expecting(self._target, Path(directory))
                awaited = await stack.enter_async_context(expecting)
            yield expected
            async with told_unresponsive(self._target, budget.deadline):
                wait = self._target.wait_for
                await arrive(
                    expected, budget, lambda: wait(lambda: awaited.download), self._download_seen(awaited)
                )

    @asynccontextmanager
    async def expect_popup(
        self, *, url: UrlPattern | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Page]]:
        """Expect that the block opens a page whose opener this page is: `window.open`, `target=_blank`.

        With or without `noopener`. As `Browser.expect_page` in everything else.
        """
        own = self.browser.page(self.target_id)
        if own is None:
            raise self.session.error() or InvalidArgumentError(
                what="page", given="a page that is gone", expected="an open page"
            )
        async with self.browser.expect_page(opener=own, url=url, timeout=timeout) as expected:
            yield expected

    def _download_seen(self, awaited: AwaitedDownload) -> Callable[[], str]:
        before = len(self.browser.downloads)

        def seen() -> str:
            others = [record for record in self.browser.downloads[before:] if record is not awaited.download]
            return f"{len(others)} others began" if others else "none began in this page or a popup of it"

        return seen


def _dialog_seen(awaited: AwaitedDialog) -> str:
    if awaited.shown is None:
        return "none opened"
    return f"a {awaited.shown.dialog.type} opened, and Chrome has not told its end"
