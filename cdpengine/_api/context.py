"""BrowserContext: what pages share and others do not see: cookies, storages, caches, permissions, a proxy.

Rule: the default context has the same methods as those that are made; what is set for a context holds for all its
pages, those included that come later, and ends with it. Nothing is made while anything that was asked for cannot
work; a context whose set-up fails is gone again. Chrome disposes of it by itself when this program's connection
ends, however that happens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine._activity.bodies import ActivityOptions
from cdpengine._api.browser_state import BrowserState, ContextCore
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.emulation import ContextEmulation
from cdpengine._api.scopes.network import Network, route_requests
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.scopes.storage import ContextStorage, load_state
from cdpengine._budget import undoing, within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import DefaultViewport, Proxy, check_options, check_proxy, context_params
from cdpengine._emulation.permissions import PermissionLayer, PermissionState, check_permissions
from cdpengine._network.interceptor import RouteHandler, RouteRegistration, Stage
from cdpengine._network.messages import ResourceType
from cdpengine._page.downloads.download import Download
from cdpengine._page.patterns import UrlPattern
from cdpengine._paths import to_path
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import span as action_span
from cdpengine._protocol.domains.target import CreateBrowserContextReply
from cdpengine._storage.storage_state import StorageState, apply_state
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, RemoteError

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._api.page.page import Page


@not_picklable("its storage state")
class BrowserContext:
    """A context. Get one from `browser.new_context(...)`; `browser.context` is the default one.

    `id` is Chrome's browserContextId, None for the default context. `proxy` is what it was made with, `browser`
    whose it is. What holds for all its pages is in its parts: `network`, `emulation`, `storage`, `scripts`.
    """

    def __init__(self, browser: Browser, core: ContextCore, proxy: Proxy | None = None) -> None:
        self.browser = browser
        self.id = core.id
        self.proxy = proxy
        self.emulation = ContextEmulation(core)
        self.storage = ContextStorage(core)
        self._core = core
        self._scope = SettingScope.of_context(core)
        core.on_end(self._scope.end_all)
        self.network = Network(self._scope)
        self.scripts = Scripts(self._scope)

    def __repr__(self) -> str:
        return f"<BrowserContext {'default' if self.id is None else self.id[:8]}>"

    @property
    def pages(self) -> list[Page]:
        """The context's pages; of the default one, those that `new_context` made none for."""
        return [page for page in self.browser.pages if page.context is self]

    async def new_page(
        self,
        url: str | None = None,
        *,
        viewport: tuple[int, int] | DefaultViewport | None = "default",
        activity: bool | ActivityOptions | None = None,
        timeout: float = 30,
    ) -> Page:
        """Open a page in this context, as `Browser.new_page` does."""
        return await self.browser.new_page(
            url, context=self, viewport=viewport, activity=activity, timeout=timeout
        )

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
        """Have `handler` answer the requests whose URL matches, in all pages of the context.

        `async with` it for a block; `await` it to last, until `network.unroute`.

        `pattern` is a glob ("*/api/*", in which only "*" is special), a compiled regular expression or a function
        of the URL; `resource_type` narrows it ("Image", "XHR", ...; `fetch()` is "XHR"). `handler` is an async
        function that is given a Route and answers it: `continue_`, `fulfill`, `abort`, or `fallback` to the next
        route. The latest route is asked first. With `stage="response"`, it gets the request when its response has
        begun. They hold for all its pages, their frames and workers, from their first request;
        of what a service worker or the memory cache answers they see nothing.

        A handler that raises, gives no answer, or takes more than `limit` seconds, fails its request
        (net::ERR_FAILED) and nothing else: see `network.routes.failures` and the log. What it holds at the end of
        the block goes on as if there had been no route.

        Raises InvalidArgumentError, DeadlineExceededError, and ConnectionLostError.
        """
        routes = self.network.routes
        return route_requests(self._scope, routes, pattern, handler, resource_type, stage, limit, timeout)

    @property
    def downloads(self) -> list[Download]:
        """The latest downloads of the context, oldest first, those included that were refused."""
        own = self._core.known_id
        every = self._core.state.downloads.records
        if own is not None:
            return [download for download in every if download.context_id == own]
        others = self._core.state.context_ids
        return [download for download in every if download.context_id not in others]

    def allow_downloads(self, directory: str | Path, *, timeout: float = 30) -> AwaitableScope[Path]:
        """Let all downloads of the context come into `directory`, which is made if need be; gives its whole path.

        `await` it to last, `async with` it for a block. Names are the server's, made safe, with a number where the
        name is taken; `context.downloads` and `page.expect_download()` tell of them. Raises InvalidArgumentError
        for a directory that cannot be one, RemoteError where the browser does not allow it.
        """
        place = to_path("directory", directory)
        downloads = self._core.state.downloads

        async def last() -> tuple[Path, Callable[[], Awaitable[None]]]:
            with within("allow downloads", timeout):
                made = await downloads.allow(await self._core.real_id(), place)

            async def end() -> None:
                await trio.lowlevel.checkpoint()
                downloads.disallow(self._core.known_id, made)

            return made, end

        @asynccontextmanager
        async def scope() -> AsyncIterator[Path]:
            made: Path | None = None
            try:
                with within("allow downloads", timeout):
                    made = await downloads.allow(await self._core.real_id(), place)
                yield made
            finally:
                if made is not None:
                    downloads.disallow(self._core.known_id, made)

        return AwaitableScope("context.allow_downloads(...)", last, scope)


