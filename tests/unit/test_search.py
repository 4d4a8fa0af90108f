"""Search returns exactly the matches of a separate search for each word."""

from __future__ import annotations

import re
from itertools import accumulate

import hypothesis.strategies as st
import pytest
from hypothesis import given

from cdpengine.debug.recording.secret_words import Search

letters = st.text('abckxj.-"\\é\ud83d', max_size=6)
words = st.lists(letters.filter(bool), max_size=5, unique=True)


@given(words=words, pieces=st.lists(letters | st.sampled_from([" ", "q" * 500])), data=st.data())
def test_a_word_is_found_where_it_is(words: list[str], pieces: list[str], data: st.DataObject) -> None:
    text = "".join(
        [*pieces, *data.draw(st.lists(st.sampled_from(words), max_size=1) if words else st.just([]))]
    )
    search = Search(dict.fromkeys(words, ""))
    there = any(word in text for word in words)
    assert search.is_in(text) is there
    assert search.is_in(text.encode("utf-8", "surrogatepass")) is there
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
def test_a_whole_word_and_its_continuation(text: str, there: bool, padding: str) -> None:
    search = Search({"token": r"\s*="}, {"key": r"\s*="})
    assert search.is_in(f"{padding} {text}") is there
    assert search.is_in(f"{padding} {text}".encode()) is there


@given(
    words=words,
    whole=words,
    after=st.sampled_from(["", "[.x]", r"\s*=", "[^\0]{0,3}k"]),
    pieces=st.lists(letters | st.sampled_from(["=", "\\n", "\\u00e9", " ", "q" * 90]), max_size=12),
    data=st.data(),
)
def test_it_finds_the_matches_of_one_pattern_for_each_word(
    words: list[str], whole: list[str], after: str, pieces: list[str], data: st.DataObject
) -> None:
    every = [*words, *whole, *pieces]
    texts = [
        "".join(part)
        for part in data.draw(st.lists(st.lists(st.sampled_from(every or [""]), max_size=8), max_size=4))
    ]
    before = r"(?:(?<![\w.\-])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4}))"
    patterns = [re.escape(word) + after for word in words]
    patterns += [before + re.escape(word) + after for word in whole]
    of_bytes = [re.compile(pattern.encode("utf-8", "surrogatepass")) for pattern in patterns]
    search = Search(dict.fromkeys(words, after), dict.fromkeys(whole, after))
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    there = [any(pattern.search(text) for pattern in of_bytes) for text in encoded]
    assert [search.is_in(text) for text in encoded] == there
    together = b"\0".join(encoded)
    ends = list(accumulate(len(text) + 1 for text in encoded))
    parts = sorted(set(search.parts(together, ends)))
    assert parts == [number for number, found in enumerate(there) if found]
    for text in texts:
        places = {
            match.end()
            for pattern in patterns
            for start in range(len(text))
            if (match := re.compile(pattern).match(text, start))
        }
        assert set(search.ends(text)) == places


def test_a_common_word_is_examined_only_where_it_can_matter() -> None:
    search = Search({"token": "="}, {"session": r"\s*="}, {"session": "= "})
    assert [search.is_in(text) for text in (b"session=", b"session  =", b"sessionid=", b"session: token=")] == [
        True, True, False, True,
    ]  # fmt: skip


def test_the_end_of_each_match_is_returned() -> None:
    text = "token: a, mytoken:b, sid:c"
    ends = Search({"token": ":"}, {"sid": ":"}).ends(text)
    assert sorted(ends) == [match.end() for match in re.finditer(":", text)]
