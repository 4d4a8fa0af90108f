"""Reading the storage state of a context, and applying a state to it.

Rule: a state is applied as a whole or not at all: after a failure, the applied part is removed. Chrome does not
list the origins with local storage, so the origins of pages and their frames are remembered (VisitedOrigins): a
few bytes each, bounded, without a query to any page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

import trio

from cdpengine._logs import get_logger
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._storage.cookies import (
    is_expired,
    read_cookies,
    write_cookies,
)
from cdpengine._storage.databases import (
    check_absent,
    delete_databases,
    read_databases,
    write_databases,
)
from cdpengine._storage.storage_items import (
    OriginPage,
    StorageItems,
    list_databases,
    top_storage_key,
)
from cdpengine._storage.storage_state import OriginState, StorageState
from cdpengine._urls.origins import origin_of
from cdpengine.errors import (
    EngineError,
    SessionGoneError,
    StorageUnavailableError,
)

logger = get_logger("cdpengine.state")

_UNDO_TIMEOUT = 10.0
"""Maximum duration of undoing a partly applied state, in seconds. It opens a page, which may be slow."""


async def collect_state(
    root: Session,
    context_id: str | None,
    origin_page: AbstractAsyncContextManager[OriginPage],
    visited_origins: Sequence[str],
    requested_origins: Sequence[str],
    *,
    indexed_db: bool = False,
    tabs: Mapping[str, Session] = {},
) -> StorageState:
    """Return the cookies of a context, and the storages of the origins that have data.

    `indexed_db` includes databases. `tabs` are pages by origin whose session storage is included. Raises
    StorageUnavailableError for an origin of `requested_origins`, and for a database that JSON cannot represent. An
    unreachable origin of `visited_origins` is skipped and logged.
    """
    cookies = await read_cookies(root, context_id)
    states = []
    origins = list(dict.fromkeys([*requested_origins, *visited_origins, *tabs]))
    if origins:
        async with origin_page as page:
            for origin in origins:
                try:
                    items = await (await page.go(origin)).read()
                except StorageUnavailableError as error:
                    if origin in requested_origins:
                        raise
                    logger.warning("%s", error)
                    continue
                databases = await read_databases(page.session, origin) if indexed_db else []
                found = OriginState(
                    origin, items, tuple(databases), await _read_session_items(tabs.get(origin), origin)
                )
                if not found.is_empty:
                    states.append(found)
    return StorageState(tuple(cookies), tuple(states))


async def _read_session_items(tab: Session | None, origin: str) -> dict[str, str]:
    if tab is None:
        return {}
    try:
        return await StorageItems(tab, top_storage_key(origin), local=False).read()
    except (StorageUnavailableError, SessionGoneError) as error:  # the tab left the origin, or closed
        logger.warning("%s", error)
        return {}


async def apply_state(
    root: Session,
    creations: RemoteResources,
    context_id: str | None,
    origin_page: Callable[[], AbstractAsyncContextManager[OriginPage]],
    state: StorageState,
) -> None:
    """Apply a checked state, except its session storage; other data of the context stays.

    Raises InvalidArgumentError, StorageUnavailableError, also for a database that exists already.
    """
    cookies = [cookie for cookie in state.cookies if not is_expired(cookie)]
    origins = [each for each in state.origins if each.local_storage or each.indexed_db]
    for each in origins:  # before reading: an existing item may have the same value
        for value in each.local_storage.values():
            root.connection.instruments.add_secret(value)
    for cookie in cookies:
        root.connection.instruments.add_secret(cookie.value)
    if not origins:
        await write_cookies(root, creations, context_id, cookies)
        return
    before: list[tuple[OriginState, dict[str, str], list[str]]] = []
    try:
        async with origin_page() as page:
            for each in origins:
                items = await page.go(each.origin)
                created: list[str] = []
                if each.indexed_db:
                    present = {one.name for one in await list_databases(page.session, items.storage_key)}
                    created = [one["name"] for one in each.indexed_db]
                    check_absent(each.origin, created, present)  # before the first write
                before.append((each, await items.read(), created))
                await items.write(each.local_storage)
                if each.indexed_db:
                    await write_databases(page.session, each.origin, each.indexed_db)
            await write_cookies(root, creations, context_id, cookies)
    except BaseException:
        await creations.dispose(partial(_remove_applied, origin_page), before, _UNDO_TIMEOUT)
        raise


_MOST = 10_000
"""Maximum number of remembered origins per context."""


class VisitedOrigins:
    """The origins that one browser's pages have visited. Its method `set_up` runs for each session of a page."""

    def __init__(self, pages: Mapping[str, PageTarget]) -> None:
        self._pages = pages
        self._by_context: dict[str | None, dict[str, None]] = {}

    def set_up(self, page: PageTarget, session: Session) -> Sequence[PendingCall]:
        """Follow the documents of a session's frames."""
        if session.target_type != "worker":

            def navigated(event: Event) -> None:
                self._note(page.context_id, event.decode(FrameNavigated).frame.url)

            session.on_event("Page.frameNavigated", navigated)
        return ()

    def of(self, context_id: str | None) -> list[str]:
        """Return the origins of a context, in the order of their first visit."""
        for page in self._pages.values():
            for frame in page.frames:
                self._note(page.context_id, frame.url)
        return list(self._by_context.get(context_id, ()))

    def forget(self, context_id: str | None) -> None:
        """Forget a context that was disposed of."""
        self._by_context.pop(context_id, None)

    def _note(self, context_id: str | None, url: str) -> None:
        origins = self._by_context.setdefault(context_id, {})
        if len(origins) < _MOST and (origin := origin_of(url)) is not None:
            origins[origin] = None


async def _remove_applied(
    origin_page: Callable[[], AbstractAsyncContextManager[OriginPage]],
    before: Sequence[tuple[OriginState, dict[str, str], list[str]]],
) -> None:
    if not before:
        return
    with (
        trio.move_on_after(_UNDO_TIMEOUT, shield=True),
        suppress(EngineError),
    ):  # the context ended, and its data too
        async with origin_page() as page:
            for each, old, created in reversed(before):
                items = await page.go(each.origin)
                await delete_databases(page.session, each.origin, created)
                await items.delete([key for key in each.local_storage if key not in old])
                remaining = {key: value for key, value in old.items() if key in each.local_storage}
                await items.write(remaining, entered=False)
