"""Plots as SVG: ratios as dots with error bars, and curves, both on logarithmic axes. Pure.

Rule: written by hand, because two kinds of plots need only two hundred lines, and plot libraries lack some
features: colours that follow the reader's light or dark theme by CSS, text as text, and a title and description
for screen readers. All drawn values are also in a table. Each side has a colour and a shape, so that either
suffices to identify it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr

import attrs

from benchmarks.harness.figures import Ratio, shown, shown_ratio

WIDTH = 900.0
LABELS = 210.0
ALONE_LABELS = 330.0
RIGHT = 150.0
EVALUATION_SESSION = 15.0
HEADING = 18.0
CURVE_HEIGHT = 340.0
CURVE_LEFT = 70.0
TEXT = 6.6
"""Approximate width of a letter in plots."""

SHAPES = ("circle", "square", "diamond", "up", "down", "plus", "cross", "ring")


@attrs.frozen
class Style:
    """The look of a side: the CSS class of its colour, and its shape."""

    colour: str
    shape: str


_KNOWN = {
    "engine": Style("s0", "circle"),
    "playwright": Style("s1", "square"),
    "puppeteer": Style("s2", "diamond"),
    "selenium": Style("s3", "up"),
    "nodriver": Style("s4", "down"),
    "zendriver": Style("s5", "plus"),
    "pydoll": Style("s6", "cross"),
}
_OTHERS = tuple(
    Style(f"s{7 + number % 4}", SHAPES[-1 - number % len(SHAPES)]) for number in range(4 * len(SHAPES))
)


def styles(names: Iterable[str]) -> dict[str, Style]:
    """Return a style for each side: a fixed one for known sides, the next free one for others."""
    free = iter(_OTHERS)
    return {name: _KNOWN.get(name) or next(free) for name in dict.fromkeys(names)}


@attrs.frozen
class LogAxis:
    """A logarithmic axis from `least` to `most`, drawn from `start` to `end`; `end` may be smaller."""

    least: float
    most: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float) -> LogAxis:
        """Return an axis for all these values, with round numbers at its ends."""
        found = [value for value in values if value > 0 and math.isfinite(value)]
        least, most = (min(found), max(found)) if found else (1.0, 10.0)
        least, most = _nice(least, down=True), _nice(most, down=False)
        return cls(least, most if most > least else least * 10, start, end)

    def at(self, value: float) -> float:
        """Return the position of a value. Values outside are at the ends."""
        part = math.log(min(max(value, self.least), self.most) / self.least) / math.log(
            self.most / self.least
        )
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return the labelled numbers: 1, 2, 5 of each decade, or only the decades if there are many."""
        first, last = math.floor(math.log10(self.least)), math.ceil(math.log10(self.most))
        steps = (1, 2, 5) if last - first <= 3 else (1,)
        numbers = [step * 10.0**power for power in range(first, last + 1) for step in steps]
        return [number for number in numbers if self.least * 0.999 <= number <= self.most * 1.001]


def _nice(value: float, *, down: bool) -> float:
    power = 10.0 ** math.floor(math.log10(value))
    steps = [step * power for step in (1, 2, 5, 10)]
    if down:
        return max(step for step in steps if step <= value * 1.0001)
    return min(step for step in steps if step >= value * 0.9999)


def tick_text(value: float) -> str:
    """Return a tick's number: "0.5", "20", "5,000"."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.6f}".rstrip("0")


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def _tag(name: str, **attributes: object) -> str:
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}={quoteattr(_number(value) if isinstance(value, float) else str(value))}"
        for key, value in attributes.items()
    )
    return f"<{name}{said}/>"


def _text(x: float, y: float, text: str, *, css: str = "", anchor: str = "start") -> str:
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" class="{css}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def marker(style: Style, x: float, y: float, size: float = 4.5) -> str:
    """Return a side's mark at a point."""
    points: dict[str, list[tuple[float, float]]] = {
        "square": [(-1, -1), (1, -1), (1, 1), (-1, 1)],
        "diamond": [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)],
        "up": [(0, -1.25), (1.2, 1), (-1.2, 1)],
        "down": [(0, 1.25), (1.2, -1), (-1.2, -1)],
    }
    css = f"mark {style.colour}"
    if style.shape in points:
        path = " ".join(f"{_number(x + a * size)},{_number(y + b * size)}" for a, b in points[style.shape])
        return _tag("polygon", class_=css, points=path)
    if style.shape in ("plus", "cross"):
        a, b = (size * 1.25, 0.0) if style.shape == "plus" else (size, size)
        lines = f"M{x - a:.1f} {y - b:.1f}L{x + a:.1f} {y + b:.1f}M{x - b:.1f} {y + a:.1f}L{x + b:.1f} {y - a:.1f}"
        return _tag("path", class_=f"stroke {style.colour}", d=lines)
    if style.shape == "ring":
        return _tag("circle", class_=f"stroke {style.colour}", cx=x, cy=y, r=size)
    return _tag("circle", class_=css, cx=x, cy=y, r=size)


