"""WaitingLeases: who waits for a page, and who gets one next in which browser. Pure: no trio, no clock.

Rule: among those that wait, the one of the highest priority goes first, and among equals the one that came first;
but nobody waits for another one's host, or for another one's named context. A lease goes to the browser with the
smallest share of its room taken, weighted; among equals to the one that has served least.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator
from typing import Protocol

import attrs


@attrs.frozen(order=True)
class _Place:
    """The order in which those that wait are looked at."""

    before: int
    number: int


@attrs.define(eq=False)
class WaitingLease:
    """Somebody who waits for a page. `context`: the name of the context that it is to be in, None: one of its own.

    `url` is what is to be visited, and `host` what limits go by, None where nothing limits it.
    """

    number: int
    priority: int = 0
    context: str | None = None
    host: str | None = None
    url: str | None = None

    @property
    def place(self) -> _Place:
        """Where it stands among the others."""
        return _Place(-self.priority, self.number)


class Room(Protocol):
    """What this module asks of a browser."""

    @property
    def free(self) -> int:
        """How many more pages it can give now; 0 or less where it gives none."""

    @property
    def taken(self) -> float:
        """The share of its room that is taken, by its weight."""

    @property
    def served(self) -> int:
        """How many leases it has had."""

    def has_context(self, name: str) -> bool:
        """Say whether the context of that name is in it."""


@attrs.define(eq=False)
class WaitingLeases:
    """Those that wait, in order."""

    _waiting: list[WaitingLease] = attrs.field(factory=list)

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[WaitingLease]:
        return iter(list(self._waiting))

    def add(self, waiting: WaitingLease) -> None:
        """Add one."""
        insort(self._waiting, waiting, key=lambda each: each.place)

    def remove(self, waiting: WaitingLease) -> None:
        """Remove one, which may be gone already."""
        if waiting in self._waiting:
            self._waiting.remove(waiting)

    def take_next(self, rooms: Iterable[Room], may_begin: MayBegin) -> tuple[WaitingLease, Room] | None:
        """Remove and return who begins now, and where; None where nobody can.

        `may_begin` is asked of one whose turn it is and for whom there is room; it counts what it lets go.
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
    """Says whether a lease may begin now, and counts it where it does."""

    def __call__(self, waiting: WaitingLease, /) -> bool:
        """Say it."""


def _choose_room(waiting: WaitingLease, open_rooms: list[Room], all_rooms: list[Room]) -> Room | None:
    if waiting.context is not None:
        homes = [room for room in all_rooms if room.has_context(waiting.context)]
        if homes:
            return next((room for room in homes if room.free > 0), None)
    return min(open_rooms, key=lambda room: (room.taken, room.served))
