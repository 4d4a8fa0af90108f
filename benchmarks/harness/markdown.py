"""The report as Markdown: all figures of a run as tables, and the short table of the summary. Pure.

Rule: a table has the median, the 95th percentile towards the worse end, and the engine's ratio with quartiles. A
side without a figure has its reason. Foreign strings (peers' reasons) cannot break a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from benchmarks.harness.bench import is_peer
from benchmarks.harness.figures import Measurement, Ratio, shown
from benchmarks.harness.goals import Aim, aims
from benchmarks.harness.promises import Verdict, judge_all
from benchmarks.harness.report import Report, is_engine, own_side, side_names

LONGEST_REASON = 160

_UNSAFE = re.compile(r"[\x00-\x1f\x7f]+")


def safe(text: str, longest: int = LONGEST_REASON) -> str:
    """Return a string that fits into one table cell and contains no markup."""
    line = _UNSAFE.sub(" ", text).strip()
    line = line if len(line) <= longest else line[: longest - 3] + "..."
    return re.sub(r"([\\|<>*_`\[\]])", r"\\\1", line)


def times(ratio: Ratio | None) -> str:
    """Return "6.35 (5.9 to 6.8)", or "" without a ratio."""
    return "" if ratio is None else str(ratio)


def row(cells: Iterable[str]) -> str:
    """Return one line of a table."""
    return "| " + " | ".join(cells) + " |"


def header(report: Report) -> list[str]:
    """Return the lines about the time, duration and conditions of a run."""
    minutes = report.seconds / 60
    took = f"{minutes:.1f} min" if minutes >= 1 else f"{report.seconds:.0f} s"
    quick = "; a quick run: fewer and shorter turns" if report.quick else ""
    lines = [f"Taken on {report.began} by `{report.command}` in {took}{quick}.", ""]
    lines += [f"- {name}: {safe(text)}" for name, text in report.machine.lines()]
    said = [
        f"{peer.name} {safe(peer.version)}" + (f" (by {safe(peer.attached)})" if peer.attached else "")
        for peer in report.peers
        if not peer.cannot
    ]
    if said:
        lines.append(f"- peers: {', '.join(said)}")
    lines += [f"- without {peer.name}: {safe(peer.cannot)}" for peer in report.peers if peer.cannot]
    noises = "; ".join(f"{name} {value:.1%} apart" for name, value in report.noises() if math.isfinite(value))
    if noises:
        lines.append(f"- noise: equal things came out so: {noises}")
    loads = [f"{load.average:.1f}" for load in (report.before, report.after) if load.average is not None]
    if loads:
        lines.append(f"- load average over a minute: {', then '.join(loads)}")
    return lines


def warnings(report: Report) -> list[str]:
    """Return the lines with the warnings."""
    return [f"- **to be read with care**: {safe(text, 2_000)}" for text in report.warnings()]


def case_table(measurements: Sequence[Measurement]) -> list[str]:
    """Return the table of a case, with a line for each figure and side."""
    lines = [
        row(["figure", "side", "unit", "median", "p95", "the engine is so many times better", ""]),
        row(["---", "---", "---", "--:", "--:", "---", "---"]),
    ]
    for each in measurements:
        ours = own_side(each)
        first = each.variant or each.case
        for side in each.sides:
            what, first = first, ""
            if not side.measured:
                reason = f"cannot: {safe(side.cannot)}" if side.cannot else "not measured"
                lines.append(row([safe(what), safe(side.side), "", "", "", "", reason]))
                continue
            ratio = times(each.ratio(side.side, ours)) if ours and side.side != ours else ""
            figures = [shown(side.median), shown(each.p95(side.side))]
            lines.append(row([safe(what), safe(side.side), each.unit, *figures, ratio, safe(side.note)]))
    return lines


def promises_table(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of promises and their results."""
    lines = [row(["promised", "", "measured"]), row(["---", "---", "---"])]
    for verdict in verdicts:
        state = verdict.state if verdict.state == "holds" else f"**{verdict.state}**"
        lines.append(row([verdict.promise.text, state, safe(verdict.figure)]))
    return lines


def aims_table(found: Sequence[Aim]) -> list[str]:
    """Return the table of goals and their results."""
    lines = [row(["aimed at", "", "measured", "in the way"]), row(["---"] * 4)]
    for aim in found:
        reach = aim.reach if aim.reach == "reached" else f"**{aim.reach}**"
        lines.append(row([aim.text, reach, safe(aim.figure), aim.obstacle]))
    return lines


def whole(report: Report) -> str:
    """Return the whole run as one Markdown document."""
    lines = ["# Benchmarks", "", *header(report), *warnings(report), ""]
    for case in report.cases:
        lines += [f"## {case.title}", ""]
        if case.failure:
            lines += [f"**Failed**: {safe(case.failure, 400)}", ""]
        found = report.of_case(case.name)
        lines += [*(case_table(found) if found else ["Nothing was measured."]), ""]
    if verdicts := judge_all(report):
        lines += ["## What is promised", "", *promises_table(verdicts), ""]
    if goals := aims(report):
        lines += ["## What is aimed at", "", *aims_table(goals)]
    return "\n".join(lines).rstrip() + "\n"


# --- the table of the summary ------------------------------------------------------------------------------------


def summary_measurements(report: Report) -> list[Measurement]:
    """Return the measurements of the summary: those with a peer or a floor; for a curve, its two ends."""
    chosen = []
    for each in report.measurements:
        if not own_side(each) or all(is_engine(side.side) for side in each.sides):
            continue
        on_curve = [other for other in report.of_case(each.case) if other.curve and other.curve == each.curve]
        sizes = [other.size for other in on_curve if other.size is not None]
        if sizes and each.size not in (min(sizes), max(sizes)):
            continue
        chosen.append(each)
    return chosen


def cell(measurement: Measurement, side: str, footnotes: list[str]) -> str:
    """Return a side's cell: its median and the engine's ratio, or the number of a footnote."""
    found = measurement.side(side)
    if found is None:
        return ""
    if not found.measured:
        text = f"{side}: {found.cannot or 'not measured'}"
        if text not in footnotes:
            footnotes.append(text)
        return f"cannot ({footnotes.index(text) + 1})"
    ours = own_side(measurement)
    if side == ours:
        return f"{shown(found.median)} (p95 {shown(measurement.p95(side))})"
    ratio = measurement.ratio(side, ours)
    told = "" if ratio is None else f": {ratio}"
    return shown(found.median) + told


def short_table(report: Report) -> list[str]:
    """Return the table of the summary: the engine and the peers as columns, with reasons as footnotes."""
    chosen = summary_measurements(report)
    names = side_names(chosen)
    columns = [name for name in names if is_peer(name) and any(_measured(each, name) for each in chosen)]
    floors = [name for name in names if name.startswith("floor")]
    footnotes: list[str] = []
    lines = [
        row(["", "unit", "engine", "floor", *columns]),
        row(["---", "---", *["--:"] * (2 + len(columns))]),
    ]
    for each in chosen:
        best = [name for name in floors if _measured(each, name)]
        floor = "; ".join(f"{cell(each, name, footnotes)} {name.partition(': ')[2]}" for name in best)
        ours = own_side(each)
        theirs = [cell(each, name, footnotes) for name in columns]
        lines.append(row([safe(each.name), each.unit, cell(each, ours, footnotes), floor, *theirs]))
    marks = [f"({number}) {safe(text, 300)}  " for number, text in enumerate(footnotes, start=1)]
    return [*lines, "", *marks] if marks else lines


def _measured(measurement: Measurement, name: str) -> bool:
    side = measurement.side(name)
    return side is not None and side.measured
