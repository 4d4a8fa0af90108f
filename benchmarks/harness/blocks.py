"""Blocks: parts of documents between two marker lines, written by a run. Pure.

Rule: a block has a fixed choice of figures, so that a run cannot choose favourable ones. A run that lacks one of
them leaves the block unchanged. A line of the README names every measured peer, and includes figures in which
others are better.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from benchmarks.harness.bench import is_peer
from benchmarks.harness.figures import Measurement, shown, shown_ratio
from benchmarks.harness.front import FIGURES, front_rows, front_table
from benchmarks.harness.installed import MCP_SERVERS
from benchmarks.harness.markdown import safe
from benchmarks.harness.report import Report, own_side


@attrs.frozen
class Block:
    """A block: its two marker lines, its figures, and the function that writes its lines."""

    begin: str
    end: str
    figures: tuple[str, ...]
    lines: Callable[[Report], list[str]]


def missing(report: Report, document: str) -> list[str]:
    """Return the figures of the document's block that the run lacks, because it ran only some cases."""
    return [figure for figure in block_of(document).figures if not has_figure(report, figure)]


def put_block(document: str, report: Report) -> str:
    """Return the document with a new block. Raises ValueError unless each marker occurs exactly once."""
    block = block_of(document)
    before, _, rest = document.partition(block.begin)
    return before + "\n".join([block.begin, *block.lines(report), block.end]) + rest.partition(block.end)[2]


def block_of(document: str) -> Block:
    """Return the document's block. Raises ValueError unless its markers occur exactly once each."""
    block = next((each for each in BLOCKS if each.begin in document or each.end in document), README)
    counts = (document.count(block.begin), document.count(block.end))
    if counts != (1, 1) or document.index(block.begin) > document.index(block.end):
        raise ValueError(
            f"the document needs these two lines, once each and in this order: {block.begin} and {block.end}"
        )
    return block


def has_figure(report: Report, name: str) -> bool:
    """Return whether the run has that figure for the engine."""
    return own_median(report, name) is not None


def own_median(report: Report, name: str) -> float | None:
    """Return the engine's median of the figure with that name, or None."""
    found = measurement_of(report, name)
    side = found.side(own_side(found)) if found and own_side(found) else None
    return side.median if side and side.measured else None


def measurement_of(report: Report, name: str) -> Measurement | None:
    """Return the figure with that name, or None."""
    return next((each for each in report.measurements if each.name == name), None)


# --- the README's table and chart -----------------------------------------------------------------------------------


def readme_lines(report: Report) -> list[str]:
    """Return the table, the chart, and a link to all figures."""
    page = "docs/benchmarks.md"
    return [
        *front_table(front_rows(report)),
        "",
        "![Time of common operations, shorter is better](docs/benchmarks/front.svg)",
        "",
        f"{taken(report)}. All figures{reasons_for_care(report)}: [{page}]({page}).",
    ]


# --- lines of figures -----------------------------------------------------------------------------------------------


@attrs.frozen
class Line:
    """One line of a list of figures: the name of a figure, and its title."""

    figure: str
    text: str


def readme_line(report: Report, line: Line) -> str:
    """Return one line, or "" if the run lacks the engine's figure."""
    found, median = measurement_of(report, line.figure), own_median(report, line.figure)
    if found is None or median is None:
        return ""
    others = _others(found)
    return f"- {line.text}: **{shown(median)} {found.unit}**{''.join('; ' + each for each in others)}."


def _others(measurement: Measurement) -> list[str]:
    measured, unable = [], []
    for side in measurement.sides:
        if not is_peer(side.side):
            continue
        if side.measured:
            measured.append(f"{side.side} {shown(side.median)}")
        elif side.cannot:
            unable.append(side.side)
    said = [f"others: {', '.join(measured)}"] if measured else []
    return said + ([f"not possible with {', '.join(unable)}"] if unable else [])


def taken(report: Report) -> str:
    """Return the date and the machine of the figures."""
    day = report.began.partition(" ")[0]
    return f"Medians of {day}, {safe(report.machine.browser)}, {report.machine.cores} cores"


