"""The report as one self-contained HTML page: plots, tables, and the conditions of the run. Pure.

Rule: no script, no request, no font, so that it opens from a disk and prints. It follows the reader's light or
dark theme, each plot has a table of its figures, and foreign strings are escaped.
"""

from __future__ import annotations

import math
from html import escape

from benchmarks.harness.figures import Measurement, Ratio, quartiles, shown
from benchmarks.harness.promises import judge_all
from benchmarks.harness.report import CaseRun, Report, own_side
from benchmarks.harness.svg import Point, RatioRow, curve_plot, ratio_plot

_SERIES = {  # light and dark; contrast of at least 4.5 to 1
    "s0": ("#0b5fa5", "#6cb6ff"),
    "s1": ("#b93a0a", "#ff9d6b"),
    "s2": ("#15743a", "#6fdc95"),
    "s3": ("#7422c0", "#cba6ff"),
    "s4": ("#8a5a00", "#e3bd4f"),
    "s5": ("#b0175a", "#ff8fc3"),
    "s6": ("#0b6b80", "#62d3e6"),
    "s7": ("#555c66", "#a9b1bc"),
    "s8": ("#4a6b0c", "#b4d455"),
    "s9": ("#8f1d38", "#ff9aa8"),
    "s10": ("#5b4636", "#cdb49f"),
}

_STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --soft: #5a626c; --line: #d9dee4; --warn: #fff4d6;
  LIGHT }
@media (prefers-color-scheme: dark) { :root { --back: #14171b; --text: #e8eaed; --soft: #a0a8b2; --line: #353b43;
  --warn: #3a3013; DARK } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 980px; padding: 24px 20px 64px; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 26px; margin: 0 0 4px } h2 { font-size: 19px; margin: 40px 0 6px; border-top: 1px solid var(--line);
  padding-top: 18px } h3 { font-size: 15px; margin: 18px 0 4px }
p { margin: 6px 0 } .soft { color: var(--soft) } code { font: 13px ui-monospace, monospace }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 12px 0 }
dt { color: var(--soft) } dd { margin: 0; overflow-wrap: anywhere }
.warn { background: var(--warn); border-radius: 6px; padding: 8px 14px; margin: 12px 0 } .warn ul { margin: 4px 0;
  padding-left: 20px }
