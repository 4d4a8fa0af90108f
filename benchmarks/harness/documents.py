"""The documents that `make bench` writes: a page, the README's chart, and blocks of other documents.

Rule: a block is the part of a document between two marker lines. It has a fixed choice of figures, so that a run
cannot choose favourable ones. A run that lacks one of them leaves the block unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import attrs

from benchmarks.harness.figures import Measurement, shown, shown_ratio
from benchmarks.harness.front import FIGURES, FRONT_TITLE, front_chart, front_table
from benchmarks.harness.peers import MCP_SERVERS, is_peer
from benchmarks.harness.programs import say
from benchmarks.harness.report import Report
from benchmarks.harness.tables import all_figures, compared, header, headline_table, row, safe, verdicts

PAGE = Path("docs/benchmarks.md")


def page(report: Report) -> str:
    lines = [
        "# Benchmarks",
        "",
        f"![{FRONT_TITLE}](benchmarks/front.svg)",
        "",
        "Medians. In parentheses: how many times better the engine is in the same rounds. Below 1, the other tool is better.",
        "",
        *headline_table(report),
        "",
        "## How it is measured",
        "",
        "`make bench` measures the engine, other engines and the floor. The floor is the least code that does the same on a",
        "websocket or the pipe. All sides drive the same browser with the same flags on the same pages, and take turns in each",
        "round. `make bench` writes this page and its chart. The report with every value is in",
        "`build/benchmarks/report.json`. `make bench-check` measures the promises.",
        "",
        *header(report),
        "",
        "## All figures",
        "",
        "Medians. After the colon: how many times better the engine is in the same rounds. Ranges contain the median with 87 %",
        "confidence, those of less than four rounds with less.",
        "",
        *all_figures(report),
        "",
        *verdicts(report),
    ]
    return "\n".join(lines).rstrip() + "\n"


def publish(report: Report, root: Path) -> None:
    """Write the page with its chart, and the blocks, into the project at `root`."""
    charts = (root / PAGE).with_suffix("")
    charts.mkdir(parents=True, exist_ok=True)
    (charts / "front.svg").write_text(front_chart(report), "utf-8")
    (root / PAGE).write_text(page(report), "utf-8")
    say(f"wrote {PAGE}")
    for name, block in BLOCKS.items():
        text = (root / name).read_text("utf-8")
        if without := [each for each in block.figures if report.own_median(each) is None]:
            say(f"left {name} as it is: this run has no figure of {', '.join(without)}")
        else:
            (root / name).write_text(block.put(text, report), "utf-8")
            say(f"wrote {name}")


@attrs.frozen
class Block:
    """A block: the name in its two marker lines, its figures, and the function that writes its lines."""

    name: str
    figures: tuple[str, ...]
    lines: Callable[[Report, list[Measurement]], list[str]]

    def put(self, document: str, report: Report) -> str:
        """Return the document with a new block. Raises ValueError unless each marker occurs exactly once."""
        begin = f"<!-- benchmarks: {self.name}; written by `make bench`, do not edit -->"
        end = f"<!-- benchmarks: end of {self.name} -->"
        if (
            document.count(begin) != 1
            or document.count(end) != 1
            or document.index(begin) > document.index(end)
        ):
            raise ValueError(
                f"the document needs these lines, once each and in this order: {begin} and {end}"
            )
        before, _, rest = document.partition(begin)
        found = [each for name in self.figures if (each := report.figure(name))]
        return before + "\n".join([begin, *self.lines(report, found), end]) + rest.partition(end)[2]


def taken(report: Report) -> str:
    """Return the date, the machine and the number of caveats of the figures."""
    day = report.began.partition(" ")[0]
    return f"Medians of {day}, {safe(report.machine.browser)}, {report.machine.cores} cores{caveats(report)}"


def caveats(report: Report) -> str:
    count = len(report.warnings())
    return f", and {count} caveat{'s' * (count != 1)}" if count else ""


def table(heads: list[str], align: str, lines: list[list[str]]) -> list[str]:
    return [row(heads), row([align] * len(heads)), *map(row, lines)]


def readme_lines(report: Report, _found: list[Measurement]) -> list[str]:
    medians, _, care = taken(report).partition(", and ")
    return [
        *front_table(report),
        "",
        f"![{FRONT_TITLE}](docs/benchmarks/front.svg)",
        "",
        f"{medians}. All figures{', and ' * bool(care)}{care}: [{PAGE}]({PAGE}).",
    ]


# --- sizes of machines --------------------------------------------------------------------------------------------

SIZING_FIGURES = ("pool: a browser with one page", "pool: each of 30 open pages", "pool: a job, 10 at once")
GB = 1024  # megabytes in a gigabyte


def sizing_lines(report: Report, found: list[Measurement]) -> list[str]:
    """Return a machine's capacity for the smallest pages, by the formulas of the table of sizing."""
    browser, page, job = (each.median("engine") for each in found)
    rate = 1000 / job
    lines = [
        ["a browser with one page (`B + m`)", f"{shown(browser)} MB"],
        ["each further page (`m`)", f"{shown(page)} MB"],
        ["pages of one browser per GB", f"{max(0, (GB - browser + page) / page):.0f}"],
        ["jobs per second (`R`), ten pages in parallel", shown(rate)],
        ["jobs per second and core", shown(rate / report.machine.cores)],
    ]
    return [
        f"{taken(report)}:",
        "",
        *table(["quantity", "figure"], "---", lines),
        "",
        "The page has two buttons and a field; a real page needs more. A job opens a page in a separate",
        "context, navigates it, reads the title and closes it. `python -m benchmarks pool` measures it.",
    ]


