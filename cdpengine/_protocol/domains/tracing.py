"""Tracing, and IO: the streams for traces and other data that is too large for one reply."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, reply


@event("Tracing.bufferUsage")
class BufferUsage(msgspec.Struct, rename="camel"):
    """The fill level of Chrome's buffer, 0 to 1."""

    percent_full: float = 0.0


@event("Tracing.tracingComplete")
class TracingComplete(msgspec.Struct, rename="camel"):
    """The trace is ready to read."""

    data_loss_occurred: bool = False
    stream: str = ""


@reply("IO.read")
class StreamPiece(msgspec.Struct, rename="camel"):
    """A piece of a stream, as text or as base64. `eof`: it is the last piece."""

    data: str = ""
    eof: bool = False
    base64_encoded: bool = msgspec.field(default=False, name="base64Encoded")
