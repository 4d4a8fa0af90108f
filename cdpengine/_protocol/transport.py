"""Transports: how whole messages travel.

Rule: a transport moves messages and knows nothing of what they say. Every way in which the other end can
vanish becomes one error, TransportBroken, whose text says which way it was. `send` is called by one task only
(the connection's writer), `receive` by one task only (its reader). A transport that can do so without waiting
has `send_nowait` and `receive_nowait` too (DirectTransport).
"""

from __future__ import annotations

import time
from typing import Protocol, runtime_checkable

LARGEST_INCOMING = 1 << 30
"""Bytes. Chrome sends replies of up to 256 MB; trio-websocket's default of 1 MiB would cut the connection."""

LARGEST_OUTGOING = 100_000_000
"""Bytes. Chrome resets a socket on a larger message (measured: 101 MB passes, 110 MB does not)."""

RECEIVE_BUFFER = 1 << 18
"""Bytes a read. 64 KiB and more make a 10 MB reply a third faster than the library's 4 KiB (measured)."""

CLOSE_GRACE = 0.5
"""Seconds that the closing handshake may take; a browser that is gone does not answer it."""


class TransportBroken(Exception):
    """The other end is gone, or this end was closed. The text says how it came."""


class Arrival:
    """When the last bytes were read off a socket or a pipe: `time`, of time.perf_counter()."""

    __slots__ = ("time",)

    def __init__(self) -> None:
        self.time = time.perf_counter()


class Transport(Protocol):
    """A stream of whole messages in both directions. It may have an `arrival`, for statistics."""

    name: str
    largest_outgoing: int

    async def send(self, *messages: bytes) -> None:
        """Send messages whole, in this order and in one write. Raises TransportBroken.

        Cancelled half-way, it may have written half a message: after that, only `aclose` makes sense.
        """

    async def receive(self) -> bytes | str:
        """Return the next message. Raises TransportBroken. Cancelled, it loses nothing."""

    async def aclose(self) -> None:
        """Close both directions, also when cancelled. Waits for nobody longer than CLOSE_GRACE seconds."""


@runtime_checkable
class DirectTransport(Transport, Protocol):
    """A transport that any task may write to, as far as that goes without waiting."""

    def send_nowait(self, *messages: bytes) -> bool:
        """Write messages in this step. False where a part is left, which `send` writes. Raises TransportBroken."""

    def receive_nowait(self) -> bytes | None:
        """Return the next message that has been read already, None where there is none."""
