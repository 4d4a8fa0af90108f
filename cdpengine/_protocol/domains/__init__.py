"""The protocol's structures: one file a domain, each event, reply and type once; and which domains report.

Rule: a structure has the fields that are used, and a default for each field that the protocol calls optional. What
it decodes is described where it is defined (`event`, `reply`, `of_type`), so that a comparison of the engine with
a browser needs no list beside it.
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
"""Domains that a subscription enables by itself: their `enable` needs no parameters and does nothing but report.

Fetch would stop requests, Debugger would stop scripts, Overlay and WebAuthn change what the page does: these the
caller enables on purpose.
"""

NEEDS = {"CSS": ("DOM",)}
"""Domains whose `enable` is refused until others are enabled."""


# --- what each structure decodes -----------------------------------------------------------------------------

Part = Literal["reply", "event", "type"]

S = TypeVar("S", bound=type[msgspec.Struct])


@attrs.frozen
class Description:
    """`structure` decodes the `part` called `name`: the event or type of that name, or that command's reply.

    `brief`: it has only the few fields that some readers need, beside a structure that has all that are used.
    """

    name: str
    part: Part
    structure: type[msgspec.Struct]
    brief: bool = False


_described: list[Description] = []


def event(name: str, *, brief: bool = False) -> Callable[[S], S]:
    """Describe a structure as that of an event, such as "Page.frameNavigated"."""
    return _describe(name, "event", brief)


def reply(name: str, *, brief: bool = False) -> Callable[[S], S]:
    """Describe a structure as that of a command's reply, such as "Page.getFrameTree"."""
    return _describe(name, "reply", brief)


def of_type(name: str) -> Callable[[S], S]:
    """Describe a structure as that of a type which is decoded by itself, such as "Profiler.Profile"."""
    return _describe(name, "type", False)


def _describe(name: str, part: Part, brief: bool) -> Callable[[S], S]:
    def describe(structure: S) -> S:
        _described.append(Description(name, part, structure, brief))
        return structure

    return describe


def descriptions() -> list[Description]:
    """Return what every structure of this folder decodes, by name."""
    for module in iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    return sorted(_described, key=lambda each: (each.name, each.part, each.structure.__qualname__))
