"""What two protocols differ in: commands, events, types, their fields and values. Pure.

Rule: descriptions are no difference; every other change is one line that says what it was and what it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import attrs

from cdpengine.debug.protocol import Command, EventKind, Field, Item, Protocol, Shape, Type

ChangeKind = Literal["added", "removed", "changed"]

_SIGNS: dict[ChangeKind, str] = {"added": "+", "removed": "-", "changed": "~"}


@attrs.frozen
class Change:
    """One difference: of which `entry` ("command", "event", "type", "domain"), its `name`, and what `detail`."""

    kind: ChangeKind
    entry: str
    name: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{_SIGNS[self.kind]} {self.entry} {self.name}{': ' + self.detail if self.detail else ''}"


def diff_protocols(before: Protocol, after: Protocol) -> list[Change]:
    """Return what changed from one protocol to the other, in the order of the names."""
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
