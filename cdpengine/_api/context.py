"""BrowserContext: what pages share and others do not see: cookies, storages, caches, permissions, a proxy.

Rule: the default context has the same methods as those that are made; what is set for a context holds for all its
pages, those included that come later, and ends with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from cdpengine._activity.options import ActivityOptions
from cdpengine._api.context_core import ContextCore
from cdpengine._api.scopes.awaitable_scope import AwaitableScope
from cdpengine._api.scopes.emulation import ContextEmulation
from cdpengine._api.scopes.network import Network
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.scopes.setting_scope import SettingScope
from cdpengine._api.scopes.storage import ContextStorage
from cdpengine._budget import within
from cdpengine._emulation.proxies import Proxy
from cdpengine._network.constants import ResourceType
from cdpengine._network.registration import RouteHandler, RouteRegistration, Stage
from cdpengine._page.downloads.download import Download
from cdpengine._page.urls import UrlPattern
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._api.page import Page


class BrowserContext:
    """A context. Get one from `browser.new_context(...)`; `browser.context` is the default one.

    `id` is Chrome's browserContextId, None for the default context. `proxy` is what it was made with.
    """

    def __init__(self, browser: Browser, core: ContextCore, proxy: Proxy | None = None) -> None:
        self.browser = browser
        self.id = core.id
        self.proxy = proxy
        self.emulation = ContextEmulation(core)
        self.storage = ContextStorage(core)
        self._core = core
        self._scope = SettingScope.of_context(core)
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
        activity: bool | ActivityOptions | None = None,
        timeout: float = 30,
    ) -> Page:
        """Open a page in this context, as `Browser.new_page` does."""
        return await self.browser.new_page(url, context=self, activity=activity, timeout=timeout)

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
        """Have `handler` answer the requests whose URL matches: `network.route`, which says how."""
        return self.network.route(
            pattern, handler, resource_type=resource_type, stage=stage, limit=limit, timeout=timeout
        )

    def end_lasting(self) -> None:
        """End all that was awaited to last, without waiting: the context is gone. For the engine."""
        self._scope.end_all()

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
        if not isinstance(directory, str | Path) or not str(directory):
            given = f"a {type(directory).__name__}"
            raise InvalidArgumentError(what="directory", given=given, expected="a path, as str or Path")
        downloads = self._core.state.downloads

        async def last() -> tuple[Path, Callable[[], Awaitable[None]]]:
            with within("allow downloads", timeout):
                made = await downloads.allow(await self._core.real_id(), Path(directory))

            async def end() -> None:
                await trio.lowlevel.checkpoint()
                downloads.disallow(self._core.known_id, made)

            return made, end

        @asynccontextmanager
        async def scope() -> AsyncIterator[Path]:
            made: Path | None = None
            try:
                with within("allow downloads", timeout):
                    made = await downloads.allow(await self._core.real_id(), Path(directory))
                yield made
            finally:
                if made is not None:
                    downloads.disallow(self._core.known_id, made)

        return AwaitableScope("context.allow_downloads(...)", last, scope)
