"""Display of a recording: selection of lines, output as text, and an HTML page.

Rule: several values of one filter are alternatives; all filters must match. A line that lacks the filtered field
does not match. Page content passes through `escape_line`, so that a line stays one line. Sessions are labelled by
the latest reported URL of their target, because the first URL is often "about:blank".

The HTML page has a timeline and a filterable table. Its content security policy forbids all loads, and recorded
content is inserted as plain text, never as markup. The rows are compressed within the page, so that a page with
100,000 rows opens quickly.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
import zlib
from collections.abc import Iterable, Iterator
from fnmatch import translate
from importlib.resources import files

import attrs
import msgspec

from cdpengine import _json
from cdpengine.debug.recording_format import Header, Line, Message
from cdpengine.errors.texts import escape_line

_ERRORS = frozenset({"error", "stray", "lost"})
_REFUSED = 400  # HTTP status from which a response is a refusal
_NOTES = frozenset({"target", "span", "span-end", "entered", "lost", "end"})
BROWSER = "browser"
"""Label of the browser's session, which has no id."""


@attrs.frozen(kw_only=True)
class Choice:
    """Filters for lines.

    `methods` are case-insensitive globs ("Network.*"). `sessions` and `targets` are prefixes of ids ("browser" for
    the browser's session). `ids` are command ids. `texts` are case-insensitive substrings of the message. `slow`
    is the minimum duration of a reply or action, in milliseconds. `errors` selects refusals (also over HTTP),
    unroutable messages (strays), losses and failed actions. `spans` are globs of action names, or action numbers;
    lines must belong to such an action.
    """

    methods: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    slow: float | None = None
    errors: bool = False
    spans: tuple[str, ...] = ()


class Chooser:
    """A filter for the lines of one recording, in order. An action's name precedes its lines."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._methods = _globs(choice.methods)
        self._span_names = _globs(choice.spans)
        self._spans = {int(span) for span in choice.spans if span.isascii() and span.isdigit()}
        self._sessions = tuple(session.upper() for session in choice.sessions if session != BROWSER)
        self._root = BROWSER in choice.sessions
        self._targets = tuple(target.upper() for target in choice.targets)
        self._texts = [_forms(text) for text in choice.texts]
        # Notes have no method, duration or message, so they are shown only without such filters. The note at an
        # action's end has its duration.
        self._notes = not (choice.methods or choice.ids or choice.texts)

    def wants(self, line: Line) -> bool:
        """Return whether the line passes the filters."""
        kind = line.k
        if kind == "span" and self._span_names is not None and self._span_names.match(line.name):
            self._spans.add(line.span)
        choice = self._choice
        if kind in _NOTES and not self._notes:
            return False
        if choice.errors and kind not in _ERRORS and not line.failed and line.status < _REFUSED:
            return False
        if self._methods is not None and not self._methods.match(line.m):
            return False
        if choice.ids and line.id not in choice.ids:
            return False
        if choice.slow is not None and (line.ms is None or line.ms < choice.slow):
            return False
        if choice.spans and line.span not in self._spans:
            return False
        if choice.sessions and not self._matches_session(line):
            return False
        if choice.targets and not (line.T and line.T.upper().startswith(self._targets)):
            return False
        return not self._texts or self._matches_strings(line)

    def _matches_session(self, line: Line) -> bool:
        if not line.s:
            return self._root and line.k not in _NOTES
        return bool(self._sessions) and line.s.upper().startswith(self._sessions)

    def _matches_strings(self, line: Line) -> bool:
        text = bytes(line.msg).decode("utf-8", "replace").casefold()
        return all(any(form in text for form in forms) for forms in self._texts)


def _globs(globs: tuple[str, ...]) -> re.Pattern[str] | None:
    return re.compile("|".join(translate(glob) for glob in globs), re.IGNORECASE) if globs else None


def _forms(text: str) -> set[str]:
    """Return the forms of a string within JSON: plain or escaped."""
    once = (text, _json.encode_ascii(text)[1:-1], _json.encode_text(text)[1:-1])
    return {form.casefold() for form in once}


# --- one line of text ----------------------------------------------------------------------------------------

SHORT_ID = 8
"""Number of displayed characters of a session id."""

_ARROWS = {">": "->", "<": "<-"}
_KIND_STYLES = {"call": "call", "reply": "reply", "error": "error", "event": "event", "stray": "error"}
_SLOW, _VERY_SLOW = 100.0, 1000.0


@attrs.frozen
class Piece:
    """A part of a line: its characters and the name of its style ("" for none)."""

    text: str
    style: str = ""


def plain(pieces: Iterable[Piece]) -> str:
    """Join the pieces to one string."""
    return "".join(piece.text for piece in pieces)


def show_line(line: Line, *, payload_limit: int | None = None) -> list[Piece]:
    """Format a line as pieces: time, direction, session, id, method, duration, payload.

    `payload_limit` is the maximum size of the displayed payload in bytes; None shows all of it.
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
                Piece(f"fingerprints of the text entered up to line {line.of}", "note"),
            ]
        case "lost":
            return [
                Piece("!! ", "error"),
                Piece(f"{line.count} messages lost: they arrived too fast", "error"),
            ]
        case _:
            return [Piece("== ", "note"), Piece("end of the recording", "note")]


