"""Arguments of scripts: elements and handles become objects in the page, and console arguments become handles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import trio

from cdpengine._activity.console import ConsoleMessage
from cdpengine._api.page.core import BackendNode, ElementTarget, PageCore
from cdpengine._api.page.frame_targets import FrameTarget, find_requested_frame
from cdpengine._budget import Budget
from cdpengine._evaluate.handles import Holding, JSHandle, make_handle
from cdpengine._evaluate.script import Script, World, find_objects
from cdpengine._page.scripts.page_functions import Node, new_group
from cdpengine._page.search.locator import BaseLocator, FoundNode
from cdpengine._snapshot.refs import Ref
from cdpengine.errors import InvalidArgumentError, StaleRefError

T = TypeVar("T")

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


async def run_script(make: Callable[[], Awaitable[Script]], run: Callable[[Script], Awaitable[T]]) -> T:
    """Return the result of `run` on a script that `make` returns, and that finds Locators.

    A script checks its elements before it begins. If the page has replaced the match of a Locator by then, the
    script is made again with the new match.
    """
    script = await make()
    while True:
        try:
            return await run(script)
        except StaleRefError:
            before, script = script, await make()
            if _numbers(script) == _numbers(before):
                raise  # no element was found again
            await trio.lowlevel.checkpoint()


def _numbers(script: Script) -> list[int]:
    return [each.backend_node_id for each in script.objects if isinstance(each, Node)]


def hold_arguments(core: PageCore, message: ConsoleMessage) -> list[JSHandle]:
    """Return handles to the arguments of a console message. Sends nothing: Chrome keeps the arguments itself.

    Raises InvalidArgumentError for a message of a worker or of another page, and StaleRefError.
    """
    session, arguments = message.remote_arguments()
    frame = next((each for each in core.target.frames if each.session is session), None)
    if frame is None:
        given = f"a message of a {message.target_type}"
        raise InvalidArgumentError("message", given, "a console message of this page or its frames")
    holding = Holding(new_group("console"))  # without objects, so a release leaves the message as it is
    return [make_handle(each, session, frame, holding, core.evaluator) for each in arguments]
