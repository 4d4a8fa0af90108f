"""Expectations of effects: dialogs, downloads, file choosers and responses.

Rule: each expectation is an `async with` block around the action that causes the effect. It subscribes before the
block begins, so no event of the block is missed. An exception of the block is raised unchanged. If the effect does
not arrive by the deadline, the error lists the observations instead. Chrome's events end the wait; nothing polls.
A response can be read after the block.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from operator import attrgetter
from pathlib import Path
from typing import Generic, TypeVar

import attrs
import trio

from cdpengine._activity.page_activity import stream_responses
from cdpengine._activity.request import Response
from cdpengine._activity.streams import AwaitedResponse
from cdpengine._api.page.core import PageCore
from cdpengine._budget import Budget, within
from cdpengine._checks import check_flag, wrong_type
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.forms.upload import UploadFile, upload
from cdpengine._page.dialogs import AwaitedDialog, Dialog, DialogAnswer
from cdpengine._page.downloads.download import Download
from cdpengine._page.downloads.downloads import AwaitedDownload
from cdpengine._page.file_choosers import AwaitedChooser, FileChooser, OpenedChooser
from cdpengine._page.navigation.expired_actions import explain_deadline
from cdpengine._page.page_target import PageTarget
from cdpengine._page.running_actions import announced
from cdpengine._page.scripts.page_functions import Node
from cdpengine._paths import to_path
from cdpengine._pickling import not_picklable
from cdpengine._urls.patterns import UrlPattern, join_pattern
from cdpengine.errors import InvalidArgumentError, NotInteractableError
from cdpengine.errors.misuse import block

T = TypeVar("T")


@not_picklable("its `value`")
@attrs.define(eq=False)
class Expected(Generic[T]):
    """The result of an `expect_...` block. `value` is available after the block."""

    _expectation: Expectation[T]

    @property
    def value(self) -> T:
        """The expected object. Raises InvalidArgumentError before the end of the block."""
        if not (arrived := self._expectation.arrived):
            raise InvalidArgumentError(
                what="expected.value",
                given=f"read before {self._expectation.what} arrived",
                expected="after the block",
            )
        return arrived[0]


@attrs.define(eq=False)
class Expectation(Generic[T]):
    """The engine's end of an `Expected`: a name for messages (`what`), and the object after its arrival."""

    what: str
    arrived: list[T] = attrs.field(factory=list, init=False)


async def wait_for_expected(
    expectation: Expectation[T], budget: Budget, wait: Callable[[], Awaitable[T]], describe: Callable[[], str]
) -> None:
    """Wait for the expected object and store it. Raises DeadlineExceededError with the last observation.

    An object that arrived during the block counts even if the block used up the timeout.
    """
    with trio.CancelScope(deadline=max(budget.deadline, trio.current_time() + _EXPECTED_TIMEOUT)) as scope:
        expectation.arrived[:] = [await wait()]
    if scope.cancelled_caught:
        budget.step(f"{expectation.what} did not arrive; {describe()}")
        raise budget.exceeded()


_EXPECTED_TIMEOUT = 0.08
"""Minimum time in seconds for an object that arrived during the block to become ready."""


def _describe_dialog(awaited: AwaitedDialog) -> str:
    if awaited.tracked is None:
        return "none opened"
    return f"a {awaited.tracked.dialog.type} opened, but Chrome did not report its end"


def _describe_downloads(core: PageCore, awaited: AwaitedDownload) -> Callable[[], str]:
    records = core.state.downloads.records
    before = len(records)

    def describe() -> str:
        others = [record for record in list(records)[before:] if record is not awaited.record]
        return f"{len(others)} others began" if others else "none began in this page or a popup of it"

    return describe


