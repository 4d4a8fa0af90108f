"""Random walks: in any order of events, an action hits its element or does nothing, and the page stays
usable.

`CDPENGINE_WALKS=100-200` runs the walks of these seeds.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pytest
import trio
from rounds import rounds
from walk import Step, Violation, Walk, make_steps, shorten
from walk_site import WalkSite, serve_walk_site

pytestmark = pytest.mark.timeout(400)  # a walk takes 5 s, and failing ones are shortened

STEPS = 30
SHORTENING_ATTEMPTS = 40

first, _, last = os.environ.get("CDPENGINE_WALKS", "").partition("-")
SEEDS = range(int(first), int(last)) if first else range(rounds(10, 500))


@pytest.fixture(scope="module")
def walk_site() -> Iterator[WalkSite]:
    with serve_walk_site() as site:
        yield site


@pytest.mark.parametrize("seed", SEEDS)
def test_walk(seed: int, walk_site: WalkSite, transport: str) -> None:
    failures: list[Violation] = []

    def fails(steps: Sequence[Step]) -> bool:
        try:
            trio.run(Walk(walk_site, transport).run, steps)
        except Violation as violation:
            failures.append(violation)
            return True
        return False

    if fails(steps := make_steps(seed, STEPS)):
        shorten(steps, fails, SHORTENING_ATTEMPTS)
        raise failures[-1]


FOUND: dict[str, list[Step]] = {
    "a crashed frame of a document that comes back": [
        ("new_page", 6, 559), ("crash", 2, 305), ("act_fresh", 9, 396), ("back", 3, 524),
    ],
}  # fmt: skip
"""Shortened walks that failed once."""


@pytest.mark.parametrize("found", FOUND)
def test_walk_that_once_failed(found: str, walk_site: WalkSite, transport: str) -> None:
    trio.run(Walk(walk_site, transport).run, FOUND[found])