.wide { overflow-x: auto } svg { display: block; max-width: 100%; height: auto; min-width: 640px; margin: 8px 0 }
svg text { font: 12px system-ui, sans-serif; fill: var(--text) } svg .tick { font-size: 11px; fill: var(--soft) }
svg .label { font-weight: 500 } svg .side { font-size: 11.5px; fill: var(--c) } svg .grid { stroke: var(--line); stroke-width: 1 }
svg .even { stroke: var(--soft); stroke-width: 1.5 } svg .bar { stroke: var(--c); stroke-width: 1.6; opacity: .8 }
svg .mark { fill: var(--c) } svg .stroke { stroke: var(--c); stroke-width: 2; fill: none }
svg .curve { stroke: var(--c); stroke-width: 1.8; fill: none } svg .curve.s0 { stroke-width: 3 }
svg .lead { stroke: var(--c); stroke-width: .7; opacity: .5 }
table { border-collapse: collapse; width: 100%; font-size: 13px; margin: 8px 0; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); vertical-align: top }
th { color: var(--soft); font-weight: 500 } td.n, th.n { text-align: right; white-space: nowrap }
td.why { color: var(--soft); min-width: 12em } details summary { cursor: pointer; color: var(--soft); margin: 6px 0 }
nav { columns: 2; font-size: 14px } nav a { display: block } a { color: var(--c, #0b5fa5) }
@media (prefers-color-scheme: dark) { a { color: #6cb6ff } }
"""

_AXIS = {"ms": "milliseconds", "MB": "MB", "instructions": "instructions"}


def style_sheet() -> str:
    """Return the page's CSS."""

    def variables(theme: int) -> str:
        return " ".join(f"--{name}: {colours[theme]};" for name, colours in _SERIES.items())

    classes = "\n".join(f".{name} {{ --c: var(--{name}) }}" for name in _SERIES)
    return _STYLE.replace("LIGHT", variables(0)).replace("DARK", variables(1)) + classes


def page(report: Report) -> str:
    """Return the whole page."""
    title = f"Benchmarks of cdpengine, {report.began}"
    parts = [
        "<!doctype html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<style>{style_sheet()}</style></head><body><main>",
        _head(report),
        _overview(report),
        *(_case(report, case) for case in report.cases),
        _promises(report),
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"


def _head(report: Report) -> str:
    lines = report.machine.lines()
    peers = "; ".join(
        f"{peer.name} {peer.version}" + (f" (by {peer.attached})" if peer.attached else "")
        for peer in report.peers
        if not peer.cannot
    )
    if peers:
        lines.append(("peers", peers))
    lines += [(f"no {peer.name}", peer.cannot) for peer in report.peers if peer.cannot]
    noises = "; ".join(f"{name}: {value:.1%}" for name, value in report.noises() if math.isfinite(value))
    if noises:
        lines.append(("noise", f"{noises} (quartiles of equal things, over their median)"))
    loads = [f"{load.average:.1f}" for load in (report.before, report.after) if load.average is not None]
    if loads:
        lines.append(("load", f"{', then '.join(loads)}, over a minute"))
    listed = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in lines)
    warnings = "".join(f"<li>{escape(text)}</li>" for text in report.warnings())
    care = (
        f'<div class="warn"><strong>To be read with care</strong><ul>{warnings}</ul></div>'
        if warnings
        else ""
    )
    quick = " A quick run: fewer and shorter turns." if report.quick else ""
    return (
        f"<h1>Benchmarks</h1><p class=soft>Taken on {escape(report.began)} by <code>{escape(report.command)}</code>"
        f" in {report.seconds / 60:.1f} minutes.{quick}</p><dl>{listed}</dl>{care}"
        "<p>All sides drive the same browser with the same flags on the same pages, and take turns in one run. A ratio"
        " says how many times better the engine is: above 1 it takes less time, or does more in the same time. The dot"
        " is the median over the rounds, the bar reaches from the first quartile to the third. The floor is the least"
        " code that can do the same: nothing can be much better than that.</p>"
    )


def overview_picture(report: Report) -> str:
    """Return the plot of all figures compared with Playwright as a file, or "" without figures."""
    return _alone(_overview_plot(report))


def curve_pictures(report: Report, case: CaseRun) -> list[tuple[str, str]]:
    """Return the curves of a case as files, each with its title."""
    found = report.of_case(case.name)
    titles = dict.fromkeys(each.curve for each in found if each.curve)
    plots = [
        (title, _curve_plot([each for each in found if each.curve == title], title, f"{case.name}-{number}"))
        for number, title in enumerate(titles)
    ]
    return [(title, _alone(plot)) for title, plot in plots if plot]


def _alone(plot: str) -> str:
    """Return a plot with an embedded style, for use as a file."""
    # It has a background, because the surrounding page may be light while the reader's theme is dark.
    style = f"<style>{style_sheet()}\nsvg {{ background: var(--back); margin: 0; min-width: 0 }}</style>"
    return plot.replace(">", f">{style}", 1) + "\n" if plot else ""


def _overview_plot(report: Report) -> str:
    rows = []
    for each in report.measurements:
        against = [(side, ratio) for side, ratio in _ratios(each) if side == "playwright"]
        if against:
            rows.append(RatioRow(each.name, tuple(against)))
    return (
        ratio_plot(rows, "The engine beside Playwright, all figures", "overview", alone=True) if rows else ""
    )


def _overview(report: Report) -> str:
    links = "".join(
        f'<a href="#{escape(case.name)}">{escape(case.title)}</a>' for case in report.cases if case.name
    )
    plot = _overview_plot(report)
    told = "<h2>Beside Playwright, all figures</h2>" + f'<div class="wide">{plot}</div>' if plot else ""
    return f"<nav>{links}</nav>{told}"


def _ratios(measurement: Measurement) -> list[tuple[str, Ratio]]:
    ours = own_side(measurement)
    found = []
    for side in measurement.sides:
        if not ours or side.side == ours:
            continue
        ratio = measurement.ratio(side.side, ours)
        if ratio is not None:
            found.append((side.side, ratio))
    return found


def _case(report: Report, case: CaseRun) -> str:
    found = report.of_case(case.name)
    parts = [f'<h2 id="{escape(case.name)}">{escape(case.title)}</h2>']
    if case.failure:
        parts.append(f'<p class="warn"><strong>Failed:</strong> {escape(case.failure)}</p>')
    rows = [RatioRow(each.variant or each.case, tuple(_ratios(each))) for each in found]
    if any(row.ratios for row in rows):
        plot = ratio_plot(rows, f"{case.title}: how many times better the engine is", f"{case.name}-ratios")
        parts.append(f'<div class="wide">{plot}</div>')
    for number, curve in enumerate(dict.fromkeys(each.curve for each in found if each.curve)):
        parts.append(_curve([each for each in found if each.curve == curve], curve, f"{case.name}-{number}"))
    parts.append(_table(found) if found else "<p>Nothing was measured.</p>")
    return "\n".join(parts)


def _curve_plot(measurements: list[Measurement], curve: str, name: str) -> str:
    curves: dict[str, list[Point]] = {}
    for each in measurements:
        for side in each.sides:
            if each.size is None or each.size <= 0 or not side.measured or side.median <= 0:
                continue
            low, high = quartiles(side.medians)
            curves.setdefault(side.side, []).append(Point(each.size, side.median, low, high))
    if not any(len(points) > 1 for points in curves.values()):
        return ""
    unit = measurements[0].unit
    return curve_plot(curves, curve, curve, _AXIS.get(unit, unit), name)


def _curve(measurements: list[Measurement], curve: str, name: str) -> str:
    plot = _curve_plot(measurements, curve, name)
    if not plot:
        return ""
    better = "lower" if measurements[0].less_is_better else "higher"
    return f'<h3>{escape(curve)}</h3><p class="soft">{better} is better</p><div class="wide">{plot}</div>'


def _table(measurements: list[Measurement]) -> str:
    lines = []
    for each in measurements:
        ours = own_side(each)
        first = each.variant or each.case
        for side in each.sides:
            what, first = first, ""
            name = f"<td>{escape(what)}</td><td>{escape(side.side)}</td>"
            if not side.measured:
                reason = f"cannot: {side.cannot}" if side.cannot else "not measured"
                lines.append(
                    f'<tr>{name}<td></td><td></td><td></td><td></td><td class="why">{escape(reason)}</td></tr>'
                )
                continue
            ratio = each.ratio(side.side, ours) if ours and side.side != ours else None
            told = "" if ratio is None else str(ratio)
            lines.append(
                f'<tr>{name}<td class="n">{shown(side.median)}</td><td class="n">{shown(each.p95(side.side))}</td>'
                f'<td>{escape(each.unit)}</td><td class="n">{told}</td><td class="why">{escape(side.note)}</td></tr>'
            )
    heads = (
        "<tr><th>figure</th><th>side</th><th class=n>median</th><th class=n>p95</th><th>unit</th>"
        "<th class=n>engine better by</th><th></th></tr>"
    )
    return f'<details open><summary>The figures</summary><div class="wide"><table>{heads}{"".join(lines)}</table></div></details>'


def _promises(report: Report) -> str:
    lines = "".join(
        f"<tr><td>{escape(verdict.promise.text)}</td>"
        f"<td>{escape(verdict.state) if verdict.state == 'holds' else f'<strong>{escape(verdict.state)}</strong>'}</td>"
        f"<td>{escape(verdict.figure)}</td></tr>"
        for verdict in judge_all(report)
    )
    if not lines:
        return ""
    heads = "<tr><th>promised</th><th></th><th>measured</th></tr>"
    return f'<h2 id="promises">What is promised</h2><div class="wide"><table>{heads}{lines}</table></div>'
