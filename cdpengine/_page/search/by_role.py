"""Search for nodes by role and accessible name, in Chrome's accessibility tree of one document.

Rule: roles and names are Chrome's. A script finds the elements that its tree omits: controls hidden behind their
labels, elements without a name, and with `under_hidden` visible elements under `aria-hidden`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from weakref import WeakKeyDictionary

import msgspec
import trio

from cdpengine._javascript import own
from cdpengine._page.frames import Frame
from cdpengine._page.navigation.documents import (
    DocumentGone,
    document_error,
)
from cdpengine._page.patterns import collapse_space, holds, with_name
from cdpengine._page.scripts.node_lists import SERIALIZED, objects_of_nodes, text_and_nodes
from cdpengine._page.scripts.page_functions import RemoteHandle, value_of
from cdpengine._page.search.computed_names import query_candidates
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.hiding import MOST_CUSTOM, find_hiding
from cdpengine._page.search.in_page import MOST, SearchedDocument, select
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.accessibility import AXNodeHead, AXQueryReply, AXValue
from cdpengine.errors import RemoteError

_TEXT_ROLES = ("StaticText", "InlineTextBox")
"""Roles of text nodes: the search returns the element that contains them."""


class _Head(msgspec.Struct):
    descriptions: list[str] = []


_LONGEST_QUERY = 0.25
"""Time in seconds for a frame to answer `queryAXTree`. Chrome answers once the frame is drawn, perhaps never."""

_Named = tuple[int, str, str]

_undrawn: WeakKeyDictionary[Frame, str] = WeakKeyDictionary()
"""Frames that did not answer in time, with their document's loader. Their whole tree is read instead."""


async def query_tree(document: SearchedDocument, criteria: Criteria, frame: Frame) -> dict[int, str]:
    """Return the descriptions of the matching nodes by backend node id, in page order."""
    root, requests = await _root_and_roles(document, criteria)
    nodes: list[_Named] = []
    queries = 0
    try:
        with pending_group() as post:
            calls = _ask_tree(document, frame, root, requests, post)
            labelled = post(_ask_labelled(document, criteria)) if criteria.may_be_labelled else None
            for found in await _answers(document, frame, calls, requests, post):
                nodes += [
                    (number, criteria.called(role), collapse_space(name))
                    for number, role, name in found
                    if role not in _TEXT_ROLES
                ]
                queries += bool(found)
            if labelled is not None and (hidden := await _labelled(labelled, criteria)):
                nodes += hidden
                queries += 1
    except RemoteError as error:
        raise document_error(error) from None
    described = _describe(nodes, criteria)
    if criteria.unnamed is not None and with_name([""], str, criteria.name, criteria.exact):
        unnamed = await select(document, Criteria(css=criteria.unnamed), visible=True)
        queries += bool(unnamed)
        described.update(dict.fromkeys(unnamed, str(criteria.role)))
    if queries > 1 and len(described) > 1:
        return await _in_order(document, described)
    return described


async def query_quickly(document: SearchedDocument, criteria: Criteria) -> dict[int, str] | None:
    """Return the same by a quick search, or None if that is impossible.

    It may omit elements in closed shadow roots.
    """
    with pending_group() as post:
        labelled = post(_ask_labelled(document, criteria)) if criteria.may_be_labelled else None
        candidates = await query_candidates(document, criteria)
        if candidates is None:
            return None
        nodes = [
            (number, criteria.called(role), collapse_space(name)) for number, role, name in _named(candidates)
        ]
        found = _describe(nodes, criteria)
        if labelled is None:
            return found
        try:
            hidden = _describe(await _labelled(labelled, criteria), criteria)
        except RemoteError as error:
            raise document_error(error) from None
    return await _in_order(document, found | hidden) if found and hidden else found | hidden


def _describe(nodes: Iterable[_Named], criteria: Criteria) -> dict[int, str]:
    described: dict[int, str] = {}
    for number, role, name in with_name(nodes, lambda node: node[2], criteria.name, criteria.exact):
        described.setdefault(number, f'{role} "{name[:80]}"' if name else role)
    return described


async def query_hidden(document: SearchedDocument, criteria: Criteria) -> dict[int, str]:
    """Find visible elements under `aria-hidden`, which Chrome's tree omits."""
    if criteria.unhidden is None:
        return {}
    try:
        hiding = await find_hiding(document, criteria.hiders.setdefault(document.loader_id, {}))
        if not hiding.any:
            return {}
        request = {
            "roles": None if criteria.role is None else list(criteria.roles),
            "most": MOST,
            "hiding": {"most": MOST_CUSTOM, "customs": hiding.customs},
        }
        await trio.lowlevel.checkpoint_if_cancelled()
        source = own(criteria.unhidden())
        call = document.context.post(source, request, how=SERIALIZED, group=document.group)
        return _describe(await _labelled(call, criteria), criteria)
    except RemoteError as error:
        raise document_error(error) from None


