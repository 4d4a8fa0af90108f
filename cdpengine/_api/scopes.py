"""What a snapshot is to be of: the frame and the root that `frame=` and `root=` name.

Rule: what names nothing, or more than one thing, is refused; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TypeAlias

import msgspec
import trio

from cdpengine._api.targets import BackendNode, ElementTarget, describe_target
from cdpengine._page.frames import Frame
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import deep, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import decode_reply
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine._protocol.domains.runtime import CallReply
from cdpengine._snapshot.refs import Ref, parse_ref_text
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError, shown_url
from cdpengine.js import own, script

FrameTarget: TypeAlias = Frame | ElementTarget
"""A Frame, a frame's id, its name, a pattern of its URL with `*` and `?`, or a ref of the element that owns it."""

_MOST_LISTED = 3


class _DeepValue(msgspec.Struct, rename="camel"):
    backend_node_id: int | None = None


class _Deep(msgspec.Struct, rename="camel"):
    type: str = ""
    value: _DeepValue | None = None


async def find_frame(
    page: PageTarget, target: FrameTarget, node_of: Callable[[ElementTarget], Node]
) -> Frame:
    """Return the frame that `target` names; `node_of` makes a node of a ref.

    Raises NodeNotFoundError when the page has no such frame, InvalidArgumentError when several fit, and as
    `node_of`.
    """
    if isinstance(target, Frame):
        known = page.frames.get(target.id)
        if known is None:
            raise NodeNotFoundError(target=f"frame {target.id[:8]}", reason="it is not in the page any more")
        return known
    if isinstance(target, Ref | BackendNode) or (isinstance(target, str) and parse_ref_text(target)):
        return await _owned_frame(page, target, node_of(target))
    if not isinstance(target, str):
        raise InvalidArgumentError(
            what="frame",
            given=f"a {type(target).__name__}",
            expected="a Frame, a frame's id, name or URL pattern, or a ref of its element",
        )
    frames = list(page.frames)
    for fits in (
        [frame for frame in frames if frame.id == target],
        [frame for frame in frames if target and frame.name == target],
        [frame for frame in frames if frame.url == target or fnmatchcase(frame.url, target)],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            raise InvalidArgumentError(
                what="frame",
                given=f"{shorten(quote(target), 80)}, which {len(fits)} frames fit ({_listed(fits)})",
                expected="the id of one of them",
            )
    raise NodeNotFoundError(
        target=f"frame {shorten(quote(target), 80)}", reason=f"the page's frames are {_listed(frames)}"
    )


async def _owned_frame(page: PageTarget, target: ElementTarget, node: Node) -> Frame:
    reply = await node.session.request(
        "DOM.describeNode", {"backendNodeId": node.backend_node_id}, DescribeNodeReply
    )
    owned = None if reply.node.frame_id is None else page.frames.get(reply.node.frame_id)
    # The document element is told with its own frame's id, as every element that owns none is with none.
    if owned is None or owned.id == node.frame_id:
        raise NodeNotFoundError(target=node.description, reason=f"{describe_target(target)} owns no frame")
    return owned


async def find_root(worlds: IsolatedWorlds, frame: Frame, selector: str, page: PageTarget) -> int:
    """Return the backend node id of the first element in the frame that matches the CSS selector.

    Open shadow roots are searched too. Raises InvalidArgumentError for what is no selector, NodeNotFoundError when
    nothing matches.
    """
    session = page.session_of(frame)
    context = await worlds.context(session, frame.id)
    await trio.lowlevel.checkpoint_if_cancelled()
    with object_group("root") as group:
        reply = await context.post(own(script("query")), selector, how=deep(1), group=group).decoded(
            CallReply
        )
    shown = shorten(quote(selector), 80)
    if reply.exception_details is not None:
        why = reply.exception_details.reason.partition("\n")[0]
        raise InvalidArgumentError(
            what="root", given=shown, expected=f"a ref or a CSS selector ({shorten(why, 120)})"
        )
    if reply.result.subtype == "node" and bytes(reply.result.deep_serialized_value):
        found = decode_reply("Runtime.callFunctionOn", reply.result.deep_serialized_value, _Deep)
        if found.value is not None and found.value.backend_node_id is not None:
            return found.value.backend_node_id
    raise NodeNotFoundError(target=shown, reason=f"nothing in {shown_url(frame.url)} matches this selector")


def _listed(frames: list[Frame]) -> str:
    shown = ", ".join(
        f"{frame.id} {f'{quote(shorten(frame.name, 40))} ' if frame.name else ''}"
        f"{shorten(shown_url(frame.url), 60)}"
        for frame in frames[:_MOST_LISTED]
    )
    more = f", and {len(frames) - _MOST_LISTED} more" if len(frames) > _MOST_LISTED else ""
    return shown + more
