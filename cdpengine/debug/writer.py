"""Writer: the process of a recorder that redacts, compresses and writes what the recorder hands it.

Rule: messages come in batches through its standard input, lines leave through its standard output, which is the
recording's file. It works beside the program that is recorded, not in it: there it would take Python's interpreter
lock from it. It ends with its input, however that ends, and writes all that it was given; a signal that ends the
program must not keep it from that, so it passes signals over.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import msgspec

from cdpengine.debug.lines import LineMaker
from cdpengine.debug.recording import Header
from cdpengine.debug.redact import Redactor

PROGRAM = "import sys; sys.path[:] = sys.argv[1:]; from cdpengine.debug.writer import main; main()"
"""What the process is started with; its arguments are where modules are looked for."""

_LEVEL = 3
_FLUSH_SECONDS = 0.2
_SIZE = 8
_NICENESS = 10
"""The work may wait a little when somebody else needs the processor; what is recorded must not."""


class Beginning(msgspec.Struct, array_like=True):
    """The first thing that is handed over: what the recording is, and the sessions that are known already."""

    header: Header
    known: list[tuple[str, str, str, str, str]]
    compressed: bool
    patterns: list[tuple[str, int]]
    secrets: list[str]


class Message(msgspec.Struct, array_like=True, tag="m", gc=False):
    """One message on the wire, bytes or text. The action that it was sent for is `span` (0: none), by its name."""

    time: float
    sent: bool
    connection: str
    message: Any  # not `bytes | str`: msgspec decodes no type that is one or the other
    span: int = 0
    name: str = ""


class SpanEnd(msgspec.Struct, array_like=True, tag="s", gc=False):
    """The end of an action."""

    time: float
    span: int
    began: float


class Lost(msgspec.Struct, array_like=True, tag="l", gc=False):
    """Messages that came faster than they could be handed over."""

    time: float
    count: int


class End(msgspec.Struct, array_like=True, tag="e", gc=False):
    """The end of the recording."""

    time: float


Item = Message | SpanEnd | Lost | End


class Batch(msgspec.Struct, array_like=True):
    """Some of what happened, in order. `last` says that nothing else waits, so that it is worth a flush."""

    items: list[Item]
    last: bool


_encode = msgspec.msgpack.Encoder().encode


def framed(value: Beginning | Batch) -> tuple[bytes, bytes]:
    """Return what goes into the pipe for a batch: the number of its bytes, and they themselves."""
    try:
        data = _encode(value)
    except UnicodeEncodeError:  # half of a surrogate pair: as bytes it can travel
        if isinstance(value, Batch):
            for item in value.items:
                if isinstance(item, Message) and isinstance(item.message, str):
                    item.message = item.message.encode("utf-8", "surrogatepass")
        data = _encode(value)
    return len(data).to_bytes(_SIZE, "little"), data


def write_recording(source: IO[bytes], file: IO[bytes]) -> None:
    """Write the recording that comes from `source`, to its end."""
    beginning = msgspec.msgpack.decode(next(_frames(source)), type=Beginning)
    header = beginning.header
    redactor = None
    if header.redacted:
        patterns = [re.compile(text, flags) for text, flags in beginning.patterns]
        redactor = Redactor(patterns=patterns, secrets=beginning.secrets)
    maker = LineMaker(began=header.monotonic, limit=header.limit, redactor=redactor)
    stream = _Compressed(file) if beginning.compressed else _Stream(file)
    first = [_encode_header(header)]
    first += [maker.target(header.monotonic, *each) for each in beginning.known]
    stream.write(b"".join(first))
    stream.flush()
    flushed = time.monotonic()
    decode = msgspec.msgpack.Decoder(Batch).decode
    for frame in _frames(source):
        batch = decode(frame)
        stream.write(b"".join(_lines(maker, batch.items)))
        if batch.last or time.monotonic() - flushed > _FLUSH_SECONDS:
            stream.flush()
            flushed = time.monotonic()
    stream.close()


def _lines(maker: LineMaker, items: Sequence[Item]) -> list[bytes]:
    messages = [(item.connection, _raw(item.message)) for item in items if type(item) is Message]
    sifted = zip(messages, maker.sift(messages), strict=True)
    lines: list[bytes] = []
    for item in items:
        match item:
            case Message():
                (connection, raw), seen = next(sifted)
                maker.add(lines, raw, item.time, item.sent, connection, item.span, item.name, seen)
            case SpanEnd():
                lines.append(maker.span_ended(item.time, item.span, item.began))
            case Lost():
                lines.append(maker.lost(item.time, item.count))
            case End():
                lines.append(maker.end(item.time))
    return lines


def _raw(message: bytes | str) -> bytes:
    return message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message


def _frames(source: IO[bytes]) -> Iterator[bytes]:
    """Give what was framed. A frame that breaks off is left out: who wrote it has died meanwhile."""
    while len(size := source.read(_SIZE)) == _SIZE:
        frame = source.read(expected := int.from_bytes(size, "little"))
        if len(frame) < expected:
            return
        yield frame


class _Stream:
    """Where lines go: the file, or the file through zstandard. `flush` makes what was written readable."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.flush()


class _Compressed(_Stream):
    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        super().__init__(file)
        self._flush_block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()

    def write(self, data: bytes) -> None:
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        self._file.write(self._compressor.flush(self._flush_block))
        self._file.flush()

    def close(self) -> None:
        self._file.write(self._compressor.flush())
        self._file.flush()


def _encode_header(header: Header) -> bytes:
    # Its first fields are what tells a recording from other files, so they are written although they are defaults.
    fields = {"cdpengine": header.cdpengine, "version": header.version, **msgspec.to_builtins(header)}
    return msgspec.json.encode(fields) + b"\n"


def main() -> None:
    """Be the process. What goes wrong is told in one line on standard error, without a message's content."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    try:
        with open(1, "wb", buffering=1 << 17, closefd=False) as file:
            write_recording(sys.stdin.buffer, file)
    except OSError as error:
        _fail(error.strerror or type(error).__name__)
    except Exception as error:  # noqa: BLE001 - told in the program that is recorded
        at = traceback.extract_tb(error.__traceback__)[-1]
        _fail(f"{type(error).__name__} in {Path(at.filename).name}, line {at.lineno}")


def _fail(reason: str) -> None:
    sys.stderr.write(reason)
    sys.stderr.flush()
    os._exit(1)  # what is left in the buffers cannot be written either
