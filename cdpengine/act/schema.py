"""The JSON Schema of requests and responses, built from their classes.

Rule: all of its content comes from the classes. `docs/act-schema.json` is the output of `make_schema`; a test
compares them.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import attrs

from cdpengine.act.fields import LEAST, MEANING, MOST, Timing, camel_case, summary_of
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import ActResponse
from cdpengine.act.verbs import KINDS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def make_schema() -> dict[str, Any]:
    """Return the schema of all requests and of the response, as JSON Schema 2020-12."""
    definitions: dict[str, Any] = {kind.__name__: request_schema(kind) for kind in KINDS.values()}
    definitions["ActRequest"] = {
        "oneOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in KINDS.values()],
        "discriminator": {"propertyName": "kind"},
    }
    definitions["ActResponse"] = _object_schema(ActResponse, closed=False)
    return {"$schema": DIALECT, "title": "cdpengine: requests and responses", "$defs": definitions}


def request_schema(kind: type[ActRequest]) -> dict[str, Any]:
    """Return the schema of one kind of request."""
    schema = _object_schema(kind, closed=True)
    schema["properties"] = {"kind": {"const": kind.kind}, **schema["properties"]}
    schema["properties"]["timeoutMs"] |= _describe_timing(kind.timing)
    schema["required"] = ["kind", *schema.get("required", ())]
    return schema


def _describe_timing(timing: Timing) -> dict[str, Any]:
    longest = f"Timeout, in milliseconds, at most {timing.longest_ms}; larger values are reduced to that."
    return {"default": timing.default_ms, "description": longest}


def _object_schema(kind: type[Any], *, closed: bool) -> dict[str, Any]:
    hints = get_type_hints(kind)
    properties, required = {}, []
    for field in attrs.fields(kind):
        schema = _schema_of(hints[field.name], closed=closed)
        if MEANING in field.metadata:
            schema["description"] = field.metadata[MEANING]
        _add_bounds(schema, field)
        if field.default is attrs.NOTHING:
            required.append(camel_case(field.name))
        elif isinstance(field.default, (str, int, float)) and field.default != "":
            schema["default"] = field.default
        properties[camel_case(field.name)] = schema
    described = {"type": "object", "description": summary_of(kind)}
    schema = {**described, "properties": properties, "additionalProperties": not closed}
    return schema if not required else {**schema, "required": required}


def _schema_of(kind: Any, *, closed: bool) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return {}
    if kind in _SCALARS:
        return {"type": _SCALARS[kind]}
    if attrs.has(kind):
        return _object_schema(kind, closed=closed)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _schema_of(arguments[0], closed=closed)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], closed=closed)}
    assert origin in (Union, types.UnionType), kind
    return _union_schema(
        [each for each in arguments if each is not types.NoneType], len(arguments), closed=closed
    )


def _union_schema(members: Sequence[Any], count: int, *, closed: bool) -> dict[str, Any]:
    """Return the schema of a union. If `members` are fewer than `count`, null is the missing member."""
    schemas = [_schema_of(each, closed=closed) for each in members]
    if count > len(members):
        if len(schemas) == 1 and isinstance(schemas[0].get("type"), str):
            return {**schemas[0], "type": [schemas[0]["type"], "null"]}
        schemas.append({"type": "null"})
    return {"anyOf": schemas}


def _add_bounds(schema: dict[str, Any], field: attrs.Attribute[Any]) -> None:
    least, most = field.metadata.get(LEAST), field.metadata.get(MOST)
    type_name = schema.get("type")
    many = {"array": "Items", "object": "Properties"}.get(type_name if isinstance(type_name, str) else "")
    for bound, word in ((least, "min"), (most, "max")):
        if bound is not None:
            schema[f"{word}{many}" if many else f"{word}imum"] = bound
