"""The verbs: one class for each kind of request, in modules by area.

Rule: a class is the only declaration of its verb. `KINDS` has all classes; whatever lists verbs derives from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType

from cdpengine.act.requests import ActRequest
from cdpengine.act.verbs import (
    activity,
    cache,
    dialogs,
    elements,
    emulation,
    forms,
    keyboard,
    measuring,
    navigation,
    page,
    pictures,
    pointing,
    reading,
    routing,
    states,
    storage,
    tabs,
    web,
    wire,
)

AREAS: Mapping[str, Sequence[ModuleType]] = {
    "elements": (keyboard, forms, pointing),
    "the page": (navigation, page),
    "tabs": (tabs,),
    "dialogs and files": (dialogs,),
    "reading": (reading, elements, web, activity, pictures),
    "storage": (storage, states),
    "emulation and routes": (emulation, routing),
    "the wire": (wire,),
    "measurements": (measuring,),
    "the action cache": (cache,),
}
"""The modules, in the order of the kinds in lists."""

KINDS: dict[str, type[ActRequest]] = {
    kind.kind: kind
    for area in AREAS.values()
    for module in area
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, ActRequest) and kind.kind
}
"""All kinds of requests, by their names in JSON."""
