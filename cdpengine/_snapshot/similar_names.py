"""Nodes with similar names, for the error of a search without a match. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from itertools import islice
from typing import TypeVar

from cdpengine._page.patterns import collapse_space

T = TypeVar("T")

MOST_LISTED = 5
"""Maximum number of similar nodes in an error."""

_MOST_COMPARED = 2_000
_LONGEST_COMPARED = 200


def with_similar_name(nodes: Iterable[T], name_of: Callable[[T], str], name: str) -> list[T]:
    """Return the nodes whose name contains `name` or is a part of it, then those whose name is spelled similarly.

    The nearest comes first. Case is ignored. Of several nodes with the same name, only the first one is returned.
    """
    words = collapse_space(name).casefold()
    by_name: dict[str, T] = {}
    for node in islice(nodes, _MOST_COMPARED):
        known = name_of(node)
        if 0 < len(known) <= _LONGEST_COMPARED:
            by_name.setdefault(known.casefold(), node)
    if not words:
        return []
    near = sorted(
        (each for each in by_name if words in each or each in words),
        key=lambda each: abs(len(each) - len(words)),
    )
    if len(words) <= _LONGEST_COMPARED:
        near += get_close_matches(words, by_name, n=MOST_LISTED)
    return [by_name[each] for each in dict.fromkeys(near)]
