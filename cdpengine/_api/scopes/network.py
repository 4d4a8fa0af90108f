"""Network settings of a page or a context: routes, headers, credentials and conditions.

Rule: each setting applies to a block, or until it is reset, and is undone at its end. The settings of a page and
of its context are combined: the latest route comes first, headers are merged, and the latest conditions apply.
"""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import attrs

from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope, check_function, check_limit
from cdpengine._budget import within
from cdpengine._checks import check_choice, check_type
from cdpengine._evaluate.websockets.active_route import ActiveWebSocketRoute, WebSocketHandler
from cdpengine._evaluate.websockets.interceptor import websocket_interceptor_of
from cdpengine._history import BoundedHistory, Records
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._network.active_route import (
    ActiveRoute,
    RouteFailure,
    RouteHandler,
    RouteMatch,
    RouteRegistration,
    Stage,
)
from cdpengine._network.interceptor import Credentials, interceptor_of
from cdpengine._network.messages import ResourceType, check_headers, check_resource_types
from cdpengine._network.settings import (
    CONDITIONS,
    CPU_RATE,
    EXTRA_HEADERS,
    NO_SERVICE_WORKER,
    NetworkConditions,
    check_conditions,
    check_cpu_rate,
)
from cdpengine._nursery import open_body_nursery
from cdpengine._page.page_scope import DOCUMENTS, DOCUMENTS_AND_WORKERS, SHARED_WORKERS, SessionOverride
from cdpengine._pickling import not_picklable
from cdpengine._urls.patterns import UrlPattern, chrome_url_of, join_pattern, url_test, url_words
from cdpengine.errors import shown_url

T = TypeVar("T")

logger = get_logger("cdpengine.network")


@attrs.define(eq=False)
class Routes:
    """The routes of a page or context. `active` lists those in effect, latest first: their order of use.

    `failures` lists requests that failed because of a handler, including those of ended routes.
    """

    active: list[RouteRegistration]
    failures: BoundedHistory[RouteFailure]


@attrs.define(eq=False)
class RouteTable:
    """The routes of a page or context, for the engine: the lists that `Routes` shows."""

    active: list[RouteRegistration] = attrs.field(factory=list)
    failures: Records[RouteFailure] = attrs.field(factory=Records)


