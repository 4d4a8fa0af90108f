"""ContextNetwork: what a browser context has of the network and of scripts in documents, for all its pages."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from cdpengine._api.network_scopes import NetworkScopes
from cdpengine._api.script_scopes import ScriptScopes
from cdpengine._budget import Budget, within
from cdpengine._page.page_scope import PageScope
from cdpengine._page.page_target import PageTarget

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser


class ContextNetwork(NetworkScopes, ScriptScopes):
    """The part of a BrowserContext that intercepts, sets headers and conditions, and puts scripts into documents.

    What a Page has under these names, for every page of the context, those included that open later.
    """

    browser: Browser

    def holds(self, page: PageTarget) -> bool:
        """Tell whether a page is one of the context's."""
        raise NotImplementedError

    async def real_id(self) -> str | None:
        """Return Chrome's id of the context, of the default one too."""
        raise NotImplementedError

    def _reach(self) -> PageScope:
        return PageScope(self.browser.tabs, self.holds)

    @asynccontextmanager
    async def _entering(self, action: str, timeout: float) -> AsyncIterator[Budget]:
        with within(action, timeout) as budget:
            await self.real_id()  # from here on, `holds` knows the pages of the default context
            yield budget

    @property
    def _evaluates(self) -> bool:
        return self.browser.evaluate_enabled
