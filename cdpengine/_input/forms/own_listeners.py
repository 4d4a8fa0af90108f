"""Event listeners that a page added to a field: masked fields have some, most other fields have none.

Rule: only listeners of the field itself count, which Chrome returns in 1 ms. Listeners of its ancestors, such as
React's, mean nothing. A field with a listener for its focus may change its value shortly after the focus. A field
that also listens to `keypress` may build its value from those events only. The field is resolved in the page's
main world: if Chrome is asked for an object of an isolated world, the renderer crashes later (measured).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

import attrs
import msgspec

from cdpengine._input.action import ActionContext
from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.actionability.key_guard import KeyGuard
from cdpengine._input.forms.related import related_node
from cdpengine._page.scripts.page_functions import object_group, post_resolve
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine.errors import RemoteError, StaleRefError

_FOCUS = frozenset({"focus", "focusin"})
_CHARACTERS = "keypress"
_KEYS = frozenset({"keydown", _CHARACTERS})


class _Listener(msgspec.Struct):
    type: str = ""


class _OwnListeners(msgspec.Struct):
    """Chrome's response for one element."""

    listeners: list[_Listener] = []


@attrs.frozen
class OwnListeners:
    """Whether a field listens to its focus; whether it also listens to keys; whether also to typed characters."""

    focus: bool = False
    keys: bool = False
    characters: bool = False


async def own_listeners(inspection: Inspection, *, labelled: bool = False) -> OwnListeners:
    """Return the listeners of the node, or of the control whose label the node is."""
    node = inspection.node
    try:
        if labelled:
            name = "_input/forms/control"
            found = await related_node(node, name, None, node.description, worlds=inspection.worlds)
            if found is None:
                return OwnListeners()
            node = found
        with object_group("listeners") as group:
            resolved = post_resolve(node.session, node.backend_node_id, group=group)
            field = (await resolved.decoded(ResolveNodeReply)).object.object_id
            answer = await node.session.request(
                "DOMDebugger.getEventListeners", {"objectId": field}, _OwnListeners
            )
    except (RemoteError, StaleRefError):
        return OwnListeners()  # it is gone, and the next command on it will report that
    types = {each.type for each in answer.listeners}
    focus = not types.isdisjoint(_FOCUS)
    return OwnListeners(focus, focus and not types.isdisjoint(_KEYS), focus and _CHARACTERS in types)


def pace_of(guard: KeyGuard, context: ActionContext) -> Callable[[], Awaitable[None]]:
    """Return the wait between two keys for a mask: until the page has done what it scheduled at the last key."""
    return partial(guard.wait_for_key_effects, context.interruptions, context.navigation)
