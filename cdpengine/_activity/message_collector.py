"""Collection of a page's console messages and errors (MessageCollector). Runs in the reader.

Rule: Chrome repeats the messages of a document from the back/forward cache; each is reported once. The page keeps
the objects in a message until they can no longer be requested.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import attrs

from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.kept import Kept
from cdpengine._activity.repeats import Repeats
from cdpengine._activity.streams import Subscribers
from cdpengine._activity.values import ValueReader
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._protocol.domains.runtime import (
    ConsoleAPICalled,
    EntryAdded,
    ExceptionRevoked,
    ExceptionThrown,
    LogEntry,
    RemoteArgument,
)
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event

_MIN_HANDLE_GROUPS = 500
"""Minimum number of messages and errors whose objects stay readable in the page."""


@attrs.frozen
class KeptError:
    """A kept PageError, and Chrome's number of its exception."""

    exception_id: int
    error: PageError


class MessageCollector:
    """Keeps the messages and errors of one page, and delivers them to `subscribers`.

    `reader` reads values in the page.
    """

    def __init__(self, subscribers: Subscribers, reader: ValueReader | None) -> None:
        self.console: Kept[ConsoleMessage] = Kept("console")
        self.errors: Kept[KeptError] = Kept("errors")
        self._subscribers = subscribers
        self._reader = reader
        self._repeats = Repeats()
        self._handle_groups: deque[Sequence[RemoteHandle]] = deque()

    def expect_repeats(self, session: Session, _event: Event | None = None) -> None:
        """Note that Chrome may now repeat earlier messages of a session's target."""
        self._repeats.expect(session)

    def clear(self) -> None:
        """Drop the kept messages and errors."""
        self.console.clear()
        self.errors.clear()
        self.release_objects()

    def mark(self) -> None:
        """Mark the present messages and errors as those of earlier documents."""
        self.console.mark()
        self.errors.mark()

    def release_objects(self) -> None:
        """Release all objects that the page keeps for messages. Sends without waiting."""
        self._release(0)

    def take_call(self, session: Session, event: Event) -> None:
        """Take a call of the `console` object."""
        self._add_message(event.decode(ConsoleAPICalled), session, event)

    def take_entry(self, session: Session, event: Event) -> None:
        """Take a message of Chrome."""
        entry = event.decode(EntryAdded).entry
        if entry.source != "worker":  # the worker's session reports it with its arguments
            self._add_message(entry, session, event)

    def take_exception(self, session: Session, event: Event) -> None:
        """Take an uncaught exception or an unhandled rejection."""
        thrown = event.decode(ExceptionThrown)
        details = thrown.exception_details
        self._track_objects(session, [] if details.exception is None else [details.exception])
        if self._repeats.take(session, thrown.timestamp):
            return
        error = PageError(thrown, session, self._reader)
        self.errors.add(KeptError(details.exception_id, error), event)
        kept_by = session if session.domains.is_enabling("Runtime") else None
        self._subscribers.deliver("errors", error, kept_by=kept_by)

    def take_revocation(self, session: Session, event: Event) -> None:
        """Note that a rejection was handled after all."""
        number = event.decode(ExceptionRevoked).exception_id
        for kept in self.errors:
            if kept.exception_id == number and kept.error.target_id == session.target_id:
                kept.error.handled = True

    def _add_message(self, reported: ConsoleAPICalled | LogEntry, session: Session, event: Event) -> None:
        self._track_objects(session, reported.args)
        if self._repeats.take(session, reported.timestamp):
            return
        message = ConsoleMessage(reported, session, self._reader)
        self.console.add(message, event)
        domain = "Log" if isinstance(reported, LogEntry) else "Runtime"
        kept_by = session if session.domains.is_enabling(domain) else None
        self._subscribers.deliver("console", message, kept_by=kept_by)

    def _track_objects(self, session: Session, values: Sequence[RemoteArgument]) -> None:
        handles = [RemoteHandle(session, each.object_id) for each in values if each.object_id is not None]
        if handles:
            self._handle_groups.append(handles)
            self._release(max(_MIN_HANDLE_GROUPS, self.console.bound))

    def _release(self, limit: int) -> None:
        while len(self._handle_groups) > limit:
            for handle in self._handle_groups.popleft():
                handle.release()
