"""SharedCache: one cache for all actors of a service, opened on first use.

Rule: a task in a nursery keeps the cache open and closes it in order. If the cache cannot be opened, the
request fails with the reason, and the next request retries. Responses list entries only if the file exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import trio

from cdpengine import Page
from cdpengine.act import Actor, ActRequest, ActResponse, CacheRequest, DispatchHook
from cdpengine.cache.acting.action_cache import ActionCache
from cdpengine.cache.acting.requests import CacheRequests, shows_page
from cdpengine.cache.config import CacheConfig, default_path


@attrs.define(eq=False)
class SharedCache:
    """A cache for several actors: `Actor(browser, cache=shared, hooks=(shared.hook,))`.

    `nursery` keeps it open. `path` is its file, by default the user's file. `config` has its options, by default
    the options from `read_config`.
    """

    _nursery: trio.Nursery
    _path: Path | None = None
    _config: CacheConfig | None = None
    _opened: CacheRequests | None = attrs.field(default=None, init=False)
    _opening: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    @property
    def hook(self) -> DispatchHook:
        """The hook that adds the entries for a document to each response that shows one."""
        return DispatchHook(after=self._tell)

    async def perform(self, request: CacheRequest, *, actor: Actor, page: Page | None, timeout: float) -> Any:
        """Perform a request about the cache, and return its result as JSON data."""
        deadline = trio.current_time() + timeout
        requests = await self._open()
        left = max(deadline - trio.current_time(), 0)
        return await requests.perform(request, actor=actor, page=page, timeout=left)

    async def _tell(self, actor: Actor, request: ActRequest, response: ActResponse) -> ActResponse:
        if not response.ok or not shows_page(request):
            return response
        if self._opened is None and not await trio.Path(self._path or default_path()).exists():
            return response
        return await (await self._open()).tell(actor, request, response)

    async def _open(self) -> CacheRequests:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._nursery.start(self._keep_open)
            return self._opened

    async def _keep_open(self, task_status: trio.TaskStatus[CacheRequests]) -> None:
        try:
            async with ActionCache.open(self._path, config=self._config) as cache:
                task_status.started(CacheRequests(cache))
                await trio.sleep_forever()
        finally:
            self._opened = None
