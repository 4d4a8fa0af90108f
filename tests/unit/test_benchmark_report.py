"""The benchmarks' report: stored as JSON, rendered as Markdown and a chart; no foreign string can break it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import attrs
import pytest
from benchmark_reports import HOSTILE, report, side

from benchmarks.__main__ import main, parser, why_not_published
from benchmarks.harness.documents import BLOCKS, Block, page, publish
from benchmarks.harness.figures import Measurement
from benchmarks.harness.front import DRAWN, FIGURES, front_chart
from benchmarks.harness.machine import busy
from benchmarks.harness.report import CaseRun, Report, from_json, to_json
from benchmarks.harness.tables import safe, whole

ROOT = Path(__file__).parents[2]


def test_a_report_survives_a_json_round_trip() -> None:
    assert from_json(to_json(report())) == report()


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"began": 1}'])
def test_invalid_reports_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match="not a report"):
        from_json(text)


# --- caveats ------------------------------------------------------------------------------------------------------


def test_a_quiet_run_has_no_warning() -> None:
    assert report().warnings() == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"before": 3.0}, "load was 3.0"),
        ({"cases": (CaseRun("click", "Click", 1.0, "it fell"),)}, "click failed: it fell"),
    ],
)
def test_load_and_failures_are_reported(changed: dict[str, object], words: str) -> None:
    (warning,) = attrs.evolve(report(), **changed).warnings()  # type: ignore[arg-type]
    assert words in warning


@pytest.mark.parametrize(
    ("average", "cores", "is_busy"), [(1.0, 2, False), (1.01, 2, True), (1.01, 3, False), (None, 2, False)]
)
def test_a_machine_is_busy_above_half_a_core_each(average: float | None, cores: int, is_busy: bool) -> None:
    assert bool(busy(average, cores)) is is_busy


@pytest.mark.parametrize(
    ("options", "published"),
    [
        (["--publish"], True),
        (["--json", "a.json"], False),
        (["--publish", "--under-load"], False),
        (["--publish", "--from", "a.json"], False),
    ],
)
def test_measurements_on_a_busy_machine_are_not_published(
    monkeypatch: pytest.MonkeyPatch, options: list[str], published: bool
) -> None:
    made = parser().parse_args(options)
    monkeypatch.setattr("benchmarks.__main__.look_at_load", lambda: 200.0)
    assert bool(why_not_published(made)) is published
    monkeypatch.setattr("benchmarks.__main__.look_at_load", lambda: 0.0)
    assert not why_not_published(made)


def test_a_failed_case_is_the_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = report()
    failed = attrs.evolve(made, cases=(attrs.evolve(made.cases[0], failure="it fell"),))
    (tmp_path / "a.json").write_bytes(to_json(failed))
    assert main(["--from", str(tmp_path / "a.json")]) == 1
    assert "it fell" in capsys.readouterr().err


# --- tables -------------------------------------------------------------------------------------------------------


def test_the_reference_side() -> None:
    both = Measurement("a", unit="ms", sides=(side("engine: scratch", 1), side("engine", 2)))
    assert both.own_side == "engine"
    other = Measurement("a", unit="ms", sides=(side("engine", cannot="no"), side("engine: scratch", 2)))
    assert other.own_side == "engine: scratch"
    assert Measurement("a", unit="ms", sides=(side("playwright", 1),)).own_side == ""


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


def test_the_page_has_all_figures_with_a_peer_and_the_reasons() -> None:
    alone = Measurement("own", unit="ms", sides=(side("engine", 1), side("engine: scratch", 2)))
    text = page(report(*report().measurements, alone))
    assert "| click: once | ms | 5.00 (p95 5.00) | 2.00: 0.40 (0.40 to 0.50) pipe | 30.0: 6.00" in text
    assert all(f"| rate: {size} pages |" in text for size in (1, 10, 50))
    assert "| own |" not in text
    assert "by `python -m benchmarks` in 1.5 min" in text
    assert "<script" not in text.replace(r"\<script", "")


# --- published documents ------------------------------------------------------------------------------------------


def test_a_chart_is_a_self_contained_file_for_both_themes() -> None:
    picture = front_chart(report())
    root = ET.fromstring(picture)
    assert root[0].tag.endswith("style")
    assert "prefers-color-scheme:dark" in (root[0].text or "").replace(" ", "")
    assert not re.search(r"href|url\(|@import", picture)


def complete() -> Report:
    """Return a report with the figures of all blocks, equal on all sides that their tables show."""
    sides = ("engine", "playwright", "chrome-devtools-mcp", "agent-browser", "engine: fresh snapshots")
    return report(
        *(
            Measurement(case, variant, unit="ms", sides=tuple(side(name, 8.0) for name in sides))
            for case, _, variant in dict.fromkeys(
                name.partition(": ") for block in BLOCKS.values() for name in block.figures
            )
        )
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("README.md", "| Click | **8.00 ms** | 8.00 ms |  |  | 8.00 ms |"),
        ("docs/deployment.md", "| jobs per second (`R`), ten pages in parallel | 125 |"),
        ("docs/deployment.md", "| pages of one browser per GB | 128 |"),
        ("docs/mcp.md", "| click | 8.00 ms: 1.00 | 8.00 ms: 1.00 |"),
        ("docs/shell.md", "| the same after a pause | 8.00 ms | 1.00 |"),
        ("docs/activity.md", "- Console messages, read from a stream: **8.00 ms**; others: playwright 8.00,"),
        ("docs/cache.md", "| 100 | 8.00 | not measured | not measured | not measured | 8.00 (1.00) |"),
    ],
)
def test_a_block_has_the_figures_of_the_run(name: str, line: str) -> None:
    text = BLOCKS[name].put((ROOT / name).read_text("utf-8"), complete())
    assert f"\n{line}" in text


@pytest.mark.parametrize("block", BLOCKS.values(), ids=list(BLOCKS))
def test_only_the_block_is_replaced(block: Block) -> None:
    begin = f"<!-- benchmarks: {block.name}; written by `make bench`, do not edit -->"
    document = f"before\n{begin}\nold\n<!-- benchmarks: end of {block.name} -->\nafter\n"
    once = block.put(document, complete())
    assert once.startswith("before\n")
    assert once.endswith("\nafter\n")
    assert "old" not in once
    assert block.put(once, complete()) == once
    for broken in ("nothing", document + document, document.replace(begin, "")):
        with pytest.raises(ValueError, match="once each and in this order"):
            block.put(broken, complete())


def test_a_run_without_all_figures_leaves_a_block_unchanged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "docs").mkdir()
    for name in BLOCKS:
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"))
    without = attrs.evolve(complete(), measurements=complete().measurements[1:])
    publish(without, tmp_path)
    said = capsys.readouterr().err
    assert (tmp_path / "README.md").read_text() == (ROOT / "README.md").read_text("utf-8")
    assert f"left README.md as it is: this run has no figure of {next(iter(FIGURES))}" in said
    assert "wrote docs/mcp.md" in said
    drawn = re.findall(r"\]\(benchmarks/([^)]+)\)", (tmp_path / "docs/benchmarks.md").read_text())
    assert sorted(drawn) == sorted(path.name for path in (tmp_path / "docs/benchmarks").iterdir())


def test_the_readme_repeats_the_figures_of_the_benchmark_page() -> None:
    text = (ROOT / "docs/benchmarks.md").read_text("utf-8")
    chart = (ROOT / "docs/benchmarks/front.svg").read_text("utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    for figure, title in list(FIGURES.items())[:-1]:
        name = re.escape(figure.replace("_", "\\_"))
        (row,) = re.findall(rf"^\| {name} \|(.*)\|$", text.partition("## All figures")[2], re.MULTILINE)
        unit, engine, _, playwright, puppeteer, _, nodriver, *_ = (cell.strip() for cell in row.split("|"))
        cells = re.findall(rf"^\| {title} \|(.*)\|$", readme, re.MULTILINE)[0].split("|")
        for expected, cell in zip((engine, playwright, puppeteer, nodriver), cells, strict=False):
            number = re.split(r"[ :]", expected)[0]
            assert cell.strip(" *") == ("cannot" if number == "cannot" else f"{number} {unit}"), figure
            assert figure not in DRAWN or number in chart
