"""Finding: nodes by CSS, visible text, role and accessible name; frames and roots by what names them.

Rule: one node that is asked for is one node: where several match, that is an error which lists them, not a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import TypeAlias

import trio

from cdpengine._api.page.core import BackendNode, ElementTarget, PageCore, describe_target
from cdpengine._budget import Budget, check_timeout
from cdpengine._javascript import own, script
from cdpengine._nursery import open_body_nursery
from cdpengine._page.finding import FoundNode, Wanted, find_nodes
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.arriving import read_present
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import Words
from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply
from cdpengine._page.scripts.page_functions import IsolatedWorlds, Node, object_group
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine._snapshot.refs import Ref, parse_ref_text
from cdpengine._snapshot.roles import ELEMENTS, UNTOLD, check_role, chrome_roles, role_name
from cdpengine._snapshot.sources.unhidden import unhidden_source
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import (
    AmbiguousNodeError,
    DeadlineExceededError,
    InvalidArgumentError,
    NodeNotFoundError,
    PageUnresponsiveError,
    shown_url,
)

_LOOK = 5.0
"""Seconds that one look may take where nothing is waited for."""

_MARGIN = 0.1
"""Seconds, at most a tenth of the timeout, in which the named error is raised before the deadline cuts in."""

_SHOWN = 5
"""Candidates that an error lists."""


def make_wanted(
    css: str | None, role: str | None, name: Words | None, text: Words | None, exact: bool
) -> Wanted:
    """Return what is looked for. Raises InvalidArgumentError for a role that there is not."""
    if role is None:
        return Wanted(css, None, name, text, exact, called=role_name, unhidden=unhidden_source)
    known = check_role(role)
    told = {role: ELEMENTS.get(role) for role in sorted(chrome_roles(known))}
    return Wanted(css, known, name, text, exact, told, UNTOLD.get(known), role_name, unhidden_source)


async def find_one(
    core: PageCore, wanted: Wanted, frame: Frame | None, nth: int | None, timeout: float
) -> FoundNode:
    """Return the one node that matches, or the one of that number: `Page.find`."""
    needed = 1 if nth is None else nth + 1
    found = await look_for(core, wanted, frame, needed, timeout)
    if nth is None and len(found) > 1:
        candidates = tuple(node.description for node in found[:_SHOWN])
        raise AmbiguousNodeError(target=f"find {wanted}", count=len(found), candidates=candidates)
    if len(found) >= needed:
        return found[needed - 1]
    waited = f" within {timeout:g} s" if timeout else ""
    reason = f"only {len(found)} of these{waited}" if found else f"there is none{waited}"
    raise NodeNotFoundError(target=f"find {wanted}", reason=f"{reason}, in {_where(core, frame)}")


async def look_for(
    core: PageCore, wanted: Wanted, frame: Frame | None, needed: int, timeout: float
) -> list[FoundNode]:
    """Return the nodes that match; with a timeout above 0, once so many are there, or what there is at its end."""
    seconds = check_timeout(timeout)
    latest: list[list[FoundNode]] = []
    try:
        async with core.action(f"find {wanted}", seconds or _LOOK, everywhere=True) as budget:
            found = await _look(core, wanted, frame, budget)
            if len(found) >= needed or not seconds:
                return found
            latest.append(found)
            with trio.move_on_at(budget.deadline - min(_MARGIN, seconds / 10)):
                await _wait_for_nodes(core, wanted, frame, needed, latest, budget)
    except PageUnresponsiveError:
        raise
    except DeadlineExceededError:
        if not latest:
            raise
        # On a busy machine the margin is over before anybody notices; what was seen is known all the same.
    return latest[0]


async def _look(core: PageCore, wanted: Wanted, frame: Frame | None, budget: Budget) -> list[FoundNode]:
    return await read_present(
        core.target,
        lambda: (each.id for each in _frames_in(core, frame)),
        lambda: find_nodes(core.target, core.worlds, wanted, _frames_in(core, frame)),
        budget,
    )


async def _wait_for_nodes(
    core: PageCore,
    wanted: Wanted,
    frame: Frame | None,
    needed: int,
    latest: list[list[FoundNode]],
    budget: Budget,
) -> None:
    """Look again after each change of a document, until there are enough nodes."""
    budget.step("waiting for it")
    watches = FrameWatches(core.target, core.worlds, [], frames=lambda: _frames_in(core, frame), changes=True)
    async with open_body_nursery() as nursery:
        nursery.start_soon(watches.run, name="watch for nodes")
        seen = -1
        while len(latest[0]) < needed:
            await core.target.wait_for(lambda: watches.rounds != seen)  # noqa: B023
            seen = watches.rounds
            latest[0] = await _look(core, wanted, frame, budget)


def _frames_in(core: PageCore, frame: Frame | None) -> list[Frame]:
    if frame is None:
        return list(core.target.frames)
    present = core.target.frames.get(frame.id)
    return [] if present is None else [present]


def _where(core: PageCore, frame: Frame | None) -> str:
    frames = _frames_in(core, frame)
    return f"{len(frames)} frames" if len(frames) != 1 else "the frame" if frame else "the page"


FrameTarget: TypeAlias = Frame | ElementTarget
"""A Frame, a frame's id, its name, a pattern of its URL with `*` and `?`, or a ref of the element that owns it."""

