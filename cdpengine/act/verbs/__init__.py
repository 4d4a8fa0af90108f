"""The verbs: one class for each kind of request, in modules by area.

Rule: a class is the only declaration of its verb. `KINDS` has all classes; whatever lists verbs derives from it.
"""

from __future__ import annotations

from cdpengine.act.requests import ActRequest
from cdpengine.act.verbs import (
    activity,
    cache,
    dialogs,
    forms,
    keyboard,
    measuring,
    navigation,
    page,
    pictures,
    pointing,
    reading,
    storage,
    tabs,
    web,
    wire,
)

_AREAS = (
    keyboard, forms, pointing, navigation, page, reading, tabs, dialogs, web, activity, pictures, storage, wire,
    measuring, cache,
)  # fmt: skip
"""The modules, in the order of the kinds in lists."""

KINDS: dict[str, type[ActRequest]] = {
    kind.kind: kind
    for area in _AREAS
    for kind in vars(area).values()
    if isinstance(kind, type) and issubclass(kind, ActRequest) and kind.kind
}
"""All kinds of requests, by their names in JSON."""
