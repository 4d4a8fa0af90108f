"""The benchmarks' report: stored as JSON, rendered as Markdown and as a page; no foreign string can break it."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import attrs
import pytest
from benchmark_reports import HOSTILE, report, side

from benchmarks.harness.blocks import (
    BLOCKS,
    CACHE,
    MCP,
    README,
    SHELL,
    SIZING,
    Block,
    block_of,
    missing,
    put_block,
)
from benchmarks.harness.figures import Measurement
from benchmarks.harness.front import FIGURES, front_chart, front_rows
from benchmarks.harness.machine import Load, busy, processor_name, stolen_seconds
from benchmarks.harness.markdown import safe, summary_measurements, whole
from benchmarks.harness.plots import page
from benchmarks.harness.report import CaseRun, Report, from_json, own_side, side_names, to_json
from benchmarks.harness.summary import pictures, summary
from benchmarks.harness.svg import Point, RatioRow, curve_plot, ratio_plot, spread_out, styles

ROOT = Path(__file__).parents[2]
VOID = {"meta", "line", "circle", "polygon", "path", "br"}


class Checked(HTMLParser):
    """Reads a page, and fails at an element that is closed out of order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base class's name
        self.seen.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the base class's name
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(text: str) -> Checked:
    checked = Checked()
    checked.feed(text)
    checked.close()
    assert not checked.open
    return checked


# --- JSON
# -------------------------------------------------------------------------------------------------------


def test_a_report_survives_a_json_round_trip() -> None:
    assert from_json(to_json(report())) == report()


def test_json_has_six_digits_of_each_value_and_a_line_for_each_measurement() -> None:
    made = report(Measurement("a", unit="ms", sides=(side("engine", 1 / 3, 123456.789),)))
    text = to_json(made)
    assert b"0.333333]" in text
    assert b"[123457.0]" in text
    assert len([line for line in to_json(report()).splitlines() if b'"sides"' in line]) == 4


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"began": 1}', to_json(attrs.evolve(report(), format=9))]
)
def test_invalid_reports_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"not a report|format 9"):
        from_json(text)


# --- caveats
# ----------------------------------------------------------------------------------------------------


def test_a_quiet_run_has_no_warning() -> None:
    assert report().warnings() == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"bare": (0.1, 0.2, 0.3)}, "bare round trip"),
        ({"before": Load(3.0, 1.0)}, "load was 3.0"),
        ({"after": Load(1.0, 40.0)}, "taken by others"),
        ({"cases": (CaseRun("click", "Click", 1.0, "it fell"),)}, "click failed: it fell"),
    ],
)
def test_noise_load_and_failures_are_reported(changed: dict[str, object], words: str) -> None:
    (warning,) = attrs.evolve(report(), **changed).warnings()  # type: ignore[arg-type]
    assert words in warning


@pytest.mark.parametrize(
    ("average", "cores", "words"),
    [
        (1.0, 2, ""),
        (1.01, 2, "the load was 1.0 on 2 cores before the run began"),
        (1.01, 3, ""),
        (0.6, 1, "the load was 0.6 on 1 cores before the run began"),
        (None, 2, ""),
    ],
)
def test_a_machine_is_busy_above_half_a_core_each(average: float | None, cores: int, words: str) -> None:
    assert busy(Load(average), cores) == words


def test_an_uneven_figure_is_named() -> None:
    uneven = Measurement("click", "twice", unit="ms", sides=(side("engine", 1),), reference=(3, 4, 5, 3, 6))
    warnings = " ".join(report(uneven).warnings())
    assert "1 of 1 figures: click: twice" in warnings
    assert "fixed piece of arithmetic" in warnings


def test_the_reference_side() -> None:
    both = Measurement("a", unit="ms", sides=(side("engine: scratch", 1), side("engine", 2)))
    assert own_side(both) == "engine"
    other = Measurement("a", unit="ms", sides=(side("engine", cannot="no"), side("engine: scratch", 2)))
    assert own_side(other) == "engine: scratch"
    assert own_side(Measurement("a", unit="ms", sides=(side("playwright", 1),))) == ""
    assert side_names([report().measurements[0], both]) == [
        "engine", "engine: scratch", "floor: pipe", "playwright", "pydoll",
    ]  # fmt: skip


def test_the_machine_is_described_from_proc() -> None:
    assert processor_name("processor: 0\nmodel name\t: Some  Chip\n") == "Some Chip"
    assert processor_name("") == ""
    assert stolen_seconds("cpu  1 2 3 4 5 6 7 250 0 0\ncpu0 1") == 2.5
    assert stolen_seconds("") is None


# --- Markdown -----------------------------------------------------------------------------------------------------


def test_every_table_row_keeps_its_columns_with_any_output_of_a_peer() -> None:
    tables = [line for line in whole(report()).splitlines() if line.startswith("|")]
    for line in tables:
        assert len(re.findall(r"(?<!\\)\|", line)) in (4, 8)
    assert "<script" not in whole(report()).replace(r"\<script", "")


