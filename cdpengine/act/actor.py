"""Actor: who acts in a browser by requests: the current page, whose turn it is, and what was seen last.

Rule: requests of one page that change it are done one after another, in the order in which they came; what only
looks, and evaluates, runs beside them, so that a script that never ends holds up nothing. What an actor remembers
of a page goes with the page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._budget import within
from cdpengine._page.dialog_feed import DialogFeed
from cdpengine._paths import to_path
from cdpengine._snapshot.ref import RefNumbers, ref_of_line
from cdpengine.act.observing.held import HeldScope
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import NOT_READ
from cdpengine.act.searching import ENGINES, SearchEngine
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
    from cdpengine.act.cached.hooks import DispatchHook, RequestCache

_SETTLING = 1.5
"""Seconds at most in which a page may come to rest before it is looked at for a diff."""

_LOOKING = 3.0
"""Seconds at most in which a page is read for a diff; one that hangs is not waited for."""

_LOOKING_AT_HUNG = 0.3
"""The same for a page that did not answer already: whether it does by now."""

_AHEAD = 0.04
"""Seconds at most that a navigation's answer waits for what is read ahead."""

_WATCHING = 2.0
"""Seconds at most in which a page may begin to report its console and requests, before it goes to a document."""


_SHORTEST_ID = 8
"""Characters of the shortest id that could be one of Chrome's; shorter numbers are those of `tabs`."""

_CLOSING = 2.0
"""Seconds at most in which a page is closed that came to nothing."""


@attrs.frozen
class Seen:
    """A snapshot that was given out, the options that it was taken with, and whose document it is of."""

    snapshot: Snapshot
    options: Mapping[str, Any]
    document: str

    def is_like(self, options: Mapping[str, Any], document: str) -> bool:
        """Whether a snapshot of this document with these options can be compared with it."""
        return self.document == document and self.options == options


@attrs.define(eq=False)
class Views:
    """What was seen of a page: the snapshot that was asked for last, and the last one of all that it shows."""

    asked: Seen | None = None
    whole: Seen | None = None


