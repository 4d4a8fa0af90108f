"""Actor: one user of a browser, with the current page, the order of requests, and the last snapshots.

The program can add hooks, which run around each request, and a cache, which performs the requests about it.

Rule: requests that change the same page run one after another, in order of arrival. Requests that only read,
and evaluate, run concurrently, so that a script that never ends blocks nothing. The actor forgets a page when
it closes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._budget import within
from cdpengine._page.announcing import GivenText, note_given
from cdpengine._page.dialog_feed import DialogFeed
from cdpengine._paths import to_path
from cdpengine._snapshot.ref import RefNumbers, ref_of_line
from cdpengine.act.observing.lasting_settings import LastingSettings
from cdpengine.act.observing.open_scope import OpenScopes
from cdpengine.act.requests import ActRequest, CacheRequest
from cdpengine.act.response import NOT_READ, ActResponse, NoOpenPageError
from cdpengine.act.searching import ENGINES, SearchEngine
from cdpengine.act.views import View, Views, complete_options, document_of, take_snapshot, without_defaults
from cdpengine.act.words.wording import in_requests
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
    from cdpengine._page.dialogs import Dialog
    from cdpengine._storage.saved_states import SavedStates

_SETTLING = 1.5
"""Maximum time for a page to become idle before the snapshot for a diff, in seconds."""

_LOOKING = 3.0
"""Timeout of the snapshot for a diff, in seconds; an unresponsive page has no diff."""

_LOOKING_AT_HUNG = 0.3
"""The same timeout for a page that did not respond before, in seconds."""

_AHEAD = 0.04
"""Maximum delay of a navigation's response for reading ahead, in seconds."""

_WATCHING = 2.0
"""Timeout for starting a page's console and request logs before it navigates, in seconds."""


_SHORTEST_ID = 8
"""Minimum length of a target id of Chrome, in characters; shorter numbers are indexes in `tabs`."""

_CLOSING = 2.0
"""Timeout for closing a page whose opening failed, in seconds."""


@attrs.frozen
class DispatchHook:
    """Functions that an actor runs around its requests (`Actor.hooks`).

    `before` runs before a request. `after` gets the response and returns the response for the caller; dialogs
    are added to its effects after that.
    """

    before: Callable[[Actor, ActRequest], Awaitable[None]] | None = None
    after: Callable[[Actor, ActRequest, ActResponse], Awaitable[ActResponse]] | None = None


class RequestCache(Protocol):
    """Performs the requests about the cache (`Actor.cache`), like `cdpengine.cache.CacheRequests`."""

    async def perform(self, request: CacheRequest, *, actor: Actor, page: Page | None, timeout: float) -> Any:
        """Perform a request of `actor` within `timeout` seconds, and return its result as JSON data.

        `page` is the page of the request, None for a kind without one.
        """


