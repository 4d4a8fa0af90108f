"""The README's table and chart: the engine against the tools that readers come from. Pure.

The choice of rows is fixed, so that a run cannot choose the rows in which the engine leads.
"""

from __future__ import annotations

from html import escape

from benchmarks.harness.figures import Measurement, shown
from benchmarks.harness.report import Report
from benchmarks.harness.tables import CANNOT, row

FRONT_TITLE = "Time of common operations, shorter is better"

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


FIGURES = {
    "looks: the first look, 5,000 rows": "First snapshot, 5,000 rows",
    "looks: the look after a click, 1,000 rows": "Snapshot after a click, 1,000 rows",
    "actions: click": "Click",
    "actions: type": "Typing 500 characters",
    "hung_evaluate: the page free again, after the deadline": "Hung script ended after its deadline",
    "navigations: each": "Navigation",
    "start": "Browser start",
    "mcp: snapshot, 1,000 rows": "Snapshot through MCP, 1,000 rows",
}
"""The rows of the table: figures and their titles."""

DRAWN = tuple(FIGURES)[:5]
"""Figures that are groups of bars in the chart."""


def cell(found: Measurement, tool: str) -> str | None:
    """Return a tool's median with its unit, "cannot", or None if it took no part."""
    name = "playwright-mcp" if found.case == "mcp" and tool == "playwright" else tool
    if found.side(name) is None:
        return None
    return f"{shown(found.median(name))} {found.unit}" if found.measured(name) else CANNOT


def front_table(report: Report) -> list[str]:
    lines = [row(["", *TOOLS.values()]), row(["---"] * (1 + len(TOOLS))), *map(row, FEATURES)]
    for figure, title in FIGURES.items():
        found = report.figure(figure)
        if found is not None:
            own, *others = (cell(found, tool) or "" for tool in TOOLS)
            lines.append(row([title, f"**{own}**", *others]))
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


def front_chart(report: Report) -> str:
    """Return the chart as an SVG: a group of bars for each drawn figure, shorter is better.

    Each group has a linear scale of its own, because the figures range from 2 ms to 1 s.
    """
    parts, top = [], TOP
    for figure in DRAWN:
        found = report.figure(figure)
        if found is None:
            continue
        values = {tool: found.median(tool) for tool in TOOLS if found.side(tool)}
        most = max((found.median(tool) for tool in values if found.measured(tool)), default=1.0)
        parts.append(f'<text x="0" y="{top + 11}" class="t">{escape(FIGURES[figure])}</text>')
        for tool, median in values.items():
            kind = "e" if tool == "engine" else "s"
            width = max(2.0, BARS * median / most) if found.measured(tool) else 0.0
            parts.append(
                f'<rect x="{LABELS}" y="{top + 1}" width="{width:.1f}" height="{BAR - 2}" rx="2" class="{kind}"/>'
                f'<text x="{LABELS + width + 6:.1f}" y="{top + 11}" class="{kind}">'
                f"{TOOLS[tool]} {cell(found, tool)}</text>"
            )
            top += BAR + 3
        top += GAP
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}" role="img">'
        f"<style>{STYLE}</style><title>{FRONT_TITLE}</title>"
        f'<text x="0" y="16" class="s">Time, shorter is better. Each group has its own scale.</text>'
        f"{''.join(parts)}</svg>\n"
    )
