"""`python -m benchmarks`: compare the engine with its peers and with the floor, case by case, in one run.

Rule: progress goes to standard error, tables to standard output. Published documents require a quiet machine;
otherwise the run is refused before it begins. Exit status: 0; 1 if a case of the engine failed; 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import datetime as dt
import shlex
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import trio

from benchmarks.cases import CASES
from benchmarks.harness.bench import Case, open_bench, run_case
from benchmarks.harness.documents import publish
from benchmarks.harness.machine import busy, core_count, look_at_load, look_at_machine
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.programs import say
from benchmarks.harness.report import CaseRun, Report, from_json, to_json
from benchmarks.harness.tables import whole
from benchmarks.site import ROOT

TURNS = 4
QUICK_TURNS = 3


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Compare the engine with its peers and with the floor, in alternating turns of one run.",
        epilog="scripts/peers.sh installs the peers. Missing peers are reported and left out.",
    )
    made.add_argument("names", nargs="*", metavar="CASE", help="cases to run; default: all")
    made.add_argument("--peers", default="all", metavar="NAMES", help="all, none, or comma-separated names")
    made.add_argument("--quick", action="store_true", help="fewer sizes and shorter turns")
    made.add_argument("--json", type=Path, metavar="FILE", help="write the report, with every value")
    made.add_argument(
        "--publish", action="store_true", help="write docs/benchmarks.md and the blocks in README and docs"
    )
    made.add_argument("--under-load", action="store_true", help="publish even if the machine has other load")
    made.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="measure nothing: read a --json file"
    )
    made.add_argument("--list", action="store_true", help="list the cases and their durations")
    return made


def chosen_peers(text: str) -> tuple[str, ...]:
    """Return the peers named by `--peers`, in the report's order. Raises ValueError for an unknown peer."""
    if text == "all":
        return PEER_NAMES
    wanted = set() if text == "none" else {name.strip() for name in text.split(",")}
    if unknown := sorted(wanted - set(PEER_NAMES)):
        raise ValueError(f"no peer is named {', '.join(unknown)}; there are {', '.join(PEER_NAMES)}")
    return tuple(name for name in PEER_NAMES if name in wanted)


def command_text(arguments: Sequence[str]) -> str:
    """Return the command for the report, with paths shortened to file names."""
    return shlex.join(
        ["python", "-m", "benchmarks", *(Path(each).name if "/" in each else each for each in arguments)]
    )


def write(path: Path, report: Report) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(to_json(report))


async def take(
    cases: Sequence[Case], peers: Sequence[str], command: str, quick: bool, turns: int, kept: Path | None
) -> Report:
    """Run the cases and return the report. Its JSON is written after each case, so that an aborted run keeps it."""
    began, started, before = dt.datetime.now(dt.UTC), time.monotonic(), look_at_load()
    ran: list[CaseRun] = []
    async with open_bench(peers=peers, quick=quick, turns=turns) as bench:
        machine = await trio.to_thread.run_sync(look_at_machine, bench.executable)
        for number, case in enumerate(cases, start=1):
            say(f"[{number}/{len(cases)}] {case.name}: {case.title}")
            ran.append(await run_case(bench, case))
            said = bench.peers.known.values()
            report = Report(
                began=f"{began:%Y-%m-%d %H:%M} UTC",
                command=command,
                seconds=time.monotonic() - started,
                quick=quick,
                machine=machine,
                before=before,
                after=look_at_load(),
                peers={peer.name: peer.version for peer in said if peer.version},
                missing={peer.name: peer.refusal for peer in said if not peer.version},
                cases=tuple(ran),
                measurements=tuple(bench.measurements),
            )
            if kept:
                write(kept, report)
    return report


def run(
    cases: Sequence[Case],
    command: str,
    *,
    peers: Sequence[str] = (),
    quick: bool = True,
    turns: int = TURNS,
    kept: Path | None = None,
) -> Report:
    """Run the cases. A SIGTERM ends them like Ctrl-C, with full cleanup."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    return trio.run(take, cases, peers, command, quick, turns, kept)


def why_not_published(options: argparse.Namespace) -> str:
    """Return why this run must not be published, or "" if it may be or need not be."""
    if not options.publish or options.under_load or options.source is not None:
        return ""
    loaded = busy(look_at_load(), core_count())
    return f"{loaded}: wait until it is quiet, or publish with --under-load" if loaded else ""


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    made = parser()
    options = made.parse_args(given)
    if options.list:
        for name, case in CASES.items():
            print(f"{name:15} {case.seconds:4.0f} s, quick {case.quick_seconds:3.0f} s  {case.title}")
        return 0
    if unknown := sorted(set(options.names) - set(CASES)):
        made.error(f"no case is named {', '.join(unknown)}; there are {', '.join(CASES)}")
    try:
        peers = chosen_peers(options.peers)
        cases = [CASES[name] for name in options.names or CASES]
        if refused := why_not_published(options):
            made.error(refused)
        if options.source is not None:
            report = from_json(options.source.read_bytes())
        else:
            report = run(
                cases,
                command_text(given),
                peers=peers,
                quick=options.quick,
                turns=QUICK_TURNS if options.quick else TURNS,
                kept=options.json,
            )
        if options.publish:
            publish(report, ROOT)
        else:
            print(whole(report))
    except (ValueError, OSError) as error:
        made.error(str(error))
    except KeyboardInterrupt:
        kept = f"{options.json} has the cases that had ended" if options.json else "nothing was written"
        say(f"interrupted: {kept}")
        return 130
    for warning in report.warnings():
        say(f"caveat: {warning}")
    return int(any(case.failure for case in report.cases))


if __name__ == "__main__":
    sys.exit(main())
