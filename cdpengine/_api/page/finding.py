"""Search for nodes by CSS, visible text, role and accessible name, and for roots.

Rule: a search for one node never guesses. If several nodes match, the error lists them with their refs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import cast

import attrs
import trio

from cdpengine._api.page.core import ElementTarget, PageCore
from cdpengine._api.page.frame_targets import FrameTarget, describe_frame, find_requested_frame
from cdpengine._api.page.similar_nodes import SimilarNodes, similar_nodes
from cdpengine._api.page.targets import assign_ref, describe_target
from cdpengine._budget import Budget, check_timeout
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frame_views import FrameView
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.document_waits import read_present
from cdpengine._page.navigation.documents import FrameWatches
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import Words
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.locator import BaseLocator, FoundNode, find_match
from cdpengine._page.search.nodes import find_nodes
from cdpengine._page.search.queries import (
    Known,
    Query,
    count_needed,
    leaves,
    map_leaves,
    pick,
    split_pick,
)
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.roles import ELEMENTS, OMITTED_UNNAMED, check_role, chrome_roles, role_name
from cdpengine._snapshot.sources.unhidden import unhidden_source
from cdpengine._snapshot.text import quote, shorten
from cdpengine.errors import (
    AmbiguousNodeError,
    DeadlineExceededError,
    EngineError,
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

_MOVING = 0.5
"""Time in seconds in which Chrome reports the new frame of a frame that moves to another process."""

_MAX_CANDIDATES = 5
"""Maximum number of candidates in an error."""

NAMING = 3.0
"""Maximum time to give refs to the candidates in an error, in seconds."""


def make_query(
    css: str | None = None,
    *,
    role: str | None = None,
    name: Words | None = None,
    text: Words | None = None,
    label: Words | None = None,
    placeholder: Words | None = None,
    alt_text: Words | None = None,
    title: Words | None = None,
    test_id: str | None = None,
    exact: bool = False,
    nth: int | None = None,
) -> Query:
    """Return the query for these criteria. Raises InvalidArgumentError, for example for an unknown role."""
    known = None if role is None else check_role(role)
    criteria = Criteria(
        css,
        known,
        name,
        text,
        label,
        placeholder,
        alt_text,
        title,
        test_id,
        exact,
        {} if known is None else {each: ELEMENTS.get(each) for each in sorted(chrome_roles(known))},
        None if known is None else OMITTED_UNNAMED.get(known),
        role_name,
        unhidden_source,
    )
    return criteria if nth is None else pick(criteria, nth)


@attrs.frozen
class PageSearch:
    """The search of a page for the matches of a locator, in all frames or in `frame`: a `NodeSearch`."""

    core: PageCore
    frame: FrameTarget | None = None

    async def find_now(self, query: Query) -> FoundNode | None:
        """Return the single match if there is one now; None for any other result. Raises nothing.

        An action calls it before `find_one`, which takes 0.2 ms more because it can wait and explain.
        """
        core, navigation = self.core, self.core.target.navigation
        base, nth = split_pick(query)
        known = any(isinstance(leaf, Known) for leaf in leaves(base))
        if self.frame is not None or known or navigation.pending or navigation.fresh:
            return None
        try:
            last, single = (nth or 0) < 0, nth is None
            found = await find_nodes(core.target, core.worlds, base, last=last, single=single)
        except EngineError:
            return None
        if navigation.pending or navigation.fresh or (single and len(found) != 1):
            return None
        index = nth or 0
        return found[index] if len(found) >= count_needed(index) else None

    async def find_one(self, query: Query, timeout: float) -> FoundNode:
        """Return the single match, waiting for it. Raises the errors of `Page.find`."""
        return await find_one(self.core, query, self.frame, timeout, explain=timeout > 0)

    async def find_all(self, query: Query, needed: int, timeout: float) -> list[FoundNode]:
        """Return the matches, waiting for `needed` of them if the timeout is above 0."""
        return await find_matches(self.core, query, self.frame, needed, timeout)

    def describe(self, query: Query) -> str:
        """Return a description of the query, with the frame if it has one."""
        if self.frame is None:
            return str(query)
        if isinstance(self.frame, Frame | FrameView):
            return f"{query} in the frame {describe_frame(self.frame)}"
        return f"{query} in the frame {describe_target(self.frame)}"

    def is_of(self, page: PageTarget) -> bool:
        """Return whether the search is that of this page."""
        return self.core.target is page


async def find_one(
    core: PageCore, query: Query, frame: FrameTarget | None, timeout: float, *, explain: bool = True
) -> FoundNode:
    """Return the only match, or the chosen one: `Page.find`. With `explain`, the error lists similar nodes."""
    base, nth = split_pick(query)
    seconds = check_timeout(timeout)
    similar = similar_nodes(core, base, frame) if explain else None
    needed = 1 if nth is None else count_needed(nth)
    found = await find_matches_of(
        core, base, frame, needed, seconds, last=(nth or 0) < 0, single=nth is None, similar=similar
    )
    if nth is None and len(found) > 1:
        naming = min(NAMING, timeout / 2) if timeout else NAMING
        candidates = await describe_matches(core, found[:_MAX_CANDIDATES], naming)
        raise AmbiguousNodeError(target=f"find {base}", count=len(found), candidates=candidates)
    if len(found) >= needed:
        return found[0 if nth is None else nth]
    css = base.css if isinstance(base, Criteria) else None
    waited = f" within {duration(timeout)}" if timeout and not _never_matches(base) else ""
    reason = f"only {len(found)} match{waited}" if found else f"no node matches{waited}"
    reason = f"{reason}, in {_where(core, frame)}"
    if css is not None and not found and may_be_name(css):
        reason += f". {quote(css[:80])} looks like a name. {advise(css)}"
    if similar is not None and not found:
        if not seconds:
            await similar.read_now()
        reason += similar.explain()
    raise NodeNotFoundError(target=f"find {base}", reason=reason)


def similar_to(locator: BaseLocator) -> SimilarNodes | None:
    """Return the similar nodes of a locator without a match, before they are read; None without a hint."""
    search = locator.internals
    if not isinstance(search, PageSearch):
        return None
    return similar_nodes(search.core, split_pick(locator.query)[0], search.frame)


def _never_matches(query: Query) -> bool:
    """Return whether the selector is probably a name, so that a wait for a match would never end."""
    return isinstance(query, Criteria) and query.is_name


async def find_ref(core: PageCore, locator: BaseLocator, timeout: float) -> Ref:
    """Return the ref of the locator's match: `Locator.ref`."""
    async with core.action(f"get the ref of {locator}", timeout) as budget:
        node = await find_match(locator, budget.deadline)
        ref = core.refs.known(node.loader_id, node.backend_node_id) or await assign_ref(
            core.target,
            core.refs,
            core.worlds,
            node.backend_node_id,
            node.session_id,
            budget.remaining,
            every=True,
            frame_id=node.frame_id,
        )
        if ref is None:
            raise NodeNotFoundError(
                target=f"ref of {node}", reason="its document was replaced, or did not answer in time"
            )
        core.give({ref.id: ref})
        return core.received(ref)