def reasons_for_care(report: Report) -> str:
    """Return the number of warnings as words after "figures", or ""."""
    care = len(report.warnings())
    return f", and {care} caveat{'s' * (care != 1)}" if care else ""


# --- how many pages a machine holds ---------------------------------------------------------------------------------

JOB = "pool: a job, 10 at once"
BROWSER = "pool: a browser with one page"
PAGE = "pool: each of 30 open pages"
GB = 1024
"""Megabytes in a gigabyte."""


def sizing_lines(report: Report) -> list[str]:
    """Return a machine's capacity for the smallest pages, by the formulas of the table of sizing."""
    browser, page, job = (own_median(report, name) for name in (BROWSER, PAGE, JOB))
    if browser is None or page is None or job is None:
        return []
    cores = report.machine.cores
    rate = 1000 / job
    return [
        f"{taken(report)}{reasons_for_care(report)}:",
        "",
        "| quantity | figure |",
        "| --- | --- |",
        f"| a browser with one page (`B + m`) | {shown(browser)} MB |",
        f"| each further page (`m`) | {shown(page)} MB |",
        f"| pages of one browser per GB | {max(0, (GB - browser + page) / page):.0f} |",
        f"| jobs per second (`R`), ten pages in parallel | {shown(rate)} |",
        f"| jobs per second and core | {shown(rate / cores)} |",
        "",
        "The page has two buttons and a field; a real page needs more. A job opens a page in a separate",
        "context, navigates it, reads the title and closes it. `python -m benchmarks pool` measures it.",
    ]


# --- comparison with other servers and shells -------------------------------------------------------------------------

MCP_ROWS = ("10", "1,000")
MCP_FIGURES = {
    "navigate": "navigate",
    "the first look": "the first snapshot after it",
    "navigate and the first look": "both together",
    "snapshot": "a further snapshot of the same page",
    "click": "click",
    "evaluate": "evaluate",
    "characters of a snapshot": "characters of a snapshot",
    "characters to know what a click changed": "characters that report the changes of a click",
}
"""The figures of the case `mcp`, and their labels in the table."""


def mcp_lines(report: Report) -> list[str]:
    """Return the table of servers: the engine's median, and its ratio to each of the others."""
    others = ", ".join(MCP_SERVERS)
    lines = [
        f"{taken(report)}{reasons_for_care(report)}. After each figure: how many times better the engine was in the same rounds",
        f"than {others}:",
        "",
        f"| rows of the page | {' | '.join(MCP_ROWS)} |",
        f"| --- |{' --- |' * len(MCP_ROWS)}",
    ]
    for figure, title in MCP_FIGURES.items():
        cells = [_comparison(report, f"mcp: {figure}, {rows} rows", tuple(MCP_SERVERS)) for rows in MCP_ROWS]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return lines


SHELL_FIGURES = {
    "click": "a click by ref, without a pause before the command",
    "click, with a pause before it": "the same after a pause",
    "snapshot of 100 rows": "a snapshot of 100 rows",
    "the client's own start": "the client's start, compared with the start of the interpreter alone",
}


def shell_lines(report: Report) -> list[str]:
    """Return the table of commands: the engine's median, and its ratio to the other program."""
    lines = [
        f"{taken(report)}{reasons_for_care(report)}:",
        "",
        "| operation | engine | how many times better than agent-browser, or than the interpreter alone |",
        "| --- | --- | --- |",
    ]
    for figure, title in SHELL_FIGURES.items():
        beside = ("agent-browser", "floor: the interpreter alone")
        value, _, ratio = _comparison(report, f"shell: {figure}", beside).partition(": ")
        lines.append(f"| {title} | {value} | {ratio} |")
    return lines


def _comparison(report: Report, name: str, others: tuple[str, ...]) -> str:
    found, median = measurement_of(report, name), own_median(report, name)
    if found is None or median is None:
        return "not measured"
    ratios = [found.ratio(other, "engine") for other in others if found.side(other) is not None]
    unit = "" if found.unit == "characters" else f" {found.unit}"
    told_ratios = ", ".join("cannot" if ratio is None else shown_ratio(ratio.median) for ratio in ratios)
    return f"{shown(median)}{unit}: {told_ratios}"


