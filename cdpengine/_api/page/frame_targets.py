"""Frames as arguments: a Frame, its id, name or URL, or the element that contains it.

Rule: an argument names one frame. Several matching frames are an error that lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TypeAlias

import trio

from cdpengine._api.page.core import BackendNode, ElementTarget, PageCore, describe_target
from cdpengine._budget import Budget
from cdpengine._checks import check_string
from cdpengine._evaluate.handles import JSHandle
from cdpengine._page.frame_views import FrameView
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.search.locator import BaseLocator, FoundNode
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine._snapshot.refs import Ref, parse_ref_text
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError, shown_url

FrameTarget: TypeAlias = FrameView | Frame | ElementTarget
"""A Frame; a frame's id, name or URL pattern (`*` and `?`); or the frame's element: a ref, a node, a Locator."""

_MOST_LISTED = 3


async def find_requested_frame(
    core: PageCore, target: FrameTarget | None, budget: Budget, until: float = 0.0
) -> Frame | None:
    """Return the frame of an optional argument; a Frame is returned without a check.

    Waits for a frame with this id, name or URL until the time `until` of trio's clock. Raises the errors of
    `find_frame`.
    """
    if isinstance(target, FrameView):
        return target.internals
    if target is None or isinstance(target, Frame):
        return target
    if isinstance(target, str) and parse_ref_text(target) is None and until:
        with trio.move_on_at(until):
            await core.target.wait_for(lambda: bool(_matching(core.target, target)))
    return await find_frame(core, target, budget)


async def find_frame(core: PageCore, target: FrameTarget, budget: Budget) -> Frame:
    """Return the frame of `target`.

    Raises NodeNotFoundError for an unknown frame, InvalidArgumentError if several match, and the errors of
    `PageCore.find_node`.
    """
    page = core.target
    if isinstance(target, Frame | FrameView):
        known = page.frames.get(target.id)
        if known is None:
            raise NodeNotFoundError(target=f"frame {target.id[:8]}", reason="it is no longer in the page")
        return known
    if isinstance(target, Ref | BackendNode | FoundNode | BaseLocator | JSHandle) or (
        isinstance(target, str) and parse_ref_text(target)
    ):
        return await find_owned_frame(page, target, await core.find_node(target, budget))
    check_string(
        "frame", target, "a Frame, a frame's id, name or URL pattern, or its element: a ref or a Locator"
    )
    fits = _matching(page, target)
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise InvalidArgumentError(
            what="frame",
            given=f"{shorten(quote(target), 80)}, which matches {len(fits)} frames ({_list_frames(fits)})",
            expected="the id of one of them",
        )
    raise NodeNotFoundError(
        target=f"frame {shorten(quote(target), 80)}",
        reason=f"the page's frames are {_list_frames(list(page.frames))}",
    )


def _matching(page: PageTarget, text: str) -> list[Frame]:
    """Return the frames with this id, or else with this name, or else with a URL that matches this pattern."""
    frames = list(page.frames)
    return (
        [frame for frame in frames if frame.id == text]
        or [frame for frame in frames if text and frame.name == text]
        or [frame for frame in frames if frame.url == text or fnmatchcase(frame.url, text)]
    )


async def find_owned_frame(page: PageTarget, target: ElementTarget, node: Node) -> Frame:
    """Return the frame of its element. Raises NodeNotFoundError for an element that shows no frame."""
    reply = await node.session.request(
        "DOM.describeNode", {"backendNodeId": node.backend_node_id}, DescribeNodeReply
    )
    owned = None if reply.node.frame_id is None else page.frames.get(reply.node.frame_id)
    # For the document element, Chrome reports the id of the frame that contains it.
    if owned is None or owned.id == node.frame_id:
        frames = _list_frames(list(page.frames))
        raise NodeNotFoundError(
            target=node.description,
            reason=f"{describe_target(target)} owns no frame; the page's frames are {frames}",
        )
    return owned


def describe_frame(frame: Frame | FrameView) -> str:
    """Return the name and the URL of a frame, for messages."""
    name = f"{quote(shorten(frame.name, 40))} " if frame.name else ""
    return f"{name}{shorten(shown_url(frame.url), 60)}"


def _list_frames(frames: Sequence[Frame]) -> str:
    listed = ", ".join(f"{frame.id} {describe_frame(frame)}" for frame in frames[:_MOST_LISTED])
    more = f", and {len(frames) - _MOST_LISTED} more" if len(frames) > _MOST_LISTED else ""
    return listed + more
