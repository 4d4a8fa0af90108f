"""Contexts are made here: checked whole, made, set up, and disposed of.

Rule: nothing is made while anything that was asked for cannot work; a context whose set-up fails is gone again.
Chrome disposes of it by itself when this program's connection ends, however that happens.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import attrs

from cdpengine._api.browser_state import BrowserState
from cdpengine._api.context import BrowserContext
from cdpengine._api.context_core import ContextCore
from cdpengine._api.scopes.storage import load_state
from cdpengine._budget import undoing, within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import check_options
from cdpengine._emulation.permissions import PermissionLayer, PermissionState, check_permissions
from cdpengine._emulation.proxies import Proxy, check_proxy, context_params
from cdpengine._protocol.domains.target import CreateBrowserContextReply
from cdpengine._protocol.instruments import span as action_span
from cdpengine._storage.state_transfer import apply_state
from cdpengine._storage.storage_state import StorageState
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, RemoteError

_DISPOSE_GRACE = 2.0
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
    if downloads is not None and (not isinstance(downloads, str | Path) or not str(downloads)):
        given = f"a {type(downloads).__name__}"
        raise InvalidArgumentError(what="downloads", given=given, expected="a directory, as str or Path")
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
        with undoing(_DISPOSE_GRACE), suppress(ConnectionLostError, RemoteError):
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
