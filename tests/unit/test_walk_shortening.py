"""A failing walk is shortened to the steps that make it fail."""

from collections.abc import Sequence

from walk import KINDS, Step, make_steps, shorten


def test_walks_of_a_seed_are_the_same() -> None:
    assert make_steps(3, 30) == make_steps(3, 30)
    assert {kind for kind, _, _ in make_steps(3, 2000)} == set(KINDS)


def test_shortening_keeps_the_failing_steps_in_order() -> None:
    steps = make_steps(1, 30)
    needed = {steps[4], steps[17], steps[29]}
    assert list(shorten(steps, needed.issubset, 200)) == [steps[4], steps[17], steps[29]]


def test_shortening_stops_after_its_attempts() -> None:
    tried: list[int] = []

    def fails(steps: Sequence[Step]) -> bool:
        tried.append(len(steps))
        return False

    assert shorten(steps := make_steps(1, 30), fails, 3) is steps
    assert tried == [15, 15, 23]