@attrs.define(eq=False)
class Actor:
    """One user of a browser, such as an agent or a client of the service.

    It sees the pages of `context`, or of the whole browser without one. `evaluate_enabled` False refuses every
    request that runs a script of the caller: evaluate, wait with a function, and URLs that are scripts.
    `search_engines` are the engines for search requests. `files` is the folder whose files requests may read or
    write, also by a URL; None refuses all. `outputs` is the folder for files that requests write without a name.

    `commands_enabled` False refuses protocol commands and messages, which bypass all of these limits.
    `reads_ahead` reads each new document immediately, for the next snapshot. `cache` performs the requests
    about an action cache; without one they are refused. `states` are the saved states that requests may save and
    load. `hooks` run around each request.

    `borrows_pages`: the open pages belong to a person, so requests use one only after a focusTab request, or by
    its `target_id`. `ref_numbers` are the numbers of the refs on all pages. A program that continues with
    another browser passes the numbers of the previous actor. The actor reports dialogs of its pages that open
    after its creation.
    `scopes` are open measurements, recordings and the like, which one request begins and a later one ends.
    `lasting` are routes and other settings of the pages, which last until a later request ends them.
    `restored_origins` are the origins of loaded states, for the next save.
    """

    browser: Browser
    context: BrowserContext | None = None
    evaluate_enabled: bool = True
    search_engines: Mapping[str, SearchEngine] = ENGINES
    files: Path | Literal["anywhere"] | None = "anywhere"
    outputs: Path | None = None
    commands_enabled: bool = True
    reads_ahead: bool = False
    cache: RequestCache | None = None
    states: SavedStates | None = None
    hooks: tuple[DispatchHook, ...] = ()
    borrows_pages: bool = False
    ref_numbers: RefNumbers = attrs.field(factory=RefNumbers)
    _refusal: tuple[str, str] | None = attrs.field(default=None, init=False)
    """The reason and the remedy of the last refused navigation, until a page is open."""
    _current: str | None = None
    _dialogs: DialogFeed = attrs.field(init=False)
    _shares: bool = attrs.field(default=False, init=False)
    _turns: dict[str, trio.Lock] = attrs.field(factory=dict, init=False)
    _views: dict[str, Views] = attrs.field(factory=dict, init=False)
    _ahead: dict[str, trio.Event] = attrs.field(factory=dict, init=False)
    scopes: OpenScopes = attrs.field(init=False)
    lasting: LastingSettings = attrs.field(factory=LastingSettings, init=False)
    restored_origins: set[str] = attrs.field(factory=set, init=False)

    def __attrs_post_init__(self) -> None:
        self.scopes = OpenScopes(self.begin)
        core = None if self.context is None else self.context.internals
        self._dialogs = DialogFeed(lambda page: core is None or core.holds(page))
        self.browser.internals.tabs.feed_dialogs(self._dialogs)

    @property
    def pages(self) -> list[Page]:
        """The open pages of the actor; their indexes are their numbers in `tabs`."""
        self._forget_closed()
        pages = self.browser.pages if self.context is None else self.context.pages
        if pages:
            self._share_ref_numbers()
        return pages

    @property
    def current(self) -> Page | None:
        """The page for requests without a `target_id`: the last opened or focused one."""
        pages = self.pages
        last = pages[-1] if pages and not self.borrows_pages else None
        return next((page for page in pages if page.target_id == self._current), last)

    def take_dialogs(self) -> tuple[list[Dialog], int]:
        """Return the answered dialogs that were not reported yet, and the number of older, dropped ones.

        It omits a page with another running request: that request reports the page's dialogs.
        """

        def is_busy(target_id: str) -> bool:
            turn = self._turns.get(target_id)
            return turn is not None and turn.locked()

        return self._dialogs.take(is_busy)

    def focus(self, page: Page) -> None:
        """Make a page the current one."""
        self._current = page.target_id

    def page_of(self, request: ActRequest) -> Page:
        """Return the page of a request. Raises InvalidArgumentError if it does not exist."""
        pages = self.pages
        index: int | None = getattr(request, "index", None)
        if index is not None:
            if index < len(pages):
                return pages[index]
            expected = f"0 to {len(pages) - 1}" if pages else f"{self._how_to_open}: no page is open"
            raise InvalidArgumentError(what=f"{request.kind}.index", given=str(index), expected=expected)
        if request.target_id is None:
            if (current := self.current) is not None:
                return current
            if pages:
                expected = (
                    "a navigate request, which opens a tab, or a focusTab request for an open one, first"
                )
                raise NoOpenPageError(what=request.kind, given="no chosen page", expected=expected)
            refused = f", because the navigation was refused ({self._refusal[0]})" if self._refusal else ""
            raise NoOpenPageError(
                what=request.kind, given=f"no open page{refused}", expected=f"{self._how_to_open} first"
            )
        for page in pages:
            if page.target_id == request.target_id:
                return page
        number = request.target_id
        if (
            number.isdecimal()
            and number.isascii()
            and len(number) < _SHORTEST_ID
            and int(number) < len(pages)
        ):
            return pages[int(number)]
        given = f"{request.target_id[:40]!r}, which is not open"
        raise InvalidArgumentError(
            what="targetId", given=given, expected="an id or number that a tabs request lists"
        )

    @property
    def _how_to_open(self) -> str:
        if self._refusal:
            return f"a navigate request to another URL{' or ' if self._refusal[1] else ''}{self._refusal[1]}"
        return "a navigate request, or a newTab request,"

    def note_refusal(self, reason: str, remedy: str = "") -> None:
        """Record why a navigation was refused while no page is open. Requests that need a page report it.

        `remedy` is the way to allow it, such as an option of the service.
        """
        if self.current is None:
            self._refusal = reason, remedy

    async def open_page(self, timeout: float) -> Page:
        """Open a blank page, make it the current one, and keep its console and requests."""
        self._refusal = None
        self._share_ref_numbers()
        page = await self.browser.new_page(context=self.context, activity=True, timeout=timeout)
        self.focus(page)
        return page

    async def discard(self, page: Page) -> None:
        """Close a page whose opening failed, even if the request is cancelled."""
        with trio.move_on_after(_CLOSING, shield=True), suppress(SessionGoneError, ConnectionLostError):
            await page.close(timeout=_CLOSING)

    @asynccontextmanager
    async def turn(self, page: Page, request: ActRequest, deadline: float) -> AsyncIterator[None]:
        """Wait for the request's turn, if it must run in order. Raises DeadlineExceededError."""
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

    # --- snapshots
    # ------------------------------------------------------------------------------------------------

    async def watch(self, page: Page, timeout: float) -> None:
        """Keep the page's console and requests from now on, if it responds in time."""
        if not page.activity.started:
            with suppress(DeadlineExceededError, TargetCrashedError):
                await page.activity.start(timeout=min(timeout, _WATCHING))

    async def look(
        self,
        page: Page,
        timeout: float,
        *,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> Snapshot:
        """Take a snapshot, with a diff from the last one of this document that had the same options.

        Its refs count as known to the caller only after `give`.

        The diff compares complete snapshots, even if the result is cut to a size: otherwise it would lack
        changes in the rest. So the complete snapshot is taken first, which is fast for a page that was read
        before. If it fits, it is the result.
        """
        deadline = trio.current_time() + timeout
        options = without_defaults(options)
        if (ahead := self._ahead.get(page.target_id)) is not None:
            with trio.move_on_after(timeout):  # reading both at the same time would slow both down
                await ahead.wait()
        timeout = max(round(deadline - trio.current_time(), 3), 0)
        views = self._views.setdefault(page.target_id, Views())
        like = [
            each
            for each in (views.requested, views.whole)
            if each is not None and each.is_like(options, document_of(page))
        ]
        since = like[0].snapshot if like else None
        snapshot = await take_snapshot(page, since=since, timeout=timeout, **options)
        views.requested = View(snapshot, options, document_of(page))
        if options == complete_options(options):
            views.whole = views.requested
        too_long = max_chars is not None and len(snapshot.text) > max_chars
        if not too_long and (max_tokens is None or snapshot.stats.tokens <= max_tokens):
            return snapshot
        left = max(round(deadline - trio.current_time(), 3), 0)
        cut = await take_snapshot(page, timeout=left, max_chars=max_chars, max_tokens=max_tokens, **options)
        return attrs.evolve(cut, diff=snapshot.diff)

    async def look_before(self, page: Page, timeout: float) -> None:
        """Take a snapshot before an action that returns a diff, unless the caller already has one of the document.

        If the page does not respond, the action reports that.
        """
        views = self._views.setdefault(page.target_id, Views())
        if views.whole is None or views.whole.document != document_of(page):
            with suppress(DeadlineExceededError):
                await self._look_at_all(page, min(timeout, _LOOKING))

    async def look_after(self, page: Page, timeout: float) -> str:
        """Wait until the page is idle. Return its changes since the last snapshot, or all of a new document.

        The action has succeeded by now, so a failure to read the page is reported in the returned text.
        """
        longest = _LOOKING
        try:
            try:
                await page.settled(timeout=min(_SETTLING, timeout / 2))
            except DeadlineExceededError:
                if await page.measure.unresponsive_for():
                    longest = _LOOKING_AT_HUNG
            snapshot = await self._look_at_all(page, min(timeout, longest))
        except (DeadlineExceededError, SessionGoneError) as error:
            return f"{NOT_READ}{in_requests(str(error))}"
        self.give(page, snapshot, None if snapshot.diff is None else snapshot.diff.lines)
        return f"# a new document\n{snapshot.text}" if snapshot.diff is None else str(snapshot.diff)

    def give(self, page: Page, snapshot: Snapshot, lines: Iterable[str] | None = None) -> None:
        """Record that the caller receives a snapshot or some of its lines, and so knows their refs."""
        refs = snapshot.refs
        if lines is None:
            note_given(GivenText(snapshot, snapshot.text))
        else:
            lines = list(lines)
            refs = {name: refs[name] for line in lines if (name := ref_of_line(line)) in refs}
            changes = snapshot.diff is not None and lines == snapshot.diff.lines
            note_given(
                GivenText(snapshot, None, str(snapshot.diff))
                if changes
                else GivenText(snapshot, "\n".join(lines))
            )
        page.internals.give(refs)

    async def read_ahead(self, page: Page, timeout: float) -> None:
        """Begin to read the page's document. Waits a moment, which is enough for a small document.

        This only makes the next snapshot fast; it does not count as a snapshot that the caller has seen.
        """
        if not self.reads_ahead or page.target_id in self._ahead:
            return
        done = self._ahead[page.target_id] = trio.Event()

        async def read() -> None:
            try:
                with suppress(EngineError):  # the next snapshot reports the fault
                    await take_snapshot(page, timeout=_LOOKING)
            finally:
                del self._ahead[page.target_id]
                done.set()

        self.begin(read)
        with trio.move_on_after(min(timeout, _AHEAD)):
            await done.wait()

    async def _look_at_all(self, page: Page, timeout: float) -> Snapshot:
        """Take a complete snapshot of the page, in the mode of the last requested one."""
        views = self._views.setdefault(page.target_id, Views())
        requested = views.requested
        options = {} if requested is None else complete_options(requested.options)
        document = document_of(page)
        last = views.whole
        since = last.snapshot if last is not None and last.is_like(options, document) else None
        snapshot = await take_snapshot(page, since=since, timeout=timeout, **options)
        views.whole = View(snapshot, options, document_of(page))
        return snapshot

    # --- files ------------------------------------------------------------------------------------------------

    def check_file(self, what: str, path: str) -> None:
        """Raise InvalidArgumentError for a file that requests may not use. `what` is the field that names it."""
        place = to_path(what, path)
        if self.files == "anywhere":
            return
        if self.outputs is not None and place.resolve().is_relative_to(self.outputs.resolve()):
            return
        if self.files is None:
            raise InvalidArgumentError(
                what=what, given="a file's name", expected="none: no files may be named here"
            )
        root = self.files.resolve()
        if not place.resolve().is_relative_to(root):
            raise InvalidArgumentError(what=what, given="a file elsewhere", expected=f"a file within {root}")

    # --- expectations
    # ---------------------------------------------------------------------------------------------

    async def arm(self, answer: Callable[[trio.Event], Awaitable[None]], timeout: float) -> None:
        """Start the task `answer`, which expects an event of a page.

        Return when it sets the event that it receives. The expectation continues during later requests until it is
        met or times out, which is no error.
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

        self.begin(run)
        with within("arm the answer", timeout):
            await expected.wait()
        if failures:
            raise failures[0]

    def begin(self, task: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run a task that continues after the request, until the browser ends at the latest."""
        tabs = self.browser.internals.tabs
        tabs.in_background(task, *args)

    def release(self) -> None:
        """End everything that continues between requests."""
        self.scopes.stop()

    def _share_ref_numbers(self) -> None:
        """Let the refs of all pages take their numbers from the actor."""
        if not self._shares:
            self._shares = True
            core = None if self.context is None else self.context.internals
            self.browser.internals.share_ref_numbers(core, self.ref_numbers)

    def _forget_closed(self) -> None:
        under_way = {target_id for target_id, turn in self._turns.items() if turn.locked()}
        for known in (self._turns, self._views):
            for target_id in [each for each in known if self.browser.page(each) is None]:
                if target_id not in under_way:
                    del known[target_id]


_ACTORS: WeakKeyDictionary[Browser, Actor] = WeakKeyDictionary()


def actor_of(browser: Browser | Actor) -> Actor:
    """Return an Actor unchanged, or the actor of the whole browser, which is created once."""
    if isinstance(browser, Actor):
        return browser
    known = _ACTORS.get(browser)
    if known is None:
        known = _ACTORS[browser] = Actor(browser)
    return known
