"""StepFile: a ZIP file that a thread appends to while the program runs.

Rule: each entry is complete once it is written, and the directory of the ZIP file comes at the end. So a file
whose program was killed lacks its last half second and its directory, and `reading.py` finds its entries.
Lines are gathered into entries of one stream: "steps/000001.jsonl". All redaction happens in the thread, in the
order of the calls. The memory and the size of the file are bounded: beyond `limit`, only steps are written.
"""

from __future__ import annotations

import datetime as dt
import os
import struct
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import attrs
import msgspec

from cdpengine import _json
from cdpengine._logs import get_logger
from cdpengine._protocol.instruments import Traffic
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.recording_file import FileWriter
from cdpengine.debug.recording.redact import Redactor

_log = get_logger("cdpengine.debug")

Stream = Literal["steps", "documents", "protocol"]
"""A sequence of lines: the steps and everything around them, the versions of documents, and the messages."""

_TOGETHER = 1 << 17
"""Size of gathered lines that makes an entry, in bytes."""

_LATEST = 10
"""Number of writes after which gathered lines make an entry. The thread writes about 20 times a second."""

_MOST_WAITING = 64_000_000
"""Maximum size of the queue, in bytes. Items that do not fit are lost and counted."""

_MOST_ENTRIES = 60_000
"""Maximum number of entries, below the 65,535 of a ZIP file."""

_LEVEL = 1
_LOCAL = struct.Struct("<4s5H3L2H")
_CENTRAL = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_UTF8 = 0x800
_DEFLATED = 8
_STORED = 0
_VERSION = 20


@attrs.frozen
class _Entry:
    name: bytes
    method: int
    crc: int
    compressed: int
    size: int
    offset: int


@attrs.frozen
class _Line:
    stream: Stream
    raw: bytes


@attrs.frozen
class _Blob:
    name: str
    data: bytes
    compress: bool


Job = Callable[[], dict[str, Any] | None]
"""A function that makes a line of the steps in the thread, with the redactor of the file."""

_Item = _Line | _Blob | Traffic | str | Job


