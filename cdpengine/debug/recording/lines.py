"""Conversion of messages to lines of a recording. Pure: no file, no clock, no thread.

Rule: each message becomes one line, in order. The line includes the known context: a reply's command and duration,
the session's target, and the action that caused it. Memory is bounded by the work in flight.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from cdpengine import _json
from cdpengine._javascript import is_own
from cdpengine._protocol.instruments import HttpExchange, Traffic
from cdpengine._protocol.messages import Envelope, envelope_or_none
from cdpengine.debug.recording.content_streams import (
    STREAMS,
    ContentStreams,
    Piece,
    PieceRequest,
    decode_or_default,
)
from cdpengine.debug.recording.fingerprints import KEYS, Entered, EnteredTexts
from cdpengine.debug.recording.known_secrets import REDACTED
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording.secret_payloads import enters_text
from cdpengine.debug.recording.secret_words import CALLS, SECRET_PARAMETERS, holds_secrets
from cdpengine.debug.recording_format import CUT, Kind, Line, http_params

_HEAD = 200
"""Length of the kept part of a cut payload, in characters."""

_COPIED = 4096
"""Message size from which a message is not copied into its line, in bytes."""

_SCANNED = 4096
"""Further characters that are searched for secrets."""

_MOST_PENDING = 100_000
"""Maximum number of commands in flight. Beyond it the oldest are forgotten, and their replies have no name."""

_SIDES_KNOWN = 4_000
"""Maximum number of cached line parts, by session and kind of message."""

_SPANS_KNOWN = 1_000
"""Maximum number of actions in flight, and of ended ones. Beyond it the oldest are forgotten."""

_SCRIPTS = frozenset({"Runtime.evaluate", "Runtime.callFunctionOn"})
_QUESTION = "0"
"""The expression with which the engine asks whether a page answers. It moves no focus."""

_encode = _json.encode


class _TargetInfo(msgspec.Struct, rename="camel"):
    target_id: str = ""
    type: str = ""
    url: str = ""


class _Attached(msgspec.Struct, rename="camel"):
    session_id: str = ""
    target_info: _TargetInfo = msgspec.field(default_factory=_TargetInfo)


class _Changed(msgspec.Struct, rename="camel"):
    target_info: _TargetInfo = msgspec.field(default_factory=_TargetInfo)


class _AttachedByHand(msgspec.Struct, rename="camel"):
    session_id: str = ""


class _AttachCall(msgspec.Struct, rename="camel"):
    target_id: str = ""


class _ScriptCall(msgspec.Struct, rename="camel"):
    function_declaration: str = ""
    expression: str = ""


class _Sent(msgspec.Struct):
    """A command that waits for its reply.

    `own`: its script belongs to the engine. `piece_request`: the stream piece that it requests.
    """

    method: str
    time: float
    span: int
    target_id: str = ""
    own: bool = False
    piece_request: PieceRequest | None = None


class _Message(msgspec.Struct, gc=False):
    """A message that is about to become a line.

    `envelope` is None for bytes that are not a message. `free`: whether its bytes contain no possible secret
    (None: not checked). `piece`: the position of its stream piece.
    """

    raw: bytes
    traffic: Traffic
    envelope: Envelope | None
    free: bool | None
    piece: Piece | None = None


class LineMaker:
    """Maker of the lines of one recording.

    `began` is the engine's clock at the start. `limit` is a message size in bytes, 0 for none. `foreign`: another
    client sends the commands. That client does not announce entered text, so script arguments are withheld even
    for the engine's scripts. `entered` collects the calls with redactions.
    """

    def __init__(
        self,
        *,
        began: float,
        limit: int,
        redactor: Redactor | None,
        foreign: bool = False,
        entered: EnteredTexts | None = None,
    ) -> None:
        self._began = began
        self._limit = limit
        self._redactor = redactor
        self._foreign = foreign
        self._entered = entered
        self._number = 0
        self._sent: dict[tuple[str, int], _Sent] = {}
        self._target_of: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._sides: dict[tuple[Kind, str, str], bytes] = {}
        self._sifted_at = 0
        self._streams = ContentStreams()
        self._spans: dict[int, str] = {}  # names of actions whose line was written
        self._ended: dict[int, str] = {}  # a command posted before the end may still arrive

    def add_secret(self, text: str) -> bytes:
        """Keep a string out of all later lines. Returns b"", because it needs no line."""
        if self._redactor is not None:
            self._redactor.add_secret(text)
        return b""

    def target(
        self, time: float, connection: str, session_id: str, target_id: str, kind: str, url: str
    ) -> bytes:
        """Return the line with a session's target, and remember the target."""
        self._target_of[session_id] = target_id
        self._sides.clear()
        self._types[target_id] = kind
        return self._line(
            time, "target", c=connection, s=session_id, T=target_id, type=kind, url=self._url(url)
        )

    def http(self, exchange: HttpExchange) -> bytes:
        """Return the line of an HTTP exchange."""
        target, body = exchange.target, exchange.body
        if self._redactor is not None:
            target = self._redactor.text(target)
            # The protocol's description belongs to the browser, and its names look like secrets ("password").
            body = body if is_protocol(exchange.target) else self._redactor.redact(body)
        cut = 0 < self._limit < len(body)
        message = msgspec.Raw(_encode({CUT: len(body)})) if cut else _as_json(body)
        line = self._line(
            exchange.time,
            "http",
            m=exchange.method,
            url=target,
            status=exchange.status,
            type=exchange.content_type,
            ms=round(exchange.seconds * 1000, 3),
            z=len(exchange.body),
            msg=message,
        )
        if self._entered is not None and target != exchange.target:
            sides = (_encode({"params": http_params(each)}) for each in (exchange.target, target))
            self._entered.note(self._number, "", "", "", *sides)
        return line

    def entered(self, time: float, entered: Entered) -> bytes:
        """Return the line with the fingerprints of text that a call entered."""
        return self._line(time, "entered", of=entered.of, h=entered.prints, typed=entered.typed)

    def lost(self, time: float, count: int) -> bytes:
        """Return the line that reports `count` lost messages. Their numbers are skipped."""
        line = self._line(time, "lost", count=count)
        self._number += count
        self._streams.lose()
        return line

    def span_ended(self, time: float, number: int, began: float, failed: str = "") -> bytes:
        """Return the line for the end of an action, or b"" if no line recorded its start.

        `failed` is the name of the exception that ended it, or "".
        """
        name = self._spans.pop(number, None)
        if name is None:
            return b""
        _remember(self._ended, number, name)
        milliseconds = round((time - began) * 1000, 3)
        return self._line(time, "span-end", span=number, name=name, ms=milliseconds, failed=failed)

    def end(self, time: float) -> bytes:
        """Return the last line."""
        return self._line(time, "end")

    def lines(self, *traffic: Traffic) -> list[bytes]:
        """Return the lines of messages, and those about their actions and targets."""
        return b"".join(self.pieces(*traffic)).splitlines(keepends=True)

    def pieces(self, *traffic: Traffic) -> list[bytes]:
        """Return the lines in pieces, to avoid copying large messages.

        All messages are searched for secrets together, for a fraction of the cost of separate searches. Methods
        that contain secrets by nature are excluded. The result equals that of one message after the other.
        """
        raws = [
            _json.to_bytes(message) if isinstance(message := each.message, str) else message
            for each in traffic
        ]
        lines: list[bytes] = []
        for sifted in self._sift(traffic, raws):
            self._add(lines, sifted)
        return lines

    def _sift(self, traffic: Sequence[Traffic], raws: Sequence[bytes]) -> list[_Message]:
        called: dict[tuple[str, int | None], str] = {}
        messages = []
        looked_at = []
        for each, raw in zip(traffic, raws, strict=True):
            envelope = each.envelope or envelope_or_none(raw)
            if envelope is None:
                messages.append(_Message(raw, each, None, None))
                continue
            one = _Message(raw, each, envelope, None)
            messages.append(one)
            key, method = (each.connection, envelope.id), envelope.method
            if method is not None:
                called[key] = method
            elif (method := called.get(key)) is None and envelope.id is not None:
                sent = self._sent.get((each.connection, envelope.id))
                method = None if sent is None else sent.method
            cut = 0 < self._limit < len(raw)  # only its head is kept
            if method is not None and not cut and not holds_secrets(method):
                looked_at.append(one)
        if self._redactor is not None:
            self._sifted_at = self._redactor.learned
            answers = self._redactor.sift([one.raw for one in looked_at])
            for one, free in zip(looked_at, answers, strict=True):
                one.free = free
        return messages

    def _add(self, lines: list[bytes], message: _Message) -> None:
        traffic, envelope, span = message.traffic, message.envelope, message.traffic.span
        if envelope is None:
            lines.append(self._stray(message))
            return
        if span is not None and span.number not in self._spans and span.number not in self._ended:
            name = span.name if self._redactor is None else self._redactor.text(span.name)
            _remember(self._spans, span.number, name)
            lines.append(self._line(traffic.time, "span", span=span.number, name=name))
        if traffic.direction == "sent":
            self._call(lines, message, envelope, 0 if span is None else span.number)
        elif envelope.id is not None:
            self._reply(lines, message, envelope)
        elif envelope.method is not None:
            self._event(lines, message, envelope)
        else:
            lines.append(self._stray(message))

    # --- kinds of messages ---------------------------------------------------------------------------------

    def _call(self, lines: list[bytes], message: _Message, envelope: Envelope, span: int) -> None:
        method = envelope.method or ""
        target_id, own = "", False
        if method == "Target.attachToTarget":
            target_id = decode_or_default(envelope.params, _AttachCall).target_id
        elif method in _SCRIPTS and self._redactor is not None:
            called = decode_or_default(envelope.params, _ScriptCall)
            own = is_own(called.function_declaration or called.expression)
            if called.expression != _QUESTION:
                self._redactor.note_script(envelope.session_id or "")
        if envelope.id is not None:
            where = message.traffic.connection, envelope.session_id or ""
            piece_request = (
                self._streams.take_call(*where, method, envelope.params) if method in STREAMS else None
            )
            self._sent[message.traffic.connection, envelope.id] = _Sent(
                method, message.traffic.time, span, target_id, own, piece_request
            )
            if len(self._sent) > _MOST_PENDING:
                del self._sent[next(iter(self._sent))]
        own = own and not self._foreign
        self._message(lines, message, envelope, "call", method, _encode_span(span), own=own)

    def _reply(self, lines: list[bytes], message: _Message, envelope: Envelope) -> None:
        traffic = message.traffic
        assert envelope.id is not None
        sent = self._sent.pop((traffic.connection, envelope.id), None)
        kind: Kind = "error" if envelope.error else "reply"
        if sent is None:
            # The command is unknown, so the secret fields of the reply are unknown too.
            self._message(lines, message, envelope, kind, "", b"", hidden=self._redactor is not None)
            return
        more = b'"ms":%.3f,%b' % ((traffic.time - sent.time) * 1000, _encode_span(sent.span))
        message.piece = self._streams.take_reply(
            traffic.connection, sent.method, sent.piece_request, envelope.result, refused=kind == "error"
        )
        self._message(lines, message, envelope, kind, sent.method, more, own=sent.own)
        if sent.target_id and kind == "reply":
            session_id = decode_or_default(envelope.result, _AttachedByHand).session_id
            if session_id and session_id not in self._target_of:
                known = self._types.get(sent.target_id, "")
                lines.append(
                    self.target(traffic.time, traffic.connection, session_id, sent.target_id, known, "")
                )

    def _event(self, lines: list[bytes], message: _Message, envelope: Envelope) -> None:
        traffic, params = message.traffic, envelope.params
        method = envelope.method or ""
        if method == "Target.attachedToTarget":
            attached = decode_or_default(params, _Attached)
            info, session_id = attached.target_info, attached.session_id
            if session_id:
                target = session_id, info.target_id, info.type, info.url
                lines.append(self.target(traffic.time, traffic.connection, *target))
        elif method == "Target.targetCreated":
            info = decode_or_default(params, _Changed).target_info
            self._types[info.target_id] = info.type
        message.piece = self._streams.take_event(
            traffic.connection, envelope.session_id or "", method, params
        )
        self._message(lines, message, envelope, "event", method, b"")
        if method == "Target.detachedFromTarget":
            self._target_of.pop(decode_or_default(params, _AttachedByHand).session_id, None)
            self._sides.clear()
        elif method == "Target.targetDestroyed":
            self._types.pop(decode_or_default(params, _AttachCall).target_id, None)

    def _stray(self, stray: _Message) -> bytes:
        raw, traffic = stray.raw, stray.traffic
        text = raw.decode("utf-8", "replace")
        if self._limit and len(raw) > self._limit:
            text = text[:_HEAD]
        text = text if self._redactor is None else self._redactor.text(text)
        side = ">" if traffic.direction == "sent" else "<"
        message = msgspec.Raw(_encode(text))
        return self._line(traffic.time, "stray", c=traffic.connection, d=side, z=len(raw), msg=message)

    # --- lines ---------------------------------------------------------------------------------------------

    def _message(
        self,
        lines: list[bytes],
        message: _Message,
        envelope: Envelope,
        kind: Kind,
        method: str,
        more: bytes,
        *,
        hidden: bool = False,
        own: bool = False,
    ) -> None:
        written, free, redactor = message.raw, message.free, self._redactor
        if hidden or (self._limit and len(written) > self._limit):
            if redactor is not None and (method in SECRET_PARAMETERS or method in STREAMS):
                # The message's secrets are also secret in other messages, or continue in the next piece.
                redactor.redact(written, method, piece=message.piece)
            written, free = self._cut(envelope, method, hidden=hidden, own=own), None
        if redactor is None:
            pass
        elif kind == "call" and not free and written is message.raw:
            written = redactor.redact_call(written, method, envelope.id, suspicious=free is False, own=own)
        elif not free or holds_secrets(method):
            written = redactor.redact(written, method, suspicious=free is False, own=own, piece=message.piece)
        elif redactor.learned != self._sifted_at:
            written = redactor.redact(written, method, own=own)
        if kind == "reply" and written is not message.raw and self._withholds(method, own=own):
            more += b'"withheld":true,'
        self._number += 1
        # A key without a letter is not redacted, and ends the text typed before it.
        noted = kind == "call" and (written is not message.raw or method in KEYS)
        if noted and self._entered is not None:
            place = self._number, message.traffic.connection, envelope.session_id or ""
            self._entered.note(*place, method, message.raw, written)
        side = self._side(kind, message.traffic.connection, envelope.session_id or "")
        call_id = b"" if envelope.id is None else b'"id":%d,' % envelope.id
        # Built by hand in the field order of Line: a third of the cost of encoding.
        known = message.traffic.time - self._began, self._number, side, call_id, _encode_name(method)
        head = b'{"t":%.6f,"n":%d,%b%b%b"z":%d,%b"msg":' % (*known, len(message.raw), more)
        if len(written) > _COPIED:
            lines += (head, _one_line(written), b"}\n")
        else:
            lines.append(b"%b%b}\n" % (head, _one_line(written)))

    def _side(self, kind: Kind, connection: str, session_id: str) -> bytes:
        """Return the JSON fields with the direction and session of a kind of messages."""
        side = self._sides.get((kind, connection, session_id))
        if side is None:
            if len(self._sides) > _SIDES_KNOWN:
                self._sides.clear()
            direction = ">" if kind == "call" else "<"
            target_id = self._target_of.get(session_id, "")
            line = Line(k=kind, c=connection, d=direction, s=session_id, T=target_id)
            side = self._sides[kind, connection, session_id] = _fields(line)
        return side

    def _cut(self, envelope: Envelope, method: str, *, hidden: bool, own: bool) -> bytes:
        message: dict[str, object] = {}
        if envelope.id is not None:
            message["id"] = envelope.id
        if envelope.method is not None:
            message["method"] = envelope.method
        for name in ("params", "result", "error"):
            payload = bytes(getattr(envelope, name))
            if payload:
                head = REDACTED if hidden else self._head(payload, envelope.method or method, own=own)
                message[name] = {CUT: len(payload), "head": head}
        if envelope.session_id is not None:
            message["sessionId"] = envelope.session_id
        return _encode(message)

    def _withholds(self, method: str, *, own: bool) -> bool:
        """Return whether script arguments and results are withheld from messages of a method."""
        return (
            self._redactor is not None and method in CALLS and not own and not self._redactor.keep_arguments
        )

    def _head(self, payload: bytes, method: str, *, own: bool) -> str:
        if self._redactor is None:
            return payload[:_HEAD].decode("utf-8", "ignore")
        if self._withholds(method, own=own):
            return REDACTED
        # The search covers more than the kept part, so that it sees a secret at the cut as a whole.
        scanned = payload[: _HEAD + _SCANNED]
        if self._redactor.suspicious(scanned, method) or (own and method in CALLS and enters_text(scanned)):
            return REDACTED
        return self._redactor.text(scanned.decode("utf-8", "ignore"))[:_HEAD]

    def _line(self, time: float, kind: Kind, **fields: object) -> bytes:
        self._number += 1
        line = Line(t=round(time - self._began, 6), n=self._number, k=kind, **fields)  # type: ignore[arg-type]
        return _encode(line) + b"\n"

    def _url(self, url: str) -> str:
        return url if self._redactor is None else self._redactor.text(url)


