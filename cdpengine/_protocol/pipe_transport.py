"""PipeTransport: messages over the two pipes of --remote-debugging-pipe, each terminated by a NUL byte.

Rule: JSON escapes NUL inside strings, so the byte never occurs within a message. Data that fits is written in one
step, so no cancellation can split it. The rest is kept and written before any later message. One read returns all
available bytes.
"""

from __future__ import annotations

import os
import time
from collections import deque

import trio

from cdpengine._protocol.transport import LARGEST_INCOMING, RECEIVE_BUFFER, LastRead, TransportBroken

_FAILURES = (trio.BrokenResourceError, trio.ClosedResourceError, OSError)


class PipeTransport:
    """Messages over two pipes. Reads and writes the file descriptors directly if the ends have them.

    Tests use in-memory streams: `send_nowait` leaves those to `send`.
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
        self.last_read = LastRead()
        self.name = name

    def send_nowait(self, *messages: bytes) -> bool:
        """Accept messages, append a NUL to each, and write as much as fits.

        Return False if `send` has to write the rest.

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
        """Send messages, after the rest that `send_nowait` left. Raises TransportBroken.

        If cancelled, it keeps the rest for the next call; in-memory streams may lose it.
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
        """Return the next message, without its NUL. Raises TransportBroken, also in the middle of a message."""
        if self._whole:
            # A full checkpoint, so that other tasks get a turn. It comes first, so a cancelled receive loses
            # nothing.
            await trio.lowlevel.checkpoint()
        while not self._whole:
            try:
                chunk = await self._read()
            except _FAILURES as error:
                raise TransportBroken(_pipe_reason(error)) from None
            self.last_read.time = time.perf_counter()
            self._take(chunk)
        return self._whole.popleft()

    def receive_nowait(self) -> bytes | None:
        """Return the next message that was already read, or None."""
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
            # Join only when the message is complete: a message of 100 MB arrives in thousands of pieces.
            self._pieces.append(rest)
            self._length_of_pieces += len(rest)
            if self._length_of_pieces > LARGEST_INCOMING:
                raise TransportBroken(f"the browser sent a message of over {LARGEST_INCOMING} bytes")

    async def aclose(self) -> None:
        """Close both pipes. Chrome exits when its end of the pipe closes."""
        try:
            await self._to_browser.aclose()
        finally:
            await self._from_browser.aclose()


def _descriptor(stream: trio.lowlevel.FdStream) -> int:
    """Return the descriptor. Called for each use, because the system reuses the number of a closed descriptor."""
    number = stream.fileno()
    if number < 0:
        raise trio.ClosedResourceError
    return number


def _write(stream: trio.lowlevel.FdStream, data: bytes | memoryview) -> int:
    """Write as much as fits and return its length."""
    try:
        return os.write(_descriptor(stream), data)
    except BlockingIOError:
        return 0


def _pipe_reason(error: Exception) -> str:
    if isinstance(error, trio.ClosedResourceError):
        return "the pipe was closed on this side"
    return "the browser closed its end of the pipe"
