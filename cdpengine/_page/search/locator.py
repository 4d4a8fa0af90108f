"""Results of a search and locators, as targets of actions.

Rule: a FoundNode belongs to one document of one session, and is refused once that document is gone. A Locator
finds its element again for each action.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._checks import check_count
from cdpengine._pickling import not_picklable
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.other_libraries import ELEMENT, LOCATOR


@attrs.frozen
class FoundNode:
    """A result of `page.find`, as a target of actions. It always refers to the same node of one document.

    `description` is for messages. `backend_node_id` is Chrome's id for the node, in the process of `session_id`.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(ELEMENT)

    backend_node_id: int
    frame_id: str
    session_id: str | None
    loader_id: str
    description: str

    def __str__(self) -> str:
        return self.description


@not_picklable("data of the element: a text, a value, a snapshot")
@attrs.frozen(eq=False)
class Locator:
    """A description of an element, as a target of actions that find it again each time. See `page.locate`.

    An action waits for a match within its timeout, and acts on it. If the page replaces the element before that,
    the action finds it again. `type`, `press` and `drag` raise StaleRefError instead, because a repetition is
    unsafe. Raises the errors of `page.find`: NodeNotFoundError at the end of the timeout, AmbiguousNodeError
    immediately. `index` chooses one of several matches (from 0); None requires a single match.

    `internals` is the engine's own search for the match. It changes without notice.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(LOCATOR)

    description: str
    internals: Callable[[int | None, float], Awaitable[FoundNode]] = attrs.field(repr=False)
    index: int | None = None

    def __str__(self) -> str:
        return self.description if self.index is None else f"{self.description} (nth={self.index})"

    def nth(self, index: int) -> Locator:
        """Return the locator of the match number `index`, from 0. Raises InvalidArgumentError."""
        return attrs.evolve(self, index=check_index(index))


async def find_match(locator: Locator, deadline: float = 0.0) -> FoundNode:
    """Return the current match. Waits until the deadline (trio's clock). Raises the errors of `page.find`."""
    search, timeout = locator.internals, max(0.0, deadline - trio.current_time())
    return await search(locator.index, timeout)


def check_index(index: int) -> int:
    """Return `index`. Raises InvalidArgumentError unless it is 0 or more."""
    return check_count("nth", index)
