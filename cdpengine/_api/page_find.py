"""PageFind: nodes of a page by CSS, visible text, role and accessible name, as targets of actions.

Rule: one node that is asked for is one node: where several match, that is an error which lists them, not a guess.
"""

from __future__ import annotations

import trio

from cdpengine._api.page_base import PageBase
from cdpengine._budget import Budget, check_timeout
from cdpengine._nursery import open_body_nursery
from cdpengine._page.finding import FoundNode, Wanted, find_nodes
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.frame_watches import FrameWatches
from cdpengine._page.wanted_text import Words
from cdpengine._snapshot.roles import ELEMENTS, UNTOLD
from cdpengine._snapshot.vocabulary import asked_role, called, chrome_roles
from cdpengine.errors import (
    AmbiguousNodeError,
    DeadlineExceededError,
    InvalidArgumentError,
    NodeNotFoundError,
    PageUnresponsiveError,
)

_LOOK = 5.0
"""Seconds that one look may take where nothing is waited for."""

_MARGIN = 0.1
"""Seconds, at most a tenth of the timeout, in which the named error is raised before the deadline cuts in."""

_SHOWN = 5
"""Candidates that an error lists."""


def _wanted(css: str | None, role: str | None, name: Words | None, text: Words | None, exact: bool) -> Wanted:
    if role is None:
        return Wanted(css, None, name, text, exact, called=called)
    known = asked_role(role)
    told = {role: ELEMENTS.get(role) for role in sorted(chrome_roles(known))}
    return Wanted(css, known, name, text, exact, told, UNTOLD.get(known), called)


class PageFind(PageBase):
    """The part of a Page that finds."""

    async def find(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        exact: bool = False,
        nth: int | None = None,
        frame: Frame | None = None,
        timeout: float = 0,
    ) -> FoundNode:
        """Return the one node that matches all that is given; it can be the target of any action.

        `css` is a selector, asked in the documents of all frames (the main one first) and in each open shadow
        root. `role` is what a snapshot calls it, in any mode; `name` is the whole name, as Chrome computes it,
        white space collapsed, in the same case or, where no name has the same case and `exact` is False, in any.

        `text` is visible text, in any case of letters: it finds the smallest element that holds it, or with
        `css`, `role` or `name` those that hold it. With `exact` it is all that an element says, in the same case,
        as it is shown. Name and text can be compiled patterns, too, which are searched for; `exact` changes
        nothing then.
        `nth` (from 0) chooses one of several. `frame` restricts the search to one of `frames`.

        `timeout` (seconds) above 0 waits until there is one. Raises NodeNotFoundError when there is none by then,
        AmbiguousNodeError at once when several match and `nth` is None, DeadlineExceededError when the page does
        not answer, and InvalidArgumentError for what is no selector, and for what is no role, naming the nearest
        ones.
        """
        if nth is not None and (isinstance(nth, bool) or not isinstance(nth, int) or nth < 0):
            raise InvalidArgumentError(what="nth", given=repr(nth), expected="0 or more")
        wanted = _wanted(css, role, name, text, exact)
        needed = 1 if nth is None else nth + 1
        found = await self._find(wanted, frame, needed, timeout)
        if nth is None and len(found) > 1:
            candidates = tuple(node.description for node in found[:_SHOWN])
            raise AmbiguousNodeError(target=f"find {wanted}", count=len(found), candidates=candidates)
        if len(found) >= needed:
            return found[needed - 1]
        waited = f" within {timeout:g} s" if timeout else ""
        reason = f"only {len(found)} of these{waited}" if found else f"there is none{waited}"
        raise NodeNotFoundError(target=f"find {wanted}", reason=f"{reason}, in {self._where(frame)}")

    async def find_all(
        self,
        css: str | None = None,
        *,
        role: str | None = None,
        name: Words | None = None,
        text: Words | None = None,
        exact: bool = False,
        frame: Frame | None = None,
        timeout: float = 0,
    ) -> list[FoundNode]:
        """Return all nodes that match, as `find` does, in the order of the page; at most 2000 of a document.

        `timeout` (seconds) above 0 waits until there is at least one. Without any, the list is empty.
        """
        return await self._find(_wanted(css, role, name, text, exact), frame, 1, timeout)

    async def _find(
        self, wanted: Wanted, frame: Frame | None, needed: int, timeout: float
    ) -> list[FoundNode]:
        seconds = check_timeout(timeout)
        latest: list[list[FoundNode]] = []
        try:
            async with self._action(f"find {wanted}", seconds or _LOOK) as budget:
                found = await self._look(wanted, frame)
                if len(found) >= needed or not seconds:
                    return found
                latest.append(found)
                with trio.move_on_at(budget.deadline - min(_MARGIN, seconds / 10)):
                    await self._wait_for_nodes(wanted, frame, needed, latest, budget)
        except PageUnresponsiveError:
            raise
        except DeadlineExceededError:
            if not latest:
                raise
            # On a busy machine the margin is over before anybody notices; what was seen is known all the same.
        return latest[0]

    async def _look(self, wanted: Wanted, frame: Frame | None) -> list[FoundNode]:
        return await find_nodes(self._target, self._worlds, wanted, self._frames_in(frame))

    async def _wait_for_nodes(
        self,
        wanted: Wanted,
        frame: Frame | None,
        needed: int,
        latest: list[list[FoundNode]],
        budget: Budget,
    ) -> None:
        """Look again after each change of a document, until there are enough nodes."""
        budget.step("waiting for it")
        watches = FrameWatches(
            self._target, self._worlds, [], frames=lambda: self._frames_in(frame), changes=True
        )
        async with open_body_nursery() as nursery:
            nursery.start_soon(watches.run, name="watch for nodes")
            seen = -1
            while len(latest[0]) < needed:
                await self._target.wait_for(lambda: watches.rounds != seen)  # noqa: B023
                seen = watches.rounds
                latest[0] = await self._look(wanted, frame)

    def _frames_in(self, frame: Frame | None) -> list[Frame]:
        if frame is None:
            return list(self._target.frames)
        present = self._target.frames.get(frame.id)
        return [] if present is None else [present]

    def _where(self, frame: Frame | None) -> str:
        frames = self._frames_in(frame)
        return f"{len(frames)} frames" if len(frames) != 1 else "the frame" if frame else "the page"
