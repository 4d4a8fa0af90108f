"""Drift: where the engine's vocabulary, and PyCDP's, differ from a browser's. Pure.

Rule: a finding says whether it breaks something. What the engine sends or needs and the browser lacks breaks the
engine; what PyCDP cannot decode breaks only those who use that part of PyCDP; the rest is news.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator
from typing import Literal

import attrs
import msgspec

from cdpengine._protocol.domains.described import Description
from cdpengine.debug.protocol import Command, Field, Protocol, Shape, Type
from cdpengine.debug.pycdp import Decoder, Vocabulary, module_of
from cdpengine.debug.vocabulary import (
    UNDESCRIBED,
    Decoded,
    Use,
    decoded_fields,
    decoded_structures,
    owner_of,
)

Side = Literal["engine", "pycdp"]


@attrs.frozen
class Drift:
    """One finding: on which `side`, about what `name`, `what` it is, and whether it `breaks` that side."""

    side: Side
    breaks: bool
    name: str
    what: str

    def __str__(self) -> str:
        return f"{'breaks' if self.breaks else 'news  '}  {self.name}: {self.what}"


# --- the engine ----------------------------------------------------------------------------------------------


def engine_drift(
    protocol: Protocol,
    uses: Iterable[Use],
    decoded: Iterable[Description] | None = None,
) -> list[Drift]:
    """Return where the engine's own vocabulary differs from the browser's. `decoded` None: all that it decodes."""
    found = [drift for use in uses for drift in _use_drift(protocol, use)]
    for description in decoded_structures() if decoded is None else decoded:
        found += _decoded_drift(protocol, description)
    return list(dict.fromkeys(found))


def _use_drift(protocol: Protocol, use: Use) -> Iterator[Drift]:
    command = protocol.commands.get(use.method)
    entry = command or protocol.events.get(use.method)
    if entry is None or (use.sent and command is None):
        yield Drift("engine", True, use.method, f"used in {use.where}, and the browser does not have it")
        return
    if entry.deprecated:
        yield Drift("engine", False, use.method, f"used in {use.where}, and deprecated")
    if command is None or not use.sent:
        return
    known = {field.name: field for field in command.parameters}
    for name in use.parameters:
        if name not in known:
            yield Drift(
                "engine", True, f"{use.method} {name}=", f"sent in {use.where}; it has no such parameter"
            )
        elif known[name].deprecated:
            yield Drift("engine", False, f"{use.method} {name}=", f"sent in {use.where}, and deprecated")
    if use.complete:
        for field in command.parameters:
            if not field.optional and field.name not in use.parameters:
                yield Drift(
                    "engine", True, f"{use.method} {field.name}=", f"required, and not sent in {use.where}"
                )


def _decoded_drift(protocol: Protocol, description: Description) -> Iterator[Drift]:
    method, part = description.name, description.part
    fields: tuple[Field, ...] | None = None
    if part == "reply" and (command := protocol.commands.get(method)) is not None:
        fields = command.returns
    elif part == "event" and (event := protocol.events.get(method)) is not None:
        fields = event.parameters
    elif part == "type" and (kind := protocol.types.get(method)) is not None:
        fields = kind.properties
    if fields is None:
        yield Drift(
            "engine",
            True,
            method,
            f"decoded by {owner_of(description.structure)}, and the browser does not have it",
        )
        return
    yield from _structure_drift(
        protocol, description.structure, fields, method, method.partition(".")[0], set()
    )


def _structure_drift(
    protocol: Protocol,
    kind: type[msgspec.Struct],
    fields: Iterable[Field],
    where: str,
    home: str,
    seen: set[object],
) -> Iterator[Drift]:
    if kind in seen or where in UNDESCRIBED:
        return
    seen.add(kind)
    known = {field.name: field for field in fields}
    for wanted in decoded_fields(kind):
        field = known.get(wanted.name)
        name = f"{where}.{wanted.name}"
        if field is None:
            yield Drift("engine", True, name, f"read by {wanted.owner}, and no longer there")
            continue
        if wanted.needed and field.optional:
            yield Drift("engine", True, name, f"{wanted.owner} cannot do without it, and it is optional")
        if field.deprecated:
            yield Drift("engine", False, name, f"read by {wanted.owner}, and deprecated")
        yield from _value_drift(protocol, wanted, wanted.kind, field, name, home, seen)


def _value_drift(
    protocol: Protocol,
    wanted: Decoded,
    kind: object,
    shape: Shape,
    name: str,
    home: str,
    seen: set[object],
) -> Iterator[Drift]:
    """Compare one value's kind in Python with its shape in the protocol."""
    refers, described = protocol.resolve(shape, home)
    if described is not None:
        home = refers.partition(".")[0]
        yield from _value_drift(protocol, wanted, kind, described, name, home, seen)
        return
    kinds = [kind]
    if isinstance(kind, types.UnionType) or typing.get_origin(kind) is typing.Union:
        kinds = [inner for inner in typing.get_args(kind) if inner is not type(None)]
    accepted: set[str] = set()
    for each in kinds:
        origin = typing.get_origin(each) or each
        if origin in (list, tuple):
            accepted.add("array")
            inner = typing.get_args(each)
            if shape.items is not None and inner:
                yield from _value_drift(protocol, wanted, inner[0], shape.items, f"{name}[]", home, seen)
        elif isinstance(origin, type) and issubclass(origin, msgspec.Struct):
            accepted.add("object")
            if shape.properties:
                yield from _structure_drift(protocol, origin, shape.properties, name, home, seen)
        else:
            accepted |= _JSON_KINDS.get(origin, _ANY)
    if shape.type and shape.type != "any" and shape.type not in accepted:
        yield Drift("engine", True, name, f"{wanted.owner} takes {_listed(accepted)}, and it is {shape.type}")


