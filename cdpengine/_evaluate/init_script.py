"""InitScript: a script for every new document of sessions.

Rule: a script is added to each session once and removed once, even if Chrome's reply with its number arrives late.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
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
    """A script, `source`, that runs in new documents and in the blank document of a new page.

    With `at_once`, it also runs in existing documents. `world` "" is the main world.
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
        """Add the script to a session."""
        for ended in [known for known in self._added if known.ended]:
            del self._added[ended]
        # The blank document of a new page already exists, and no script has run in it.
        is_paused = any(page.paused_at_start for page in self._tabs.pages.values() if page.session is session)
        params = {**self._params, "runImmediately": True} if is_paused else self._params
        # Shared: cancelling a caller must not lose the number.
        call = self._added[session] = session.post_shared(ADD, params)
        return [call]

    async def renew(self, session: Session) -> None:
        """Run the script in the documents of a session that Chrome had prerendered, and in new ones as before."""
        calls = self.end(session)
        params = {**self._params, "runImmediately": True}
        call = self._added[session] = session.post_shared(ADD, params)
        await answered([*calls, call])

    def end(self, session: Session) -> list[Posted]:
        """Remove the script from a session."""
        call = self._added.pop(session, None)
        if call is None:
            return []
        if not call.done:
            self._tabs.in_background(_remove_late, session, call)
            return []
        try:
            return [_post_removal(session, call)]
        except (RemoteError, msgspec.DecodeError):
            return []  # it was never added


async def answered(calls: Sequence[Posted]) -> None:
    """Wait until Chrome has answered the calls."""
    for call in calls:
        with suppress(RemoteError):  # a closed document needs no change
            await call.raw()


def _post_removal(session: Session, call: SharedCall) -> Posted:
    added = decode_payload(call.raw_nowait(), AddScriptReply)
    return session.post("Page.removeScriptToEvaluateOnNewDocument", identifier=added.identifier)


async def _remove_late(session: Session, call: SharedCall) -> None:
    """Remove a script whose addition had no reply yet at its removal."""
    try:
        await call.wait()
        await _post_removal(session, call).raw()
    except (RemoteError, msgspec.DecodeError):
        return
