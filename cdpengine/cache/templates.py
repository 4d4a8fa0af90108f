"""Templates: strings with variables such as `${name}`. Pure.

Rule: `${name}` is a variable, and `$$` is a dollar. Any other dollar is literal, so `$${name}` is the string
"${name}". A `${` that starts no variable is an error. Values are inserted literally: a value that looks like
a template is not filled in. If values are missing, nothing is filled in, and one error names all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import attrs

from cdpengine._checks import check_string
from cdpengine.act import ActRequest
from cdpengine.act.fields import SECRET, camel_case
from cdpengine.act.parsing import parse_request, to_json
from cdpengine.errors import InvalidArgumentError, VariablesError

LONGEST_NAME = 64

_TOKEN = re.compile(r"\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)

NO_TEMPLATES = frozenset({"kind", "ref", "startRef", "endRef", "targetId"})
"""Fields of requests that are no templates: the kind of the request, its refs and its page."""


def check_name(name: str) -> str:
    """Return a valid name: at most 64 letters, digits and `_`. Raises InvalidArgumentError for others."""
    if not isinstance(name, str) or len(name) > LONGEST_NAME or _NAME.fullmatch(name) is None:
        description = f"{len(name)} characters" if isinstance(name, str) else f"a {type(name).__name__}"
        raise InvalidArgumentError(
            "name of a variable",
            description,
            f"letters, digits and _, no digit first, at most {LONGEST_NAME}",
        )
    return name


def find_variables(template: str) -> tuple[str, ...]:
    """Return the distinct names of a template's variables, in order of their first use.

    Raises InvalidArgumentError for a `${` that starts no variable.
    """
    return tuple(dict.fromkeys(_names(template)))


def split(template: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a template: (string, False) for a literal part, (name, True) for a variable.

    Raises InvalidArgumentError for a `${` that starts no variable.
    """
    find_variables(template)
    literal, end = "", 0
    for found in _TOKEN.finditer(template):
        literal += template[end : found.start()] + ("$" if found[1] is None else "")
        end = found.end()
        if found[1] is not None:
            if literal:
                yield literal, False
            yield found[1], True
            literal = ""
    if literal := literal + template[end:]:
        yield literal, False


def fill(template: str, values: Mapping[str, str]) -> str:
    """Fill in a template.

    Raises VariablesError with all names without a value. Raises InvalidArgumentError for a `${` that
    starts no variable, and for a value that is not a string.
    """
    names = find_variables(template)
    _check_values(names, values)
    return _TOKEN.sub(lambda found: "$" if found[1] is None else values[found[1]], template)


def escape(text: str) -> str:
    """Return the template whose result is this string."""
    return text.replace("$", "$$")


def request_variables(request: ActRequest) -> tuple[str, ...]:
    """Return the distinct names of the variables in a request. Raises the errors of `find_variables`."""
    return tuple(dict.fromkeys(name for text in _texts(to_json(request)) for name in _names(text)))


def shown_variables(request: ActRequest) -> frozenset[str]:
    """Return the names of the variables in the fields that the request's `repr` shows."""
    return frozenset(
        name
        for field, value, secret in _fields(request)
        if not secret and field not in NO_TEMPLATES
        for text in _texts(value)
        for name in _names(text)
    )


def holds_typed_text(request: ActRequest) -> bool:
    """Return whether a request contains typed text directly instead of as a variable.

    Names of keys, such as "Enter" and "Control+A", do not count.
    """
    return any(
        secret and any(has_text(text) for text in _texts(value) if name != "key" or len(text) == 1)
        for name, value, secret in _fields(request)
    )


def fill_request(request: ActRequest, values: Mapping[str, str]) -> ActRequest:
    """Return the request with filled-in templates.

    Raises VariablesError with all names without a value.
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
        raise VariablesError(missing)
    for name in names:
        check_string(f"value of {name}", values[name], "a text")


def has_text(template: str) -> bool:
    """Return whether a template contains more than variables and white space."""
    return _TOKEN.sub(lambda found: "$" if found[1] is None else "", template).strip() != ""


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return JSON data with changed strings, except in the fields of `NO_TEMPLATES`."""
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
    """Yield the strings in JSON data that can be templates."""
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
    """Yield (JSON name, value, whether secret) of each field of a request and of its nested objects."""
    for field in attrs.fields(type(part)):
        value = getattr(part, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            if attrs.has(type(item)):
                yield from _fields(item)
            else:
                yield camel_case(field.name), item, bool(field.metadata.get(SECRET))
