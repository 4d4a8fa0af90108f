"""Reading of a response body in pieces, while it arrives (BodyStream)."""

from __future__ import annotations

from cdpengine._activity.bodies import Incoming
from cdpengine._activity.request_state import RequestState
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.network import StreamResourceContentReply
from cdpengine.errors import RemoteError, SessionGoneError

PIECE = 2**16
"""Size of the pieces of an already complete body, in bytes."""

BACKLOG = 64 * 2**20
"""Default maximum number of unread bytes."""


@not_picklable("the bytes that it gave")
class BodyStream:
    """An async iterator over the pieces of a body. Get it from `Response.stream`."""

    def __init__(self, state: RequestState, backlog: int) -> None:
        self._state = state
        self._incoming = Incoming(backlog)
        self._started = False
        self._whole: bytes | None = None
        self._position = 0

    def __aiter__(self) -> BodyStream:
        return self

    async def __anext__(self) -> bytes:
        """Wait for the next piece and return it."""
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
        """Stop reading the body."""
        self._state.remove_reader(self._incoming)

    async def _start(self) -> None:
        state = self._state
        if not state.exchange.ended and state.stored_body is None:
            state.add_reader(self._incoming)
            try:
                params = {"requestId": state.exchange.id}
                reply = await state.session.request(
                    "Network.streamResourceContent", params, StreamResourceContentReply
                )
            except (RemoteError, SessionGoneError):
                self.close()  # it already arrived, or continues in another process
            else:
                self._incoming.begin(decode_bytes("Network.streamResourceContent", reply.buffered_data))
                return
        self._whole = (await state.read_body()).data

    async def _next(self) -> bytes:
        state, exchange = self._state, self._state.exchange
        while True:
            if self._incoming.over:
                limit = self._incoming.limit
                raise state.unavailable(f"its reader fell behind by more than {limit} bytes")
            if (piece := self._incoming.take()) is not None:
                return piece
            if exchange.ended:
                break
            await state.wait_change()
        came = self._incoming.total
        if exchange.failure:
            raise state.unavailable(f"the request failed ({exchange.failure}) after {came} bytes")
        if came != exchange.decoded:
            raise state.unavailable(f"{came} of its {exchange.decoded} bytes were reported")
        raise StopAsyncIteration