@not_picklable("its `value`")
@attrs.frozen(eq=False)
class ExpectedFileChooser:
    """The result of `page.expect_file_chooser()`: the page's next file chooser."""

    _page: PageTarget
    _awaited: AwaitedChooser
    _act: Callable[[str, float], AbstractAsyncContextManager[ActionContext]]

    @property
    def value(self) -> FileChooser:
        """The file chooser. Raises InvalidArgumentError before one has opened; read it after the block."""
        if self._awaited.opened is None:
            raise InvalidArgumentError(
                what="value",
                given="read before a file chooser opened",
                expected="after the block",
            )
        return self._awaited.opened.record

    async def _wait_until_opened(self) -> OpenedChooser:
        """Wait until the chooser has opened. Raises the page's error if the page ended."""
        return await self._page.wait_for(lambda: self._awaited.opened)

    @announced("set_files", attrgetter("_page.running"))
    async def set_files(self, *paths: UploadFile, timeout: float = 30) -> ActionOutcome:
        """Wait until the chooser has opened, and choose these files. Raises the errors of `page.upload`.

        The input need not be in a document, because pages create one temporarily. Raises NotInteractableError for
        a chooser without an input, because Chrome refused it to the page.
        """
        async with self._act("choose files", timeout) as context:
            opened = await self._wait_until_opened()
            record = opened.record
            if record.backend_node_id is None:
                raise NotInteractableError(
                    action="choose files in",
                    target="the file chooser",
                    reason="a script opened it without a file input; Chrome gives it no files",
                )
            node = Node(
                opened.session, record.backend_node_id, record.frame_id, "the input of the file chooser"
            )
            outcome = await upload(node, *paths, context=context, attached=False)
            opened.record = attrs.evolve(record, answer="files")
            return outcome