def _fields(line: Line) -> bytes:
    """Return the non-default fields of a line as JSON, each with a trailing comma."""
    return _encode(line)[1:-1] + b","


@lru_cache(2_000)
def _encode_name(method: str) -> bytes:
    return b'"m":%b,' % _encode(method) if method else b""


def _encode_span(span: int) -> bytes:
    return b'"span":%d,' % span if span else b""


def _remember(names: dict[int, str], number: int, name: str) -> None:
    names[number] = name
    if len(names) > _SPANS_KNOWN:
        del names[next(iter(names))]


_BREAKS = re.compile(rb"[\r\n]")


def _one_line(message: bytes) -> bytes:
    """Return JSON on one line. Line breaks occur only between tokens, since strings escape them."""
    return _BREAKS.sub(b" ", message) if b"\n" in message or b"\r" in message else message


def is_protocol(target: str) -> bool:
    """Return whether an HTTP request asks for the protocol description."""
    return target.partition("?")[0].rstrip("/") == "/json/protocol"


def _as_json(body: bytes) -> msgspec.Raw:
    """Return a body as JSON on one line: unchanged if it is JSON, else as a string."""
    try:
        _json.decode_leniently(body)
    except ValueError:
        return msgspec.Raw(_encode(body.decode("utf-8", "replace")))
    return msgspec.Raw(_one_line(body))
