"""Protocol compatibility: differences of a browser's protocol from another one, the engine, or PyCDP. Pure.

Rule: each finding has a `breaks` flag. It is set if the browser lacks a method or field that the engine needs. A
part that PyCDP cannot decode breaks only programs that use it. All other findings are information. Comparing two
protocols gives one line per change, with the old and the new form. Descriptions are not compared.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import attrs
import msgspec

from cdpengine._protocol.domains import Description
from cdpengine.debug.explorer.protocol import Command, EventKind, Field, Item, Protocol, Shape, Type
from cdpengine.debug.explorer.vocabulary import (
    UNDESCRIBED,
    Decoded,
    Decoder,
    Use,
    Vocabulary,
    list_fields,
    list_structures,
    module_of,
    owner_of,
)

Side = Literal["engine", "pycdp"]


@attrs.frozen
class Finding:
    """A finding: the affected `side`, the `name`, the difference (`what`), and whether it `breaks` that side."""

    side: Side
    breaks: bool
    name: str
    what: str

    def __str__(self) -> str:
        return f"{'breaks' if self.breaks else 'news  '}  {self.name}: {self.what}"


# --- the engine ----------------------------------------------------------------------------------------------


def check_engine(
    protocol: Protocol,
    uses: Iterable[Use],
    decoded: Iterable[Description] | None = None,
) -> list[Finding]:
    """Return how the engine's vocabulary differs from the browser's vocabulary.

    `decoded=None` checks all structures.
    """
    found = [finding for use in uses for finding in _check_use(protocol, use)]
    for description in list_structures() if decoded is None else decoded:
        found += _check_decoded(protocol, description)
    return list(dict.fromkeys(found))


def _check_use(protocol: Protocol, use: Use) -> Iterator[Finding]:
    command = protocol.commands.get(use.method)
    entry = command or protocol.events.get(use.method)
    if entry is None or (use.sent and command is None):
        yield Finding("engine", True, use.method, f"used in {use.where}, but missing in the browser")
        return
    if entry.deprecated:
        yield Finding("engine", False, use.method, f"used in {use.where}, but deprecated")
    if command is None or not use.sent:
        return
    known = {field.name: field for field in command.parameters}
    for name in use.parameters:
        if name not in known:
            yield Finding(
                "engine",
                True,
                f"{use.method} {name}=",
                f"sent in {use.where}, but the command lacks this parameter",
            )
        elif known[name].deprecated:
            yield Finding("engine", False, f"{use.method} {name}=", f"sent in {use.where}, but deprecated")
    if use.complete:
        for field in command.parameters:
            if not field.optional and field.name not in use.parameters:
                yield Finding(
                    "engine", True, f"{use.method} {field.name}=", f"required, but not sent in {use.where}"
                )


def _check_decoded(protocol: Protocol, description: Description) -> Iterator[Finding]:
    method, part = description.name, description.part
    fields: tuple[Field, ...] | None = None
    if part == "reply" and (command := protocol.commands.get(method)) is not None:
        fields = command.returns
    elif part == "event" and (event := protocol.events.get(method)) is not None:
        fields = event.parameters
    elif part == "type" and (kind := protocol.types.get(method)) is not None:
        fields = kind.properties
    if fields is None:
        yield Finding(
            "engine",
            True,
            method,
            f"decoded by {owner_of(description.structure)}, but missing in the browser",
        )
        return
    yield from _check_structure(
        protocol, description.structure, fields, method, method.partition(".")[0], set()
    )


def _check_structure(
    protocol: Protocol,
    kind: type[msgspec.Struct],
    fields: Iterable[Field],
    where: str,
    home: str,
    seen: set[object],
) -> Iterator[Finding]:
    if kind in seen or where in UNDESCRIBED:
        return
    seen.add(kind)
    known = {field.name: field for field in fields}
    for decoded in list_fields(kind):
        field = known.get(decoded.name)
        name = f"{where}.{decoded.name}"
        if field is None:
            yield Finding("engine", True, name, f"read by {decoded.owner}, but missing in the browser")
            continue
        if decoded.needed and field.optional:
            yield Finding("engine", True, name, f"required by {decoded.owner}, but optional")
        if field.deprecated:
            yield Finding("engine", False, name, f"read by {decoded.owner}, but deprecated")
        yield from _check_value(protocol, decoded, decoded.kind, field, name, home, seen)


def _check_value(
    protocol: Protocol,
    decoded: Decoded,
    kind: object,
    shape: Shape,
    name: str,
    home: str,
    seen: set[object],
) -> Iterator[Finding]:
    """Compare a value's Python type with its shape in the protocol."""
    refers, described = protocol.resolve(shape, home)
    if described is not None:
        home = refers.partition(".")[0]
        yield from _check_value(protocol, decoded, kind, described, name, home, seen)
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
                yield from _check_value(protocol, decoded, inner[0], shape.items, f"{name}[]", home, seen)
        elif isinstance(origin, type) and issubclass(origin, msgspec.Struct):
            accepted.add("object")
            if shape.properties:
                yield from _check_structure(protocol, origin, shape.properties, name, home, seen)
        else:
            accepted |= _JSON_KINDS.get(origin, _ANY)
    if shape.type and shape.type != "any" and shape.type not in accepted:
        yield Finding(
            "engine", True, name, f"{decoded.owner} takes {_list_kinds(accepted)}, but it is {shape.type}"
        )


