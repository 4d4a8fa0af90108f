"""State transfer: storage states read from a context and applied to one, and the origins to read (SeenOrigins).

Rule: a state is applied whole or not at all: when something fails, what was applied is removed again. Chrome lists
no origins that have local storage, so the origins of pages and their frames are remembered: a few bytes each,
bounded, and no page is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial

import trio

from cdpengine._logs import get_logger
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.remote_resources import RemoteResources
from cdpengine._page.urls import origin_of
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._storage.cookie import is_expired
from cdpengine._storage.cookies import read_cookies, write_cookies
from cdpengine._storage.storage_items import OriginPage
from cdpengine._storage.storage_state import OriginState, StorageState
from cdpengine.errors import EngineError, StorageUnavailableError

logger = get_logger("cdpengine.state")

_UNDO_TIMEOUT = 3.0
"""Seconds that taking out again may take."""


async def collect_state(
    root: Session,
    context_id: str | None,
    origin_page: AbstractAsyncContextManager[OriginPage],
    seen: Sequence[str],
    wanted: Sequence[str],
) -> StorageState:
    """Return the cookies of a context, and the local storage of origins, where there is any.

    Raises StorageUnavailableError for one of `wanted`; one of `seen` that cannot be reached is passed over, with a
    word in the log.
    """
    cookies = await read_cookies(root, context_id)
    states = []
    origins = list(dict.fromkeys([*wanted, *seen]))
    if origins:
        async with origin_page as page:
            for origin in origins:
                try:
                    items = await (await page.go(origin)).read()
                except StorageUnavailableError as error:
                    if origin in wanted:
                        raise
                    logger.warning("%s", error)
                else:
                    if items:
                        states.append(OriginState(origin, items))
    return StorageState(tuple(cookies), tuple(states))


async def apply_state(
    root: Session,
    creations: RemoteResources,
    context_id: str | None,
    origin_page: Callable[[], AbstractAsyncContextManager[OriginPage]],
    state: StorageState,
) -> None:
    """Set what a checked state holds; what is there besides stays.

    Raises CookieRefusedError, StorageUnavailableError.
    """
    cookies = [cookie for cookie in state.cookies if not is_expired(cookie)]
    origins = [each for each in state.origins if each.local_storage]
    for each in origins:  # before what is there is read: it may be the same
        for value in each.local_storage.values():
            root.connection.instruments.add_secret(value)
    for cookie in cookies:
        root.connection.instruments.add_secret(cookie.value)
    if not origins:
        await write_cookies(root, creations, context_id, cookies)
        return
    before: list[tuple[OriginState, dict[str, str]]] = []
    try:
        async with origin_page() as page:
            for each in origins:
                items = await page.go(each.origin)
                before.append((each, await items.read()))
                await items.write(each.local_storage)
            await write_cookies(root, creations, context_id, cookies)
    except BaseException:
        await creations.dispose(partial(_take_out, origin_page), before, _UNDO_TIMEOUT)
        raise


_MOST = 10_000
"""Origins that are remembered of a context."""


class SeenOrigins:
    """The origins of one browser. `set_up` is one of the set-ups of its pages."""

    def __init__(self, pages: Mapping[str, PageTarget]) -> None:
        self._pages = pages
        self._seen: dict[str | None, dict[str, None]] = {}

    def set_up(self, page: PageTarget, session: Session) -> Sequence[PendingCall]:
        """Follow the documents of a session's frames."""
        if session.target_type != "worker":

            def navigated(event: Event) -> None:
                self._note(page.context_id, event.decode(FrameNavigated).frame.url)

            session.on_event("Page.frameNavigated", navigated)
        return ()

    def of(self, context_id: str | None) -> list[str]:
        """Return the origins of a context, in the order in which they came."""
        for page in self._pages.values():
            for frame in page.frames:
                self._note(page.context_id, frame.url)
        return list(self._seen.get(context_id, ()))

    def forget(self, context_id: str | None) -> None:
        """Note that a context is disposed of."""
        self._seen.pop(context_id, None)

    def _note(self, context_id: str | None, url: str) -> None:
        seen = self._seen.setdefault(context_id, {})
        if len(seen) < _MOST and (origin := origin_of(url)) is not None:
            seen[origin] = None


async def _take_out(
    origin_page: Callable[[], AbstractAsyncContextManager[OriginPage]],
    before: Sequence[tuple[OriginState, dict[str, str]]],
) -> None:
    if not before:
        return
    with trio.move_on_after(_UNDO_TIMEOUT, shield=True), suppress(EngineError):  # gone, and all with it
        async with origin_page() as page:
            for each, old in reversed(before):
                items = await page.go(each.origin)
                await items.delete([key for key in each.local_storage if key not in old])
                kept = {key: value for key, value in old.items() if key in each.local_storage}
                await items.write(kept, entered=False)
