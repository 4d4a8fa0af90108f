"""Conditions on URLs, and conditions that cannot be waited for."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cdpengine
from cdpengine._api.page.expecting import Expectation
from cdpengine._page.search.criteria import Criteria
from cdpengine._urls.patterns import UrlPattern, url_test, url_words

URL = "https://shop.example/cart?item=[1]&n=2#top"


@pytest.mark.parametrize(
    ("pattern", "matches"),
    [
        ("*", True),
        (URL, True),
        ("https://shop.example/*", True),
        ("*/cart?item=[1]&*", True),
        ("*/cart?item=1&*", False),
        ("*#top", True),
        ("https://shop.example/cart", False),
        ("*CART*", False),
        (re.compile(r"/cart\b"), True),
        (re.compile(r"^/cart"), False),
        (lambda url: url.endswith("#top"), True),
        (lambda _url: None, False),
    ],
)
def test_url_patterns(pattern: UrlPattern, matches: bool) -> None:
    assert url_test(pattern)(URL) is matches
    assert url_words(pattern)


@given(st.text(min_size=1))
def test_a_url_matches_itself_and_its_ends(url: str) -> None:
    assert url_test(url)(url)
    assert url_test("*" + url[len(url) // 2 :])(url)
    assert url_test(url[: len(url) // 2] + "*")(url)
    assert not url_test("x" + url.replace("*", ""))(url.replace("*", ""))


@pytest.mark.parametrize("pattern", ["", 5, None, b"x", ["*"]])
def test_invalid_patterns(pattern: object) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        url_test(pattern)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "given", [{}, {"css": ""}, {"css": 5}, {"text": " "}, {"role": ""}, {"name": 5}, {"role": b"button"}]
)
def test_invalid_search_conditions(given: dict[str, object]) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        Criteria(**given)  # type: ignore[arg-type]


def test_descriptions_of_search_conditions() -> None:
    wanted = Criteria(css="a", role="button", name=re.compile("^S"), text="x")
    assert str(wanted) == "button \"^S\" css 'a' with the text 'x'"
    assert str(Criteria(name="S")) == 'a node "S"'


def test_an_expected_value_exists_only_at_the_end() -> None:
    expectation: Expectation[int] = Expectation("a page")
    expected = cdpengine.pages.Expected(expectation)
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="after the block"):
        _ = expected.value
    expectation.arrived.append(5)
    assert expected.value == 5


def test_candidates_are_listed() -> None:
    error = cdpengine.errors.AmbiguousNodeError(target="find button", count=7, candidates=("a", "b"))
    assert "7 nodes match" in str(error)
    assert "- b" in str(error)
    assert "5 more" in str(error)
