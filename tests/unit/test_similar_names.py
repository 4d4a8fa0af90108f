"""Nodes with similar names, for the error of a search without a match."""

from __future__ import annotations

import pytest

from cdpengine._snapshot.similar_names import with_similar_name


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("Save", ["Cancel", "Save all my changes", "Save changes"], ["Save changes", "Save all my changes"]),
        ("Save changes", ["Cancel", "SAVE"], ["SAVE"]),
        ("Sav chnges", ["Cancel", "Save changes"], ["Save changes"]),
        ("  save   changes ", ["Save changes"], ["Save changes"]),
        ("Save", ["Save as", "Save as"], ["Save as"]),
        ("Save", ["Delete", ""], []),
        ("", ["Save"], []),
        ("Save", ["Save" + "!" * 300], []),
        ("x" * 300, ["x"], ["x"]),
    ],
)
def test_the_nearest_name_comes_first(name: str, names: list[str], expected: list[str]) -> None:
    assert with_similar_name(names, str, name) == expected


def test_of_equal_names_the_first_node_is_returned() -> None:
    assert with_similar_name(enumerate(["Save as", "save as"]), lambda node: node[1], "Save") == [
        (0, "Save as")
    ]
