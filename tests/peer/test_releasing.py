"""Remote objects are released at the end of each use, and a release error never replaces the reason for that
end.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._protocol.instruments import Traffic
from cdpengine.testing import Request
from cdpengine.testing.peer import Answer

NODE = cdpengine.BackendNode(5)

QUAD = [10, 10, 30, 10, 30, 20, 10, 20]
BOX = {"content": QUAD, "padding": QUAD, "border": QUAD, "margin": QUAD, "width": 20, "height": 10}
VIEWPORT = {
    "pageX": 0,
    "pageY": 0,
    "clientWidth": 800,
    "clientHeight": 600,
    "offsetX": 0,
    "offsetY": 0,
    "scale": 1,
}


async def _hold(page: cdpengine.Page) -> None:
    async with page.evaluate_handle("document"):
        await page.session.call("Page.held")


USES: dict[str, Callable[[cdpengine.Page], Awaitable[object]]] = {
    "bounding_box": lambda page: page.elements.bounding_box(NODE),
    "click": lambda page: page.click(NODE),
    "hover": lambda page: page.hover(NODE),
    "fill": lambda page: page.fill(NODE, "text"),
    "check": lambda page: page.check(NODE),
    "select": lambda page: page.select(NODE, "one"),
    "scroll_into_view": lambda page: page.scroll_into_view(NODE),
    "find": lambda page: page.find(css="a"),
    "find by role": lambda page: page.find(role="link"),
    "wait_for": lambda page: page.wait_for(text="never there"),
    "evaluate": lambda page: page.evaluate("({})"),
    "evaluate on a node": lambda page: page.evaluate("(node) => node", NODE),
    "evaluate in the isolated world": lambda page: page.evaluate("({})", world="isolated"),
    "evaluate on a node, isolated": lambda page: page.evaluate("(node) => node", NODE, world="isolated"),
    "evaluate_handle": _hold,
    "screenshot": lambda page: page.screenshot(),
    "root by a selector": lambda page: page.snapshot(source="dom", root="css=main"),
    "snapshot": lambda page: page.snapshot(source="dom"),
    "snapshot of a root": lambda page: page.snapshot(source="dom", root="main"),
    "content": lambda page: page.content(),
}


def object_for(request: Request) -> Answer:
    if request.params.get("returnByValue"):
        return {"result": {"type": "number", "value": 1}}
    return {"result": {"type": "object", "objectId": f"1.7.{len(request.method)}"}}


@pytest.fixture
def answering(scripted: ScriptedBrowser) -> ScriptedBrowser:
    scripted.on("DOM.getContentQuads", {"quads": [QUAD]})
    scripted.on("DOM.getBoxModel", {"model": BOX})
    scripted.on("Page.getLayoutMetrics", {"cssLayoutViewport": VIEWPORT, "cssVisualViewport": VIEWPORT})
    scripted.on("Runtime.callFunctionOn", object_for)
    scripted.on("Runtime.evaluate", object_for)
    return scripted


@pytest.mark.parametrize("use", USES)
async def test_a_cancellation_wins_over_the_end_of_the_session(
    use: str, browser: cdpengine.Browser, answering: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """At each command of the use, the session ends and the use is cancelled before it notices."""
    await _ended_at_each_command(USES[use], browser, answering)


async def test_a_cancelled_upload_wins_over_the_end_of_the_session(
    browser: cdpengine.Browser, answering: ScriptedBrowser
) -> None:
    # On real time: the upload searches for files in a thread, and a clock that jumps does not wait for
    # threads.
    await _ended_at_each_command(lambda page: page.upload(NODE, __file__), browser, answering)


async def _ended_at_each_command(
    use: Callable[[cdpengine.Page], Awaitable[object]], browser: cdpengine.Browser, scripted: ScriptedBrowser
) -> None:
    moments = 0
    while await _ended_at(moments, await browser.new_page(), scripted, use):
        moments += 1
    assert moments


async def _ended_at(
    moment: int,
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    use: Callable[[cdpengine.Page], Awaitable[object]],
) -> bool:
    """Run the use. The page closes at the command of that number. Return whether the use reached it."""
    await quiet()
    session, sent, ended = page.session, 0, False
    scope = trio.CancelScope()

    def watch(traffic: Traffic) -> None:
        nonlocal sent, ended
        message = json.loads(traffic.message)
        if traffic.direction == "sent" and message.get("sessionId") == session.id:
            if sent == moment:
                scripted.vanish(page.target_id)
            sent += 1
        elif message.get("params", {}).get("sessionId") == session.id:
            # The use sees its cancellation first: the reader ends the session right after this.
            ended = True
            scope.cancel()

    with session.connection.instruments.attached(watch), scope:
        failure: cdpengine.errors.EngineError | None = None
        try:
            await use(page)
        except cdpengine.errors.EngineError as error:
            failure = error
        # The page's answers fit no use completely. A task that was about to run at the cancellation may raise
        # its own error that the page is gone.
        assert not _replaced_a_cancellation(failure), f"at command {moment + 1}"
    return ended


def _replaced_a_cancellation(error: BaseException | None) -> bool:
    """Return whether the error was raised while a cancellation was propagating."""
    while error is not None:
        if isinstance(error, trio.Cancelled):
            return True
        error = error.__context__
    return False