_PAYLOAD = re.compile(rb'"(?:params|result|error)"\s*:\s*')
_decode = _json.Decoder(Message).decode


def _payload(line: Line, limit: int | None) -> str:
    """Return the params, result or error as written in the message, or the whole message without them."""
    view = memoryview(line.msg)
    if limit is not None and len(view) > limit + 256:
        # The message may be large, so it is not decoded. The part before the payload is short and has no such key.
        raw = bytes(view[: limit + 256])
        found = _PAYLOAD.search(raw)
        return escape_line(raw[found.end() if found else 0 :].decode("utf-8", "ignore"))
    raw = bytes(view)
    if line.k != "stray":
        try:
            message = _decode(raw)
        except msgspec.DecodeError:
            pass  # shown undecoded
        else:
            raw = bytes(message.params) or bytes(message.result) or bytes(message.error)
    return "" if raw == b"{}" else escape_line(raw.decode("utf-8", "replace"))


# --- the targets of sessions ---------------------------------------------------------------------------------

MOST = 5_000


@attrs.define
class SessionTarget:
    """A target: its id, type, and latest URL that is not about:blank."""

    target: str = ""
    type: str = ""
    url: str = ""

    def __str__(self) -> str:
        return f"{self.type} {self.url}".strip()


UNKNOWN_TARGET = SessionTarget()


class _TargetInfo(msgspec.Struct, rename="camel"):
    target_id: str = ""
    url: str = ""


class _Changed(msgspec.Struct, rename="camel"):
    target_info: _TargetInfo = msgspec.field(default_factory=_TargetInfo)


class _Event(msgspec.Struct):
    params: _Changed = msgspec.field(default_factory=_Changed)


_decode_event = _json.Decoder(_Event).decode


class SessionTargets:
    """The targets of sessions, learned from the lines of one recording in order."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._sessions: dict[tuple[str, str], SessionTarget] = {}
        self._targets: dict[str, SessionTarget] = {}

    def learn(self, line: Line) -> None:
        """Process a line. Most lines contain no target information."""
        if line.k == "target":
            if (line.c, line.s) not in self._sessions and len(self._sessions) < self._most:
                target = SessionTarget(line.T, line.type, line.url)
                self._sessions[line.c, line.s] = self._targets.setdefault(line.T, target)
            self._move(line.T, line.url)
        elif line.m == "Target.targetInfoChanged" and line.k == "event":
            try:
                info = _decode_event(line.msg).params.target_info
            except msgspec.DecodeError:
                return  # only a label is missing
            self._move(info.target_id, info.url)

    def of(self, connection: str, session: str) -> SessionTarget:
        """Return the target of a session, or an empty one for an unknown session."""
        return self._sessions.get((connection, session), UNKNOWN_TARGET)

    def _move(self, target: str, url: str) -> None:
        known = self._targets.get(target)
        if known is not None and url and (url != "about:blank" or not known.url):
            known.url = url


# --- a page of HTML ------------------------------------------------------------------------------------------

MOST_LINES = 200_000
"""Default number of lines in the page. A browser displays this many without delay."""

LONGEST = 2_000
"""Maximum payload size in the page, in bytes."""

_MOST_ACTIONS = 10_000
_BLOCK = 3 << 16
"""Bytes encoded in one step. A multiple of three, so that the base64 pieces join."""

_MARKER = re.compile(r"\{\{([a-z-]+)\}\}")
_encode = _json.encode


def page_document(
    header: Header, name: str, lines: Iterable[Line], limit: int = MOST_LINES
) -> Iterator[bytes]:
    """Yield the HTML page of a recording in pieces. `name` is its title; lines beyond `limit` are only counted."""
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
    """A converter of lines to table rows. The last row has the objects that others refer to by number."""

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
        """Return a one-line description of the recording."""
        parts = [header.product, header.started[:19].replace("T", " ") + " UTC" if header.started else ""]
        parts += [f"{self._lines:,} lines in {self._last:.1f} s"]
        if self._lines > self._limit:
            parts.append(f"the first {self._limit:,} are here")
        parts.append("secrets redacted" if header.redacted else "secrets NOT redacted")
        return " · ".join(part for part in parts if part)

    def _row(self, line: Line) -> list[object]:
        payload, length = _payload_and_length(line)
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


def _payload_and_length(line: Line) -> tuple[str, int]:
    """Return the displayed part of a line's message, and the message's size if it was shortened."""
    match line.k:
        case "target":
            return f"{line.type} {line.T} {line.url}", 0
        case "span" | "span-end":
            return f"{line.name} {line.failed}".rstrip(), 0
        case "http":
            head = f"{line.url} {line.status} "
            raw = memoryview(head.encode() + bytes(line.msg))
        case "entered":
            return f"fingerprints of the text entered up to line {line.of}", 0
        case "lost":
            return f"{line.count} messages lost", 0
        case "stray":
            raw = memoryview(line.msg)
        case _:
            try:
                message = _decode(line.msg)
            except msgspec.DecodeError:
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
    # "</script>" and "<!--" would end the element or change its parsing.
    return _encode(document).replace(b"<", b"\\u003c")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("cdpengine.debug.reading").joinpath(name).read_text(encoding="utf-8")
