"""Budget: one deadline for one action, in trio's clock."""

from __future__ import annotations

import math

import pytest
import trio
import trio.testing

from cdpengine._budget import Budget, check_timeout, within
from cdpengine.errors import CoveredError, DeadlineExceededError, InvalidArgumentError


@pytest.mark.parametrize("timeout", [-1, -0.001, math.nan, 10**400, True, "5", None, [1], 1j])
def test_invalid_timeouts_are_refused(timeout: object) -> None:
    with pytest.raises(InvalidArgumentError, match="timeout"):
        check_timeout(timeout)  # type: ignore[arg-type]


@pytest.mark.parametrize("timeout", [0, 1, 2.5, math.inf])
def test_timeouts(timeout: float) -> None:
    checked = check_timeout(timeout)
    assert checked == timeout
    assert isinstance(checked, float)


async def test_a_body_in_time_passes(autojump_clock: trio.testing.MockClock) -> None:
    with within("wait", 5) as budget:
        await trio.sleep(4)
        assert budget.remaining == pytest.approx(1)


async def test_a_spent_budget_reports_its_attempts(autojump_clock: trio.testing.MockClock) -> None:
    with pytest.raises(DeadlineExceededError) as caught, within("click e7", 5) as budget:
        budget.step("scrolling it into view")
        budget.step("waiting until it holds still")
        budget.step("waiting until it holds still")
        await trio.sleep_forever()
    assert trio.current_time() == pytest.approx(5, abs=1e-6)
    assert caught.value.steps == ("scrolling it into view", "waiting until it holds still")
    assert str(caught.value).startswith("click e7 did not finish within 5 s")


async def test_the_obstacle_is_raised_at_the_deadline(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Also if all inner deadlines expire together, as in a program that wakes late."""
    covered = CoveredError(action="click", target="button 'Go'", reason="div receives the events there")
    with pytest.raises(CoveredError) as caught, within("click", 2) as budget, budget.scope():
        budget.hindrance = covered
        await trio.sleep_forever()
    assert caught.value is covered
    with pytest.raises(DeadlineExceededError), within("click", 2) as budget:
        budget.hindrance = covered
        budget.hindrance = None
        await trio.sleep_forever()


async def test_a_zero_budget_does_not_enter_the_body() -> None:
    with pytest.raises(DeadlineExceededError):  # noqa: SIM117
        with within("click", 0):
            pytest.fail("the body was entered")


async def test_cancellation_from_outside_passes_through(autojump_clock: trio.testing.MockClock) -> None:
    with trio.move_on_after(1) as outer, within("wait", 5):
        await trio.sleep_forever()
    assert outer.cancelled_caught
    assert trio.current_time() == pytest.approx(1)


async def test_an_error_of_the_body_propagates_unchanged() -> None:
    error = KeyError("body")
    with pytest.raises(KeyError) as caught, within("wait", 5):
        raise error
    assert caught.value is error


async def test_remaining_is_never_negative(autojump_clock: trio.testing.MockClock) -> None:
    budget = Budget.start("wait", 1)
    await trio.sleep(3)
    assert budget.remaining == 0


async def test_remaining_knows_the_enclosing_deadline() -> None:
    budget = Budget.start("wait", 100)
    with trio.move_on_after(2):  # noqa: ASYNC100 (only its deadline is asked for)
        assert budget.remaining <= 2


async def test_without_limit() -> None:
    with within("wait", math.inf) as budget:
        assert budget.remaining == math.inf


async def test_a_child_never_outlives_its_parent(autojump_clock: trio.testing.MockClock) -> None:
    budget = Budget.start("click", 10)
    assert budget.child("scroll").remaining == pytest.approx(10)
    assert budget.child("scroll", at_most=3).remaining == pytest.approx(3)
    assert budget.child("scroll", margin=4).remaining == pytest.approx(6)
    await trio.sleep(9)
    assert budget.child("scroll", at_most=3).remaining == pytest.approx(1)
    assert budget.child("scroll", margin=4).remaining == 0


async def test_steps_of_a_child_belong_to_its_parent_and_are_bounded() -> None:
    budget = Budget.start("click", 10)
    child = budget.child("scroll")
    child.step("first")
    for n in range(1000):
        child.step(f"step {n}")
    exceeded = budget.exceeded()
    assert isinstance(exceeded, DeadlineExceededError)
    steps = exceeded.steps
    assert steps[0] == "first"
    assert steps[-1] == "step 999"
    assert len(steps) <= 20
