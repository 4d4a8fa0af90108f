"""Search finds what a look for each word finds, and nothing else."""

from __future__ import annotations

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given

from cdpengine.debug.search import Search

letters = st.text('abckxj.-"\\é\ud83d', max_size=6)
words = st.lists(letters.filter(bool), max_size=5, unique=True)


@given(words=words, pieces=st.lists(letters | st.sampled_from([" ", "q" * 500])), data=st.data())
def test_a_word_is_found_where_it_is(words: list[str], pieces: list[str], data: st.DataObject) -> None:
    text = "".join(
        [*pieces, *data.draw(st.lists(st.sampled_from(words), max_size=1) if words else st.just([]))]
    )
    search = Search(dict.fromkeys(words, ""))
    there = any(word in text for word in words)
    assert search.found(text) is there
    assert search.found(text.encode("utf-8", "surrogatepass")) is there
    assert bool(list(search.ends(text))) is there


@pytest.mark.parametrize("padding", ["", "-" * 1000], ids=["short", "long"])
@pytest.mark.parametrize(
    ("text", "there"),
    [
        ("a key = 1", True),
        ("key=1", True),
        ("monkey=1", False),
        ("a.key=1", False),
        ("key 1", False),
        ("keys=1", False),
    ],
)
def test_a_whole_word_and_what_follows_it(text: str, there: bool, padding: str) -> None:
    search = Search({"token": r"\s*="}, {"key": r"\s*="})
    assert search.found(f"{padding} {text}") is there
    assert search.found(f"{padding} {text}".encode()) is there


def test_the_end_of_each_is_given() -> None:
    text = "token: a, mytoken:b, sid:c"
    ends = Search({"token": ":"}, {"sid": ":"}).ends(text)
    assert sorted(ends) == [match.end() for match in re.finditer(":", text)]