@not_picklable("its settings")
class Network:
    """The network of a page, or of a context: `page.network`, `context.network`.

    `routes` lists the routes in effect (`page.route` creates them) and the requests that failed because of a
    handler. `active_headers` and `active_credentials` are the extra headers and credentials in effect, oldest
    first.
    """

    def __init__(self, scope: SettingScope, routes: RouteTable) -> None:
        self._scope = scope
        self.routes = Routes(routes.active, BoundedHistory(routes.failures))
        self.active_headers: list[Mapping[str, str]] = []
        self.active_credentials: list[Credentials] = []

    async def unroute(self, pattern: UrlPattern | None = None, *, timeout: float = 30) -> int:
        """End the awaited routes of `pattern`, or all awaited routes. Return their number.

        Requests that are still paused continue without the route. Raises DeadlineExceededError.
        """
        words = None if pattern is None else url_words(join_pattern(self._scope.base_url, pattern))
        with within("unroute", timeout):
            return await self._scope.end("route", lambda routed: words in (None, routed.match.words))

    def http_credentials(
        self,
        username: str,
        password: str,
        *,
        origin: str | None = None,
        proxy: bool = False,
        timeout: float = 30,
    ) -> AwaitableScope[None]:
        """Answer servers that request a name and a password (HTTP authentication).

        Use `async with` for a block, or `await` to keep the setting until `reset`.

        `origin` ("https://example.com") restricts the credentials to one server; without it, every server receives
        them on request. With `proxy`, they are used for a proxy instead. If the server refuses them, or none
        match, the page receives the 401 (or 407). Raises InvalidArgumentError, DeadlineExceededError, or the error
        of an unreachable page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            credentials = Credentials.checked(username, password, origin, proxy)
            override = SessionOverride(
                self._scope.page_scope,
                lambda session: interceptor_of(session).add(credentials),
                lambda session: interceptor_of(session).remove(credentials),
                types=DOCUMENTS,
                renew=lambda session: interceptor_of(session).renew(),
                restore=lambda session: interceptor_of(session).restore(),
            )
            async with self._scope.overriding(override, "HTTP credentials", timeout):
                with _listed(self.active_credentials, credentials):
                    yield

        return self._scope.lasting("network", "network.http_credentials", scope)

    def extra_headers(self, headers: Mapping[str, str], *, timeout: float = 30) -> AwaitableScope[None]:
        """Send these headers with every request, to every server.

        Use `async with` for a block, or `await` to keep the setting until `reset`.

        Raises InvalidArgumentError, DeadlineExceededError, or the error of an unreachable page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            check_type("headers", headers, Mapping, "a mapping of names to values")
            checked: Mapping[str, str] = dict(check_headers(headers))
            begin, end = EXTRA_HEADERS.want(checked)
            override = SessionOverride(self._scope.page_scope, begin, end, types=DOCUMENTS_AND_WORKERS)
            async with self._scope.overriding(override, "extra headers", timeout):
                with _listed(self.active_headers, checked):
                    yield

        return self._scope.lasting("network", "network.extra_headers", scope)

    def conditions(self, conditions: NetworkConditions | str, *, timeout: float = 30) -> AwaitableScope[None]:
        """Slow the network down, or disconnect it.

        Use `async with` for a block, or `await` to keep the setting until `reset`.

        `conditions` is a NetworkConditions, or the name of a network in `cdpengine.NETWORKS`: "offline", "slow
        3g", "fast 3g", "slow 4g", "wifi". The page sees the conditions in `navigator.onLine` and
        `navigator.connection`. Raises InvalidArgumentError, DeadlineExceededError, or the error of an unreachable
        page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            begin, end = CONDITIONS.want(check_conditions(conditions))
            override = SessionOverride(
                self._scope.page_scope, begin, end, types=DOCUMENTS_AND_WORKERS, renew=CONDITIONS.renew
            )
            async with self._scope.overriding(override, "network conditions", timeout):
                yield

        return self._scope.lasting("network", "network.conditions", scope)

    def offline(self, *, timeout: float = 30) -> AwaitableScope[None]:
        """Disconnect the network: `conditions("offline")`."""
        return self.conditions("offline", timeout=timeout)

    def throttle_cpu(self, rate: float, *, timeout: float = 30) -> AwaitableScope[None]:
        """Slow the page's main thread down by the factor `rate`; 1 is normal speed.

        Use `async with` for a block, or `await` to keep the setting until `reset`.

        This also slows pages down that share the process. Raises InvalidArgumentError, DeadlineExceededError, or
        the error of an unreachable page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            begin, end = CPU_RATE.want(check_cpu_rate(rate))
            async with self._scope.overriding(
                SessionOverride(self._scope.page_scope, begin, end), "throttle the CPU", timeout
            ):
                yield

        return self._scope.lasting("network", "network.throttle_cpu", scope)

    def bypass_service_workers(self, *, timeout: float = 30) -> AwaitableScope[None]:
        """Send requests past the page's service worker, so that routes see them.

        Use `async with` for a block, or `await` to keep the setting until `reset`. Raises DeadlineExceededError,
        or the error of an unreachable page.
        """

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            begin, end = NO_SERVICE_WORKER.want(True)
            async with self._scope.overriding(
                SessionOverride(self._scope.page_scope, begin, end), "bypass service workers", timeout
            ):
                yield

        return self._scope.lasting("network", "network.bypass_service_workers", scope)

    async def reset(self, *, timeout: float = 30) -> None:
        """End the awaited headers, credentials, conditions and CPU throttling. Routes stay."""
        with within("reset the network", timeout):
            await self._scope.end("network")


@contextmanager
def _listed(items: list[T], item: T) -> Iterator[None]:
    """Keep `item` in a list during the block. Equal items are distinct."""
    items.append(item)
    try:
        yield
    finally:
        del items[next(place for place, each in enumerate(items) if each is item)]


