"""The summary of a run: a page of the documentation with its plots. Pure.

Rule: the page has the warnings that a reader needs before the figures. `blocks` writes the parts in other
documents.
"""

from __future__ import annotations

from benchmarks.harness.front import front_chart, front_rows, headline_table
from benchmarks.harness.goals import aims
from benchmarks.harness.markdown import aims_table, header, promises_table, safe, short_table, warnings
from benchmarks.harness.plots import curve_pictures, overview_picture
from benchmarks.harness.promises import judge_all
from benchmarks.harness.report import Report


def pictures(report: Report) -> dict[str, tuple[str, str]]:
    """Return the plots by the name of their file: what a plot shows, and the SVG. Each needs nothing else."""
    found = {"front.svg": ("Time of common operations, shorter is better", front_chart(front_rows(report)))}
    if overview := overview_picture(report):
        found["overview.svg"] = ("The engine beside Playwright, all figures", overview)
    for case in report.cases:
        for number, (title, picture) in enumerate(curve_pictures(report, case)):
            found[f"{case.name}-{number}.svg"] = (title, picture)
    return found


def summary(report: Report, folder: str) -> str:
    """Return the page of the documentation. `folder` is the folder of its plots, relative to the page."""
    lines = [
        "# Benchmarks",
        "",
        f"![Time of common operations, shorter is better]({folder}/front.svg)",
        "",
        "Medians. In parentheses: how many times better the engine is in the same rounds. Below 1, the other tool is better.",
        "",
        *headline_table(report),
        "",
        "## How it is measured",
        "",
        "`make bench` measures the engine, other engines and the floor. The floor is the least code that does the same on a",
        "websocket, a socket or the pipe. All sides drive the same browser with the same flags on the same pages, and take",
        "turns in each round. `make bench` writes this page and its plots. The report with every value, as JSON, HTML and",
        "tables, is in `build/benchmarks/`. `make bench-check` measures the promises.",
        "",
        *header(report),
        *warnings(report),
        "",
        "## All figures",
        "",
        "Medians. After the colon: how many times better the engine is in the same rounds, with the quartiles.",
        "",
        *short_table(report),
        "",
    ]
    if verdicts := judge_all(report):
        lines += ["## Promises", "", *promises_table(verdicts), ""]
    if found := aims(report):
        reached = sum(aim.reach == "reached" for aim in found)
        lines += [
            "## Goals",
            "",
            "A goal is not a promise. Goals are ratios of one run, with a tolerance of 5 %.",
            f"The engine reaches {reached} of {len(found)}.",
            "",
            *aims_table(found),
            "",
        ]
    drawn = pictures(report)
    if drawn:
        lines += ["## Plots", ""]
    for name, (title, _) in drawn.items():
        if name == "front.svg":
            continue  # at the top of the page
        lines += [f"![{safe(title)}]({folder}/{name})", ""]
    return "\n".join(lines).rstrip() + "\n"
