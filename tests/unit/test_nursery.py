"""open_body_nursery: the exception that leaves the block, for every way in which body and background tasks
can end.
"""

from __future__ import annotations

import os
import signal
import traceback

import pytest
import trio
import trio.testing

from cdpengine._nursery import open_body_nursery


async def fail_with(error: BaseException) -> None:
    raise error


async def fail_when_cancelled(error: BaseException) -> None:
    try:
        await trio.sleep_forever()
    finally:
        raise error


async def test_body_ends_and_background_tasks_are_cancelled() -> None:
    ended: list[str] = []

    async def background() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("background")

    with trio.fail_after(5):
        async with open_body_nursery() as nursery:
            nursery.start_soon(background)
            await trio.testing.wait_all_tasks_blocked()
            assert not ended
    assert ended == ["background"]


async def test_body_error_propagates_unchanged() -> None:
    error = ValueError("body")
    with pytest.raises(ValueError, match="body") as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise error
    assert caught.value is error
    assert error.__context__ is None
    assert error.__cause__ is None


async def test_body_error_keeps_its_context_and_cause() -> None:
    cause = KeyError("first")
    with pytest.raises(ValueError, match="second") as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            try:
                raise cause
            except KeyError as first:
                raise ValueError("second") from first
    assert caught.value.__cause__ is cause
    assert caught.value.__context__ is cause


async def test_body_group_leaves_as_the_same_object() -> None:
    group = ExceptionGroup("mine", [ValueError("one")])
    with pytest.RaisesGroup(ValueError) as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            raise group
    assert caught.value is group


async def test_stop_iteration_from_the_body_propagates_unchanged() -> None:
    error = StopAsyncIteration()
    with pytest.raises(StopAsyncIteration) as caught:
        async with open_body_nursery():
            raise error
    assert caught.value is error


async def test_background_error_cancels_body_and_propagates_unchanged() -> None:
    error = ValueError("background")
    body_was_cancelled = False
    with trio.fail_after(5):
        with pytest.raises(ValueError, match="background") as caught:
            async with open_body_nursery() as nursery:
                nursery.start_soon(fail_with, error)
                try:
                    await trio.sleep_forever()
                except trio.Cancelled:
                    body_was_cancelled = True
                    raise
    assert body_was_cancelled
    assert caught.value is error
    assert error.__context__ is None, "the body's Cancelled must not be shown as where the error came from"


async def test_background_group_leaves_without_another_group_around_it() -> None:
    error = ValueError("one")
    with pytest.RaisesGroup(ValueError) as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(fail_with, ExceptionGroup("theirs", [error]))
            await trio.sleep_forever()
    assert caught.value.message == "theirs"
    assert caught.value.exceptions == (error,)


async def test_background_error_after_the_body_ended_leaves() -> None:
    error = ValueError("while ending")
    with pytest.raises(ValueError, match="while ending") as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(fail_when_cancelled, error)
            await trio.testing.wait_all_tasks_blocked()
    assert caught.value is error


async def test_errors_of_body_and_background_leave_together() -> None:
    with pytest.RaisesGroup(pytest.RaisesExc(ValueError), pytest.RaisesExc(KeyError)):
        async with open_body_nursery() as nursery:
            nursery.start_soon(fail_when_cancelled, KeyError("background"))
            await trio.testing.wait_all_tasks_blocked()
            raise ValueError("body")


async def test_two_background_errors_leave_together_without_the_cancelled_body() -> None:
    expected = pytest.RaisesGroup(pytest.RaisesExc(ValueError), pytest.RaisesExc(KeyError))
    with trio.CancelScope() as outer, expected:
        async with open_body_nursery() as nursery:
            nursery.start_soon(fail_when_cancelled, KeyError("one"))
            nursery.start_soon(fail_when_cancelled, ValueError("two"))
            await trio.testing.wait_all_tasks_blocked()
            outer.cancel()
            await trio.sleep_forever()


