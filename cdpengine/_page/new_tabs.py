"""NewTabs: the openers of tabs that Chrome reports without one.

Rule: a click with Control or Shift, or with the middle button, opens a separate tab, and Chrome reports no opener
for it. The page first requests the navigation, with a disposition such as "newTab". The target that follows
belongs to the same browser context, and has the requested URL at its creation. Each request matches one target.
"""

from __future__ import annotations

import attrs
import msgspec
import trio

from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.target import TargetCreated, TargetInfo
from cdpengine._protocol.streams import Event
from cdpengine.errors import ProtocolError

_LONGEST = 5.0
"""Time in seconds after a request in which its tab is created. Measured: up to 0.04 s."""

_MAX_CREATED = 100
"""Maximum number of created tabs that are not attached yet."""


@attrs.frozen
class _Request:
    page: PageTarget
    url: str
    when: float


@attrs.define(eq=False)
class NewTabs:
    """The tabs that the pages of one browser request, with the requesting page of created ones."""

    _requests: list[_Request] = attrs.field(factory=list, init=False)
    _created: dict[str, _Request] = attrs.field(factory=dict, init=False)

    def follow(self, page: PageTarget) -> None:
        """Record the tabs that a page requests."""
        page.running.on_new_tab(lambda url: self._note_request(page, url))

    def with_opener(self, info: TargetInfo) -> TargetInfo:
        """Return Chrome's info on a new page, with its opener if only the request names it."""
        known = self._created.get(info.target_id)
        return info if known is None else msgspec.structs.replace(info, opener_id=known.page.target_id)

    def report(self, target_id: str) -> None:
        """Report a new page to the running actions of its opener, once the page is available."""
        if (known := self._created.pop(target_id, None)) is not None:
            known.page.running.note_popup(target_id, known.url)

    def note_target(self, event: Event) -> None:
        """Handle a `Target.targetCreated` event."""
        try:
            info = event.decode(TargetCreated).target_info
        except ProtocolError:
            return  # the page's listeners report it
        if info.type != "page" or info.opener_id is not None:
            return
        oldest = trio.current_time() - _LONGEST
        self._requests = [each for each in self._requests if each.when >= oldest and not each.page.closed]
        for request in self._requests:
            if request.url == info.url and request.page.context_id == info.browser_context_id:
                self._requests.remove(request)
                self._created[info.target_id] = request
                if len(self._created) > _MAX_CREATED:  # some closed before they were attached
                    del self._created[next(iter(self._created))]
                return

    def _note_request(self, page: PageTarget, url: str) -> None:
        self._requests.append(_Request(page, url, trio.current_time()))
