"""LineMaker: from messages on the wire to the lines of a recording. Pure: no file, no clock, no thread.

Rule: each message becomes one line, in order, with what is known around it: the command that a reply answers,
how long it took, whose session it is, which action caused it. Memory is bounded by what is under way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from cdpengine.debug.recording import CUT, Kind, Line
from cdpengine.debug.redact import REDACTED, Redactor
from cdpengine.wire.messages import Envelope, decode_envelope
from cdpengine.wire.tap import Traffic

_HEAD = 200
"""Characters of a cut payload that are kept."""

_SEEN = 4096
"""Characters beyond those that are looked through for secrets."""

_MOST_PENDING = 100_000
"""Commands without a reply that are remembered; beyond that the oldest are forgotten (their replies have no
name)."""

_SPANS_KNOWN = 1_000
"""Actions under way, and as many that are over; beyond that the oldest are forgotten."""

_encode = msgspec.json.Encoder().encode


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


class _Sent(msgspec.Struct):
    method: str
    time: float
    span: int
    target_id: str = ""


class LineMaker:
    """Makes the lines of one recording.

    `began` is the engine's clock when it began; `limit` is in bytes of a message, 0 for none.
    """

    def __init__(self, *, began: float, limit: int, redactor: Redactor | None) -> None:
        self._began = began
        self._limit = limit
        self._redactor = redactor
        self._number = 0
        self._sent: dict[tuple[str, int], _Sent] = {}
        self._target_of: dict[str, str] = {}
        self._types: dict[str, str] = {}
        self._spans: dict[int, str] = {}  # the names of those whose line was written
        self._ended: dict[int, str] = {}  # of these a command may still come that was posted before the end

    def target(
        self, time: float, connection: str, session_id: str, target_id: str, kind: str, url: str
    ) -> bytes:
        """Return the line that says what a session belongs to, and remember it."""
        self._target_of[session_id] = target_id
        self._types[target_id] = kind
        return self._line(
            time, "target", c=connection, s=session_id, T=target_id, type=kind, url=self._url(url)
        )

    def lost(self, time: float, count: int) -> bytes:
        """Return the line that says that `count` messages could not be taken; their numbers are left out."""
        line = self._line(time, "lost", count=count)
        self._number += count
        return line

    def span_ended(self, time: float, number: int, began: float) -> bytes:
        """Return the line that says that an action is over; b"" when no line said that it began."""
        name = self._spans.pop(number, None)
        if name is None:
            return b""
        _remember(self._ended, number, name)
        return self._line(time, "span-end", span=number, name=name, ms=round((time - began) * 1000, 3))

    def end(self, time: float) -> bytes:
        """Return the last line."""
        return self._line(time, "end")

    def lines(self, traffic: Traffic) -> Iterator[bytes]:
        """Return the lines of one message: its own, and beside it what it tells of actions and targets."""
        message = traffic.message
        raw = message.encode("utf-8", "surrogatepass") if isinstance(message, str) else message
        try:
            envelope = decode_envelope(message)
        except msgspec.DecodeError:
            yield self._stray(traffic, raw)
            return
        span = traffic.span
        if span is not None and span.number not in self._spans and span.number not in self._ended:
            name = span.name if self._redactor is None else self._redactor.text(span.name)
            _remember(self._spans, span.number, name)
            yield self._line(traffic.time, "span", span=span.number, name=name)
        if traffic.direction == "sent":
            yield self._call(traffic, envelope, raw)
        elif envelope.id is not None:
            yield from self._reply(traffic, envelope, raw)
        elif envelope.method is not None:
            yield from self._event(traffic, envelope, raw)
        else:
            yield self._stray(traffic, raw)

    # --- kinds of messages ---------------------------------------------------------------------------------

    def _call(self, traffic: Traffic, envelope: Envelope, raw: bytes) -> bytes:
        method = envelope.method or ""
        span = 0 if traffic.span is None else traffic.span.number
        target_id = ""
        if method == "Target.attachToTarget":
            target_id = _decoded(envelope.params, _AttachCall).target_id
        if envelope.id is not None:
            self._sent[traffic.connection, envelope.id] = _Sent(method, traffic.time, span, target_id)
            if len(self._sent) > _MOST_PENDING:
                del self._sent[next(iter(self._sent))]
        return self._message(traffic, "call", envelope, raw, method, span=span)

    def _reply(self, traffic: Traffic, envelope: Envelope, raw: bytes) -> Iterator[bytes]:
        assert envelope.id is not None
        sent = self._sent.pop((traffic.connection, envelope.id), None)
        kind: Kind = "error" if envelope.error else "reply"
        if sent is None:
            # Which command it answers is not known, so neither is what in it is secret.
            yield self._message(traffic, kind, envelope, raw, "", hidden=self._redactor is not None)
            return
        milliseconds = round((traffic.time - sent.time) * 1000, 3)
        yield self._message(traffic, kind, envelope, raw, sent.method, ms=milliseconds, span=sent.span)
        if sent.target_id and kind == "reply":
            session_id = _decoded(envelope.result, _AttachedByHand).session_id
            if session_id and session_id not in self._target_of:
                known = self._types.get(sent.target_id, "")
                yield self.target(traffic.time, traffic.connection, session_id, sent.target_id, known, "")

    def _event(self, traffic: Traffic, envelope: Envelope, raw: bytes) -> Iterator[bytes]:
        method = envelope.method or ""
        if method == "Target.attachedToTarget":
            attached = _decoded(envelope.params, _Attached)
            info = attached.target_info
            if attached.session_id:
                yield self.target(
                    traffic.time, traffic.connection, attached.session_id, info.target_id, info.type, info.url
                )
        elif method == "Target.targetCreated":
            info = _decoded(envelope.params, _Changed).target_info
            self._types[info.target_id] = info.type
        yield self._message(traffic, "event", envelope, raw, method)
        if method == "Target.detachedFromTarget":
            self._target_of.pop(_decoded(envelope.params, _AttachedByHand).session_id, None)
        elif method == "Target.targetDestroyed":
            self._types.pop(_decoded(envelope.params, _AttachCall).target_id, None)

    def _stray(self, traffic: Traffic, raw: bytes) -> bytes:
        text = raw.decode("utf-8", "replace")
        if self._limit and len(raw) > self._limit:
            text = text[:_HEAD]
        text = text if self._redactor is None else self._redactor.text(text)
        return self._line(
            traffic.time, "stray", **_sides(traffic), z=len(raw), msg=msgspec.Raw(_encode(text))
        )

    # --- lines ---------------------------------------------------------------------------------------------

    def _message(
        self,
        traffic: Traffic,
        kind: Kind,
        envelope: Envelope,
        raw: bytes,
        method: str,
        *,
        ms: float | None = None,
        span: int = 0,
        hidden: bool = False,
    ) -> bytes:
        cut = hidden or (self._limit and len(raw) > self._limit)
        kept = self._cut(envelope, method, hidden=hidden) if cut else raw
        if self._redactor is not None:
            kept = self._redactor.redact(kept, method)
        session_id = envelope.session_id or ""
        self._number += 1
        line = Line(
            t=round(traffic.time - self._began, 6),
            n=self._number,
            k=kind,
            c=traffic.connection,
            d=">" if traffic.direction == "sent" else "<",
            s=session_id,
            T=self._target_of.get(session_id, ""),
            id=envelope.id,
            m=method,
            z=len(raw),
            ms=ms,
            span=span,
            msg=msgspec.Raw(_one_line(kept)),
        )
        return _encode(line) + b"\n"

    def _cut(self, envelope: Envelope, method: str, *, hidden: bool) -> bytes:
        message: dict[str, object] = {}
        if envelope.id is not None:
            message["id"] = envelope.id
        if envelope.method is not None:
            message["method"] = envelope.method
        for name in ("params", "result", "error"):
            payload = bytes(getattr(envelope, name))
            if payload:
                head = REDACTED if hidden else self._head(payload, envelope.method or method)
                message[name] = {CUT: len(payload), "head": head}
        if envelope.session_id is not None:
            message["sessionId"] = envelope.session_id
        return _encode(message)

    def _head(self, payload: bytes, method: str) -> str:
        if self._redactor is None:
            return payload[:_HEAD].decode("utf-8", "ignore")
        # More is looked at than is kept: a secret that the cut would go through is seen whole.
        seen = payload[: _HEAD + _SEEN]
        if self._redactor.suspicious(seen, method):
            return REDACTED
        return self._redactor.text(seen.decode("utf-8", "ignore"))[:_HEAD]

    def _line(self, time: float, kind: Kind, **fields: object) -> bytes:
        self._number += 1
        line = Line(t=round(time - self._began, 6), n=self._number, k=kind, **fields)  # type: ignore[arg-type]
        return _encode(line) + b"\n"

    def _url(self, url: str) -> str:
        return url if self._redactor is None else self._redactor.text(url)


def _sides(traffic: Traffic) -> dict[str, str]:
    return {"c": traffic.connection, "d": ">" if traffic.direction == "sent" else "<"}


def _remember(names: dict[int, str], number: int, name: str) -> None:
    names[number] = name
    if len(names) > _SPANS_KNOWN:
        del names[next(iter(names))]


_BREAKS = re.compile(rb"[\r\n]")


def _one_line(message: bytes) -> bytes:
    """Return JSON without line breaks: between tokens they mean nothing, and within strings they are escaped."""
    return _BREAKS.sub(b" ", message) if b"\n" in message or b"\r" in message else message


S = TypeVar("S", bound=msgspec.Struct)


def _decoded(raw: msgspec.Raw, as_type: type[S]) -> S:
    try:
        return msgspec.json.decode(raw, type=as_type)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return as_type()
