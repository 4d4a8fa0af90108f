"""Similar nodes: those that the error of a search by role and name lists, and the part without a match.

Rule: only a search that fails reads them. A search that waits reads them shortly before its deadline, because an
error that comes after the deadline is less specific. Without an answer in time, the error does not list them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import attrs
import trio

from cdpengine._api.page.core import PageCore
from cdpengine._api.page.frame_targets import FrameTarget, find_requested_frame
from cdpengine._budget import Budget
from cdpengine._page.frames import Frame
from cdpengine._page.patterns import Words
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.locator import FoundNode
from cdpengine._page.search.nodes import find_nodes
from cdpengine._page.search.queries import Filtered, Inside, Known, Query, split_pick
from cdpengine._snapshot.similar_names import MOST_LISTED, with_similar_name
from cdpengine._snapshot.text import shorten
from cdpengine.errors import EngineError

_READING = 1.0
"""Maximum time to read the nodes after a search that does not wait, in seconds."""

_LEAD = 0.5
"""Time before the end of a wait at which the nodes are read, in seconds; at most a quarter of the wait."""

_LONGEST_NODE = 60
_LONGEST_LIST = 200
"""Maximum length of the list, in characters, so that an error stays short."""


@attrs.define(eq=False)
class SimilarNodes:
    """The nodes with the role that `query` requests, and other names; or the surroundings that it lacks.

    The nodes are in all frames, or in `frame`.
    """

    _core: PageCore
    _query: Query
    _name: Words | None
    _frame: FrameTarget | None
    _found: list[FoundNode] = attrs.field(factory=list)
    _lacking: Query | None = None

    async def read_before(self, until: float, needed: Callable[[], bool]) -> None:
        """Read the nodes shortly before the end of a wait, a time of trio's clock, if they are needed then."""
        now = trio.current_time()
        await trio.sleep_until(until - min(_LEAD, (until - now) / 4))
        if needed():
            await self._read()

    async def read_now(self) -> None:
        """Read the nodes, briefly."""
        with trio.move_on_after(_READING):
            await self._read()

    async def _read(self) -> None:
        with suppress(EngineError):
            budget = Budget.start("read similar nodes", _LEAD)
            frame = await find_requested_frame(self._core, self._frame, budget)
            frames = None if frame is None else [frame]
            for scope in _scopes(self._query):
                if not await self._find(scope, frames):
                    self._lacking = scope
                    return
            if self._name is not None:
                self._found = await self._find(self._query, frames)

    async def _find(self, query: Query, frames: list[Frame] | None) -> list[FoundNode]:
        return await find_nodes(self._core.target, self._core.worlds, query, frames, single=True)

    def explain(self) -> str:
        """Return the end of the error's reason; "" if nothing is known."""
        if self._lacking is not None:
            return f"; nothing matches {shorten(str(self._lacking), _LONGEST_NODE)}"
        near = self._describe()
        return f"; near it: {near}" if near else ""

    def _describe(self) -> str:
        """Return descriptions of the nodes, the nearest first."""
        near = with_similar_name(self._found, _name_in, self._name) if isinstance(self._name, str) else []
        described = list(
            dict.fromkeys(shorten(each.description, _LONGEST_NODE) for each in near + self._found)
        )
        shown = described[:MOST_LISTED]
        while len(", ".join(shown)) > _LONGEST_LIST:
            shown.pop()
        more = f", and {len(described) - len(shown)} more" if len(described) > len(shown) else ""
        return ", ".join(shown) + more


def similar_nodes(core: PageCore, query: Query, frame: FrameTarget | None) -> SimilarNodes | None:
    """Return the similar nodes of a query, before they are read; None if the query gives no hint."""
    leaf = _named_leaf(query)
    if leaf is None and not _scopes(query):
        return None
    return SimilarNodes(core, _without_name(query), None if leaf is None else leaf.name, frame)


def _scopes(query: Query) -> list[Query]:
    """Return the queries for the surroundings of the matches, the outermost first."""
    scopes: list[Query] = []
    while isinstance(query, Inside | Filtered):
        if isinstance(query, Inside) and not isinstance(query.scope, Known):
            scope, _ = split_pick(query.scope)
            scopes += [*_scopes(scope), scope]
        query = query.base
    return scopes


def _named_leaf(query: Query) -> Criteria | None:
    """Return the leaf that a match must have, if it has a role and a name."""
    while isinstance(query, Inside | Filtered):
        query = query.base
    return query if isinstance(query, Criteria) and query.role and query.name is not None else None


def _without_name(query: Query) -> Query:
    if isinstance(query, Inside | Filtered):
        return attrs.evolve(query, base=_without_name(query.base))
    return attrs.evolve(query, name=None) if isinstance(query, Criteria) else query


def _name_in(node: FoundNode) -> str:
    """Return the name in a description such as `button "Save"`."""
    return node.description.partition(" ")[2].strip('"')
