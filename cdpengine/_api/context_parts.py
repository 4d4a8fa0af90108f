"""ContextParts: the settings of a BrowserContext, whose pages share cookies, storages, permissions and proxy.

Rule: the default context has the same methods as created ones. A setting of a context applies to all its pages,
including later ones, and ends with the context. All arguments are checked before anything is created, and a
context whose set-up fails is disposed of. Chrome disposes of a created context when this program's connection ends
for any reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import attrs
import trio

from cdpengine._api.browser_state import BrowserState, ContextCore
from cdpengine._api.http.client import HttpClient
from cdpengine._api.page.expecting import Expected
from cdpengine._api.page.workers import expect_new_worker
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.document_rules import DocumentRules, apply_rules
from cdpengine._api.scopes.emulation import ContextEmulation
from cdpengine._api.scopes.network import Network, RouteTable
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.scopes.session_items import restore_session_items
from cdpengine._api.scopes.storage import ContextStorage, load_state
from cdpengine._api.scopes.traffic import ScopeTraffic
from cdpengine._api.worker import Worker
from cdpengine._budget import undoing, within
from cdpengine._checks import check_flag, wrong_type
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import Proxy, check_options, check_proxy, context_params
from cdpengine._emulation.permissions import PermissionLayer, PermissionState, check_permissions
from cdpengine._page.downloads.download import Download
from cdpengine._page.worker_targets import WorkerTarget
from cdpengine._paths import to_path
from cdpengine._protocol.domains.target import CreateBrowserContextReply
from cdpengine._protocol.wire import span as action_span
from cdpengine._storage.context_state import apply_state
from cdpengine._storage.storage_state import StorageState
from cdpengine._urls.patterns import UrlPattern, join_pattern
from cdpengine._urls.reading import read_url
from cdpengine.errors import ConnectionLostError, RemoteError
from cdpengine.errors.misuse import block

C = TypeVar("C", bound="ContextParts")


class ContextParts(ScopeTraffic):
    """The parts and the state of a BrowserContext. They use its core, which is `internals`."""

    _noun = "context"

    def __init__(self, core: ContextCore, proxy: Proxy | None) -> None:
        super().__init__(SettingScope.of_context(core), core.state)
        self.id = core.id
        self.proxy = proxy
        self.emulation = ContextEmulation(core)
        self.internals = core
        self.storage = ContextStorage(core, self._scope)
        core.on_end(self._scope.end_all)
        self.network = Network(self._scope, self._routes)
        self.scripts = Scripts(self._scope)
        self.request = HttpClient(core, self.network, proxy)

    @property
    def service_workers(self) -> list[Worker]:
        """The running service workers of the context, oldest first."""
        return self.internals.state.workers.select(self._holds_service_worker)

    @property
    def shared_workers(self) -> list[Worker]:
        """The running shared workers of the context, oldest first."""
        holds = self.internals.holds
        return self.internals.state.workers.select(lambda worker: worker.kind == "shared" and holds(worker))

    @block("context.expect_service_worker() as expected")
    async def expect_service_worker(
        self,
        *,
        url: UrlPattern | None = None,
        where: Callable[[Worker], bool] | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[Expected[Worker]]:
        """Expect that the block starts a service worker. After the block, `expected.value` is the worker.

        Works like `page.expect_worker`. A service worker that Chrome stopped and starts again is a new worker.
        """
        state = self.internals.state
        whole = None if url is None else join_pattern(self.internals.base_url, url)
        async with expect_new_worker(
            state, state.session, self._holds_service_worker, whole, where, timeout
        ) as expected:
            yield expected

    def _holds_service_worker(self, worker: WorkerTarget) -> bool:
        return worker.kind == "service" and self.internals.holds(worker)

    @property
    def downloads(self) -> list[Download]:
        """The latest downloads of the context, oldest first, including refused ones."""
        own = self.internals.known_id
        every = self.internals.state.downloads.records
        if own is not None:
            return [record.download for record in every if record.context_id == own]
        others = self.internals.state.context_ids
        return [record.download for record in every if record.context_id not in others]

    def allow_downloads(self, directory: str | Path, *, timeout: float = 30) -> AwaitableScope[Path]:
        """Save all downloads of the context in `directory`, created if needed.

        The scope's value is the absolute path. Use `async with` to allow downloads for a block, or `await` to
        allow them until the context closes. A file has the name that the server gives, made safe, with a number if
        the name is taken. `context.downloads` and `page.expect_download()` report the downloads. Raises
        InvalidArgumentError for an invalid directory, RemoteError if the browser does not allow downloads.
        """
        place = to_path("directory", directory)
        downloads = self.internals.state.downloads

        async def last() -> tuple[Path, Callable[[], Awaitable[None]]]:
            with within("allow downloads", timeout):
                made = await downloads.allow(await self.internals.real_id(), place)

            async def end() -> None:
                await trio.lowlevel.checkpoint()
                downloads.disallow(self.internals.known_id, made)

            return made, end

        @asynccontextmanager
        async def scope() -> AsyncIterator[Path]:
            made: Path | None = None
            try:
                with within("allow downloads", timeout):
                    made = await downloads.allow(await self.internals.real_id(), place)
                yield made
            finally:
                if made is not None:
                    downloads.disallow(self.internals.known_id, made)

        return AwaitableScope("context.allow_downloads(...)", last, scope)


_DISPOSE_TIMEOUT = 2.0
"""Maximum time in seconds to dispose of a context when its block ends."""


_OPTIONS = (
    "storage_state", "proxy", "downloads", "permissions", "activity", "base_url", "accept_downloads",
    "java_script_enabled", "bypass_csp", "ignore_https_errors", "service_workers", "timeout",
)  # fmt: skip
"""The options of `new_context` that are not options of the emulation."""


@attrs.frozen
class ContextPlan:
    """The options of a new context, checked without a browser."""

    storage_state: StorageState | Mapping[str, object] | str | Path | None
    proxy: Proxy | None
    downloads: Path | None
    permissions: Mapping[str, PermissionState]
    emulation: Mapping[str, Any]
    base_url: str | None
    accept_downloads: bool
    rules: DocumentRules


def plan_context(
    *,
    storage_state: StorageState | Mapping[str, object] | str | Path | None,
    proxy: Proxy | str | None,
    downloads: str | Path | None,
    permissions: Sequence[str] | Mapping[str, PermissionState],
    emulation: Mapping[str, Any],
    chrome_version: str,
    base_url: str | None,
    accept_downloads: bool,
    rules: DocumentRules,
) -> ContextPlan:
    """Check the arguments of `new_context` and return them as a plan. Raises InvalidArgumentError."""
    if downloads is not None:
        to_path("downloads", downloads, "a directory, as str or Path")
    if isinstance(permissions, str) or not isinstance(permissions, Sequence | Mapping):
        raise wrong_type("permissions", permissions, "a list of names, or a mapping to states")
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
        emulation=check_options(emulation, chrome_version, call="new_context", others=_OPTIONS)
        if emulation
        else {},
        base_url=None if base_url is None else read_url(base_url, "base_url").text,
        accept_downloads=check_flag("accept_downloads", accept_downloads),
        rules=rules,
    )


@asynccontextmanager
async def make_context(
    state: BrowserState,
    plan: ContextPlan,
    adopted: Callable[[ContextCore], AbstractContextManager[C]],
    timeout: float,
) -> AsyncIterator[C]:
    """Create a context as planned inside `adopted`, and dispose of it at the end of the block."""
    params: dict[str, object] = {"disposeOnDetach": True}
    if plan.proxy is not None:
        params.update(context_params(plan.proxy))

    async def dispose(made: CreateBrowserContextReply) -> None:
        await state.session.call("Target.disposeBrowserContext", browserContextId=made.browser_context_id)

    async def dispose_at_end(made: CreateBrowserContextReply) -> None:
        for page in state.tabs.pages.values():
            if page.context_id == made.browser_context_id:
                page.session.closing_reason = (
                    "the block of its context has ended. Use its pages inside the block"
                )
        # These errors mean that the context is gone, with the connection or because Chrome disposed of it.
        with undoing(_DISPOSE_TIMEOUT), suppress(ConnectionLostError, RemoteError):
            await dispose(made)

    async with AsyncExitStack() as stack:
        with action_span("browser.new_context"), within("make a context", timeout):
            stored = (
                None if plan.storage_state is None else await load_state("storage_state", plan.storage_state)
            )
            made = await state.creations.create(
                "Target.createBrowserContext", params, CreateBrowserContextReply, dispose
            )
            stack.push_async_callback(dispose_at_end, made)
            core = ContextCore(state, made.browser_context_id, plan.base_url)
            context = stack.enter_context(adopted(core))
            stack.push_async_callback(state.downloads.end_context, made.browser_context_id)
            try:
                await _set_up(core, plan, stored, timeout)
            except BaseException:
                await stack.aclose()  # here, to share the rest of the deadline with the cleanup
                raise
        yield context


async def _set_up(core: ContextCore, plan: ContextPlan, stored: StorageState | None, timeout: float) -> None:
    """Apply the options of a new context, before it has pages."""
    state, proxy, scope = core.state, plan.proxy, SettingScope.of_context(core)
    core.on_end(scope.end_all)
    core.ignore_https_errors = plan.rules.ignore_https_errors
    await apply_rules(scope, plan.rules, timeout)
    if proxy is not None and proxy.username is not None and proxy.password is not None:
        await Network(scope, RouteTable()).http_credentials(proxy.username, proxy.password, proxy=True)
    if plan.downloads is not None:
        await state.downloads.allow(core.id, plan.downloads)
    elif plan.accept_downloads:
        await state.downloads.allow(core.id, await state.downloads.directory_of(core.id))
    if plan.permissions:
        await state.permissions.keep(PermissionLayer(core.id, None, plan.permissions))
    if plan.emulation:
        await core.check_emulation(plan.emulation)
        await state.emulations.keep(core, Layer(plan.emulation, applies=core.holds))
    if stored is not None:
        await apply_state(state.session, state.creations, core.id, core.origin_page, stored)
        await restore_session_items(scope, stored, timeout)
