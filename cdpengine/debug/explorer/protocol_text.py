"""The protocol as text and as JSON: lists, entries with their types expanded, and search results. Pure.

Rule: a type is expanded at its first occurrence only, so that output stays finite when types refer to each other.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from cdpengine.debug.explorer.protocol import (
    Command,
    Domain,
    Entry,
    EventKind,
    Field,
    Item,
    Protocol,
    Shape,
    Type,
)
from cdpengine.errors.texts import escape_line

WIDTH = 110

_LONGEST_BRIEF = 90


def list_text(entries: Iterable[Entry]) -> str:
    """Return one line for each entry: kind, name, marks, and the beginning of its description."""
    rows = [(entry.kind, entry.name + _marks(entry), brief(entry.item)) for entry in entries]
    width = max((len(name) for _, name, _ in rows), default=0)
    return "\n".join(
        escape_line(f"{kind:<8} {name:<{width}}  {description}".rstrip()) for kind, name, description in rows
    )


def domains_text(protocol: Protocol) -> str:
    """Return one line for each domain, with the numbers of its entries."""
    rows = [
        (
            entry.name + _marks(entry),
            _counts(entry.domain),
        )
        for entry in protocol.entries()
        if entry.kind == "domain"
    ]
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(escape_line(f"{name:<{width}}  {counts}") for name, counts in rows)


def _counts(domain: Domain) -> str:
    return f"{len(domain.commands)} commands, {len(domain.events)} events, {len(domain.types)} types"


def entry_text(protocol: Protocol, entry: Entry, *, depth: int | None = None) -> str:
    """Describe one entry fully. `depth` limits the levels of expanded types; None expands all."""
    if isinstance(entry.item, Domain):
        members = [
            other for other in protocol.entries() if other.domain is entry.domain and other is not entry
        ]
        lines = [f"domain {entry.name}{_marks(entry)}", *_wrap(entry.item.description, "  ")]
        if entry.item.dependencies:
            lines.append(f"  depends on {', '.join(entry.item.dependencies)}")
        members = [other for other in members if other.kind != "domain"]
        return "\n".join([*map(escape_line, lines), "", list_text(members)])
    return "\n".join(map(escape_line, _entry_lines(protocol, entry, depth)))


def _entry_lines(protocol: Protocol, entry: Entry, depth: int | None) -> Iterator[str]:
    item, home = entry.item, entry.domain.name
    head = f"{entry.kind} {entry.name}{_marks(entry)}"
    if isinstance(item, Type):
        head += f": {_kind_text(protocol, item, home)}"
    yield head
    yield from _wrap(item.description, "  ")
    if isinstance(item, Command) and item.redirect:
        yield f"  answered by {item.redirect}"
    seen = {entry.name} if isinstance(item, Type) else set()
    match item:
        case Command():
            groups: list[tuple[str, tuple[Field, ...]]] = [
                ("parameters", item.parameters),
                ("returns", item.returns),
            ]
        case EventKind():
            groups = [("parameters", item.parameters)]
        case Type():
            groups = [("properties", item.properties)]
            yield from _values(item.enum, "  ")
        case Domain():
            groups = []
    for title, fields in groups:
        if fields:
            yield f"  {title}:"
            for field in fields:
                yield from _field_lines(protocol, field, home, "    ", depth, seen)
        elif not isinstance(item, Type):
            yield f"  {title}: none"


def _field_lines(
    protocol: Protocol, field: Field, home: str, indent: str, depth: int | None, seen: set[str]
) -> Iterator[str]:
    marks = [
        mark
        for mark, holds in (("experimental", field.experimental), ("deprecated", field.deprecated))
        if holds
    ]
    optional = "?" if field.optional else ""
    details = f" [{', '.join(marks)}]" if marks else ""
    yield f"{indent}{field.name}{optional}: {_kind_text(protocol, field, home)}{details}"
    yield from _wrap(field.description, indent + "  ")
    yield from _inside(protocol, field, home, indent + "  ", depth, seen)


def _inside(
    protocol: Protocol, shape: Shape, home: str, indent: str, depth: int | None, seen: set[str]
) -> Iterator[str]:
    """Yield the contents of a value: its values, its properties, and the contents of its type."""
    if shape.items is not None:
        yield from _inside(protocol, shape.items, home, indent, depth, seen)
    yield from _values(shape.enum, indent)
    name, kind = protocol.resolve(shape, home)
    if kind is not None and _has_inside(kind):
        if name in seen:
            yield f"{indent}({name}: see above)"
        elif depth != 0:
            seen.add(name)
            inner = None if depth is None else depth - 1
            yield from _inside(protocol, kind, name.partition(".")[0], indent, inner, seen)
    for field in shape.properties:
        yield from _field_lines(protocol, field, home, indent, depth, seen)


def _has_inside(kind: Type) -> bool:
    return bool(kind.enum or kind.properties or kind.items)


def _kind_text(protocol: Protocol, shape: Shape, home: str) -> str:
    name, kind = protocol.resolve(shape, home)
    if name:
        if kind is None:
            return f"{name} (not described by the protocol)"
        return f"{name} ({_kind_text(protocol, kind, name.partition('.')[0])})"
    if shape.items is not None:
        return f"array of {_kind_text(protocol, shape.items, home)}"
    return shape.type or "any"


def _values(values: Sequence[str], indent: str) -> Iterator[str]:
    if values:
        yield from _wrap("one of: " + ", ".join(values), indent)


def _marks(entry: Entry) -> str:
    marks = [
        mark
        for mark, holds in (("experimental", entry.experimental), ("deprecated", entry.deprecated))
        if holds
    ]
    return f" [{', '.join(marks)}]" if marks else ""


def _wrap(text: str, indent: str) -> list[str]:
    words = " ".join(text.split())
    return textwrap.wrap(
        words, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False
    )


def brief(item: Item) -> str:
    """Return the beginning of a description, in one line."""
    words = " ".join(item.description.split())
    first = words.split(". ")[0].removesuffix(".")
    return first if len(first) <= _LONGEST_BRIEF else first[: _LONGEST_BRIEF - 1].rstrip() + "…"


def signature(name: str, command: Command) -> str:
    """Return a command's signature in one line: "Page.navigate url= [referrer=]"."""
    needed = [f"{field.name}=" for field in command.parameters if not field.optional]
    others = [f"[{field.name}=]" for field in command.parameters if field.optional]
    return " ".join([name, *needed, *others])


