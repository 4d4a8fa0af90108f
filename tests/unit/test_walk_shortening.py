"""A failing walk is shortened to the steps that make it fail."""

from collections.abc import Sequence

import pytest
import trio
from walk import KINDS, Step, Violation, Walk, make_steps, shorten
from walk_site import WalkSite

from cdpengine.errors import EngineError, StaleRefError


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


@pytest.mark.parametrize("nurseries", [0, 1, 2])
async def test_an_error_from_a_step_is_a_violation_with_the_program(
    nurseries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(walk: Walk, _steps: object, left: int = nurseries) -> Sequence[Step]:
        if not left:
            walk.lines.append("await page0.reload()")
            raise StaleRefError(ref="e1", description="button", reason="it is gone", became="removed")
        async with trio.open_nursery():
            return await fail(walk, _steps, left - 1)

    monkeypatch.setattr(Walk, "_run_in_one_browser", fail)
    with pytest.raises(Violation, match=r"(?s)StaleRefError.*page0.reload") as caught:
        await Walk(WalkSite(1), "pipe").run(make_steps(1, 3))
    assert isinstance(caught.value.__cause__, EngineError)
