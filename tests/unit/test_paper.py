"""The options of a PDF as Chrome's parameters: units, papers, margins, pages; and impossible values."""

from __future__ import annotations

import pytest

from cdpengine._pictures.pdf import PAPERS, PdfOptions, inches, print_params
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (96, 1),
        (0, 0),
        (48.0, 0.5),
        ("1in", 1),
        ("2.54cm", 1),
        ("25.4 mm", 1),
        ("72pt", 1),
        ("96px", 1),
        (".5IN", 0.5),
    ],
)
def test_lengths_have_units(length: float | str, expected: float) -> None:
    assert inches(length, "margin") == pytest.approx(expected)


@pytest.mark.parametrize(
    "length", ["", "1", "1em", "-1cm", "cm", "1 0cm", -1, float("nan"), float("inf"), True, None]
)
def test_invalid_lengths_are_refused(length: object) -> None:
    with pytest.raises(InvalidArgumentError, match="margin"):
        inches(length, "margin")  # type: ignore[arg-type]


def test_omitted_options_use_the_defaults_of_chrome() -> None:
    params = print_params({})
    assert (params["paperWidth"], params["paperHeight"]) == (8.5, 11)
    assert {params[f"margin{side}"] for side in ("Top", "Right", "Bottom", "Left")} == {1 / 2.54}
    assert params["printBackground"] is True
    assert params["transferMode"] == "ReturnAsStream"
    assert not {"pageRanges", "displayHeaderFooter", "generateTaggedPDF", "generateDocumentOutline"} & set(
        params
    )


def test_every_option_reaches_chrome() -> None:
    params = print_params(
        {
            "paper": "A4",
            "margin": {"top": "1in", "left": 48},
            "landscape": True,
            "background": False,
            "scale": 0.5,
            "pages": "1-3, 5, 8-, -2",
            "header": "<b class=title></b>",
            "css_page_size": True,
            "tagged": False,
            "outline": True,
        }
    )
    assert params["paperWidth"] == pytest.approx(8.27, abs=0.01)
    assert [params[f"margin{side}"] for side in ("Top", "Right", "Bottom", "Left")] == [
        1,
        1 / 2.54,
        1 / 2.54,
        0.5,
    ]
    assert (params["landscape"], params["printBackground"], params["scale"]) == (True, False, 0.5)
    assert params["pageRanges"] == "1-3, 5, 8-, -2"
    assert params["displayHeaderFooter"] is True
    assert params["headerTemplate"] == "<b class=title></b>"
    assert params["footerTemplate"] == "<span></span>"
    assert (params["preferCSSPageSize"], params["generateTaggedPDF"]) == (True, False)
    assert params["generateDocumentOutline"] is True


@pytest.mark.parametrize("paper", [*PAPERS, "A4", ("10cm", "20cm"), [300, 400]])
def test_papers(paper: object) -> None:
    params = print_params({"paper": paper})  # type: ignore[typeddict-item]
    assert params["paperWidth"]
    assert params["paperHeight"]


def test_margins_by_number_of_lengths() -> None:
    def sides(margin: object) -> list[object]:
        params = print_params({"margin": margin})  # type: ignore[typeddict-item]
        return [params[f"margin{side}"] for side in ("Top", "Right", "Bottom", "Left")]

    assert sides(0) == [0] * 4
    assert sides("1in") == [1] * 4
    assert sides(("1in", 0)) == [1, 0, 1, 0]
    assert sides([96, 48, 24, 0]) == [1, 0.5, 0.25, 0]


@pytest.mark.parametrize(
    "options",
    [
        {"paper": "A9"},
        {"paper": (0, 10)},
        {"paper": ("1cm",)},
        {"paper": 4},
        {"margin": "6in"},
        {"margin": (1, 2, 3)},
        {"margin": {"middle": 1}},
        {"margin": None},
        {"scale": 0.05},
        {"scale": 3},
        {"scale": "1"},
        {"pages": ""},
        {"pages": "3-1"},
        {"pages": "0"},
        {"pages": "a"},
        {"pages": "1,,2"},
        {"pages": "-"},
        {"pages": 3},
        {"colour": True},
    ],
)
def test_impossible_prints_are_refused(options: PdfOptions) -> None:
    with pytest.raises(InvalidArgumentError):
        print_params(options)
