"""Bodies for archives: exchanges with the bodies of their responses, as far as they can be had.

Rule: bounded in size, in number at a time and in time; what is missing says why.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

import attrs
import trio

from cdpengine._activity.bodies import Body, charset_of
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.request import Request
from cdpengine._nursery import open_body_nursery
from cdpengine.errors import BodyUnavailableError

LARGEST_BODY = 2**20
"""Bytes of a body that are put into an archive, if nobody says otherwise."""

_AT_A_TIME = 8

_TEXTUAL = ("text/", "application/json", "application/javascript", "application/xml", "image/svg+xml")


async def filled(requests: Sequence[Request], largest: int, patience: float) -> list[Exchange]:
    """Return the exchanges of the requests, copies with their bodies. Takes at most `patience` seconds.

    Raises ConnectionLostError.
    """
    exchanges = [attrs.evolve(request.exchange) for request in requests]
    jobs = list(zip(requests, exchanges, strict=True))
    for request, exchange in jobs:
        exchange.body_comment = _why_not(request, largest) or "the page did not answer in time"
    waiting = [job for job in jobs if not _why_not(job[0], largest)]

    working = _AT_A_TIME
    done = trio.Event()

    async def work() -> None:
        nonlocal working
        while waiting:
            request, exchange = waiting.pop(0)
            try:
                _put(exchange, await request.body())
            except BodyUnavailableError as error:
                exchange.body_comment = f"the body is missing: {error.reason}"
        working -= 1
        if not working:
            done.set()

    with trio.move_on_after(patience):
        async with open_body_nursery() as nursery:
            for _ in range(_AT_A_TIME):
                nursery.start_soon(work, name="bodies for an archive")
            await done.wait()
    return exchanges


def _why_not(request: Request, largest: int) -> str:
    if request.response is None:
        return "there was no response"
    if request.redirected_to is not None:
        return "a redirect"
    if not request.ended:
        return "the body is missing: it had not come to its end"
    if request.failure:
        return f"the body is missing: {request.failure}"
    if request.type == "WebSocket":
        return "a websocket has no body"
    if request.body_size > largest:
        return f"the body is missing: it has {request.body_size} bytes, and at most {largest} were wanted"
    return ""


def _put(exchange: Exchange, body: Body) -> None:
    exchange.body_comment = ""
    if body.text is not None:
        exchange.body = body.text
        return
    kind = exchange.response.mime_type if exchange.response is not None else ""
    if kind.startswith(_TEXTUAL):
        headers = exchange.response_headers or (exchange.response.headers if exchange.response else {})
        try:
            exchange.body = body.data.decode(charset_of(headers) or "utf-8")
        except (UnicodeDecodeError, LookupError):
            pass
        else:
            return
    exchange.body, exchange.body_encoding = base64.b64encode(body.data).decode("ascii"), "base64"
