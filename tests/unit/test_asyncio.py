"""The engine beside an asyncio loop: outcomes, cancellation in both directions, blocks, callbacks, and the end."""

from __future__ import annotations

import asyncio
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack

import pytest
import trio
from asyncio_browser import open_scripted, run_of, run_program, scripted_for_asyncio
from object_calls import ENGINE_OWN, running
from scripted_browser import ScriptedBrowser

import cdpengine
import cdpengine.asyncio
from cdpengine.asyncio.classes import CLASSES
from cdpengine.asyncio.guest_run import _RUNS, join_run
from cdpengine.errors import DeadlineExceededError, InvalidStateError, WrongRunError
from cdpengine.testing import SILENCE


def tasks() -> Counter[str]:
    """Return the tasks of trio, without those that the engine keeps for a page."""
    return Counter(name for name in running() if name not in ENGINE_OWN)


def test_each_live_class_has_a_facade_of_its_name() -> None:
    for names in CLASSES.values():
        for name in names:
            assert getattr(cdpengine.asyncio, f"Asyncio{name}").__name__ == f"Asyncio{name}"
    with pytest.raises(AttributeError, match="AsyncioNothing"):
        cdpengine.asyncio.AsyncioNothing  # type: ignore[attr-defined] # noqa: B018


def test_a_call_returns_a_value_a_facade_or_an_error_of_the_engine() -> None:
    async def main() -> None:
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()
            assert isinstance(page, cdpengine.asyncio.AsyncioPage)
            assert page == browser.pages[0]
            assert page.context == browser.context
            assert await page.evaluate("1") == 1
            with pytest.raises(cdpengine.errors.InvalidArgumentError):
                await page.goto("")
            with pytest.raises(AttributeError, match="has no attribute 'query_selector'"):
                page.query_selector  # type: ignore[attr-defined] # noqa: B018

    run_program(main)


def test_a_deadline_arrives_as_the_engines_error() -> None:
    async def main() -> None:
        scripted = ScriptedBrowser()
        async with scripted_for_asyncio(scripted) as browser:
            page = await browser.new_page()
            scripted.on("Page.navigate", SILENCE)
            with pytest.raises(DeadlineExceededError, match="goto"):
                await page.goto("https://a.example/", timeout=0.05)

    run_program(main)


def test_a_cancelled_task_cancels_its_call_and_waits_for_it() -> None:
    async def main() -> None:
        scripted = ScriptedBrowser()
        async with scripted_for_asyncio(scripted) as browser:
            page = await browser.new_page()
            before = tasks()
            scripted.on("Page.navigate", SILENCE)
            task = asyncio.create_task(page.goto("https://a.example/"))
            await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not tasks() - before
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.02):
                    await page.goto("https://a.example/")

    run_program(main)


def test_a_cancelled_new_page_leaves_no_page() -> None:
    async def main() -> None:
        scripted = ScriptedBrowser()
        async with scripted_for_asyncio(scripted) as browser:
            for turns in range(40):
                task = asyncio.create_task(browser.new_page())
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
                if not task.cancelled():
                    await task.result().close()
            assert browser.pages == []
            assert not scripted.alive

    run_program(main)


@pytest.mark.timeout(300)
def test_a_thousand_cancellations_leave_nothing() -> None:
    async def main() -> None:
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()

            async def expect() -> None:
                async with page.events("frames") as events:
                    await events.receive()

            calls: list[Callable[[], Coroutine[object, object, object]]] = [
                lambda: page.evaluate("1"),
                lambda: page.goto("https://a.example/"),
                page.snapshot,
                expect,
                lambda: page.wait_for(text="never"),
                browser.new_page,
            ]
            await page.evaluate("1")
            before = tasks()
            for number in range(1000):
                task: asyncio.Task[object] = asyncio.create_task(calls[number % len(calls)]())
                for _ in range(number % 23):
                    await asyncio.sleep(0)
                task.cancel()
                await asyncio.wait([task])
                if not task.cancelled() and task.exception() is None and number % len(calls) == 5:
                    await task.result().close()  # type: ignore[attr-defined]
            assert await page.evaluate("1") == 1
            assert len(browser.pages) == 1
            assert len(asyncio.all_tasks()) == 1
            assert not tasks() - before
        assert not _RUNS

    run_program(main, 250)


def test_the_error_of_a_body_passes_through_a_block_unchanged() -> None:
    error = ValueError("mine")

    async def main() -> None:
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()
            with pytest.raises(ValueError, match="mine") as raised:
                async with page.events("frames"):
                    raise error
            assert raised.value is error

    run_program(main)


def test_an_error_of_entering_is_raised_by_the_block() -> None:
    async def main() -> None:
        scripted = ScriptedBrowser()
        scripted.on("Browser.getVersion", error=(-32000, "no"))
        with pytest.raises(cdpengine.errors.EngineError):
            async with scripted_for_asyncio(scripted):
                pass
        assert not _RUNS

    run_program(main)


def test_the_end_of_the_loop_ends_open_blocks() -> None:
    scripted, stack = ScriptedBrowser(), AsyncExitStack()

    async def main() -> None:
        browser = await stack.enter_async_context(scripted_for_asyncio(scripted))
        await browser.new_page()

    run_program(main)
    assert not _RUNS
    assert not trio.lowlevel.in_trio_run()


