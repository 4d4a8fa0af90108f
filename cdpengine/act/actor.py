"""Actor: who acts in a browser by requests: the current page, whose turn it is, and what was seen last.

Rule: requests of one page that change it are done one after another, in the order in which they came; what only
looks, and evaluates, runs beside them, so that a script that never ends holds up nothing. What an actor remembers
of a page goes with the page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._budget import within
from cdpengine.act.requests import ActRequest
from cdpengine.act.searching import ENGINES, SearchEngine
from cdpengine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    EngineError,
    InvalidArgumentError,
    SessionGoneError,
    TargetCrashedError,
)

if TYPE_CHECKING:
    from cdpengine import Browser, BrowserContext, Page, Snapshot

_SETTLING = 1.5
"""Seconds at most in which a page may come to rest before it is looked at for a diff."""

_LOOKING = 3.0
"""Seconds at most in which a page is read for a diff; one that hangs is not waited for."""

_WATCHING = 2.0
"""Seconds at most in which a page may begin to report its console and requests, before it goes to a document."""


_CLOSING = 2.0
"""Seconds at most in which a page is closed that came to nothing."""


@attrs.frozen
class Seen:
    """A snapshot that was given out, the options that it was taken with, and whose document it is of."""

    snapshot: Snapshot
    options: Mapping[str, Any]
    document: str


@attrs.define(eq=False)
class Actor:
    """One user of a browser, who sends requests: an agent, a client of the service.

    It sees the pages of `context`, or of the whole browser without one. `evaluate_enabled` False refuses every
    request that runs a script of the caller's: evaluate, wait with a function, and URLs that are scripts.
    `search_engines` are those that a search request can name. `files` is the folder in which the files lie that
    requests may name, to be read or written; None refuses them all.
    """

    browser: Browser
    context: BrowserContext | None = None
    evaluate_enabled: bool = True
    search_engines: Mapping[str, SearchEngine] = ENGINES
    files: Path | Literal["anywhere"] | None = "anywhere"
    _current: str | None = None
    _turns: dict[str, trio.Lock] = attrs.field(factory=dict, init=False)
    _seen: dict[str, Seen] = attrs.field(factory=dict, init=False)

    @property
    def pages(self) -> list[Page]:
        """The open pages that the actor sees; their places in it are their numbers in `tabs`."""
        self._forget_closed()
        return self.browser.pages if self.context is None else self.context.pages

    @property
    def current(self) -> Page | None:
        """The page that requests without a `target_id` are for: the one that was opened or focused last."""
        pages = self.pages
        return next((page for page in pages if page.target_id == self._current), pages[-1] if pages else None)

    def focus(self, page: Page) -> None:
        """Make a page the current one."""
        self._current = page.target_id

    def page_of(self, request: ActRequest) -> Page:
        """Return the page that a request is for. Raises InvalidArgumentError where there is none."""
        pages = self.pages
        index: int | None = getattr(request, "index", None)
        if index is not None:
            if index < len(pages):
                return pages[index]
            expected = f"0 to {len(pages) - 1}" if pages else "a newTab request: no page is open"
            raise InvalidArgumentError(what=f"{request.kind}.index", given=str(index), expected=expected)
        if request.target_id is None:
            if (current := self.current) is not None:
                return current
            raise InvalidArgumentError(
                what=request.kind, given="no open page", expected="a newTab request first"
            )
        for page in pages:
            if page.target_id == request.target_id:
                return page
        given = f"{request.target_id[:40]!r}, which is not open"
        raise InvalidArgumentError(what="targetId", given=given, expected="one that a tabs request lists")

    async def open_page(self, timeout: float) -> Page:
        """Open a blank page, which becomes the current one, and keep its console and requests."""
        page = await self.browser.new_page(context=self.context, activity=True, timeout=timeout)
        self.focus(page)
        return page

    async def discard(self, page: Page) -> None:
        """Close a page whose opening came to nothing, also while the request is cancelled."""
        with trio.move_on_after(_CLOSING, shield=True), suppress(SessionGoneError, ConnectionLostError):
            await page.close(timeout=_CLOSING)

    @asynccontextmanager
    async def turn(self, page: Page, request: ActRequest, deadline: float) -> AsyncIterator[None]:
        """Wait until it is the request's turn, where it has to. Raises DeadlineExceededError."""
        if not request.in_order:
            yield
            return
        lock = self._turns.setdefault(page.target_id, trio.Lock())
        with within(f"wait for the page's turn to {request.kind}", max(deadline - trio.current_time(), 0)):
            await lock.acquire()
        try:
            yield
        finally:
            lock.release()

    # --- what is seen -----------------------------------------------------------------------------------------

    async def watch(self, page: Page, timeout: float) -> None:
        """Keep the page's console and requests from now on, if it answers in time; a hung one is left alone."""
        if not page.activity.started:
            with suppress(DeadlineExceededError, TargetCrashedError):
                await page.activity.start(timeout=min(timeout, _WATCHING))

    async def look(self, page: Page, timeout: float, **options: Any) -> Snapshot:
        """Take a snapshot, with what changed since the last one of this document that had the same options."""
        last = self._seen_of(page)
        since = last.snapshot if last is not None and last.options == options else None
        snapshot = await page.snapshot(**options, since=since, timeout=timeout)
        self._seen[page.target_id] = Seen(snapshot, options, _document_of(page))
        return snapshot

    async def look_before(self, page: Page, timeout: float) -> None:
        """Take a snapshot before an action whose changes are asked for, unless its document was seen already.

        A page that does not answer is left to the action, which says so.
        """
        if self._seen_of(page) is None:
            last = self._seen.get(page.target_id)
            with suppress(DeadlineExceededError):
                await self.look(page, min(timeout, _LOOKING), **({} if last is None else last.options))

    async def look_after(self, page: Page, timeout: float) -> str:
        """Return what changed on the page since it was seen last, once it is at rest; all of a new document.

        The action is done by now: a page that cannot be read is no failure of it, and is said instead.
        """
        with suppress(DeadlineExceededError):
            await page.settled(timeout=min(_SETTLING, timeout / 2))
        last = self._seen.get(page.target_id)
        try:
            snapshot = await self.look(page, min(timeout, _LOOKING), **({} if last is None else last.options))
        except (DeadlineExceededError, SessionGoneError) as error:
            return f"# not read: {error}"
        return f"# a new document\n{snapshot.text}" if snapshot.diff is None else str(snapshot.diff)

    def _seen_of(self, page: Page) -> Seen | None:
        """Return what was seen of the document that the page has now."""
        last = self._seen.get(page.target_id)
        return last if last is not None and last.document == _document_of(page) else None

    # --- files ------------------------------------------------------------------------------------------------

    def check_file(self, what: str, path: str) -> None:
        """Raise InvalidArgumentError for a file that requests may not name. `what` is the field that names it."""
        if self.files == "anywhere":
            return
        if self.files is None:
            raise InvalidArgumentError(
                what=what, given="a file's name", expected="none: no files may be named here"
            )
        root = self.files.resolve()
        if not Path(path).resolve().is_relative_to(root):
            raise InvalidArgumentError(what=what, given="a file elsewhere", expected=f"a file within {root}")

    # --- what is armed ----------------------------------------------------------------------------------------

    async def arm(self, answer: Callable[[trio.Event], Awaitable[None]], timeout: float) -> None:
        """Begin to expect something of a page, and return once it is expected; `answer` sets the event then.

        It goes on beside later requests until it has come or its own time is over, which is no error.
        """
        expected = trio.Event()
        failures: list[EngineError] = []

        async def run() -> None:
            try:
                await answer(expected)
            except EngineError as error:
                failures.append(error)
            finally:
                expected.set()

        tabs = self.browser._state.tabs  # noqa: SLF001 - its nursery is the engine's own: tasks end with the browser
        tabs.in_background(run)
        with within("arm the answer", timeout):
            await expected.wait()
        if failures:
            raise failures[0]

    def _forget_closed(self) -> None:
        for known in (self._turns, self._seen):
            for target_id in [each for each in known if self.browser.page(each) is None]:
                del known[target_id]


def _document_of(page: Page) -> str:
    return page.frames[0].loader_id if page.frames else ""


_ACTORS: WeakKeyDictionary[Browser, Actor] = WeakKeyDictionary()


def actor_of(browser: Browser | Actor) -> Actor:
    """Return the actor: itself, or the one that a program is for the whole browser, always the same."""
    if isinstance(browser, Actor):
        return browser
    return _ACTORS.setdefault(browser, Actor(browser))
