"""Conversion of JSON to requests and back.

Rule: the parser guesses nothing. For an unknown kind or field the error has the nearest valid name; for a wrong
type or value, the expected one. The message has the place and the type of the value, never the value, which may
be a secret. Models write numbers and booleans as strings, and refs as numbers: the parser accepts these if only
one meaning is possible.
"""

from __future__ import annotations

import difflib
import math
import re
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ClassValidationError,
    ForbiddenExtraKeysError,
    IterableValidationNote,
)
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

from cdpengine import _json
from cdpengine.act.fields import LEAST, MEANING, MOST, camel_case
from cdpengine.act.requests import ActRequest
from cdpengine.act.verbs import KINDS
from cdpengine.errors import InvalidArgumentError

LONGEST_JSON = 16 * 2**20
"""Maximum length of a request, in characters."""


def parse_request(data: ActRequest | Mapping[str, Any] | str | bytes) -> ActRequest:
    """Return the request in `data`: JSON as a string, or the result of `json.loads`.

    Raises InvalidArgumentError for invalid JSON, for an unknown kind or field, for a value of the wrong type or
    out of bounds, and for incompatible fields.
    """
    if isinstance(data, ActRequest):
        if type(data) is not KINDS.get(data.kind):
            raise _refuse("the request", f"a {type(data).__name__}", "one of the requests of cdpengine.act")
        data = to_json(data)
    decoded = _parse_json(data) if isinstance(data, (str, bytes, bytearray)) else data
    if not isinstance(decoded, Mapping):
        raise _refuse("the request", _type_name(decoded), "an object")
    return _structure(decoded)


def _structure(data: Mapping[str, Any]) -> ActRequest:
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        wrong = repr(kind[:40]) if isinstance(kind, str) else _type_name(kind)
        raise _refuse("kind", wrong, _nearest(kind, KINDS))
    rest = {name: _read_ref(name, value) for name, value in data.items() if name != "kind"}
    try:
        request = _converter().structure(rest, KINDS[kind])
    except (BaseValidationError, UnfitError) as error:
        raise explain_misfit(error, kind, KINDS[kind]) from None
    _check_bounds(request, kind)
    request.check()
    return request


def _read_ref(name: str, value: Any) -> Any:
    """Return the value, but convert a ref that is a number to a string, also in the fields of a form."""
    if name in ("ref", "startRef", "endRef") and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name == "fields" and isinstance(value, (list, tuple)):
        return [
            {inner: _read_ref(inner, item) for inner, item in each.items()}
            if isinstance(each, Mapping)
            else each
            for each in value
        ]
    return value


def to_json(request: ActRequest) -> dict[str, Any]:
    """Return the request as JSON data: its kind, and the fields that differ from their defaults."""
    return {"kind": request.kind, **_converter().unstructure(request)}


def _parse_json(text: str | bytes | bytearray) -> object:
    if len(text) > LONGEST_JSON:
        raise _refuse("the request", f"{len(text)} characters", f"at most {LONGEST_JSON}")
    try:
        return _json.decode_leniently(text)
    except ValueError as error:
        raise _refuse("the request", str(error), "a JSON object") from None


# --- structuring ---------------------------------------------------------------------------------------------


@cache
def _converter() -> cattrs.Converter:
    converter = make_converter()
    for scalar in (int, float, bool):
        converter.register_structure_hook(
            scalar, lambda value, kind: _structure_scalar(_read_number(value, kind), kind)
        )
    return converter


def make_converter() -> cattrs.Converter:
    """Return a converter between JSON and attrs classes, with names in camelCase and strict types."""
    converter = cattrs.Converter(unstruct_collection_overrides={tuple: list})
    for scalar in _SCALARS:
        converter.register_structure_hook(scalar, _structure_scalar)
    converter.register_structure_hook_func(lambda kind: kind is Any, lambda value, _kind: _check_plain(value))
    converter.register_structure_hook_func(partial(_is_generic, Literal), _structure_literal)
    for generic, make in ((tuple, _list_hook(converter)), (dict, _mapping_hook(converter))):
        converter.register_structure_hook_factory(partial(_is_generic, generic), make)
    converter.register_structure_hook_factory(
        lambda kind: _is_generic(Union, kind) or _is_generic(types.UnionType, kind), _union_hook(converter)
    )
    converter.register_structure_hook_factory(attrs.has, lambda kind: _object_hook(converter, kind))
    converter.register_unstructure_hook_factory(
        attrs.has,
        lambda kind: make_dict_unstructure_fn(
            kind, converter, _cattrs_omit_if_default=True, **_renamed(kind)
        ),
    )
    return converter


