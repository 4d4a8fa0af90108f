"""A quick probe clicks a plainly visible node in a few calls. Other nodes get the full measurement."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio.testing
from action_stage import Stage

from cdpengine._input.actionability.library_calls import handle_on
from cdpengine._page.scripts.page_functions import object_group
from cdpengine._protocol.instruments import Traffic

MEASURING = {"DOM.getContentQuads", "DOM.getBoxModel", "DOM.scrollIntoViewIfNeeded", "Page.getLayoutMetrics"}


@asynccontextmanager
async def sent(stage: Stage) -> AsyncIterator[list[str]]:
    """Collect the methods of commands sent while the block runs."""
    methods: list[str] = []

    def watch(traffic: Traffic) -> None:
        if traffic.direction == "sent":
            methods.append(json.loads(traffic.message)["method"])

    with stage.session.connection.instruments.attached(watch):
        yield methods
        await trio.testing.wait_all_tasks_blocked()


CLOSELY = {
    "out of view": "<div style='height:2000px'></div><button id=go>Go</button>",
    "cut by a scroller": "<div style='width:200px;height:30px;overflow:auto'><p style='height:16px;margin:0'></p>"
    "<button id=go style='height:20px;display:block'>Go</button></div>",
    "over two lines": "<p style='width:90px;font:16px monospace'>xxxx <a id=go href='#x'>one two</a></p>",
    "its middle covered": "<div style='position:relative;width:100px'><button id=go style='width:100px'>Go</button>"
    "<i style='position:absolute;left:40px;top:0;width:20px;height:20px'></i></div>",
    "moving": "<style>@keyframes m { from { margin-left: 0 } to { margin-left: 40px } }</style>"
    "<button id=go style='animation: m .2s linear'>Go</button>",
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("body", CLOSELY.values(), ids=CLOSELY)
async def test_node_that_is_not_plainly_visible_is_measured(stage: Stage, body: str) -> None:
    await stage.show(body)
    node = await stage.node("#go")
    if "animation" in body:
        await stage.js("go.getAnimations().forEach(each => { each.currentTime = 0; each.play() })")
    async with sent(stage) as methods:
        await stage.click(node)
    assert set(methods) >= MEASURING
    assert [entry["target"] for entry in await stage.record("click")] == ["go"]
    inside = "(b => b.top >= 0 && b.bottom <= innerHeight)(go.getBoundingClientRect())"
    assert await stage.js(inside) is True


async def test_element_clipped_by_scroller_is_scrolled_fully_into_view(stage: Stage) -> None:
    await stage.show(CLOSELY["cut by a scroller"])
    await stage.click("#go")
    assert await stage.js("go.parentElement.scrollTop") >= 5


async def test_finished_observer_is_released(stage: Stage) -> None:
    await stage.show("<button id=go>Go</button>")
    node = await stage.node("#go")
    for _ in range(3):
        await stage.click(node)
        with object_group("test") as group:
            library = (await handle_on(node, stage.worlds, group)).library
        assert await library.call("function () { return this.observers.size; }", returns=int) == 0
