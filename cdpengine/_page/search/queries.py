"""Queries: descriptions of elements as trees of criteria and their combinations. Pure.

Rule: a query is immutable data, and equal queries describe the same elements. It does not know a page.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

import attrs

from cdpengine._checks import invalid
from cdpengine._page.search.criteria import Criteria


@attrs.frozen
class Picked:
    """One of the matches of `base`, by its number from 0. Negative numbers count from the end: -1 is the last."""

    base: Query
    index: int

    def __str__(self) -> str:
        return f"{self.base} (nth={self.index})"


@attrs.frozen
class Known:
    """A known element: a ref, or a node. `target` is any target of actions except a locator."""

    target: Hashable
    description: str = attrs.field(eq=False)

    def __str__(self) -> str:
        return self.description


Query: TypeAlias = Criteria | Picked | Known
"""A description of elements."""


def pick(base: Query, index: int) -> Picked:
    """Return the query for the match number `index` of `base`. Raises InvalidArgumentError."""
    return Picked(base, check_index(index))


def check_index(index: int) -> int:
    """Return `index`. Raises InvalidArgumentError unless it is a whole number."""
    if isinstance(index, bool) or not isinstance(index, int):
        raise invalid("nth", index, "a whole number; negative numbers count from the end")
    return index


def count_needed(index: int) -> int:
    """Return the number of matches that a choice by number needs."""
    return index + 1 if index >= 0 else -index


def split_pick(query: Query) -> tuple[Query, int | None]:
    """Return the query without its outermost choice, and the chosen number, or None."""
    return (query.base, query.index) if isinstance(query, Picked) else (query, None)
