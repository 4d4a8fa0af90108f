"""The queue of requests for pages: the next request, and its browser. Pure: no trio, no clock.

Rule: the highest priority comes first, then the oldest request. A request does not wait because another request
waits for its host or its named context. A lease uses the browser with the smallest used share of its capacity, by
weight, and among equal ones the browser that has served least.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from typing import Protocol

import attrs


@attrs.frozen(order=True)
class _Place:
    """The sort key of waiting requests."""

    before: int
    number: int


@attrs.define(eq=False)
class WaitingLease:
    """A waiting request for a page. `context` is the name of its context, None for a separate one.

    `url` is the address to visit. `host` is the host whose limits apply, or None.
    """

    number: int
    priority: int = 0
    context: str | None = None
    host: str | None = None
    url: str | None = None

    @property
    def place(self) -> _Place:
        """The position of the request in the queue."""
        return _Place(-self.priority, self.number)


class Room(Protocol):
    """The attributes of a browser that this module uses."""

    @property
    def free(self) -> int:
        """Number of further leases that the browser accepts now; 0 or less if it accepts none."""

    @property
    def taken(self) -> float:
        """Used share of its capacity, divided by its weight."""

    @property
    def served(self) -> int:
        """Number of leases so far."""

    def has_context(self, name: str) -> bool:
        """Return whether the browser has the context of that name."""


@attrs.define(eq=False)
class WaitingLeases:
    """The waiting requests in order."""

    _waiting: list[WaitingLease] = attrs.field(factory=list)

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[WaitingLease]:
        return iter(list(self._waiting))

    def add(self, waiting: WaitingLease) -> None:
        """Add a waiting request."""
        insort(self._waiting, waiting, key=lambda each: each.place)

    def remove(self, waiting: WaitingLease) -> None:
        """Remove a request, if it still waits."""
        if waiting in self._waiting:
            self._waiting.remove(waiting)

    def take_next(self, rooms: Iterable[Room], may_begin: MayBegin) -> tuple[WaitingLease, Room] | None:
        """Remove and return the next request and its browser, or None if no request can begin.

        `may_begin` is called for a request whose turn it is and that has a browser. It counts the requests that it
        permits.
        """
        open_rooms = [room for room in rooms if room.free > 0]
        all_rooms = list(rooms)
        if not open_rooms:
            return None
        refused: set[str] = set()
        for waiting in self._waiting:
            if waiting.host is not None and waiting.host in refused:
                continue
            room = _choose_room(waiting, open_rooms, all_rooms)
            if room is None:
                continue
            if not may_begin(waiting):
                if waiting.host is not None:
                    refused.add(waiting.host)
                continue
            self._waiting.remove(waiting)
            return waiting, room
        return None


class MayBegin(Protocol):
    """Predicate for whether a lease may begin now. It counts permitted leases."""

    def __call__(self, waiting: WaitingLease, /) -> bool:
        """Return whether the lease may begin."""


def _choose_room(waiting: WaitingLease, open_rooms: list[Room], all_rooms: list[Room]) -> Room | None:
    if waiting.context is not None:
        homes = [room for room in all_rooms if room.has_context(waiting.context)]
        if homes:
            return next((room for room in homes if room.free > 0), None)
    return min(open_rooms, key=lambda room: (room.taken, room.served))