def whole(width: float, height: float, title: str, description: str, parts: Iterable[str], name: str) -> str:
    """Return the picture. `name` is unique on its page."""
    return (
        f'<svg viewBox="0 0 {_number(width)} {_number(height)}" width="{_number(width)}" height="{_number(height)}"'
        f' role="img" aria-labelledby="{name}-t {name}-d" xmlns="http://www.w3.org/2000/svg">'
        f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
        + "".join(parts)
        + "</svg>"
    )


@attrs.frozen
class RatioRow:
    """One line of a plot of ratios: the measured figure, and each side's ratio."""

    label: str
    ratios: tuple[tuple[str, Ratio], ...]


def ratio_plot(rows: Sequence[RatioRow], title: str, name: str, alone: bool = False) -> str:
    """Return the plot of the engine's ratios: a lane for each side, with its quartiles as a bar.

    Above 1, to the right of the line, the engine is better. `alone` is for rows of a single side: the label is in
    the lane, and the side's name is omitted.
    """
    drawn = [row for row in rows if row.ratios]
    looks = styles(side for row in drawn for side, _ in row.ratios)
    ends = [
        value for row in drawn for _, ratio in row.ratios for value in (ratio.low, ratio.high, ratio.median)
    ]
    left = ALONE_LABELS if alone else LABELS
    axis = LogAxis.over([*ends, 0.5, 2.0], left, WIDTH - RIGHT)
    top, y = 24.0, 30.0
    parts: list[str] = []
    for row in drawn:
        parts.append(_tag("line", class_="grid", x1=8.0, x2=WIDTH - 8, y1=y, y2=y))
        y += 3 if alone else HEADING
        text = _cut(row.label, left - 20) if alone else row.label
        parts.append(_text(8, y + EVALUATION_SESSION * 0.78 if alone else y - 4, text, css="label"))
        for side, ratio in row.ratios:
            parts += _ratio_lane("" if alone else side, ratio, looks[side], axis, y + EVALUATION_SESSION / 2)
            y += EVALUATION_SESSION
        y += 3
    under = [
        *(
            _tag("line", class_="grid", x1=axis.at(tick), x2=axis.at(tick), y1=top, y2=y)
            for tick in axis.ticks()
        ),
        *(
            _text(axis.at(tick), top - 8, tick_text(tick), css="tick", anchor="middle")
            for tick in axis.ticks()
        ),
        _tag("line", class_="even", x1=axis.at(1), x2=axis.at(1), y1=top, y2=y),
    ]
    ending = [
        _text(axis.at(1) - 8, y + 14, "the engine is worse", css="tick", anchor="end"),
        _text(axis.at(1) + 8, y + 14, "the engine is better", css="tick"),
    ]
    said = "; ".join(
        f"{row.label}: " + ", ".join(f"{side} {shown_ratio(ratio.median)}" for side, ratio in row.ratios)
        for row in drawn
    )
    description = f"How many times better the engine is, on a logarithmic axis. {said}"
    return whole(WIDTH, y + 22, title, description, [*under, *parts, *ending], name)


def _ratio_lane(side: str, ratio: Ratio, look: Style, axis: LogAxis, y: float) -> list[str]:
    low, high = axis.at(ratio.low), axis.at(ratio.high)
    return [
        _text(axis.start - 12, y + 4, side, css=f"side {look.colour}", anchor="end"),
        _tag("line", class_=f"bar {look.colour}", x1=low, x2=high, y1=y, y2=y),
        _tag("line", class_=f"bar {look.colour}", x1=low, x2=low, y1=y - 3, y2=y + 3),
        _tag("line", class_=f"bar {look.colour}", x1=high, x2=high, y1=y - 3, y2=y + 3),
        marker(look, axis.at(ratio.median), y),
        _text(
            WIDTH - RIGHT + 12,
            y + 4,
            str(ratio),
            css="tick",
        ),
    ]


