"""The one place where traffic can be watched: recorder, statistics, log.

Rule: with nobody watching, the cost is one test for an empty tuple a message. A watcher is called in the
reader's or the writer's task: it takes the message and returns at once; it never waits. A watcher that raises
is taken out and logged: whoever looks on must not be able to break what he looks at.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, Protocol

import attrs

logger = logging.getLogger("cdpengine.wire")


@attrs.frozen
class Traffic:
    """One message on the wire. `time` is trio's clock in seconds, `connection` names the connection."""

    time: float
    direction: Literal["sent", "received"]
    connection: str
    message: bytes | str


class Watcher(Protocol):
    """Anything that can be called with a Traffic."""

    def __call__(self, traffic: Traffic, /) -> None:
        """Take one message. Must not block."""


class Tap:
    """Holds the watchers of one or several connections."""

    def __init__(self) -> None:
        self.watchers: tuple[Watcher, ...] = ()

    @contextmanager
    def watch(self, watcher: Watcher) -> Iterator[None]:
        """Pass all traffic to `watcher` while the body runs, in the order in which it went over the wire.

        A watcher that is given twice sees each message twice, until one of the two blocks is left.
        """
        self.watchers = (*self.watchers, watcher)
        try:
            yield
        finally:
            self._remove(watcher)

    def pass_on(self, traffic: Traffic) -> None:
        """Hand one message to every watcher. Callers test `watchers` first, so that an idle tap costs nothing."""
        for watcher in self.watchers:
            try:
                watcher(traffic)
            except Exception:
                logger.exception("a watcher of the traffic failed and was taken out")
                self._remove(watcher)

    def _remove(self, watcher: Watcher) -> None:
        watchers = list(self.watchers)
        for index, other in enumerate(watchers):
            if other is watcher:
                del watchers[index]
                break
        self.watchers = tuple(watchers)
