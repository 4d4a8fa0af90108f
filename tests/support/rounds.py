"""What `--run-slow` runs and a usual run samples: rounds of the same, members of a table, moments of a walk.

Rule: a usual run has a sample of everything that is sampled, of fixed members; `--run-slow` has all of it. What is
run by turns is in one of two turns, or of four, always the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

import attrs
import pytest

T = TypeVar("T")


@attrs.define
class _Run:
    slow: bool = False
    transport: str | None = None
    turn: int = 1


_RUN = _Run()


def run_slow(slow: bool) -> None:
    """Say whether this run is one with `--run-slow`; tests/conftest.py does, before a test is imported."""
    _RUN.slow = slow


def run_over(transport: str | None, turn: int) -> None:
    """Say what the shared browser is reached over: one transport for all tests, or by turns where it is None."""
    _RUN.transport, _RUN.turn = transport, turn


def transport_of(test: pytest.Item) -> str:
    """Return what a test's browser is reached over: "websocket" or "pipe".

    By turns, half of the files have the one and half the other; turns 1 and 2 are each other's rest, and in turns 3 and
    4 it is the other way round: so four turns have every test over both. `@pytest.mark.transport(name)` is for a test
    that is about one of them.
    """
    if (chosen := test.get_closest_marker("transport")) is not None:
        return str(chosen.args[0])
    if _RUN.transport is not None:
        return _RUN.transport
    return TRANSPORTS[(zlib.crc32(test.path.name.encode()) + (_RUN.turn - 1) // 2) % 2]


TRANSPORTS = ("pipe", "websocket")


def rounds(few: int, many: int) -> int:
    """Return how many rounds a test has: `few`, or `many` with `--run-slow`."""
    return many if _RUN.slow else few


def one_in(moments: int) -> int:
    """Return for `walk_cancellations(every=...)` one in so many moments, or each one with `--run-slow`."""
    return 1 if _RUN.slow else moments


def every_nth(n: int, members: Sequence[T], start: int = 0) -> Sequence[T]:
    """Return each n-th of the members, beginning at `start`; all of them with `--run-slow`.

    Where tables are crossed, another `start` for each row keeps each member in the sample.
    """
    return members if _RUN.slow else members[start % min(n, len(members)) :: n]


def slow_but(members: Iterable[Any], kept: Collection[Any]) -> list[Any]:
    """Return the members of a table as parameters; all but those that are kept are run with `--run-slow` alone.

    Raises ValueError when one that is to be kept is not in the table.
    """
    table = list(members)
    if missing := [each for each in kept if each not in table]:
        raise ValueError(f"got {missing} to keep, expected members of {table}")
    return [each if each in kept else pytest.param(each, marks=pytest.mark.slow) for each in table]


def sample_of(cases: Sequence[tuple[int, ...]], n: int, start: int = 0) -> set[tuple[int, ...]]:
    """Return one in `n` of the cases of a product, each given by its places in the tables that are crossed.

    The sample is a diagonal: what is taken of one table moves on with each member of the others. A member of a table
    that the diagonal has not is in it with the first case that has it. Of a single table it is each n-th member, from
    `start` on: where tests share a table, another start for each keeps other members. This is what
    `@pytest.mark.sample(n)` means in a run without `--run-slow`.
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


TURNS = 4


def in_turn(name: str, turn: int, of: int) -> bool:
    """Say whether a test of this name is in the turn, 1 to 4, when it is in one of so many, 2 or 4.

    By a checksum, so that no other test moves it.
    """
    return zlib.crc32(name.encode()) % of == (turn - 1) % of
