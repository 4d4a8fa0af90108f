"""Templates: texts with `${name}` in them, their variables, and how they are filled in. Pure.

Rule: `${name}` is a variable, `$$` is a dollar, any other dollar is itself; so `$${name}` is the text "${name}".
A `${` that begins no variable is refused, never passed on. A value is put in as it is: what looks like a template
in it stays text. A template is filled in whole or not at all: all names without a value are in the one error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from cdpengine.act import ActRequest
from cdpengine.act.fields import SECRET, camel_case
from cdpengine.act.parsing import parse_request, to_json
from cdpengine.errors import InvalidArgumentError, UndefinedVariablesError

LONGEST_NAME = 64

_TOKEN = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

NO_TEMPLATES = frozenset({"kind", "ref", "startRef", "endRef", "targetId"})
"""Fields of requests whose text is no template: what they are, and which element they are for."""


def check_name(name: str) -> str:
    """Return the name of a variable: letters, digits and `_`, at most 64. Raises InvalidArgumentError."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or _NAME.fullmatch(name) is None:
        given = f"{len(name)} characters" if isinstance(name, str) else f"a {type(name).__name__}"
        raise InvalidArgumentError(
            "name of a variable", given, f"letters, digits and _, no digit first, at most {LONGEST_NAME}"
        )
    return name


def find_variables(template: str) -> tuple[str, ...]:
    """Return the names of a template's variables, each once, in the order in which they first stand there.

    Raises InvalidArgumentError for a `${` that begins no variable.
    """
    return tuple(dict.fromkeys(_names(template)))


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return the text of a template.

    Raises UndefinedVariablesError with all names that have no value, and InvalidArgumentError for a `${` that
    begins no variable, and for a value that is no text.
    """
    names = find_variables(template)
    _check_values(names, values)
    return _TOKEN.sub(lambda found: "$" if found[1] is None else values[found[1]], template)


def escape(text: str) -> str:
    """Return the template that is filled in to this very text."""
    return text.replace("$", "$$")


def request_variables(request: ActRequest) -> tuple[str, ...]:
    """Return the names of the variables in a request's texts, each once. Raises InvalidArgumentError as above."""
    return tuple(dict.fromkeys(name for text in _texts(to_json(request)) for name in _names(text)))


def shown_variables(request: ActRequest) -> frozenset[str]:
    """Return the names of the variables that are in fields which the request's `repr` shows."""
    return frozenset(
        name
        for field, value, secret in _fields(request)
        if not secret and field not in NO_TEMPLATES
        for text in _texts(value)
        for name in _names(text)
    )


def holds_typed_text(request: ActRequest) -> bool:
    """Say whether a text that is entered stands in the request itself, and not as a variable.

    Names of keys, such as "Enter" and "Control+A", are no texts.
    """
    return any(
        secret and any(has_text(text) for text in _texts(value) if name != "key" or len(text) == 1)
        for name, value, secret in _fields(request)
    )


def fill_request(request: ActRequest, values: Mapping[str, str]) -> ActRequest:
    """Return the request with its templates filled in.

    Raises UndefinedVariablesError with all names that have no value, before anything is filled in.
    """
    _check_values(request_variables(request), values)
    return parse_request(_map_texts(to_json(request), lambda text: fill(text, values)))


def _names(template: str) -> Iterator[str]:
    for found in _TOKEN.finditer(template):
        if found[0] == "${":
            raise InvalidArgumentError(
                "template", f"a ${{ at character {found.start() + 1}", "a variable such as ${name}, or $${"
            )
        if found[1] is not None:
            yield check_name(found[1])


def _check_values(names: tuple[str, ...], values: Mapping[str, str]) -> None:
    if missing := [name for name in names if name not in values]:
        raise UndefinedVariablesError(missing)
    for name in names:
        if not isinstance(values[name], str):
            raise InvalidArgumentError(f"value of {name}", f"a {type(values[name]).__name__}", "a text")


def has_text(template: str) -> bool:
    """Return whether a template has text beside its variables, other than blanks."""
    return _TOKEN.sub(lambda found: "$" if found[1] is None else "", template).strip() != ""


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON with its texts changed, but for those of `NO_TEMPLATES`."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, (list, tuple)):
        return [_map_texts(item, change) for item in value]
    if isinstance(value, dict):
        return {
            name: item if name in NO_TEMPLATES else _map_texts(item, change) for name, item in value.items()
        }
    return value


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts of JSON that may be templates."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in NO_TEMPLATES:
                yield from _texts(item)


def _fields(part: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield the fields of a request and of what is in it: the name in JSON, the value, whether it is secret."""
    for field in attrs.fields(type(part)):
        value = getattr(part, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if attrs.has(type(item)):
                yield from _fields(item)
            else:
                yield camel_case(field.name), item, bool(field.metadata.get(SECRET))
