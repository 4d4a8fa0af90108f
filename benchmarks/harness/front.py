"""The README's table and chart: the engine against the tools that readers come from. Pure.

The choice of rows is fixed, so that a run cannot choose the rows in which the engine leads.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import attrs

from benchmarks.harness.figures import shown, shown_ratio
from benchmarks.harness.markdown import safe
from benchmarks.harness.report import Report

TOOLS = {
    "engine": "cdpengine",
    "playwright": "Playwright",
    "puppeteer": "Puppeteer",
    "nodriver": "nodriver",
    "chrome-devtools-mcp": "chrome-devtools-mcp",
}
"""The columns of the table, by the name of a side."""

FEATURES = (
    ("Program in", "Python, trio", "Python, JavaScript, Java, .NET", "JavaScript", "Python, asyncio", "any MCP client"),
    ("Works without Node.js", "yes", "no", "no", "yes", "no"),
    ("Firefox and WebKit", "no", "yes", "Firefox", "no", "no"),
)  # fmt: skip
"""Rows that no run measures."""

CANNOT = "cannot"
UNKNOWN = ""


@attrs.frozen
class FrontRow:
    """One figure: its title, its unit, and the median of each side. A side is None if it cannot do it."""

    title: str
    unit: str
    medians: dict[str, float | None]


@attrs.frozen
class FrontFigure:
    """A figure of the table. Every figure with `drawn` is a group of bars in the chart."""

    figure: str
    title: str
    drawn: bool = True


FIGURES = (
    FrontFigure("looks: the first look, 5,000 rows", "First snapshot, 5,000 rows"),
    FrontFigure("looks: the look after a click, 1,000 rows", "Snapshot after a click, 1,000 rows"),
    FrontFigure("actions: click", "Click"),
    FrontFigure("actions: type", "Typing 500 characters"),
    FrontFigure(
        "hung_evaluate: the page free again, after the deadline", "Hung script ended after its deadline"
    ),
    FrontFigure("navigations: each", "Navigation", drawn=False),
    FrontFigure("start", "Browser start", drawn=False),
)

SERVER_FIGURE = "mcp: snapshot, 1,000 rows"
SERVERS = {"engine": "engine", "playwright": "playwright-mcp", "chrome-devtools-mcp": "chrome-devtools-mcp"}
"""The sides of `SERVER_FIGURE`, by the column that shows them."""


def front_rows(report: Report) -> list[FrontRow]:
    """Return the rows that the run measured."""
    found = []
    for figure in FIGURES:
        measurement = next((each for each in report.measurements if each.name == figure.figure), None)
        if measurement is None:
            continue
        sides = {each.side: each for each in measurement.sides if each.side in TOOLS}
        medians = {name: side.median if side.measured else None for name, side in sides.items()}
        found.append(FrontRow(figure.title, measurement.unit, medians))
    servers = next((each for each in report.measurements if each.name == SERVER_FIGURE), None)
    if servers is not None:
        medians = {}
        for column, name in SERVERS.items():
            side = servers.side(name)
            if side is not None:
                medians[column] = side.median if side.measured else None
        found.append(FrontRow("Snapshot through MCP, 1,000 rows", servers.unit, medians))
    return found


def front_table(rows: Sequence[FrontRow]) -> list[str]:
    """Return the table in Markdown: the features, then the figures."""
    lines = [f"|  | {' | '.join(TOOLS.values())} |", f"| --- |{' --- |' * len(TOOLS)}"]
    lines += [f"| {' | '.join(feature)} |" for feature in FEATURES]
    for row in rows:
        cells = [_cell(row, name) for name in TOOLS]
        lines.append(f"| {row.title} | {' | '.join(cells)} |")
    return lines


def _cell(row: FrontRow, name: str) -> str:
    if name not in row.medians:
        return UNKNOWN
    median = row.medians[name]
    if median is None:
        return CANNOT
    text = f"{shown(median)} {row.unit}"
    return f"**{text}**" if name == "engine" else text


# --- the short table of docs/benchmarks.md ------------------------------------------------------------------------

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
        f"| figure | unit | cdpengine | {' | '.join(HEADLINE_TOOLS)} |",
        f"| --- | --- | --: |{' --: |' * len(HEADLINE_TOOLS)}",
    ]
    for name in HEADLINES:
        found = next((each for each in report.measurements if each.name == name), None)
        own = found.side("engine") if found else None
        if found is None or own is None or not own.measured:
            continue
        cells = []
        for tool in HEADLINE_TOOLS:
            side, ratio = found.side(tool), found.ratio(tool, "engine")
            if side is None:
                cells.append(UNKNOWN)
            elif not side.measured or ratio is None:
                cells.append(CANNOT)
            else:
                cells.append(f"{shown(side.median)} ({shown_ratio(ratio.median)})")
        lines.append(f"| {safe(name)} | {found.unit} | **{shown(own.median)}** | {' | '.join(cells)} |")
    return lines


# --- the chart ------------------------------------------------------------------------------------------------------

WIDTH = 860
LABELS = 250
BARS = 430
BAR = 13
GAP = 18
TOP = 44

STYLE = (
    "svg{--text:#1f2328;--soft:#59636e;--s0:#0b5fa5;--s1:#c3cbd4}"
    "@media(prefers-color-scheme:dark){svg{--text:#e6edf3;--soft:#9198a1;--s0:#6cb6ff;--s1:#4a525c}}"
    "text{font:12px system-ui,sans-serif;fill:var(--text)}text.s{fill:var(--soft)}.t,text.e{font-weight:600}"
    "rect{fill:var(--s1)}rect.e{fill:var(--s0)}"
)
"""Colours that follow the reader's light or dark theme. The background stays transparent."""


def front_chart(rows: Sequence[FrontRow]) -> str:
    """Return the chart as an SVG: a group of bars for each drawn figure, shorter is better.

    Each group has a linear scale of its own, because the figures range from 2 ms to 1 s.
    """
    drawn = {figure.title for figure in FIGURES if figure.drawn}
    parts, top = [], TOP
    for row in (each for each in rows if each.title in drawn):
        most = max((median for median in row.medians.values() if median is not None), default=1.0)
        parts.append(f'<text x="0" y="{top + 11}" class="t">{escape(row.title)}</text>')
        for name, median in row.medians.items():
            value = f"{TOOLS[name]} {CANNOT if median is None else f'{shown(median)} {row.unit}'}"
            kind = "e" if name == "engine" else "s"
            width = 0.0 if median is None else max(2.0, BARS * median / most)
            parts.append(
                f'<rect x="{LABELS}" y="{top + 1}" width="{width:.1f}" height="{BAR - 2}" rx="2" class="{kind}"/>'
                f'<text x="{LABELS + width + 6:.1f}" y="{top + 11}" class="{kind}">{escape(value)}</text>'
            )
            top += BAR + 3
        top += GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img">'
        f"<style>{STYLE}</style><title>Time of common operations, shorter is better</title>"
        f'<text x="0" y="16" class="s">Time, shorter is better. Each group has its own scale.</text>'
        f"{''.join(parts)}</svg>\n"
    )
