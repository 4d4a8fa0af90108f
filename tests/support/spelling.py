"""Requests in the form of shell commands: with the verb of their kind if the verb can express them."""

from __future__ import annotations

import json
from typing import Any

from cdpengine.act.commands.verbs import TABLE, Verb, option_fields
from cdpengine.act.fields import camel_case


def spell(request: dict[str, Any]) -> list[str]:
    """Return the shell arguments of a request: a verb with arguments, or else `act`."""
    by_json = ["act", json.dumps(request)]
    verbs = [
        verb for verb in TABLE if verb.kind == request["kind"] and verb.kind and _is_preset(verb, request)
    ]
    if not verbs:
        return by_json
    verb = max(verbs, key=lambda each: len(each.preset))
    left = {name: value for name, value in request.items() if name != "kind" and name not in verb.preset}
    bare = _pairs(left) if verb.kind == "fill" else _bare(verb, left)
    options = {camel_case(field.name): name for name, field in option_fields(verb).items()}
    if bare is None or not set(left) <= set(options) or False in left.values():
        return by_json
    typed = []
    for name, value in left.items():
        typed += _option(options[name], value)
    if verb.kind == "cacheClear" and not bare:
        typed.append("--all")
    if verb.name in ("screenshot", "pdf") and "path" in request:
        typed.append("--force")
    return [verb.name, *typed, "--", *bare]


def _is_preset(verb: Verb, request: dict[str, Any]) -> bool:
    return all(request.get(name) == value for name, value in verb.preset.items())


def _option(name: str, value: Any) -> list[str]:
    if value is True:
        return [name]
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return [part for each in value for part in (name, each)]
    if isinstance(value, list) and all(isinstance(each, int | float) for each in value):
        return [name, ",".join(map(str, value))]
    return [name, value if isinstance(value, str) else json.dumps(value)]


def _pairs(left: dict[str, Any]) -> list[str] | None:
    fields = left.pop("fields")
    if not all(isinstance(each["value"], str) for each in fields):
        return None
    return [text for each in fields for text in (each.get("ref") or each["selector"], each["value"])]


_SEVERAL = {"target": ("ref", "selector"), "what": ("timeMs", "selector"), "index": ("index", "targetId")}
"""The fields that one bare argument may represent."""


def _bare(verb: Verb, left: dict[str, Any]) -> list[str] | None:
    bare: list[str] = []
    for place in verb.places:
        names = _SEVERAL.get(place.field, (camel_case(place.field),))
        found = [left.pop(name) for name in names if name in left]
        if not found:
            if place.needed:
                return None
            break
        value = found[0]
        if place.field == "accept":
            value = "accept" if value else "dismiss"
        if place.field in ("cookies", "items", "params"):
            value = json.dumps(value)
        bare += value if place.many else [str(value)]
    return bare
