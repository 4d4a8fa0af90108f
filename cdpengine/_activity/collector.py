"""Collection of a page's activity over all its sessions (Collector), for all pages of a browser (Activities).

Rule: a page without requested activity has no collector and no cost. Collection of a new page starts before its
first script; so does collection of every page that a collected page opens.

A part (console, errors, requests) is switched on by its first user and off by its last. It is followed in the
sessions of the page, its frames and its workers. The reader takes the events, so nothing is lost before a
consumer's bound, and nothing waits for a consumer.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import attrs

from cdpengine._activity.body_store import BodyStore
from cdpengine._activity.console import ConsoleMessage, PageError, ValueReader
from cdpengine._activity.exchange import Exchange, Exchanges
from cdpengine._activity.har import Visit
from cdpengine._activity.options import ActivityOptions
from cdpengine._activity.repeats import Repeats
from cdpengine._activity.request import Response, request_of
from cdpengine._activity.request_state import Following, RequestState
from cdpengine._activity.streams import Part, RequestEnded, Subscribers
from cdpengine._history import Records
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains import network
from cdpengine._protocol.domains.page import FrameNavigated, PageFired
from cdpengine._protocol.domains.runtime import (
    ConsoleAPICalled,
    EntryAdded,
    ExceptionRevoked,
    ExceptionThrown,
    LogEntry,
    RemoteArgument,
)
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

_FOLLOWED = 10_000
"""Maximum number of requests followed at a time. Beyond it the oldest are dropped."""

_MIN_HANDLE_GROUPS = 500
"""Minimum number of messages and errors whose objects stay readable in the page."""

_VISITS = 100
_LONGEST_URL = 2**16


@attrs.frozen
class KeptError:
    """A kept PageError, and Chrome's number of its exception."""

    exception_id: int
    error: PageError


