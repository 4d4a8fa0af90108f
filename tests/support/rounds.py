"""Sampling: how many rounds, table members and moments a test runs without `--run-slow`.

Samples are fixed: every run without `--run-slow` has the same cases.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

import attrs
import pytest

T = TypeVar("T")


@attrs.define
class _Run:
    slow: bool = False


_RUN = _Run()


def run_slow(slow: bool) -> None:
    """Set whether this run has `--run-slow`. tests/conftest.py calls it before it imports tests."""
    _RUN.slow = slow


def rounds(few: int, many: int) -> int:
    """Return the number of rounds: `few`, or `many` with `--run-slow`."""
    return many if _RUN.slow else few


def one_in(moments: int) -> int:
    """Return the step of `walk_cancellations(every=...)`: `moments`, or 1 with `--run-slow`."""
    return 1 if _RUN.slow else moments


def every_nth(n: int, members: Sequence[T], start: int = 0) -> Sequence[T]:
    """Return every n-th member from `start` on, or all members with `--run-slow`.

    For crossed tables, pass a different `start` in each row, so that the sample has each member.
    """
    return members if _RUN.slow else members[start % min(n, len(members)) :: n]


def slow_but(members: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Return the members of a table as parameters. Members outside of `kept` run only with `--run-slow`.

    Raises ValueError if `kept` has a value that the table lacks.
    """
    table = list(members)
    if missing := [each for each in kept if each not in table]:
        raise ValueError(f"got {missing} to keep, expected members of {table}")
    return [each if each in kept else pytest.param(each, marks=pytest.mark.slow) for each in table]


def sample_of(cases: Sequence[tuple[int, ...]], n: int, start: int = 0) -> set[tuple[int, ...]]:
    """Return one in `n` cases of a product. A case is a tuple of positions in the crossed tables.

    `@pytest.mark.sample(n)` selects these cases in a run without `--run-slow`. The sample is a diagonal of the product.
    If the diagonal lacks a member of a table, the first case with that member is added. For a single table, the sample
    is every n-th member from `start` on.
    """
    kept = {case for case in cases if sum(case) % n == start % n}
    if cases and len(cases[0]) > 1:
        for table in range(len(cases[0])):
            had = {case[table] for case in kept}
            for case in cases:
                if case[table] not in had:
                    kept.add(case)
                    had.add(case[table])
    return kept or {cases[-1]}
