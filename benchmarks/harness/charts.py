"""The chart of all figures beside Playwright, as SVG. Pure. Its colours follow the reader's light or dark theme."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

import attrs

from benchmarks.harness.figures import Ratio, shown_ratio
from benchmarks.harness.report import Report

OVERVIEW = "The engine beside Playwright, all figures"
PEER = "playwright"

WIDTH = 900.0
LABELS = 330.0
RIGHT = 150.0
LANE = 15.0
TOP = 24.0
MARK = 4.5
TEXT = 6.6  # approximate width of a letter
STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --soft: #5a626c; --line: #d9dee4; --c: #b93a0a }
@media (prefers-color-scheme: dark) { :root { --back: #14171b; --text: #e8eaed; --soft: #a0a8b2; --line: #353b43;
  --c: #ff9d6b } }
svg { display: block; max-width: 100%; height: auto; background: var(--back) }
text { font: 12px system-ui, sans-serif; fill: var(--text) } .tick { font-size: 11px; fill: var(--soft) }
.label { font-weight: 500 } .grid { stroke: var(--line); stroke-width: 1 }
.even { stroke: var(--soft); stroke-width: 1.5 } .bar { stroke: var(--c); stroke-width: 1.6; opacity: .8 }
.mark { fill: var(--c) }
"""
"""It has a background, because the surrounding page may be light while the reader's theme is dark."""


@attrs.frozen
class LogAxis:
    """A logarithmic axis from `least` to `most`, drawn between LABELS and the right margin."""

    least: float
    most: float

    @classmethod
    def over(cls, values: Iterable[float]) -> LogAxis:
        found = list(values)
        return cls(min(found), max(found))

    def at(self, value: float) -> float:
        part = math.log(value / self.least) / math.log(self.most / self.least)
        return LABELS + part * (WIDTH - RIGHT - LABELS)

    def ticks(self) -> list[float]:
        """Return the labelled numbers: 1, 2, 5 of each decade, or only the decades if there are many."""
        first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.most))
        steps = (1, 2, 5) if last - first <= 3 else (1,)
        numbers = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        return [number for number in numbers if self.least * 0.999 <= number <= self.most * 1.001]


def tick_text(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0")


def overview_chart(report: Report) -> str:
    """Return the chart of the engine's ratios to Playwright: a dot for the median, a bar for the quartiles.

    Above 1, to the right of the line, the engine is better.
    """
    found = [(each.name, each.ratio(PEER, each.own_side)) for each in report.measurements if each.own_side]
    drawn = [(name, ratio) for name, ratio in found if ratio is not None]
    axis = LogAxis.over(
        [0.5, 2.0, *(value for _, each in drawn for value in (each.low, each.median, each.high))]
    )
    lanes, y = [], TOP + 6
    for name, ratio in drawn:
        lanes += [_line("grid", 8, y, WIDTH - 8, y), *_lane(name, ratio, axis, y + 3 + LANE / 2)]
        y += LANE + 6
    under = [_line("even", axis.at(1), TOP, axis.at(1), y)]
    for tick in axis.ticks():
        under.append(_line("grid", axis.at(tick), TOP, axis.at(tick), y))
        under.append(_text(axis.at(tick), TOP - 8, tick_text(tick), "tick", "middle"))
    ending = [
        _text(axis.at(1) - 8, y + 14, "the engine is worse", "tick", "end"),
        _text(axis.at(1) + 8, y + 14, "the engine is better", "tick"),
    ]
    values = "; ".join(f"{name}: {shown_ratio(ratio.median)}" for name, ratio in drawn)
    size = f'viewBox="0 0 {WIDTH:g} {y + 22:g}" width="{WIDTH:g}" height="{y + 22:g}"'
    return (
        f'<svg {size} role="img" aria-labelledby="t d" xmlns="http://www.w3.org/2000/svg"><style>{STYLE}</style>'
        f'<title id="t">{OVERVIEW}</title><desc id="d">How many times better the engine is, on a logarithmic axis.'
        f" {escape(values)}</desc>{''.join([*under, *lanes, *ending])}</svg>\n"
    )


def _lane(name: str, ratio: Ratio, axis: LogAxis, y: float) -> list[str]:
    low, median, high = axis.at(ratio.low), axis.at(ratio.median), axis.at(ratio.high)
    letters = int((LABELS - 20) / TEXT)
    label = name if len(name) <= letters else f"{name[: letters - 1]}…"
    return [
        _text(8, y + 4, label, "label"),
        _line("bar", low, y, high, y),
        _line("bar", low, y - 3, low, y + 3),
        _line("bar", high, y - 3, high, y + 3),
        f'<rect class="mark" x="{median - MARK:.1f}" y="{y - MARK:.1f}" width="{2 * MARK:g}" height="{2 * MARK:g}"/>',
        _text(WIDTH - RIGHT + 12, y + 4, str(ratio), "tick"),
    ]


def _line(css: str, x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="{css}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, css: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{css}" text-anchor="{anchor}">{escape(text)}</text>'
