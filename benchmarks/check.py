"""`python -m benchmarks.check`: what the engine promises of its speed, measured and asserted.

Rule: it runs the cases that the promises are about, in short and beside the peers that they name, and says of each
promise whether this run shows it. What an uneven machine has spoiled is taken once more, and judged by that: cases with a
promise that the rounds cannot tell, or that fails while the same piece of arithmetic takes now this long, now that. It
takes no part in the tests: a figure is a matter of the machine. Exit status: 0 when every promise holds within its
tolerance, 1 when one does not, or could not be measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from benchmarks.__main__ import until_told_to_end
from benchmarks.cases import CASES
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.markdown import promises_table
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.promises import PROMISES, Verdict, cases_of, figure_of, judge
from benchmarks.harness.report import Report, from_json, to_json
from benchmarks.harness.run import say

WHOLE = frozenset({"looks", "snapshot", "mcp"})
"""Cases that are not run in short: what is promised is about their largest pages."""

TURNS = 4


def peers_beside(case: str) -> tuple[str, ...]:
    """Return the peers that the promises about the case name, in the order of the report.

    A case beside programs of another kind (MCP servers, a shell) asks only whether there are peers: it gets the first.
    """
    beside = {
        promise.over
        for promise in PROMISES
        if promise.case == case and promise.over and not promise.over.startswith(("engine", "floor"))
    }
    return tuple(name for name in PEER_NAMES if name in beside) or PEER_NAMES[:1] * bool(beside)


def in_short(case: Case) -> Case:
    """Return the case as it is run here: beside the peers that promises name, and in short but for those in WHOLE."""
    whole = case.name in WHOLE

    async def run(bench: Bench) -> None:
        peers = bench.group.names
        bench.quick, bench.group.names = not whole, peers_beside(case.name)
        try:
            await case.run(bench)
        finally:
            bench.quick, bench.group.names = True, peers

    return attrs.evolve(case, run=run, quick_seconds=case.seconds if whole else case.quick_seconds)


def text_of(verdicts: Sequence[Verdict]) -> str:
    """Return what is said at the end."""
    failed = [verdict for verdict in verdicts if not verdict.kept]
    lines = [*promises_table(verdicts), ""]
    if failed:
        lines.append(f"{len(failed)} of {len(verdicts)} promises do not hold here:")
        lines += [f"  {verdict.promise.text}: {verdict.figure}" for verdict in failed]
    else:
        lines.append(f"All {len(verdicts)} promises hold.")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, judge, tell."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.check", description=(__doc__ or "").split("\n\n")[0]
    )
    parser.add_argument(
        "--turns", type=int, default=TURNS, metavar="N", help=f"rounds of each figure ({TURNS})"
    )
    parser.add_argument("--browser", metavar="PATH", help="the browser of all sides")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report, with every value")
    parser.add_argument(
        "--from", dest="source", type=Path, metavar="FILE", help="judge a report that there is"
    )
    parser.add_argument(
        "names", nargs="*", metavar="CASE", help="cases whose promises are judged; all of them without"
    )
    options = parser.parse_args(arguments)
    known = cases_of()
    if unknown := sorted(set(options.names) - set(known)):
        parser.error(f"nothing is promised of {', '.join(unknown)}; there are promises of {', '.join(known)}")
    if options.turns < 1:
        parser.error(f"--turns takes a number from 1 on, not {options.turns}")
    names = options.names or known
    try:
        if options.source is not None:
            report = from_json(options.source.read_bytes())
        else:
            report = taken_evenly(partial(measured, options), names)
            if options.json:
                options.json.write_bytes(to_json(report))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    verdicts = verdicts_of(report, names)
    print(text_of(verdicts))
    for warning in report.warnings():
        say(f"to be read with care: {warning}")
    return int(any(not verdict.kept for verdict in verdicts))


def verdicts_of(report: Report, names: Sequence[str]) -> list[Verdict]:
    """Return what the report says of each promise about these cases."""
    return [judge(promise, report) for promise in PROMISES if promise.case in names]


def taken_evenly(take: Callable[[Sequence[str]], Report], names: Sequence[str]) -> Report:
    """Return the report of what `take` measures, in which cases that an uneven machine spoiled are taken once more."""
    report = take(names)
    again = spoiled(report, verdicts_of(report, names))
    if not again:
        return report
    say(f"taken once more, as the machine was uneven: {', '.join(again)}")
    return with_cases_of(report, take(again))


def spoiled(report: Report, verdicts: Sequence[Verdict]) -> list[str]:
    """Return the cases that an uneven machine has spoiled for a promise."""

    def is_spoiled(verdict: Verdict) -> bool:
        figure = figure_of(verdict.promise, report)
        failed_unevenly = verdict.state == "fails" and figure is not None and figure.is_uneven
        return failed_unevenly or verdict.state == "cannot be told"

    return list(dict.fromkeys(verdict.promise.case for verdict in verdicts if is_spoiled(verdict)))


def with_cases_of(report: Report, later: Report) -> Report:
    """Return a report with the cases of a later one in the place of its own."""
    anew = {case.name: case for case in later.cases}
    kept = [each for each in report.measurements if each.case not in anew]
    return attrs.evolve(
        report,
        seconds=report.seconds + later.seconds,
        after=later.after,
        bare=(*report.bare, *later.bare),
        cases=tuple(anew.get(case.name, case) for case in report.cases),
        measurements=(*kept, *later.measurements),
    )


def measured(options: argparse.Namespace, names: Sequence[str]) -> Report:
    """Run these cases and return their report."""
    options.quick = True
    cases = [in_short(CASES[name]) for name in names]
    peers = tuple(peer for peer in PEER_NAMES if any(peer in peers_beside(name) for name in names))
    return trio.run(until_told_to_end, options, peers, "python -m benchmarks.check", cases)


if __name__ == "__main__":
    sys.exit(main())
