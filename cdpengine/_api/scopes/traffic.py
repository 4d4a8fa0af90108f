"""ScopeTraffic: the methods of pages and contexts that route requests, and record them and the actions.

Rule: both have the same methods. The methods of a page concern the page, its frames and workers, and the pages
that it opens. The methods of a context concern all its pages.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import ClassVar

from cdpengine._activity.har_bodies import LARGEST_BODY
from cdpengine._api.browser_state import BrowserState
from cdpengine._api.scopes.archives import NotFound, record_har, route_from_har
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.network import RouteTable, route_requests, route_websockets
from cdpengine._api.scopes.step_traces import STEP_TRACE_LIMIT, trace_steps
from cdpengine._evaluate.websockets.active_route import WebSocketHandler
from cdpengine._network.active_route import RouteHandler, RouteRegistration, Stage
from cdpengine._network.archive import HarArchive
from cdpengine._network.messages import ResourceType
from cdpengine._urls.patterns import UrlPattern
from cdpengine.errors.misuse import block


class ScopeTraffic:
    """The routes and the recordings of a Page or a BrowserContext. `_noun` is its name in errors."""

    _noun: ClassVar[str]

    def __init__(self, scope: SettingScope, state: BrowserState) -> None:
        self._scope = scope
        self._state = state
        self._routes = RouteTable()

    def route(
        self,
        pattern: UrlPattern,
        handler: RouteHandler,
        *,
        resource_type: ResourceType | Collection[ResourceType] = (),
        stage: Stage = "request",
        limit: float = 30,
        timeout: float = 30,
    ) -> AwaitableScope[RouteRegistration]:
        """Let `handler` answer the requests of the page, or of the context's pages, whose URL matches `pattern`.

        Use `async with` to route for a block, or `await` to route until `network.unroute`.

        `pattern` is a glob ("*/api/*", in which only "*" is special), a compiled regular expression or a function
        of the URL. `resource_type` restricts it ("Image", "XHR", ...; `fetch()` is "XHR"). `handler` is an async
        function. It receives a Route and calls `continue_`, `fulfill`, `abort`, or `fallback` for the next route.
        The latest route comes first. With `stage="response"`, the handler runs when the response has begun.

        A route of a page applies to its frames, its workers and the pages that it opens, from their first request.
        A route of a context applies to all its pages, and to the requests that its service workers and shared
        workers send. Chrome ends no service worker meanwhile. Routes do not see requests answered by a service
        worker or the memory cache.

        If a handler raises, does not answer or takes more than `limit` seconds, only its request fails
        (net::ERR_FAILED): see `network.routes.failures` and the log. A request that is still paused at the end of
        the block continues without the route.

        Raises InvalidArgumentError, DeadlineExceededError, and ConnectionLostError or the error of an unreachable
        page.
        """
        return route_requests(
            self._scope, self._routes, pattern, handler, resource_type, stage, limit, timeout
        )

    def route_websocket(
        self,
        pattern: UrlPattern,
        handler: WebSocketHandler,
        *,
        limit: float = 30,
        timeout: float = 30,
    ) -> AwaitableScope[RouteRegistration]:
        """Let `handler` answer the websockets whose URL matches `pattern`, of the same pages as in `route`.

        Use `async with` to route for a block, or `await` to route until `network.unroute`.

        `handler` is an async function. It receives a WebSocketRoute, iterates over the page's messages, and sends
        its own, or connects to the server and changes the messages of both directions. During the route, the
        documents have another WebSocket class. Existing websockets, and those of workers, are not affected. A
        websocket without a matching route gets a real connection.

        If a handler raises, or does not answer within `limit` seconds, only its websocket closes (1011): see
        `network.routes.failures` and the log. At the end of the block, the routed websockets close with the code
        1001.

        Raises InvalidArgumentError, DeadlineExceededError, and ConnectionLostError or the error of an unreachable
        page.
        """
        return route_websockets(self._scope, self._routes, pattern, handler, limit, timeout)

    @block("{0._noun}.record_har(path)")
    async def record_har(
        self,
        path: str | Path,
        *,
        url: UrlPattern | None = None,
        bodies: bool = True,
        largest_body: int = LARGEST_BODY,
        redacted: bool = True,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> AsyncIterator[Path]:
        """Record the requests of the block, and write them to an HTTP Archive (HAR 1.2) at its end.

        The archive has the requests of the same pages as in `route`, with their frames and workers.
        `url` selects some. The options are those of `activity.save_har`. `redacted=False` keeps secrets, which
        `route_from_har` needs for posted bodies. `timeout` limits the beginning, and the writing. After an error
        in the block, the file is written within 1 s if possible. Do not clear or stop `activity` in the block.

        Raises InvalidArgumentError, FileNotWrittenError, DeadlineExceededError, ConnectionLostError, and
        PackageMissingError without the extra `debug`, which redaction needs.
        """
        recording = record_har(
            self._scope, self._state, path, url=url, bodies=bodies, largest_body=largest_body,
            redacted=redacted, overwrite=overwrite, timeout=timeout,
        )  # fmt: skip
        async with recording as place:
            yield place

    @block("{0._noun}.trace_steps(path)")
    async def trace_steps(
        self,
        path: str | Path,
        *,
        film: bool = True,
        redacted: bool = True,
        keep_arguments: bool = False,
        limit: int = STEP_TRACE_LIMIT,
        overwrite: bool = False,
        timeout: float = 30,
    ) -> AsyncIterator[Path]:
        """Record the actions and reads of the same pages as in `route` to a step trace.

        `cdpengine trace view FILE` opens the file: each action with the page before and after it, the snapshots
        that the program received, console, errors, requests, and the protocol's messages. `film` adds pictures of
        the changing page. The secrets of recordings are redacted, entered strings included, but not in pictures;
        `redacted=False` keeps them. `keep_arguments` keeps arguments and results of scripts. From `limit` bytes
        on, only actions are recorded. The file is complete up to the last half second, however the program ends.
        `timeout` limits the beginning, and half of it the last reading of the pages.

        Raises InvalidArgumentError, also for an existing file unless `overwrite`, FileNotWrittenError,
        DeadlineExceededError, and PackageMissingError without the extra `debug`.
        """
        tracing = trace_steps(
            self._scope, self._state, path, film=film, redacted=redacted,
            keep_arguments=keep_arguments, limit=limit, overwrite=overwrite, timeout=timeout,
        )  # fmt: skip
        async with tracing as place:
            yield place

    def route_from_har(
        self,
        path: str | Path,
        *,
        url: UrlPattern | None = None,
        not_found: NotFound = "abort",
        update: bool = False,
        redacted: bool = True,
        timeout: float = 30,
    ) -> AwaitableScope[HarArchive | None]:
        """Answer requests from an HTTP Archive instead of the servers.

        Use `async with` for a block, or `await` to route until `network.unroute`.

        A response is found by method, URL and posted body. Equal requests get their responses in order, and the
        last one repeats. `url` restricts the requests. Without a response, "abort" fails the request, and
        "fallback" passes it to the next route or the server. `update=True` records the block to the file instead,
        as `record_har` does with these `redacted` secrets; it needs a block. In a redacted archive, posted bodies
        are not compared, and no cookies are set.

        The scope's value counts the `used` and `missing` responses. Raises FileUnreadableError,
        InvalidArgumentError, and the errors of `route`.
        """
        return route_from_har(
            self._scope, self._routes, self._state, path, url=url, not_found=not_found, update=update,
            redacted=redacted, timeout=timeout,
        )  # fmt: skip
