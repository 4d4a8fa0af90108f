"""PageEmulation: what a page is told of the device, the place and the person; and the storage of its documents.

Rule: what is emulated holds for the page, its frames and workers, and the popups it opens, from before their first
script, and nothing of it is left when it ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Unpack

from cdpengine._api.awaitable_scope import AwaitableScope
from cdpengine._api.page_base import PageBase
from cdpengine._api.page_storage import PageStorage
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.emulation_options import EmulationOptions, check_options

if TYPE_CHECKING:
    from cdpengine._api.context import BrowserContext


class PageEmulation(PageBase):
    """The part of a Page that emulates, and that reads what its documents store."""

    @property
    def context(self) -> BrowserContext:
        """The context that the page belongs to."""
        return self.browser.context_of(self._target)

    @property
    def local_storage(self) -> PageStorage:
        """The local storage of the page's documents."""
        return PageStorage(self._target, local=True)

    @property
    def session_storage(self) -> PageStorage:
        """The session storage of the page's documents."""
        return PageStorage(self._target, local=False)

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
        settings = check_options(options, self.browser.version.number)
        target, emulations = self._target, self.browser.emulations

        async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
            layer = Layer(settings, target.target_id)
            async with self._action("emulate", timeout):
                await emulations.keep(target.target_id, layer, target)
            return None, partial(emulations.release, target.target_id, layer)

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            layer = Layer(settings, target.target_id)
            try:
                async with self._action("emulate", timeout):
                    await emulations.begin(layer, target)
                yield
            finally:
                await emulations.end(layer)

        return AwaitableScope("page.emulate(...)", last, scope)

    async def reset_emulation(self, *, timeout: float = 30) -> None:
        """Take back all that was emulated to last for this page; what its context emulates stays."""
        async with self._action("reset the emulation", timeout, also_unready=True):
            await self.browser.emulations.forget(self._target.target_id)

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
