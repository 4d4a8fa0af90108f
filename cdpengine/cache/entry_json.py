"""Conversion of entries to JSON and back.

Rule: as for requests (cdpengine/act/parsing.py), nothing is guessed, and no error contains a value. An
unknown field and a wrong type are errors with their place. Each parsed entry passes `check_entry`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import attrs
import cattrs
from cattrs.errors import BaseValidationError

from cdpengine import _json
from cdpengine.act import ActRequest, parse_request, to_json
from cdpengine.act.parsing import UnfitError, explain_misfit, make_converter
from cdpengine.cache.entries import CacheEntry, Step, StepGroup, check_entry
from cdpengine.errors import InvalidArgumentError

FORMAT, FORMAT_VERSION = "cdpengine cache", 1
"""Format and version at the start of an export. This version and later versions can read it."""

LONGEST_JSON = 64 * 2**20
"""Maximum length of an import, in characters."""


@attrs.frozen(kw_only=True)
class Export:
    """An export: the JSON, its number of entries, and the number of entries omitted because of typed text."""

    text: str = attrs.field(repr=False)
    entries: int
    left_out: int


@attrs.frozen(kw_only=True)
class ImportReport:
    """The numbers of imported entries: added, replaced, and skipped in favour of existing ones (`kept`)."""

    added: int = 0
    replaced: int = 0
    kept: int = 0


def entry_to_json(entry: CacheEntry) -> dict[str, Any]:
    """Return the entry as JSON values: the fields that differ from their defaults, with camelCase names."""
    return dict(_converter().unstructure(entry))


def parse_entry(data: object) -> CacheEntry:
    """Parse the result of `entry_to_json`. Raises InvalidArgumentError for invalid data."""
    return _parse(data, "entry")


def dump_entries(entries: Sequence[CacheEntry]) -> str:
    """Return the JSON of several entries, one per line."""
    head = _json.encode_ascii({"format": FORMAT, "version": FORMAT_VERSION})[:-1]
    lines = ",\n".join(_json.encode_text(entry_to_json(entry)) for entry in entries)
    return f'{head}, "entries": [\n{lines}\n]}}\n'


def load_entries(text: str | bytes) -> tuple[CacheEntry, ...]:
    """Parse the result of `dump_entries`. Raises InvalidArgumentError with the entry's number, from 1."""
    if len(text) > LONGEST_JSON:
        raise InvalidArgumentError("import", f"{len(text)} characters", f"at most {LONGEST_JSON}")
    try:
        data = _json.decode_leniently(text)
    except ValueError as error:
        raise InvalidArgumentError("import", str(error), "an export of a cache") from None
    if (
        not isinstance(data, dict)
        or data.get("format") != FORMAT
        or not isinstance(data.get("entries"), list)
    ):
        raise InvalidArgumentError("import", "JSON of another kind", f'an object with "format": "{FORMAT}"')
    if data.get("version") != FORMAT_VERSION:
        raise InvalidArgumentError("import", "another version", f"version {FORMAT_VERSION}")
    return tuple(_parse(item, f"entry {number}") for number, item in enumerate(data["entries"], 1))


def _parse(data: object, place: str) -> CacheEntry:
    try:
        entry: CacheEntry = _converter().structure(data, CacheEntry)
    except (BaseValidationError, UnfitError, InvalidArgumentError) as error:
        raise explain_misfit(error, place, CacheEntry) from None
    try:
        check_entry(entry)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{place}, {error.what}", error.given, error.expected) from None
    return entry


@cache
def _converter() -> cattrs.Converter:
    converter = make_converter()
    converter.register_structure_hook_func(_is_request, lambda value, _kind: _structure_request(value))
    converter.register_unstructure_hook_func(_is_request, to_json)
    union = Step | StepGroup
    converter.register_structure_hook_func(
        lambda kind: kind == union, lambda value, _kind: _structure_step(converter, value)
    )
    converter.register_unstructure_hook_func(
        lambda kind: kind == union, lambda value: converter.unstructure(value, type(value))
    )
    return converter


def _is_request(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, ActRequest) and attrs.has(kind)


def _structure_request(value: Any) -> ActRequest:
    if not isinstance(value, Mapping):
        raise UnfitError("no object", "a request")
    return parse_request(value)


def _structure_step(converter: cattrs.Converter, value: Any) -> Step | StepGroup:
    """Return a step or a group. Data with a field "steps" is a group."""
    kind: type[Any] = StepGroup if isinstance(value, Mapping) and "steps" in value else Step
    structured: Step | StepGroup = converter.structure(value, kind)
    return structured
