"""The connections of clients: how many there are, and the end of those that take nothing of their answers.

Rule: writing to a client ends. Hypercorn writes within a shield, so that an answer is not cut; a client that reads
nothing would keep it, and the service's end, for ever. Here each piece has its time, and what is left at the end
is closed. A client that is gone is gone at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import trio
from hypercorn.events import Closed, Event, Updated
from hypercorn.trio.tcp_server import TCPServer

from cdpengine._notifier import Notifier

_PIECE = 2**16

_CLOSING = 1.0
"""Seconds at most in which a connection is closed."""


@attrs.define(eq=False)
class ClientStream:
    """A client's connection, for Hypercorn. `stalled` is how long a piece of an answer may take to go out."""

    _stream: trio.SocketStream
    _stalled: float

    @property
    def socket(self) -> trio.socket.SocketType:
        """The socket."""
        return self._stream.socket

    async def send_all(self, data: bytes) -> None:
        """Write all of it. Raises BrokenResourceError where the client takes nothing, or is gone."""
        view = memoryview(data)
        for start in range(0, max(len(view), 1), _PIECE):
            with trio.move_on_after(self._stalled) as piece:
                await self._stream.send_all(view[start : start + _PIECE])
            if piece.cancelled_caught:
                self.close()
                raise trio.BrokenResourceError(f"the client took nothing for {self._stalled:g} s")

    async def receive_some(self, most: int) -> bytes | bytearray:
        """Read what there is."""
        return await self._stream.receive_some(most)

    async def send_eof(self) -> None:
        """Say that nothing more is sent."""
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def close(self) -> None:
        """Close the connection at once: waiting for it raises ClosedResourceError."""
        self._stream.socket.close()


class ClientConnection(TCPServer):
    """Serves one client. Hypercorn's own keeps one that is gone for as long as it may be idle, with its socket."""

    _gone = False

    async def _read_data(self) -> None:
        await super()._read_data()
        self._gone = True
        await self.idle_task.stop()

    async def protocol_send(self, event: Event) -> None:
        """Send to the client, or take note of whether it is idle."""
        if isinstance(event, Closed):
            # Hypercorn tells the application of the end of its answer first, and that may cancel what sends it.
            with trio.move_on_after(_CLOSING, shield=True):
                await super().protocol_send(event)
        elif not (self._gone and isinstance(event, Updated)):
            await super().protocol_send(event)


@attrs.define(eq=False)
class Clients:
    """The clients that are connected, `most` at the same time."""

    most: int
    stalled: float
    _streams: set[ClientStream] = attrs.field(factory=set)
    _changes: Notifier = attrs.field(factory=Notifier)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._streams)

    @contextmanager
    def connected(self, stream: trio.SocketStream) -> Iterator[ClientStream | None]:
        """Have a client among them while the block runs; None where there is no room."""
        if len(self._streams) >= self.most:
            yield None
            return
        client = ClientStream(stream, self.stalled)
        self._streams.add(client)
        try:
            yield client
        finally:
            self._streams.discard(client)
            self._changes.notify()

    async def until_gone(self) -> None:
        """Wait until no client is connected."""
        await self._changes.wait_for(lambda: not self._streams)

    def drop(self) -> None:
        """Close all connections at once."""
        for client in list(self._streams):
            client.close()
