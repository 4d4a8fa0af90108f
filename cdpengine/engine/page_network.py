"""PageNetwork: what a page has of the network and of scripts in its documents, for itself and what it opens."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from cdpengine.browser.page_scope import PageScope
from cdpengine.budget import Budget
from cdpengine.engine.network_scopes import NetworkScopes
from cdpengine.engine.page_base import PageBase
from cdpengine.engine.script_scopes import ScriptScopes


class PageNetwork(NetworkScopes, ScriptScopes, PageBase):
    """The part of a Page that intercepts, sets headers and conditions, and puts scripts into documents."""

    def _reach(self) -> PageScope:
        return PageScope.of_page(self.browser.tabs, self._target)

    def _entering(self, action: str, timeout: float) -> AbstractAsyncContextManager[Budget]:
        return self._action(action, timeout)

    @property
    def _evaluates(self) -> bool:
        return self.browser.evaluate_enabled