def _ask_tree(
    document: SearchedDocument,
    frame: Frame,
    root: RemoteHandle,
    requests: Sequence[Mapping[str, object]],
    post: Callable[[PendingCall], PendingCall],
) -> list[PendingCall]:
    """Post a query for each role, or none if only the whole tree gives an answer."""
    if _undrawn.get(frame) == document.loader_id:
        return []
    method = "Accessibility.queryAXTree"
    return [post(document.session.post(method, objectId=root.reference, **role)) for role in requests]


async def _answers(
    document: SearchedDocument,
    frame: Frame,
    calls: Sequence[PendingCall],
    requests: Sequence[Mapping[str, object]],
    post: Callable[[PendingCall], PendingCall],
) -> list[list[_Named]]:
    """Return the nodes of each role, from the queries, or for an undrawn frame from its whole tree."""
    if not requests:
        return []
    if calls:
        with trio.move_on_after(_LONGEST_QUERY if frame.parent_id is not None else math.inf):
            return [_named((await call.decoded(AXQueryReply)).nodes) for call in calls]
        _undrawn[frame] = document.loader_id
    tree = post(document.session.post("Accessibility.getFullAXTree", frameId=frame.id))
    nodes = _named((await tree.decoded(AXQueryReply)).nodes)
    roles = {role.get("role") for role in requests}
    return [nodes if None in roles else [node for node in nodes if node[1] in roles]]


def _named(nodes: Iterable[AXNodeHead]) -> list[_Named]:
    return [
        (node.backend_node_id, _text_of(node.role), _text_of(node.name))
        for node in nodes
        if not node.ignored and node.backend_node_id is not None
    ]


def _ask_labelled(document: SearchedDocument, criteria: Criteria) -> PendingCall:
    """Request the controls hidden behind their labels, which Chrome's tree omits."""
    request = {"roles": None if criteria.role is None else list(criteria.roles), "most": MOST}
    return document.post("hidden_controls", request, how=SERIALIZED)


async def _labelled(call: PendingCall, criteria: Criteria) -> list[_Named]:
    """Return the nodes with the role and name that the page reported."""
    head, nodes = await text_and_nodes(call, _Head)
    found: list[_Named] = []
    for node, text in zip((each for each in nodes if each is not None), head.descriptions, strict=True):
        role, _, name = text.partition("\n")
        found.append((node.backend_node_id, criteria.called(role), collapse_space(name)))
    return found


async def _root_and_roles(
    document: SearchedDocument, criteria: Criteria
) -> tuple[RemoteHandle, list[dict[str, object]]]:
    """Return the document object and the roles to query: those with candidates in the document."""
    selectors = [selector for selector in criteria.roles.values() if selector is not None]
    with pending_group() as post:
        present = None
        if criteria.role is not None and selectors:
            present = post(document.post("matching_selectors", selectors))
        root = await document.root()
        if criteria.role is None:
            return root, [{}]
        try:
            found = [] if present is None else await value_of(present, list[str])
        except RemoteError as error:
            raise document_error(error) from None
    return root, [
        {"role": role} for role, selector in criteria.roles.items() if selector is None or selector in found
    ]


def _text_of(value: AXValue | None) -> str:
    return "" if value is None or value.value is None else str(value.value)


async def _in_order(document: SearchedDocument, described: dict[int, str]) -> dict[int, str]:
    """Return the described nodes in page order."""
    nodes = await nodes_in(document, described)
    numbers = list(nodes)
    order = await document.run("page_order", None, *nodes.values(), kind=list[int])
    return {numbers[place]: described[numbers[place]] for place in order}


async def with_text(
    document: SearchedDocument, described: dict[int, str], criteria: Criteria
) -> dict[int, str]:
    """Return the nodes whose visible text equals or contains the searched one."""
    assert criteria.text is not None
    if not described:
        return described
    nodes = await nodes_in(document, described)
    texts = await document.run("visible_texts", None, *nodes.values(), kind=list[str | None])
    return {
        number: described[number]
        for number, text in zip(nodes, texts, strict=True)
        if text is not None and holds(text, criteria.text, criteria.exact)
    }


async def nodes_in(document: SearchedDocument, numbers: Iterable[int]) -> dict[int, RemoteHandle]:
    """Return the objects of the existing nodes by backend node id, at most MOST. Raises DocumentGone."""

    def refused(error: RemoteError) -> None:
        gone = document_error(error)
        if isinstance(gone, DocumentGone):
            raise gone from None  # otherwise only this node is gone

    return await objects_of_nodes(
        document.session,
        islice(numbers, MOST),
        document.group,
        refused=refused,
        executionContextId=document.context.id,
    )
