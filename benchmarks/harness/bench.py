"""The environment of a benchmark case, and the turns of its sides.

Rule: all sides take a turn in every round, and the order rotates from round to round, so that disturbances hit all
sides. Nothing is counted before each side's warm-up. A side that cannot run the case is left out with its reason.
An error of a peer is such a reason; an error of the engine ends the case.
"""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import attrs
import trio

import cdpengine
from benchmarks.harness.figures import Measurement, SideFigures, Unit
from benchmarks.harness.installed import MCP_SERVERS
from benchmarks.harness.noise import fixed_work
from benchmarks.harness.peers import PEER_NAMES, Cannot, Peer, PeerGroup

__all__ = ["Bench", "Cannot", "Case", "Peer", "Turn"]

LEAST_ROUNDS = 3
"""Minimum number of rounds of a figure, even if its case takes too long."""

Turn = Callable[[], Awaitable[float | Sequence[float]]]
"""One turn: does its work, and returns its value or values in the measurement's unit. May raise Cannot."""


@attrs.define(eq=False)
class Bench:
    """The environment of a case.

    `executable` and `flags` are those of all sides' browser. `site` is the address of the pages without a trailing
    slash. `quick` requests fewer sizes and shorter turns. `measurements` are the recorded ones so far.
    """

    executable: str
    flags: tuple[str, ...]
    site: str
    group: PeerGroup
    quick: bool = False
    turn_count: int = 7
    say: Callable[[str], None] = print
    measurements: list[Measurement] = attrs.field(factory=list)
    until: float = math.inf
    """End of the case's time budget, on trio's clock."""

    @property
    def peer_names(self) -> tuple[str, ...]:
        """The requested peers."""
        return self.group.names

    def launch(self, **options: Any) -> AbstractAsyncContextManager[cdpengine.Browser]:
        """Start the engine's browser, with the binary and flags of all sides."""
        return cdpengine.launch(executable=self.executable, **options)

    async def peers(self, verb: str) -> dict[str, Peer]:
        """Return the requested peers, running and prepared for `verb`.

        Each has a separate browser. A missing peer, or one without the verb, is included too: its `ask` raises
        Cannot with the reason. They run until `close_peers`, which the program calls after every case.
        """
        return await self.group.ready(verb)

    async def close_peers(self) -> None:
        """End all peers and their browsers."""
        await self.group.close()

    async def turns(
        self,
        case: str,
        sides: Mapping[str, Turn],
        *,
        unit: Unit,
        variant: str = "",
        size: float | None = None,
        curve: str = "",
        turns: int | None = None,
        warm_up: int = 1,
        all_turns: bool = False,
    ) -> Measurement:
        """Run the turns of all sides, record their values, and return the measurement.

        `turns` is the number of rounds, None for the program's default; `warm_up` rounds are not counted. After
        the case's time budget, rounds are skipped, except for LEAST_ROUNDS, or for all with `all_turns`.
        """
        count = self.turn_count if turns is None else turns
        taken: dict[str, list[tuple[float, ...]]] = {name: [] for name in sides}
        cannot: dict[str, str] = {}
        reference: list[float] = []
        names = list(sides)
        self.group.forget_notes()
        started = trio.current_time()
        for number in range(-warm_up, count):
            if number >= LEAST_ROUNDS and not all_turns and trio.current_time() > self.until:
                break
            if number >= 0:
                reference.append(fixed_work())
            first = number % len(names) if names else 0
            for name in names[first:] + names[:first]:
                if name in cannot:
                    continue
                gc.collect()
                try:
                    said = await sides[name]()
                except Cannot as reason:
                    cannot[name] = str(reason)
                except Exception as error:
                    if not is_peer(name):
                        raise
                    cannot[name] = words_of(error)
                else:
                    if number >= 0:
                        taken[name].append(tuple(said) if isinstance(said, Sequence) else (said,))
        figures = tuple(
            SideFigures(
                name,
                () if name in cannot else taken[name],
                cannot.get(name, ""),
                self.group.note(name.partition(":")[0]),
            )
            for name in names
        )
        measurement = Measurement(
            case, variant, unit=unit, sides=figures, size=size, curve=curve, reference=tuple(reference)
        )
        self.record(measurement)
        self.say(f"    {measurement.name}: {len(reference)} rounds, {trio.current_time() - started:.1f} s")
        return measurement

    def record(self, measurement: Measurement) -> None:
        """Add a measurement to the report."""
        self.measurements.append(measurement)


@attrs.frozen
class Case:
    """A case: `run` measures and records. `seconds` is its time budget; after it, figures have fewer rounds."""

    name: str
    title: str
    run: Callable[[Bench], Awaitable[None]]
    seconds: float = 60
    quick_seconds: float = 15


def is_peer(side: str) -> bool:
    """Whether a side belongs to a peer: "playwright", or "playwright: variant"."""
    return side.partition(":")[0] in (*PEER_NAMES, *MCP_SERVERS)


def words_of(error: BaseException) -> str:
    """Return an error's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


async def timed(step: Callable[[], Awaitable[object]]) -> float:
    """Return the milliseconds of one step."""
    started = time.perf_counter()
    await step()
    return (time.perf_counter() - started) * 1000


async def each_timed(step: Callable[[], Awaitable[object]], times: int, pause: float = 0) -> list[float]:
    """Return the milliseconds of each of `times` steps, with a pause (seconds) between two."""
    taken = []
    for number in range(times):
        if pause and number:
            await trio.sleep(pause)
        taken.append(await timed(step))
    return taken
