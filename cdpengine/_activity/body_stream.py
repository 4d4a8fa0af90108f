"""BodyStream: the body of one response in pieces, as they come.

Rule: every byte once and in order, or an error; what waits for the reader is bounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cdpengine._activity.bodies import Incoming
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.network import StreamResourceContentReply
from cdpengine.errors import RemoteError, SessionGoneError

if TYPE_CHECKING:
    from cdpengine._activity.request import Request

PIECE = 2**16
"""Bytes of a piece, where a body that is there as a whole is given in pieces."""


class BodyStream:
    """An async iterator over the pieces of a body. Get it from `Response.stream`."""

    def __init__(self, request: Request, backlog: int) -> None:
        self._request = request
        self._incoming = Incoming(backlog)
        self._started = False
        self._whole: bytes | None = None
        self._position = 0

    def __aiter__(self) -> BodyStream:
        return self

    async def __anext__(self) -> bytes:
        """Return the next piece, waiting for it."""
        if not self._started:
            self._started = True
            await self._start()
        if self._whole is not None:
            piece = self._whole[self._position : self._position + PIECE]
            self._position += len(piece)
            if not piece:
                raise StopAsyncIteration
            return piece
        return await self._next()

    def close(self) -> None:
        """Take no more of it."""
        if self._incoming in self._request.streams:
            self._request.streams.remove(self._incoming)

    async def _start(self) -> None:
        request = self._request
        if not request.ended and request.kept is None:
            request.streams.append(self._incoming)
            try:
                params = {"requestId": request.id}
                reply = await request.session.request(
                    "Network.streamResourceContent", params, StreamResourceContentReply
                )
            except (RemoteError, SessionGoneError):
                self.close()  # it has come already, or goes on in another process
            else:
                self._incoming.begin(decode_bytes("Network.streamResourceContent", reply.buffered_data))
                return
        self._whole = (await request.body()).data

    async def _next(self) -> bytes:
        request = self._request
        while True:
            if self._incoming.over:
                limit = self._incoming.limit
                raise request.unavailable(f"its reader fell behind by more than {limit} bytes")
            if (piece := self._incoming.take()) is not None:
                return piece
            if request.ended:
                break
            await request.wait_change()
        if request.failure:
            came = self._incoming.total
            raise request.unavailable(f"the request failed ({request.failure}) after {came} bytes")
        if self._incoming.total != request.body_size:
            reason = f"{self._incoming.total} of its {request.body_size} bytes were told"
            raise request.unavailable(reason)
        raise StopAsyncIteration