_ANY = frozenset({"string", "integer", "number", "boolean", "object", "array", "any", "binary"})

_JSON_KINDS: dict[object, frozenset[str]] = {
    str: frozenset({"string", "binary"}),
    int: frozenset({"integer"}),
    float: frozenset({"integer", "number"}),
    bool: frozenset({"boolean"}),
    dict: frozenset({"object"}),
}


def _list_kinds(kinds: Iterable[str]) -> str:
    return " or ".join(sorted(kinds)) or "no type of the protocol"


# --- PyCDP ---------------------------------------------------------------------------------------------------


def check_pycdp(protocol: Protocol, vocabulary: Vocabulary) -> list[Finding]:
    """Return the differences between the vocabularies of PyCDP and the browser."""
    found: list[Finding] = []
    for what, known, there in (
        ("command", vocabulary.commands, protocol.commands),
        ("event", vocabulary.events, protocol.events),
    ):
        gone, new = sorted(known.keys() - there.keys()), sorted(there.keys() - known.keys())
        found += (Finding("pycdp", True, name, f"{what} of PyCDP that the browser lacks") for name in gone)
        found += (Finding("pycdp", False, name, f"{what} that PyCDP does not know") for name in new)
    for name in sorted(vocabulary.commands.keys() & protocol.commands.keys()):
        command, decoder = protocol.commands[name], vocabulary.commands[name]
        found += _check_sent(name, command, decoder)
        found += _check_read(name, command.returns, decoder)
    for name in sorted(vocabulary.events.keys() & protocol.events.keys()):
        found += _check_read(name, protocol.events[name].parameters, vocabulary.events[name])
    for name, kind in sorted(protocol.types.items()):
        domain, _, type_id = name.partition(".")
        decoder_of = vocabulary.types.get((module_of(domain), type_id))
        if decoder_of is not None:
            found += _check_type(name, kind, decoder_of)
    return found


def _check_sent(name: str, command: Command, decoder: Decoder) -> Iterator[Finding]:
    there = {field.name: field for field in command.parameters}
    for gone in sorted(decoder.sent - there.keys()):
        yield Finding("pycdp", True, f"{name} {gone}=", "parameter of PyCDP that the browser lacks")
    for field in command.parameters:
        if field.name not in decoder.sent:
            needed = not field.optional
            what = "required parameter that PyCDP cannot send" if needed else "new parameter"
            yield Finding("pycdp", needed, f"{name} {field.name}=", what)


def _check_read(name: str, fields: Iterable[Field], decoder: Decoder) -> Iterator[Finding]:
    there = {field.name: field for field in fields}
    for needed in sorted(decoder.needed):
        if needed not in there:
            yield Finding("pycdp", True, f"{name}.{needed}", "required by PyCDP, but missing in the browser")
        elif there[needed].optional:
            yield Finding("pycdp", True, f"{name}.{needed}", "required by PyCDP, but optional")
    for new in sorted(there.keys() - decoder.needed - decoder.optional):
        yield Finding("pycdp", False, f"{name}.{new}", "new field")


