"""Collection of a page's activity over all its sessions (Collector), for all pages of a browser (Activities).

Rule: a page without requested activity has no collector and no cost. Collection of a new page starts before its
first script; so does collection of every page that a collected page opens.

A part (console, errors, requests) is switched on by its first user and off by its last. It is followed in the
sessions of the page, its frames and its workers. The reader takes the events, so nothing is lost before a
consumer's bound, and nothing waits for a consumer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from cdpengine._activity.body_store import BodyStore
from cdpengine._activity.message_collector import MessageCollector
from cdpengine._activity.options import ActivityOptions, Part
from cdpengine._activity.request_collector import RequestCollector
from cdpengine._activity.streams import Subscribers
from cdpengine._activity.values import ValueReader
from cdpengine._activity.websocket_collector import WebSocketCollector
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains import network
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.feed import CRASHED
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, SessionGoneError

_DOMAINS: dict[Part, tuple[str, ...]] = {
    "console": ("Runtime", "Log"),
    "errors": ("Runtime",),
    "requests": ("Network",),
}

_CONTEXTS_REPLACED = "Runtime.executionContextsCleared"
"""Event after which Chrome reports the messages of a document from the back/forward cache."""

_NOTHING = ActivityOptions(console=0, errors=0, requests=0)


class Collector:
    """Collects the activity of one page from its creation on. `reader` reads values in the page.

    `messages` and `requests` take the events of the parts.
    """

    def __init__(self, page: PageTarget, reader: ValueReader | None = None) -> None:
        self.page = page
        self.options: ActivityOptions | None = None
        self.subscribers = Subscribers(page.session)
        self.messages = MessageCollector(self.subscribers, reader)
        self.requests = RequestCollector(page, self.subscribers)
        self.websockets = WebSocketCollector(self.subscribers, self.requests.request)
        self.lingering = False
        self._users: Counter[Part] = Counter()
        self._switched_on: dict[Part, list[SharedCall]] = {}
        self._on: dict[tuple[str | None, Part], Callable[[], None]] = {}
        self._known: set[str | None] = set()
        page.session.on_end(self.subscribers.end)
        page.session.on_event(CRASHED, self._crash_page)
        page.session.on_event("Page.frameNavigated", self._note_navigation)

    def apply(self, options: ActivityOptions | None) -> list[SharedCall]:
        """Keep the parts in the options from now on; None keeps nothing more. Kept data stays.

        Returns the calls that must be answered before all parts are on. Raises SessionGoneError,
        TargetCrashedError or ConnectionLostError without changing anything.
        """
        settings = options or _NOTHING
        before = frozenset() if self.options is None else self.options.parts
        calls = self.acquire(settings.parts - before)
        self.messages.console.keep(settings.console)
        self.messages.errors.keep(settings.errors)
        self.requests.kept.keep(settings.requests)
        self.websockets.keep(settings.websockets if settings.requests else 0, settings.messages)
        bodies = settings.bodies
        self.requests.body_store = None if bodies is None else BodyStore(bodies, self.page.nursery)
        self.options = options
        self.release(before - settings.parts)
        return calls

    def acquire(self, parts: Iterable[Part]) -> list[SharedCall]:
        """Add a user to each part; the first one switches it on. Returns and raises like `apply`."""
        calls: list[SharedCall] = []
        counted: list[Part] = []
        try:
            for part in parts:
                counted.append(part)
                self._users[part] += 1
                if self._users[part] == 1:
                    self._switched_on[part] = self._switch_on(part)
                calls += self._switched_on[part]
        except BaseException:
            self.release(counted)
            raise
        return calls

    def release(self, parts: Iterable[Part]) -> None:
        """Remove a user from each part; the last one switches it off."""
        for part in parts:
            self._users[part] -= 1
            if not self._users[part]:
                self._switched_on.pop(part, None)
                self._switch_off(part)

    def join(self, session: Session) -> None:
        """Follow another session of the page. Called before it runs its first script."""
        for part, users in self._users.items():
            if users:
                with suppress(SessionGoneError, ConnectionLostError):
                    self._follow(session, part)

    def clear(self, keep_loader: str | None = None) -> None:
        """Drop the kept items, except the requests of the document `keep_loader`."""
        self.messages.clear()
        self.requests.clear(keep_loader)
        self.websockets.clear()

    def linger(self) -> list[SharedCall]:
        """Follow requests until `stop_lingering`, so that bodies of awaited responses stay readable."""
        if self.lingering:
            return []
        calls = self.acquire(["requests"])
        self.lingering = True
        return calls

    def stop_lingering(self) -> None:
        """End the effect of `linger`."""
        if self.lingering:
            self.lingering = False
            self.release(["requests"])

    def _switch_on(self, part: Part) -> list[SharedCall]:
        if part == "requests":
            self.requests.begin()
        calls = self._follow(self.page.session, part)
        for session in [*self.page.frame_sessions.values(), *self.page.worker_sessions.values()]:
            if session is not self.page.session:
                with suppress(SessionGoneError):  # it ended or crashed
                    self._follow(session, part)
        return calls

    def _follow(self, session: Session, part: Part) -> list[SharedCall]:
        if (session.id, part) in self._on:
            return []
        listeners = [
            (method, partial(listener, session)) for method, listener in self._listeners(part).items()
        ]
        domains = _DOMAINS[part]
        if part != "requests":
            listeners.append((_CONTEXTS_REPLACED, partial(self.messages.expect_repeats, session)))
            self.messages.expect_repeats(session)
        # Before enabling: the page's earlier messages arrive immediately afterwards.
        for method, listener in listeners:
            session.on_event(method, listener)

        def leave() -> None:
            for method, listener in listeners:
                session.off_event(method, listener)
            session.domains.release(*domains)

        try:
            calls = session.domains.acquire(*domains)
        except BaseException:
            for method, listener in listeners:
                session.off_event(method, listener)
            raise
        self._on[session.id, part] = leave
        if session.id not in self._known:
            self._known.add(session.id)
            session.on_end(partial(self._end_session, session))
        return calls

    def _listeners(self, part: Part) -> dict[str, Callable[[Session, Event], None]]:
        if part == "console":
            return {
                "Runtime.consoleAPICalled": self.messages.take_call,
                "Log.entryAdded": self.messages.take_entry,
            }
        if part == "errors":
            return {
                "Runtime.exceptionThrown": self.messages.take_exception,
                "Runtime.exceptionRevoked": self.messages.take_revocation,
            }
        return {
            **dict.fromkeys(network.REQUEST_EVENTS, self.requests.take),
            **dict.fromkeys(network.WEBSOCKET_EVENTS, self._take_socket_event),
            **dict.fromkeys(network.WEBTRANSPORT_EVENTS, self.websockets.take_transport),
        }

    def _take_socket_event(self, session: Session, event: Event) -> None:
        if event.method in network.REQUEST_EVENTS:
            self.requests.take(session, event)
        self.websockets.take(session, event)

    def _switch_off(self, part: Part) -> None:
        if part != "requests" and not (self._users["console"] or self._users["errors"]):
            self.messages.release_objects()
        for key in [key for key in self._on if key[1] == part]:
            self._on.pop(key)()
        if part == "requests":
            self.requests.end()
            self.websockets.end()

    def _end_session(self, session: Session) -> None:
        self._known.discard(session.id)
        for key in [key for key in self._on if key[0] == session.id]:
            del self._on[key]
        self.requests.fail(session, f"its {session.target_type} is gone")
        self.websockets.end_session(session)

    def _crash_page(self, _event: Event) -> None:
        self.subscribers.crash()
        self.requests.fail(self.page.session, "its page crashed")
        self.websockets.end_session(self.page.session)

    def _note_navigation(self, event: Event) -> None:
        frame = event.decode(FrameNavigated).frame
        if frame.parent_id is not None:
            return
        self.messages.mark()
        self.requests.mark(frame.loader_id)
        self.websockets.end_session(self.page.session)  # Chrome does not report their end
        if self.options is not None and not self.options.keep_over_navigation:
            self.clear(keep_loader=frame.loader_id)


# --- all pages of a browser ----------------------------------------------------------------------------------


class Activities:
    """The collectors of one browser."""

    def __init__(self, tabs: Tabs, reader: ValueReader | None = None) -> None:
        self._context_options: dict[str | None, ActivityOptions] = {}
        self._default_options: ActivityOptions | None = None
        self._tabs = tabs
        self._reader = reader
        tabs.add_set_up(self._set_up)

    def of(self, page: PageTarget) -> Collector:
        """Return the collector of a page. Each page object has one, created on the first call."""
        collector = _collector_of(page)
        if collector is None:
            collector = Collector(page, self._reader)
            page.set_collector(collector)
        return collector

    def set_for_all(self, options: ActivityOptions | None) -> None:
        """Collect from all open and new pages. None: stop collecting from new pages."""
        self._default_options = options
        if options is not None:
            for page in list(self._tabs.pages.values()):
                self._begin(page, options)

    @contextmanager
    def in_context(self, context_id: str | None, options: ActivityOptions | None) -> Iterator[None]:
        """Collect from new pages of a context during the block. None: use the general options."""
        if options is not None:
            self._context_options[context_id] = options
        try:
            yield
        finally:
            self._context_options.pop(context_id, None)

    def _set_up(self, page: PageTarget, session: Session) -> list[PendingCall]:
        collector = _collector_of(page)
        if collector is None and session is page.session:
            options = self._options_for(page)
            if options is not None:
                self._begin(page, options)
        elif collector is not None:
            collector.join(session)
        return []

    def _options_for(self, page: PageTarget) -> ActivityOptions | None:
        opener = _collector_of(self._tabs.pages.get(page.opener_id or ""))
        if opener is not None and opener.options is not None:
            return opener.options
        return self._context_options.get(page.context_id, self._default_options)

    def _begin(self, page: PageTarget, options: ActivityOptions) -> None:
        # Not awaited: later commands follow in order. A crashed or closed page sends nothing.
        with suppress(SessionGoneError, ConnectionLostError):
            self.of(page).apply(options)


def _collector_of(page: PageTarget | None) -> Collector | None:
    collector = None if page is None else page.collector
    return collector if isinstance(collector, Collector) else None