async def describe_matches(
    core: PageCore, found: Sequence[FoundNode], seconds: float = NAMING
) -> tuple[str, ...]:
    """Return descriptions of the nodes, with their refs and frames; without refs if that takes too long."""
    refs: dict[FoundNode, Ref] = {}
    with trio.move_on_after(seconds):
        for node in found:
            ref = core.refs.known(node.loader_id, node.backend_node_id) or await assign_ref(
                core.target,
                core.refs,
                core.worlds,
                node.backend_node_id,
                node.session_id,
                seconds,
                every=True,
                frame_id=node.frame_id,
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
    core: PageCore, query: Query, frame: FrameTarget | None, needed: int, timeout: float
) -> list[FoundNode]:
    """Return all matches. With a timeout above 0, wait for `needed` matches until the timeout."""
    seconds = check_timeout(timeout)
    base, nth = split_pick(query)
    if nth is not None:
        found = await find_matches_of(core, base, frame, count_needed(nth), seconds, last=nth < 0)
        return [found[nth]] if len(found) >= count_needed(nth) else []
    return await find_matches_of(core, base, frame, needed, seconds)


async def find_matches_of(
    core: PageCore,
    query: Query,
    frame: FrameTarget | None,
    needed: int,
    seconds: float,
    *,
    last: bool = False,
    single: bool = False,
    similar: SimilarNodes | None = None,
) -> list[FoundNode]:
    """Return all matches, as `find_matches`; of very many the first ones, or with `last` the last ones.

    A wait that is about to fail reads the `similar` nodes.
    """
    latest: list[list[FoundNode]] = []
    try:
        async with core.action(f"find {query}", seconds or _LOOK, everywhere=True) as budget:
            look = _Look(core, query, frame, budget, last, single)
            until = budget.deadline - min(_MARGIN, seconds / 10)
            found = await look.begin(until if seconds else 0.0)
            if len(found) >= needed or not seconds or _never_matches(query):
                return found
            latest.append(found)
            with trio.move_on_at(until):
                await look.wait(needed, latest, until, similar)
    except PageUnresponsiveError:
        raise
    except DeadlineExceededError:
        if not latest:
            raise
        # On a busy machine the deadline can pass before the last search, and the previous result is still valid.
    return latest[0]