@pytest.mark.parametrize("where", ["body", "background"])
async def test_ctrl_c_leaves_alone_whatever_failed_because_of_it(where: str) -> None:
    interrupt = KeyboardInterrupt()

    async def fail(error: BaseException) -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise error

    consequence = ValueError("lost")
    with pytest.raises(KeyboardInterrupt) as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(fail, consequence if where == "body" else interrupt)
            await trio.testing.wait_all_tasks_blocked()
            raise interrupt if where == "body" else consequence
    assert caught.value is interrupt


async def test_cancelled_from_outside_is_caught_outside() -> None:
    with trio.move_on_after(0.01) as scope:
        async with open_body_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            await trio.sleep_forever()
    assert scope.cancelled_caught


async def test_cancelled_leaves_bare() -> None:
    seen: BaseException | None = None
    with trio.CancelScope() as scope:
        scope.cancel()
        try:
            async with open_body_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                await trio.sleep_forever()
        except BaseException as error:
            seen = error
            raise
    assert type(seen) is trio.Cancelled
    assert scope.cancelled_caught


async def test_body_error_wins_over_an_outside_cancellation() -> None:
    error = ValueError("body")
    with trio.CancelScope() as outer, pytest.raises(ValueError, match="body") as caught:
        async with open_body_nursery() as nursery:
            nursery.start_soon(trio.sleep_forever)
            outer.cancel()
            raise error
    assert caught.value is error
    assert not outer.cancelled_caught


async def test_body_error_together_with_its_own_cancelled_is_kept_in_the_group_of_the_body() -> None:
    """A background failure cancels an inner nursery of the body while that nursery fails."""
    error = KeyError("inner")
    with pytest.RaisesGroup(pytest.RaisesExc(ValueError), pytest.RaisesGroup(KeyError)):
        async with open_body_nursery() as nursery:
            nursery.start_soon(fail_with, ValueError("background"))
            async with trio.open_nursery() as inner:
                inner.start_soon(fail_when_cancelled, error)
                inner.start_soon(trio.sleep_forever)


async def test_a_task_can_end_the_block_through_the_cancel_scope() -> None:
    with trio.fail_after(5) as patience:
        async with open_body_nursery() as nursery:
            nursery.cancel_scope.cancel()
            await trio.sleep(10)
    assert not patience.cancelled_caught
    assert nursery.cancel_scope.cancelled_caught


async def test_nested_blocks_add_nothing() -> None:
    error = ValueError("deep")
    with pytest.raises(ValueError, match="deep") as caught:
        async with open_body_nursery() as one, open_body_nursery() as two:
            one.start_soon(trio.sleep_forever)
            two.start_soon(fail_with, error)
            await trio.sleep_forever()
    assert caught.value is error


async def test_traceback_points_into_the_body() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        async with open_body_nursery():
            _ = 1 / 0
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert [frame.name for frame in frames] == ["test_traceback_points_into_the_body"]


def _interrupt_self() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_keyboard_interrupt_in_the_body_propagates_unchanged() -> None:
    ended: list[str] = []

    async def background() -> None:
        try:
            await trio.sleep_forever()
        finally:
            ended.append("background")

    async def main() -> None:
        async with open_body_nursery() as nursery:
            nursery.start_soon(background)
            await trio.testing.wait_all_tasks_blocked()
            _interrupt_self()
            await trio.sleep_forever()

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
    assert ended == ["background"]


def test_keyboard_interrupt_while_ending_leaves_after_the_tasks_have_ended() -> None:
    ended: list[str] = []

    async def background() -> None:
        try:
            await trio.sleep_forever()
        finally:
            _interrupt_self()
            with trio.CancelScope(shield=True):
                await trio.sleep(0.05)
            ended.append("background")

    async def main() -> None:
        async with open_body_nursery() as nursery:
            nursery.start_soon(trio.lowlevel.enable_ki_protection(background))
            await trio.testing.wait_all_tasks_blocked()

    with pytest.raises(KeyboardInterrupt):
        trio.run(main)
    assert ended == ["background"]
