"""Scrolling by mouse wheel, over a node or at the mouse's position.

Rule: the wheel turns once, over a node that receives events there. The page's wheel event shows which element
received it. Then the engine waits up to 2 s for the end of the scrolling, so that the next action finds the page
at rest. It does not wait if a dialog is open or a navigation is pending.
"""

from __future__ import annotations

from functools import cache

import trio

from cdpengine._input.action import TO_HOVER, ActionContext, ActionOutcome, perform
from cdpengine._input.actionability.page_library import InputObserver
from cdpengine._input.devices.mouse import check_point
from cdpengine._input.geometry import Point
from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import How, Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError

_SETTLED: How = {"awaitPromise": True}
"""Wait until the promise settles and ignore its value."""

_WHEEL_EVENT_TIMEOUT = 1.0
"""Maximum time until the page's wheel event, in seconds. It comes with the next frame."""

_REST_TIMEOUT = 2.0
"""Maximum time to wait for the end of scrolling, in seconds."""


async def scroll_at(node: Node, dx: float, dy: float, *, context: ActionContext) -> ActionOutcome:
    """Turn the wheel over the node, by CSS pixels: positive is right and down. Raises the errors of `hover`."""
    delta = check_point(dx, dy, what="dx, dy")
    mouse = context.mouse.on(node.session)
    observer = InputObserver(("wheel",), "wheel", guard=False, on_disabled=True)

    async def gesture(point: Point) -> bool:
        dialog = await mouse.wheel_at(point, delta)
        if not dialog:
            # Chrome scrolls and responds before the page receives the event.
            await observer.linger(_WHEEL_EVENT_TIMEOUT)
        return dialog

    outcome = await perform(node, "scroll", gesture, observer, TO_HOVER, context=context)
    navigation = context.navigation
    if not outcome.dialog_opened and not (navigation and navigation.navigation_pending):
        await wait_for_scroll_end(node.session, context.worlds, node.frame_id)
    return outcome


async def scroll_here(dx: float, dy: float, frame_id: str, *, context: ActionContext) -> ActionOutcome:
    """Turn the wheel at the mouse's position. `frame_id` is the main frame. Raises InvalidArgumentError."""
    delta = check_point(dx, dy, what="dx, dy")
    at = context.mouse.position
    at = at if at != (0, 0) else Point(1, 1)
    dialog = await context.mouse.wheel_at(at, delta)
    if not dialog:
        await wait_for_scroll_end(context.mouse.session, context.worlds, frame_id)
    return ActionOutcome("scroll", "", at, dialog_opened=dialog)


@cache
def _scroll_end_source() -> str:
    return own(f"({script('_input/scroll_end')})()")


async def wait_for_scroll_end(session: Session, worlds: IsolatedWorlds, frame_id: str) -> None:
    """Return when nothing in the frame's document has scrolled for three animation frames, or after 2 s."""
    with trio.move_on_after(_REST_TIMEOUT):
        try:
            context = await worlds.context(session, frame_id)
            await context.post_expression(_scroll_end_source(), how=_SETTLED).raw()
        except RemoteError:
            return  # the document was replaced, so its scrolling has ended