class StepFile:
    """The file of one step trace. `descriptor` is open for writing; `began` is trio's clock at the start.

    `redactor` is None for a trace with secrets. Only the thread of the file may use it after `start`.
    """

    def __init__(
        self, path: Path, descriptor: int, *, limit: int, began: float, redactor: Redactor | None
    ) -> None:
        self.path = path
        self.lost = 0
        self.redactor = redactor
        self._limit = limit
        self._maker = LineMaker(began=began, limit=_LONGEST_MESSAGE, redactor=redactor)
        self._queue: deque[_Item] = deque()
        self._waiting = 0  # changed by the engine's thread only, as is `lost`
        self._taken = 0  # changed by the writer thread only, as is everything below
        self._pending: dict[Stream, list[bytes]] = {"steps": [], "documents": [], "protocol": []}
        self._age = 0
        self._numbers = dict.fromkeys(self._pending, 0)
        self._entries: list[_Entry] = []
        self._size = 0
        self._omitted = 0
        self._ending = False
        self._ended = False
        self._failure: str | None = None
        self._writer = FileWriter(descriptor, path.name, compressed=False, gather=self._gather)

    @property
    def failure(self) -> str | None:
        """Reason why writing failed, or None."""
        return self._failure or self._writer.failure

    @property
    def size(self) -> int:
        """Size of the file so far, in bytes."""
        return self._writer.written

    def start(self, header: dict[str, Any]) -> None:
        """Write the header and start the thread."""
        self._writer.give(self._entry("trace.json", _json.encode(header), compress=False))
        self._writer.start()

    def add(self, line: dict[str, Any]) -> None:
        """Append a line about a step."""
        self._put(_Line("steps", _json.encode(line)))

    def add_raw(self, stream: Stream, raw: bytes) -> None:
        """Append a line that is JSON already."""
        self._put(_Line(stream, raw), len(raw))

    def add_blob(self, name: str, data: bytes, *, compress: bool = False) -> None:
        """Append an entry."""
        self._put(_Blob(name, data, compress), len(data))

    def add_job(self, job: Job, size: int = 0) -> None:
        """Append a line about a step that the thread makes. `size` is an estimate in bytes."""
        self._put(job, size)

    def add_message(self, traffic: Traffic) -> None:
        """Append a message of the protocol."""
        self._put(traffic, len(traffic.message))

    def add_secret(self, text: str) -> None:
        """Keep a string out of all later lines."""
        self._put(text)

    def finish(self) -> None:
        """Write everything and the directory, and close the file. Blocks, so call it in a thread."""
        self._ending = True
        self._writer.finish()

    def _put(self, item: _Item, size: int = 200) -> None:
        if self.failure is not None:
            return
        if self._waiting - self._taken + self._writer.waiting > _MOST_WAITING and not isinstance(item, str):
            self.lost += 1
            return
        self._waiting += size
        self._queue.append(item)

    # --- the thread ----------------------------------------------------------------------------------------------

    def _gather(self) -> None:
        if self._ended:
            return
        ending = self._ending  # read before the queue is emptied
        try:
            self._take([self._queue.popleft() for _ in range(len(self._queue))])
        except Exception as error:
            self._failure = f"{type(error).__name__} in the step trace"
            _log.debug("a step trace failed", exc_info=error)
            raise
        self._age += 1
        for stream, lines in self._pending.items():
            full = sum(map(len, lines)) > _TOGETHER
            if lines and (full or ending or self._age >= _LATEST):
                self._flush(stream)
        if self._age >= _LATEST:
            self._age = 0
        if ending:
            self._ended = True
            end = {"k": "end of the trace", "lost": self.lost, "omitted": self._omitted}
            self._writer.give(self._entry("end.json", _json.encode(end), compress=False))
            self._writer.give(self._directory())

    def _take(self, items: Sequence[_Item]) -> None:
        messages: list[Traffic] = []
        for item in items:
            if isinstance(item, Traffic):
                self._taken += len(item.message)
                messages.append(item)
                continue
            self._write_messages(messages)
            if isinstance(item, _Line):
                self._taken += 200 if item.stream == "steps" else len(item.raw)
                self._line(item.stream, item.raw)
            elif isinstance(item, _Blob):
                self._taken += len(item.data)
                if self._has_room(item.name):
                    self._writer.give(self._entry(item.name, item.data, compress=item.compress))
            elif isinstance(item, str):
                self._taken += 200
                if self.redactor is not None:
                    self.redactor.add_secret(item)
            elif (made := item()) is not None:
                self._line("steps", _json.encode(made))
        self._write_messages(messages)

    def _write_messages(self, messages: list[Traffic]) -> None:
        if messages and self._has_room("protocol"):
            self._pending["protocol"] += self._maker.pieces(*messages)
        messages.clear()

    def _line(self, stream: Stream, raw: bytes) -> None:
        if stream == "steps" or self._has_room(stream):
            self._pending[stream] += (self._clean(raw), b"\n")

    def _has_room(self, name: str) -> bool:
        room = self._size < self._limit and len(self._entries) < _MOST_ENTRIES
        if not room:
            self._omitted += 1
            _log.debug("the step trace is full: %s was left out", name)
        return room

    def _clean(self, raw: bytes) -> bytes:
        """Return a JSON object without its secrets."""
        if self.redactor is None or self.redactor.sift([raw])[0]:
            return raw
        try:
            return _json.encode(self.redactor.clean(_json.decode(raw)))
        except (RecursionError, msgspec.DecodeError):
            return b'{"k":"lost","why":"nested too deeply to redact"}'

    def _flush(self, stream: Stream) -> None:
        lines = self._pending[stream]
        self._numbers[stream] += 1
        name = f"{stream}/{self._numbers[stream]:06}.jsonl"
        self._writer.give(self._entry(name, b"".join(lines), compress=True))
        lines.clear()

    # --- the format of ZIP files ---------------------------------------------------------------------------------

    def _entry(self, name: str, data: bytes, *, compress: bool) -> list[bytes]:
        crc, method, packed = zlib.crc32(data), _STORED, data
        if compress:
            compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, -15)
            method, packed = _DEFLATED, compressor.compress(data) + compressor.flush()
        entry = _Entry(name.encode(), method, crc, len(packed), len(data), self._size)
        self._entries.append(entry)
        time, date = _dos_time()
        head = _LOCAL.pack(
            b"PK\3\4", _VERSION, _UTF8, method, time, date, crc, len(packed), len(data), len(entry.name), 0
        )
        self._size += len(head) + len(entry.name) + len(packed)
        return [head + entry.name, packed]

    def _directory(self) -> list[bytes]:
        time, date = _dos_time()
        records = [
            _CENTRAL.pack(
                b"PK\1\2", _VERSION, _VERSION, _UTF8, each.method, time, date, each.crc, each.compressed,
                each.size, len(each.name), 0, 0, 0, 0, 0, each.offset,
            ) + each.name
            for each in self._entries
        ]  # fmt: skip
        whole = b"".join(records)
        count = len(records)
        return [whole, _END.pack(b"PK\5\6", 0, 0, count, count, len(whole), self._size, 0)]


_LONGEST_MESSAGE = 16_384
"""Size of a message above which its payload is cut, in bytes. A recording keeps more."""


def _dos_time() -> tuple[int, int]:
    now = dt.datetime.now(dt.UTC)
    return now.hour << 11 | now.minute << 5 | now.second // 2, (
        now.year - 1980
    ) << 9 | now.month << 5 | now.day


def header_of(*, product: str, redacted: bool, film: bool, limit: int) -> dict[str, Any]:
    """Return the first entry of a step trace."""
    return {
        "cdpengine": "step trace",
        "version": 1,
        "started": dt.datetime.now(dt.UTC).isoformat(),
        "product": product,
        "redacted": redacted,
        "film": film,
        "limit": limit,
        "pid": os.getpid(),
    }
