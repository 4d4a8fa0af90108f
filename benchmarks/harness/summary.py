"""What is kept of a run: one page of the documentation with its plots. Pure.

Rule: the page says what a reader has to know before believing a figure; what other documents keep of a run is in
`blocks`.
"""

from __future__ import annotations

from benchmarks.harness.goals import aims
from benchmarks.harness.markdown import aims_table, header, promises_table, safe, short_table, warnings
from benchmarks.harness.plots import curve_pictures, overview_picture
from benchmarks.harness.promises import judge_all
from benchmarks.harness.report import Report


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
    if found := aims(report):
        reached = sum(aim.reach == "reached" for aim in found)
        lines += [
            "## What is aimed at",
            "",
            "A goal is no promise: it is what would be best, as ratios of one run, with a twentieth of tolerance.",
            f"{reached} of {len(found)} are reached.",
            "",
            *aims_table(found),
            "",
        ]
    drawn = pictures(report)
    if drawn:
        lines += ["## Plots", ""]
    for name, (title, _) in drawn.items():
        lines += [f"![{safe(title)}]({folder}/{name})", ""]
    return "\n".join(lines).rstrip() + "\n"
