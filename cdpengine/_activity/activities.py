"""Activities: the collectors of all pages of a browser, and which pages have one from their start.

Rule: a page without a request for its activity has none, and costs nothing. A page that is collected from its
start is collected before its first script runs; so is every page that a collected page opens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from cdpengine._activity.collector import Collector
from cdpengine._activity.options import ActivityOptions
from cdpengine._activity.values import ValueReader
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Tabs
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, SessionGoneError


class Activities:
    """The collectors of one browser."""

    def __init__(self, tabs: Tabs, reader: ValueReader | None = None) -> None:
        self._of_contexts: dict[str | None, ActivityOptions] = {}
        self._of_all: ActivityOptions | None = None
        self._tabs = tabs
        self._reader = reader
        tabs.set_ups.append(self._set_up)

    def of(self, page: PageTarget) -> Collector:
        """Return the collector of a page, the same one each time; it lives as long as the page object."""
        collector = _collector_of(page)
        if collector is None:
            collector = Collector(page, self._reader)
            page.set_collector(collector)
        return collector

    def set_for_all(self, options: ActivityOptions | None) -> None:
        """Collect from all pages that are open and from all that come; None: from no more that come."""
        self._of_all = options
        if options is not None:
            for page in list(self._tabs.pages.values()):
                self._begin(page, options)

    @contextmanager
    def in_context(self, context_id: str | None, options: ActivityOptions | None) -> Iterator[None]:
        """Collect from the pages that come in a context while the block runs; None: as from all others."""
        if options is not None:
            self._of_contexts[context_id] = options
        try:
            yield
        finally:
            self._of_contexts.pop(context_id, None)

    def _set_up(self, page: PageTarget, session: Session) -> list[PendingCall]:
        collector = _collector_of(page)
        if collector is None and session is page.session:
            options = self._options_for(page)
            if options is not None:
                self._begin(page, options)
        elif collector is not None:
            collector.join(session)
        return []

    def _options_for(self, page: PageTarget) -> ActivityOptions | None:
        opener = _collector_of(self._tabs.pages.get(page.opener_id or ""))
        if opener is not None and opener.options is not None:
            return opener.options
        return self._of_contexts.get(page.context_id, self._of_all)

    def _begin(self, page: PageTarget, options: ActivityOptions) -> None:
        # Not waited for: what is sent next comes after it. A page that crashed or is gone sends nothing.
        with suppress(SessionGoneError, ConnectionLostError):
            self.of(page).apply(options)


def _collector_of(page: PageTarget | None) -> Collector | None:
    collector = None if page is None else page.collector
    return collector if isinstance(collector, Collector) else None
