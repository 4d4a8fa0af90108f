"""The listeners that a page added to a field itself: they tell the fields of masks from others.

Rule: Chrome is asked for the field alone, in 1 ms. Listeners of what is around it, such as those of React, say
nothing of it. A field that listens to its focus may change its value a moment after that; one that listens to
`keypress`, too, may make its value of them alone. The field is named as an object of the page's own world: asked
for one of an isolated world, Chrome's renderers crash at a later time.
"""

from __future__ import annotations

import attrs
import msgspec

from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.forms.related import related_node
from cdpengine._page.scripts.page_functions import object_group, post_resolve
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine.errors import RemoteError, StaleRefError

MASK_PAUSE = 0.02
"""Seconds after each key of a mask. Libraries put the caret in its place 10 ms after a key."""

_FOCUS = frozenset({"focus", "focusin"})
_CHARACTERS = "keypress"
_KEYS = frozenset({"keydown", _CHARACTERS})


class _Listener(msgspec.Struct):
    type: str = ""


class _OwnListeners(msgspec.Struct):
    """What Chrome answers for one element."""

    listeners: list[_Listener] = []


@attrs.frozen
class OwnListeners:
    """Whether a field listens to its focus; to its focus and keys; and to the characters that keys type."""

    focus: bool = False
    keys: bool = False
    characters: bool = False


async def own_listeners(inspection: Inspection, *, labelled: bool = False) -> OwnListeners:
    """Return what the node, or the control of the label that it is, listens to itself."""
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
        return OwnListeners()  # it is gone, which the text that follows finds out
    types = {each.type for each in answer.listeners}
    focus = not types.isdisjoint(_FOCUS)
    return OwnListeners(focus, focus and not types.isdisjoint(_KEYS), focus and _CHARACTERS in types)
