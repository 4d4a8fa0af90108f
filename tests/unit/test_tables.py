"""Tables in terminals of any width: columns that give way, cut cells, and rows that stay distinguishable."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cdpengine.cli.output import limit, print_table
from cdpengine.shell.tables import Column, fit_middle, lay_out

METHODS = [
    "Page.navigate",
    "Network.requestWillBeSentExtraInfo",
    "Storage.setAttributionReportingLocalTestingMode",
]
LONG = [f"Vendor.{'x' * 90}First", f"Vendor.{'x' * 90}Second", "漢字" * 40]


def columns(names: Sequence[str]) -> list[Column]:
    count = len(names)
    return [
        Column("method", names, figure=False),
        Column("calls", ["1,200"] * count),
        Column("out", ["229.2 kB"] * count, 3),
        Column("p50 ms", ["497.8"] * count, 1),
        Column("p99 ms", ["500.0"] * count, 2),
        Column("open", [""] * count, 1),
    ]


def printed(names: Sequence[str], width: int | None, capsys: pytest.CaptureFixture[str]) -> list[str]:
    print_table(columns(names), width=width, advice="--json shows them")
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("width", [30, 40, 60, 80, 100, 160])
@pytest.mark.parametrize("names", [METHODS, LONG, METHODS + LONG], ids=["methods", "long", "both"])
def test_the_first_column_distinguishes_the_rows_and_no_line_is_wider(
    names: list[str], width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    head, _, *rest = printed(names, width, capsys)
    layout = lay_out(columns(names), width)
    rows = rest[: len(names)]
    assert head.split()[:2] == ["method", "calls"]
    assert all(cell_len(line) <= width for line in [head, *rest])
    assert len({row.split()[0] for row in rows}) == len(names)
    assert layout.cut != "fold"
    assert all("1,200" in row for row in rows)


def test_figures_are_omitted_by_their_rank_and_named(capsys: pytest.CaptureFixture[str]) -> None:
    widths = (100, 80, 70, 60, 50)
    assert [lay_out(columns(METHODS), width).left_out for width in widths] == [
        (),
        (),
        ("out",),
        ("out",),
        ("out", "p99 ms"),
    ]
    assert lay_out(columns(METHODS), 80).widths[0] == max(map(len, METHODS))
    assert printed(METHODS, 60, capsys)[-1] == "omitted at 60 columns: out; --json shows them"


def test_without_a_limit_nothing_is_cut_or_omitted(capsys: pytest.CaptureFixture[str]) -> None:
    head, _, *rows = printed(METHODS + LONG, None, capsys)
    assert head.split() == ["method", "calls", "out", "p50", "ms", "p99", "ms", "open"]
    assert [row.split()[0] for row in rows] == METHODS + LONG


def test_a_column_without_a_value_is_omitted_first() -> None:
    layout = lay_out(columns(METHODS), 80)
    assert [column.name for column in layout.columns] == ["method", "calls", "out", "p50 ms", "p99 ms"]
    assert layout.left_out == ()


def test_names_that_no_cut_can_distinguish_are_folded(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{'a' * 40}{letter}{'b' * 40}" for letter in "xyz"]
    lines = printed(names, 40, capsys)
    assert all(cell_len(line) <= 40 for line in lines)
    assert "".join(line.split()[0] for line in lines[2:-1]).startswith(names[0])


def test_a_table_without_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert len(printed([], 80, capsys)) == 2


@given(st.lists(st.text("ab漢é", min_size=1, max_size=60), unique=True, max_size=8), st.integers(20, 120))
def test_any_texts_in_any_width(names: list[str], width: int) -> None:
    layout = lay_out(columns(names), width)
    assert sum(layout.widths) + 2 * (len(layout.widths) - 1) <= width
    assert [column.name for column in layout.columns][:2] == ["method", "calls"]


@given(st.text("ab漢", max_size=40), st.integers(0, 40))
def test_a_cut_in_the_middle_keeps_both_ends(text: str, width: int) -> None:
    cut = fit_middle(text, width)
    assert cell_len(cut) <= width
    if cell_len(text) <= width:
        assert cut == text
    elif width >= 9:
        head, _, tail = cut.partition("...")
        assert text.startswith(head)
        assert text.endswith(tail)
        assert head
        assert tail


@pytest.mark.parametrize(("given_columns", "expected"), [("", None), ("80", 80), ("0", None), ("wide", None)])
def test_without_a_terminal_only_the_environment_limits(
    given_columns: str, expected: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", given_columns)
    assert limit() == expected
