"""Reading of step traces: the header, the lines and the entries of a file. Blocks.

Rule: a file whose program was killed has no directory. It is read entry by entry, up to the last complete one.
Lines of unknown kinds are passed on, so that newer versions can add them.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import msgspec

from cdpengine import _json
from cdpengine.debug.steps.step_file import Stream
from cdpengine.errors import FileUnreadableError, os_reason

_HEAD = struct.Struct("<4s5H3L2H")
_DEFLATED = 8


@attrs.frozen
class StepTrace:
    """A step trace in memory: its compressed entries by name. `complete` is whether it was ended normally."""

    path: Path
    header: dict[str, Any]
    complete: bool
    _entries: dict[str, tuple[int, bytes]] = attrs.field(repr=False)

    @property
    def names(self) -> list[str]:
        """The names of the entries, in the order of writing."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """Return the content of an entry. Raises KeyError."""
        method, data = self._entries[name]
        return zlib.decompress(data, -15) if method == _DEFLATED else data

    def lines(self, stream: Stream) -> Iterator[dict[str, Any]]:
        """Yield the lines of a stream in the order of writing."""
        for name in self._entries:
            if name.startswith(f"{stream}/"):
                for line in self.read(name).splitlines():
                    try:
                        yield _json.decode(line, dict[str, Any])
                    except msgspec.DecodeError:
                        continue


def open_step_trace(path: Path) -> StepTrace:
    """Read a file. Raises FileUnreadableError."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileUnreadableError("the step trace", str(path), os_reason(error)) from None
    entries = _entries_of(data)
    try:
        method, raw = entries["trace.json"]
        header = _json.decode(zlib.decompress(raw, -15) if method == _DEFLATED else raw, dict[str, Any])
    except (KeyError, zlib.error, msgspec.DecodeError):
        header = {}
    if header.get("cdpengine") != "step trace":
        raise FileUnreadableError("the step trace", str(path), "it is not a step trace")
    return StepTrace(path, header, "end.json" in entries, entries)


def _entries_of(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Return the method and the data of each complete entry."""
    found: dict[str, tuple[int, bytes]] = {}
    place = 0
    while place + _HEAD.size <= len(data):
        head = _HEAD.unpack_from(data, place)
        if head[0] != b"PK\3\4":
            break
        flags, method, crc, packed, name_size, extra = head[2], head[3], head[6], head[7], head[9], head[10]
        begin = place + _HEAD.size + name_size + extra
        if begin + packed > len(data) or flags & 8:
            break
        name = data[place + _HEAD.size : place + _HEAD.size + name_size].decode("utf-8", "replace")
        raw = data[begin : begin + packed]
        if _is_intact(method, raw, crc):
            found[name] = method, raw
        place = begin + packed
    return found or _repacked(data)


def _is_intact(method: int, raw: bytes, crc: int) -> bool:
    try:
        content = zlib.decompress(raw, -15) if method == _DEFLATED else raw
    except zlib.error:
        return False
    return zlib.crc32(content) == crc


def _repacked(data: bytes) -> dict[str, tuple[int, bytes]]:
    """Return the entries of a file that another program has packed again."""
    from io import BytesIO

    try:
        with zipfile.ZipFile(BytesIO(data)) as packed:
            return {name: (0, packed.read(name)) for name in packed.namelist()}
    except (zipfile.BadZipFile, OSError, NotImplementedError, zlib.error):
        return {}
