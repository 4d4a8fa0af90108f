"""The pages for people who come from other tools: their calls exist, and they agree with the errors for newcomers."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from comparison import COMPARISONS, PLAYWRIGHT, Row, faults, has_attribute, is_checked, rows, rows_of

from cdpengine.errors.other_libraries import (
    BROWSER,
    CONTEXT,
    ELEMENT,
    FRAME,
    FRAME_LOCATOR,
    HANDLE,
    LOCATOR,
    PAGE,
)

HINTS = {
    "Page": ("Page", PAGE),
    "Browser": ("Browser", BROWSER),
    "BrowserContext": ("BrowserContext", CONTEXT),
    "Frame": ("Frame", FRAME),
    "FrameLocator": ("FrameLocator", FRAME_LOCATOR),
    "Locator": ("Locator", LOCATOR),
    "ElementHandle": ("FoundNode", ELEMENT),
    "JSHandle": ("JSHandle", HANDLE),
}
"""Sections of the page "Coming from Playwright", and the class and the names of their errors for newcomers."""

OTHER_NAMES = {"childFrames", "is_focused", "parentFrame", "setInputFiles", "waitFor", "wait_for_navigation"}
"""Names that the errors know in addition: of Playwright for JavaScript, older ones, and guesses."""

LEAST_NAMES = {"from-playwright": 500, "from-puppeteer": 30, "from-nodriver": 30, "from-trio-cdp": 10}


def test_calls_that_the_engine_lacks_are_found() -> None:
    assert faults("await page.click(target, force=True)") == []
    assert faults('async with page.expect_popup(url="*/pay") as expected:') == []
    assert faults("page.frames[0].url") == []
    assert faults("browser.new_context(locale=..., frobnicate=1)") == [
        "browser.new_context(locale=..., frobnicate=1): no argument 'frobnicate'"
    ]
    assert faults("page.network.frobnicate()") == ["page.network.frobnicate: Network has no 'frobnicate'"]
    assert faults("page.locate(css).frobnicate()") == [
        "page.locate(css).frobnicate: Locator has no 'frobnicate'"
    ]
    assert faults("page.title(1)") == ["page.title(1): at most 0 positional arguments"]
    assert faults('page.events("popups", "frobnications")') == ["kinds='frobnications': no such choice"]
    assert faults('page.wait_for(ref="e1", state="frobnicated")') == ["state='frobnicated': no such choice"]
    assert faults("cdpengine.Frobnicator") == ["cdpengine.Frobnicator: no such name"]
    assert faults("tab.click()") == ["unknown object 'tab'"]
    assert faults("click the button") != []


def test_rows_have_their_section_and_names() -> None:
    table = "### Page\n\n| a | b |\n| --- | --- |\n| `goto(url)`, `page.title` | `page.goto(url)` or none |\n"
    assert list(rows_of(table)) == [Row("Page", 5, ("`goto(url)`, `page.title`", "`page.goto(url)` or none"))]
    assert next(rows_of(table)).names == ["goto", "title"]
    assert next(rows_of(table)).code == ["page.goto(url)"]


@pytest.mark.parametrize("page", COMPARISONS, ids=lambda page: page.stem)
def test_every_call_in_the_tables_exists(page: Path) -> None:
    found = [
        f"{page.name}:{row.line}: {fault}"
        for row in rows(page)
        for code in row.code
        if is_checked(code)
        for fault in faults(code)
    ]
    assert found == []


@pytest.mark.parametrize("page", COMPARISONS, ids=lambda page: page.stem)
def test_every_row_names_a_call_or_says_none(page: Path) -> None:
    for row in rows(page):
        assert row.names, f"{page.name}:{row.line}: no name in the first column"
        ours = row.cells[1]
        assert ours.startswith(("none", "`")), f"{page.name}:{row.line}: {ours}"
        unchecked = [code for code in Row("", 0, ("", ours)).code if not is_checked(code)]
        assert [code for code in unchecked if not code.startswith("trio.")] == [], f"{page.name}:{row.line}"


@pytest.mark.parametrize("page", COMPARISONS, ids=lambda page: page.stem)
def test_no_name_has_two_rows(page: Path) -> None:
    counted = Counter((row.section, name) for row in rows(page) for name in row.names)
    assert [name for name, count in counted.items() if count > 1] == []
    assert len(counted) >= LEAST_NAMES[page.stem]


def playwright_rows(section: str) -> dict[str, Row]:
    return {name: row for row in rows(PLAYWRIGHT) if row.section == section for name in row.names}


@pytest.mark.parametrize("section", HINTS)
def test_a_name_of_playwright_that_the_engine_lacks_has_an_error_that_names_the_engines_call(
    section: str,
) -> None:
    kind, hints = HINTS[section]
    has_counterpart = {name for name, row in playwright_rows(section).items() if row.cells[1].startswith("`")}
    assert {name for name in has_counterpart if not has_attribute(kind, name)} - set(hints) == set()
    assert {name for name in hints if has_attribute(kind, name)} == set()


@pytest.mark.parametrize("section", HINTS)
def test_no_row_overlooks_an_attribute_of_the_same_name(section: str) -> None:
    without = {name for name, row in playwright_rows(section).items() if row.cells[1].startswith("none")}
    assert {name for name in without if has_attribute(HINTS[section][0], name)} == set()


@pytest.mark.parametrize("section", HINTS)
def test_the_errors_for_newcomers_name_the_calls_of_the_tables(section: str) -> None:
    _kind, hints = HINTS[section]
    for name, row in playwright_rows(section).items():
        in_row = {method for code in row.code for method in re.findall(r"\.(\w+)", code)}
        in_hint = set(re.findall(r"\.([a-z]\w+)", hints.get(name, "")))
        whole = "and so on" in row.cells[1] or row.cells[1].startswith("none")
        assert whole or not in_hint or in_hint & in_row, (
            f"{section}.{name}: {hints[name]}; line {row.line}: {in_row}"
        )


@pytest.mark.parametrize("section", HINTS)
def test_the_errors_for_newcomers_know_only_listed_names(section: str) -> None:
    listed = {name for page in COMPARISONS for row in rows(page) for name in row.names}
    ours = {name for name in HINTS[section][1] if has_attribute("Page", name)}
    assert set(HINTS[section][1]) - listed - ours - OTHER_NAMES == set()