def route_requests(
    scope: SettingScope,
    routes: RouteTable,
    pattern: UrlPattern,
    handler: RouteHandler,
    resource_type: ResourceType | Collection[ResourceType],
    stage: Stage,
    limit: float,
    timeout: float,
) -> AwaitableScope[RouteRegistration]:
    """Let `handler` answer requests of a scope: `Page.route`, `BrowserContext.route`."""

    @asynccontextmanager
    async def open_route() -> AsyncIterator[RouteRegistration]:
        match = _route_match(join_pattern(scope.base_url, pattern), resource_type, stage)
        check_function("handler", handler)
        check_limit(limit)
        async with open_body_nursery() as nursery:
            route = ActiveRoute(match, handler, limit, nursery, routes.failures)
            override = SessionOverride(
                scope.page_scope,
                lambda session: interceptor_of(session).add(route),
                lambda session: interceptor_of(session).remove(route),
                types=DOCUMENTS | SHARED_WORKERS,
                renew=lambda session: interceptor_of(session).renew(),
                restore=lambda session: interceptor_of(session).restore(),
            )
            routes.active.insert(0, route.registration)
            try:
                async with scope.overriding(override, f"route {match.words}", timeout, route.close):
                    yield route.registration
            finally:
                routes.active.remove(route.registration)

    return scope.lasting("route", "route", open_route)


def route_websockets(
    scope: SettingScope,
    routes: RouteTable,
    pattern: UrlPattern,
    handler: WebSocketHandler,
    limit: float,
    timeout: float,
) -> AwaitableScope[RouteRegistration]:
    """Let `handler` answer websockets of a scope: `Page.route_websocket`, `BrowserContext.route_websocket`."""

    @asynccontextmanager
    async def open_route() -> AsyncIterator[RouteRegistration]:
        base = None if scope.base_url is None else _HTTP.sub("ws", scope.base_url)
        whole = join_pattern(base, pattern)
        match = RouteMatch(test=url_test(whole), words=url_words(whole), types=frozenset({"WebSocket"}))
        check_function("handler", handler)
        check_limit(limit)
        failures: Records[RouteFailure] = Records()
        registration = RouteRegistration(match, BoundedHistory(failures))
        name = getattr(handler, "__qualname__", type(handler).__name__)
        failed = RepeatedWarning(
            logger, "the handler %s of the websocket route of %s failed %s: %s", level=logging.ERROR
        )

        def note_use() -> None:
            registration.seen += 1

        def note_failure(url: str, reason: str, error: Exception | None) -> None:
            failure = RouteFailure(url, "GET", "WebSocket", match.words, name, reason)
            failures.add(failure)
            routes.failures.add(failure)
            failed.log(name, match.words, shown_url(url), reason, error=error)

        async with open_body_nursery() as nursery:
            route = ActiveWebSocketRoute(
                match.test,
                match.words,
                whole if isinstance(whole, str) else None,
                handler,
                limit,
                nursery,
                note_use,
                note_failure,
            )
            tabs = scope.page_scope.tabs
            override = SessionOverride(
                scope.page_scope,
                lambda session: websocket_interceptor_of(tabs, session).add(route),
                lambda session: websocket_interceptor_of(tabs, session).remove(route),
                types=DOCUMENTS_AND_WORKERS,
                renew=lambda session: websocket_interceptor_of(tabs, session).renew(),
                restore=lambda session: websocket_interceptor_of(tabs, session).restore(),
            )
            routes.active.insert(0, registration)
            try:
                async with scope.overriding(override, f"route {match.words}", timeout, route.close):
                    yield registration
            finally:
                routes.active.remove(registration)

    return scope.lasting("route", "route_websocket", open_route)


_HTTP = re.compile("^http")


def _route_match(
    pattern: UrlPattern, resource_type: ResourceType | Collection[ResourceType], stage: Stage
) -> RouteMatch:
    check_choice("stage", stage, ("request", "response"))
    return RouteMatch(
        test=url_test(pattern),
        words=url_words(pattern),
        types=check_resource_types(resource_type),
        stage=stage,
        chrome_url=chrome_url_of(pattern),
    )