# --- comparison with other servers and shells -----------------------------------------------------------------------

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


def ratios(found: Measurement, others: tuple[str, ...]) -> str:
    """Return the engine's ratio to each of the others that took part."""
    taken = [found.ratio(other, "engine") for other in others if found.side(other) is not None]
    return ", ".join("cannot" if ratio is None else shown_ratio(ratio.median) for ratio in taken)


def own_figure(found: Measurement) -> str:
    unit = "" if found.unit == "characters" else f" {found.unit}"
    return shown(found.median("engine")) + unit


def mcp_lines(report: Report, found: list[Measurement]) -> list[str]:
    cells = iter([f"{own_figure(each)}: {ratios(each, tuple(MCP_SERVERS))}" for each in found])
    lines = [[title, *(next(cells) for _ in MCP_ROWS)] for title in MCP_FIGURES.values()]
    return [
        f"{taken(report)}. After each figure: how many times better the engine was in the same rounds",
        f"than {', '.join(MCP_SERVERS)}:",
        "",
        *table(["rows of the page", *MCP_ROWS], "---", lines),
    ]


SHELL_FIGURES = {
    "shell: click": "a click by ref, without a pause before the command",
    "shell: click, with a pause before it": "the same after a pause",
    "shell: snapshot of 100 rows": "a snapshot of 100 rows",
    "shell: the client's own start": "the client's start, compared with the start of the interpreter alone",
}


def shell_lines(report: Report, found: list[Measurement]) -> list[str]:
    others = ("agent-browser", "floor: the interpreter alone")
    lines = [
        [title, own_figure(each), ratios(each, others)]
        for title, each in zip(SHELL_FIGURES.values(), found, strict=True)
    ]
    other = "how many times better than agent-browser, or than the interpreter alone"
    return [f"{taken(report)}:", "", *table(["operation", "engine", other], "---", lines)]


# --- activity of pages, and replays of the cache --------------------------------------------------------------------

ACTIVITY_FIGURES = {
    "events: 4,000 console messages": "Console messages, read from a stream",
    "events: resident memory after each turn": "Resident memory after each round of console messages",
    "requests: 2,000 requests": "Requests, each followed to its end (mostly limited by Chrome)",
}


def activity_lines(report: Report, found: list[Measurement]) -> list[str]:
    lines = [
        f"- {title}: {activity_of(each)}."
        for title, each in zip(ACTIVITY_FIGURES.values(), found, strict=True)
    ]
    return [f"{taken(report)}:", "", *lines]


def activity_of(found: Measurement) -> str:
    """Return the engine's figure, and those of all peers."""
    peers = [side for side in found.sides if is_peer(side.side)]
    measured = ", ".join(f"{side.side} {shown(side.median)}" for side in peers if side.measured)
    unable = ", ".join(side.side for side in peers if not side.measured)
    others = f"; others: {measured}" if measured else ""
    without = f"; not possible with {unable}" if unable else ""
    return f"**{own_figure(found)}**{others}{without}"


CACHE_ROWS = ("10", "100", "1,000")
CACHE_SIDES = {
    "engine: stored replay": "from a store of 1,000 entries",
    "floor: nothing is read": "the steps without reading the page",
    "engine: hooked snapshots": "a snapshot with the hook before every step",
    "engine: fresh snapshots": "a fresh snapshot before every step",
    "engine: ax snapshots": "the accessibility tree before every step",
}
"""Sides of the case `cached_flow` that are compared with a replay, and their labels in the table."""


def cache_lines(report: Report, found: list[Measurement]) -> list[str]:
    lines = [
        [
            rows,
            shown(each.median("engine")),
            *(compared(each, side) or "not measured" for side in CACHE_SIDES),
        ]
        for rows, each in zip(CACHE_ROWS, found, strict=True)
    ]
    return [
        f"{taken(report)}. Times are in ms; in brackets, how many times faster the replay was in the same rounds.",
        "",
        *table(["rows", "replay", *CACHE_SIDES.values()], "--:", lines),
    ]


BLOCKS = {
    "README.md": Block("front", tuple(FIGURES), readme_lines),
    "docs/deployment.md": Block("sizing", SIZING_FIGURES, sizing_lines),
    "docs/mcp.md": Block(
        "servers",
        tuple(f"mcp: {figure}, {rows} rows" for figure in MCP_FIGURES for rows in MCP_ROWS),
        mcp_lines,
    ),
    "docs/shell.md": Block("shell", tuple(SHELL_FIGURES), shell_lines),
    "docs/activity.md": Block("activity", tuple(ACTIVITY_FIGURES), activity_lines),
    "docs/cache.md": Block(
        "replays",
        tuple(f"cached_flow: 6 steps on {rows} rows" for rows in CACHE_ROWS),
        cache_lines,
    ),
}
"""The block of each document."""
