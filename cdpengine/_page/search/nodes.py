"""Search for the nodes that match a query, in every document of a page.

Rule: a single leaf takes the shortest way. In a tree, the leaves that only Python or Chrome's accessibility tree
can decide are resolved to nodes first. One call of a script in the page then evaluates the whole tree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs
import trio

from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import DocumentGone
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import Words
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._page.search.by_role import nodes_in, query_hidden, query_quickly, query_tree, with_text
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.in_page import SearchedDocument, evaluate, leaf_request, open_searched, select
from cdpengine._page.search.locator import FoundNode
from cdpengine._page.search.queries import (
    Both,
    Either,
    Filtered,
    Inside,
    Known,
    Leaf,
    Picked,
    Query,
    counts_in_page,
    leaves,
    map_leaves,
)
from cdpengine.errors import EngineError, SessionGoneError, TargetCrashedError

_TRIES = 3
"""Maximum number of searches in a document that is replaced meanwhile."""


async def find_nodes(
    page: PageTarget,
    worlds: IsolatedWorlds,
    query: Query,
    frames: Sequence[Frame] | None = None,
    *,
    last: bool = False,
    single: bool = False,
) -> list[FoundNode]:
    """Return the matching nodes without waiting, main frame first, each document in tree order.

    If a document has more than MOST matches, they are the first ones, or with `last` the last ones. If no frame
    has a match by role or name, elements under a visible `aria-hidden` are searched. Known targets are FoundNodes.
    With `single`, the caller needs one match, and a search by role takes 1 ms instead of a frame of 16 ms.
    Raises InvalidArgumentError for an invalid selector, TargetCrashedError, SessionGoneError if the page is gone.
    """
    searched = list(page.frames if frames is None else frames)
    if len(searched) > 1 and counts_in_page(query):
        query = await _choose(page, worlds, query, searched, None)
    extent = Extent(last=last)
    by_role = [leaf for leaf in leaves(query) if isinstance(leaf, Criteria) and leaf.by_role]
    if by_role and single:
        quick = Extent(last=last, quick=True)
        found = await _find_in_all(page, worlds, query, searched, extent=quick)
        if found or not quick.was_quick:
            return found or await _find_under_hidden(page, worlds, query, searched, extent)
    found = await _find_in_all(page, worlds, query, searched, extent=extent)
    return found or await _find_under_hidden(page, worlds, query, searched, extent)


async def _find_under_hidden(
    page: PageTarget, worlds: IsolatedWorlds, query: Query, searched: Sequence[Frame], extent: Extent
) -> list[FoundNode]:
    """Return the nodes that match if leaves by role match elements under a visible `aria-hidden`."""
    hidden = map_leaves(query, _under_hidden)
    if hidden == query:
        return []
    return await _find_in_all(page, worlds, hidden, searched, extent=extent)


@attrs.define
class Extent:
    """The extent of a search: the first matches of a document with too many, or the `last` ones.

    A `quick` search by role may omit elements in closed shadow roots; `was_quick` is whether it used that.
    """

    last: bool = False
    quick: bool = False
    was_quick: bool = False


def _under_hidden(leaf: Leaf) -> Leaf:
    if isinstance(leaf, Criteria) and leaf.by_role and leaf.unhidden is not None:
        return attrs.evolve(leaf, under_hidden=True)
    return leaf


async def _choose(
    page: PageTarget,
    worlds: IsolatedWorlds,
    query: Query,
    frames: Sequence[Frame],
    scope: Query | None,
) -> Query:
    """Return the query, inside of `scope`, with a known node in the place of each choice by number.

    A choice counts the matches in all frames, so one document cannot make it.
    """
    if isinstance(query, Inside):
        return await _choose(
            page, worlds, query.base, frames, await _choose(page, worlds, query.scope, frames, scope)
        )
    if isinstance(query, Both | Either):
        one = await _choose(page, worlds, query.one, frames, scope)
        return attrs.evolve(query, one=one, other=await _choose(page, worlds, query.other, frames, scope))
    if isinstance(query, Filtered):
        return attrs.evolve(query, base=await _choose(page, worlds, query.base, frames, scope))
    if isinstance(query, Picked):
        base = await _choose(page, worlds, query.base, frames, scope)
        found = await find_nodes(page, worlds, base, frames, last=query.index < 0)
        chosen = found[query.index : query.index + 1 or None]
        return Known(chosen[0] if chosen else None, str(query))
    return query if scope is None else Inside(query, scope)


async def _find_in_all(
    page: PageTarget,
    worlds: IsolatedWorlds,
    query: Query,
    searched: Sequence[Frame],
    *,
    extent: Extent,
) -> list[FoundNode]:
    if len(searched) == 1:
        return await find_in_frame(page, worlds, query, searched[0], extent=extent, raises=True)
    found: dict[int, list[FoundNode]] = {}
    failed: list[Exception] = []

    async def search(place: int, frame: Frame) -> None:
        try:
            is_main = frame is page.frames.main
            found[place] = await find_in_frame(page, worlds, query, frame, extent=extent, raises=is_main)
        except EngineError as error:
            failed.append(error)
            nursery.cancel_scope.cancel()

    # All at the same time, so that the time limits of undrawn frames do not add up.
    async with trio.open_nursery() as nursery:
        for place, frame in enumerate(searched):
            nursery.start_soon(search, place, frame)
    if failed:
        raise failed[0]
    return [node for place in sorted(found) for node in found[place]]


async def find_in_frame(
    page: PageTarget,
    worlds: IsolatedWorlds,
    query: Query,
    frame: Frame,
    *,
    extent: Extent,
    raises: bool,
) -> list[FoundNode]:
    """Search one frame. A frame whose renderer crashed has no elements, unless `raises`."""
    for _ in range(_TRIES):
        try:
            return await _find_in(worlds, query, frame, extent=extent)
        except DocumentGone:
            worlds.keep_finder(frame.session, frame.id, None)
            if page.frames.get(frame.id) is None:
                break
        except SessionGoneError as error:
            if page.closed or (raises and isinstance(error, TargetCrashedError)):
                raise
            break  # the frame navigated
    return []


async def _find_in(worlds: IsolatedWorlds, query: Query, frame: Frame, *, extent: Extent) -> list[FoundNode]:
    knows_nodes = any(isinstance(leaf, Known) for leaf in leaves(query))
    document = await open_searched(worlds, frame, checked=knows_nodes)
    try:
        if isinstance(query, Criteria):
            found = await _find_leaf(document, query, frame, extent=extent)
        else:
            tree = _Tree(document, frame, extent)
            found = await evaluate(document, await tree.request(query), tree.given, last=extent.last)
            found = {number: tree.described.get(number, text) for number, text in found.items()}
        return [
            FoundNode(number, frame.id, document.session.id, document.loader_id, text)
            for number, text in found.items()
        ]
    finally:
        document.release()


async def _find_leaf(
    document: SearchedDocument, criteria: Criteria, frame: Frame, *, extent: Extent
) -> dict[int, str]:
    """Return the descriptions of the nodes that match the criteria by backend node id."""
    described: dict[int, str] | None = None
    if criteria.in_page:
        described = await select(document, criteria, last=extent.last)
    if not criteria.by_role or described == {}:
        return described or {}
    if criteria.under_hidden:
        named = await query_hidden(document, criteria)
    else:
        quick = await query_quickly(document, criteria) if extent.quick else None
        extent.was_quick |= quick is not None
        named = await query_tree(document, criteria, frame) if quick is None else quick
    if described is not None:
        return {number: text for number, text in named.items() if number in described}
    return named if criteria.text is None else await with_text(document, named, criteria)


@attrs.define
class _Tree:
    """A query in the form of matching.js: its objects, and the descriptions of nodes that are known by role."""

    document: SearchedDocument
    frame: Frame
    extent: Extent
    given: list[RemoteHandle] = attrs.field(factory=list)
    described: dict[int, str] = attrs.field(factory=dict)

    async def request(self, query: Query) -> Mapping[str, object]:
        """Return the request for a query, with the leaves resolved that the page cannot decide."""
        if isinstance(query, Criteria):
            if not query.by_role:
                return await leaf_request(self.document, query, self.given)
            found = await _find_leaf(self.document, query, self.frame, extent=self.extent)
            self.described.update(found)
            return await self._nodes(found)
        if isinstance(query, Known):
            node = query.target
            here = isinstance(node, FoundNode) and self._has(node)
            return await self._nodes([node.backend_node_id] if here and isinstance(node, FoundNode) else [])
        if isinstance(query, Inside):
            return {
                "kind": "inside",
                "base": await self.request(query.base),
                "scope": await self.request(query.scope),
            }
        if isinstance(query, Picked):
            return {"kind": "picked", "base": await self.request(query.base), "index": query.index}
        if isinstance(query, Filtered):
            return {
                "kind": "filtered",
                "base": await self.request(query.base),
                "has": None if query.has is None else await self.request(query.has),
                "has_not": None if query.has_not is None else await self.request(query.has_not),
                "has_text": await self._text(query.has_text),
                "has_not_text": await self._text(query.has_not_text),
                "visible": query.visible,
            }
        return {
            "kind": "both" if isinstance(query, Both) else "either",
            "one": await self.request(query.one),
            "other": await self.request(query.other),
        }

    def _has(self, node: FoundNode) -> bool:
        return (node.frame_id, node.loader_id) == (self.frame.id, self.document.loader_id)

    async def _nodes(self, numbers: Mapping[int, str] | Sequence[int]) -> Mapping[str, object]:
        nodes = await nodes_in(self.document, numbers)
        first = len(self.given)
        self.given += nodes.values()
        return {"kind": "nodes", "from": first, "to": len(self.given)}

    async def _text(self, words: Words | None) -> str | Mapping[str, object] | None:
        """Return a string, or for a pattern the query of all elements whose text matches it."""
        if words is None or isinstance(words, str):
            return words
        return await leaf_request(self.document, Criteria(css="*", text=words), self.given)
