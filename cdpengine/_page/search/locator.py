"""Results of a search and locators, as targets of actions.

Rule: a FoundNode belongs to one document of one session, and is refused once that document is gone. A locator
finds its element again for each action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._page.page_target import PageTarget
from cdpengine._page.search.queries import Known, Query
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.other_libraries import ELEMENT


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


class NodeSearch(Protocol):
    """The search of a page, or of one of its frames, for the matches of a query."""

    async def find_now(self, query: Query) -> FoundNode | None:
        """Return the single match if there is one now; None for any other result. Raises nothing."""

    async def find_one(self, query: Query, timeout: float) -> FoundNode:
        """Return the single match, waiting for it. Raises the errors of `page.find`."""

    async def find_all(self, query: Query, needed: int, timeout: float) -> list[FoundNode]:
        """Return the matches, waiting for `needed` of them if the timeout is above 0."""

    def describe(self, query: Query) -> str:
        """Return a description of the query, with the frame if it has one."""

    def is_of(self, page: PageTarget) -> bool:
        """Return whether the search is that of this page."""


@attrs.frozen
class BaseLocator:
    """What the engine needs of a locator: the query, and the search that resolves it. See `Locator`."""

    query: Query
    internals: NodeSearch = attrs.field(repr=False)

    @property
    def description(self) -> str:
        """The description for messages, such as `button "Save"`."""
        return self.internals.describe(self.query)

    @property
    def searches(self) -> bool:
        """Whether another element can become the match. False for a locator of a known element."""
        return not isinstance(self.query, Known)

    def check_page(self, page: PageTarget) -> None:
        """Raise InvalidArgumentError for a locator of another page, whose match is never in this one."""
        if not self.internals.is_of(page):
            raise InvalidArgumentError(
                "target", f"{self}, a locator of another page", "a locator of this page"
            )

    def __str__(self) -> str:
        return self.description

    def __repr__(self) -> str:
        return f"<Locator {self.description}>"


REPLACED = "it was replaced; finding it again"
"""The step of an action whose target's node was replaced."""


def finds_again(target: object) -> bool:
    """Return whether another element can become the node of a target: whether it is a Locator that searches."""
    return isinstance(target, BaseLocator) and target.searches


async def find_match(locator: BaseLocator, deadline: float = 0.0) -> FoundNode:
    """Return the current match. Waits until the deadline (trio's clock). Raises the errors of `page.find`."""
    search = locator.internals
    if (found := await search.find_now(locator.query)) is not None:
        return found
    return await search.find_one(locator.query, max(0.0, deadline - trio.current_time()))


async def find_all_matches(locator: BaseLocator, budget: Budget) -> list[FoundNode]:
    """Return all current matches in page order, without waiting. Raises the errors of `page.find_all`."""
    with budget.scope():
        return await locator.internals.find_all(locator.query, 0, 0.0)
    raise budget.exceeded()