class PageExpectations:
    """The methods of a Page that expect an effect of a block. They use `internals`."""

    internals: PageCore

    @block("page.expect_dialog() as expected")
    async def expect_dialog(
        self, *, accept: bool = True, text: str | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Dialog]]:
        """Expect that the block opens a JavaScript dialog, and answer it immediately.

        `accept` chooses OK (True) or Cancel. `text` is the answer to a prompt; None keeps its default text. The
        first dialog of the page or of a frame counts. The page's policy answers the others. If expectations are
        nested, the outer one gets the first dialog. After the block, `expected.value` is the Dialog with its
        actual result. `timeout` (seconds) counts from the beginning of the block, but does not interrupt it.

        Raises DeadlineExceededError if no dialog opened, InvalidArgumentError for a `text` without `accept`,
        SessionGoneError.
        """
        core = self.internals
        check_flag("accept", accept)
        if text is not None and not isinstance(text, str):
            raise wrong_type("text", text, "a str, the answer to a prompt")
        if text is not None and not accept:
            raise InvalidArgumentError(
                "accept", "False with `text`", "True: `text` is the answer to a prompt"
            )
        budget = Budget.start("expect a dialog", timeout)
        expectation: Expectation[Dialog] = Expectation("a dialog")
        core.target.use()
        with core.target.dialogs.expecting(DialogAnswer(accept, text)) as awaited:
            yield Expected(expectation)

            def closed() -> Dialog | None:
                return (
                    awaited.tracked.dialog
                    if awaited.tracked is not None and not awaited.tracked.open
                    else None
                )

            async with explain_deadline(core.target, budget.deadline):
                wait = core.target.wait_for
                await wait_for_expected(
                    expectation, budget, lambda: wait(closed), lambda: _describe_dialog(awaited)
                )

    @block("page.expect_download() as expected")
    async def expect_download(
        self, directory: str | Path | None = None, *, timeout: float = 30
    ) -> AsyncIterator[Expected[Download]]:
        """Expect that the block begins a download, and save it in `directory`, which is created if needed.

        None means the directory that the context allows (`new_context(downloads=...)`, `context.allow_downloads`).
        Without such a directory, files go into a temporary folder that only this user can read. It is removed when
        `browser` ends, and a warning lists the files whose path was never requested.

        After the block, `expected.value` is the Download, which has begun. `await expected.value.wait()` returns
        the path of the complete file. The file name comes from the server, made safe, with a number if it is
        taken. No file is overwritten or written outside the directory. The first download of the page, a frame or
        a popup counts. Others are refused as usual, with a record in `browser.downloads`. The browser must run on
        this machine. `timeout` (seconds) counts from the beginning of the block, but does not interrupt it.

        If the block raises, a download that it began is cancelled and its partial file removed. After the block,
        the download continues until `browser` ends. `goto` to a download raises NavigationFailedError, here too.
        Raises DeadlineExceededError if no download began, InvalidArgumentError for an invalid directory,
        RemoteError if the browser does not allow downloads, SessionGoneError, ConnectionLostError.
        """
        core = self.internals
        downloads = core.state.downloads
        if directory is None:
            directory = await downloads.directory_of(core.target.context_id)
        place = to_path("directory", directory)
        budget = Budget.start("expect a download", timeout)
        expectation: Expectation[Download] = Expectation("a download")
        async with AsyncExitStack() as stack:
            with within("expect a download", timeout):
                expecting = downloads.expecting(core.target, place)
                awaited = await stack.enter_async_context(expecting)
            describe = _describe_downloads(core, awaited)

            def begun() -> Download | None:
                return None if awaited.record is None else awaited.record.download

            yield Expected(expectation)
            async with explain_deadline(core.target, budget.deadline):
                wait = core.target.wait_for
                await wait_for_expected(expectation, budget, lambda: wait(begun), describe)

    @block("page.expect_response() as expected")
    async def expect_response(
        self,
        url: UrlPattern | None = None,
        *,
        where: Callable[[Response], bool] | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[Expected[Response]]:
        """Expect that the block causes a response. After the block, `expected.value` is the first match.

        Works like `activity.wait_for_response`. `timeout` (seconds) counts from the beginning of the block, but
        does not interrupt the block.
        """
        core = self.internals
        awaited = AwaitedResponse(None if url is None else join_pattern(core.base_url, url), where)
        budget = Budget.start(awaited.words, timeout)
        expectation: Expectation[Response] = Expectation("a response")
        async with AsyncExitStack() as stack:
            async with explain_deadline(core.target, budget.deadline):
                with within(awaited.words, timeout):
                    stream = await stack.enter_async_context(
                        stream_responses(core.state.activities.of(core.target))
                    )
            yield Expected(expectation)
            async with explain_deadline(core.target, budget.deadline):
                await wait_for_expected(
                    expectation, budget, lambda: awaited.next_in(stream), lambda: awaited.observation
                )

    @block("page.expect_file_chooser() as chooser")
    async def expect_file_chooser(self, *, timeout: float = 30) -> AsyncIterator[ExpectedFileChooser]:
        """Expect a file chooser to open in the block, and choose its files.

            async with page.expect_file_chooser() as chooser:
                await page.click("e3")
                await chooser.set_files("report.pdf")

        The end of the block waits until a chooser has opened; `chooser.value` is its record. If `set_files` was
        not called, the input gets no files. Raises DeadlineExceededError if no chooser opened within `timeout`
        seconds of entering the block. An unexpected file chooser is dismissed, and recorded in `file_choosers`.
        """
        core = self.internals
        budget = Budget.start("expect a file chooser", timeout)

        @asynccontextmanager
        async def choose(action: str, timeout: float) -> AsyncIterator[ActionContext]:
            async with core.action(action, timeout) as budget:
                yield core.context(budget)

        async with AsyncExitStack() as stack:
            async with core.action("expect a file chooser", timeout):
                expecting = core.target.choosers.expecting(list(core.target.frame_sessions.values()))
                awaited = await stack.enter_async_context(expecting)
            yield ExpectedFileChooser(core.target, awaited, choose)
            opened: Expectation[OpenedChooser] = Expectation("a file chooser")
            async with explain_deadline(core.target, budget.deadline):
                wait = core.target.wait_for
                await wait_for_expected(
                    opened, budget, lambda: wait(lambda: awaited.opened), lambda: "the page opened none"
                )
