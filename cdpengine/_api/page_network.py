"""PageNetwork: what a page has of the network and of scripts in its documents, for itself and what it opens."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from cdpengine._api.network_scopes import NetworkScopes
from cdpengine._api.page_core import PageVerbs
from cdpengine._api.script_scopes import ScriptScopes
from cdpengine._budget import Budget
from cdpengine._page.page_scope import PageScope


class PageNetwork(NetworkScopes, ScriptScopes, PageVerbs):
    """The part of a Page that intercepts, sets headers and conditions, and puts scripts into documents."""

    def _reach(self) -> PageScope:
        return PageScope.of_page(self._core.state.tabs, self._core.target)

    def _entering(self, action: str, timeout: float) -> AbstractAsyncContextManager[Budget]:
        return self._core.action(action, timeout)

    @property
    def _evaluates(self) -> bool:
        return self._core.state.evaluate_enabled
