"""Arguments of the user's scripts: elements and handles become objects in the page."""

from __future__ import annotations

from collections.abc import Sequence

from cdpengine._api.page.core import BackendNode, ElementTarget, PageCore
from cdpengine._api.page.frame_targets import FrameTarget, find_requested_frame
from cdpengine._budget import Budget
from cdpengine._evaluate.handles import JSHandle
from cdpengine._evaluate.script import Script, World, find_objects
from cdpengine._page.search.locator import BaseLocator, FoundNode
from cdpengine._snapshot.refs import Ref

_ELEMENTS = (Ref, BackendNode, FoundNode, BaseLocator)
"""Arguments of scripts that become elements in the page."""


async def make_script(
    core: PageCore,
    source: str,
    args: Sequence[object],
    target: ElementTarget | None,
    frame: FrameTarget | None,
    world: World,
    budget: Budget,
) -> Script:
    """Return the user's script with its arguments, including nodes, also inside of lists and mappings."""
    first = (
        []
        if target is None
        else [target if isinstance(target, JSHandle) else await core.find_node(target, budget)]
    )
    rest = [await core.find_node(each, budget) if isinstance(each, _ELEMENTS) else each for each in args]
    nodes = {
        id(each): await core.find_node(each, budget)
        for each in find_objects(rest)
        if isinstance(each, _ELEMENTS)
    }
    in_frame = None if frame is None else await find_requested_frame(core, frame, budget)
    return Script(source, [*first, *rest], frame=in_frame, world=world, nodes=nodes)
