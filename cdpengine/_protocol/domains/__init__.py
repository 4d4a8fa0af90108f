"""The protocol's structures: one file per domain, each event, reply and type once; and the reporting domains.

Rule: a structure has only the fields that are used, and a default for each field that the protocol calls optional.
Decorators (`event`, `reply`, `of_type`) describe what each structure decodes, so that a comparison of the engine
with a browser needs no other list.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, TypeVar

import attrs
import msgspec

REPORTING_DOMAINS = frozenset(
    {
        "Accessibility",
        "Animation",
        "Audits",
        "CSS",
        "Console",
        "DOM",
        "DOMStorage",
        "Inspector",
        "LayerTree",
        "Log",
        "Media",
        "Network",
        "Page",
        "Performance",
        "Preload",
        "Runtime",
        "Security",
        "ServiceWorker",
        "WebAudio",
    }
)
"""Domains that a subscription enables automatically: their `enable` needs no parameters and has no other effect.

Fetch would stop requests, Debugger would stop scripts, Overlay and WebAuthn change the page's behaviour: the
caller enables these explicitly.
"""

NEEDS = {"CSS": ("DOM",)}
"""Other domains that must be enabled before a domain's `enable`."""


# --- decorators that describe structures ---------------------------------------------------------------------

Part = Literal["reply", "event", "type"]

S = TypeVar("S", bound=type[msgspec.Struct])


@attrs.frozen
class Description:
    """The purpose of a structure: it decodes the event, type or command reply (`part`) called `name`.

    `brief`: it has only the few fields that some readers need, in addition to a structure with all used fields.
    """

    name: str
    part: Part
    structure: type[msgspec.Struct]
    brief: bool = False


_described: list[Description] = []


def event(name: str, *, brief: bool = False) -> Callable[[S], S]:
    """Mark a structure as the parameters of an event, such as "Page.frameNavigated"."""
    return _describe(name, "event", brief)


def reply(name: str, *, brief: bool = False) -> Callable[[S], S]:
    """Mark a structure as the reply of a command, such as "Page.getFrameTree"."""
    return _describe(name, "reply", brief)


def of_type(name: str) -> Callable[[S], S]:
    """Mark a structure as a type that is decoded separately, such as "Profiler.Profile"."""
    return _describe(name, "type", False)


def _describe(name: str, part: Part, brief: bool) -> Callable[[S], S]:
    def describe(structure: S) -> S:
        _described.append(Description(name, part, structure, brief))
        return structure

    return describe


def descriptions() -> list[Description]:
    """Return the descriptions of all structures of this folder, sorted by name."""
    for module in iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    return sorted(_described, key=lambda each: (each.name, each.part, each.structure.__qualname__))
