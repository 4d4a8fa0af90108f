"""The parts of a page, and the small one among them: its dialogs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from functools import partial
from pathlib import Path

import attrs

from cdpengine._activity.console import ConsoleMessage
from cdpengine._activity.har_bodies import LARGEST_BODY
from cdpengine._activity.page_activity import PageActivity
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.devices import Keyboard, Mouse, Touch
from cdpengine._api.page.elements import PageElements
from cdpengine._api.page.pictures import PagePictures
from cdpengine._api.page.script_arguments import hold_arguments
from cdpengine._api.page.tags import PageScripts
from cdpengine._api.page.window import PageWindow
from cdpengine._api.scopes.archives import NotFound, make_redactor, record_har, route_from_har
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.clock import PageClock
from cdpengine._api.scopes.emulation import PageEmulation
from cdpengine._api.scopes.measure import PageMeasure
from cdpengine._api.scopes.network import Network, RouteTable, route_requests, route_websockets
from cdpengine._api.scopes.step_traces import STEP_TRACE_LIMIT, trace_steps
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.websockets.active_route import WebSocketHandler
from cdpengine._network.active_route import RouteHandler, RouteRegistration, Stage
from cdpengine._network.archive import HarArchive
from cdpengine._network.messages import ResourceType
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.file_choosers import FileChooser
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine._urls.patterns import UrlPattern
from cdpengine.errors.misuse import block


@not_picklable("a list of the dialogs in it")
@attrs.frozen(eq=False)
class Dialogs:
    """The JavaScript dialogs of a page: `page.dialogs`. They never wait for a person."""

    _core: PageCore

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs, oldest first, and their answers."""
        return self._core.target.dialogs.records

    def set_policy(self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None) -> None:
        """Set the answers to later dialogs of the page, its frames and its later popups.

        "default" accepts alerts and beforeunload dialogs, and dismisses confirm and prompt. "accept" accepts all,
        with `prompt_text` as the answer to prompts (the default is the prompt's default text). "dismiss" dismisses
        all. "raise" dismisses too, and the action or evaluation during which the dialog opened raises
        DialogOpenedError at its end. If a beforeunload dialog is dismissed, the page stays, and the navigation
        raises NavigationFailedError.

        A function, sync or async, receives the Dialog. It returns a DialogAnswer, a bool, a string for a prompt,
        or None for the default answer. It runs as a task of the engine, for at most 5 s. It cannot query the page,
        because the open dialog blocks the page. If it fails, the default answer is used, `Dialog.failure` contains
        the reason, and the error is logged. Raises InvalidArgumentError.
        """
        self._core.target.use()
        self._core.target.dialogs.set_policy(DialogPolicy.checked(policy, prompt_text))