@attrs.define(eq=False)
class _Look:
    """Repeated searches for the matches of a query, in all frames or in one."""

    _core: PageCore
    _query: Query
    _target: FrameTarget | None
    _budget: Budget
    _last: bool
    _single: bool
    _frame: Frame | None = None

    async def begin(self, until: float) -> list[FoundNode]:
        """Find the frame, waiting for it until a time of trio's clock, and return the present matches."""
        core, target = self._core, self._target
        if isinstance(target, BaseLocator) and not until:
            target = await find_match(target)  # without waiting
        self._frame = await find_requested_frame(core, target, self._budget, until)
        await self._wait_for_frame()
        if any(isinstance(leaf, Known) for leaf in leaves(self._query)):
            self._query = await _with_nodes(core, self._query, self._budget)
        return await self._matches()

    async def wait(
        self, needed: int, latest: list[list[FoundNode]], until: float, similar: SimilarNodes | None
    ) -> None:
        """Search again after each change of a document, until there are enough matches."""
        self._budget.step("waiting for it")
        core = self._core
        watches = FrameWatches(core.target, core.worlds, [], frames=self._frames, changes=True)
        async with open_body_nursery() as nursery:
            nursery.start_soon(watches.run, name="watch for nodes")
            if similar is not None:
                read = partial(similar.read_before, until, lambda: not latest[0])
                nursery.start_soon(read, name="read similar nodes")
            last_round = -1
            while len(latest[0]) < needed:
                await core.target.wait_for(lambda: watches.rounds != last_round or self._frame_is_gone())  # noqa: B023
                last_round = watches.rounds
                if self._frame_is_gone() and isinstance(self._target, BaseLocator):
                    self._frame = await find_requested_frame(core, self._target, self._budget)
                await self._wait_for_frame()
                latest[0] = await self._matches()

    async def _matches(self) -> list[FoundNode]:
        core = self._core
        return await read_present(
            core.target,
            lambda: (each.id for each in self._frames()),
            lambda: find_nodes(
                core.target,
                core.worlds,
                self._query,
                self._frames(),
                last=self._last,
                single=self._single,
            ),
            self._budget,
        )

    def _frame_is_gone(self) -> bool:
        return self._frame is not None and self._core.target.frames.get(self._frame.id) is None

    async def _wait_for_frame(self) -> None:
        """Wait for a frame that moves to another process. Raises NodeNotFoundError if it has left the page."""
        if self._frame is not None and self._frame_is_gone():
            with trio.move_on_after(_MOVING):
                await self._core.target.wait_for(lambda: not self._frame_is_gone())
                return
            target = f"find {self._query} in the frame {describe_frame(self._frame)}"
            raise NodeNotFoundError(target=target, reason="the frame is no longer in the page")

    def _frames(self) -> list[Frame]:
        if self._frame is None:
            return list(self._core.target.frames)
        present = self._core.target.frames.get(self._frame.id)
        return [] if present is None else [present]


async def _with_nodes(core: PageCore, query: Query, budget: Budget) -> Query:
    """Return the query with the nodes of its refs. Raises the errors of `PageCore.find_node`."""
    nodes = {
        leaf: _found_node(core, await core.find_node(cast("ElementTarget", leaf.target), budget))
        for leaf in leaves(query)
        if isinstance(leaf, Known)
    }
    return map_leaves(
        query, lambda leaf: Known(nodes[leaf], leaf.description) if isinstance(leaf, Known) else leaf
    )


def _found_node(core: PageCore, node: Node) -> FoundNode:
    frame = core.target.frames.get(node.frame_id)
    loader_id = "" if frame is None else frame.loader_id
    return FoundNode(node.backend_node_id, node.frame_id, node.session.id, loader_id, node.description)


def _where(core: PageCore, frame: FrameTarget | None) -> str:
    if frame is None:
        count = len(list(core.target.frames))
        return f"{count} frames" if count != 1 else "the page"
    return "the frame"


async def find_root(core: PageCore, frame: Frame, selector: str) -> int:
    """Return the backend node id of the first element in the frame that matches the CSS selector.

    Raises InvalidArgumentError for an invalid selector, NodeNotFoundError without a match.
    """
    described = shorten(quote(selector), 80)
    try:
        found = await find_nodes(core.target, core.worlds, pick(Criteria(selector), 0), [frame])
    except InvalidArgumentError as error:
        raise InvalidArgumentError("root", described, f"a ref or {error.expected}") from None
    if found:
        return found[0].backend_node_id
    reason, advice = f"nothing in {shown_url(frame.url)} matches this selector", advise(selector)
    raise NodeNotFoundError(target=described, reason=f"{reason}. {advice}" if advice else reason)
