"""PageStorage and ContextStorage: cookies, local and session storage, databases, caches and storage states.

Rule: all access is through DevTools, without scripts in the page. Every origin of a context is accessible with or
without an open page, and no page is disturbed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from operator import attrgetter
from pathlib import Path
from typing import Any

import attrs
import trio

from cdpengine._api.browser_state import BrowserState, ContextCore
from cdpengine._api.page.core import PageCore
from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._api.scopes.session_items import restore_session_items
from cdpengine._budget import check_timeout, within
from cdpengine._checks import check_flag, check_string, check_type, wrong_type
from cdpengine._page.frame_views import FrameView
from cdpengine._page.navigation.expired_actions import explain_deadline
from cdpengine._page.page_target import PageTarget
from cdpengine._page.running_actions import announced
from cdpengine._paths import to_path
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine._storage.context_state import apply_state, collect_state
from cdpengine._storage.cookies import (
    Cookie,
    checked_cookies,
    clear_cookies,
    delete_cookies,
    goes_to,
    read_cookies,
    write_cookies,
)
from cdpengine._storage.storage_items import (
    Database,
    StorageItems,
    StorageKind,
    check_items,
    check_keys,
    check_kinds,
    clear_http_cache,
    clear_origin,
    list_caches,
    list_databases,
    storage_key_of,
    top_storage_key,
)
from cdpengine._storage.storage_state import StorageState, check_state, read_state, write_state
from cdpengine._urls.origins import check_origin, origin_of
from cdpengine.errors import InvalidArgumentError


class Cookies:
    """The cookies of a context."""

    def __init__(self, state: BrowserState, context_id: str | None) -> None:
        self._state = state
        self._context_id = context_id

    async def cookies(self, *urls: str, timeout: float = 30) -> list[Cookie]:
        """Return the context's cookies of all partitions; with `urls`, only the cookies sent to these URLs.

        Raises InvalidArgumentError, DeadlineExceededError, ConnectionLostError.
        """
        for url in urls:
            check_origin(url, "url")
        self._state.check_context(self._context_id)
        with within("read the cookies", timeout):
            found = await read_cookies(self._state.session, self._context_id)
        return [cookie for cookie in found if not urls or any(goes_to(cookie, url) for url in urls)]

    async def set_cookies(
        self, cookies: Sequence[Cookie | Mapping[str, Any]], *, timeout: float = 30
    ) -> None:
        """Set cookies, given as Cookie objects or mappings: all of them, or none.

        Raises InvalidArgumentError for a cookie that is invalid or that Chrome refuses, DeadlineExceededError,
        ConnectionLostError. On an error the earlier cookies stay.
        """
        checked = checked_cookies(cookies)
        self._state.check_context(self._context_id)
        with within("set cookies", timeout):
            await write_cookies(self._state.session, self._state.creations, self._context_id, checked)

    async def delete_cookies(
        self,
        name: str | None = None,
        *,
        domain: str | None = None,
        path: str | None = None,
        where: Callable[[Cookie], bool] | None = None,
        timeout: float = 30,
    ) -> int:
        """Delete the cookies that match all arguments, in all partitions. Return their number.

        `domain` is a host with or without the leading dot; both kinds match. Raises InvalidArgumentError without
        any arguments: `clear_cookies` deletes all.
        """
        if name is None and domain is None and path is None and where is None:
            raise InvalidArgumentError(
                what="delete_cookies", given="nothing", expected="a name, domain, path or where"
            )
        for what, text in (("name", name), ("domain", domain), ("path", path)):
            if text is not None:
                check_string(what, text)

        def matches(cookie: Cookie) -> bool:
            return (
                (name is None or cookie.name == name)
                and (domain is None or cookie.domain.lstrip(".") == domain.lstrip(".").lower())
                and (path is None or cookie.path == path)
                and (where is None or bool(where(cookie)))
            )

        self._state.check_context(self._context_id)
        with within("delete cookies", timeout):
            return await delete_cookies(self._state.session, self._context_id, matches)

    async def clear_cookies(self, *, timeout: float = 30) -> None:
        """Delete all cookies of the context."""
        self._state.check_context(self._context_id)
        with within("clear the cookies", timeout):
            await clear_cookies(self._state.session, self._context_id)


_RUNNING = attrgetter("_core.target.running")


@not_picklable("its cookies")
class PageStorage(Cookies):
    """The storage of a page: `page.storage`. It shares the cookies of its context.

    `local` and `session` are the local and session storage of its documents.
    """

    set_cookies = announced("set_cookies", _RUNNING)(Cookies.set_cookies)
    delete_cookies = announced("delete_cookies", _RUNNING)(Cookies.delete_cookies)
    clear_cookies = announced("clear_cookies", _RUNNING)(Cookies.clear_cookies)

    def __init__(self, core: PageCore, context_id: str | None) -> None:
        super().__init__(core.state, context_id)
        self._core = core
        self.local = DocumentStorage(core.target, local=True)
        self.session = DocumentStorage(core.target, local=False)


@not_picklable("its cookies, or `await state()`")
class ContextStorage(Cookies):
    """The storage of a context: `context.storage`."""

    def __init__(self, core: ContextCore, scope: SettingScope) -> None:
        super().__init__(core.state, core.id)
        self._core = core
        self._scope = scope

    def local(self, origin: str) -> OriginStorage:
        """Return the local storage of an origin ("https://example.com") for reading and writing.

        Raises InvalidArgumentError for a value that is not an http(s) origin.
        """
        return OriginStorage(self._core, check_origin(origin))

    async def databases(self, origin: str, *, timeout: float = 30) -> list[Database]:
        """Return the IndexedDB databases of an origin: names, versions, stores.

        Raises InvalidArgumentError, StorageUnavailableError, DeadlineExceededError, ConnectionLostError, as do the
        following methods.
        """
        at = check_origin(origin)
        with within(f"list the databases of {at}", timeout):
            async with self._core.origin_page() as page:
                items = await page.go(at)
                return await list_databases(page.session, items.storage_key)

    async def caches(self, origin: str, *, timeout: float = 30) -> list[str]:
        """Return the names of an origin's caches (CacheStorage), or [] for an insecure origin."""
        at = check_origin(origin)
        with within(f"list the caches of {at}", timeout):
            async with self._core.origin_page() as page:
                items = await page.go(at)
                return await list_caches(page.session, items.storage_key)

    async def clear(self, origin: str, *kinds: StorageKind, timeout: float = 30) -> None:
        """Remove an origin's data, except cookies. `kinds` ("local_storage", "indexeddb", ...) restricts it.

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

    async def state(
        self,
        path: str | Path | None = None,
        *,
        origins: Sequence[str] = (),
        indexed_db: bool = False,
        session_storage: bool = False,
        timeout: float = 30,
    ) -> StorageState:
        """Return the context's cookies and the local storage of its origins. With `path`, also write a file.

        The file is JSON as Playwright writes it, readable by its owner only. It is written completely or not at
        all. The origins are those that pages visited since this program connected, plus `origins`: Chrome has no
        list of them. `indexed_db` includes the databases with their records. `session_storage` includes the
        session storage of the present documents; of several tabs with one origin, that of the oldest. Caches are
        not included.

        Raises InvalidArgumentError, StorageUnavailableError for one of `origins` and for a database with a value
        that JSON cannot represent (a CryptoKey), FileNotWrittenError, DeadlineExceededError, ConnectionLostError.
        """
        check_flag("indexed_db", indexed_db)
        check_flag("session_storage", session_storage)
        if isinstance(origins, str):
            raise wrong_type("origins", origins, "a list of origins")
        requested_origins = [check_origin(origin, "origins") for origin in origins]
        file = None if path is None else to_path("path", path)
        with within("save the storage state", timeout):
            visited_origins = self._core.state.visited_origins.of(await self._core.real_id())
            state = await collect_state(
                self._core.state.session,
                self._core.id,
                self._core.origin_page(),
                visited_origins,
                requested_origins,
                indexed_db=indexed_db,
                tabs=self._tabs_by_origin() if session_storage else {},
            )
            if file is not None:
                await trio.to_thread.run_sync(write_state, file, state)
        return state

    async def restore_state(
        self, state: StorageState | Mapping[str, object] | str | Path, *, timeout: float = 30
    ) -> None:
        """Set all cookies and storages of a state, or of a file that contains one. On failure set nothing.

        A dict is a state as in the file. Other data stays. Tabs that open later get the session storage in their
        first document of its origin; popups copy that of their opener.

        Raises FileUnreadableError, InvalidArgumentError, StorageUnavailableError, also for a database that exists
        already, DeadlineExceededError, ConnectionLostError.
        """
        with within("restore the storage state", timeout):
            checked = await load_state("state", state)
            root, creations = self._core.state.session, self._core.state.creations
            await apply_state(root, creations, self._core.id, self._core.origin_page, checked)
            await restore_session_items(self._scope, checked, timeout)

    def _tabs_by_origin(self) -> dict[str, Session]:
        """Return the session of the oldest page of each origin."""
        found: dict[str, Session] = {}
        for page in self._core.state.tabs.pages.values():
            if self._core.holds(page) and (origin := origin_of(page.frames.main.url)) is not None:
                found.setdefault(origin, page.session)
        return found


@not_picklable("its items")
@attrs.frozen(eq=False)
class DocumentStorage:
    """The local or session storage of a page's main document, or of the document in `frame`.

    All methods raise StorageUnavailableError for a document without storage (about:blank, data:, sandboxed),
    DeadlineExceededError, SessionGoneError, ConnectionLostError.
    """

    _page: PageTarget
    local: bool

    async def items(self, *, frame: FrameView | None = None, timeout: float = 30) -> dict[str, str]:
        """Return all items."""
        async with self._within("read the storage", frame, timeout) as items:
            return await items.read()

    @announced("set_storage", attrgetter("_page.running"))
    async def set(
        self, items: Mapping[str, str], *, frame: FrameView | None = None, timeout: float = 30
    ) -> None:
        """Set items and keep the others. If there is no room for all, none is set."""
        checked = check_items(items)
        async with self._within("set items of the storage", frame, timeout) as storage:
            await storage.write(checked)

    @announced("set_storage", attrgetter("_page.running"))
    async def delete(self, *keys: str, frame: FrameView | None = None, timeout: float = 30) -> None:
        """Remove items. Missing items are not an error."""
        checked = check_keys(keys)
        async with self._within("delete items of the storage", frame, timeout) as storage:
            await storage.delete(checked)

    @announced("set_storage", attrgetter("_page.running"))
    async def clear(self, *, frame: FrameView | None = None, timeout: float = 30) -> None:
        """Remove all items."""
        async with self._within("clear the storage", frame, timeout) as storage:
            await storage.clear()

    @asynccontextmanager
    async def _within(
        self, action: str, frame: FrameView | None, timeout: float
    ) -> AsyncIterator[StorageItems]:
        page = self._page
        check_type("frame", frame, FrameView | None, "one of page.frames")
        async with explain_deadline(page, trio.current_time() + check_timeout(timeout)):
            with within(action, timeout):
                await page.running.ready()
                of = page.frames.main if frame is None else frame
                session = of.session
                origin = origin_of(of.url) if of.parent_id is None else None
                key = (
                    top_storage_key(origin)
                    if origin is not None
                    else await storage_key_of(session, of.id, of.url)
                )
                yield StorageItems(session, key, local=self.local)


@not_picklable("its items")
@attrs.frozen(eq=False)
class OriginStorage:
    """The local storage of one origin of a context, with or without an open page.

    All methods raise StorageUnavailableError, DeadlineExceededError, ConnectionLostError.
    """

    _context: ContextCore
    origin: str

    async def items(self, *, timeout: float = 30) -> dict[str, str]:
        """Return all items."""
        async with self._within("read the local storage", timeout) as items:
            return await items.read()

    async def set(self, items: Mapping[str, str], *, timeout: float = 30) -> None:
        """Set items and keep the others. If there is no room for all, none is set."""
        checked = check_items(items)
        async with self._within("set items of the local storage", timeout) as storage:
            await storage.write(checked)

    async def delete(self, *keys: str, timeout: float = 30) -> None:
        """Remove items. Missing items are not an error."""
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


async def load_state(what: str, state: StorageState | Mapping[str, object] | str | Path) -> StorageState:
    """Return a checked state from a state, a dict or a file. `what` names the argument.

    Raises FileUnreadableError, InvalidArgumentError.
    """
    if isinstance(state, StorageState | Mapping):
        await trio.lowlevel.checkpoint()
        return check_state(state) if isinstance(state, StorageState) else _read_dict(what, state)
    return await trio.to_thread.run_sync(read_state, to_path(what, state, _STATES))


_STATES = 'a StorageState, a dict with "cookies" and "origins", or the path of a file, as str or Path'


def _read_dict(what: str, state: Mapping[str, object]) -> StorageState:
    try:
        return StorageState.from_dict(state)
    except ValueError as error:
        raise InvalidArgumentError(
            what=what, given="a dict with a fault", expected=f"{_STATES}: {error}"
        ) from None
