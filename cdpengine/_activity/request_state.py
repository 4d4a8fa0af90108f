"""The state of one request (RequestState): its session, its body, and the tasks that wait for a change.

Rule: the engine works on the state, and users hold the Request and Response that read from it. A body was kept on
arrival, or is fetched from Chrome. If neither is possible, BodyUnavailableError is raised.
"""

from __future__ import annotations

from typing import Any

import attrs
import trio

from cdpengine._activity.bodies import Body, Incoming, decode_body, restore_bytes
from cdpengine._activity.exchange import Exchange
from cdpengine._pickling import DepartedSession, restore_state, state_without_page
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.network import ResponseBodyReply
from cdpengine._protocol.session import Session
from cdpengine.errors import BodyUnavailableError, RemoteError, SessionGoneError


@attrs.define
class Following:
    """The state of one period of collection, shared by its requests: whether they are still followed."""

    active: bool = True


@attrs.define(eq=False, repr=False, weakref_slot=False)
class RequestState:
    """One request, for the engine. `request` is the Request that users hold: `request_of` creates it.

    `incoming` is the body that is being kept, `stored_body` the kept one, `missing_reason` why it was not kept.
    `response_delivered` and `end_delivered`: whether the streams have received them.
    """

    exchange: Exchange
    session: Session
    following: Following
    request: Any = None
    stored_body: Body | None = None
    missing_reason: str = ""
    incoming: Incoming | None = None
    response_delivered: bool = False
    end_delivered: bool = False
    _readers: tuple[Incoming, ...] = ()
    _waiting: trio.lowlevel.ParkingLot | None = None

    def __getstate__(self) -> dict[str, object]:
        return state_without_page(
            self,
            session=DepartedSession(self.session),
            following=Following(active=False),
            incoming=None,
            _readers=(),
            _waiting=None,
        )

    def __setstate__(self, state: dict[str, object]) -> None:
        restore_state(self, state)

    # --- the pieces of the body --------------------------------------------------------------------------------

    def add_reader(self, incoming: Incoming) -> None:
        """Pass the pieces of the body to another reader."""
        self._readers = (*self._readers, incoming)

    def remove_reader(self, incoming: Incoming) -> None:
        """Stop passing pieces to a reader."""
        self._readers = tuple(each for each in self._readers if each is not incoming)

    def feed(self, data: str) -> None:
        """Pass the next piece, in base64, to the readers and to the body that is being kept."""
        if data and (self._readers or self.incoming is not None):
            piece = decode_bytes("Network.dataReceived", data)
            for reader in self._readers:
                reader.feed(piece)
            if self.incoming is not None:
                self.incoming.feed(piece)

    # --- waiting -----------------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Wake the tasks that wait for a change of this request."""
        if self._waiting is not None:
            self._waiting.unpark_all()

    async def wait_change(self) -> None:
        """Wait for the next change. Raises BodyUnavailableError if the request is no longer followed."""
        if not self.following.active:
            raise self.unavailable("nothing follows the page's requests any more, and it had not ended")
        await self._park()

    async def wait_ended(self) -> None:
        """Wait for the end. Raises BodyUnavailableError if the request is no longer followed."""
        await trio.lowlevel.checkpoint()
        while not self.exchange.ended:
            await self.wait_change()

    async def read_body(self) -> Body:
        """Return the body of the response. Raises BodyUnavailableError, ConnectionLostError."""
        exchange = self.exchange
        if exchange.after is not None:
            raise self.unavailable("it is a redirect; the next request is in `redirected_to`")
        await self.wait_ended()
        while self.incoming is not None:
            await self._park()  # it is being kept, which always ends
        if self.stored_body is not None:
            return self.stored_body
        if exchange.failure:
            raise self.unavailable(f"the request failed ({exchange.failure})")
        try:
            reply = await self.session.request(
                "Network.getResponseBody", {"requestId": exchange.id}, ResponseBodyReply
            )
        except RemoteError as error:
            note = f"; {self.missing_reason}" if self.missing_reason else ""
            raise self.unavailable(f"Chrome does not have it ({error.message}){note}") from None
        except SessionGoneError as error:
            raise self.unavailable(f"its page is gone ({error})") from None
        return restore_bytes(decode_body(reply), exchange.received_headers, exchange.decoded)

    def unavailable(self, reason: str) -> BodyUnavailableError:
        """Return the error for a missing body."""
        return BodyUnavailableError(url=self.exchange.url, reason=reason)

    async def _park(self) -> None:
        if self._waiting is None:
            self._waiting = trio.lowlevel.ParkingLot()
        await self._waiting.park()
