"""The environment of a benchmark case, the turns of its sides, and the running of cases.

Rule: all sides take a turn in every round, and the order rotates, so that disturbances hit all sides. A side that
cannot run the case is left out with its reason. An error of a peer is such a reason; an error of the engine ends the
case, and the others continue. No peer, browser or server survives the run, however it ends.
"""

from __future__ import annotations

import gc
import math
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import trio

import cdpengine
from benchmarks import site
from benchmarks.harness.engine import Engine
from benchmarks.harness.figures import Measurement, SideFigures, Unit, figure_name
from benchmarks.harness.peers import PATIENCE, Peer, Peers, is_peer
from benchmarks.harness.programs import Cannot, say
from benchmarks.harness.report import CaseRun
from benchmarks.peers.verbs import words_of
from cdpengine._launch.flags import Machine, command_line

LEAST_ROUNDS = 3  # minimum number of rounds of a figure if its case takes too long
DEADLINE = 4.0
"""Deadline of a case as a multiple of its planned time; at least LEAST_DEADLINE seconds."""

LEAST_DEADLINE = 90.0

Turn = Callable[[], Awaitable[float | Sequence[float] | Mapping[str, Any]]]
"""One turn: does its work, and returns its value or values in the measurement's unit. May raise Cannot.

A mapping has the values as "values". It may have a "note", and values of further figures.
"""

Asked = Callable[[str], Collection[str]]
"""Function that returns the sides that a check needs of the figure of that name."""

Further = Mapping[str, tuple[str, Unit]]
"""Further figures of the same turns: their key in a turn's mapping, with their variant and unit."""


@attrs.define(eq=False)
class Bench:
    """The environment of a case.

    `executable` and `flags` are those of all sides' browser. `site` is the address of the pages without a trailing
    slash. `quick` requests fewer sizes and shorter turns. Each figure has at least `least_rounds`. Turns of sides that
    are not `asked` are skipped; None asks for all. `measurements` are the recorded ones so far.
    """

    executable: str
    flags: tuple[str, ...]
    site: str
    peers: Peers
    quick: bool = False
    turn_count: int = 7
    least_rounds: int = 1
    asked: Asked | None = None
    measurements: list[Measurement] = attrs.field(factory=list)
    case: str = ""
    until: float = math.inf
    """End of the case's time budget, on trio's clock."""

    def launch(self, **options: Any) -> AbstractAsyncContextManager[cdpengine.Browser]:
        """Start the engine's browser, with the binary and flags of all sides."""
        return cdpengine.launch(executable=self.executable, **options)

    async def peer_turns(self, verb: str, *, patience: float = PATIENCE, **order: object) -> dict[str, Turn]:
        """Return the turns of the requested peers. Each has a separate browser."""

        def turn_of(peer: Peer) -> Turn:
            return lambda: peer.tell(verb, patience=patience, **order)

        return {name: turn_of(peer) for name, peer in (await self.peers.ready()).items()}

    async def sides(
        self, engine: Engine, verb: str, *, patience: float = PATIENCE, **order: object
    ) -> dict[str, Turn]:
        peers = await self.peer_turns(verb, patience=patience, **order)
        return {"engine": lambda: engine.tell(verb, **order), **peers}

    async def turns(
        self,
        sides: Mapping[str, Turn],
        variant: str = "",
        *,
        unit: Unit,
        further: Further | None = None,
        turns: int | None = None,
        warm: Mapping[str, Turn] | None = None,
        warm_up: int = 1,
    ) -> Measurement:
        """Run the turns of all sides, record their values and further figures, and return the measurement.

        `turns` is the number of rounds, None for the program's default. `warm_up` rounds are not counted; `warm` has
        other turns for them. After the case's time budget, rounds after LEAST_ROUNDS or `least_rounds` are skipped.
        """
        taken: dict[str, list[Mapping[str, Any]]] = {name: [] for name in sides}
        cannot: dict[str, str] = {}
        rounds = 0
        names = self._asked_of(sides, variant, further or {})
        if not names:
            return Measurement(self.case, variant, unit=unit, sides=())
        started = trio.current_time()
        for number in range(-warm_up, max(self.least_rounds, self.turn_count if turns is None else turns)):
            if number >= max(LEAST_ROUNDS, self.least_rounds) and trio.current_time() > self.until:
                break
            rounds = number + 1
            for name in names[number % len(names) :] + names[: number % len(names)]:
                if name in cannot:
                    continue
                gc.collect()
                try:
                    said = await (sides if number >= 0 else warm or sides)[name]()
                except Cannot as reason:
                    cannot[name] = str(reason)
                except Exception as error:
                    if not is_peer(name):
                        raise
                    cannot[name] = words_of(error)
                else:
                    if number >= 0:
                        taken[name].append(said if isinstance(said, Mapping) else {"values": said})

        def recorded(key: str, variant: str, unit: Unit) -> Measurement:
            found = [_side(name, key, taken[name], cannot.get(name, "")) for name in names]
            return self.record(variant, [side for side in found if side is not None], unit=unit)

        made = recorded("values", variant, unit)
        say(f"    {made.name}: {rounds} rounds, {trio.current_time() - started:.1f} s")
        for key, figure in (further or {}).items():
            recorded(key, *figure)
        return made

    def _asked_of(self, sides: Mapping[str, Turn], variant: str, further: Further) -> list[str]:
        if self.asked is None:
            return list(sides)
        variants = [variant, *(each for each, _ in further.values())]
        asked = {side for each in variants for side in self.asked(figure_name(self.case, each))}
        return [side for side in sides if side in asked]

    def record(
        self, variant: str, sides: Sequence[SideFigures], *, unit: Unit, compared: bool = True
    ) -> Measurement:
        made = Measurement(self.case, variant, unit=unit, sides=tuple(sides), compared=compared)
        self.measurements.append(made)
        return made