@attrs.define(eq=False)
class Actor:
    """One user of a browser, who sends requests: an agent, a client of the service.

    It sees the pages of `context`, or of the whole browser without one. `evaluate_enabled` False refuses every
    request that runs a script of the caller's: evaluate, wait with a function, and URLs that are scripts.
    `search_engines` are those that a search request can name. `files` is the folder in which the files lie that
    requests may name, to be read or written; None refuses them all. `outputs` is the folder of what requests
    write without naming a file. `commands_enabled` False refuses the protocol's own commands and messages, which
    are past all of these limits. `reads_ahead` reads each document that a request goes to at once, for the
    snapshot that is asked for next. `cache` does the requests about an action cache; without one they are refused.
    `hooks` run around each request. `ref_numbers` are the numbers of the refs of all its pages: a program that
    goes on with another browser gives the actor there those of the one before. Dialogs that open on its pages are
    reported from when the actor is made.
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
    hooks: tuple[DispatchHook, ...] = ()
    ref_numbers: RefNumbers = attrs.field(factory=RefNumbers)
    _refusal: tuple[str, str] | None = attrs.field(default=None, init=False)
    """Why the last navigation was refused, and what would allow it, until a page is open."""
    _current: str | None = None
    _dialogs: DialogFeed = attrs.field(init=False)
    _shares: bool = attrs.field(default=False, init=False)
    _turns: dict[str, trio.Lock] = attrs.field(factory=dict, init=False)
    _views: dict[str, Views] = attrs.field(factory=dict, init=False)
    _ahead: dict[str, trio.Event] = attrs.field(factory=dict, init=False)
    _held: dict[tuple[str, str], HeldScope] = attrs.field(factory=dict, init=False)
    """What one request began and another one ends, by what it is and the page that it is of ("": the browser)."""

    def __attrs_post_init__(self) -> None:
        core = None if self.context is None else self.context._core  # noqa: SLF001 - no part of what users have
        self._dialogs = DialogFeed(lambda page: core is None or core.holds(page))
        self.browser._state.tabs.feed_dialogs(self._dialogs)  # noqa: SLF001 - as above

    @property
    def pages(self) -> list[Page]:
        """The open pages that the actor sees; their places in it are their numbers in `tabs`."""
        self._forget_closed()
        pages = self.browser.pages if self.context is None else self.context.pages
        if pages:
            self._share_ref_numbers()
        return pages

    @property
    def current(self) -> Page | None:
        """The page that requests without a `target_id` are for: the one that was opened or focused last."""
        pages = self.pages
        return next((page for page in pages if page.target_id == self._current), pages[-1] if pages else None)

    def take_dialogs(self) -> tuple[list[Dialog], int]:
        """Return the dialogs that were answered and not reported yet, and how many older ones were not kept.

        A page on which another request runs is left out: that request reports its dialogs.
        """

        def is_busy(target_id: str) -> bool:
            turn = self._turns.get(target_id)
            return turn is not None and turn.locked()

        return self._dialogs.take(is_busy)

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
            expected = f"0 to {len(pages) - 1}" if pages else f"{self._how_to_open}: no page is open"
            raise InvalidArgumentError(what=f"{request.kind}.index", given=str(index), expected=expected)
        if request.target_id is None:
            if (current := self.current) is not None:
                return current
            refused = f", because the navigation was refused ({self._refusal[0]})" if self._refusal else ""
            raise InvalidArgumentError(
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
        """Remember why a navigation was refused, where no page is open: requests that need a page say so.

        `remedy` says what would allow it, such as an option of the service.
        """
        if self.current is None:
            self._refusal = reason, remedy

    async def open_page(self, timeout: float) -> Page:
        """Open a blank page, which becomes the current one, and keep its console and requests."""
        self._refusal = None
        self._share_ref_numbers()
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

    async def look(
        self,
        page: Page,
        timeout: float,
        *,
        max_chars: int | None = None,
        max_tokens: int | None = None,
        **options: Any,
    ) -> Snapshot:
        """Take a snapshot, with what changed since the last one of this document that had the same options.

        Its refs count as given only by `give`.

        What changed is that of the whole, also where the text is cut to a size: a change that was cut away would
        else be no change. The whole is read first, which is quick on a page that was read before; where it fits,
        nothing more is asked.
        """
        deadline = trio.current_time() + timeout
        options = _said(options)
        if (ahead := self._ahead.get(page.target_id)) is not None:
            with trio.move_on_after(timeout):  # to read it beside that would take both of them longer
                await ahead.wait()
        timeout = max(round(deadline - trio.current_time(), 3), 0)
        views = self._views.setdefault(page.target_id, Views())
        like = [
            each
            for each in (views.asked, views.whole)
            if each is not None and each.is_like(options, _document_of(page))
        ]
        snapshot = await page._look(**options, since=like[0].snapshot if like else None, timeout=timeout)  # noqa: SLF001 - `give` says what is given
        views.asked = Seen(snapshot, options, _document_of(page))
        if options == _whole(options):
            views.whole = views.asked
        too_long = max_chars is not None and len(snapshot.text) > max_chars
        if not too_long and (max_tokens is None or snapshot.stats.tokens <= max_tokens):
            return snapshot
        left = max(round(deadline - trio.current_time(), 3), 0)
        cut = await page._look(**options, max_chars=max_chars, max_tokens=max_tokens, timeout=left)  # noqa: SLF001 - `give` says what is given
        return attrs.evolve(cut, diff=snapshot.diff)

    async def look_before(self, page: Page, timeout: float) -> None:
        """Take a snapshot before an action whose changes are asked for, unless its document was seen already.

        A page that does not answer is left to the action, which says so.
        """
        views = self._views.setdefault(page.target_id, Views())
        if views.whole is None or views.whole.document != _document_of(page):
            with suppress(DeadlineExceededError):
                await self._look_at_all(page, min(timeout, _LOOKING))

    async def look_after(self, page: Page, timeout: float) -> str:
        """Return what changed on the page since it was seen last, once it is at rest; all of a new document.

        The action is done by now: a page that cannot be read is no failure of it, and is said instead.
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
        """Note that the caller gets a snapshot, or some of its lines: so it knows their refs as they are now."""
        given = snapshot.refs
        if lines is not None:
            given = {name: given[name] for line in lines if (name := ref_of_line(line)) in given}
        page._core.refs.give(given)  # noqa: SLF001 - no part of what users have

    async def read_ahead(self, page: Page, timeout: float) -> None:
        """Begin to read the page's document, and give it a moment: a small one has been read then.

        Nobody has seen it by that: it is only that the next snapshot is quick.
        """
        if not self.reads_ahead or page.target_id in self._ahead:
            return
        done = self._ahead[page.target_id] = trio.Event()

        async def read() -> None:
            try:
                with suppress(EngineError):  # who asks for it is told what is wrong with the page
                    await page._look(timeout=_LOOKING)  # noqa: SLF001 - `give` says what is given
            finally:
                del self._ahead[page.target_id]
                done.set()

        self.begin(read)
        with trio.move_on_after(min(timeout, _AHEAD)):
            await done.wait()

    async def _look_at_all(self, page: Page, timeout: float) -> Snapshot:
        """Take a snapshot of all of the page, in the mode of the last one that was asked for."""
        views = self._views.setdefault(page.target_id, Views())
        asked = views.asked
        options = {} if asked is None else _whole(asked.options)
        document = _document_of(page)
        last = views.whole
        since = last.snapshot if last is not None and last.is_like(options, document) else None
        snapshot = await page._look(**options, since=since, timeout=timeout)  # noqa: SLF001 - `give` says what is given
        views.whole = Seen(snapshot, options, _document_of(page))
        return snapshot

    # --- files ------------------------------------------------------------------------------------------------

    def check_file(self, what: str, path: str) -> None:
        """Raise InvalidArgumentError for a file that requests may not name. `what` is the field that names it."""
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

        self.begin(run)
        with within("arm the answer", timeout):
            await expected.wait()
        if failures:
            raise failures[0]

    def begin(self, task: Callable[..., Awaitable[None]], *args: object) -> None:
        """Run a task that goes on after the request, at most until the browser's end."""
        tabs = self.browser._state.tabs  # noqa: SLF001 - its nursery is the engine's own: tasks end with the browser
        tabs.in_background(task, *args)

    def release(self) -> None:
        """Have everything end that goes on between requests: nobody will end it."""
        for held in self._held.values():
            held.stop()

    def _share_ref_numbers(self) -> None:
        """Have the refs of all its pages take their numbers from the actor's."""
        if not self._shares:
            self._shares = True
            core = None if self.context is None else self.context._core  # noqa: SLF001 - no part of what users have
            self.browser._state.share_ref_numbers(core, self.ref_numbers)  # noqa: SLF001 - as above

    def _forget_closed(self) -> None:
        under_way = {target_id for target_id, turn in self._turns.items() if turn.locked()}
        for known in (self._turns, self._views):
            for target_id in [each for each in known if self.browser.page(each) is None]:
                if target_id not in under_way:
                    del known[target_id]


def _said(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a snapshot without those that say what holds without them, too."""
    return {
        name: value
        for name, value in options.items()
        if value is not None and value is not False and _DEFAULTS.get(name) != value
    }


_DEFAULTS = {"mode": "role", "refs": "actions"}


def _whole(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of a snapshot that leaves nothing out, in the same words."""
    return {name: options[name] for name in ("mode", "refs") if name in options}


def _document_of(page: Page) -> str:
    return page.frames[0].loader_id if page.frames else ""


_ACTORS: WeakKeyDictionary[Browser, Actor] = WeakKeyDictionary()


def actor_of(browser: Browser | Actor) -> Actor:
    """Return the actor: itself, or the one that a program is for the whole browser, always the same."""
    if isinstance(browser, Actor):
        return browser
    known = _ACTORS.get(browser)
    if known is None:
        known = _ACTORS[browser] = Actor(browser)
    return known
