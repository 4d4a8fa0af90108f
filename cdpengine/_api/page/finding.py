"""Search for nodes by CSS, visible text, role and accessible name, and for roots.

Rule: a search for one node never guesses. If several nodes match, the error lists them with their refs.
"""

from __future__ import annotations

from collections.abc import Sequence

import trio

from cdpengine._api.page.core import PageCore
from cdpengine._api.page.frame_targets import FrameTarget, describe_frame, find_requested_frame
from cdpengine._api.page.targets import assign_ref
from cdpengine._budget import Budget, check_timeout
from cdpengine._javascript import own, script
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import read_present
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.patterns import Words
from cdpengine._page.scripts.node_lists import SERIALIZED, NodesReply
from cdpengine._page.scripts.page_functions import IsolatedWorlds, object_group
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.locator import FoundNode
from cdpengine._page.search.nodes import find_nodes
from cdpengine._snapshot.ref import Ref
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
from cdpengine.errors.selectors import advise, may_be_name
from cdpengine.errors.texts import duration

_LOOK = 5.0
"""Timeout of a search that does not wait, in seconds."""

_MARGIN = 0.1
"""Time before the deadline, in seconds, to raise the specific error; at most a tenth of the timeout."""

_MAX_CANDIDATES = 5
"""Maximum number of candidates in an error."""

_NAMING = 1.0
"""Maximum time to give refs to the candidates in an error, in seconds."""


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
    core: PageCore, criteria: Criteria, frame: FrameTarget | None, nth: int | None, timeout: float
) -> FoundNode:
    """Return the only match, or the match with the number `nth`: `Page.find`."""
    needed = 1 if nth is None else nth + 1
    found = await find_matches(core, criteria, frame, needed, timeout)
    if nth is None and len(found) > 1:
        candidates = await _describe(core, found[:_MAX_CANDIDATES])
        raise AmbiguousNodeError(target=f"find {criteria}", count=len(found), candidates=candidates)
    if len(found) >= needed:
        return found[needed - 1]
    waited = f" within {duration(timeout)}" if timeout and not criteria.is_name else ""
    reason = f"only {len(found)} match{waited}" if found else f"no node matches{waited}"
    reason = f"{reason}, in {_where(core, frame)}"
    if criteria.css is not None and not found and may_be_name(criteria.css):
        reason += f". {quote(criteria.css[:80])} looks like a name. {advise(criteria.css)}"
    raise NodeNotFoundError(target=f"find {criteria}", reason=reason)


async def _describe(core: PageCore, found: Sequence[FoundNode]) -> tuple[str, ...]:
    """Return descriptions of the nodes, with their frames, and with refs for those that a snapshot gives one."""
    refs: dict[FoundNode, Ref] = {}
    with trio.move_on_after(_NAMING):
        for node in found:
            ref = core.refs.known(node.loader_id, node.backend_node_id) or await assign_ref(
                core.target, core.refs, core.worlds, node.backend_node_id, node.session_id, _NAMING
            )
            if ref is not None:
                refs[node] = ref
    core.give({ref.id: ref for ref in refs.values()})
    ids = {node: ref.id for node, ref in refs.items()}
    main = core.target.frames.main.id
    return tuple(
        " ".join(filter(None, (ids.get(node), node.description, _in_frame(core, node.frame_id, main))))
        for node in found
    )


def _in_frame(core: PageCore, frame_id: str, main: str) -> str:
    frame = None if frame_id == main else core.target.frames.get(frame_id)
    return "" if frame is None else f"in the frame {describe_frame(frame)}"


async def find_matches(
    core: PageCore, criteria: Criteria, frame: FrameTarget | None, needed: int, timeout: float
) -> list[FoundNode]:
    """Return all matches. With a timeout above 0, wait for `needed` matches until the timeout."""
    seconds = check_timeout(timeout)
    latest: list[list[FoundNode]] = []
    try:
        async with core.action(f"find {criteria}", seconds or _LOOK, everywhere=True) as budget:
            until = budget.deadline - min(_MARGIN, seconds / 10)
            frame = await find_requested_frame(core, frame, budget, until if seconds else 0.0)
            found = await _look(core, criteria, frame, budget)
            if len(found) >= needed or not seconds or criteria.is_name:
                return found
            latest.append(found)
            with trio.move_on_at(until):
                await _wait_for_nodes(core, criteria, frame, needed, latest, budget)
    except PageUnresponsiveError:
        raise
    except DeadlineExceededError:
        if not latest:
            raise
        # On a busy machine the deadline can pass before the last search, and the previous result is still valid.
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
        last_round = -1
        while len(latest[0]) < needed:
            await core.target.wait_for(lambda: watches.rounds != last_round)  # noqa: B023
            last_round = watches.rounds
            latest[0] = await _look(core, criteria, frame, budget)


def _frames_in(core: PageCore, frame: Frame | None) -> list[Frame]:
    if frame is None:
        return list(core.target.frames)
    present = core.target.frames.get(frame.id)
    return [] if present is None else [present]


def _where(core: PageCore, frame: FrameTarget | None) -> str:
    if frame is None:
        count = len(list(core.target.frames))
        return f"{count} frames" if count != 1 else "the page"
    gone = isinstance(frame, Frame) and core.target.frames.get(frame.id) is None
    return "a frame that is no longer in the page" if gone else "the frame"


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
    described, advice = shorten(quote(selector), 80), advise(selector)
    if reply.exception_details is not None:
        why = reply.exception_details.reason.partition("\n")[0]
        raise InvalidArgumentError(
            what="root",
            given=described,
            expected=f"a ref or a CSS selector{f'. {advice}' if advice else f' ({shorten(why, 120)})'}",
        )
    if found := reply.result.deep_serialized_value.nodes():
        return found[0].backend_node_id
    reason = f"nothing in {shown_url(frame.url)} matches this selector"
    raise NodeNotFoundError(target=described, reason=f"{reason}. {advice}" if advice else reason)