# --- activity of pages, and replays of the cache -----------------------------------------------------------------------

ACTIVITY_LINES = (
    Line("events: 4,000 console messages", "Console messages, read from a stream"),
    Line("events: resident memory after each turn", "Resident memory after each round of console messages"),
    Line(
        "requests: 2,000 requests",
        "Requests, each followed to its end (mostly limited by Chrome)",
    ),
)


def activity_lines(report: Report) -> list[str]:
    """Return the lines about the activity of pages."""
    lines = [text for line in ACTIVITY_LINES if (text := readme_line(report, line))]
    return [f"{taken(report)}{reasons_for_care(report)}:", "", *lines]


CACHE_ROWS = ("10", "100", "1,000")
CACHE_SIDES = {
    "engine: stored replay": "from a store of 1,000 entries",
    "floor: nothing is read": "the steps without reading the page",
    "engine: hooked snapshots": "a snapshot with the hook before every step",
    "engine: fresh snapshots": "a fresh snapshot before every step",
    "engine: ax snapshots": "the accessibility tree before every step",
}
"""Sides of the case `cached_flow` that are compared with a replay, and their labels in the table."""


def cache_lines(report: Report) -> list[str]:
    """Return the table of replays: the milliseconds of each way, and the ratio to the replay."""
    lines = [
        f"{taken(report)}{reasons_for_care(report)}. Times are in ms; in brackets, how many times faster the replay was in the same rounds.",
        "",
        f"| rows | replay | {' | '.join(CACHE_SIDES.values())} |",
        f"| --: | --: |{' --: |' * len(CACHE_SIDES)}",
    ]
    for rows in CACHE_ROWS:
        name = f"cached_flow: 6 steps on {rows} rows"
        found, median = measurement_of(report, name), own_median(report, name)
        cells = [rows, "not measured" if median is None else shown(median)]
        for each in CACHE_SIDES:
            side, ratio = (found.side(each), found.ratio(each, "engine")) if found else (None, None)
            if side is None or ratio is None or not side.measured:
                cells.append("not measured")
            else:
                cells.append(f"{shown(side.median)} ({shown_ratio(ratio.median)})")
        lines.append(f"| {' | '.join(cells)} |")
    return lines


README = Block(
    begin="<!-- benchmarks: begin; written by `make bench`, do not edit -->",
    end="<!-- benchmarks: end -->",
    figures=tuple(figure.figure for figure in FIGURES),
    lines=readme_lines,
)
SIZING = Block(
    begin="<!-- benchmarks: sizing; written by `make bench`, do not edit -->",
    end="<!-- benchmarks: end of sizing -->",
    figures=(BROWSER, PAGE, JOB),
    lines=sizing_lines,
)
MCP = Block(
    begin="<!-- benchmarks: servers; written by `make bench`, do not edit -->",
    end="<!-- benchmarks: end of servers -->",
    figures=tuple(f"mcp: {figure}, {rows} rows" for figure in MCP_FIGURES for rows in MCP_ROWS),
    lines=mcp_lines,
)
SHELL = Block(
    begin="<!-- benchmarks: shell; written by `make bench`, do not edit -->",
    end="<!-- benchmarks: end of shell -->",
    figures=tuple(f"shell: {figure}" for figure in SHELL_FIGURES),
    lines=shell_lines,
)
ACTIVITY = Block(
    begin="<!-- benchmarks: activity; written by `make bench`, do not edit -->",
    end="<!-- benchmarks: end of activity -->",
    figures=tuple(line.figure for line in ACTIVITY_LINES),
    lines=activity_lines,
)
CACHE = Block(
    begin="<!-- benchmarks: replays; written by `make bench`, do not edit -->",
    end="<!-- benchmarks: end of replays -->",
    figures=tuple(f"cached_flow: 6 steps on {rows} rows" for rows in CACHE_ROWS),
    lines=cache_lines,
)
BLOCKS = (README, SIZING, MCP, SHELL, ACTIVITY, CACHE)