def _check_type(name: str, kind: Type, decoder: Decoder) -> Iterator[Finding]:
    if decoder.values:
        for value in kind.enum:
            if value not in decoder.values:
                yield Finding("pycdp", True, name, f"value {value!r}, which PyCDP's decoder rejects")
        return
    if kind.properties:
        yield from _check_read(name, kind.properties, decoder)


ChangeKind = Literal["added", "removed", "changed"]


# --- two protocols -------------------------------------------------------------------------------------------

_SIGNS: dict[ChangeKind, str] = {"added": "+", "removed": "-", "changed": "~"}


@attrs.frozen
class Change:
    """A difference: the kind of `entry` ("command", "event", "type", "domain"), its `name`, and the `detail`."""

    kind: ChangeKind
    entry: str
    name: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{_SIGNS[self.kind]} {self.entry} {self.name}{': ' + self.detail if self.detail else ''}"


def diff_protocols(before: Protocol, after: Protocol) -> list[Change]:
    """Return the changes from one protocol to the other, sorted by name."""
    old_domains, new_domains = ({d.name for d in protocol.domains} for protocol in (before, after))
    changes = [
        Change("added" if name in new_domains else "removed", "domain", name)
        for name in old_domains ^ new_domains
    ]
    tables: list[tuple[str, Mapping[str, Item], Mapping[str, Item]]] = [
        ("command", before.commands, after.commands),
        ("event", before.events, after.events),
        ("type", before.types, after.types),
    ]
    for entry, olds, news in tables:
        for name in sorted(olds.keys() | news.keys()):
            old, new = olds.get(name), news.get(name)
            if old is None:
                changes.append(Change("added", entry, name))
            elif new is None:
                changes.append(Change("removed", entry, name))
            else:
                changes += (Change("changed", entry, name, detail) for detail in _differences(old, new))
    return sorted(changes, key=lambda change: (change.name, change.entry))


def _differences(old: Item, new: Item) -> Iterator[str]:
    yield from _marks(old, new)
    match old, new:
        case Command(), Command():
            yield from _fields("parameter", old.parameters, new.parameters)
            yield from _fields("result", old.returns, new.returns)
            if old.redirect != new.redirect:
                yield f"answered by {old.redirect or 'itself'}, now by {new.redirect or 'itself'}"
        case EventKind(), EventKind():
            yield from _fields("parameter", old.parameters, new.parameters)
        case Type(), Type():
            yield from _shapes(old, new)


def _marks(old: Item | Field, new: Item | Field) -> Iterator[str]:
    for mark in ("experimental", "deprecated"):
        was, now = getattr(old, mark), getattr(new, mark)
        if was != now:
            yield f"now {mark}" if now else f"no longer {mark}"


def _fields(what: str, olds: Sequence[Field], news: Sequence[Field]) -> Iterator[str]:
    before, after = {field.name: field for field in olds}, {field.name: field for field in news}
    for name in [*before, *(name for name in after if name not in before)]:
        old, new = before.get(name), after.get(name)
        if old is None:
            assert new is not None
            yield f"{what} {name} added{' (optional)' if new.optional else ' (required)'}"
        elif new is None:
            yield f"{what} {name} removed"
        else:
            for detail in (*_optional(old, new), *_marks(old, new), *_shapes(old, new)):
                yield f"{what} {name}: {detail}"


def _optional(old: Field, new: Field) -> Iterator[str]:
    if old.optional != new.optional:
        yield "now optional" if new.optional else "now required"


def _shapes(old: Shape, new: Shape) -> Iterator[str]:
    was, now = _kind(old), _kind(new)
    if was != now:
        yield f"was {was}, is {now}"
    if old.enum != new.enum:
        for value in new.enum:
            if value not in old.enum:
                yield f"value {value} added"
        for value in old.enum:
            if value not in new.enum:
                yield f"value {value} removed"
    if old.items is not None and new.items is not None:
        for detail in _shapes(old.items, new.items):
            if not detail.startswith("was "):
                yield f"items: {detail}"
    yield from _fields("property", old.properties, new.properties)


def _kind(shape: Shape) -> str:
    if shape.items is not None:
        return f"array of {_kind(shape.items)}"
    return shape.ref or shape.type or "any"
