from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._input.devices.keyboard import pieces
from cdpengine._input.devices.keys import clusters


@pytest.mark.parametrize(
    "whole",
    [
        "e\u0301",
        "a\u0308\u0323",
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",
        "\u2764\ufe0f\u200d\U0001f525",
        "\U0001f44d\U0001f3fd",
        "\U0001f1e9\U0001f1ea",
        "1\ufe0f\u20e3",
        "\U0001f3f4\U000e0067\U000e0062\U000e007f",
        "\u1112\u1161\u11ab",
        "\ud55c\u11ab".replace("\ud55c", "\ud558"),
        "\u0e01\u0e34",
        "\r\n",
    ],
)
def test_stays_whole(whole: str) -> None:
    assert list(clusters(f"x{whole}y")) == ["x", whole, "y"]


def test_flags_pair_up() -> None:
    flags = ["\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "\U0001f1ee"]
    assert list(clusters("".join(flags))) == flags


def test_plain_text_is_split_everywhere() -> None:
    assert list(clusters("ab\n\t\u4f60\u597d")) == ["a", "b", "\n", "\t", "\u4f60", "\u597d"]
    assert list(clusters("")) == []


@given(st.text(st.sampled_from("ab \r\n\t.")))
def test_ascii_text_is_split_like_any_other(text: str) -> None:
    """Compares with the same text after a non-ASCII letter, which takes the path of all scripts."""
    assert list(clusters(f"\u00e9{text}")) == ["\u00e9", *clusters(text)]


@given(st.text())
def test_splitting_loses_nothing(text: str) -> None:
    assert "".join(clusters(text)) == text
    assert all(clusters(text))


@given(st.text(), st.booleans())
def test_pieces_keep_the_text(text: str, joined: bool) -> None:
    assert "".join(piece for piece, _ in pieces(text, joined=joined)) == text.replace("\r\n", "\n")


def test_pieces_join_inserted_text() -> None:
    text = "ab\u4f60\u597de\u0301c"
    assert [piece for piece, _ in pieces(text)] == ["a", "b", "\u4f60\u597de\u0301", "c"]
    assert [piece for piece, _ in pieces(text, joined=False)] == [
        "a",
        "b",
        "\u4f60",
        "\u597d",
        "e\u0301",
        "c",
    ]