_MOST_LISTED = 3


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
        return await _find_owned_frame(page, target, node_of(target))
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
                given=f"{shorten(quote(target), 80)}, which {len(fits)} frames fit ({_list_refs(fits)})",
                expected="the id of one of them",
            )
    raise NodeNotFoundError(
        target=f"frame {shorten(quote(target), 80)}", reason=f"the page's frames are {_list_refs(frames)}"
    )


async def _find_owned_frame(page: PageTarget, target: ElementTarget, node: Node) -> Frame:
    reply = await node.session.request(
        "DOM.describeNode", {"backendNodeId": node.backend_node_id}, DescribeNodeReply
    )
    owned = None if reply.node.frame_id is None else page.frames.get(reply.node.frame_id)
    # The document element is told with its own frame's id, as every element that owns none is with none.
    if owned is None or owned.id == node.frame_id:
        raise NodeNotFoundError(target=node.description, reason=f"{describe_target(target)} owns no frame")
    return owned


async def find_root(worlds: IsolatedWorlds, frame: Frame, selector: str) -> int:
    """Return the backend node id of the first element in the frame that matches the CSS selector.

    Open shadow roots are searched too. Raises InvalidArgumentError for an invalid selector, NodeNotFoundError when
    nothing matches.
    """
    session = frame.session
    context = await worlds.context(session, frame.id)
    await trio.lowlevel.checkpoint_if_cancelled()
    with object_group("root") as group:
        reply = await context.post(
            own(script("_api/page/query")), selector, how=SERIALIZED, group=group
        ).decoded(NodesReply)
    shown = shorten(quote(selector), 80)
    if reply.exception_details is not None:
        why = reply.exception_details.reason.partition("\n")[0]
        raise InvalidArgumentError(
            what="root", given=shown, expected=f"a ref or a CSS selector ({shorten(why, 120)})"
        )
    if found := reply.result.deep_serialized_value.nodes():
        return found[0].backend_node_id
    raise NodeNotFoundError(target=shown, reason=f"nothing in {shown_url(frame.url)} matches this selector")


def _list_refs(frames: list[Frame]) -> str:
    shown = ", ".join(
        f"{frame.id} {f'{quote(shorten(frame.name, 40))} ' if frame.name else ''}"
        f"{shorten(shown_url(frame.url), 60)}"
        for frame in frames[:_MOST_LISTED]
    )
    more = f", and {len(frames) - _MOST_LISTED} more" if len(frames) > _MOST_LISTED else ""
    return shown + more
