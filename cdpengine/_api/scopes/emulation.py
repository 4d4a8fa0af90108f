"""PageEmulation and ContextEmulation: the device, the place and the person that pages see.

Rule: what is emulated holds for the page, its frames and workers, and the popups it opens, from before their first
script, and nothing of it is left when it ends. What a page emulates goes before what its context does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Literal, Unpack

import attrs

from cdpengine._api.browser_state import ContextCore
from cdpengine._api.page.core import PageCore
from cdpengine._api.scopes.awaitable_scope import AwaitableScope
from cdpengine._budget import within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import EmulationOptions, check_options
from cdpengine._emulation.permissions import PermissionState, check_permissions
from cdpengine._page.running_actions import announced
from cdpengine._pickling import not_picklable


@not_picklable("the options that were set")
@attrs.frozen(eq=False)
class PageEmulation:
    """What one page emulates: `page.emulation`."""

    _core: PageCore

    def set(self, *, timeout: float = 30, **options: Unpack[EmulationOptions]) -> AwaitableScope[None]:
        """Have the page, its frames and workers, and popups that it opens, take the device for another one.

        `await page.emulation.set(...)` lasts; `async with page.emulation.set(...)` holds for the block. Options
        that are not named stay as they were; None means as without emulation. Of several scopes the innermost
        holds.

        `device` is a name in `cdpengine.DEVICES` ("iPhone 16", "Pixel 9", "Desktop 1080p"), turned by
        `landscape=True`. It stands for `viewport` and `screen` (width and height in CSS pixels),
        `device_scale_factor`, `mobile` (layout as on phones), `touch` and `user_agent` (a str, or a UserAgent with
        client hints), which can be given alone, or to change the device's. A `viewport` of None is the size of
        the window; "default" is that of the browser (`launch(viewport=)`), and so it is with `device=None`.
        `locale` ("de-DE") also sets the languages that servers are told, `timezone` is "Europe/Berlin" or the
        like, `geolocation` (latitude, longitude), a Geolocation or "unavailable"; pages may read it only with the
        permission "geolocation". `color_scheme` is "light" or "dark", `reduced_motion` "reduce" or
        "no-preference", `forced_colors` "active" or "none", `contrast` "more", "less", "custom" or
        "no-preference", `media` "screen" or "print".

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

        return AwaitableScope("page.emulation.set(...)", last, scope)

    @announced("set_viewport")
    async def set_viewport(
        self, width: int, height: int, *, device_scale_factor: float = 1, timeout: float = 30
    ) -> None:
        """Make the viewport that large, in CSS pixels, from now on; `set(viewport=...)` can do it for a block."""
        await self.set(
            viewport=(width, height),
            device_scale_factor=device_scale_factor,
            mobile=False,
            timeout=timeout,
        )

    async def reset(self, *, timeout: float = 30) -> None:
        """Take back all that was emulated to last for this page; what its context emulates stays."""
        async with self._core.action("reset the emulation", timeout, also_unready=True):
            await self._core.state.emulations.forget(self._core.target.target_id)


@not_picklable("the options that were set")
@attrs.frozen(eq=False)
class ContextEmulation:
    """What all pages of a context emulate, and what they are permitted: `context.emulation`."""

    _core: ContextCore

    def set(self, *, timeout: float = 30, **options: Unpack[EmulationOptions]) -> AwaitableScope[None]:
        """Emulate for all pages of the context, present and future; `page.emulation.set` goes before it.

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

        return AwaitableScope("context.emulation.set(...)", last, scope)

    async def reset(self, *, timeout: float = 30) -> None:
        """Take back all that was emulated to last for the context; what its pages emulate themselves stays."""
        with within("reset the emulation", timeout):
            await self._core.state.emulations.forget(self._core)

    def set_permissions(
        self, permissions: Mapping[str, PermissionState], *, origin: str | None = None, timeout: float = 30
    ) -> AwaitableScope[None]:
        """Have pages of an origin (None: of all) find permissions "granted", "denied" or in need of a "prompt".

        `await` it to last, `async with` it for a block, as with `set`. The latest holds, but what is said
        of an origin goes before what is said of all. Raises InvalidArgumentError for a
        permission that there is none of; then nothing has changed. DeadlineExceededError, ConnectionLostError.
        """
        layer = check_permissions(permissions, origin, self._core.id)
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

        return AwaitableScope("context.emulation.set_permissions(...)", last, scope)

    def grant_permissions(
        self, *names: str, origin: str | None = None, timeout: float = 30
    ) -> AwaitableScope[None]:
        """Grant permissions, as `set_permissions({name: "granted"})` does."""
        granted: Literal["granted"] = "granted"
        return self.set_permissions(dict.fromkeys(names, granted), origin=origin, timeout=timeout)

    async def reset_permissions(self, *, timeout: float = 30) -> None:
        """Have all permissions of the context as they are without overrides."""
        with within("reset permissions", timeout):
            await self._core.state.permissions.reset(self._core.id)
