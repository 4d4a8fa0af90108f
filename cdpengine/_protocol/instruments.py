"""Instruments: what watches the traffic of connections (recorder, statistics, log).

Rule: without instruments, the cost is one test for an empty tuple a message. An instrument is called in the task
that reads, or in one that writes: it takes the message and returns at once; it never waits. An instrument that
raises is taken out and logged: it must not break the connection that it watches.
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

_FAILED = "an instrument of the traffic failed and was taken out"


@attrs.frozen
class Span:
    """One action of the program's own, such as "page.click e7": the cause of the commands sent meanwhile.

    `began` is trio's clock in seconds; `seen_by` are those that saw a command of it; they are called when it ends.
    """

    number: int
    name: str
    began: float = 0.0
    seen_by: set[Instruments] = attrs.field(factory=set, eq=False, repr=False)


Direction = Literal["sent", "received"]


class Traffic(msgspec.Struct, frozen=True):
    """One message on the wire. `time` is trio's clock in seconds, `connection` names the connection.

    `span` is the action that a command was sent for, None for what no action caused, and for what is received.
    `envelope` is what the message was read as, None where it was not yet, or cannot be.
    """

    time: float
    direction: Direction
    connection: str
    message: bytes | str
    span: Span | None = None
    envelope: Envelope | None = None


@attrs.frozen
class HttpExchange:
    """What a client asked over HTTP beside its websockets, and what it was answered.

    `time` is trio's clock in seconds when it was asked, `seconds` how long the answer took; `target` is the path
    with the query, `content_type` that of the body.
    """

    time: float
    method: str
    target: str
    status: int
    body: bytes
    content_type: str = ""
    seconds: float = 0.0


class Instrument(Protocol):
    """Anything that can be called with a Traffic."""

    def __call__(self, traffic: Traffic, /) -> None:
        """Take one message. Must not block."""


@runtime_checkable
class SpanInstrument(Protocol):
    """An instrument that wants to know, too, when an action that it saw a command of has ended."""

    def span_ended(self, span: Span, time: float, failed: str, /) -> None:
        """Take the end of one action, on trio's clock in seconds. Must not block.

        `failed` is the name of the exception that ended it, "" where none did.
        """


@runtime_checkable
class HttpInstrument(Protocol):
    """An instrument that wants to know, too, what was asked over HTTP."""

    def take_http(self, exchange: HttpExchange, /) -> None:
        """Take what one client asked, and its answer. Must not block."""


@runtime_checkable
class SecretInstrument(Protocol):
    """An instrument that wants to know what is secret before a message holds it."""

    def add_secret(self, text: str, /) -> None:
        """Take a text that must not be written or shown from now on. Must not block."""


_SECRETS_KEPT = 256
"""Secrets that are kept for instruments that come later; beyond that the oldest are forgotten."""

_LONGEST_KEPT = 4_096
"""Characters of a secret that is kept."""


class Instruments:
    """The instruments of one or several connections, and the secrets that those connections were given."""

    def __init__(self) -> None:
        self.active: tuple[Instrument, ...] = ()
        self._connections: dict[str, int] = {}
        self._secrets: dict[str, None] = {}
        hide_secrets_of(self)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that were added, the oldest first; at most 256 of at most 4,096 characters."""
        return tuple(self._secrets)

    def add_secret(self, text: str) -> None:
        """Have every instrument withhold a text.

        Call it before the first message that holds the text is sent. What a program enters into a page is added:
        typed, filled, pasted and set texts. Instruments that come later get to know it when they come.
        """
        if not text:
            return
        if len(text) <= _LONGEST_KEPT:
            self._secrets.pop(text, None)
            self._secrets[text] = None
            if len(self._secrets) > _SECRETS_KEPT:
                del self._secrets[next(iter(self._secrets))]
        for instrument in self.active:
            self._give_secret(instrument, text)

    def name_connection(self, endpoint: str) -> str:
        """Return what a connection is called in its Traffic: its endpoint, with a number from the second one on.

        Ids of commands are unique within one connection only, so two to the same endpoint need two names.
        """
        number = self._connections[endpoint] = self._connections.get(endpoint, 0) + 1
        return endpoint if number == 1 else f"{endpoint} #{number}"

    @contextmanager
    def attached(self, instrument: Instrument) -> Iterator[None]:
        """Pass all traffic to `instrument` while the body runs, in the order in which it went over the wire.

        An instrument that is given twice sees each message twice, until one of the two blocks is left.
        """
        self.active = (*self.active, instrument)
        for secret in self._secrets:
            self._give_secret(instrument, secret)
        try:
            yield
        finally:
            self._remove(instrument)

    def pass_on(self, traffic: Traffic) -> None:
        """Give one message to every instrument. Callers test `active` first, so that none costs nothing."""
        if traffic.span is not None:
            traffic.span.seen_by.add(self)
        for instrument in self.active:
            try:
                instrument(traffic)
            except Exception:
                logger.exception(_FAILED)
                self._remove(instrument)

    def pass_on_http(self, exchange: HttpExchange) -> None:
        """Hand what was asked over HTTP to every instrument that wants to know it."""
        for instrument in self.active:
            if isinstance(instrument, HttpInstrument):
                try:
                    instrument.take_http(exchange)
                except Exception:
                    logger.exception(_FAILED)
                    self._remove(instrument)

    def end_span(self, span: Span, failed: str) -> None:
        """Tell every instrument that wants to know that an action is over, and the name of what ended it early."""
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
