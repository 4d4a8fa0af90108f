"""Relaying of a browser's debugging pipe between the client's descriptors and the browser's.

Rule: each direction ends by itself, as the two pipes do. The end of the client's pipe closes the browser's, and
the browser's remaining messages still reach the client.
"""

from __future__ import annotations

import os

import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.instruments import Direction, Instruments, Traffic
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.transport import TransportBroken

TO_BROWSER, FROM_BROWSER = 3, 4
"""Descriptors on which a browser reads and writes messages."""


class PipeRelay:
    """The pipes of one browser. `given` are the descriptors for the browser, by number; the caller closes them."""

    def __init__(self, name: str, client: dict[int, int], instruments: Instruments) -> None:
        """Create the browser's pipes. Takes the descriptors 3 and 4 out of `client`. Raises OSError."""
        self.given: dict[int, int] = {}
        self._name = name
        self._instruments = instruments
        self._client_read = trio.lowlevel.FdStream(client.pop(TO_BROWSER))
        self._client_write = trio.lowlevel.FdStream(client.pop(FROM_BROWSER))
        self.given[TO_BROWSER], writing = os.pipe()
        self._browser_write = trio.lowlevel.FdStream(writing)
        reading, self.given[FROM_BROWSER] = os.pipe()
        self._browser_read = trio.lowlevel.FdStream(reading)

    async def run(self, ended: trio.Event) -> None:
        """Relay until the browser has ended (`ended`) and its last message is relayed."""
        client = PipeTransport(self._client_write, self._client_read)
        browser = PipeTransport(self._browser_write, self._browser_read)
        try:
            async with open_body_nursery() as nursery:
                nursery.start_soon(self._pump, "sent", client, browser)
                await self._pump("received", browser, client)
                await ended.wait()
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Close the descriptors of this program."""
        for each in (self._client_read, self._client_write, self._browser_read, self._browser_write):
            with trio.CancelScope(shield=True):
                await each.aclose()

    async def _pump(self, direction: Direction, source: PipeTransport, sink: PipeTransport) -> None:
        try:
            while True:
                message = await source.receive()
                if self._instruments.active:
                    self._instruments.pass_on(Traffic(trio.current_time(), direction, self._name, message))
                await sink.send(message)
        except TransportBroken:
            pass
        ends = (self._client_read, self._browser_write)
        for each in ends if direction == "sent" else (self._browser_read, self._client_write):
            await each.aclose()
