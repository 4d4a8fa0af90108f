"""The wait for an assertion: look at the page, and look again after each change, until the deadline.

Rule: nothing is sent while the page does not change. Watches in the documents report mutations, events and other
changes. A look that finds the documents replaced is repeated in the next ones. The first look needs no watch, so
an assertion that already holds costs one look. The failure has the expected state and the observed ones over time.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeAlias, TypeVar

import attrs
import trio

from cdpengine._api.page.core import PageCore
from cdpengine._api.page.similar_nodes import SimilarNodes
from cdpengine._budget import Budget, check_timeout
from cdpengine._nursery import open_body_nursery
from cdpengine._page.announcing import announce_read
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import DocumentGone, FrameWatches
from cdpengine._page.search.readings import watch_source
from cdpengine.errors import (
    AssertionFailedError,
    DeadlineExceededError,
    PageUnresponsiveError,
    SessionGoneError,
)
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.texts import duration

T = TypeVar("T")

SINGLE_LOOK = 5.0
"""Timeout in seconds of an assertion that does not wait (`timeout=0`)."""

_MOST_ENTRIES = 8
"""Maximum number of observations in an error."""

_LEAST_PAUSE = 0.01
"""Minimum time in seconds between two looks at a page that changes all the time."""

_COST_SHARE = 2
"""Minimum time between two looks, as a multiple of the time that the last look took."""

_LONGEST_PAUSE = 0.25

_RETRY_PAUSE = 0.05
"""Pause in seconds before a document that was being replaced is looked at again."""

_REPLACED = "it was being replaced"


@attrs.frozen
class Observation:
    """The result of one look: whether the assertion holds, and the observed state in a few words.

    `details` are more lines for the error, such as a diff. `actual` is the complete observed value. `describe`
    returns details that take time, such as the matches with their refs. `reveals`: the element is known, and its
    value is not secret, so the error may show the expected value. `unmatched`: no element matches.
    """

    holds: bool
    seen: str
    details: Sequence[str] = ()
    actual: str = ""
    describe: Callable[[], Awaitable[Sequence[str]]] | None = None
    reveals: bool = False
    unmatched: bool = False


Look: TypeAlias = Callable[["FrameWatches | None", Budget], Awaitable[Observation]]
"""A look at the page: takes the running watches, or None at the first look, and returns the present state.

