"""Bounds of number fields: the bounds in the accessibility tree that are shown."""

from __future__ import annotations

from typing import Any

import pytest
from snapshot_trees import tree

from cdpengine._snapshot.node import Node
from cdpengine._snapshot.sources.ax import keep_set_bounds
from cdpengine._snapshot.sources.ax_nodes import fold

BOTH: dict[str, Any] = {"valuemin": 0, "valuemax": 0}


@pytest.mark.parametrize(
    ("attributes", "kept"),
    [
        ({}, []),
        ({"min": "0"}, ["min"]),
        ({"min": " -0.0 ", "aria-valuemax": "0e5"}, ["min", "max"]),
        ({"min": "", "max": "nan", "aria-valuemin": "inf", "aria-valuemax": "1_0"}, []),
        ({"max": "x", "aria-valuemax": ".0"}, ["max"]),
    ],
)
def test_a_bound_of_0_is_shown_where_an_attribute_gives_it(
    attributes: dict[str, str], kept: list[str]
) -> None:
    node = Node("spinbutton", "interactive", states=(("required", True), ("min", 0), ("max", 0)))
    keep_set_bounds(node, attributes)
    assert node.states == (("required", True), *((state, 0) for state in kept))


@pytest.mark.parametrize(
    ("role", "states", "asked"),
    [
        ("spinbutton", BOTH, True),
        ("spinbutton", {"valuemin": 1, "valuemax": 0}, True),
        ("spinbutton", {"valuemin": -1, "valuemax": 9}, False),
        ("spinbutton", {}, False),
        ("slider", BOTH, False),
        ("meter", BOTH, False),
    ],
)
def test_only_bounds_that_chrome_may_have_invented_are_verified(
    role: str, states: dict[str, Any], asked: bool
) -> None:
    doubtful: list[Node] = []
    fold(tree((role, "A", states)), doubtful=doubtful)
    assert [node.name for node in doubtful] == ["A"] * asked