def _renamed(kind: type[Any]) -> dict[str, Any]:
    return {
        each.name: override(rename=camel_case(each.name)) for each in attrs.fields(attrs.resolve_types(kind))
    }


def _is_generic(generic: object, kind: Any) -> bool:
    origin: object = get_origin(kind)
    return origin is generic


class UnfitError(ValueError):
    """A value that does not fit: the given and the expected value."""

    def __init__(self, given: str, expected: str) -> None:
        super().__init__(given, expected)
        self.given, self.expected = given, expected


Hook = Callable[[Any, Any], Any]


def _object_hook(converter: cattrs.Converter, kind: type[Any]) -> Hook:
    structure = make_dict_structure_fn(
        kind, converter, _cattrs_forbid_extra_keys=True, _cattrs_detailed_validation=True, **_renamed(kind)
    )

    def hook(value: Any, kind: Any) -> Any:
        if not isinstance(value, Mapping):
            raise UnfitError(_type_name(value), "an object")
        return structure(value, kind)

    return hook


def _list_hook(converter: cattrs.Converter) -> Callable[[Any], Hook]:
    def make(kind: Any) -> Hook:
        member: Any = get_args(kind)[0]
        members: Any = types.GenericAlias(list, (member,))

        def hook(value: Any, _kind: Any) -> Any:
            if not isinstance(value, (list, tuple)):
                raise UnfitError(_type_name(value), "a list")
            return tuple(_check_plain(value) if member is Any else converter.structure(value, members))

        return hook

    return make


def _mapping_hook(converter: cattrs.Converter) -> Callable[[Any], Hook]:
    def make(kind: Any) -> Hook:
        name, item = get_args(kind)

        def hook(value: Any, _kind: Any) -> Any:
            if not isinstance(value, Mapping):
                raise UnfitError(_type_name(value), "an object")
            return {converter.structure(key, name): converter.structure(value[key], item) for key in value}

        return hook

    return make


def _union_hook(converter: cattrs.Converter) -> Callable[[Any], Hook]:
    def make(kind: Any) -> Hook:
        members = [member for member in get_args(kind) if member is not type(None)]
        optional = len(members) < len(get_args(kind))

        def hook(value: Any, _kind: Any) -> Any:
            if value is None and optional:
                return None
            for member in members:
                if len(members) == 1 or _is_like(value, member):
                    return converter.structure(value, member)
            words = ["a list" if get_origin(member) is tuple else _SCALARS[member] for member in members]
            raise UnfitError(_type_name(value), " or ".join(words))

        return hook

    return make


def _is_like(value: object, member: Any) -> bool:
    return isinstance(value, (list, tuple)) if get_origin(member) is tuple else _is_scalar(value, member)


def _structure_scalar(value: Any, kind: Any) -> Any:
    if not _is_scalar(value, kind):
        raise UnfitError(_type_name(value), _SCALARS[kind])
    return float(value) if kind is float else value


def _read_number(value: Any, kind: Any) -> Any:
    """Return the number or boolean in a string, and an int for 3.0; otherwise the value."""
    if isinstance(value, str):
        text = value.strip().lower()
        if kind is bool:
            return {"true": True, "false": False}.get(text, value)
        if _NUMBER.fullmatch(text) is None:
            return value
        value = int(text) if _WHOLE.fullmatch(text) else float(text)
    if kind is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_WHOLE = re.compile(r"-?[0-9]{1,18}")
_NUMBER = re.compile(r"-?[0-9]{1,18}(?:\.[0-9]{1,18})?")


def _structure_literal(value: Any, kind: Any) -> Any:
    choices = get_args(kind)
    if not isinstance(value, str) or value not in choices:
        given = repr(value[:40]) if isinstance(value, str) else _type_name(value)
        raise UnfitError(given, _nearest(value, choices))
    return value


