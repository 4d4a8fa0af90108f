"""The listeners that a page added to a field itself: they tell the fields of masks from others.

Rule: Chrome is asked for the field alone, in 1 ms. Listeners of what is around it, such as those of React, say
nothing of it. A field that listens to its focus may change its value a moment after that; one that listens to
keys, too, may make its value of them alone.
"""

from __future__ import annotations

import attrs
import msgspec

from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.forms.related import object_from
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine.errors import RemoteError

MASK_PAUSE = 0.02
"""Seconds after each key of a mask. Libraries put the caret in its place 10 ms after a key."""

_FOCUS = frozenset({"focus", "focusin"})
_KEYS = frozenset({"keydown", "keypress"})


class _Listener(msgspec.Struct):
    type: str = ""


class _OwnListeners(msgspec.Struct):
    """What Chrome answers for one element."""

    listeners: list[_Listener] = []


@attrs.frozen
class OwnListeners:
    """Whether a field listens to its focus, and to its focus and keys."""

    focus: bool = False
    keys: bool = False


async def own_listeners(inspection: Inspection, *, labelled: bool = False) -> OwnListeners:
    """Return what the node, or the control of the label that it is, listens to itself."""
    handle = await inspection.handle()
    if handle is None:
        return OwnListeners()
    try:
        field: RemoteHandle | None = handle.object
        if labelled:
            field = await object_from(handle, "_input/forms/control", None)
        if field is None:
            return OwnListeners()
        found = await field.session.request(
            "DOMDebugger.getEventListeners",
            {"objectId": field.reference, "depth": 1, "pierce": True},
            _OwnListeners,
        )
    except RemoteError:
        return OwnListeners()  # it is gone, which the text that follows finds out
    types = {each.type for each in found.listeners}
    focus = not types.isdisjoint(_FOCUS)
    return OwnListeners(focus, focus and not types.isdisjoint(_KEYS))
