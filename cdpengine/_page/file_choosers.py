"""FileChoosers: the file choosers of one page. They are never displayed, but recorded, and answered if expected.

Rule: the engine disables the display of choosers when the page starts, because an unanswered system dialog would
block the page. Chrome cancels an unexpected chooser, and the page sees its `cancel` event. While one is expected,
Chrome leaves it to the engine.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
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

MAX_RECORDS = 100
"""Maximum number of file choosers of a page whose record is kept."""

_END_TIMEOUT = 0.5
"""Time in seconds for Chrome to confirm the end of an expectation."""


@attrs.frozen
class FileChooser:
    """One file chooser that a page opened. It was not displayed.

    `multiple`: it accepts several files. `backend_node_id` is the input in the frame `frame_id`. It is None if a
    script opened the chooser without an input (showOpenFilePicker), which Chrome refuses. `answer` is "dismissed",
    or "files" if files were chosen.
    """

    frame_id: str
    multiple: bool
    backend_node_id: int | None
    expected: bool = False
    answer: Literal["dismissed", "files"] = "dismissed"


@attrs.define(eq=False)
class OpenedChooser:
    """A file chooser and the session that reported it. Its record changes when it is answered."""

    session: Session
    record: FileChooser


@attrs.define(eq=False)
class AwaitedChooser:
    """One expectation, which receives the next file chooser."""

    opened: OpenedChooser | None = None


class FileChoosers:
    """The file choosers that the sessions of one page report."""

    def __init__(self, changes: Notifier) -> None:
        self._changes = changes
        self._opened: deque[OpenedChooser] = deque(maxlen=MAX_RECORDS)
        self._awaited: list[AwaitedChooser] = []
        self.listeners: list[Callable[[FileChooser], None]] = []
        """Called by the reader with each chooser that opens."""

    @property
    def records(self) -> list[FileChooser]:
        """The latest file choosers, oldest first."""
        return [opened.record for opened in self._opened]

    def listen(self, session: Session) -> None:
        """Record the choosers that a session reports.

        Sessions belong to the page, or to a frame in another process.
        """
        session.on_event("Page.fileChooserOpened", lambda event: self._note_opening(session, event))

    @asynccontextmanager
    async def expecting(self, sessions: Iterable[Session]) -> AsyncIterator[AwaitedChooser]:
        """Leave the next file chooser to the engine during the body.

        Raises SessionGoneError, ConnectionLostError, RemoteError if Chrome refuses the command.
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
        self._opened.append(opened)
        if awaited is None:
            logger.info("%s: an unexpected file chooser was dismissed", session.describe())
        else:
            awaited.opened = opened
        for listener in tuple(self.listeners):
            listener(record)
        self._changes.notify()


def post_interception(session: Session) -> PendingCall:
    """Let Chrome cancel and report the file choosers of a session."""
    return _post(session, cancel=True)


def _post(session: Session, *, cancel: bool) -> PendingCall:
    return session.post(INTERCEPT, enabled=True, cancel=cancel)


async def _restore(sessions: Iterable[Session]) -> None:
    """Restore the cancellation of choosers. Shielded and bounded; commands run in order even without a reply."""
    pendings = []
    for session in sessions:
        with suppress(SessionGoneError, ConnectionLostError):  # a session that is gone has no choosers
            pendings.append(post_interception(session))
    with undoing(_END_TIMEOUT):
        for pending in pendings:
            with suppress(SessionGoneError, ConnectionLostError, RemoteError):
                await pending.raw()
