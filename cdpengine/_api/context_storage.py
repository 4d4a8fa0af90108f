"""ContextStorage: what the sites of a context keep: storages, databases, caches; and all of it as a storage state.

Rule: any origin can be reached, whether or not a page is there, and no page is disturbed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import trio

from cdpengine._api.context_core import ContextCore
from cdpengine._api.page_emulation import OriginStorage
from cdpengine._budget import within
from cdpengine._page.urls import check_origin
from cdpengine._storage.databases import (
    Database,
    StorageKind,
    check_kinds,
    clear_http_cache,
    clear_origin,
    list_caches,
    list_databases,
)
from cdpengine._storage.state_transfer import apply_state, collect_state
from cdpengine._storage.storage_state import StorageState, check_state, read_state, write_state
from cdpengine.errors import InvalidArgumentError


class ContextStorage:
    """The part of a BrowserContext that stores."""

    _core: ContextCore

    def local_storage(self, origin: str) -> OriginStorage:
        """Return the local storage of an origin ("https://example.com"), to be read and written.

        Raises InvalidArgumentError for what is no http(s) origin.
        """
        return OriginStorage(self._core, check_origin(origin))

    async def databases(self, origin: str, *, timeout: float = 30) -> list[Database]:
        """Return the IndexedDB databases of an origin: names, versions, stores.

        Raises InvalidArgumentError, StorageUnavailableError, DeadlineExceededError, ConnectionLostError; so do the
        next ones.
        """
        at = check_origin(origin)
        with within(f"list the databases of {at}", timeout):
            async with self._core.origin_page() as page:
                items = await page.go(at)
                return await list_databases(page.session, items.storage_key)

    async def caches(self, origin: str, *, timeout: float = 30) -> list[str]:
        """Return the names of an origin's caches (CacheStorage); none where it is not secure."""
        at = check_origin(origin)
        with within(f"list the caches of {at}", timeout):
            async with self._core.origin_page() as page:
                items = await page.go(at)
                return await list_caches(page.session, items.storage_key)

    async def clear_storage(self, origin: str, *kinds: StorageKind, timeout: float = 30) -> None:
        """Remove what an origin keeps, cookies apart: all, or "local_storage", "indexeddb", "cache_storage", ...

        Databases that pages have open are closed.
        """
        at, checked = check_origin(origin), check_kinds(kinds)
        with within(f"clear the storage of {at}", timeout):
            async with self._core.origin_page() as page:
                await page.go(at)
                await clear_origin(page.session, at, checked)

    async def clear_http_cache(self, *, timeout: float = 30) -> None:
        """Empty the context's HTTP cache."""
        with within("clear the HTTP cache", timeout):
            async with self._core.origin_page() as page:
                await clear_http_cache(page.session)

    async def storage_state(
        self, path: str | Path | None = None, *, origins: Sequence[str] = (), timeout: float = 30
    ) -> StorageState:
        """Return the context's cookies and the local storage of its origins; with `path`, write them to a file.

        The file is JSON as Playwright writes it, readable by its owner only, and is there whole or not at all. The
        origins are those that pages were at since this program looks, and `origins`: Chrome lists none itself.
        Session storage (it is a tab's), IndexedDB and caches are not part of it.

        Raises InvalidArgumentError, StorageUnavailableError for one of `origins`, StateFileNotWrittenError;
        DeadlineExceededError, ConnectionLostError.
        """
        if isinstance(origins, str):
            raise InvalidArgumentError(what="origins", given="a str", expected="a list of origins")
        wanted = [check_origin(origin, "origins") for origin in origins]
        file = None if path is None else _path(path)
        with within("save the storage state", timeout):
            seen = self._core.state.seen_origins.of(await self._core.real_id())
            state = await collect_state(
                self._core.state.session, self._core.id, self._core.origin_page(), seen, wanted
            )
            if file is not None:
                await trio.to_thread.run_sync(write_state, file, state)
        return state

    async def restore_storage_state(self, state: StorageState | str | Path, *, timeout: float = 30) -> None:
        """Set the cookies and local storage of a state, or of a file that holds one: all of it, or nothing.

        What is there besides stays. Raises StateFileInvalidError, InvalidArgumentError, CookieRefusedError,
        StorageUnavailableError; DeadlineExceededError, ConnectionLostError.
        """
        with within("restore the storage state", timeout):
            checked = await load_state(state)
            root, creations = self._core.state.session, self._core.state.creations
            await apply_state(root, creations, self._core.id, self._core.origin_page, checked)


async def load_state(state: StorageState | str | Path) -> StorageState:
    """Return a state, given as such or as a file, checked. Raises StateFileInvalidError, InvalidArgumentError."""
    if isinstance(state, StorageState):
        await trio.lowlevel.checkpoint()
        return check_state(state)
    return await trio.to_thread.run_sync(read_state, _path(state))


def _path(path: object) -> Path:
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidArgumentError(
            what="path", given=f"a {type(path).__name__}", expected="a path, as str or Path"
        )
    return Path(path)
