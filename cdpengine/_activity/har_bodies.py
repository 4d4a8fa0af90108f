"""Fetching of the bodies for an HTTP Archive.

Rule: the fetching is bounded in size, number and time. The comment of a missing body contains the reason.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import attrs
import trio

from cdpengine._activity.bodies import Body, charset_of
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.request_state import RequestState
from cdpengine._nursery import open_body_nursery
from cdpengine.errors import BodyUnavailableError

LARGEST_BODY = 2**20
"""Default maximum size of a body in an archive, in bytes."""

_AT_A_TIME = 8

_TEXTUAL = ("text/", "application/json", "application/javascript", "application/xml", "image/svg+xml")


async def fill_bodies(states: Sequence[RequestState], largest: int, at_most: float) -> list[Exchange]:
    """Return copies of the requests' exchanges with their bodies. Takes at most `at_most` seconds.

    Raises ConnectionLostError.
    """
    exchanges = [attrs.evolve(state.exchange) for state in states]
    for exchange in exchanges:
        exchange.body_comment = _why_not(exchange, largest) or "the page did not answer in time"
    jobs = zip(states, exchanges, strict=True)
    waiting = [job for job in jobs if not _why_not(job[1], largest)]

    working = _AT_A_TIME
    done = trio.Event()

    async def work() -> None:
        nonlocal working
        while waiting:
            state, exchange = waiting.pop(0)
            try:
                _put(exchange, await state.read_body())
            except BodyUnavailableError as error:
                exchange.body_comment = f"the body is missing: {error.reason}"
        working -= 1
        if not working:
            done.set()

    with trio.move_on_after(at_most):
        async with open_body_nursery() as nursery:
            for _ in range(_AT_A_TIME):
                nursery.start_soon(work, name="bodies for an archive")
            await done.wait()
    return exchanges


def _why_not(exchange: Exchange, largest: int) -> str:
    if exchange.response is None:
        return "there was no response"
    if exchange.after is not None:
        return "a redirect"
    if not exchange.ended:
        return "the body is missing: it had not come to its end"
    if exchange.failure:
        return f"the body is missing: {exchange.failure}"
    if exchange.sent.type == "WebSocket":
        return "a websocket has no body"
    if exchange.decoded > largest:
        return f"the body is missing: it has {exchange.decoded} bytes, and at most {largest} were wanted"
    return ""


def _put(exchange: Exchange, body: Body) -> None:
    exchange.body_comment = ""
    if body.text is not None:
        exchange.body = body.text
        return
    kind = exchange.response.mime_type if exchange.response is not None else ""
    if kind.startswith(_TEXTUAL):
        try:
            exchange.body = body.data.decode(charset_of(exchange.received_headers) or "utf-8")
        except (UnicodeDecodeError, LookupError):
            pass
        else:
            return
    exchange.body, exchange.body_encoding = base64.b64encode(body.data).decode("ascii"), "base64"
