"""The table of tools for models. Each tool represents one or several kinds of requests.

Rule: the classes of the verbs declare the tools. Models read the whole list in each conversation, so it is short:
it explains each field once and omits fields that no model needs. Tools are grouped by capability; only "core" is
on by default.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, get_args

import attrs

from cdpengine._checks import check_choice
from cdpengine.act.fields import snake_case, summary_of
from cdpengine.act.notations import Capability, ToolForm
from cdpengine.act.requests import ActRequest
from cdpengine.act.schema import request_schema
from cdpengine.act.verbs import KINDS

CAPABILITIES: tuple[Capability, ...] = get_args(Capability)


@attrs.frozen(kw_only=True, eq=False)
class Tool:
    """A tool. `kinds` maps values of its field `action` to kinds of requests. With one kind, it has no such field.

    A tool without kinds does not use the browser.

    `fields` are the fields that it shows in addition to the required ones. `acts`: its result is the page's
    changes.
    """

    name: str
    meaning: str
    kinds: Mapping[str, str]
    capability: Capability = "core"
    acts: bool = False

    def kind_of(self, arguments: Mapping[str, Any]) -> str:
        """Return the kind of request for a call. Raises InvalidArgumentError."""
        if len(self.kinds) == 1:
            return next(iter(self.kinds.values()))
        action = arguments.get("action", next(iter(self.kinds)))
        return self.kinds[check_choice(f"{self.name}.action", action, self.kinds)]

    def to_request(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request for a call. Raises InvalidArgumentError."""
        fields = {
            name: value for name, value in arguments.items() if name != "action" or len(self.kinds) == 1
        }
        return {"kind": self.kind_of(arguments), **fields}


_FIRST = (
    "navigate", "snapshot", "find", "click", "type", "press", "fill", "select", "hover", "drag", "scroll", "wait",
    "extract", "screenshot", "tabs", "dialog", "console", "requests", "search", "output",
    "cache_replay", "learn", "measure",
)  # fmt: skip
"""The order in which models read the tools. Others follow as their verbs are declared, by capability."""

_ORDER: Sequence[Capability] = (
    "core", "more", "scripts", "files", "storage", "emulation", "network", "cache", "wire", "performance",
)  # fmt: skip


def _make_tools() -> Iterator[Tool]:
    """Yield the tools of the verbs."""
    verbs: dict[str, list[tuple[ToolForm, type[ActRequest]]]] = {}
    for kind, verb in KINDS.items():
        if verb.tool is not None:
            verbs.setdefault(verb.tool.name or snake_case(kind), []).append((verb.tool, verb))
    for name, group in verbs.items():
        form, first = group[0]
        yield Tool(
            name=name,
            meaning=form.meaning or summary_of(first),
            kinds={each.action: verb.kind for each, verb in group},
            capability=form.capability,
            acts=form.acts,
        )


def rank(tool: Tool) -> tuple[int, int]:
    """Return the key of the order in which models read the tools."""
    return _ORDER.index(tool.capability), _FIRST.index(tool.name) if tool.name in _FIRST else len(_FIRST)


VERB_TOOLS: Sequence[Tool] = tuple(sorted(_make_tools(), key=rank))


def choose_among(tools: Iterable[Tool], capabilities: Iterable[str]) -> list[Tool]:
    """Return the tools of these capabilities and of "core".

    Raises InvalidArgumentError for an unknown capability.
    """
    enabled = {"core", *capabilities}
    for each in enabled:
        check_choice("capabilities", each, CAPABILITIES)
    return [tool for tool in tools if tool.capability in enabled]


@cache
def input_schema(tool: Tool) -> dict[str, Any]:
    """Return the JSON Schema of a tool's arguments, as short as a model needs."""
    properties: dict[str, Any] = {}
    required: list[str] = []
    if len(tool.kinds) > 1:
        properties["action"] = {"enum": list(tool.kinds), "default": next(iter(tool.kinds))}
    for kind in tool.kinds.values():
        schema = request_schema(KINDS[kind])
        needed = [name for name in schema["required"] if name != "kind"]
        form = KINDS[kind].tool
        for name in (*needed, *(() if form is None else form.fields)):
            if name in schema["properties"]:
                properties.setdefault(name, _shorten(schema["properties"][name]))
        if len(tool.kinds) == 1:
            required = needed
    made: dict[str, Any] = {"type": "object", "properties": properties}
    return {**made, "required": required} if required else made


_LEFT_OUT = {
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "additionalProperties",
}
_PLAIN = {"ref", "url", "text", "startRef", "endRef", "index", "selector"}
"""Fields with self-explanatory names."""


def _shorten(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without null and without bounds, which the service checks."""
    short = {name: value for name, value in schema.items() if name not in _LEFT_OUT and name != "default"}
    kind = short.get("type")
    if isinstance(kind, list):
        short["type"] = next(each for each in kind if each != "null")
    if "anyOf" in short:
        members = [_shorten(each) for each in short.pop("anyOf") if each != {"type": "null"}]
        short |= members[0] if len(members) == 1 else {"anyOf": members}
    if "items" in short:
        short["items"] = _shorten(short["items"])
    if "properties" in short:
        short["properties"] = {
            name: _without_description(_shorten(each)) if name in _PLAIN else _shorten(each)
            for name, each in short["properties"].items()
        }
        short.pop("description", None)
    return short


def _without_description(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "description"}