def test_the_ratio_and_the_reason_are_in_the_table() -> None:
    text = whole(report())
    assert "| playwright | ms | 30.0 | 40.0 | 6.00 (4.00 to 8.00) |" in text
    assert "| pydoll |  |  |  |  | cannot: no " in text
    assert "1.5 min" in text


def test_safe_keeps_to_one_line_and_a_length() -> None:
    assert "\n" not in safe(HOSTILE)
    assert "\x1b" not in safe(HOSTILE)
    assert len(safe("x" * 500, 100)) == 100


def test_the_summary_has_the_ends_of_a_curve_and_its_peers() -> None:
    alone = Measurement("own", unit="ms", sides=(side("engine", 1), side("engine: scratch", 2)))
    made = report(*report().measurements, alone)
    assert [each.name for each in summary_measurements(made)] == [
        "click: once",
        "rate: 1 pages",
        "rate: 50 pages",
    ]
    text = summary(made, "plots")
    assert "30.0: 6.00 (4.00 to 8.00)" in text
    assert "by `python -m benchmarks` in 1.5 min" in text
    assert (
        re.findall(r"\]\(plots/([^)]+)\)", text)
        == list(pictures(made))
        == ["front.svg", "overview.svg", "rate-0.svg"]
    )
    assert "<script" not in text.replace(r"\<script", "")


def test_a_plot_of_the_summary_is_a_self_contained_file() -> None:
    for _, picture in pictures(report()).values():
        root = ET.fromstring(picture)
        assert root[0].tag.endswith("style")
        assert "--s0:" in (root[0].text or "")
        assert not re.search(r"href|url\(|@import", picture)


def test_the_readme_has_a_table_of_the_measured_tools_and_a_chart() -> None:
    named = attrs.evolve(report().measurements[0], case="actions", variant="click")
    text = put_block(f"{README.begin}\n{README.end}", report(named))
    assert text.startswith(README.begin)
    assert text.endswith(README.end)
    (line,) = (each for each in text.splitlines() if each.startswith("| Click"))
    assert line == "| Click | **5.00 ms** | 30.0 ms |  |  |  |"
    assert "](docs/benchmarks/front.svg)" in text
    assert "Playwright 30.0 ms" in front_chart(front_rows(report(named)))


def test_the_readme_repeats_the_figures_of_the_benchmark_page() -> None:
    page = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    chart = (ROOT / "docs/benchmarks/front.svg").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for figure in FIGURES:
        name = re.escape(figure.figure.replace("_", "\\_"))
        (row,) = re.findall(rf"^\| {name} \|(.*)\|$", page.partition("## All figures")[2], re.MULTILINE)
        unit, engine, _, playwright, puppeteer, _, nodriver, *_ = (cell.strip() for cell in row.split("|"))
        cells = re.findall(rf"^\| {figure.title} \|(.*)\|$", readme, re.MULTILINE)[0].split("|")
        for expected, cell in zip((engine, playwright, puppeteer, nodriver), cells, strict=False):
            number = re.split(r"[ :]", expected)[0]
            assert cell.strip(" *") == ("cannot" if number == "cannot" else f"{number} {unit}"), figure
            assert not figure.drawn or number in chart


def sized(**medians: float) -> Report:
    """Return a report of the engine's pool figures in three equal rounds."""
    return report(
        *(
            attrs.evolve(
                report().measurements[0], case=case, variant=variant, sides=(side("engine", *[value] * 3),)
            )
            for name, value in medians.items()
            for case, _, variant in [SIZING.figures[("browser", "page", "job").index(name)].partition(": ")]
        )
    )


def test_the_page_capacity_of_a_machine_is_computed_from_the_run() -> None:
    text = put_block(f"{SIZING.begin}\n{SIZING.end}", sized(browser=210, page=10, job=125))
    cores = report().machine.cores
    assert "| pages of one browser per GB | 82 |" in text
    assert "ten pages in parallel | 8.00 |" in text
    assert f"| jobs per second and core | {8 / cores:.2f} |" in text


def test_the_tables_of_servers_and_commands_have_figures_and_ratios_of_the_run() -> None:
    made = report(
        attrs.evolve(
            report().measurements[0],
            case="mcp",
            variant="click, 10 rows",
            sides=(side("engine", 10.0), side("playwright-mcp", 25.0), side("chrome-devtools-mcp", 5.0)),
        ),
        attrs.evolve(
            report().measurements[0],
            case="shell",
            variant="click",
            sides=(side("engine", 20.0), side("agent-browser", 10.0)),
        ),
    )
    assert "| click | 10.0 ms: 2.50, 0.50 | not measured |" in put_block(f"{MCP.begin}\n{MCP.end}", made)
    table = put_block(f"{SHELL.begin}\n{SHELL.end}", made)
    assert "| a click by ref, without a pause before the command | 20.0 ms | 0.50 |" in table


