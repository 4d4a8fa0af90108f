"""Transports: the exchange of whole messages.

Rule: a transport moves messages and does not know their content. Every loss of the other end raises
TransportBroken, whose message has the reason. Only the connection's writer calls `send`, and only its reader calls
`receive`. A transport that can work without waiting also has `send_nowait` and `receive_nowait` (DirectTransport).
"""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

LARGEST_INCOMING = 1 << 30
"""Maximum size of a received message, in bytes. Chrome sends up to 256 MB; trio-websocket's default is 1 MiB."""

LARGEST_OUTGOING = 100_000_000
"""Maximum size of a sent message, in bytes.

Chrome resets the socket above it (measured: 101 MB passes, 110 MB fails).
"""

RECEIVE_BUFFER = 1 << 18
"""Bytes per read.

From 64 KiB on, a 10 MB reply takes a third less time than with the library's 4 KiB (measured).
"""

CLOSE_GRACE = 0.5
"""Maximum duration of the closing handshake, in seconds. A dead browser does not answer it."""


class TransportBroken(Exception):
    """The other end is gone, or this end was closed. The message has the reason."""


class LastRead:
    """The time of the last read from a socket or pipe: `time`, of time.perf_counter()."""

    __slots__ = ("time",)

    def __init__(self) -> None:
        self.time = time.perf_counter()


class Transport(Protocol):
    """A stream of whole messages in both directions. It may have a `last_read`, for statistics."""

    name: str
    largest_outgoing: int

    async def send(self, *messages: bytes) -> None:
        """Send messages whole, in this order and in one write. Raises TransportBroken.

        If cancelled, it may have written half a message; then only `aclose` is allowed.
        """

    async def receive(self) -> bytes | str:
        """Return the next message. Raises TransportBroken. A cancelled call loses no message."""

    async def aclose(self) -> None:
        """Close both directions, even if cancelled. Takes at most CLOSE_GRACE seconds."""


@runtime_checkable
class DirectTransport(Transport, Protocol):
    """A transport that any task may write to without waiting, as far as it accepts data."""

    def send_nowait(self, *messages: bytes) -> bool:
        """Write messages without waiting. Return False if `send` has to write the rest. Raises TransportBroken."""

    def receive_nowait(self) -> bytes | None:
        """Return the next message that was already read, or None."""
