"""ContextNetwork: what a browser context has of the network and of scripts in documents, for all its pages."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from cdpengine._api.context_core import ContextCore
from cdpengine._api.network_scopes import NetworkScopes
from cdpengine._api.script_scopes import ScriptScopes
from cdpengine._budget import Budget
from cdpengine._page.page_scope import PageScope


class ContextNetwork(NetworkScopes, ScriptScopes):
    """The part of a BrowserContext that intercepts, sets headers and conditions, and puts scripts into documents.

    What a Page has under these names, for every page of the context, those included that open later.
    """

    _core: ContextCore

    def _reach(self) -> PageScope:
        return PageScope(self._core.state.tabs, self._core.holds)

    def _entering(self, action: str, timeout: float) -> AbstractAsyncContextManager[Budget]:
        return self._core.action(action, timeout)

    @property
    def _evaluates(self) -> bool:
        return self._core.state.evaluate_enabled