def explain_misfit(error: BaseException, place: str, kind: Any) -> InvalidArgumentError:
    """Return the first error of structuring as `kind`, with its place."""
    for note in getattr(error, "__notes__", ()):
        if isinstance(note, IterableValidationNote):
            place = f"{place}[{note.index}]"
        elif isinstance(note, AttributeValidationNote):
            place = f"{place}.{camel_case(note.name)}"
    if isinstance(error, InvalidArgumentError):
        return _refuse(f"{place}: {error.what}", error.given, error.expected)
    if isinstance(error, BaseValidationError):
        of = error.cl if isinstance(error, ClassValidationError) else kind
        # An unknown field is the best explanation for a missing one.
        first = min(error.exceptions, key=lambda each: not isinstance(each, ForbiddenExtraKeysError))
        return explain_misfit(first, place, of)
    if isinstance(error, ForbiddenExtraKeysError):
        given = min(map(str, error.extra_fields))
        fields = [camel_case(each.name) for each in attrs.fields(error.cl)]
        return _refuse(f"a field of {place}", repr(given[:40]), _nearest(given, fields))
    if isinstance(error, KeyError):
        missing = next(each for each in attrs.fields(kind) if camel_case(each.name) == error.args[0])
        meaning = missing.metadata.get(MEANING, missing.name)
        return _refuse(place, "nothing", f"a value: {meaning}")
    assert isinstance(error, UnfitError), type(error)
    return _refuse(place, error.given, error.expected)


_SCALARS: dict[Any, str] = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def _is_scalar(value: object, kind: Any) -> bool:
    if kind is bool or isinstance(value, bool):
        return kind is bool and isinstance(value, bool)
    if kind is float:
        return isinstance(value, (int, float)) and math.isfinite(value)
    return isinstance(value, kind)


def _check_plain(value: Any) -> Any:
    """Return `value`, which must be JSON data."""
    pending = [value]
    while pending:
        match pending.pop():
            case None | bool() | int() | str():
                pass
            case float(number) if math.isfinite(number):
                pass
            case list(items) | tuple(items):
                pending.extend(items)
            case dict(items):
                pending.extend(items)
                pending.extend(items.values())
            case other:
                raise UnfitError(_type_name(other), "what JSON holds")
    return value


# --- bounds --------------------------------------------------------------------------------------------------


def _check_bounds(part: Any, place: str) -> None:
    for field in attrs.fields(type(part)):
        value, name = getattr(part, field.name), f"{place}.{camel_case(field.name)}"
        if isinstance(value, tuple):
            for number, item in enumerate(value):
                if attrs.has(type(item)):
                    _check_bounds(item, f"{name}[{number}]")
        elif attrs.has(type(value)):
            _check_bounds(value, name)
        least, most = field.metadata.get(LEAST), field.metadata.get(MOST)
        if value is None or (least is None and most is None):
            continue
        many = isinstance(value, (tuple, dict))
        size = len(value) if many else value
        if (least is not None and size < least) or (most is not None and size > most):
            unit = " entries" if many else ""
            bounds = f"{least:g} to {most:g}" if least is not None and most is not None else ""
            bounds = f"{least:g}" if least == most and least is not None else bounds
            bounds = bounds or (f"{least:g} or more" if most is None else f"at most {most:g}")
            raise _refuse(name, f"{size}{unit}", bounds + unit)


# --- words ---------------------------------------------------------------------------------------------------


def _refuse(what: str, given: str, expected: str) -> InvalidArgumentError:
    return InvalidArgumentError(what=what, given=given, expected=expected)


def _type_name(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case Mapping():
            return "an object"
        case list() | tuple():
            return "a list"
    return f"a {type(value).__name__}"


def _nearest(value: object, known: Iterable[Any]) -> str:
    """Return the valid names for a wrong one: the similar names, or all of them."""
    names = list(map(str, known))
    by_lower = {name.lower(): name for name in names}
    normalized = str(value).lower().replace("_", "").replace("-", "")[:60] if isinstance(value, str) else ""
    near = difflib.get_close_matches(normalized, by_lower, n=3, cutoff=0.6)
    if near:
        return " or ".join(repr(by_lower[name]) for name in near)
    listed = ", ".join(map(repr, names))
    return f"one of {listed}" if len(listed) < 170 else f"one of {len(names)}: {listed[:120]}..."
