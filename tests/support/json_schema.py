"""The part of JSON Schema that these tests use. An unknown keyword raises an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
}
SILENT = {"$schema", "$defs", "title"}


def breaches(
    value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None, at: str = "$"
) -> Iterator[str]:
    """Yield the violations of the schema in `value`."""
    root = schema if root is None else root
    for keyword, wanted in schema.items():
        match keyword:
            case "$ref":
                yield from breaches(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, at)
            case "type":
                kinds = wanted if isinstance(wanted, list) else [wanted]
                if not any(TYPES[kind](value) for kind in kinds):
                    yield f"{at}: {value!r} is no {wanted}"
            case "required":
                yield from (
                    f"{at}: no {name}" for name in wanted if isinstance(value, dict) and name not in value
                )
            case "properties":
                for name, inner in wanted.items():
                    if isinstance(value, dict) and name in value:
                        yield from breaches(value[name], inner, root, f"{at}.{name}")
            case "additionalProperties":
                assert wanted is False
                extra = set(value) - set(schema["properties"]) if isinstance(value, dict) else set()
                yield from (f"{at}: {name} is not known" for name in extra)
            case "items":
                for number, item in enumerate(value if isinstance(value, list) else ()):
                    yield from breaches(item, wanted, root, f"{at}[{number}]")
            case "enum":
                if value not in wanted:
                    yield f"{at}: {value!r} is none of {wanted}"
            case "pattern":
                if isinstance(value, str) and not re.search(wanted, value):
                    yield f"{at}: {value!r} does not match {wanted}"
            case "minimum":
                if TYPES["number"](value) and value < wanted:
                    yield f"{at}: {value} is less than {wanted}"
            case "minLength":
                if isinstance(value, str) and len(value) < wanted:
                    yield f"{at}: {value!r} is too short"
            case _:
                assert keyword in SILENT, f"the schema has an unsupported keyword: {keyword}"
