"""From a line of a recording to one line of text for people. Pure: pieces with the names of their styles.

Rule: what a page wrote is data, and goes through `escape_line`. One line of a recording stays one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import attrs
import msgspec

from cdpengine.debug.chosen import BROWSER
from cdpengine.debug.recording import Line, Message
from cdpengine.errors.foreign import escape_line

SHORT_ID = 8
"""Characters of a session's id that are shown."""

_ARROWS = {">": "->", "<": "<-"}
_KIND_STYLES = {"call": "call", "reply": "reply", "error": "error", "event": "event", "stray": "error"}
_REFUSED = 400  # from this status on an answer over HTTP is a refusal
_SLOW, _VERY_SLOW = 100.0, 1000.0


@attrs.frozen
class Piece:
    """A piece of a line: its text, and the name of its style ("" for none)."""

    text: str
    style: str = ""


def plain(pieces: Iterable[Piece]) -> str:
    """Return the pieces as one text."""
    return "".join(piece.text for piece in pieces)


def show_line(line: Line, *, payload_limit: int | None = None) -> list[Piece]:
    """Return a line as pieces: time, direction, session, id, method, duration, payload.

    Of the payload at most `payload_limit` bytes are looked at; None for all of them.
    """
    pieces = [Piece(f"{line.t:10.3f} ", "time")]
    if line.k in _KIND_STYLES:
        pieces += _message(line, payload_limit)
    else:
        pieces += _note(line, payload_limit)
    return pieces


def _message(line: Line, limit: int | None) -> list[Piece]:
    style = _KIND_STYLES[line.k]
    number = "" if line.id is None else f"#{line.id}"
    session = escape_line(line.s[:SHORT_ID]) if line.s else BROWSER
    pieces = [
        Piece(f"{_ARROWS.get(line.d, '  ')} ", style),
        Piece(f"{session:<{SHORT_ID}} ", "session"),
        Piece(f"{number:>6} ", "id"),
        Piece(escape_line(line.m) or ("(no message)" if line.k == "stray" else "(unknown call)"), style),
    ]
    pieces += _duration(line)
    if line.span:
        pieces.append(Piece(f" [{line.span}]", "span"))
    payload = _payload(line, limit)
    if payload:
        pieces.append(Piece(f" {payload}", "error" if line.k == "error" else "payload"))
    return pieces


def _duration(line: Line) -> list[Piece]:
    if line.ms is None:
        return []
    slow = "slow" if line.ms >= _SLOW else "duration"
    return [Piece(f" {line.ms:.1f} ms", "very-slow" if line.ms >= _VERY_SLOW else slow)]


def _note(line: Line, limit: int | None) -> list[Piece]:
    match line.k:
        case "target":
            of = f"{line.type or 'target'} {line.T[:SHORT_ID]} {line.url}"
            text = f"{line.s[:SHORT_ID]} is a session of the {of}"
            return [Piece("== ", "note"), Piece(escape_line(text.rstrip()), "note")]
        case "span":
            return [Piece("== ", "span"), Piece(escape_line(f"{line.name} [{line.span}]"), "span")]
        case "span-end":
            text = f"end of {line.name}".strip()
            failed = [Piece(f" {escape_line(line.failed)}", "error")] if line.failed else []
            return [
                Piece("== ", "span"),
                Piece(escape_line(f"{text} [{line.span}]"), "span"),
                *_duration(line),
                *failed,
            ]
        case "http":
            refused = line.status >= _REFUSED
            body = bytes(memoryview(line.msg)[:limit]).decode("utf-8", "replace")
            return [
                Piece("<> ", "error" if refused else "reply"),
                Piece(escape_line(f"{line.m} {line.url}"), "call"),
                Piece(f" {line.status}", "error" if refused else "reply"),
                *_duration(line),
                Piece(escape_line(f" {body}"), "payload"),
            ]
        case "entered":
            return [
                Piece("== ", "note"),
                Piece(f"fingerprints of what was entered up to line {line.of}", "note"),
            ]
        case "lost":
            return [Piece("!! ", "error"), Piece(f"{line.count} messages lost: they came too fast", "error")]
        case _:
            return [Piece("== ", "note"), Piece("end of the recording", "note")]


_PAYLOAD = re.compile(rb'"(?:params|result|error)"\s*:\s*')
_decode = msgspec.json.Decoder(Message).decode


def _payload(line: Line, limit: int | None) -> str:
    """Return params, result or error as they stand in the message; all of the message where there is none."""
    view = memoryview(line.msg)
    if limit is not None and len(view) > limit + 256:
        # Not decoded: it may be large. What comes before the payload is short, and holds no such key.
        raw = bytes(view[: limit + 256])
        found = _PAYLOAD.search(raw)
        return escape_line(raw[found.end() if found else 0 :].decode("utf-8", "ignore"))
    raw = bytes(view)
    if line.k != "stray":
        try:
            message = _decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass  # it is shown as it is
        else:
            raw = bytes(message.params) or bytes(message.result) or bytes(message.error)
    return "" if raw == b"{}" else escape_line(raw.decode("utf-8", "replace"))
