"""PageEmulation: what a page is told of the device, the place and the person; and the storage of its documents.

Rule: what is emulated holds for the page, its frames and workers, and the popups it opens, from before their first
script, and nothing of it is left when it ends.

PageStorage and OriginStorage: local and session storage, of a page's documents and of any origin of a context.

Rule: read and written through DevTools: no script of the page runs for it, and none of ours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Unpack

import attrs
import trio

from cdpengine._api.awaitable_scope import AwaitableScope
from cdpengine._api.context_core import ContextCore
from cdpengine._api.page_core import PageVerbs, explain_deadline
from cdpengine._budget import check_timeout, within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import EmulationOptions, check_options
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.urls import origin_of
from cdpengine._storage.storage_items import (
    StorageItems,
    check_items,
    check_keys,
    storage_key_of,
    top_storage_key,
)
from cdpengine.errors import InvalidArgumentError


class PageEmulation(PageVerbs):
    """The part of a Page that emulates, and that reads what its documents store."""

    @property
    def local_storage(self) -> PageStorage:
        """The local storage of the page's documents."""
        return PageStorage(self._core.target, local=True)

    @property
    def session_storage(self) -> PageStorage:
        """The session storage of the page's documents."""
        return PageStorage(self._core.target, local=False)

    def emulate(self, *, timeout: float = 30, **options: Unpack[EmulationOptions]) -> AwaitableScope[None]:
        """Have the page, its frames and workers, and popups that it opens, take the device for another one.

        `await page.emulate(...)` lasts; `async with page.emulate(...)` holds for the block. Options that are not
        named stay as they were; None means as without emulation. Of several scopes the innermost holds.

        `device` is a name in `cdpengine.DEVICES` ("iPhone 16", "Pixel 9", "Desktop 1080p"), turned by
        `landscape=True`. It stands for `viewport` and `screen` (width and height in CSS pixels),
        `device_scale_factor`, `mobile` (layout as on phones), `touch` and `user_agent` (a str, or a UserAgent with
        client hints), which can be given alone, or to change the device's. `locale` ("de-DE") also sets the
        languages that servers are told, `timezone` is "Europe/Berlin" or the like, `geolocation` (latitude,
        longitude), a Geolocation or "unavailable"; pages may read it only with the permission "geolocation".
        `color_scheme` is "light" or "dark", `reduced_motion` "reduce" or "no-preference", `forced_colors`
        "active" or "none", `contrast` "more", "less", "custom" or "no-preference", `media` "screen" or "print".

        Time zone and locale are one for a whole process in Chrome: pages of one site that are related by popups
        share them. Service and shared workers are told nothing. What a document has read stays read: load it again
        after a change of the user agent.

        Raises InvalidArgumentError for a name or value that there is none of, EmulationRefusedError where Chrome
        cannot; what was before holds then. DeadlineExceededError, SessionGoneError, ConnectionLostError.
        """
        settings = check_options(options, self._core.state.version.number)
        target, emulations = self._core.target, self._core.state.emulations

        async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
            layer = Layer(settings, target.target_id)
            async with self._core.action("emulate", timeout):
                await emulations.keep(target.target_id, layer, target)
            return None, partial(emulations.release, target.target_id, layer)

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            layer = Layer(settings, target.target_id)
            try:
                async with self._core.action("emulate", timeout):
                    await emulations.begin(layer, target)
                yield
            finally:
                await emulations.end(layer)

        return AwaitableScope("page.emulate(...)", last, scope)

    async def reset_emulation(self, *, timeout: float = 30) -> None:
        """Take back all that was emulated to last for this page; what its context emulates stays."""
        async with self._core.action("reset the emulation", timeout, also_unready=True):
            await self._core.state.emulations.forget(self._core.target.target_id)

    async def set_viewport(
        self, width: int, height: int, *, device_scale_factor: float = 1, timeout: float = 30
    ) -> None:
        """Make the viewport that large, in CSS pixels. `emulate(viewport=...)` does it for a block, and more."""
        await self.emulate(
            viewport=(width, height),
            device_scale_factor=device_scale_factor,
            mobile=False,
            timeout=timeout,
        )


@attrs.frozen(eq=False)
class PageStorage:
    """The local (or session) storage of a page's main document, or of the one in `frame`.

    All raise StorageUnavailableError for a document without storage (about:blank, data:, sandboxed ones), and
    DeadlineExceededError, SessionGoneError, ConnectionLostError.
    """

    _page: PageTarget
    local: bool

    async def items(self, *, frame: Frame | None = None, timeout: float = 30) -> dict[str, str]:
        """Return all items."""
        async with self._within("read the storage", frame, timeout) as items:
            return await items.read()

    async def set(self, items: Mapping[str, str], *, frame: Frame | None = None, timeout: float = 30) -> None:
        """Set items; others stay. Where there is no room for all, none is set."""
        checked = check_items(items)
        async with self._within("set items of the storage", frame, timeout) as storage:
            await storage.write(checked)

    async def delete(self, *keys: str, frame: Frame | None = None, timeout: float = 30) -> None:
        """Remove items; those that are not there are no error."""
        checked = check_keys(keys)
        async with self._within("delete items of the storage", frame, timeout) as storage:
            await storage.delete(checked)

    async def clear(self, *, frame: Frame | None = None, timeout: float = 30) -> None:
        """Remove all items."""
        async with self._within("clear the storage", frame, timeout) as storage:
            await storage.clear()

    @asynccontextmanager
    async def _within(self, action: str, frame: Frame | None, timeout: float) -> AsyncIterator[StorageItems]:
        page = self._page
        if frame is not None and not isinstance(frame, Frame):
            raise InvalidArgumentError(
                what="frame", given=f"a {type(frame).__name__}", expected="one of page.frames"
            )
        async with explain_deadline(page, trio.current_time() + check_timeout(timeout)):
            with within(action, timeout):
                await page.ready()
                of = page.frames.main if frame is None else frame
                session = page.session_of(of)
                origin = origin_of(of.url) if of.parent_id is None else None
                key = (
                    top_storage_key(origin)
                    if origin is not None
                    else await storage_key_of(session, of.id, of.url)
                )
                yield StorageItems(session, key, local=self.local)


@attrs.frozen(eq=False)
class OriginStorage:
    """The local storage of one origin of a context, whether or not a page is there.

    All raise StorageUnavailableError, DeadlineExceededError, ConnectionLostError.
    """

    _context: ContextCore
    origin: str

    async def items(self, *, timeout: float = 30) -> dict[str, str]:
        """Return all items."""
        async with self._within("read the local storage", timeout) as items:
            return await items.read()

    async def set(self, items: Mapping[str, str], *, timeout: float = 30) -> None:
        """Set items; others stay. Where there is no room for all, none is set."""
        checked = check_items(items)
        async with self._within("set items of the local storage", timeout) as storage:
            await storage.write(checked)

    async def delete(self, *keys: str, timeout: float = 30) -> None:
        """Remove items; those that are not there are no error."""
        checked = check_keys(keys)
        async with self._within("delete items of the local storage", timeout) as storage:
            await storage.delete(checked)

    async def clear(self, *, timeout: float = 30) -> None:
        """Remove all items."""
        async with self._within("clear the local storage", timeout) as storage:
            await storage.clear()

    @asynccontextmanager
    async def _within(self, action: str, timeout: float) -> AsyncIterator[StorageItems]:
        with within(f"{action} of {self.origin}", timeout):
            async with self._context.origin_page() as page:
                yield await page.go(self.origin)