def test_the_table_of_replays_has_the_cost_of_each_way() -> None:
    made = report(
        attrs.evolve(
            report().measurements[0],
            case="cached_flow",
            variant="6 steps on 100 rows",
            sides=(
                side("engine", 20.0),
                side("engine: fresh snapshots", 50.0),
                side("floor: nothing is read", 10.0),
            ),
        )
    )
    table = put_block(f"{CACHE.begin}\n{CACHE.end}", made)
    assert "| 100 | 20.0 | not measured | 10.0 (0.50) | not measured | 50.0 (2.50) | not measured |" in table
    assert "| 10 | not measured |" in table


@pytest.mark.parametrize("block", BLOCKS, ids=["readme", "sizing", "servers", "shell", "activity", "replays"])
def test_only_the_block_is_replaced(block: Block) -> None:
    document = f"before\n{block.begin}\nold\n{block.end}\nafter\n"
    once = put_block(document, report())
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "old" not in once
    assert put_block(once, report()) == once
    assert block_of(document) is block


def test_a_run_without_the_figures_of_a_block_names_them() -> None:
    document = f"{SIZING.begin}\n{SIZING.end}"
    assert missing(sized(browser=210, page=10), document) == [SIZING.figures[2]]
    assert not missing(sized(browser=210, page=10, job=125), document)


@pytest.mark.parametrize("block", BLOCKS, ids=["readme", "sizing", "servers", "shell", "activity", "replays"])
@pytest.mark.parametrize("document", ["", "{0}", "{1}{0}", "{0}{1}{0}{1}"])
def test_a_document_without_both_markers_is_refused(document: str, block: Block) -> None:
    with pytest.raises(ValueError, match="markers|two lines"):
        put_block(document.format(block.begin, block.end), report())


# --- the page -----------------------------------------------------------------------------------------------------


def test_the_page_is_complete_self_contained_and_without_scripts() -> None:
    text = page(report(cases=None))
    checked = read(text)
    assert "script" not in checked.seen
    assert not re.search(r"(src|href)=\"?(?!#)[a-z]", text)
    assert "url(" not in text
    assert HOSTILE.split("\n")[0] in checked.text
    assert "6.00 (4.00 to 8.00)" in checked.text
    assert "prefers-color-scheme: dark" in text


def test_every_picture_has_its_own_title_and_description() -> None:
    text = page(report())
    pictures = re.findall(r"<svg .*?</svg>", text, re.DOTALL)
    assert len(pictures) == 4  # all figures, the ratios of both cases, and the curve
    names = []
    for picture in pictures:
        root = ET.fromstring(picture)
        label_ids = root.attrib["aria-labelledby"].split()
        found = {each.attrib["id"]: each.text for each in root if "id" in each.attrib}
        assert all(found[name] for name in label_ids)
        names += label_ids
    assert len(names) == len(set(names))


def test_a_failed_case_and_one_without_figures_are_reported() -> None:
    made = report(cases=(CaseRun("click", "Click", 1.0, "it <fell>"), CaseRun("none", "None", 1.0)))
    text = read(page(made)).text
    assert "Failed: it <fell>" in text
    assert "Nothing was measured." in text


def test_ratios_are_drawn_on_both_sides_of_one() -> None:
    first, second = (
        report().measurements[0].ratio("playwright", "engine"),
        report().measurements[0].ratio("floor: pipe", "engine"),
    )
    assert first is not None
    assert second is not None
    root = ET.fromstring(ratio_plot([RatioRow("a", (("playwright", first), ("floor", second)))], "t", "n"))
    even = next(each for each in root if each.attrib.get("class") == "even")
    square = next(each for each in root if each.tag.endswith("polygon"))
    line = float(even.attrib["x1"])
    assert float(square.attrib["points"].split(",")[0]) > line
    circle = next(each for each in root if each.tag.endswith("circle"))
    assert float(circle.attrib["cx"]) < line


def test_a_curve_has_a_mark_at_each_point_and_a_name_at_its_end() -> None:
    points = [Point(1, 10, 9, 11), Point(10, 100, 90, 110)]
    root = ET.fromstring(curve_plot({"engine": points, "playwright": points}, "t", "x", "y", "n"))
    texts = [each.text for each in root if each.tag.endswith("text")]
    assert {"engine", "playwright"} <= set(texts)
    assert len([each for each in root if each.tag.endswith("circle")]) == 2
    assert len([each for each in root if each.tag.endswith("polygon")]) == 2


def test_labels_do_not_cover_each_other() -> None:
    placed = spread_out([10.0, 10.5, 11.0, 80.0], 13.0)
    assert all(after - before >= 13 - 1e-9 for before, after in itertools.pairwise(placed))
    assert placed[-1] == 80
    assert sum(placed[:3]) == pytest.approx(31.5)  # close to their preferred positions
    assert spread_out([], 13.0) == []


def test_each_side_looks_different() -> None:
    names = ["engine", "playwright", "puppeteer", "selenium", "nodriver", "zendriver", "pydoll"]
    others = ["engine: scratch", "floor: websocket", "floor: socket", "floor: pipe"]
    looks = styles([*names, *others])
    assert len(set(looks.values())) == len(looks)
    assert styles(["pydoll"])["pydoll"] == looks["pydoll"]
