"""Calls of exposed functions start in the page's order, and before responses that came after them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from rounds import rounds

import cdpengine

pytestmark = pytest.mark.chrome

PAGE = """<!doctype html><input id=field><button id=go>Go</button>
<iframe srcdoc="<script>window.ready = 1</script>"></iframe>"""


@pytest.fixture
async def called(page: cdpengine.Page) -> list[object]:
    await page.set_content(PAGE)
    return []


def noting(called: list[object]) -> Callable[..., Awaitable[object]]:
    async def note(*given: object) -> object:
        called.append(list(given) if len(given) > 1 else given[0])
        await trio.lowlevel.checkpoint()
        return given[0]

    return note


async def test_calls_begin_in_order_across_functions_frames_and_kinds_of_arguments(
    page: cdpengine.Page, called: list[object]
) -> None:
    """The engine must query the page for values that JSON cannot represent. Later calls wait for that."""
    script = """() => {
        const inner = frames[0];
        note(1); other(2); inner.note(3); note(new Map([['a', 4]])); inner.other(5); note({b: [6]}); other(7);
    }"""
    right: list[object] = [1, 2, 3, {"a": 4}, 5, {"b": [6]}, 7]
    note = noting(called)
    async with page.scripts.expose("note", note), page.scripts.expose("other", note):
        for _ in range(rounds(5, 50)):
            called.clear()
            await page.evaluate(script)
            assert called == right


async def test_waiting_call_delays_no_other_call(page: cdpengine.Page, called: list[object]) -> None:
    go_on = trio.Event()

    async def waits(number: int) -> int:
        called.append(number)
        await go_on.wait()
        called.append("ended")
        return number

    async with page.scripts.expose("waits", waits), page.scripts.expose("note", noting(called)):
        await page.evaluate("() => { self.first = waits(1); note(2); note(3) }")
        assert called == [1, 2, 3]
        go_on.set()
        assert await page.evaluate("self.first") == 1
        assert called == [1, 2, 3, "ended"]


async def test_exposed_call_starts_before_the_response(page: cdpengine.Page, called: list[object]) -> None:
    async with page.scripts.expose("note", noting(called)):
        await page.evaluate("""() => {
            field.onfocus = () => note("focus");
            go.onclick = () => note({ click: true });
            field.oninput = () => note("input");
        }""")
        field, go = await page.find(css="#field"), await page.find(css="#go")

        async def evaluated() -> None:
            async with page.evaluate_handle("() => { note('handle'); return {} }"):
                pass

        ways: dict[str, tuple[Callable[[], Awaitable[object]], object]] = {
            "evaluate": (lambda: page.evaluate("() => { note(1) }"), 1),
            "handle": (evaluated, "handle"),
            "frame": (lambda: page.evaluate("() => { note(2) }", frame=page.frames[1]), 2),
            "throws": (lambda: thrown(page), 3),
            "focus": (lambda: page.focus(field), "focus"),
            "click": (lambda: page.click(go), {"click": True}),
            "fill": (lambda: page.fill(field, "x"), "input"),
            "wait": (lambda: page.wait_for(expression="() => (note(4), true)"), 4),
        }
        for _ in range(rounds(3, 20)):
            for name, (way, right) in ways.items():
                called.clear()
                await page.evaluate("() => { field.blur(); field.value = '' }")
                await way()
                assert right in called, name


async def thrown(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.EvaluationFailedError, match="boo"):
        await page.evaluate("() => { note(3); throw new Error('boo') }")


async def test_verb_is_cancelled_while_call_has_not_started(
    page: cdpengine.Page, called: list[object]
) -> None:
    """The first call's arguments never arrive, yet the verb that waits for the call can be cancelled."""
    never = "new Proxy({}, { get: () => { for (;;) {} }, ownKeys: () => { for (;;) {} } })"
    async with page.scripts.expose("note", noting(called)):
        with trio.move_on_after(0.5) as scope:
            await page.evaluate(f"() => {{ note({never}); note(2) }}", timeout=10)
        assert scope.cancelled_caught
        await page.recover()
        assert await page.evaluate("note(3)", timeout=10) == 3