class PageParts:
    """The parts and the state of a Page. They use its core, which is `internals`."""

    def __init__(self, core: PageCore) -> None:
        self.internals = core
        self.keyboard = Keyboard(core.keyboard)
        self.mouse = Mouse(core.mouse)
        self.touch = Touch(core.touch)
        self._scope = SettingScope.of_page(core)
        self._routes = RouteTable()
        self.network = Network(self._scope, self._routes)
        self.scripts = PageScripts(self._scope, core)
        self.clock = PageClock(core, self._scope)
        self.emulation = PageEmulation(core)
        self.measure = PageMeasure(core)
        self.dialogs = Dialogs(core)
        self.elements = PageElements(core)
        self.pictures = PagePictures(core)
        self.window = PageWindow(core)

    @property
    def session(self) -> Session:
        """The page's session, for any protocol command and event. Evaluations use a separate session."""
        return self.internals.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self.internals.target.target_id

    @property
    def url(self) -> str:
        """The page's URL as of the last event, fragment included. "about:blank" before its first document."""
        return self.internals.target.frames.main.url or "about:blank"

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the page's browser context."""
        return self.internals.target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is closed, or its browser is gone."""
        return self.internals.target.closed

    @property
    def activity(self) -> PageActivity:
        """Console messages, errors and requests of the page, kept from `activity.start()` on, or streamed."""
        core = self.internals
        collector = core.state.activities.of(core.target)
        return PageActivity(
            collector, partial(make_redactor, core.state), core.state.version.product, core.base_url
        )

    def console_handles(self, message: ConsoleMessage) -> list[JSHandle]:
        """Return handles to the arguments of a console message of this page. Sends nothing.

        They are valid while the message is kept, until the page leaves its document. Raises StaleRefError after
        that, and InvalidArgumentError for a message of a worker or of another page.
        """
        return hold_arguments(self.internals, message)

    @property
    def file_choosers(self) -> list[FileChooser]:
        """The latest file choosers of the page. They are never displayed: see `expect_file_chooser`."""
        return self.internals.target.choosers.records

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
        """Let `handler` answer the requests whose URL matches `pattern`.

        Use `async with` to route for a block, or `await` to route until `network.unroute`.

        `pattern` is a glob ("*/api/*", in which only "*" is special), a compiled regular expression or a function
        of the URL. `resource_type` restricts it ("Image", "XHR", ...; `fetch()` is "XHR"). `handler` is an async
        function. It receives a Route and calls `continue_`, `fulfill`, `abort`, or `fallback` for the next route.
        The latest route comes first. With `stage="response"`, the handler runs when the response has begun. Routes
        apply to the page's frames, workers and the pages that it opens, from their first request. They do not see
        requests answered by a service worker or the memory cache.

        If a handler raises, does not answer or takes more than `limit` seconds, only its request fails
        (net::ERR_FAILED): see `network.routes.failures` and the log. A request that is still paused at the end of
        the block continues without the route.

        Raises InvalidArgumentError, DeadlineExceededError, or the error of an unreachable page.
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
        """Let `handler` answer the websockets of the page whose URL matches `pattern`, as in `route`.

        Use `async with` to route for a block, or `await` to route until `network.unroute`.

        `handler` is an async function. It receives a WebSocketRoute, iterates over the page's messages, and sends
        its own, or connects to the server and changes the messages of both directions. During the route, the
        documents have another WebSocket class. Existing websockets, and those of workers, are not affected. A
        websocket without a matching route gets a real connection.

        If a handler raises, or does not answer within `limit` seconds, only its websocket closes (1011): see
        `network.routes.failures` and the log. At the end of the block, the routed websockets close with the code
        1001.

        Raises InvalidArgumentError, DeadlineExceededError, or the error of an unreachable page.
        """
        return route_websockets(self._scope, self._routes, pattern, handler, limit, timeout)

    @block("page.record_har(path)")
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

        The archive has the requests of the page, its frames and workers, and the pages that it opens.
        `url` selects some. The options are those of `activity.save_har`. `redacted=False` keeps secrets, which
        `route_from_har` needs for posted bodies. `timeout` limits the beginning, and the writing. After an error
        in the block, the file is written within 1 s if possible. Do not clear or stop `activity` in the block.

        Raises InvalidArgumentError, FileNotWrittenError, DeadlineExceededError, ConnectionLostError, and
        PackageMissingError without the extra `debug`, which redaction needs.
        """
        recording = record_har(
            self._scope, self.internals.state, path, url=url, bodies=bodies, largest_body=largest_body,
            redacted=redacted, overwrite=overwrite, timeout=timeout,
        )  # fmt: skip
        async with recording as place:
            yield place

    @block("page.trace_steps(path)")
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
        """Record the actions and reads of the page, and of the pages that it opens, to a step trace.

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
            self._scope, self.internals.state, path, film=film, redacted=redacted,
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
            self._scope, self._routes, self.internals.state, path, url=url, not_found=not_found, update=update,
            redacted=redacted, timeout=timeout,
        )  # fmt: skip
