"""PageStorage and OriginStorage: local and session storage, of a page's documents and of any origin of a context.

Rule: read and written through DevTools: no script of the page runs for it, and none of ours.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._api.unresponsive import told_unresponsive
from cdpengine._budget import check_timeout, within
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

if TYPE_CHECKING:
    from cdpengine._api.context_storage import ContextStorage


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
        async with told_unresponsive(page, trio.current_time() + check_timeout(timeout)):
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

    _context: ContextStorage
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
