"""The one place where traffic can be watched: recorder, statistics, log.

Rule: with nobody watching, the cost is one test for an empty tuple a message. A watcher is called in the
reader's or the writer's task: it takes the message and returns at once; it never waits. A watcher that raises
is taken out and logged: whoever looks on must not be able to break what he looks at.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Literal, Protocol, runtime_checkable

import attrs
import msgspec

from cdpengine._logs import get_logger
from cdpengine._protocol.messages import Envelope

logger = get_logger("cdpengine.wire")

_FAILED = "a watcher of the traffic failed and was taken out"


@attrs.frozen
class Span:
    """One action of the program's own, such as "page.click e7": the cause of the commands sent meanwhile.

    `began` is trio's clock in seconds; `taps` are those that saw a command of it, and so are told when it ends.
    """

    number: int
    name: str
    began: float = 0.0
    taps: set[Tap] = attrs.field(factory=set, eq=False, repr=False)


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


_span: ContextVar[Span | None] = ContextVar("cdpengine span", default=None)
_numbers = itertools.count(1)


class _SpanScope:
    """What `span` returns. A class, as is all that every action enters: a generator costs five times as much."""

    __slots__ = ("_begun", "_name", "_token")

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun: Span | None = None

    def __enter__(self) -> None:
        if _span.get() is None:
            import trio

            self._begun = Span(next(_numbers), self._name, trio.current_time())
            self._token = _span.set(self._begun)

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        begun = self._begun
        if begun is not None:
            _span.reset(self._token)
            for tap in begun.taps:
                tap.end_span(begun, "" if kind is None else kind.__name__)


def span(name: str) -> AbstractContextManager[None]:
    """Name the action that the commands of the body, and of the tasks that it starts, are sent for.

    The outermost name holds: an action that is made of others is one action. Must be called in trio.
    """
    return _SpanScope(name)


def current_span() -> Span | None:
    """Return the action that runs now, None when there is none."""
    return _span.get()


class Watcher(Protocol):
    """Anything that can be called with a Traffic."""

    def __call__(self, traffic: Traffic, /) -> None:
        """Take one message. Must not block."""


@runtime_checkable
class SpanWatcher(Protocol):
    """A watcher that wants to know, too, when an action that it saw a command of has ended."""

    def span_ended(self, span: Span, time: float, failed: str, /) -> None:
        """Take the end of one action, on trio's clock in seconds. Must not block.

        `failed` is the name of the exception that ended it, "" where none did.
        """


@runtime_checkable
class HttpWatcher(Protocol):
    """A watcher that wants to know, too, what was asked over HTTP."""

    def take_http(self, exchange: HttpExchange, /) -> None:
        """Take what one client asked, and its answer. Must not block."""


@runtime_checkable
class SecretWatcher(Protocol):
    """A watcher that wants to know what is secret before a message holds it."""

    def add_secret(self, text: str, /) -> None:
        """Take a text that must not be written or shown from now on. Must not block."""


_SECRETS_KEPT = 256
"""Secrets that a tap keeps for watchers that come later; beyond that the oldest are forgotten."""

_LONGEST_KEPT = 4_096
"""Characters of a secret that is kept."""


class Tap:
    """Holds the watchers of one or several connections, and what those connections were given that is secret."""

    def __init__(self) -> None:
        self.watchers: tuple[Watcher, ...] = ()
        self._connections: dict[str, int] = {}
        self._secrets: dict[str, None] = {}

    @property
    def secrets(self) -> tuple[str, ...]:
        """The secrets that were added, the oldest first; at most 256 of at most 4,096 characters."""
        return tuple(self._secrets)

    def add_secret(self, text: str) -> None:
        """Have every watcher keep a text to itself. To be called before the first message that holds it is sent.

        What a program enters into a page is added: typed, filled, pasted and set texts. Watchers that come later
        get to know it when they come.
        """
        if not text:
            return
        if len(text) <= _LONGEST_KEPT:
            self._secrets.pop(text, None)
            self._secrets[text] = None
            if len(self._secrets) > _SECRETS_KEPT:
                del self._secrets[next(iter(self._secrets))]
        for watcher in self.watchers:
            self._give_secret(watcher, text)

    def name_connection(self, endpoint: str) -> str:
        """Return what a connection is called in its Traffic: its endpoint, with a number from the second one on.

        Ids of commands are unique within one connection only, so two to the same endpoint need two names.
        """
        number = self._connections[endpoint] = self._connections.get(endpoint, 0) + 1
        return endpoint if number == 1 else f"{endpoint} #{number}"

    @contextmanager
    def watch(self, watcher: Watcher) -> Iterator[None]:
        """Pass all traffic to `watcher` while the body runs, in the order in which it went over the wire.

        A watcher that is given twice sees each message twice, until one of the two blocks is left.
        """
        self.watchers = (*self.watchers, watcher)
        for secret in self._secrets:
            self._give_secret(watcher, secret)
        try:
            yield
        finally:
            self._remove(watcher)

    def pass_on(self, traffic: Traffic) -> None:
        """Hand one message to every watcher. Callers test `watchers` first, so that an idle tap costs nothing."""
        if traffic.span is not None:
            traffic.span.taps.add(self)
        for watcher in self.watchers:
            try:
                watcher(traffic)
            except Exception:
                logger.exception(_FAILED)
                self._remove(watcher)

    def pass_on_http(self, exchange: HttpExchange) -> None:
        """Hand what was asked over HTTP to every watcher that wants to know it."""
        for watcher in self.watchers:
            if isinstance(watcher, HttpWatcher):
                try:
                    watcher.take_http(exchange)
                except Exception:
                    logger.exception(_FAILED)
                    self._remove(watcher)

    def end_span(self, span: Span, failed: str) -> None:
        """Tell every watcher that wants to know that an action is over, and the name of what ended it early."""
        import trio

        time = trio.current_time()
        for watcher in self.watchers:
            if isinstance(watcher, SpanWatcher):
                try:
                    watcher.span_ended(span, time, failed)
                except Exception:
                    logger.exception(_FAILED)
                    self._remove(watcher)

    def _give_secret(self, watcher: Watcher, text: str) -> None:
        if isinstance(watcher, SecretWatcher):
            try:
                watcher.add_secret(text)
            except Exception:
                logger.exception(_FAILED)
                self._remove(watcher)

    def _remove(self, watcher: Watcher) -> None:
        watchers = list(self.watchers)
        for index, other in enumerate(watchers):
            if other is watcher:
                del watchers[index]
                break
        self.watchers = tuple(watchers)