class Collector:
    """Collects the activity of one page from its creation on. `reader` reads values in the page."""

    def __init__(self, page: PageTarget, reader: ValueReader | None = None) -> None:
        self.page = page
        self.options: ActivityOptions | None = None
        self.console: Records[ConsoleMessage] | None = None
        self.errors: Records[KeptError] | None = None
        self.requests: Records[RequestState] | None = None
        self.visits: deque[Visit] = deque(maxlen=_VISITS)
        self.lingering = False
        self._reader = reader
        self._users: Counter[Part] = Counter()
        self._switched_on: dict[Part, list[SharedCall]] = {}
        self._on: dict[tuple[str | None, Part], Callable[[], None]] = {}
        self._known: set[str | None] = set()
        self.subscribers = Subscribers(page.session)
        self._exchanges = Exchanges(_FOLLOWED)
        self._following = Following(active=False)
        self._body_store: BodyStore | None = None
        self._repeats = Repeats()
        self._handle_groups: deque[Sequence[RemoteHandle]] = deque()
        page.session.on_end(self._end_page)
        page.session.on_event(CRASHED, self._crash_page)
        page.session.on_event("Page.frameNavigated", self._note_navigation)
        page.session.on_event("Page.domContentEventFired", self._note_content_loaded)
        page.session.on_event("Page.loadEventFired", self._note_load)

    # --- switching on and off ---------------------------------------------------------------------------------

    def apply(self, options: ActivityOptions | None) -> list[SharedCall]:
        """Keep the parts in the options from now on; None keeps nothing more. Kept data stays.

        Returns the calls that must be answered before all parts are on. Raises SessionGoneError,
        TargetCrashedError or ConnectionLostError without changing anything.
        """
        before: frozenset[Any] = frozenset() if self.options is None else self.options.parts
        after: frozenset[Any] = frozenset() if options is None else options.parts
        calls = self.acquire(after - before)
        if options is not None:
            self.console = _set_bound(self.console, options.console)
            self.errors = _set_bound(self.errors, options.errors)
            self.requests = _set_bound(self.requests, options.requests)
        rules = None if options is None else options.bodies
        self._body_store = None if rules is None else BodyStore(rules, self.page.nursery)
        self.options = options
        self.release(before - after)
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

    def response(self, request_id: str) -> Response | None:
        """Return the response of a followed request, or None."""
        if not self._users["requests"]:
            return None
        exchange = self._exchanges.known(None, request_id)
        return None if exchange is None else request_of(exchange.state).response

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
            self._exchanges = Exchanges(_FOLLOWED)
            self._following = Following()
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
            listeners.append((_CONTEXTS_REPLACED, partial(self._expect_repeats, session)))
            self._repeats.expect(session)
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

    def _expect_repeats(self, session: Session, _event: Event) -> None:
        self._repeats.expect(session)

    def _listeners(self, part: Part) -> dict[str, Callable[[Session, Event], None]]:
        if part == "console":
            return {
                "Runtime.consoleAPICalled": self._take_console_call,
                "Log.entryAdded": self._take_log_entry,
            }
        if part == "errors":
            return {
                "Runtime.exceptionThrown": self._take_exception,
                "Runtime.exceptionRevoked": self._take_revocation,
            }
        return dict.fromkeys(network.REQUEST_EVENTS, self._take_network)

    def _switch_off(self, part: Part) -> None:
        if part != "requests" and not (self._users["console"] or self._users["errors"]):
            self._release(0)
        for key in [key for key in self._on if key[1] == part]:
            self._on.pop(key)()
        if part == "requests":
            self._following.active = False
            for exchange in self._exchanges.under_way():
                exchange.state.notify()

    def _end_session(self, session: Session) -> None:
        self._known.discard(session.id)
        for key in [key for key in self._on if key[0] == session.id]:
            del self._on[key]
        for exchange in self._exchanges.under_way():
            if exchange.state.session is session:
                self._exchanges.fail(exchange, f"its {session.target_type} is gone")
                self._deliver(exchange)

    def _end_page(self) -> None:
        self.subscribers.end()

    def _crash_page(self, _event: Event) -> None:
        self.subscribers.crash()
        for exchange in self._exchanges.under_way():
            if exchange.state.session is self.page.session:
                self._exchanges.fail(exchange, "its page crashed")
                self._deliver(exchange)

    # --- console and errors, in the reader ----------------------------------------------------------------------

    def _take_console_call(self, session: Session, event: Event) -> None:
        called = event.decode(ConsoleAPICalled)
        self._add_message(called, session, event)

    def _take_log_entry(self, session: Session, event: Event) -> None:
        entry = event.decode(EntryAdded).entry
        if entry.source != "worker":  # the worker's session reports it with its arguments
            self._add_message(entry, session, event)

    def _add_message(self, told: ConsoleAPICalled | LogEntry, session: Session, event: Event) -> None:
        self._track_objects(session, told.args)
        if self._repeats.take(session, told.timestamp):
            return
        message = ConsoleMessage(told, session, self._reader)
        if self.console is not None and self.options is not None and self.options.console:
            self.console.add(message, len(bytes(event.raw)))
        self.subscribers.deliver("console", message)

    def _take_exception(self, session: Session, event: Event) -> None:
        thrown = event.decode(ExceptionThrown)
        details = thrown.exception_details
        self._track_objects(session, [] if details.exception is None else [details.exception])
        if self._repeats.take(session, thrown.timestamp):
            return
        error = PageError(thrown, session, self._reader)
        if self.errors is not None and self.options is not None and self.options.errors:
            self.errors.add(KeptError(details.exception_id, error), len(bytes(event.raw)))
        self.subscribers.deliver("errors", error)

    def _take_revocation(self, session: Session, event: Event) -> None:
        number = event.decode(ExceptionRevoked).exception_id
        for kept in self.errors or ():
            if kept.exception_id == number and kept.error.target_id == session.target_id:
                kept.error.handled = True

    def _track_objects(self, session: Session, values: Sequence[RemoteArgument]) -> None:
        handles = [RemoteHandle(session, each.object_id) for each in values if each.object_id is not None]
        if handles:
            self._handle_groups.append(handles)
            limit = max(_MIN_HANDLE_GROUPS, 0 if self.console is None else self.console.bound)
            if len(self._handle_groups) > limit:
                self._release(limit)

    def _release(self, limit: int) -> None:
        """Release page objects that can no longer be requested. Sends without waiting."""
        while len(self._handle_groups) > limit:
            for handle in self._handle_groups.popleft():
                handle.release()

    # --- requests, in the reader --------------------------------------------------------------------------------

    def _take_network(self, session: Session, event: Event) -> None:
        decoded = event.decode(network.REQUEST_EVENTS[event.method])
        exchange = self._exchanges.take(None, decoded)
        if exchange is None:
            return
        if isinstance(decoded, network.RequestWillBeSent | network.WebSocketCreated):
            self._begin_request(session, exchange, len(bytes(event.raw)))
            return
        state: RequestState = exchange.state
        match decoded:
            case network.RequestWillBeSentExtraInfo() | network.ResponseReceivedExtraInfo():
                pass  # may arrive on another session: a worker's on its page's
            case network.ResponseReceived() | network.WebSocketHandshakeResponseReceived():
                state.session = session
                if self._body_store is not None:
                    self._body_store.begins(state)
            case network.DataReceived():
                if decoded.data:
                    state.feed(decoded.data)
            case (
                network.LoadingFinished()
                | network.LoadingFailed()
                | network.WebSocketFrameError()
                | network.WebSocketClosed()
            ):
                state.session = session
        self._deliver(exchange)
        state.notify()

    def _begin_request(self, session: Session, exchange: Exchange, size: int) -> None:
        sent = exchange.sent
        if len(sent.request.url) > _LONGEST_URL:
            sent.request.url = sent.request.url[:_LONGEST_URL] + "…"
        state = exchange.state = RequestState(exchange, session, self._following)
        request = request_of(state)
        if exchange.before is not None:
            self._deliver(exchange)
            exchange.before.state.notify()
        if request.is_navigation and sent.frame_id == self.page.session.frame_id and exchange.before is None:
            number = int(self.visits[-1].id.rpartition("_")[2]) + 1 if self.visits else 1
            self.visits.append(Visit(f"page_{number}", request.url, sent.timestamp, sent.wall_time))
        exchange.page = self.visits[-1].id if self.visits else ""
        if self.requests is not None and self.options is not None and self.options.requests:
            self.requests.add(state, size)
        self.subscribers.deliver("requests", request)

    def _deliver(self, exchange: Exchange) -> None:
        """Deliver the responses with complete headers, and the ends, of a chain of redirects.

        Network headers may arrive late, so a response waits for them until its chain ends.
        """
        over = exchange.ended
        hops: list[Exchange] = []
        each: Exchange | None = exchange
        while each is not None and not each.state.end_delivered:
            hops.append(each)
            each = each.before
        for hop in reversed(hops):
            state: RequestState = hop.state
            response = request_of(state).response
            if response is not None and not state.response_delivered:
                if hop.awaits_headers and not over:
                    break
                state.response_delivered = True
                self.subscribers.deliver("responses", response)
            if hop.ended:
                self._end_request(state)

    def _end_request(self, state: RequestState) -> None:
        state.end_delivered = True
        if self._body_store is not None:
            self._body_store.ended(state)
        else:
            state.incoming = None
        self.subscribers.deliver("finished", RequestEnded(request_of(state)))
        state.notify()

    # --- navigation, in the reader ------------------------------------------------------------------------------

    def _note_navigation(self, event: Event) -> None:
        navigated = event.decode(FrameNavigated)
        keep = self.options is None or self.options.keep_over_navigation
        if navigated.frame.parent_id is None and not keep:
            self.clear(keep_loader=navigated.frame.loader_id)

    def clear(self, keep_loader: str | None = None) -> None:
        """Drop the kept items, except the requests of the document `keep_loader`."""

        def kept(state: RequestState) -> bool:
            return keep_loader is not None and state.exchange.sent.loader_id == keep_loader

        if self.console is not None:
            self.console.clear()
        if self.errors is not None:
            self.errors.clear()
        if self.requests is not None:
            self.requests.clear(kept)
        self._release(0)

    def _note_content_loaded(self, event: Event) -> None:
        if self.visits and self.visits[-1].content_loaded is None:
            self.visits[-1].content_loaded = event.decode(PageFired).timestamp

    def _note_load(self, event: Event) -> None:
        if self.visits and self.visits[-1].loaded is None:
            self.visits[-1].loaded = event.decode(PageFired).timestamp


def _set_bound(records: Records[Any] | None, bound: int) -> Records[Any] | None:
    if records is None:
        return Records(bound) if bound else None
    if bound:
        records.set_bound(bound)
    return records


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
