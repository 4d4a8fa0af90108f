"""BrowserContext: what pages share and others do not see: cookies, storages, caches, permissions, a proxy.

Rule: the default context has the same methods as those that are made; what is set for a context holds for all its
pages, those included that come later, and ends with it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import trio

from cdpengine._activity.options import ActivityOptions
from cdpengine._api.awaitable_scope import AwaitableScope
from cdpengine._api.context_core import ContextCore
from cdpengine._api.context_network import ContextNetwork
from cdpengine._api.context_storage import ContextStorage
from cdpengine._budget import within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import EmulationOptions, check_options
from cdpengine._emulation.permissions import PermissionState, check_permissions
from cdpengine._emulation.proxies import Proxy
from cdpengine._page.downloads.download import Download
from cdpengine._page.urls import check_origin
from cdpengine._storage.cookie import Cookie, checked_cookies, goes_to
from cdpengine._storage.cookies import clear_cookies, delete_cookies, read_cookies, write_cookies
from cdpengine.errors import InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._api.page import Page


class BrowserContext(ContextStorage, ContextNetwork):
    """A context. Get one from `browser.new_context(...)`; `browser.context` is the default one.

    `id` is Chrome's browserContextId, None for the default context. `proxy` is what it was made with.
    """

    def __init__(self, browser: Browser, core: ContextCore, proxy: Proxy | None = None) -> None:
        self.browser = browser
        self.id = core.id
        self.proxy = proxy
        self._core = core

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

    # --- cookies -----------------------------------------------------------------------------------------------

    async def cookies(self, *urls: str, timeout: float = 30) -> list[Cookie]:
        """Return the context's cookies, those of all partitions; with `urls`, those that would be sent there.

        Raises InvalidArgumentError, DeadlineExceededError, ConnectionLostError.
        """
        for url in urls:
            check_origin(url, "url")
        with within("read the cookies", timeout):
            found = await read_cookies(self._core.state.session, self.id)
        return [cookie for cookie in found if not urls or any(goes_to(cookie, url) for url in urls)]

    async def set_cookies(
        self, cookies: Sequence[Cookie | Mapping[str, Any]], *, timeout: float = 30
    ) -> None:
        """Set cookies, given as Cookie objects or mappings: all of them, or none.

        Raises InvalidArgumentError for what can be no cookie, CookieRefusedError for one that Chrome does not
        take; DeadlineExceededError, ConnectionLostError. What was there before is there then.
        """
        checked = checked_cookies(cookies)
        with within("set cookies", timeout):
            await write_cookies(self._core.state.session, self._core.state.creations, self.id, checked)

    async def delete_cookies(
        self,
        name: str | None = None,
        *,
        domain: str | None = None,
        path: str | None = None,
        where: Callable[[Cookie], bool] | None = None,
        timeout: float = 30,
    ) -> int:
        """Delete the cookies that are all that is said, in all partitions; return how many there were.

        `domain` is a host with or without the leading dot: both kinds are meant. Raises InvalidArgumentError where
        nothing is said: `clear_cookies` deletes all.
        """
        if name is None and domain is None and path is None and where is None:
            raise InvalidArgumentError(
                what="delete_cookies", given="nothing", expected="a name, domain, path or where"
            )
        for what, text in (("name", name), ("domain", domain), ("path", path)):
            if text is not None and not isinstance(text, str):
                raise InvalidArgumentError(what=what, given=f"a {type(text).__name__}", expected="a str")

        def doomed(cookie: Cookie) -> bool:
            return (
                (name is None or cookie.name == name)
                and (domain is None or cookie.domain.lstrip(".") == domain.lstrip(".").lower())
                and (path is None or cookie.path == path)
                and (where is None or bool(where(cookie)))
            )

        with within("delete cookies", timeout):
            return await delete_cookies(self._core.state.session, self.id, doomed)

    async def clear_cookies(self, *, timeout: float = 30) -> None:
        """Delete all cookies of the context."""
        with within("clear the cookies", timeout):
            await clear_cookies(self._core.state.session, self.id)

    # --- permissions, emulation, downloads ---------------------------------------------------------------------

    def set_permissions(
        self, permissions: Mapping[str, PermissionState], *, origin: str | None = None, timeout: float = 30
    ) -> AwaitableScope[None]:
        """Have pages of an origin (None: of all) find permissions "granted", "denied" or in need of a "prompt".

        `await` it to last, `async with` it for a block, as with `Page.emulate`. The latest holds, but what is said
        of an origin goes before what is said of all. Raises InvalidArgumentError for a
        permission that there is none of; then nothing has changed. DeadlineExceededError, ConnectionLostError.
        """
        layer = check_permissions(permissions, origin, self.id)
        store = self._core.state.permissions

        async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
            with within("set permissions", timeout):
                await store.keep(layer)
            return None, partial(store.end, layer)

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            try:
                with within("set permissions", timeout):
                    await store.begin(layer)
                yield
            finally:
                await store.end(layer)

        return AwaitableScope("context.set_permissions(...)", last, scope)

    def grant_permissions(
        self, *names: str, origin: str | None = None, timeout: float = 30
    ) -> AwaitableScope[None]:
        """Grant permissions, as `set_permissions({name: "granted"})` does."""
        granted: Literal["granted"] = "granted"
        return self.set_permissions(dict.fromkeys(names, granted), origin=origin, timeout=timeout)

    async def reset_permissions(self, *, timeout: float = 30) -> None:
        """Have all permissions of the context as they are without overrides."""
        with within("reset permissions", timeout):
            await self._core.state.permissions.reset(self.id)

    def emulate(self, *, timeout: float = 30, **options: Unpack[EmulationOptions]) -> AwaitableScope[None]:
        """Emulate for all pages of the context, present and future, as `Page.emulate` does, which goes before it.

        A page that does not answer holds up nothing: it obeys when it answers again.
        """
        settings = check_options(options, self._core.state.version.number)
        emulations = self._core.state.emulations

        async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
            layer = Layer(settings, applies=self._core.holds)
            with within("emulate", timeout):
                await self._core.check_emulation(settings)
                await emulations.keep(self._core, layer)
            return None, partial(emulations.release, self._core, layer)

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            layer = Layer(settings, applies=self._core.holds)
            try:
                with within("emulate", timeout):
                    await self._core.check_emulation(settings)
                    await emulations.begin(layer)
                yield
            finally:
                await emulations.end(layer)

        return AwaitableScope("context.emulate(...)", last, scope)

    async def reset_emulation(self, *, timeout: float = 30) -> None:
        """Take back all that was emulated to last for the context; what its pages emulate themselves stays."""
        with within("reset the emulation", timeout):
            await self._core.state.emulations.forget(self._core)

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
