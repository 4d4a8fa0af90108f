"""The report as Markdown: the tables of a run. Pure.

Rule: a side without a figure has its reason. Foreign strings (peers' reasons) cannot break a table. The choice of rows
in short tables is fixed, so that a run cannot choose the rows in which the engine leads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from benchmarks.harness.figures import Measurement, is_engine, shown, shown_ratio
from benchmarks.harness.peers import is_peer
from benchmarks.harness.promises import GOALS, Verdict, judge_all
from benchmarks.harness.report import Report

LONGEST_REASON = 160

CANNOT = "cannot"

_UNSAFE = re.compile(r"[\x00-\x1f\x7f]+")


def safe(text: str, longest: int = LONGEST_REASON) -> str:
    """Return a string that fits into one table cell and contains no markup."""
    line = _UNSAFE.sub(" ", text).strip()
    line = line if len(line) <= longest else line[: longest - 3] + "..."
    return re.sub(r"([\\|<>*_`\[\]])", r"\\\1", line)


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def header(report: Report) -> list[str]:
    minutes = report.seconds / 60
    took = f"{minutes:.1f} min" if minutes >= 1 else f"{report.seconds:.0f} s"
    quick = "; a quick run: fewer and shorter turns" if report.quick else ""
    lines = [f"Taken on {report.began} by `{report.command}` in {took}{quick}.", ""]
    lines += [f"- {name}: {safe(text)}" for name, text in report.machine.facts.items()]
    if report.peers:
        peers = ", ".join(f"{name} {safe(text)}" for name, text in report.peers.items())
        lines.append(f"- peers: {peers}")
    lines += [f"- without {name}: {safe(reason)}" for name, reason in report.missing.items()]
    loads = [f"{load:.1f}" for load in (report.before, report.after) if load is not None]
    if loads:
        lines.append(f"- load average over a minute: {', then '.join(loads)}")
    return lines + [f"- **to be read with care**: {safe(text, 2_000)}" for text in report.warnings()]


def whole(report: Report) -> str:
    lines = ["# Benchmarks", "", *header(report), ""]
    for case in report.cases:
        lines += [f"## {case.title}", ""]
        if case.failure:
            lines += [f"**Failed**: {safe(case.failure, 400)}", ""]
        lines += [*case_table(report.of_case(case.name)), ""]
    return "\n".join([*lines, *verdicts(report)]).rstrip() + "\n"


def case_table(measurements: Sequence[Measurement]) -> list[str]:
    lines = [
        row(["figure", "side", "unit", "median", "p95", "the engine is so many times better", ""]),
        row(["---", "---", "---", "--:", "--:", "---", "---"]),
    ]
    for each in measurements:
        first = each.variant or each.case
        for side in each.sides:
            what, first = first, ""
            if not side.measured:
                reason = f"cannot: {safe(side.cannot)}" if side.cannot else "not measured"
                lines.append(row([safe(what), safe(side.side), "", "", "", "", reason]))
                continue
            ratio = None if side.side == each.own_side else each.ratio(side.side, each.own_side)
            figures = [shown(side.median), shown(each.p95(side.side)), "" if ratio is None else str(ratio)]
            lines.append(row([safe(what), safe(side.side), each.unit, *figures, safe(side.note)]))
    return lines


# --- promises and goals -------------------------------------------------------------------------------------------


def promises_table(judged: Sequence[Verdict]) -> list[str]:
    lines = [row(["promised", "", "measured"]), row(["---"] * 3)]
    for verdict in judged:
        state = verdict.state if verdict.state == "holds" else f"**{verdict.state}**"
        lines.append(row([safe(verdict.promise.text), state, safe(verdict.figure)]))
    return lines


def goals_table(judged: Sequence[Verdict]) -> list[str]:
    lines = [row(["aimed at", "", "measured", "in the way"]), row(["---"] * 4)]
    for verdict in judged:
        state = "not reached" if verdict.state == "fails" else verdict.state
        figure = safe(verdict.figure.replace("promised", "aimed at"))
        if verdict.kept:
            lines.append(row([safe(verdict.promise.text), "reached", figure, ""]))
        else:
            lines.append(row([safe(verdict.promise.text), f"**{state}**", figure, verdict.promise.obstacle]))
    return lines


def verdicts(report: Report) -> list[str]:
    lines = []
    if judged := judge_all(report):
        lines += ["## Promises", "", *promises_table(judged), ""]
    if judged := judge_all(report, GOALS):
        lines += [
            "## Goals",
            "",
            "A goal is not a promise. Goals are ratios of one run, with a tolerance of 5 %.",
            f"The engine reaches {sum(verdict.kept for verdict in judged)} of {len(judged)}.",
            "",
            *goals_table(judged),
            "",
        ]
    return lines


# --- the two tables of the page -----------------------------------------------------------------------------------

HEADLINES = (
    "start",
    "round_trip",
    "throughput: 10 sessions, 5 in flight each",
    "events: 4,000 console messages",
    "looks: the first look, 10 rows",
    "looks: the look after a click, 1,000 rows",
    "looks: the first look, 5,000 rows",
    "agent_step: 1,000 rows",
    "actions: click",
    "actions: hover",
    "actions: type",
    "actions: fill",
    "hung_evaluate: the page free again, after the deadline",
    "pages_at_once: 50 pages",
    "navigations: each",
)
"""Figures of the short table."""

HEADLINE_TOOLS = ("playwright", "puppeteer", "selenium", "nodriver", "pydoll")


def headline_table(report: Report) -> list[str]:
    """Return the short table: the engine's median, and of each tool the median and the engine's advantage."""
    lines = [
        row(["figure", "unit", "cdpengine", *HEADLINE_TOOLS]),
        row(["---", "---", "--:", *["--:"] * len(HEADLINE_TOOLS)]),
    ]
    for name in HEADLINES:
        found = report.figure(name)
        if found is None or not found.measured("engine"):
            continue
        own = f"**{shown(found.median('engine'))}**"
        lines.append(row([safe(name), found.unit, own, *(compared(found, tool) for tool in HEADLINE_TOOLS)]))
    return lines


def compared(found: Measurement, tool: str) -> str:
    """Return a tool's median and the engine's ratio in parentheses, "cannot", or "" if it took no part."""
    if found.side(tool) is None:
        return ""
    ratio = found.ratio(tool, "engine")
    return CANNOT if ratio is None else f"{shown(found.median(tool))} ({shown_ratio(ratio.median)})"


def all_figures(report: Report) -> list[str]:
    """Return the table of all figures with a peer or a floor: peers as columns, reasons as footnotes."""
    chosen = [
        each
        for each in report.measurements
        if each.own_side and not all(is_engine(side.side) for side in each.sides)
    ]
    names = dict.fromkeys(side.side for each in chosen for side in each.sides if side.measured)
    columns = [name for name in names if is_peer(name)]
    footnotes: list[str] = []
    lines = [
        row(["", "unit", "engine", "floor", *columns]),
        row(["---", "---", *["--:"] * (2 + len(columns))]),
    ]
    for each in chosen:
        own = f"{shown(each.median(each.own_side))} (p95 {shown(each.p95(each.own_side))})"
        floors = [name for name in names if name.startswith("floor") and each.measured(name)]
        floor = "; ".join(f"{_cell(each, name, footnotes)} {name.partition(': ')[2]}" for name in floors)
        theirs = [_cell(each, name, footnotes) for name in columns]
        lines.append(row([safe(each.name), each.unit, own, floor, *theirs]))
    marks = [f"({number}) {safe(text, 300)}  " for number, text in enumerate(footnotes, start=1)]
    return [*lines, "", *marks] if marks else lines


def _cell(measurement: Measurement, side: str, footnotes: list[str]) -> str:
    """Return a side's median and the engine's ratio, or the number of a footnote."""
    found = measurement.side(side)
    if found is None:
        return ""
    if not found.measured:
        text = f"{side}: {found.cannot or 'not measured'}"
        if text not in footnotes:
            footnotes.append(text)
        return f"{CANNOT} ({footnotes.index(text) + 1})"
    ratio = measurement.ratio(side, measurement.own_side)
    return shown(found.median) + ("" if ratio is None else f": {ratio}")
