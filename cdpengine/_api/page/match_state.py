"""The condition of `wait_for` that the match of a locator is in a state.

Rule: the locator searches again after each change of a document. So the condition follows the element when the
page replaces it, and a removed element counts as hidden and detached.
"""

from __future__ import annotations

import copy

import attrs

from cdpengine._api.page.core import PageCore
from cdpengine._api.page.waiting import NodeState
from cdpengine._input.node_states import NodeStates, read_checked, read_states
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.search.locator import BaseLocator
from cdpengine.errors import EngineError, NodeNotFoundError, SessionGoneError, StaleRefError


@attrs.define(eq=False)
class MatchState:
    """The condition that the single match of a locator is in a state."""

    _core: PageCore
    _locator: BaseLocator
    _state: NodeState
    _seen: str = "it was not searched"
    _holds: bool = False
    _failure: EngineError | None = None

    def words(self) -> str:
        """Return the description of the condition."""
        return f"{self._locator} is {self._state}"

    def observation(self) -> str:
        """Return the last observation."""
        return self._seen

    def holds(self) -> bool:
        """Return whether the condition held at the last search. Raises the error that makes it impossible."""
        if self._failure is not None:
            raise copy.copy(self._failure)
        return self._holds

    async def run(self) -> None:
        """Search after each change of a document, until cancelled or until the search is impossible."""
        watches = FrameWatches(self._core.target, self._core.worlds, [], changes=True)
        async with open_body_nursery() as nursery:
            nursery.start_soon(watches.run, name="watch for the state of a match")
            last_round = -1
            while self._failure is None:
                await self.confirm()
                await self._core.target.wait_for(lambda: watches.rounds != last_round)  # noqa: B023
                last_round = watches.rounds

    async def confirm(self) -> None:
        """Search again, and read the state of the match."""
        try:
            self._holds, self._seen = await self._look()
        except (NodeNotFoundError, StaleRefError):
            self._holds, self._seen = self._state in ("detached", "hidden"), "no element matched"
        except SessionGoneError:
            if self._core.target.closed:
                raise
            self._holds, self._seen = False, "its frame was replaced"
        except EngineError as error:
            self._failure = error
        self._core.target.changes.notify()

    async def _look(self) -> tuple[bool, str]:
        """Return whether the match is in the state, and its states. Raises NodeNotFoundError."""
        found = await self._locator.internals.find_one(self._locator.query, 0.0)
        if self._state in ("attached", "detached"):
            return self._state == "attached", f"{found} was attached"
        node = self._core.node(found)
        states = await read_states(node, self._core.worlds)
        true = await self._true_states(node, states)
        return self._state in true, f"{found} was {', '.join(true)}"

    async def _true_states(self, node: Node, states: NodeStates) -> list[NodeState]:
        """Return the present states of a node that is in its document."""
        true: list[NodeState] = ["visible" if states.visible else "hidden"]
        true.append("enabled" if states.enabled else "disabled")
        if self._state in ("checked", "unchecked"):
            _, checked = await read_checked(node, self._core.worlds)
            true.append("checked" if checked else "unchecked")
        return true
