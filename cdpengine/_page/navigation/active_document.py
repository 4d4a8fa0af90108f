"""Commands that Chrome accepts only for a page's active document, such as those about its history.

Rule: Chrome reports a new document some milliseconds before its browser process makes it the active one, and
refuses these commands until then. No event reports the change, so the command is sent again.
"""

from __future__ import annotations

from typing import TypeVar

import trio

from cdpengine._page.scripts.page_functions import Command
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError

T = TypeVar("T")

_NOT_ACTIVE = "Not attached to an active page"
"""Chrome's error message while another document becomes active, as of Chromium 156."""

_PAUSE = 0.01
"""Pause in seconds before the command is sent again."""


async def request_of_active(session: Session, command: Command, kind: type[T]) -> T:
    """Send a command as `Session.request` does. Repeat it while the page has no active document.

    Has no time limit: call it under a deadline. Raises the other errors of `Session.request`.
    """
    while True:
        try:
            return await session.request(command.method, command.params, kind)
        except RemoteError as error:
            if not is_not_active(error):
                raise
        await trio.sleep(_PAUSE)


def is_not_active(error: RemoteError) -> bool:
    """Return whether Chrome refused because the page's document is not the active one."""
    return error.message.startswith(_NOT_ACTIVE)
