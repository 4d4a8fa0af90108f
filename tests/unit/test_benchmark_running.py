"""A run of cases: the measurements of each case are saved before the next one starts."""

from __future__ import annotations

import trio

from benchmarks import site
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.peers import PeerGroup
from benchmarks.harness.run import Outcome, run_cases


async def test_results_are_saved_after_each_case() -> None:
    kept: list[Outcome] = []
    kept_before: list[int] = []

    async def measure(_bench: Bench) -> None:
        kept_before.append(len(kept))

    async def fail(_bench: Bench) -> None:
        kept_before.append(len(kept))
        raise ValueError("it fell")

    cases = [Case("first", "", measure), Case("second", "", fail), Case("third", "", measure)]
    with site.serve() as address:
        async with trio.open_nursery() as nursery:
            group = PeerGroup((), "", (), address, nursery)
            outcome = await run_cases(Bench("", (), address, group), cases, kept.append)
    assert kept_before == [0, 1, 2]
    assert [[case.name for case in each.cases] for each in kept] == [
        ["first"],
        ["first", "second"],
        ["first", "second", "third"],
    ]
    assert [case.failure for case in outcome.cases] == ["", "ValueError: it fell", ""]
    assert kept[-1] == outcome
