"""Response bodies kept on arrival (BodyStore).

Rule: kept data is bounded by KeepBodies. A body is kept while it arrives, so it stays available if the page leaves
the document meanwhile. The size that Chrome counted decides whether a body is complete. If Chrome did not send all
pieces, the whole body is requested immediately. For a body that is not kept, the reason is recorded.
"""

from __future__ import annotations

import trio

from cdpengine._activity.bodies import Body, Incoming, decode_body, restore_bytes
from cdpengine._activity.options import KeepBodies
from cdpengine._activity.request_state import RequestState
from cdpengine._protocol.calls import PendingCall, decode_bytes
from cdpengine._protocol.domains.network import ResponseBodyReply, StreamResourceContentReply
from cdpengine.errors import ConnectionLostError, ProtocolError, RemoteError, SessionGoneError


class BodyStore:
    """Store of the bodies that match `rules`. Its tasks run in `nursery`."""

    def __init__(self, rules: KeepBodies, nursery: trio.Nursery) -> None:
        self.rules = rules
        self._nursery = nursery
        self._sizes: dict[RequestState, int] = {}
        """Sizes in the order of the requests' ends, 0 until the body has arrived."""
        self._total = 0

    def begins(self, state: RequestState) -> None:
        """Handle the headers of a response. Called by the reader."""
        if not self.rules.wants(state.exchange.url, state.exchange.sent.type):
            return
        headers = state.exchange.received_headers
        length = headers.get("content-length", "")
        encoded = headers.get("content-encoding", "")
        if length.isdecimal() and int(length) > self.rules.largest and not encoded:
            state.missing_reason = self._too_large(int(length))
            return
        try:
            call = state.session.post("Network.streamResourceContent", requestId=state.exchange.id)
        except (SessionGoneError, ConnectionLostError):
            return
        state.incoming = Incoming(self.rules.largest)
        self._nursery.start_soon(self._begin, state, state.incoming, call, name="keep a body")

    def ended(self, state: RequestState) -> None:
        """Handle the end of a request. Called by the reader."""
        exchange, incoming = state.exchange, state.incoming
        if incoming is None:
            return
        if exchange.failure:
            self._note_missing_body(state, "")
            return
        self._sizes[state] = 0
        whole = incoming.whole(exchange.decoded)
        if whole is not None:
            self._keep(state, Body(whole))
        elif incoming.over or exchange.decoded > self.rules.largest:
            self._note_missing_body(state, self._too_large(exchange.decoded))
        else:
            # Too late for pieces. Request the body now, because the page may leave the document at any moment.
            try:
                call = state.session.post("Network.getResponseBody", requestId=state.exchange.id)
            except (SessionGoneError, ConnectionLostError) as error:
                self._note_missing_body(state, f"it was not kept: {error}")
            else:
                self._nursery.start_soon(self._take, state, call, name="keep a body")

    async def _begin(self, state: RequestState, incoming: Incoming, call: PendingCall) -> None:
        try:
            reply = await call.decoded(StreamResourceContentReply)
            beginning = decode_bytes("Network.streamResourceContent", reply.buffered_data)
        except RemoteError:
            incoming.refuse()  # it already arrived, or continues in another process: the whole body is requested
        except (SessionGoneError, ConnectionLostError, ProtocolError) as error:
            if state.stored_body is None:
                self._note_missing_body(state, f"it was not kept: {error}")
        else:
            incoming.begin(beginning)

    async def _take(self, state: RequestState, call: PendingCall) -> None:
        try:
            body = decode_body(await call.decoded(ResponseBodyReply))
        except (RemoteError, SessionGoneError, ConnectionLostError, ProtocolError) as error:
            self._note_missing_body(state, f"it was not kept: {error}")
            return
        exchange = state.exchange
        body = restore_bytes(body, exchange.received_headers, exchange.decoded)
        if len(body.data) > self.rules.largest:
            self._note_missing_body(state, self._too_large(len(body.data)))
        else:
            self._keep(state, body)

    def _note_missing_body(self, state: RequestState, reason: str) -> None:
        self._sizes.pop(state, None)
        state.missing_reason = reason
        state.incoming = None
        state.notify()

    def _keep(self, state: RequestState, body: Body) -> None:
        state.stored_body, state.incoming = body, None
        state.notify()
        self._sizes[state] = len(body.data)
        self._total += len(body.data)
        if not body.data:
            del self._sizes[state]  # it takes no room
        while self._total > self.rules.total:
            oldest, size = next(each for each in self._sizes.items() if each[1])
            if size == self._total:
                break  # the only one
            del self._sizes[oldest]
            self._total -= size
            oldest.stored_body = None
            oldest.missing_reason = f"it was kept, and made room for others (total={self.rules.total})"

    def _too_large(self, size: int) -> str:
        return f"it was not kept: it has {size} bytes, more than largest={self.rules.largest}"
