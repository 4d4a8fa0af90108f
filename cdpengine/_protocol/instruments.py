"""Instruments: observers of the traffic of connections (recorder, statistics, log).

Rule: without instruments, the cost per message is one test for an empty tuple. The reader or a writing task calls
the instrument, which must return immediately and never wait. An instrument that raises is removed and logged, so
that it cannot break the connection it observes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol, runtime_checkable

import attrs
import msgspec

from cdpengine._logs import get_logger, hide_secrets_of
from cdpengine._protocol.messages import Envelope

logger = get_logger("cdpengine.wire")

_FAILED = "an instrument of the traffic failed and was removed"


@attrs.frozen
class Span:
    """One action of the program, such as "page.click e7": the cause of the commands sent during it.

    `began` is trio's clock in seconds. `instruments` lists the instruments that saw one of its commands; they are
    notified when the action ends.
    """

    number: int
    name: str
    began: float = 0.0
    instruments: set[Instruments] = attrs.field(factory=set, eq=False, repr=False)


Direction = Literal["sent", "received"]


class Traffic(msgspec.Struct, frozen=True):
    """One message on the wire. `time` is trio's clock in seconds, `connection` names the connection.

    `span` is the action that caused a command; None for received messages and for commands outside of an action.
    `envelope` is the decoded envelope, or None if the message was not decoded or is undecodable.
    """

    time: float
    direction: Direction
    connection: str
    message: bytes | str
    span: Span | None = None
    envelope: Envelope | None = None


@attrs.frozen
class HttpExchange:
    """An HTTP request of a client, in addition to its websockets, and the response.

    `time` is trio's clock in seconds at the request, `seconds` the duration of the response. `target` is the path
    with the query, `content_type` the type of the response body.
    """

    time: float
    method: str
    target: str
    status: int
    body: bytes
    content_type: str = ""
    seconds: float = 0.0


class Instrument(Protocol):
    """A callable that accepts a Traffic."""

    def __call__(self, traffic: Traffic, /) -> None:
        """Accept one message. Must not block."""


@runtime_checkable
class SpanInstrument(Protocol):
    """An instrument that is also notified of the end of each action whose commands it saw."""

    def span_ended(self, span: Span, time: float, failed: str, /) -> None:
        """Accept the end of one action, on trio's clock in seconds. Must not block.

        `failed` is the name of the exception that ended the action, or "".
        """


@runtime_checkable
class HttpInstrument(Protocol):
    """An instrument that is also notified of HTTP requests."""

    def take_http(self, exchange: HttpExchange, /) -> None:
        """Accept one HTTP request and its response. Must not block."""


@runtime_checkable
class SecretInstrument(Protocol):
    """An instrument that learns each secret before a message contains it."""

    def add_secret(self, text: str, /) -> None:
        """Redact a string from now on. Must not block."""


_MAX_SECRETS = 256
"""Maximum number of secrets that are remembered for later instruments. The oldest are dropped first."""

_LONGEST_SECRET = 4_096
"""Maximum length of a remembered secret, in characters."""


class Instruments:
    """The instruments of one or several connections, and the secrets of those connections."""

    def __init__(self) -> None:
        self.active: tuple[Instrument, ...] = ()
        self._connections: dict[str, int] = {}
        self._secrets: dict[str, None] = {}
        hide_secrets_of(self)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The remembered secrets, the oldest first: at most 256, each of at most 4,096 characters."""
        return tuple(self._secrets)

    def add_secret(self, text: str) -> None:
        """Register a string that every instrument must redact.

        Call it before the first message that contains the string. All strings that a program enters into a page
        are registered: typed, filled, pasted and set values. Instruments attached later receive them on
        attachment.
        """
        if not text:
            return
        if len(text) <= _LONGEST_SECRET:
            self._secrets.pop(text, None)
            self._secrets[text] = None
            if len(self._secrets) > _MAX_SECRETS:
                del self._secrets[next(iter(self._secrets))]
        for instrument in self.active:
            self._give_secret(instrument, text)

    def name_connection(self, endpoint: str) -> str:
        """Return a connection's name in its Traffic: the endpoint, and a number for further connections to it.

        Ids of commands are unique only within one connection, so two connections to one endpoint need two names.
        """
        number = self._connections[endpoint] = self._connections.get(endpoint, 0) + 1
        return endpoint if number == 1 else f"{endpoint} #{number}"

    @contextmanager
    def attached(self, instrument: Instrument) -> Iterator[None]:
        """Pass all traffic to `instrument` while the body runs, in the order of the wire.

        An instrument attached twice sees each message twice until one of the two blocks ends.
        """
        self.active = (*self.active, instrument)
        for secret in self._secrets:
            self._give_secret(instrument, secret)
        try:
            yield
        finally:
            self._remove(instrument)

    def pass_on(self, traffic: Traffic) -> None:
        """Pass one message to every instrument. Callers check `active` first, so that the common case is free."""
        if traffic.span is not None:
            traffic.span.instruments.add(self)
        for instrument in self.active:
            try:
                instrument(traffic)
            except Exception:
                logger.exception(_FAILED)
                self._remove(instrument)

    def pass_on_http(self, exchange: HttpExchange) -> None:
        """Pass an HTTP request and its response to every HttpInstrument."""
        for instrument in self.active:
            if isinstance(instrument, HttpInstrument):
                try:
                    instrument.take_http(exchange)
                except Exception:
                    logger.exception(_FAILED)
                    self._remove(instrument)

    def end_span(self, span: Span, failed: str) -> None:
        """Notify every SpanInstrument that an action ended, by the exception named `failed` or ""."""
        import trio

        time = trio.current_time()
        for instrument in self.active:
            if isinstance(instrument, SpanInstrument):
                try:
                    instrument.span_ended(span, time, failed)
                except Exception:
                    logger.exception(_FAILED)
                    self._remove(instrument)

    def _give_secret(self, instrument: Instrument, text: str) -> None:
        if isinstance(instrument, SecretInstrument):
            try:
                instrument.add_secret(text)
            except Exception:
                logger.exception(_FAILED)
                self._remove(instrument)

    def _remove(self, instrument: Instrument) -> None:
        instruments = list(self.active)
        for index, other in enumerate(instruments):
            if other is instrument:
                del instruments[index]
                break
        self.active = tuple(instruments)
