"""Streams of Chrome: what it holds ready under a handle, read piece by piece.

Rule: one piece is in memory at a time, and the handle is given back whatever happens.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress

from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.tracing import StreamPiece
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, SessionGoneError

PIECE = 1 << 20
"""Bytes that are asked for at a time."""


@asynccontextmanager
async def chrome_stream(session: Session, handle: str) -> AsyncIterator[AsyncIterator[bytes]]:
    """Give the pieces of a stream, in order. Raises as `Session.request`."""
    pieces = _pieces(session, handle)
    try:
        yield pieces
    finally:
        await pieces.aclose()
        close_stream(session, handle)


def close_stream(session: Session, handle: str) -> None:
    """Give a handle back. Sent, not waited for."""
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("IO.close", handle=handle)


async def _pieces(session: Session, handle: str) -> AsyncGenerator[bytes, None]:
    while True:
        piece = await session.request("IO.read", {"handle": handle, "size": PIECE}, StreamPiece)
        if piece.data:
            yield decode_bytes("IO.read", piece.data) if piece.base64_encoded else piece.data.encode()
        if piece.eof:
            return
