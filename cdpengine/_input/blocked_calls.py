"""Calls whose response a dialog or a navigation may block.

Rule: the engine stops waiting for the response as soon as Chrome has reported the dialog or navigation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from cdpengine._input.devices.mouse import Interruptions
from cdpengine._nursery import open_body_nursery
from cdpengine._page.side_effects import SideEffects

T = TypeVar("T")


async def unless_blocked(
    ask: Callable[[], Awaitable[T]], interruptions: Interruptions, navigation: SideEffects | None
) -> T | None:
    """Return the result of `ask`, or None if a dialog or a navigation blocks the page's response.

    A response also means that the page has reported all earlier effects of the input.
    """
    if navigation is not None and navigation.navigation_pending:
        return None
    answer: T | None = None
    async with open_body_nursery() as nursery:

        async def give_up_after(wait: Callable[[], Awaitable[None]]) -> None:
            await wait()
            nursery.cancel_scope.cancel()

        nursery.start_soon(give_up_after, interruptions.dialog_opened)
        if navigation is not None:
            nursery.start_soon(give_up_after, navigation.wait_for_navigation)
        answer = await ask()
        nursery.cancel_scope.cancel()
    return answer