# --- JSON ----------------------------------------------------------------------------------------------------


def entry_json(protocol: Protocol, entry: Entry) -> dict[str, object]:
    """Return an entry with its definition and the definitions of all its types."""
    return {
        "kind": entry.kind,
        "name": entry.name,
        "experimental": entry.experimental,
        "deprecated": entry.deprecated,
        "definition": plain(entry.item),
        "types": {
            name: plain(kind) for name, kind in protocol.references(entry.item, entry.domain.name).items()
        },
    }


def row_json(entry: Entry) -> dict[str, object]:
    """Return an entry as one row of a list."""
    return {
        "kind": entry.kind,
        "name": entry.name,
        "experimental": entry.experimental,
        "deprecated": entry.deprecated,
        "description": " ".join(entry.item.description.split()),
    }


def plain(item: Item) -> object:
    """Return a definition in the protocol's form, without empty and false fields."""
    return _drop_empty(msgspec.to_builtins(item))


def _drop_empty(value: object) -> object:
    if isinstance(value, dict):
        cleaned = {key: _drop_empty(inner) for key, inner in value.items()}
        return {key: inner for key, inner in cleaned.items() if inner not in ("", False, None, [], ())}
    if isinstance(value, list | tuple):
        return [_drop_empty(inner) for inner in value]
    return value
