"""What is kept of a run: a few lines for the README, and one page of the documentation with its plots. Pure.

Rule: the lines in the README are a fixed choice of figures (`LINES`), so that a run cannot choose what flatters it: each
names every peer that was measured, and some of them are figures in which others are better.
"""

from __future__ import annotations

import attrs

from benchmarks.harness.bench import is_peer
from benchmarks.harness.figures import Measurement, shown
from benchmarks.harness.markdown import header, promises_table, safe, short_table, warnings
from benchmarks.harness.plots import curve_pictures, overview_picture
from benchmarks.harness.promises import judge_all
from benchmarks.harness.report import Report, own_side

BEGIN = "<!-- benchmarks: begin; written by `make bench`, do not edit -->"
END = "<!-- benchmarks: end -->"


@attrs.frozen
class Line:
    """One line of the README: the name of a figure, and how it is told."""

    figure: str
    text: str


LINES = (
    Line("looks: the first look, 1,000 rows", "The first look at a new document of 1,000 rows"),
    Line("looks: the look after a click, 1,000 rows", "The look after a click that changed one of them"),
    Line("snapshot: 1,000 rows", "A look at 1,000 rows that stand still"),
    Line("actions: click", "A click, checked before and verified after it"),
    Line("events: 10,000 console messages", "Console messages taken in"),
    Line("hung_evaluate: the page free again, after the deadline", "A hung script ended, after its deadline"),
    Line("navigations: each", "A navigation"),
)


def missing(report: Report) -> list[str]:
    """Return the figures of the README that the run has not: one of some cases only."""
    return [line.figure for line in LINES if not told(report, line)]


def told(report: Report, line: Line) -> str:
    """Return one line of the README; "" where the run has no such figure of the engine."""
    found = next((each for each in report.measurements if each.name == line.figure), None)
    side = found.side(own_side(found)) if found and own_side(found) else None
    if found is None or side is None or not side.measured:
        return ""
    others = _others(found)
    return f"- {line.text}: **{shown(side.median)} {found.unit}**{''.join('; ' + each for each in others)}."


def _others(measurement: Measurement) -> list[str]:
    measured, unable = [], []
    for side in measurement.sides:
        if not is_peer(side.side):
            continue
        if side.measured:
            measured.append(f"{side.side} {shown(side.median)}")
        elif side.cannot:
            unable.append(side.side)
    said = [f"beside it {', '.join(measured)}"] if measured else []
    return said + ([f"not possible with {', '.join(unable)}"] if unable else [])


def block(report: Report, page: str = "docs/benchmarks.md") -> str:
    """Return the README's block, markers included. `page` is where the whole summary is."""
    lines = [text for line in LINES if (text := told(report, line))]
    care = len(report.warnings())
    noise = f", and {care} reasons to read them with care" if care else ""
    taken = f"Medians of {report.began.partition(' ')[0]}, {safe(report.machine.browser)}, {report.machine.cores} cores"
    return "\n".join(
        [BEGIN, *lines, "", f"{taken}. All figures{noise}: [{page}]({page}).", END],
    )


def put_block(document: str, text: str) -> str:
    """Return the document with its block replaced. Raises ValueError where the markers are not there, once each."""
    if document.count(BEGIN) != 1 or document.count(END) != 1 or document.index(BEGIN) > document.index(END):
        raise ValueError(
            f"the document needs these two lines, once each and in this order: {BEGIN} and {END}"
        )
    before, _, rest = document.partition(BEGIN)
    return before + text + rest.partition(END)[2]


def pictures(report: Report) -> dict[str, tuple[str, str]]:
    """Return the plots by the name of their file: what a plot shows, and the SVG. Each needs nothing else."""
    found = {}
    if overview := overview_picture(report):
        found["overview.svg"] = ("The engine beside Playwright, all figures", overview)
    for case in report.cases:
        for number, (title, picture) in enumerate(curve_pictures(report, case)):
            found[f"{case.name}-{number}.svg"] = (title, picture)
    return found


def summary(report: Report, folder: str) -> str:
    """Return the page of the documentation. `folder` is where its plots are, as the page names it."""
    lines = [
        "# Benchmarks",
        "",
        "`make bench` measures the engine beside other engines, and beside the floor: the least code that can do the",
        "same on a websocket, a socket or the pipe. All drive the same browser with the same flags on the same pages, in",
        "turns. This page and its plots are written by it, and so are the report with every value, as JSON, and all",
        "figures as a page and as tables, in `build/benchmarks/`. `make bench-check` measures what is promised.",
        "",
        *header(report),
        *warnings(report),
        "",
        "## Figures",
        "",
        "Medians; after the colon, how many times better the engine is in the same rounds, with the quartiles.",
        "",
        *short_table(report),
        "",
    ]
    if verdicts := judge_all(report):
        lines += ["## What is promised", "", *promises_table(verdicts), ""]
    drawn = pictures(report)
    if drawn:
        lines += ["## Plots", ""]
    for name, (title, _) in drawn.items():
        lines += [f"![{safe(title)}]({folder}/{name})", ""]
    return "\n".join(lines).rstrip() + "\n"
