"""A recording as one page of HTML: a timeline, and a table that one can filter. Pure.

Rule: the page asks for nothing from anywhere (its content security policy forbids it), and whatever a recording
holds is text there, never markup. The rows are compressed within the page, so that 100,000 of them open at once.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from collections.abc import Iterable, Iterator
from importlib.resources import files

import attrs
import msgspec

from cdpengine.debug.reading.shown_lines import BROWSER, SHORT_ID, SessionTargets
from cdpengine.debug.recording_format import Header, Line, Message

MOST_LINES = 200_000
"""Lines that a page holds when nothing else is said: what a browser still shows without delay."""

LONGEST = 2_000
"""Bytes of each payload that the page holds."""

_MOST_ACTIONS = 10_000
_BLOCK = 3 << 16
"""Bytes that are encoded at once; a multiple of three, so that the pieces of base64 join."""

_MARKER = re.compile(r"\{\{([a-z-]+)\}\}")
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Message).decode


def page_document(
    header: Header, name: str, lines: Iterable[Line], limit: int = MOST_LINES
) -> Iterator[bytes]:
    """Give the page of a recording, piece by piece. `name` is its title; lines beyond `limit` are counted only."""
    style, script = _asset("recording.css"), _asset("recording.js")
    rows = _Rows(limit)
    texts = {"title": html.escape(name), "style": style, "script": script}
    texts |= {"style-hash": _hash(style), "script-hash": _hash(script)}
    parts = _MARKER.split(_asset("recording.html"))
    for number, part in enumerate(parts):
        if number % 2 == 0:
            yield part.encode()
        elif part == "data":
            yield from _in_base64(_compress(rows.give(lines)))
        elif part == "facts":
            yield _escape_for_script({"about": rows.about(header), "actions": rows.actions})
        else:
            yield texts[part].encode()


@attrs.define
class _Session:
    short: str
    label: str = ""
    count: int = 0


class _Rows:
    """From lines to the rows of the page; what rows refer to by number is given as the last one."""

    def __init__(self, limit: int) -> None:
        self.actions: dict[int, str] = {}
        self._limit = limit
        self._methods: dict[str, int] = {"": 0}
        self._sessions: list[_Session] = []
        self._numbers: dict[tuple[str, str], int] = {}
        self._connections: list[str] = []
        self._session_targets = SessionTargets()
        self._lines = 0
        self._last = 0.0

    def give(self, lines: Iterable[Line]) -> Iterator[bytes]:
        for line in lines:
            self._lines += 1
            self._session_targets.learn(line)
            self._last = max(self._last, line.t)
            if self._lines > self._limit:
                continue
            if line.k == "span" and len(self.actions) < _MOST_ACTIONS:
                self.actions[line.span] = line.name
            yield _encode(self._row(line)) + b"\n"
        for key, number in self._numbers.items():
            session = self._sessions[number]
            session.label = f"{session.short} {self._session_targets.of(*key)}"[:120].rstrip()
        sessions = [attrs.asdict(session) for session in self._sessions]
        yield _encode({"methods": list(self._methods), "sessions": sessions})

    def about(self, header: Header) -> str:
        """Return one line about the recording."""
        parts = [header.product, header.started[:19].replace("T", " ") + " UTC" if header.started else ""]
        parts += [f"{self._lines:,} lines in {self._last:.1f} s"]
        if self._lines > self._limit:
            parts.append(f"the first {self._limit:,} are here")
        parts.append("secrets redacted" if header.redacted else "secrets NOT redacted")
        return " · ".join(part for part in parts if part)

    def _row(self, line: Line) -> list[object]:
        payload, length = _payload(line)
        method = self._methods.setdefault(line.m, len(self._methods))
        return [
            round(line.t, 6), line.d, line.k, self._session(line), method, line.id, line.ms, line.z, line.span,
            payload, length,
        ]  # fmt: skip

    def _session(self, line: Line) -> int:
        if line.k in ("span", "span-end", "http", "entered", "lost", "end"):
            return -1
        key = (line.c, line.s)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._sessions)
            if line.c not in self._connections:
                self._connections.append(line.c)
            place = self._connections.index(line.c) + 1
            short = line.s[:SHORT_ID] or BROWSER
            self._sessions.append(_Session(short if place == 1 else f"{short} ({place})"))
        self._sessions[number].count += 1
        return number


def _payload(line: Line) -> tuple[str, int]:
    """Return what the page shows of a line's message, and its whole size where that is more."""
    match line.k:
        case "target":
            return f"{line.type} {line.T} {line.url}", 0
        case "span" | "span-end":
            return f"{line.name} {line.failed}".rstrip(), 0
        case "http":
            head = f"{line.url} {line.status} "
            raw = memoryview(head.encode() + bytes(line.msg))
        case "entered":
            return f"fingerprints of what was entered up to line {line.of}", 0
        case "lost":
            return f"{line.count} messages lost", 0
        case "stray":
            raw = memoryview(line.msg)
        case _:
            try:
                message = _decode(line.msg)
            except (msgspec.DecodeError, UnicodeDecodeError):
                raw = memoryview(line.msg)
            else:
                raw = memoryview(message.params or message.result or message.error or b"")
    text = bytes(raw[:LONGEST]).decode("utf-8", "ignore")
    return text, len(raw) if len(raw) > LONGEST else 0


def _compress(pieces: Iterable[bytes]) -> Iterator[bytes]:
    compressor = zlib.compressobj(6)
    for piece in pieces:
        yield compressor.compress(piece)
    yield compressor.flush()


def _in_base64(pieces: Iterable[bytes]) -> Iterator[bytes]:
    waiting = bytearray()
    for piece in pieces:
        waiting += piece
        while len(waiting) >= _BLOCK:
            yield base64.b64encode(waiting[:_BLOCK])
            del waiting[:_BLOCK]
    yield base64.b64encode(waiting)


def _escape_for_script(document: object) -> bytes:
    # "</script>" and "<!--" would end the element, or change how it is read.
    return _encode(document).replace(b"<", b"\\u003c")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("cdpengine.debug.reading").joinpath(name).read_text(encoding="utf-8")