_ANY = frozenset({"string", "integer", "number", "boolean", "object", "array", "any", "binary"})

_JSON_KINDS: dict[object, frozenset[str]] = {
    str: frozenset({"string", "binary"}),
    int: frozenset({"integer"}),
    float: frozenset({"integer", "number"}),
    bool: frozenset({"boolean"}),
    dict: frozenset({"object"}),
}


def _listed(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds)) or "nothing that the protocol has"


# --- PyCDP ---------------------------------------------------------------------------------------------------


def pycdp_drift(protocol: Protocol, vocabulary: Vocabulary) -> list[Drift]:
    """Return where PyCDP's vocabulary differs from the browser's."""
    found: list[Drift] = []
    for what, known, there in (
        ("command", vocabulary.commands, protocol.commands),
        ("event", vocabulary.events, protocol.events),
    ):
        gone, new = sorted(known.keys() - there.keys()), sorted(there.keys() - known.keys())
        found += (Drift("pycdp", True, name, f"{what} of PyCDP that the browser lacks") for name in gone)
        found += (Drift("pycdp", False, name, f"{what} that PyCDP does not know") for name in new)
    for name in sorted(vocabulary.commands.keys() & protocol.commands.keys()):
        command, decoder = protocol.commands[name], vocabulary.commands[name]
        found += _sent_drift(name, command, decoder)
        found += _read_drift(name, command.returns, decoder)
    for name in sorted(vocabulary.events.keys() & protocol.events.keys()):
        found += _read_drift(name, protocol.events[name].parameters, vocabulary.events[name])
    for name, kind in sorted(protocol.types.items()):
        domain, _, type_id = name.partition(".")
        decoder_of = vocabulary.types.get((module_of(domain), type_id))
        if decoder_of is not None:
            found += _type_drift(name, kind, decoder_of)
    return found


def _sent_drift(name: str, command: Command, decoder: Decoder) -> Iterator[Drift]:
    there = {field.name: field for field in command.parameters}
    for gone in sorted(decoder.sent - there.keys()):
        yield Drift("pycdp", True, f"{name} {gone}=", "parameter of PyCDP that the browser does not have")
    for field in command.parameters:
        if field.name not in decoder.sent:
            needed = not field.optional
            what = "parameter that is required, and PyCDP cannot send" if needed else "parameter that is new"
            yield Drift("pycdp", needed, f"{name} {field.name}=", what)


def _read_drift(name: str, fields: Iterable[Field], decoder: Decoder) -> Iterator[Drift]:
    there = {field.name: field for field in fields}
    for needed in sorted(decoder.needed):
        if needed not in there:
            yield Drift("pycdp", True, f"{name}.{needed}", "PyCDP cannot do without it, and it is gone")
        elif there[needed].optional:
            yield Drift("pycdp", True, f"{name}.{needed}", "PyCDP cannot do without it, and it is optional")
    for new in sorted(there.keys() - decoder.needed - decoder.optional):
        yield Drift("pycdp", False, f"{name}.{new}", "field that is new")


def _type_drift(name: str, kind: Type, decoder: Decoder) -> Iterator[Drift]:
    if decoder.values:
        for value in kind.enum:
            if value not in decoder.values:
                yield Drift("pycdp", True, name, f"value {value!r}, at which PyCDP's decoder fails")
        return
    if kind.properties:
        yield from _read_drift(name, kind.properties, decoder)