def test_a_browser_stays_open_between_runs_of_a_loop() -> None:
    loop, stack = asyncio.new_event_loop(), AsyncExitStack()
    try:
        browser = loop.run_until_complete(stack.enter_async_context(scripted_for_asyncio()))
        page = loop.run_until_complete(browser.new_page())
        assert loop.run_until_complete(page.evaluate("1")) == 1
        loop.run_until_complete(loop.shutdown_asyncgens())
        assert not _RUNS
    finally:
        loop.close()


def test_a_call_after_the_end_or_from_another_loop_is_refused() -> None:
    pages = []

    async def main() -> None:
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()
            pages.append(page)
            wrong: list[BaseException] = []

            def elsewhere() -> None:
                try:
                    asyncio.run(page.evaluate("1"))
                except WrongRunError as error:
                    wrong.append(error)

            thread = threading.Thread(target=elsewhere)
            thread.start()
            await asyncio.to_thread(thread.join)
            assert wrong

    async def later() -> None:
        with pytest.raises(InvalidStateError, match="ended"):
            await pages[0].evaluate("1")

    run_program(main)
    run_program(later)


def test_two_browsers_share_the_run_of_their_loop() -> None:
    async def main() -> None:
        async with scripted_for_asyncio() as first, scripted_for_asyncio() as second:
            assert run_of(first) is run_of(second)
            await asyncio.gather(first.new_page(), second.new_page())
        assert not _RUNS

    run_program(main)


def test_the_engines_own_functions_are_refused_in_a_task_of_asyncio() -> None:
    async def main() -> None:
        with pytest.raises(WrongRunError, match=r"or use cdpengine\.asyncio"):
            async with cdpengine.launch():
                pass
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()
            with pytest.raises(WrongRunError, match=r"or use cdpengine\.asyncio"):
                async with cdpengine.launch():
                    pass
            with pytest.raises(WrongRunError, match=r"or use cdpengine\.asyncio"):
                await page.of.title()
        with pytest.raises(TypeError, match=r"async with cdpengine\.asyncio\.launch"):
            await cdpengine.asyncio.launch()  # type: ignore[misc]

    run_program(main)


async def test_asyncio_inside_trio_is_refused() -> None:
    async def main() -> None:
        with pytest.raises(InvalidStateError, match="runs trio"):
            await join_run()

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(main())
    finally:
        loop.close()


def test_a_callback_runs_in_asyncio_and_is_cancelled_with_its_caller() -> None:
    async def main() -> None:
        ended: list[str] = []

        async def wait_forever() -> None:
            try:
                await asyncio.sleep(60)
            finally:
                ended.append(type(asyncio.current_task()).__name__)

        async with scripted_for_asyncio() as browser:
            run = run_of(browser)

            async def limited() -> None:
                with trio.move_on_after(0.05):
                    await run.await_in_asyncio(wait_forever())

            await run.call(limited, "limited")
            assert ended == ["Task"]

            async def fail() -> None:
                raise KeyError("mine")

            with pytest.raises(KeyError, match="mine"):
                await run.call(lambda: run.await_in_asyncio(fail()), "fail")

    run_program(main)


def test_the_end_of_trio_cancels_the_owner_of_a_block_and_waits_for_it() -> None:
    left: list[str] = []

    async def main() -> None:
        run = await join_run()

        async def use() -> None:
            async with scripted_for_asyncio():
                try:
                    await asyncio.sleep(60)
                finally:
                    await asyncio.sleep(0.01)
                    left.append("body")

        task = asyncio.create_task(use())
        await asyncio.sleep(0.1)
        await run.end()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert left == ["body"]

    run_program(main)


def test_uvloop_works_too() -> None:
    uvloop = pytest.importorskip("uvloop")

    async def main() -> None:
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()
            assert await page.evaluate("1") == 1

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
    assert not _RUNS


@pytest.mark.slow
def test_a_round_trip_adds_at_most_0_3_ms() -> None:
    """Compares calls from asyncio with those of a program on trio, in pairs of rounds: the median of the pairs."""
    assert statistics.median(added_seconds() for _ in range(15)) <= 0.0003


def added_seconds() -> float:
    """Return the difference between the median times of a call in one round of each kind."""
    from_asyncio: list[float] = []
    from_trio: list[float] = []

    async def call_from_trio() -> None:
        async with open_scripted(ScriptedBrowser()) as browser:
            page = await browser.new_page()
            for _ in range(_CALLS):
                began = time.perf_counter()
                await page.session.call("Runtime.evaluate", expression="1")
                from_trio.append(time.perf_counter() - began)

    async def call_from_asyncio() -> None:
        async with scripted_for_asyncio() as browser:
            page = await browser.new_page()
            for _ in range(_CALLS):
                began = time.perf_counter()
                await page.session.call("Runtime.evaluate", expression="1")
                from_asyncio.append(time.perf_counter() - began)

    trio.run(call_from_trio)
    run_program(call_from_asyncio)
    return statistics.median(from_asyncio) - statistics.median(from_trio)


_CALLS = 100
