"""Answers of a page that a dialog, or another document on its way, holds back.

Rule: such an answer is not waited for any longer than until that is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from cdpengine._input.devices.mouse import Interruptions
from cdpengine._nursery import open_body_nursery
from cdpengine._page.side_effects import SideEffects

T = TypeVar("T")


async def unless_held_back(
    ask: Callable[[], Awaitable[T]], interruptions: Interruptions, navigation: SideEffects | None
) -> T | None:
    """Return what the page answers; None when a dialog, or another document on its way, holds the answer back.

    The answer also says that everything that the input has set off in the page was reported before.
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
