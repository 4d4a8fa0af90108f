"""ContextCore: what every method of a browser context stands on: its id, its pages, an unseen page of it.

Rule: the default context has the same methods as those that are made; Chrome's id of it is asked for when it is
first needed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import trio

from cdpengine._api.browser_state import BrowserState
from cdpengine._budget import Budget, within
from cdpengine._emulation.options import Settings
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.target import BrowserContextsReply
from cdpengine._storage.storage_items import OriginPage, open_origin_page
from cdpengine.errors import InvalidArgumentError, RemoteError


class ContextCore:
    """What a BrowserContext is made of. Its parts (`context.network`, `context.storage`, ...) are given it.

    `id` is Chrome's browserContextId, None for the default context.
    """

    def __init__(self, state: BrowserState, context_id: str | None) -> None:
        self.state = state
        self.id = context_id
        self._default_id: str | None = None

    @property
    def known_id(self) -> str | None:
        """Chrome's id of the context; of the default one, None until `real_id` has asked for it."""
        return self.id or self._default_id

    def holds(self, page: PageTarget) -> bool:
        """Tell whether a page is one of the context's."""
        if self.known_id is None:
            return page.context_id not in self.state.context_ids
        return page.context_id == self.known_id

    @property
    def has_pages(self) -> bool:
        """Whether a page of the context is open."""
        return any(self.holds(page) for page in self.state.tabs.pages.values())

    async def real_id(self) -> str | None:
        """Return Chrome's id of the context, of the default one too; None where Chrome does not tell that."""
        if self.known_id is None:
            try:
                reply = await self.state.session.request(
                    "Target.getBrowserContexts", {}, BrowserContextsReply
                )
            except RemoteError:
                return None
            self._default_id = reply.default_browser_context_id
        else:
            await trio.lowlevel.checkpoint()
        return self.known_id

    @asynccontextmanager
    async def action(self, action: str, timeout: float) -> AsyncIterator[Budget]:
        """Run one action under its budget, once it is known which pages are the context's."""
        with within(action, timeout) as budget:
            await self.real_id()  # from here on, `holds` knows the pages of the default context
            yield budget

    async def check_emulation(self, settings: Settings) -> None:
        """Have Chrome say whether it knows a locale, where no page is there that would.

        Raises InvalidArgumentError.
        """
        await self.real_id()
        locale = settings.get("locale")
        if locale is None or self.has_pages:
            return
        async with self.origin_page() as page:
            try:
                await page.session.call("Emulation.setLocaleOverride", locale=locale)
            except RemoteError as error:
                if error.message.startswith("Invalid"):
                    expected = f"what Chrome knows (it says {error.message!r})"
                    raise InvalidArgumentError(
                        what="locale", given=repr(locale)[:80], expected=expected
                    ) from None

    def origin_page(self) -> AbstractAsyncContextManager[OriginPage]:
        """Return an unseen page of the context, to be entered."""
        return open_origin_page(self.state.session, self.state.creations, self.id)
