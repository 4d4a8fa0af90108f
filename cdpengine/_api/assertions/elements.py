"""Looks at the elements of a locator: their number, one property of each, or their accessibility data.

Rule: an assertion about one element does not hold while several match, negated or not. Without a match, only
assertions about the presence or the visibility can hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

import attrs
import msgspec

from cdpengine._api.assertions.waiting import Look, Observation
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.finding import describe_matches
from cdpengine._api.page.locators import Locator
from cdpengine._budget import Budget
from cdpengine._page.navigation.documents import DocumentGone, FrameWatches
from cdpengine._page.search.locator import FoundNode, find_all_matches
from cdpengine._page.search.readings import Reading, ReadingRequest, read_nodes
from cdpengine._protocol.calls import pending_group
from cdpengine._protocol.domains.accessibility import AXTree, AXValue
from cdpengine._snapshot.roles import role_name
from cdpengine.errors import NodeNotFoundError, RemoteError, StaleRefError

_MOST_LISTED = 5
"""Maximum number of matches in an error."""

NO_MATCH = "no element matched"


@attrs.frozen
class Verdict:
    """Whether the observed elements have the expected property, and the property in words.

    `secret`: the error must not show the expected value.
    """

    holds: bool
    seen: str
    actual: str = ""
    secret: bool = False


@attrs.frozen
class ElementLook:
    """How the elements of a locator are looked at. `several`: any number of elements may match.

    `absent` is the verdict without a match, None if there is none.
    """

    core: PageCore
    locator: Locator
    negated: bool
    several: bool = False
    absent: bool | None = None

    def at_number(self, judge: Callable[[int], Verdict]) -> Look:
        """Return a look at the number of elements."""

        async def look(_watches: FrameWatches | None, budget: Budget) -> Observation:
            found = await self.find(budget)
            return self.observe(judge(len(found)), unmatched=not found)

        return look

    def at_readings(self, request: ReadingRequest, judge: Callable[[Sequence[Reading]], Verdict]) -> Look:
        """Return a look at one property of the elements."""

        async def look(watches: FrameWatches | None, budget: Budget) -> Observation:
            found = await self.find(budget)
            if (early := self.without_single(found)) is not None:
                return early
            readings = await read_nodes(self.core.target, self.core.worlds, found, request, watches)
            if not all(reading.attached for reading in readings):
                return self.observe_removal()
            return self.observe(judge(readings), unmatched=not found)

        return look

    def at_accessibility(self, judge: Callable[[AccessibilityData], Verdict]) -> Look:
        """Return a look at the role, name and description of the element in Chrome's accessibility tree."""

        async def look(_watches: FrameWatches | None, budget: Budget) -> Observation:
            found = await self.find(budget)
            if (early := self.without_single(found)) is not None:
                return early
            data = await _read_accessibility(self.core, found[0])
            return self.observe_removal() if data is None else self.observe(judge(data))

        return look

    async def find(self, budget: Budget) -> list[FoundNode]:
        """Return the present matches. Raises StaleRefError if the one element of the locator cannot come back."""
        try:
            return await find_all_matches(self.locator, budget)
        except (NodeNotFoundError, StaleRefError):
            if not self.locator.searches and self.absent is None:
                raise  # the element cannot come back
            return []

    def without_single(self, found: Sequence[FoundNode]) -> Observation | None:
        """Return the observation if there is no element, or if there are several but one is needed."""
        if not found and not self.several:
            return self._observe_absence(NO_MATCH)
        if len(found) > 1 and not self.several:
            return Observation(
                False, f"{len(found)} elements matched", describe=partial(self._describe, found)
            )
        return None

    async def _describe(self, found: Sequence[FoundNode]) -> list[str]:
        """Return the first matches with their refs."""
        listed = await describe_matches(self.core, found[:_MOST_LISTED])
        more = [f"- and {len(found) - _MOST_LISTED} more"] if len(found) > _MOST_LISTED else []
        return [*(f"- {each}" for each in listed), *more]

    def observe_removal(self) -> Observation:
        """Return the observation of an element that was removed after the search. Raises DocumentGone."""
        if self.locator.searches:
            raise DocumentGone  # search again
        return self._observe_absence("the element is no longer in the document")

    def _observe_absence(self, seen: str) -> Observation:
        return Observation(self.absent is not None and self.absent is not self.negated, seen, unmatched=True)

    def observe(self, verdict: Verdict, *, unmatched: bool = False) -> Observation:
        """Return the observation of a verdict, negated if the assertion is."""
        actual = "" if verdict.secret else verdict.actual
        holds = verdict.holds is not self.negated
        reveals = not verdict.secret
        return Observation(holds, verdict.seen, (), actual, reveals=reveals, unmatched=unmatched)


class AccessibilityData(msgspec.Struct):
    """The role (as in snapshots), name and description of an element. The role is "" if it is ignored."""

    role: str = ""
    name: str = ""
    description: str = ""


async def _read_accessibility(core: PageCore, node: FoundNode) -> AccessibilityData | None:
    """Return the data of a node, or None if Chrome no longer knows it."""
    frame = core.target.frames.get(node.frame_id)
    if frame is None or frame.loader_id != node.loader_id:
        raise DocumentGone(node.frame_id)
    with pending_group() as post, suppress(RemoteError):
        call = post(
            frame.session.post(
                "Accessibility.getPartialAXTree", backendNodeId=node.backend_node_id, fetchRelatives=False
            )
        )
        for found in (await call.decoded(AXTree)).nodes[:1]:
            role = "" if found.ignored else role_name(_string(found.role))
            return AccessibilityData(role, _string(found.name), _string(found.description))
    return None


def _string(value: AXValue | None) -> str:
    return "" if value is None or value.value is None else str(value.value)
