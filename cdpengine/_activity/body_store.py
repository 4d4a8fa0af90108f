"""Keeper: keeps bodies of responses from the moment they arrive.

Rule: bounded, each and all together; what is not kept says why. A body is taken as it comes, so that it is
there even where its document has gone by the time at which it is whole; where Chrome did not tell all of it
in pieces, it is asked for as a whole, at once.
"""

from __future__ import annotations

from collections import deque

import trio

from cdpengine._activity.bodies import Body, Incoming, as_sent, received_body
from cdpengine._activity.options import KeepBodies
from cdpengine._activity.request import Request
from cdpengine._protocol.calls import PendingCall, decode_bytes
from cdpengine._protocol.domains.network import ResponseBodyReply, StreamResourceContentReply
from cdpengine.errors import ConnectionLostError, ProtocolError, RemoteError, SessionGoneError


class BodyStore:
    """Keeps the bodies that `rules` want; its tasks live in `nursery`."""

    def __init__(self, rules: KeepBodies, nursery: trio.Nursery) -> None:
        self.rules = rules
        self._nursery = nursery
        self._kept: deque[tuple[Request, int]] = deque()
        self._total = 0

    def begins(self, request: Request) -> None:
        """Take note of a response whose headers have come (called by the reader)."""
        if not self.rules.wants(request.url, request.type):
            return
        length = request.response.header("content-length") if request.response else None
        encoded = request.response is not None and request.response.header("content-encoding")
        if length is not None and length.isdecimal() and int(length) > self.rules.largest and not encoded:
            request.not_kept = self._too_large(int(length))
            return
        try:
            call = request.session.post("Network.streamResourceContent", requestId=request.id)
        except (SessionGoneError, ConnectionLostError):
            return
        request.incoming = Incoming(self.rules.largest)
        self._nursery.start_soon(self._begin, request, request.incoming, call, name="keep a body")

    def ended(self, request: Request) -> None:
        """Take note of the end of a request (called by the reader)."""
        incoming = request.incoming
        if incoming is None:
            return
        if request.failure:
            self._not_kept(request, "")
            return
        whole = incoming.whole(request.body_size)
        if whole is not None:
            self._keep(request, Body(whole))
        elif incoming.over or request.body_size > self.rules.largest:
            self._not_kept(request, self._too_large(request.body_size))
        else:
            # Told too late to be told in pieces. Asked for at once: its document may go at any moment.
            try:
                call = request.session.post("Network.getResponseBody", requestId=request.id)
            except (SessionGoneError, ConnectionLostError) as error:
                self._not_kept(request, f"it was not kept: {error}")
            else:
                self._nursery.start_soon(self._take, request, call, name="keep a body")

    async def _begin(self, request: Request, incoming: Incoming, call: PendingCall) -> None:
        try:
            reply = await call.decoded(StreamResourceContentReply)
            beginning = decode_bytes("Network.streamResourceContent", reply.buffered_data)
        except RemoteError:
            incoming.refuse()  # it has come already, or goes on in another process: it is asked for whole
        except (SessionGoneError, ConnectionLostError, ProtocolError) as error:
            if request.kept is None:
                self._not_kept(request, f"it was not kept: {error}")
        else:
            incoming.begin(beginning)

    async def _take(self, request: Request, call: PendingCall) -> None:
        try:
            body = received_body(await call.decoded(ResponseBodyReply))
        except (RemoteError, SessionGoneError, ConnectionLostError, ProtocolError) as error:
            self._not_kept(request, f"it was not kept: {error}")
            return
        body = as_sent(body, request.response_headers, request.body_size)
        if len(body.data) > self.rules.largest:
            self._not_kept(request, self._too_large(len(body.data)))
        else:
            self._keep(request, body)

    def _not_kept(self, request: Request, reason: str) -> None:
        request.not_kept = reason
        request.incoming = None
        request.changed()

    def _keep(self, request: Request, body: Body) -> None:
        request.kept, request.incoming = body, None
        request.changed()
        self._kept.append((request, len(body.data)))
        self._total += len(body.data)
        while self._total > self.rules.total and len(self._kept) > 1:
            oldest, size = self._kept.popleft()
            self._total -= size
            oldest.kept = None
            oldest.not_kept = f"it was kept, and made room for others (total={self.rules.total})"

    def _too_large(self, size: int) -> str:
        return f"it was not kept: it has {size} bytes, more than largest={self.rules.largest}"
