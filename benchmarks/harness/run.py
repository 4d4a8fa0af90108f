"""Running of cases, one after the other, each with a deadline and an outcome.

Rule: a failed case is reported with its reason, and the others continue; its measurements so far are kept. No
peer, browser or server survives the run, however it ends.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import attrs
import trio

import cdpengine
from benchmarks import site
from benchmarks.harness.bench import Bench, Case, words_of
from benchmarks.harness.noise import bare_round_trip
from benchmarks.harness.peers import PeerGroup
from benchmarks.harness.report import CaseRun
from cdpengine._launch.flags import Machine, command_line
from cdpengine._nursery import open_body_nursery

PATIENCE = 4.0
"""Deadline of a case as a multiple of its planned time; at least LEAST_PATIENCE seconds."""

LEAST_PATIENCE = 90.0

REST = 0.5
"""Pause after a case, in seconds, so that the end of its processes does not count as noise."""


def say(text: str) -> None:
    """Print progress to standard error."""
    print(text, file=sys.stderr, flush=True)


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
async def open_bench(
    *, peers: Sequence[str], quick: bool, turns: int, executable: str | None = None
) -> AsyncIterator[Bench]:
    """Serve the pages and yield a Bench. Leaving the block ends the peers and the server."""
    program = str(cdpengine.find_browser(executable).path)
    flags = engine_flags()
    with site.serve() as address:
        async with open_body_nursery() as nursery:
            group = PeerGroup(tuple(peers), program, flags, address, nursery, say=say)
            bench = Bench(program, flags, address, group, quick=quick, turn_count=turns, say=say)
            try:
                yield bench
            finally:
                nursery.cancel_scope.cancel()


@attrs.frozen
class Outcome:
    """The results of the cases, and the milliseconds of the bare round trips between them."""

    cases: tuple[CaseRun, ...]
    bare: tuple[float, ...]


async def run_cases(
    bench: Bench, cases: Sequence[Case], keep: Callable[[Outcome], None] = lambda _: None
) -> Outcome:
    """Run the cases one after the other. After each, `keep` gets the results so far."""
    ran = []
    bare = [bare_round_trip(bench.site)]
    for number, case in enumerate(cases, start=1):
        say(f"[{number}/{len(cases)}] {case.name}: {case.title}")
        ran.append(await run_case(bench, case))
        await trio.sleep(REST)
        bare.append(bare_round_trip(bench.site))
        keep(Outcome(tuple(ran), tuple(bare)))
    return Outcome(tuple(ran), tuple(bare))


async def run_case(bench: Bench, case: Case) -> CaseRun:
    """Run one case within its deadline."""
    planned = case.quick_seconds if bench.quick else case.seconds
    patience = max(LEAST_PATIENCE, PATIENCE * planned)
    bench.until = trio.current_time() + planned
    started = time.monotonic()
    failure = ""
    try:
        with trio.fail_after(patience):
            await case.run(bench)
    except trio.TooSlowError:
        failure = f"did not end within {patience:g} s"
    except Exception as error:  # noqa: BLE001 - named in the report, and reflected in the exit status
        failure = words_of(error)
        say("".join(traceback.format_exception(error)))
    finally:
        with trio.CancelScope(shield=True):
            await bench.close_peers()
    taken = time.monotonic() - started
    say(f"    {'FAILED: ' + failure if failure else 'done'} ({taken:.1f} s)")
    return CaseRun(case.name, case.title, taken, failure)
