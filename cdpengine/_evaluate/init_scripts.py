"""InitScript: a script that runs in every new document, before the document's own.

Rule: it is added to each session once and taken from it once, whenever Chrome tells under which number it has it.
"""

from __future__ import annotations

from typing import Any

import msgspec

from cdpengine._page.tabs import Posted, Tabs
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.page import AddScriptReply
from cdpengine._protocol.messages import decode_payload
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError

ADD = "Page.addScriptToEvaluateOnNewDocument"


class InitScript:
    """`source` in new documents, and in the blank one of a page that is new.

    With `at_once` in those, too, that are there. `world` "" is the page's own.
    """

    def __init__(self, tabs: Tabs, source: str, *, world: str = "", at_once: bool = False) -> None:
        self._tabs = tabs
        self._params: dict[str, Any] = {"source": source}
        if world:
            self._params["worldName"] = world
        if at_once:
            self._params["runImmediately"] = True
        self._added: dict[Session, SharedCall] = {}

    def begin(self, session: Session) -> list[Posted]:
        """Add it to a session."""
        for ended in [known for known in self._added if known.ended]:
            del self._added[ended]
        if (error := session.error(ADD)) is not None:
            raise error
        # The blank document of a page that Chrome makes for us is there already, and has not run yet.
        held_back = any(page.held_back for page in self._tabs.pages.values() if page.session is session)
        params = {**self._params, "runImmediately": True} if held_back else self._params
        # Shared: a caller that is cancelled must not lose the number.
        call = self._added[session] = session.connection.post_shared(ADD, params, session.id)
        return [call]

    def end(self, session: Session) -> list[Posted]:
        """Take it from a session again."""
        call = self._added.pop(session, None)
        if call is None:
            return []
        if not call.done:
            self._tabs.in_background(_remove_late, session, call)
            return []
        try:
            return [_post_removal(session, call)]
        except (RemoteError, msgspec.DecodeError):
            return []  # it never was there


def _post_removal(session: Session, call: SharedCall) -> Posted:
    added = decode_payload(call.raw_nowait(), AddScriptReply)
    return session.post("Page.removeScriptToEvaluateOnNewDocument", identifier=added.identifier)


async def _remove_late(session: Session, call: SharedCall) -> None:
    """Remove a script whose page, when it was to be removed, had not answered its addition yet."""
    try:
        await call.wait()
        await _post_removal(session, call).raw()
    except (RemoteError, msgspec.DecodeError):
        return