It may raise DocumentGone, and is repeated then.
"""


@attrs.define
class Seen:
    """The observations over time, each different from the one before it."""

    began: float = attrs.field(factory=trio.current_time)
    entries: list[tuple[float, str]] = attrs.field(factory=list)

    def add(self, text: str) -> None:
        """Add an observation made now, unless it repeats the last one."""
        if not self.entries or self.entries[-1][1] != text:
            self.entries.append((trio.current_time() - self.began, text))
            if len(self.entries) > 2 * _MOST_ENTRIES:
                del self.entries[_MOST_ENTRIES // 2]

    def lines(self) -> tuple[str, ...]:
        """Return the first and the last observations with their times."""
        lines = [f"at {duration(after)}: {text}" for after, text in self.entries]
        if len(lines) > _MOST_ENTRIES:
            half = _MOST_ENTRIES // 2
            lines = [*lines[:half], *lines[-half:]]
        return tuple(lines)


def name_negations(kind: type[T]) -> type[T]:
    """Let an unknown name of an assertion class, such as `not_to_be_visible`, lead to `not_.to_be_visible`."""
    names = {f"not_{name}": f"expect(...).not_.{name}(...)" for name in vars(kind) if name.startswith("to_")}
    setattr(kind, "__getattr__", name_ours(names))  # noqa: B010 - for the type checker
    return kind


@attrs.frozen
class Assertion:
    """An assertion in words, and how to look whether it holds.

    `words` continue "expected", such as 'button "Pay" to be enabled'. `veiled` are the words without the expected
    value, "" if that is never secret. `frames` returns the frames whose changes can change the result; None means
    all of them. `follow` runs during the wait and notices changes that the watches do not; `count` counts these.
    `similar` are the nodes that the error of an assertion without a match lists.
    """

    core: PageCore
    words: str
    look: Look
    frames: Callable[[], Sequence[Frame]] | None = None
    veiled: str = ""
    follow: Callable[[], Awaitable[None]] | None = None
    count: Callable[[], int] = int
    similar: SimilarNodes | None = None

    async def check(self, timeout: float) -> None:
        """Wait until the assertion holds. Raises AssertionFailedError, and the errors of a page that ended.

        With timeout 0, looks only once.
        """
        arguments = {"expected": self.veiled or self.words}
        listeners = self.core.target.running.read_listeners
        await announce_read("expect", arguments, listeners, partial(self._check, timeout))

    async def _check(self, timeout: float) -> None:
        seconds = check_timeout(timeout)
        action, seen = f"expect {self.veiled or self.words}", Seen()
        latest: list[Observation] = []
        try:
            async with self.core.action(action, seconds or SINGLE_LOOK, everywhere=True) as budget:
                if await self._look_once(None, budget, seen, latest):
                    return
                if seconds:
                    await self._wait(budget, seen, latest)
                    return
        except PageUnresponsiveError:
            raise
        except DeadlineExceededError as late:
            if not latest:
                last = late.steps[-1] if late.steps else "the page did not answer"
                latest.append(Observation(False, f"the page was not read: {last}"))
        if not seconds and latest[-1].unmatched and self.similar is not None:
            await self.similar.read_now()
        raise self._failure(latest[-1], seconds, seen)

    async def _wait(self, budget: Budget, seen: Seen, latest: list[Observation]) -> None:
        target = self.core.target
        watches = FrameWatches(
            target,
            self.core.worlds,
            [],
            frames=self.frames,
            changes=True,
            surroundings=True,
            source=watch_source(),
        )
        async with open_body_nursery() as nursery:
            nursery.start_soon(watches.run, name="watch for an assertion")
            if self.follow is not None:
                nursery.start_soon(self.follow, name="follow an assertion")
            if self.similar is not None:
                read = partial(self.similar.read_before, budget.deadline, lambda: latest[-1].unmatched)
                nursery.start_soon(read, name="read similar nodes")

            def state() -> tuple[int, int, str]:
                return watches.rounds, self.count(), target.frames.main.url

            known: tuple[int, int, str] | None = None
            while True:
                await target.wait_for(lambda: state() != known)  # noqa: B023
                known = state()
                began = trio.current_time()
                if await self._look_once(watches, budget, seen, latest):
                    return
                pause = max(_LEAST_PAUSE, _COST_SHARE * (trio.current_time() - began))
                if latest[-1].seen == _REPLACED:  # the watches may have reported the new document before
                    known, pause = None, max(pause, _RETRY_PAUSE)
                await trio.sleep(min(_LONGEST_PAUSE, pause))

    async def _look_once(
        self, watches: FrameWatches | None, budget: Budget, seen: Seen, latest: list[Observation]
    ) -> bool:
        """Look, record the observation and return whether the assertion holds."""
        try:
            observation = await self.look(watches, budget)
        except DocumentGone:
            observation = Observation(False, _REPLACED)
        except SessionGoneError:
            if self.core.target.closed or self.core.session.crashed:
                raise
            observation = Observation(False, _REPLACED)
        except PageUnresponsiveError:
            raise
        except DeadlineExceededError as late:
            if budget.remaining <= 0:
                raise
            observation = Observation(False, str(late).partition("\n")[0])
        seen.add(observation.seen)
        latest[:] = [observation]
        if observation.describe is not None:  # the deadline may come before the end of it
            latest[:] = [attrs.evolve(observation, details=await observation.describe())]
        return observation.holds

    def _failure(self, last: Observation, timeout: float, seen: Seen) -> AssertionFailedError:
        similar = self.similar.explain() if last.unmatched and self.similar is not None else ""
        return AssertionFailedError(
            expectation=self.words if last.reveals else self.veiled or self.words,
            observed=last.seen + similar,
            timeout=timeout,
            seen=seen.lines(),
            details=tuple(last.details),
            actual=last.actual,
        )
