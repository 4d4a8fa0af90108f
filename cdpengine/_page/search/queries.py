"""Queries: descriptions of elements as trees of criteria and their combinations. Pure.

Rule: a query is immutable data, and equal queries describe the same elements. It does not know a page. A choice by
number counts the matches of the whole page, or within `has` and `has_not` those inside of one element.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any, TypeAlias

import attrs

from cdpengine._checks import invalid
from cdpengine._page.patterns import Words, check_words, describe_words
from cdpengine._page.search.criteria import Criteria


@attrs.frozen
class Known:
    """A known element: a ref, or a node. `target` is any target of actions except a locator."""

    target: Hashable
    description: str = attrs.field(eq=False)

    def __str__(self) -> str:
        return self.description


@attrs.frozen
class Inside:
    """The matches of `base` that are descendants of a match of `scope`."""

    base: Query
    scope: Query

    def __str__(self) -> str:
        return f"{_grouped(self.base)} inside {_grouped(self.scope)}"


@attrs.frozen
class Filtered:
    """The matches of `base` with certain descendants and visible text, or without them.

    `visible` is None, or whether the matches are visible.
    """

    base: Query
    has: Query | None = None
    has_not: Query | None = None
    has_text: Words | None = None
    has_not_text: Words | None = None
    visible: bool | None = None

    def __attrs_post_init__(self) -> None:
        check_words("has_text", self.has_text)
        check_words("has_not_text", self.has_not_text)
        if self.visible not in (None, True, False):
            raise invalid("visible", self.visible, "True or False")
        if (self.has, self.has_not, self.has_text, self.has_not_text, self.visible) == (None,) * 5:
            raise invalid("filter", "nothing", "has, has_not, has_text, has_not_text or visible")

    def __str__(self) -> str:
        parts = []
        if self.visible is not None:
            parts.append("that is visible" if self.visible else "that is hidden")
        if self.has is not None:
            parts.append(f"that has {_grouped(self.has)}")
        if self.has_not is not None:
            parts.append(f"without {_grouped(self.has_not)}")
        if self.has_text is not None:
            parts.append(f"with the text {describe_words(self.has_text)}")
        if self.has_not_text is not None:
            parts.append(f"without the text {describe_words(self.has_not_text)}")
        return f"{_grouped(self.base)} {', '.join(parts)}"


@attrs.frozen
class Both:
    """The elements that match `one` and `other`."""

    one: Query
    other: Query

    def __str__(self) -> str:
        return f"{_grouped(self.one)} and {_grouped(self.other)}"


@attrs.frozen
class Either:
    """The elements that match `one` or `other`."""

    one: Query
    other: Query

    def __str__(self) -> str:
        return f"{_grouped(self.one)} or {_grouped(self.other)}"


@attrs.frozen
class Picked:
    """One of the matches of `base`, by its number from 0. Negative numbers count from the end: -1 is the last."""

    base: Query
    index: int

    def __str__(self) -> str:
        base = f"({self.base})" if isinstance(self.base, Inside) else _grouped(self.base)
        return f"{base} (nth={self.index})"


Leaf: TypeAlias = Criteria | Known
Query: TypeAlias = Leaf | Inside | Filtered | Both | Either | Picked
"""A description of elements."""


def _grouped(query: Query) -> str:
    return f"({query})" if isinstance(query, Both | Either | Filtered) else str(query)


def pick(base: Query, index: int) -> Picked:
    """Return the query for the match number `index` of `base`. Raises InvalidArgumentError."""
    if isinstance(index, bool) or not isinstance(index, int):
        raise invalid("nth", index, "a whole number; negative numbers count from the end")
    return Picked(base, index)


def count_needed(index: int) -> int:
    """Return the number of matches that a choice by number needs."""
    return index + 1 if index >= 0 else -index


def split_pick(query: Query) -> tuple[Query, int | None]:
    """Return the query without its outermost choice, and the chosen number, or None."""
    return (query.base, query.index) if isinstance(query, Picked) else (query, None)


def put_inside(query: Query, scope: Query) -> Query:
    """Return the query for the matches inside of `scope`. A choice by number then counts these."""
    base, index = split_pick(query)
    inside = Inside(base, scope)
    return inside if index is None else Picked(inside, index)


def leaves(query: Query) -> Iterator[Leaf]:
    """Yield the leaves of a query."""
    if isinstance(query, Criteria | Known):
        yield query
    else:
        for part in _parts(query).values():
            yield from leaves(part)


def map_leaves(query: Query, change: Callable[[Leaf], Leaf]) -> Query:
    """Return the query with each leaf replaced by `change(leaf)`."""
    if isinstance(query, Criteria | Known):
        return change(query)
    changed: dict[str, Any] = {name: map_leaves(part, change) for name, part in _parts(query).items()}
    return attrs.evolve(query, **changed)


def _parts(query: Inside | Filtered | Both | Either | Picked) -> dict[str, Query]:
    """Return the queries of which the query consists, by their attributes."""
    return {
        field.name: value
        for field in attrs.fields(type(query))
        if isinstance(value := getattr(query, field.name), Query)
    }


def counts_in_page(query: Query) -> bool:
    """Return whether the query chooses by number among the matches of the whole page."""
    if isinstance(query, Picked):
        return True
    if isinstance(query, Filtered):
        return counts_in_page(query.base)
    return not isinstance(query, Criteria | Known) and any(map(counts_in_page, _parts(query).values()))
