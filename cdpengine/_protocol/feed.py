"""The reader's end of a session: it delivers events to listeners and streams, and records a crash and the end.

Rule: a session ends once, and then every stream raises the reason. Streams raise a crash at its position and
continue, because a reload uses the same session. An exception of a listener is logged and counted; it never stops
the reader or keeps an event from the next listener.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._protocol.streams import Consumers, Event, EventFeed
from cdpengine.errors import EngineError, ProtocolError, TargetCrashedError

logger = get_logger("cdpengine.session")

CRASHED = "cdpengine.crashed"
"""The event name for `on_event` listeners of a crash."""

UNDISCARDED = "cdpengine.undiscarded"
"""The event name for `on_event` listeners of the loading of a discarded tab."""

_MOST_ROUTES = 1000
"""Maximum number of method names with cached streams: more than Chrome has events; it bounds the memory use."""


class Faults:
    """The events of one connection that the engine could not decode, and the callbacks that raised."""

    def __init__(self, connection: str) -> None:
        self._connection = connection
        self._undecodable = RepeatedWarning(
            logger, "%s: ignored an undecodable event: %s", level=logging.INFO
        )
        self._undecodable_last: Event | None = None
        self._failed = RepeatedWarning(logger, "%s: a callback for %s failed with %s", level=logging.ERROR)

    @property
    def undecodable_events(self) -> int:
        """Number of undecodable events."""
        return self._undecodable.total

    @property
    def failed_callbacks(self) -> int:
        """Number of exceptions of callbacks."""
        return self._failed.total

    def pass_over(self, event: Event, error: ProtocolError) -> None:
        """Count and log an undecodable event, once even if several parts of the engine failed to read it."""
        if event is not self._undecodable_last:
            self._undecodable_last = event
            self._undecodable.log(self._connection, error)

    def callback_failed(self, what: str, error: Exception) -> None:
        """Count and log an exception that a callback of the reader raised."""
        self._failed.log(self._connection, what, type(error).__name__, error=error)

    def end(self) -> None:
        """Log the number of faults that were not logged yet."""
        self._undecodable.log_suppressed(self._connection)
        self._undecodable_last = None
        self._failed.log_suppressed(self._connection)


class SessionFeed:
    """The listeners, streams and state of one session. `describe` returns a short name of the target.

    `ended` makes the reason why the session ended, for a method name; it is None until then. `crashed` is whether
    the target's renderer is dead. `usable` is whether commands can be sent.
    """

    def __init__(
        self, session_id: str | None, describe: Callable[[], str], consumers: Consumers, faults: Faults
    ) -> None:
        self.ended: Callable[[str | None], EngineError] | None = None
        self.crashed = False
        self.usable = True
        self._session_id = session_id
        self._describe = describe
        self._consumers = consumers
        self._faults = faults
        self._listeners: dict[str, list[Callable[[Event], None]]] = {}
        self._end_listeners: list[Callable[[], None]] = []
        self._streams: list[EventFeed] = []
        self._routes: dict[str, tuple[EventFeed, ...]] = {}

    # --- listeners and streams ----------------------------------------------------------------------------

    def add_stream(self, stream: EventFeed) -> None:
        """Deliver events to a stream from now on. Raises the reason if the session ended."""
        if self.ended is not None:
            raise self.ended(None)
        self._streams.append(stream)
        self._consumers.add(stream)
        self._routes.clear()

    def remove_stream(self, stream: EventFeed) -> None:
        """Deliver no more events to a stream."""
        self._streams.remove(stream)
        self._consumers.remove(stream)
        self._routes.clear()

    def add_listener(self, method: str, listener: Callable[[Event], None]) -> None:
        """Call `listener` with each event of that name."""
        self._listeners.setdefault(method, []).append(listener)

    def remove_listener(self, method: str, listener: Callable[[Event], None]) -> None:
        """Remove a listener of `add_listener`."""
        self._listeners[method].remove(listener)

    def add_end_listener(self, listener: Callable[[], None]) -> None:
        """Call `listener` once when the session ends, or immediately if it has ended."""
        if self.ended is not None:
            listener()
        else:
            self._end_listeners.append(listener)

    # --- for the reader -----------------------------------------------------------------------------------

    def deliver(self, event: Event) -> None:
        """Deliver one event: to the listeners first, then to the streams."""
        if event.method in self._listeners:
            self._call_listeners(event)
        if self._streams:
            streams = self._routes.get(event.method)
            if streams is None:
                streams = tuple(stream for stream in self._streams if stream.wants(event.method))
                if len(self._routes) < _MOST_ROUTES:
                    self._routes[event.method] = streams
            for stream in streams:
                stream.deliver(event)

    def _call_listeners(self, event: Event) -> None:
        for listener in tuple(self._listeners.get(event.method, ())):
            try:
                listener(event)
            except ProtocolError as error:
                self._faults.pass_over(event, error)
            except Exception as error:  # noqa: BLE001 - foreign code must not end the connection
                self._faults.callback_failed(event.method, error)

    def crash(self) -> None:
        """Mark the renderer as dead. Streams raise the crash and continue."""
        self.crashed = True
        self.usable = False
        for stream in self._streams:
            stream.crash(self.crash_error(None))
        self._call_listeners(Event(CRASHED, self._session_id, b"{}"))

    def revive(self, *, discarded: bool = False) -> None:
        """Note that the target was reloaded after a crash, or loaded after a discard."""
        crashed, self.crashed = self.crashed, False
        self.usable = self.ended is None
        if crashed and discarded:
            self._call_listeners(Event(UNDISCARDED, self._session_id, b"{}"))

    def end(self, reason: Callable[[str | None], EngineError]) -> None:
        """End the session. `reason` makes the error for a method name."""
        if self.ended is not None:
            return
        self.ended = reason
        self.usable = False
        for stream in self._streams:
            stream.end(lambda: reason(None))
        listeners, self._end_listeners = self._end_listeners, []
        for listener in listeners:
            try:
                listener()
            except Exception as error:  # noqa: BLE001 - as in _call_listeners
                self._faults.callback_failed(f"the end of {self._describe()}", error)

    def crash_error(self, method: str | None) -> TargetCrashedError:
        """Return the error for a command after a crash."""
        return TargetCrashedError(target=self._describe(), reason="its renderer crashed", method=method)
