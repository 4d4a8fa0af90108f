"""BrowserState and ContextCore: the shared state of a browser, its contexts and its pages.

Rule: this module does not import Browser or Page, so their parts can use it. The default context has the same
methods as other contexts; its id is requested from Chrome when first needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any

import trio

from cdpengine._activity.collector import Activities
from cdpengine._api.ref_tables import SharedNumbers, ref_tables
from cdpengine._api.worker import Workers
from cdpengine._budget import Budget, within
from cdpengine._checks import invalid
from cdpengine._emulation.emulation import Emulations
from cdpengine._emulation.options import Settings
from cdpengine._emulation.permissions import Permissions
from cdpengine._evaluate.evaluation import EvaluationCounters
from cdpengine._evaluate.recovery import watch_pages
from cdpengine._evaluate.replies import receive_value
from cdpengine._network.interceptor import interceptor_of
from cdpengine._network.messages import merge_headers
from cdpengine._network.settings import EXTRA_HEADERS
from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.downloads import Downloads
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import object_group
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._page.tabs import Tabs
from cdpengine._page.worker_targets import WorkerTarget
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.domains.fetch import RequestPaused
from cdpengine._protocol.domains.runtime import EvaluateReply, RemoteArgument, RemoteObject
from cdpengine._protocol.domains.target import BrowserContextsReply
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Connection, Session
from cdpengine._protocol.streams import Event
from cdpengine._snapshot.ref import RefNumbers
from cdpengine._storage.context_state import VisitedOrigins
from cdpengine._storage.storage_items import OriginPage, open_origin_page
from cdpengine.errors import EvaluationFailedError, RemoteError, SessionGoneError


class BrowserState:
    """The state that a Browser shares with its pages and contexts.

    `key` is equal for two connections to one browser. `context_ids` are the contexts that `new_context` created.
    `closing` means that this program is ending the connection, or the browser. `disposable`: the end of `launch`
    kills a browser with a temporary profile, so pages and downloads see no end. `slow_mo` is the pause before each
    action that sends input, in seconds.
    """

    def __init__(
        self,
        tabs: Tabs,
        version: BrowserVersion,
        instruments: Instruments,
        *,
        key: str,
        evaluate_enabled: bool = True,
    ) -> None:
        self.tabs = tabs
        self.version = version
        self.instruments = instruments
        self.key = key
        self.evaluate_enabled = evaluate_enabled
        self.evaluation_counters = EvaluationCounters()
        self.workers = Workers(tabs.workers, self.evaluation_counters, evaluate_enabled)
        self.activities = Activities(tabs, read_argument)
        self.emulations = Emulations(tabs.pages)
        self.permissions = Permissions(tabs.connection.root)
        self.visited_origins = VisitedOrigins(tabs.pages)
        self.context_ids: set[str] = set()
        self.base_urls: dict[str | None, str] = {}
        self.closing = False
        self.disposable = False
        self.slow_mo = 0.0
        self.shared_numbers = SharedNumbers()
        tabs.first_requests.take = self._take_first_request
        tabs.connection.root.on_end(self._note_end)
        for set_up in (self.emulations.post, self.visited_origins.set_up):
            tabs.add_set_up(set_up)

    @contextmanager
    def keep(self, core: ContextCore) -> Iterator[None]:
        """Register a new context during the block, and remove all its entries at the end."""
        assert core.id is not None
        self.context_ids.add(core.id)
        if core.base_url is not None:
            self.base_urls[core.id] = core.base_url
        self.downloads.refuse(core.id)
        try:
            yield
        finally:
            self.context_ids.remove(core.id)
            self.base_urls.pop(core.id, None)
            core.end()
            self.permissions.forget(core.id)
            self.visited_origins.forget(core.id)
            self.emulations.drop(core)

    @asynccontextmanager
    async def watch_pages(self, recover_after: float | None) -> AsyncIterator[None]:
        """Watch every page during the block. Recover a page that has not responded for `recover_after` seconds."""
        async with open_body_nursery() as nursery:
            if recover_after is not None:
                nursery.start_soon(watch_pages, self.tabs, recover_after, name="watchdog")
            yield

    def check_context(self, context_id: str | None) -> None:
        """Raise SessionGoneError for a context of this program that has ended. None is the default context."""
        if context_id is not None and context_id not in self.context_ids:
            raise SessionGoneError(
                target=f"context {context_id[:8]}",
                reason="its block has ended. Use the context inside the block",
            )

    def share_ref_numbers(self, core: ContextCore | None, numbers: RefNumbers) -> None:
        """Share the numbers of refs between all pages of a context, or of the browser (None)."""
        holds = None if core is None else core.holds
        self.shared_numbers.add(holds, numbers)
        if core is not None:
            core.on_end(lambda: self.shared_numbers.drop(holds))

    def keep_refs(self, page: PageTarget) -> None:
        """Keep the page's refs while it is open."""
        key = self.key, page.target_id
        ref_tables().acquire(*key)
        page.session.on_end(lambda: ref_tables().release(*key))

    def _take_first_request(self, page: PageTarget, event: Event) -> Callable[[], bool]:
        """Continue the held first request of a tab with the tab's routes and headers."""

        def change_headers(headers: Mapping[str, str]) -> Mapping[str, str]:
            emulated = self.emulations.change_headers(page, headers)
            return merge_headers([emulated, *EXTRA_HEADERS.values(page.session)])

        interceptor = interceptor_of(page.session)
        exchange = interceptor.take(event.decode(RequestPaused), self.session, change_headers)
        return lambda: not exchange.answered

    def _note_end(self) -> None:
        if not self.closing:
            ref_tables().note_lost(self.key)

    @property
    def session(self) -> Session:
        """The browser's session."""
        return self.tabs.connection.root

    @property
    def creations(self) -> RemoteResources:
        """The tracker of resources created in the browser."""
        return self.tabs.creations

    @property
    def downloads(self) -> Downloads:
        """The tracker of downloads."""
        return self.tabs.downloads

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The open connections: one over a pipe, two over websockets."""
        main, evaluation_session = self.tabs.connection, self.tabs.evaluation_sessions.connection
        return (main,) if main is evaluation_session else (main, evaluation_session)


_GONE = (
    "Could not find object with given id",
    "Cannot find context with specified id",
    "Invalid remote object id",
)


async def read_argument(session: Session, argument: RemoteArgument) -> Any:
    """Return the value of an object in the page.

    Raises EvaluationFailedError, RemoteError, SessionGoneError, ConnectionLostError.
    """
    remote = RemoteObject(
        type=argument.type,
        subtype=argument.subtype,
        class_name=argument.class_name,
        description=argument.description,
        object_id=argument.object_id,
    )
    with object_group("console") as group:
        try:
            return await receive_value(session, EvaluateReply(result=remote), group)
        except RemoteError as error:
            if error.message.startswith(_GONE):
                raise EvaluationFailedError(text="the page no longer has the object", threw=False) from None
            raise


class ContextCore:
    """The shared state of a BrowserContext, passed to its parts (`context.network`, `context.storage`, ...).

    `id` is Chrome's browserContextId, None for the default context. `base_url` completes relative URLs.
    `ignore_https_errors`: its pages accept invalid certificates.
    """

    def __init__(self, state: BrowserState, context_id: str | None, base_url: str | None = None) -> None:
        self.state = state
        self.id = context_id
        self.base_url = base_url
        self.ignore_https_errors = False
        self._default_id: str | None = None
        self._end_listeners: list[Callable[[], None]] = []

    @property
    def known_id(self) -> str | None:
        """Chrome's id of the context. For the default context it is None until `real_id` was called."""
        return self.id or self._default_id

    def holds(self, page: PageTarget | WorkerTarget) -> bool:
        """Return whether a page or a worker belongs to the context."""
        if self.known_id is None:
            return page.context_id not in self.state.context_ids
        return page.context_id == self.known_id

    def on_end(self, listener: Callable[[], None]) -> None:
        """Call `listener` when the context ends."""
        self._end_listeners.append(listener)

    def end(self) -> None:
        """Mark the context as ended and call its listeners."""
        for listener in self._end_listeners:
            listener()

    @property
    def has_pages(self) -> bool:
        """Whether a page of the context is open."""
        return any(self.holds(page) for page in self.state.tabs.pages.values())

    async def real_id(self) -> str | None:
        """Return Chrome's id of the context, also of the default one, or None if Chrome does not report it.

        Raises SessionGoneError if the context has ended.
        """
        self.state.check_context(self.id)
        if self.known_id is None:
            try:
                reply = await self.state.session.request(
                    "Target.getBrowserContexts", {}, BrowserContextsReply
                )
            except RemoteError:
                return None
            self._default_id = reply.default_browser_context_id
        else:
            await trio.lowlevel.checkpoint()
        return self.known_id

    @asynccontextmanager
    async def action(self, action: str, timeout: float) -> AsyncIterator[Budget]:
        """Run one action under its budget, once the context's pages are known."""
        with within(action, timeout) as budget:
            await self.real_id()  # `holds` needs it for pages of the default context
            yield budget

    async def check_emulation(self, settings: Settings) -> None:
        """Check that Chrome knows the locale, if no page of the context is open that would check it.

        Raises InvalidArgumentError.
        """
        await self.real_id()
        locale = settings.get("locale")
        if locale is None or self.has_pages:
            return
        async with self.origin_page() as page:
            try:
                await page.session.call("Emulation.setLocaleOverride", locale=locale)
            except RemoteError as error:
                if error.message.startswith("Invalid"):
                    expected = f"a value that Chrome knows (its error: {error.message!r})"
                    raise invalid("locale", locale, expected) from None

    def origin_page(self) -> AbstractAsyncContextManager[OriginPage]:
        """Return an invisible page of the context, as a context manager."""
        self.state.check_context(self.id)
        state = self.state
        return open_origin_page(state.session, state.creations, self.id, state.tabs.unlisted_url)