def _cut(text: str, width: float) -> str:
    letters = int(width / TEXT)
    return text if len(text) <= letters else text[: letters - 1] + "…"


@attrs.frozen
class Point:
    """A point of a curve, with the quartiles around its median."""

    x: float
    median: float
    low: float
    high: float


def curve_plot(curves: dict[str, list[Point]], title: str, x_title: str, y_title: str, name: str) -> str:
    """Return the plot of one curve for each side, with logarithmic axes."""
    looks = styles(curves)
    points = [point for curve in curves.values() for point in curve]
    x_axis = LogAxis.over([point.x for point in points], CURVE_LEFT, WIDTH - RIGHT - 20)
    bottom = CURVE_HEIGHT - 46
    y_axis = LogAxis.over([v for point in points for v in (point.low, point.high)], bottom, 20.0)
    parts = []
    for tick in x_axis.ticks():
        x = x_axis.at(tick)
        parts.append(_tag("line", class_="grid", x1=x, x2=x, y1=20.0, y2=bottom))
        parts.append(_text(x, bottom + 16, tick_text(tick), css="tick", anchor="middle"))
    for tick in y_axis.ticks():
        y = y_axis.at(tick)
        parts.append(_tag("line", class_="grid", x1=CURVE_LEFT, x2=WIDTH - RIGHT - 20, y1=y, y2=y))
        parts.append(_text(CURVE_LEFT - 8, y + 4, tick_text(tick), css="tick", anchor="end"))
    parts.append(
        _text((CURVE_LEFT + WIDTH - RIGHT) / 2, CURVE_HEIGHT - 8, x_title, css="tick", anchor="middle")
    )
    parts.append(_text(8, 12, y_title, css="tick"))
    ends = []
    for side, curve in curves.items():
        ordered = sorted(curve, key=lambda point: point.x)
        look = looks[side]
        path = "L".join(f"{x_axis.at(p.x):.1f} {y_axis.at(p.median):.1f}" for p in ordered)
        parts.append(_tag("path", class_=f"curve {look.colour}", d=f"M{path}"))
        for p in ordered:
            x = x_axis.at(p.x)
            parts.append(
                _tag(
                    "line", class_=f"bar {look.colour}", x1=x, x2=x, y1=y_axis.at(p.low), y2=y_axis.at(p.high)
                )
            )
            parts.append(marker(look, x, y_axis.at(p.median)))
        ends.append((y_axis.at(ordered[-1].median), x_axis.at(ordered[-1].x), side))
    for y, (wanted, x, side) in zip(
        spread_out([end[0] for end in sorted(ends)], 13.0), sorted(ends), strict=True
    ):
        parts.append(
            _tag("line", class_=f"lead {looks[side].colour}", x1=x + 6, x2=WIDTH - RIGHT - 6, y1=wanted, y2=y)
        )
        parts.append(_text(WIDTH - RIGHT - 2, y + 4, side, css=f"side {looks[side].colour}"))
    said = "; ".join(
        f"{side}: " + ", ".join(f"{shown(p.median)} at {tick_text(p.x)}" for p in curve)
        for side, curve in curves.items()
    )
    return whole(
        WIDTH, CURVE_HEIGHT, title, f"{y_title} by {x_title}, both axes logarithmic. {said}", parts, name
    )


def spread_out(wanted: Sequence[float], gap: float) -> list[float]:
    """Return heights as close to the wanted ones (in order) as possible without overlapping labels.

    Labels that would overlap form one block at the average of their wanted positions.
    """
    blocks: list[tuple[float, int]] = []  # average wanted start of its labels, and their number
    for number, value in enumerate(wanted):
        start, size = value - number * gap, 1
        while blocks and blocks[-1][0] > start:
            other, more = blocks.pop()
            start, size = (start * size + other * more) / (size + more), size + more
        blocks.append((start, size))
    starts = [start for start, size in blocks for _ in range(size)]
    return [start + number * gap for number, start in enumerate(starts)]
