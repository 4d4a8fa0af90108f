"""PageEmulation and ContextEmulation: device, location and preferences as pages see them.

Rule: emulation applies to the page, its frames and workers, and its popups, before their first script. At its end
all of it is removed. A page's emulation has priority over its context's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from operator import attrgetter
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


@not_picklable("the options of the emulation")
@attrs.frozen(eq=False)
class PageEmulation:
    """The emulation of one page: `page.emulation`."""

    _core: PageCore

    def set(self, *, timeout: float = 30, **options: Unpack[EmulationOptions]) -> AwaitableScope[None]:
        """Emulate a device for the page, its frames and workers, and the popups that it opens.

        `await page.emulation.set(...)` lasts; `async with page.emulation.set(...)` applies to the block. Omitted
        options do not change; None means no emulation. Of several scopes the innermost applies.

        `device` is a name in `cdpengine.DEVICES` ("iPhone 16", "Pixel 9", "Desktop 1080p"), rotated by
        `landscape=True`. It sets `viewport` and `screen` (width and height in CSS pixels), `device_scale_factor`,
        `mobile` (layout as on phones), `touch` and `user_agent` (a str, or a UserAgent with client hints). Each
        can also be set alone, or override the device's value. A `viewport` of None means the size of the window;
        "default" means the viewport of the browser (`launch(viewport=)`). `device=None` uses "default". `locale`
        ("de-DE") also sets the languages in requests. `timezone` is a name such as "Europe/Berlin". `geolocation`
        is (latitude, longitude), a Geolocation or "unavailable"; pages need the permission "geolocation" to read
        it. `color_scheme` is "light" or "dark", `reduced_motion` "reduce" or "no-preference", `forced_colors`
        "active" or "none", `contrast` "more", "less", "custom" or "no-preference", `media` "screen" or "print".

        In Chrome, time zone and locale belong to a whole process: pages of one site that are related by popups
        share them. Service and shared workers are not emulated. A document keeps values that it has read: reload
        it after a change of the user agent.

        Raises InvalidArgumentError for an unknown name or value, or one that Chrome refuses; the earlier emulation
        then stays. Raises DeadlineExceededError, SessionGoneError, ConnectionLostError.
        """
        settings = check_options(options, self._core.state.version.number)
        target, emulations = self._core.target, self._core.state.emulations

        async def last() -> tuple[None, Callable[[], Awaitable[None]]]:
            layer = Layer(settings, target.target_id)
            async with self._core.action("emulate", timeout, also_discarded=True):
                await emulations.keep(target.target_id, layer, target)
            return None, partial(emulations.release, target.target_id, layer)

        @asynccontextmanager
        async def scope() -> AsyncIterator[None]:
            layer = Layer(settings, target.target_id)
            try:
                async with self._core.action("emulate", timeout, also_discarded=True):
                    await emulations.begin(layer, target)
                yield
            finally:
                await emulations.end(layer)

        return AwaitableScope("page.emulation.set(...)", last, scope)

    @announced("set_viewport", attrgetter("_core.target.running"))
    async def set_viewport(
        self, width: int, height: int, *, device_scale_factor: float = 1, timeout: float = 30
    ) -> None:
        """Set the size of the viewport in CSS pixels from now on. For a block, use `set(viewport=...)`."""
        await self.set(
            viewport=(width, height),
            device_scale_factor=device_scale_factor,
            mobile=False,
            timeout=timeout,
        )

    async def reset(self, *, timeout: float = 30) -> None:
        """Remove all awaited emulation of this page. Emulation of its context stays."""
        async with self._core.action("reset the emulation", timeout, also_unready=True):
            await self._core.state.emulations.forget(self._core.target.target_id)


@not_picklable("the options of the emulation")
@attrs.frozen(eq=False)
class ContextEmulation:
    """Emulation and permissions of all pages of a context: `context.emulation`."""

    _core: ContextCore

    def set(self, *, timeout: float = 30, **options: Unpack[EmulationOptions]) -> AwaitableScope[None]:
        """Emulate for all pages of the context, present and future. `page.emulation.set` has priority.

        A page that does not respond delays nothing. The emulation applies when it responds again.
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
        """Remove all awaited emulation of the context. Emulation of its pages stays."""
        with within("reset the emulation", timeout):
            await self._core.state.emulations.forget(self._core)

    def set_permissions(
        self, permissions: Mapping[str, PermissionState], *, origin: str | None = None, timeout: float = 30
    ) -> AwaitableScope[None]:
        """Set permissions to "granted", "denied" or "prompt" for pages of an origin, or of all origins (None).

        Use `async with` to set them for a block, or `await` to set them until `reset_permissions`. The latest
        setting applies, but a setting for an origin has priority over one for all origins. Raises
        InvalidArgumentError for an unknown permission; nothing changes then. Raises DeadlineExceededError,
        ConnectionLostError.
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
        """Grant permissions: `set_permissions({name: "granted"})`."""
        granted: Literal["granted"] = "granted"
        return self.set_permissions(dict.fromkeys(names, granted), origin=origin, timeout=timeout)

    async def reset_permissions(self, *, timeout: float = 30) -> None:
        """Remove all overrides of the context's permissions."""
        with within("reset permissions", timeout):
            await self._core.state.permissions.reset(self._core.id)
