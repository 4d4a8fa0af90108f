"""The next lease of a page, and its browser: compared with rules written in the slow way."""

from __future__ import annotations

import os
from random import Random

import attrs
import pytest

from cdpengine.pool.process_memory import descendants, tree_memory
from cdpengine.pool.queue import WaitingLease, WaitingLeases


@attrs.define(eq=False)
class Browser:
    """A minimal browser for this test."""

    pages: int
    weight: float = 1.0
    ready: bool = True
    names: set[str] = attrs.field(factory=set)
    leases: list[WaitingLease] = attrs.field(factory=list)
    served: int = 0

    @property
    def free(self) -> int:
        return self.pages - len(self.leases) if self.ready else 0

    @property
    def taken(self) -> float:
        return len(self.leases) / (self.pages * self.weight)

    def has_context(self, name: str) -> bool:
        return name in self.names


def expected(
    waiting: list[WaitingLease], browsers: list[Browser], blocked: set[str]
) -> tuple[WaitingLease, list[Browser]] | None:
    """Return the next task, and the browsers that are equally good for it."""
    for each in sorted(waiting, key=lambda each: (-each.priority, each.number)):
        if each.host in blocked:
            continue
        homes = [browser for browser in browsers if each.context and browser.has_context(each.context)]
        rooms = [browser for browser in homes or browsers if browser.free > 0]
        if rooms:
            best = min((room.taken, room.served) for room in rooms)
            return each, [room for room in rooms if (room.taken, room.served) == best]
    return None


@pytest.mark.parametrize("seed", range(40))
def test_a_random_walk_follows_the_rules(seed: int) -> None:
    random = Random(seed)
    browsers = [
        Browser(random.randint(1, 3), random.choice([0.5, 1, 2])) for _ in range(random.randint(1, 4))
    ]
    queue = WaitingLeases()
    waiting: list[WaitingLease] = []
    given = added = left = 0
    for step in range(400):
        move = random.random()
        if move < 0.4:
            context = random.choice([None, None, "a", "b"])
            host = random.choice([None, "x", "y"])
            one = WaitingLease(step, priority=random.randint(0, 2), context=context, host=host)
            queue.add(one)
            waiting.append(one)
            added += 1
        elif move < 0.45 and waiting:
            gone = random.choice(waiting)
            queue.remove(gone)
            queue.remove(gone)  # removing twice is the same as once
            waiting.remove(gone)
            left += 1
        elif move < 0.55:
            browser = random.choice(browsers)
            browser.ready = not browser.ready
        elif move < 0.75 and (busy := [browser for browser in browsers if browser.leases]):
            browser = random.choice(busy)
            browser.leases.pop(random.randrange(len(browser.leases)))
        else:
            blocked = set(random.sample(["x", "y"], random.randint(0, 2)))
            found = queue.take_next(browsers, lambda each, blocked=blocked: each.host not in blocked)
            wanted = expected(waiting, browsers, blocked)
            assert (found is None) == (wanted is None)
            if found is not None and wanted is not None:
                assert found[0] is wanted[0]
                assert found[1] in wanted[1]
                waiting.remove(found[0])
                room = found[1]
                assert isinstance(room, Browser)
                room.leases.append(found[0])
                room.served += 1
                if found[0].context:
                    room.names.add(found[0].context)
                given += 1
        assert len(queue) == len(waiting) == added - left - given
        assert all(len(browser.leases) <= browser.pages for browser in browsers)


def test_a_limited_host_is_asked_once_a_turn() -> None:
    queue = WaitingLeases()
    for number in range(5):
        queue.add(WaitingLease(number, host="slow"))
    queue.add(WaitingLease(5, host="quick"))
    asked: list[str | None] = []

    def may_begin(waiting: WaitingLease) -> bool:
        asked.append(waiting.host)
        return waiting.host == "quick"

    found = queue.take_next([Browser(1)], may_begin)
    assert found is not None
    assert found[0].number == 5
    assert asked == ["slow", "quick"]


def test_the_descendants_of_a_process() -> None:
    parents = {2: 1, 3: 2, 4: 2, 5: 4, 6: 1, 1: 0, 7: 7}
    assert sorted(descendants(2, parents)) == [2, 3, 4, 5]
    assert descendants(7, parents) == [7]  # its own parent: no such process exists, and the walk ends
    assert descendants(99, parents) == [99]


def test_the_memory_of_a_process_tree() -> None:
    held = bytearray(os.urandom(1 << 20) * 64)
    before = tree_memory(os.getpid())
    assert before > len(held)
    del held
    assert before - tree_memory(os.getpid()) > 48 << 20
    assert tree_memory(2**22 + 1) == 0  # above the highest process id of Linux
