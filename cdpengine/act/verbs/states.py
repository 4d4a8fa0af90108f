"""Verbs about saved states: cookies, storages and databases of a session, saved and loaded by name."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine.act.fields import field
from cdpengine.act.notations import CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, ActRequest
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import escape_line

if TYPE_CHECKING:
    from cdpengine._storage.saved_states import SavedStates
    from cdpengine.act.performing import Performance

_NAME = (Place("NAME", "name"),)


@attrs.frozen(kw_only=True)
class SaveState(ActRequest):
    """Save the session's cookies, storages and databases under a name, encrypted.

    Includes the origins that its pages visited.
    """

    kind = "saveState"
    timing = LOADING
    needs_page = False
    tool = ToolForm(
        name="state",
        meaning="Save or load the logins of the browser by name: cookies, storages, databases.",
        action="save",
        capability="storage",
    )
    commands = (
        CommandForm(
            meaning="Save the session's cookies, storages and databases under NAME, encrypted.",
            places=_NAME,
            console=False,
        ),
    )

    name: str = field("The name of the state.")
    omit_databases: bool = field("Leave out the databases (IndexedDB).", False)

    async def run(self, performance: Performance) -> dict[str, Any]:
        states = _states(self.kind, performance)
        state = await performance.context.storage.state(
            origins=sorted(performance.actor.restored_origins),
            indexed_db=not self.omit_databases,
            session_storage=True,
            timeout=performance.left,
        )
        await trio.to_thread.run_sync(states.save, self.name, state)
        return {"cookies": len(state.cookies), "origins": [each.origin for each in state.origins]}


@attrs.frozen(kw_only=True)
class LoadState(ActRequest):
    """Load a saved state into the session. Its databases replace those of the same origins; other data stays.

    Pages that are open must be loaded again.
    """

    kind = "loadState"
    timing = LOADING
    needs_page = False
    tool = ToolForm(name="state", action="load", capability="storage")
    commands = (
        CommandForm(
            meaning="Load the saved state NAME into the session, usually before open.",
            places=_NAME,
            console=False,
        ),
    )

    name: str = field("The name of the state.")

    async def run(self, performance: Performance) -> dict[str, Any]:
        state = await trio.to_thread.run_sync(_states(self.kind, performance).load, self.name)
        storage = performance.context.storage
        for each in state.origins:
            if each.indexed_db:
                await storage.clear(each.origin, "indexeddb", timeout=performance.left)
        await storage.restore_state(state, timeout=performance.left)
        origins = [each.origin for each in state.origins]
        performance.actor.restored_origins.update(origins)
        return {"cookies": len(state.cookies), "origins": origins}


@attrs.frozen(kw_only=True)
class States(ActRequest):
    """Return the saved states."""

    kind = "states"
    listed = ("", "no saved states")
    in_order = False
    needs_page = False
    tool = ToolForm(name="state", action="list", capability="storage")
    commands = (CommandForm(meaning="Print the saved states.", console=False),)

    async def run(self, performance: Performance) -> list[dict[str, Any]]:
        found = await trio.to_thread.run_sync(_states(self.kind, performance).list)
        return [attrs.asdict(each) for each in found]

    @staticmethod
    def text_lines(result: Any) -> Iterable[str]:
        for each in result:
            time = datetime.fromtimestamp(each["time"]).astimezone()
            yield escape_line(f"{each['name']}  {time:%Y-%m-%d %H:%M}  {each['size']} bytes")


@attrs.frozen(kw_only=True)
class DeleteState(ActRequest):
    """Delete a saved state."""

    kind = "deleteState"
    needs_page = False
    tool = ToolForm(name="state", action="delete", capability="storage")
    commands = (CommandForm(meaning="Delete the saved state NAME.", places=_NAME, console=False),)

    name: str = field("The name of the state.")

    async def run(self, performance: Performance) -> None:
        await trio.to_thread.run_sync(_states(self.kind, performance).delete, self.name)


def _states(kind: str, performance: Performance) -> SavedStates:
    """Return the saved states of the actor. Raises InvalidArgumentError if it has none."""
    states = performance.actor.states
    if states is None:
        raise InvalidArgumentError(
            kind, "a saved state", "another request: there is no folder for states here"
        )
    return states
