"""The arithmetic of coverage: nested counts, unions, complements, and UTF-16 offsets as characters and bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._measure.coverage_report import (
    SourceText,
    clip_ranges,
    counted_ranges,
    in_characters,
    in_order,
    rest_of,
    same_texts_once,
    size_of,
    unite_ranges,
)


@pytest.mark.parametrize(
    ("nested", "used"),
    [
        ([], ()),
        ([(0, 10, 1)], ((0, 10),)),
        ([(0, 10, 0)], ()),
        ([(0, 10, 1), (2, 4, 0), (6, 8, 0)], ((0, 2), (4, 6), (8, 10))),
        ([(0, 10, 1), (2, 8, 0), (4, 6, 3)], ((0, 2), (4, 6), (8, 10))),
        ([(0, 10, 0), (2, 8, 1), (2, 4, 0)], ((4, 8),)),
        ([(0, 10, 1), (0, 10, 0)], ()),  # of two equal ranges the later one is the inner one
        ([(0, 4, 1), (4, 8, 0), (8, 9, 2)], ((0, 4), (8, 9))),
        ([(5, 9, 1)], ((5, 9),)),
    ],
)
def test_the_innermost_range_wins(nested: list[tuple[int, int, int]], used: object) -> None:
    assert counted_ranges(nested) == used


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8))
def test_a_union_and_its_rest_are_the_whole(pairs: list[tuple[int, int]]) -> None:
    used = unite_ranges(pairs)
    assert in_order(used)
    assert {at for start, end in pairs for at in range(start, end)} == {
        at for start, end in used for at in range(start, end)
    }
    within = clip_ranges(used, 25)
    covered = sorted([*within, *rest_of(within, 25)])
    assert [at for start, end in covered for at in range(start, end)] == list(range(25))


@given(st.text(max_size=30), st.data())
def test_offsets_in_utf16_are_characters_and_bytes(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    def units(part: str) -> int:
        return len(part.encode("utf-16-le", "surrogatepass")) // 2

    ranges = unite_ranges([(units(text[:start]), units(text[:end]))])
    found = in_characters(text, ranges)
    assert found == (((start, end),) if start < end else ())
    assert size_of(text, found) == len(text[start:end].encode("utf-8", "surrogatepass"))


def test_ranges_beyond_a_text_are_cut() -> None:
    assert in_characters("abc", ((1, 9),)) == ((1, 3),)
    # half of a surrogate pair is skipped
    assert in_characters("a\U0001f600b", ((1, 2), (3, 99))) == ((2, 3),)
    assert in_characters("", ((0, 5),)) == ()


def test_a_script_loaded_twice_is_one_entry_even_if_one_has_no_source() -> None:
    seen = [
        SourceText("u/b.js", 0, 0, 6, "é = 12", ((0, 1),)),
        SourceText("u/a.js", 0, 0, 3, "abc", ()),
        SourceText("u/b.js", 0, 0, 6, "é = 12", ((4, 6),)),
        SourceText("u/b.js", 0, 0, 6, None, ((2, 3),)),
        SourceText("u/b.js", 0, 0, 7, None, ((0, 2), (5, 90))),
        SourceText("u/b.js", 3, 1, 6, "é = 12", ()),
    ]
    entries = same_texts_once(seen)
    assert [(entry.url, entry.line, entry.text is None) for entry in entries] == [
        ("u/b.js", 0, False),
        ("u/b.js", 0, True),
        ("u/a.js", 0, False),
        ("u/b.js", 3, False),
    ]
    first, unknown, other, inline = entries
    assert first.used == ((0, 1), (2, 3), (4, 6))
    assert first.unused == ((1, 2), (3, 4))
    assert (first.total_bytes, first.used_bytes, first.unused_bytes) == (7, 5, 2)
    assert (other.used, other.unused, other.total_bytes) == ((), ((0, 3),), 3)
    assert (unknown.used, unknown.unused, unknown.total_bytes) == (((0, 2), (5, 7)), ((2, 5),), 7)
    assert (inline.line, inline.column, inline.used_bytes) == (3, 1, 0)
