"""The connections of clients: their number, and closing clients that do not read their responses.

Rule: each write to a client has a timeout. Hypercorn shields its writes so that a response is not cut off.
Without a timeout, a client that reads nothing could block the write, and the service's shutdown, forever. If
the client disconnects, writing to it fails immediately.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import attrs
import trio
from hypercorn.events import Closed, Event, Updated
from hypercorn.trio.tcp_server import TCPServer

from cdpengine._notifier import Notifier
from cdpengine.errors.texts import duration

_PIECE = 2**16

_CLOSING = 1.0
"""Maximum time to close a connection, in seconds."""


@attrs.define(eq=False)
class ClientStream:
    """A client's connection, for Hypercorn. `stalled` is the maximum time to write one piece of a response."""

    _stream: trio.SocketStream
    _stalled: float

    @property
    def socket(self) -> trio.socket.SocketType:
        """The socket."""
        return self._stream.socket

    async def send_all(self, data: bytes) -> None:
        """Write all of `data`. Raises BrokenResourceError if the client reads nothing or has disconnected."""
        view = memoryview(data)
        for start in range(0, max(len(view), 1), _PIECE):
            with trio.move_on_after(self._stalled) as piece:
                await self._stream.send_all(view[start : start + _PIECE])
            if piece.cancelled_caught:
                self.close()
                raise trio.BrokenResourceError(f"the client read nothing for {duration(self._stalled)}")

    async def receive_some(self, most: int) -> bytes | bytearray:
        """Read the bytes that have arrived."""
        return await self._stream.receive_some(most)

    async def send_eof(self) -> None:
        """Close the sending side."""
        await self._stream.send_eof()

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    def close(self) -> None:
        """Close the connection without waiting. Tasks that wait for it get ClosedResourceError."""
        self._stream.socket.close()


class ClientConnection(TCPServer):
    """A server for one client.

    Hypercorn's class would keep a disconnected client, with its socket, for the idle time.
    """

    _gone = False

    async def _read_data(self) -> None:
        await super()._read_data()
        self._gone = True
        await self.idle_task.stop()

    async def protocol_send(self, event: Event) -> None:
        """Send to the client, or note whether it is idle."""
        if isinstance(event, Closed):
            # Hypercorn first notifies the application that its response has ended, which may cancel the sending
            # task.
            with trio.move_on_after(_CLOSING, shield=True):
                await super().protocol_send(event)
        elif not (self._gone and isinstance(event, Updated)):
            await super().protocol_send(event)


@attrs.define(eq=False)
class Clients:
    """The connected clients, at most `most` of them."""

    most: int
    stalled: float
    _streams: set[ClientStream] = attrs.field(factory=set)
    _changes: Notifier = attrs.field(factory=Notifier)

    @property
    def count(self) -> int:
        """The number of connected clients."""
        return len(self._streams)

    @contextmanager
    def connected(self, stream: trio.SocketStream) -> Iterator[ClientStream | None]:
        """Count a client as connected during the block. Yields None if the limit is reached."""
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
        """Close all connections immediately."""
        for client in list(self._streams):
            client.close()
