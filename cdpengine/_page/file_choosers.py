"""FileChoosers: the file choosers of one page: never shown, recorded, and answered only by who expects them.

Rule: Chrome opens none, from the page's start: a picker of the system that nobody answers would stop the
page. One that nobody expects is cancelled by Chrome itself, and the page sees its `cancel` event; while one is
expected, Chrome leaves it to us.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Literal

import attrs

from cdpengine._budget import undoing
from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import FileChooserOpened
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError

logger = get_logger("cdpengine.browser")

INTERCEPT = "Page.setInterceptFileChooserDialog"

KEPT = 100
"""File choosers a page whose record is kept."""

_END_TIMEOUT = 0.5
"""Seconds that the end of an expectation gets to be confirmed."""


@attrs.frozen
class FileChooser:
    """One file chooser that a page asked for. It was not shown.

    `multiple`: it takes several files. `backend_node_id` is the input in the frame `frame_id`; None for one that a
    script opened without an input (showOpenFilePicker): Chrome refuses that to the page. `answer` is "dismissed",
    or "files" when it was given some.
    """

    frame_id: str
    multiple: bool
    backend_node_id: int | None
    expected: bool = False
    answer: Literal["dismissed", "files"] = "dismissed"


@attrs.define(eq=False)
class OpenedChooser:
    """A file chooser and the session that reported it; its record changes when it is answered."""

    session: Session
    record: FileChooser


@attrs.define(eq=False)
class AwaitedChooser:
    """One expectation: the next file chooser that opens is its own."""

    opened: OpenedChooser | None = None


class FileChoosers:
    """Follows the file choosers that the sessions of one page tell of."""

    def __init__(self, changes: Notifier) -> None:
        self._changes = changes
        self._kept: deque[OpenedChooser] = deque(maxlen=KEPT)
        self._awaited: list[AwaitedChooser] = []

    @property
    def records(self) -> list[FileChooser]:
        """The latest file choosers, oldest first."""
        return [opened.record for opened in self._kept]

    def listen(self, session: Session) -> None:
        """Take what `session` (the page's, or that of a frame in another process) tells of choosers."""
        session.on_event("Page.fileChooserOpened", lambda event: self._note_opening(session, event))

    @asynccontextmanager
    async def expecting(self, sessions: Iterable[Session]) -> AsyncIterator[AwaitedChooser]:
        """Have Chrome leave the next file chooser to us while the body runs.

        Raises SessionGoneError, ConnectionLostError, RemoteError when Chrome does not take the command.
        """
        sessions = list(sessions)
        awaited = AwaitedChooser()
        self._awaited.append(awaited)
        try:
            for pending in [_post(session, cancel=False) for session in sessions]:
                await pending.raw()
            yield awaited
        finally:
            self._awaited.remove(awaited)
            if not self._awaited:
                await _restore(sessions)

    def _note_opening(self, session: Session, event: Event) -> None:
        opening = event.decode(FileChooserOpened)
        awaited = next((each for each in self._awaited if each.opened is None), None)
        record = FileChooser(
            frame_id=opening.frame_id,
            multiple=opening.mode == "selectMultiple",
            backend_node_id=opening.backend_node_id,
            expected=awaited is not None,
        )
        opened = OpenedChooser(session, record)
        self._kept.append(opened)
        if awaited is None:
            logger.info("%s: a file chooser that nobody expected was dismissed", session.describe())
        else:
            awaited.opened = opened
        self._changes.notify()


def post_interception(session: Session) -> PendingCall:
    """Have Chrome cancel the file choosers of a session, and tell of them."""
    return _post(session, cancel=True)


def _post(session: Session, *, cancel: bool) -> PendingCall:
    return session.post(INTERCEPT, enabled=True, cancel=cancel)


async def _restore(sessions: Iterable[Session]) -> None:
    """Shielded, with a deadline: what was posted is obeyed in order, whether or not its reply is seen."""
    pendings = []
    for session in sessions:
        with suppress(SessionGoneError, ConnectionLostError):  # a session that is gone has no choosers
            pendings.append(post_interception(session))
    with undoing(_END_TIMEOUT):
        for pending in pendings:
            with suppress(SessionGoneError, ConnectionLostError, RemoteError):
                await pending.raw()