_DISPOSE_TIMEOUT = 2.0
"""Seconds that disposing of a context may take when its block ends."""


@attrs.frozen
class ContextPlan:
    """What a context is to be, checked, as far as that goes without a browser."""

    storage_state: StorageState | str | Path | None
    proxy: Proxy | None
    downloads: Path | None
    permissions: Mapping[str, PermissionState]
    emulation: Mapping[str, Any]


def plan_context(
    *,
    storage_state: StorageState | str | Path | None,
    proxy: Proxy | str | None,
    downloads: str | Path | None,
    permissions: Sequence[str] | Mapping[str, PermissionState],
    emulation: Mapping[str, Any],
    chrome_version: str,
) -> ContextPlan:
    """Return the plan. Raises InvalidArgumentError."""
    if downloads is not None:
        to_path("downloads", downloads, "a directory, as str or Path")
    if isinstance(permissions, str) or not isinstance(permissions, Sequence | Mapping):
        given = f"a {type(permissions).__name__}"
        raise InvalidArgumentError(
            what="permissions", given=given, expected="a list of names, or a mapping to states"
        )
    states: Mapping[str, PermissionState] = (
        permissions if isinstance(permissions, Mapping) else dict.fromkeys(permissions, "granted")
    )
    if states:
        check_permissions(states, None, None)
    return ContextPlan(
        storage_state=storage_state,
        proxy=None if proxy is None else check_proxy(proxy),
        downloads=None if downloads is None else Path(downloads),
        permissions=states,
        emulation=check_options(emulation, chrome_version) if emulation else {},
    )


@asynccontextmanager
async def make_context(
    state: BrowserState,
    plan: ContextPlan,
    adopted: Callable[[ContextCore], AbstractContextManager[BrowserContext]],
    timeout: float,
) -> AsyncIterator[BrowserContext]:
    """Make a context as planned, and dispose of it with the block; it is the browser's own within `adopted`."""
    params: dict[str, object] = {"disposeOnDetach": True}
    if plan.proxy is not None:
        params.update(context_params(plan.proxy))

    async def dispose(made: CreateBrowserContextReply) -> None:
        await state.session.call("Target.disposeBrowserContext", browserContextId=made.browser_context_id)

    async def dispose_at_end(made: CreateBrowserContextReply) -> None:
        # Gone with the connection, or refused because Chrome had disposed of it: either way it is gone.
        with undoing(_DISPOSE_TIMEOUT), suppress(ConnectionLostError, RemoteError):
            await dispose(made)

    async with AsyncExitStack() as stack:
        with action_span("browser.new_context"), within("make a context", timeout):
            stored = None if plan.storage_state is None else await load_state(plan.storage_state)
            made = await state.creations.create(
                "Target.createBrowserContext", params, CreateBrowserContextReply, dispose
            )
            stack.push_async_callback(dispose_at_end, made)
            core = ContextCore(state, made.browser_context_id)
            context = stack.enter_context(adopted(core))
            stack.push_async_callback(state.downloads.end_context, made.browser_context_id)
            try:
                await _set_up(context, core, plan, stored)
            except BaseException:
                await stack.aclose()  # here, where it shares what the deadline leaves for undoing
                raise
        yield context


async def _set_up(
    context: BrowserContext, core: ContextCore, plan: ContextPlan, stored: StorageState | None
) -> None:
    state, proxy = core.state, plan.proxy
    if proxy is not None and proxy.username is not None and proxy.password is not None:
        await context.network.http_credentials(proxy.username, proxy.password, proxy=True)
    if plan.downloads is not None:
        await state.downloads.allow(core.id, plan.downloads)
    if plan.permissions:
        await state.permissions.keep(PermissionLayer(core.id, None, plan.permissions))
    if plan.emulation:
        await core.check_emulation(plan.emulation)
        await state.emulations.keep(core, Layer(plan.emulation, applies=core.holds))
    if stored is not None:
        await apply_state(state.session, state.creations, core.id, core.origin_page, stored)
