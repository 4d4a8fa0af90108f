"""Search for nodes by CSS, visible text, role and accessible name, and for frames and roots.

Rule: a search for one node never guesses. If several nodes match, the error lists them.
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
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import read_present
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import Words
from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply
from cdpengine._page.scripts.page_functions import IsolatedWorlds, Node, object_group
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.locator import FoundNode
from cdpengine._page.search.nodes import find_nodes
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine._snapshot.refs import Ref, parse_ref_text
from cdpengine._snapshot.roles import ELEMENTS, OMITTED_UNNAMED, check_role, chrome_roles, role_name
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
"""Timeout of a search that does not wait, in seconds."""

_MARGIN = 0.1
"""Time before the deadline, in seconds, to raise the specific error; at most a tenth of the timeout."""

_SHOWN = 5
"""Maximum number of candidates in an error."""


def make_criteria(
    css: str | None, role: str | None, name: Words | None, text: Words | None, exact: bool
) -> Criteria:
    """Return the search criteria. Raises InvalidArgumentError for an unknown role."""
    if role is None:
        return Criteria(css, None, name, text, exact, called=role_name, unhidden=unhidden_source)
    known = check_role(role)
    selectors = {role: ELEMENTS.get(role) for role in sorted(chrome_roles(known))}
    return Criteria(
        css, known, name, text, exact, selectors, OMITTED_UNNAMED.get(known), role_name, unhidden_source
    )


async def find_one(
    core: PageCore, criteria: Criteria, frame: Frame | None, nth: int | None, timeout: float
) -> FoundNode:
    """Return the only match, or the match with the number `nth`: `Page.find`."""
    needed = 1 if nth is None else nth + 1
    found = await find_matches(core, criteria, frame, needed, timeout)
    if nth is None and len(found) > 1:
        candidates = tuple(node.description for node in found[:_SHOWN])
        raise AmbiguousNodeError(target=f"find {criteria}", count=len(found), candidates=candidates)
    if len(found) >= needed:
        return found[needed - 1]
    waited = f" within {timeout:g} s" if timeout else ""
    reason = f"only {len(found)} match{waited}" if found else f"no node matches{waited}"
    raise NodeNotFoundError(target=f"find {criteria}", reason=f"{reason}, in {_where(core, frame)}")


async def find_matches(
    core: PageCore, criteria: Criteria, frame: Frame | None, needed: int, timeout: float
) -> list[FoundNode]:
    """Return all matches. With a timeout above 0, wait for `needed` matches until the timeout."""
    seconds = check_timeout(timeout)
    latest: list[list[FoundNode]] = []
    try:
        async with core.action(f"find {criteria}", seconds or _LOOK, everywhere=True) as budget:
            found = await _look(core, criteria, frame, budget)
            if len(found) >= needed or not seconds:
                return found
            latest.append(found)
            with trio.move_on_at(budget.deadline - min(_MARGIN, seconds / 10)):
                await _wait_for_nodes(core, criteria, frame, needed, latest, budget)
    except PageUnresponsiveError:
        raise
    except DeadlineExceededError:
        if not latest:
            raise
        # On a busy machine the deadline can pass before the margin is noticed. The last result is still valid.
    return latest[0]


async def _look(core: PageCore, criteria: Criteria, frame: Frame | None, budget: Budget) -> list[FoundNode]:
    return await read_present(
        core.target,
        lambda: (each.id for each in _frames_in(core, frame)),
        lambda: find_nodes(core.target, core.worlds, criteria, _frames_in(core, frame)),
        budget,
    )


async def _wait_for_nodes(
    core: PageCore,
    criteria: Criteria,
    frame: Frame | None,
    needed: int,
    latest: list[list[FoundNode]],
    budget: Budget,
) -> None:
    """Search again after each change of a document, until there are enough matches."""
    budget.step("waiting for it")
    watches = FrameWatches(core.target, core.worlds, [], frames=lambda: _frames_in(core, frame), changes=True)
    async with open_body_nursery() as nursery:
        nursery.start_soon(watches.run, name="watch for nodes")
        seen = -1
        while len(latest[0]) < needed:
            await core.target.wait_for(lambda: watches.rounds != seen)  # noqa: B023
            seen = watches.rounds
            latest[0] = await _look(core, criteria, frame, budget)


def _frames_in(core: PageCore, frame: Frame | None) -> list[Frame]:
    if frame is None:
        return list(core.target.frames)
    present = core.target.frames.get(frame.id)
    return [] if present is None else [present]


def _where(core: PageCore, frame: Frame | None) -> str:
    frames = _frames_in(core, frame)
    return f"{len(frames)} frames" if len(frames) != 1 else "the frame" if frame else "the page"


FrameTarget: TypeAlias = Frame | ElementTarget
"""A Frame, or a frame's id, name or URL pattern (`*` and `?`), or a ref of the frame's element."""

_MOST_LISTED = 3


async def find_frame(
    page: PageTarget, target: FrameTarget, node_of: Callable[[ElementTarget], Node]
) -> Frame:
    """Return the frame of `target`; `node_of` returns the node of a ref.

    Raises NodeNotFoundError for an unknown frame, InvalidArgumentError if several match, and the errors of
    `node_of`.
    """
    if isinstance(target, Frame):
        known = page.frames.get(target.id)
        if known is None:
            raise NodeNotFoundError(target=f"frame {target.id[:8]}", reason="it is no longer in the page")
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
                given=f"{shorten(quote(target), 80)}, which matches {len(fits)} frames ({_list_refs(fits)})",
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
    # For the document element, Chrome reports the id of the frame that contains it.
    if owned is None or owned.id == node.frame_id:
        raise NodeNotFoundError(target=node.description, reason=f"{describe_target(target)} owns no frame")
    return owned


async def find_root(worlds: IsolatedWorlds, frame: Frame, selector: str) -> int:
    """Return the backend node id of the first element in the frame that matches the CSS selector.

    The search includes open shadow roots. Raises InvalidArgumentError for an invalid selector, NodeNotFoundError
    without a match.
    """
    session = frame.session
    context = await worlds.context(session, frame.id)
    await trio.lowlevel.checkpoint_if_cancelled()
    with object_group("root") as group:
        reply = await context.post(
            own(script("_api/page/find_root")), selector, how=SERIALIZED, group=group
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
