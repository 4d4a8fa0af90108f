"""`python -m benchmarks.check`: measure and assert the engine's performance promises.

Rule: it runs the cases of the promises in short form, with the peers that they name. A case with an undecided promise is
measured again, and its rounds are added to the earlier ones, while LIMIT permits. A promise that remains undecided is
reported as unknown. Exit status: 0, or 1 if a promise fails or was not measured.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Sequence

import attrs

from benchmarks.__main__ import run
from benchmarks.cases import CASES
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.programs import say
from benchmarks.harness.promises import PROMISES, Verdict, judge_all
from benchmarks.harness.report import Report
from benchmarks.harness.tables import promises_table

WHOLE = frozenset({"looks", "snapshot", "mcp"})
"""Cases that are run in full, because their promises concern the largest pages."""

DERIVED = frozenset({"growth", "pool"})
"""Cases that derive promised figures from others, so that all their sides take turns."""

ROUNDS = 4  # of each figure: the fewest that decide
LIMIT = 600.0  # duration of the check, in seconds
MOST_TIMES: dict[str, int] = {"unknown": 3, "not measured": 1}
"""How often a case is measured again, by the state of a promise."""


def named_peers(case: str) -> tuple[str, ...]:
    """Return the peers named by the promises about the case, in the order of the report.

    A case with programs of another kind (MCP servers, a shell) only needs to know that peers exist: it gets the
    first.
    """
    over = [promise.over for promise in PROMISES if promise.case == case]
    beside = {name for name in over if name and not name.startswith(("engine", "floor"))}
    return tuple(name for name in PEER_NAMES if name in beside) or PEER_NAMES[:1] * bool(beside)


def asked_sides(figure: str) -> set[str]:
    """Return the sides that a promise compares in the figure of that name."""
    return {side for promise in PROMISES for side in promise.sides_of(figure)}


def shortened(case: Case) -> Case:
    """Return the short form of the case: with the peers of its promises, and in full if it is in WHOLE."""
    whole = case.name in WHOLE

    async def run(bench: Bench) -> None:
        bench.quick, bench.least_rounds, bench.peers.names = not whole, ROUNDS, named_peers(case.name)
        bench.asked = None if case.name in DERIVED else asked_sides
        try:
            await case.run(bench)
        finally:
            bench.quick = True

    return attrs.evolve(case, run=run, quick_seconds=case.seconds if whole else case.quick_seconds)


def text_of(verdicts: Sequence[Verdict]) -> str:
    failed = [f"  {verdict.promise.text}: {verdict.figure}" for verdict in verdicts if has_failed(verdict)]
    unknown = sum(verdict.state == "unknown" for verdict in verdicts)
    count = f"{len(failed)} of {len(verdicts)} promises do not hold here:" if failed else "No promise fails."
    states = f"{sum(verdict.kept for verdict in verdicts)} hold (87 % confidence), {unknown} are unknown."
    return "\n".join([*promises_table(verdicts), "", f"{states} {count}", *failed])


def has_failed(verdict: Verdict) -> bool:
    return verdict.state in ("fails", "not measured")


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
        report = measure_until_decided(measured, names)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    verdicts = judge_all(report)
    print(text_of(verdicts))
    for warning in report.warnings():
        say(f"caveat: {warning}")
    return int(any(map(has_failed, verdicts)))


def measure_until_decided(take: Callable[[Sequence[str]], Report], names: Sequence[str]) -> Report:
    """Measure the cases, and then undecided ones again, until all promises are decided or LIMIT is near."""
    report, times = take(names), Counter[str]()
    while again := next_undecided(report, times):
        say(f"measured again, because a promise is undecided: {again} ({report.seconds:.0f} s so far)")
        times[again] += 1
        report = with_rounds_of(report, take([again]))
    return report


def next_undecided(report: Report, times: Counter[str]) -> str:
    """Return the case to measure again, "" if there is none: the least often repeated and shortest one."""
    states = [(verdict.promise.case, verdict.state) for verdict in judge_all(report)]
    most = {case: MOST_TIMES[state] for case, state in states if state in MOST_TIMES}
    left = LIMIT - report.seconds
    open_cases = [
        (times[case.name], case.seconds, case.name)
        for case in report.cases
        if times[case.name] < most.get(case.name, 0) and case.seconds <= left
    ]
    return min(open_cases, default=(0, 0.0, ""))[-1]


def with_rounds_of(report: Report, later: Report) -> Report:
    """Return a report with the rounds of both. The cases of the later one replace the earlier ones."""
    cases = {case.name: case for case in (*report.cases, *later.cases)}
    figures = {each.name: each for each in report.measurements}
    for each in later.measurements:
        figures[each.name] = figures[each.name].with_rounds_of(each) if each.name in figures else each
    return attrs.evolve(
        report,
        seconds=report.seconds + later.seconds,
        after=later.after,
        cases=tuple(cases.values()),
        measurements=tuple(figures.values()),
    )


def measured(names: Sequence[str]) -> Report:
    return run([shortened(CASES[name]) for name in names], "python -m benchmarks.check", turns=ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
