"""Session storage of a restored state: each new tab of the context gets it in its first document of the origin.

Rule: session storage belongs to a tab, so it cannot be set before the tab has a document of the origin. A script
sets it there before the page's own scripts. A popup copies the storage of its opener instead, as in browsers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import attrs

from cdpengine import _json
from cdpengine._api.scopes.awaitable_scope import SettingScope
from cdpengine._evaluate.init_script import InitScript
from cdpengine._javascript import script
from cdpengine._page.page_scope import SessionOverride
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._storage.storage_state import StorageState
from cdpengine._urls.origins import origin_of


async def restore_session_items(scope: SettingScope, state: StorageState, timeout: float) -> None:
    """Set the session storage of `state` in tabs that open from now on, until the scope ends."""
    wanted = {each.origin: each.session_storage for each in state.origins if each.session_storage}
    if not wanted:
        return

    @asynccontextmanager
    async def applied() -> AsyncIterator[None]:
        instruments = scope.page_scope.tabs.connection.instruments
        for items in wanted.values():
            for value in items.values():
                instruments.add_secret(value)
        scripts = _ItemScripts(scope.page_scope.tabs, wanted)
        override = SessionOverride(scope.page_scope, scripts.begin, scripts.end, types={"page"})
        async with scope.overriding(override, "restore the session storage", timeout):
            yield

    await scope.lasting("session items", "restore_state", applied)


@attrs.define(eq=False)
class _ItemScripts:
    """The scripts that set items, one for each origin, and the origins that each tab has not visited yet."""

    tabs: Tabs
    wanted: Mapping[str, Mapping[str, str]]
    _scripts: dict[str, InitScript] = attrs.field(init=False, factory=dict)

    def __attrs_post_init__(self) -> None:
        for origin, items in self.wanted.items():
            arguments = f"{_json.encode_ascii(origin)}, {_json.encode_ascii(list(items.items()))}"
            source = f"({script('_api/scopes/session_items')})({arguments})"
            self._scripts[origin] = InitScript(self.tabs, source)

    def begin(self, session: Session) -> list[Posted]:
        """Add the scripts to a new tab without an opener."""
        page = self.tabs.pages.get(session.target_id or "")
        if page is None or not page.paused_at_start or page.opener_id is not None:
            return []
        left = dict(self._scripts)

        def navigated(event: Event) -> None:
            frame = event.decode(FrameNavigated).frame
            origin = origin_of(frame.url) if frame.parent_id is None else None
            if origin in left:
                left.pop(origin).end(session)

        session.on_event("Page.frameNavigated", navigated)
        return [call for each in self._scripts.values() for call in each.begin(session)]

    def end(self, session: Session) -> list[Posted]:
        """Remove the scripts from a tab."""
        return [call for each in self._scripts.values() for call in each.end(session)]
