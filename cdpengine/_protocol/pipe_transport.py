"""PipeTransport: messages over the two pipes of --remote-debugging-pipe, each ended by a NUL byte.

Rule: JSON escapes NUL inside strings, so the byte never occurs within a message. What can be written without
waiting is written in one step by whoever has it, so no cancellation falls into it; what did not fit is kept, and
goes out before anything that comes later. One read takes all that has come.
"""

from __future__ import annotations

import os
import time
from collections import deque

import trio

from cdpengine._protocol.transport import LARGEST_INCOMING, RECEIVE_BUFFER, Arrival, TransportBroken

_FAILURES = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)


class PipeTransport:
    """Messages over two pipes. Their descriptors are read and written directly, where the ends have some.

    Other ends are streams in memory, as tests have them: `send_nowait` leaves those to `send`.
    """

    largest_outgoing = LARGEST_INCOMING

    def __init__(
        self, to_browser: trio.abc.SendStream, from_browser: trio.abc.ReceiveStream, name: str = "pipe"
    ) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._unsent: deque[memoryview] = deque()
        self._whole: deque[bytes] = deque()
        self._pieces: list[bytes] = []
        self._length_of_pieces = 0
        self.arrival = Arrival()
        self.name = name

    def send_nowait(self, *messages: bytes) -> bool:
        """Take messages, each with its NUL, and write what fits. False where something is left for `send`.

        Raises TransportBroken.
        """
        data = messages[0] + b"\0" if len(messages) == 1 else b"\0".join((*messages, b""))
        written = 0
        if not self._unsent and isinstance(self._to_browser, trio.lowlevel.FdStream):
            try:
                written = _write(self._to_browser, data)
            except _FAILURES as error:
                raise TransportBroken(_pipe_reason(error)) from None
            if written == len(data):
                return True
        self._unsent.append(memoryview(data)[written:])
        return False

    async def send(self, *messages: bytes) -> None:
        """Send messages, after what `send_nowait` left. Raises TransportBroken.

        Cancelled, it keeps what is left, for the next call; over streams in memory that may be lost.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if messages and self.send_nowait(*messages):
            return
        try:
            while self._unsent:
                if not isinstance(self._to_browser, trio.lowlevel.FdStream):
                    await self._to_browser.send_all(self._unsent.popleft())
                    continue
                await trio.lowlevel.wait_writable(_descriptor(self._to_browser))
                written = _write(self._to_browser, self._unsent[0])
                self._unsent[0] = self._unsent[0][written:]
                if not self._unsent[0]:
                    self._unsent.popleft()
        except _FAILURES as error:
            raise TransportBroken(_pipe_reason(error)) from None

    async def receive(self) -> bytes:
        """Return the next message, without its NUL. Raises TransportBroken, also when it ends half-way."""
        if self._whole:
            # A full checkpoint, so that others have their turn. It comes first: a cancelled receive loses nothing.
            await trio.lowlevel.checkpoint()
        while not self._whole:
            try:
                chunk = await self._read()
            except _FAILURES as error:
                raise TransportBroken(_pipe_reason(error)) from None
            self.arrival.time = time.perf_counter()
            self._take(chunk)
        return self._whole.popleft()

    def receive_nowait(self) -> bytes | None:
        """Return the next message that was read already, None where there is none."""
        return self._whole.popleft() if self._whole else None

    async def _read(self) -> bytes:
        if not isinstance(self._from_browser, trio.lowlevel.FdStream):
            return bytes(await self._from_browser.receive_some(RECEIVE_BUFFER))
        while True:
            await trio.lowlevel.wait_readable(_descriptor(self._from_browser))
            try:
                return os.read(_descriptor(self._from_browser), RECEIVE_BUFFER)
            except BlockingIOError:
                continue

    def _take(self, chunk: bytes) -> None:
        if not chunk:
            half = f", {self._length_of_pieces} bytes into a message" if self._pieces else ""
            raise TransportBroken(f"the browser closed its end of the pipe{half}")
        *whole, rest = chunk.split(b"\0")
        if whole and self._pieces:
            whole[0] = b"".join((*self._pieces, whole[0]))
            self._pieces.clear()
            self._length_of_pieces = 0
        self._whole.extend(whole)
        if rest:
            # Joined once, when the message is whole: one of 100 MB comes in some thousand pieces.
            self._pieces.append(rest)
            self._length_of_pieces += len(rest)
            if self._length_of_pieces > LARGEST_INCOMING:
                raise TransportBroken(f"a message of over {LARGEST_INCOMING} bytes came in")

    async def aclose(self) -> None:
        """Close both pipes. Chrome exits when its end of the pipe closes."""
        try:
            await self._to_browser.aclose()
        finally:
            await self._from_browser.aclose()


def _descriptor(stream: trio.lowlevel.FdStream) -> int:
    """Return the descriptor, asked for each time: the number of a closed one soon is somebody else's."""
    number = stream.fileno()
    if number < 0:
        raise trio.ClosedResourceError
    return number


def _write(stream: trio.lowlevel.FdStream, data: bytes | memoryview) -> int:
    """Write what fits and return its length."""
    try:
        return os.write(_descriptor(stream), data)
    except BlockingIOError:
        return 0


def _pipe_reason(error: Exception) -> str:
    if isinstance(error, trio.ClosedResourceError):
        return "the pipe was closed on this side"
    return "the browser closed its end of the pipe"
