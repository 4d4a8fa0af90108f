"""`python -m benchmarks.check`: measure and assert the engine's performance promises.

Rule: it runs the cases of the promises in short form, with the peers that they name. Cases spoiled by an uneven machine
are measured again. Exit status: 0 if every promise holds within its tolerance, 1 if one fails or was not measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import attrs

from benchmarks.__main__ import run
from benchmarks.cases import CASES
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.programs import say
from benchmarks.harness.promises import PROMISES, Verdict, figure_of, judge_all
from benchmarks.harness.report import Report
from benchmarks.harness.tables import promises_table

WHOLE = frozenset({"looks", "snapshot", "mcp"})
"""Cases that are run in full, because their promises concern the largest pages."""


def named_peers(case: str) -> tuple[str, ...]:
    """Return the peers named by the promises about the case, in the order of the report.

    A case with programs of another kind (MCP servers, a shell) only needs to know that peers exist: it gets the
    first.
    """
    over = [promise.over for promise in PROMISES if promise.case == case]
    beside = {name for name in over if name and not name.startswith(("engine", "floor"))}
    return tuple(name for name in PEER_NAMES if name in beside) or PEER_NAMES[:1] * bool(beside)


def shortened(case: Case) -> Case:
    """Return the short form of the case: with the peers of its promises, and in full if it is in WHOLE."""
    whole = case.name in WHOLE

    async def run(bench: Bench) -> None:
        bench.quick, bench.peers.names = not whole, named_peers(case.name)
        try:
            await case.run(bench)
        finally:
            bench.quick = True

    return attrs.evolve(case, run=run, quick_seconds=case.seconds if whole else case.quick_seconds)


def text_of(verdicts: Sequence[Verdict]) -> str:
    failed = [f"  {verdict.promise.text}: {verdict.figure}" for verdict in verdicts if not verdict.kept]
    count = f"{len(failed)} of {len(verdicts)} promises do not hold here:" if failed else "All promises hold."
    return "\n".join([*promises_table(verdicts), "", count, *failed])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.check", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument(
        "names", nargs="*", metavar="CASE", help="cases whose promises are judged; default: all"
    )
    known = list(dict.fromkeys(promise.case for promise in PROMISES))
    names = parser.parse_args(arguments).names or known
    if unknown := sorted(set(names) - set(known)):
        parser.error(f"no promise concerns {', '.join(unknown)}; promises exist for {', '.join(known)}")
    try:
        report = taken_evenly(measured, names)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    verdicts = judge_all(report)
    print(text_of(verdicts))
    for warning in report.warnings():
        say(f"caveat: {warning}")
    return int(any(not verdict.kept for verdict in verdicts))


def taken_evenly(take: Callable[[Sequence[str]], Report], names: Sequence[str]) -> Report:
    report = take(names)
    again = spoiled(report, judge_all(report))
    if not again:
        return report
    say(f"measured again, because the machine was uneven: {', '.join(again)}")
    return with_cases_of(report, take(again))


def spoiled(report: Report, verdicts: Sequence[Verdict]) -> list[str]:
    """Return the cases with a promise that an uneven machine has spoiled."""

    def is_spoiled(verdict: Verdict) -> bool:
        figure = figure_of(verdict.promise.figure, report)
        failed_unevenly = verdict.state == "fails" and figure is not None and figure.is_uneven
        return failed_unevenly or verdict.state == "cannot be told"

    return list(dict.fromkeys(verdict.promise.case for verdict in verdicts if is_spoiled(verdict)))


def with_cases_of(report: Report, later: Report) -> Report:
    """Return a report in which the cases of a later report replace the earlier ones."""
    anew = {case.name: case for case in later.cases}
    kept = [each for each in report.measurements if each.case not in anew]
    return attrs.evolve(
        report,
        seconds=report.seconds + later.seconds,
        after=later.after,
        cases=tuple(anew.get(case.name, case) for case in report.cases),
        measurements=(*kept, *later.measurements),
    )


def measured(names: Sequence[str]) -> Report:
    return run([shortened(CASES[name]) for name in names], "python -m benchmarks.check")


if __name__ == "__main__":
    sys.exit(main())
