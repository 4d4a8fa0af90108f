"""Scrolling by one viewport: the distance that shows the next part of the scrolled content."""

from __future__ import annotations

from typing import Literal, cast

from cdpengine._api.page.core import PageCore
from cdpengine._api.page.targets import ElementTarget
from cdpengine._javascript import script

Way = Literal["up", "down", "left", "right"]

_SCROLLPORT = "_api/page/scrollport"
_FIRST = (1.0, 1.0)
"""Point where the wheel turns while the mouse has never moved, in CSS pixels."""


async def one_viewport(
    core: PageCore, way: Way, target: ElementTarget | None, *, heal: bool, timeout: float
) -> tuple[float, float]:
    """Return the distance of one viewport in CSS pixels (right, down), for `page.scroll`.

    The distance is the visible size of the scrollable element around the target, or under the mouse without a
    target; at most the page's viewport. Raises the errors of `page.scroll`.
    """
    if target is None:
        at = core.mouse.position
        point = tuple(at) if tuple(at) != (0, 0) else _FIRST
        request = {"way": way, "point": point}
        found = await core.read("scroll", script(_SCROLLPORT), timeout, request)
        width, height = cast("list[float]", found)
    else:
        async with core.action("scroll", timeout) as budget:
            node, _ = await core.resolve_target(target, heal, budget)
            async with core.context(budget).inspect(node, "scroll") as inspection:
                probe = {"way": way, "point": None}
                width, height = await inspection.run(script(_SCROLLPORT), probe, tuple[float, float])
    return {"up": (0, -height), "down": (0, height), "left": (-width, 0), "right": (width, 0)}[way]