def _side(name: str, key: str, answers: Sequence[Mapping[str, Any]], cannot: str) -> SideFigures | None:
    """Return the values of one figure of a side. A side that never reports a further figure is left out."""
    if cannot:
        return SideFigures(name, cannot=cannot)
    turns = [
        answer[key] if isinstance(answer[key], Sequence) else (answer[key],)
        for answer in answers
        if key in answer
    ]
    note = str(answers[-1].get("note", "")) if answers else ""
    return SideFigures(name, turns, note=note) if turns or key == "values" else None


@attrs.frozen
class Case:
    """A case: `run` measures and records. `seconds` is its time budget; after it, figures have fewer rounds."""

    name: str
    title: str
    run: Callable[[Bench], Awaitable[None]]
    seconds: float = 60
    quick_seconds: float = 15


async def timed(step: Callable[[], Awaitable[object]]) -> float:
    started = time.perf_counter()
    await step()
    return (time.perf_counter() - started) * 1000


async def each_timed(step: Callable[[], Awaitable[object]], times: int) -> list[float]:
    return [await timed(step) for _ in range(times)]


async def calls_a_second(calls: Sequence[Callable[[], Awaitable[object]]], seconds: float) -> float:
    """Repeat all calls concurrently for that time, and return their number a second."""
    made = 0
    started = time.perf_counter()

    async def repeat(call: Callable[[], Awaitable[object]]) -> None:
        nonlocal made
        while time.perf_counter() < started + seconds:
            await call()
            made += 1

    async with trio.open_nursery() as nursery:
        for call in calls:
            nursery.start_soon(repeat, call)
    return made / (time.perf_counter() - started)


# --- running ------------------------------------------------------------------------------------------------------


def engine_flags() -> tuple[str, ...]:
    """Return the browser flags of all sides: the engine's without those for the profile and the connection."""
    own = ("--user-data-dir", "--remote-debugging", "about:blank")
    line = command_line(
        (),
        profile=Path(),
        headless=True,
        transport="websocket",
        lifeline=False,
        machine=Machine.here(),
    )
    return tuple(flag for flag in line if not flag.startswith(own))


@asynccontextmanager
async def open_bench(*, peers: Sequence[str], quick: bool, turns: int) -> AsyncIterator[Bench]:
    program = str(cdpengine.find_browser().path)
    flags = engine_flags()
    with site.serve() as address:
        group = Peers(tuple(peers), program, flags, address)
        yield Bench(program, flags, address, group, quick=quick, turn_count=turns)


async def run_case(bench: Bench, case: Case) -> CaseRun:
    """Run one case within its deadline."""
    planned = case.quick_seconds if bench.quick else case.seconds
    deadline = max(LEAST_DEADLINE, DEADLINE * planned)
    bench.case, bench.until = case.name, trio.current_time() + planned
    started = time.monotonic()
    failure = ""
    try:
        with trio.fail_after(deadline):
            await case.run(bench)
    except trio.TooSlowError:
        failure = f"did not end within {deadline:g} s"
    except Exception as error:  # noqa: BLE001 - named in the report, and reflected in the exit status
        failure = words_of(error)
        say("".join(traceback.format_exception(error)))
    finally:
        with trio.CancelScope(shield=True):
            await bench.peers.close()
    taken = time.monotonic() - started
    say(f"    {'FAILED: ' + failure if failure else 'done'} ({taken:.1f} s)")
    return CaseRun(case.name, case.title, taken, failure)
