"""A quick search for one element by role and name: a script selects candidates, and Chrome's tree confirms each.

Rule: `Accessibility.queryAXTree` waits for the next frame, 16 ms. `computedRole` and `computedName` of elements
answer immediately, but also for elements that the tree ignores. The script knows of most elements that the tree
has them; of the others, the search asks the tree for the node of each candidate. The result is incomplete if the
page has closed shadow roots, so it is used only if it has a match.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import trio

from cdpengine._page.accessibility import keep_warm
from cdpengine._page.navigation.documents import document_error
from cdpengine._page.patterns import collapse_space
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.in_page import FoundHead, SearchedDocument
from cdpengine._protocol.calls import pending_group
from cdpengine._protocol.domains.accessibility import AXNodeHead, AXQueryReply, AXValue
from cdpengine.errors import RemoteError

_MOST = 10
"""Maximum number of candidates. Each takes 0.1 to 0.4 ms."""

_LONGEST = 0.25
"""Time in seconds for the tree's answers about a child frame. One that was never drawn may not answer."""

_ELEMENTS = {
    "button": "button, input",
    "checkbox": "input",
    "combobox": "select, input, button",
    "heading": "h1, h2, h3, h4, h5, h6",
    "link": "a, area",
    "menuitem": "menuitem",
    "radio": "input",
    "searchbox": "input",
    "slider": "input",
    "spinbutton": "input",
    "switch": "input",
    "tab": "[role]",
    "textbox": "input, textarea, [contenteditable]",
}
"""CSS selectors of the elements that can have a role without a role attribute (HTML-AAM)."""


class _Head(FoundHead):
    complete: bool = False
    surely: bool = False
    named: tuple[str, ...] = ()


async def query_candidates(document: SearchedDocument, criteria: Criteria) -> list[AXNodeHead] | None:
    """Return the nodes of Chrome's tree with the role and name, in page order. None means that it is unknown.

    Raises DocumentGone.
    """
    name = criteria.name
    if criteria.role is None or not isinstance(name, str) or not name.isascii() or not name.strip():
        return None
    internal = [selector for role, selector in criteria.roles.items() if not role.islower()]
    if None in internal:
        return None
    roles = [role for role in criteria.roles if role.islower()]
    selectors = [_ELEMENTS.get(role) for role in roles] + internal
    request = {
        "roles": roles,
        "internal": ", ".join(filter(None, internal)) or None,
        "elements": None if None in selectors else ", ".join(["[role]", *filter(None, selectors)]),
        "name": collapse_space(name).lower(),
        "most": _MOST,
        "surely": document.frame.parent_id is None,
    }
    keep_warm(document.session)
    head, candidates = await document.find("computed_names", request, kind=_Head)
    if not head.complete:
        return None
    if head.surely:
        return [_node(number, named) for number, named in zip(candidates, head.named, strict=True)]
    if not candidates:
        return []
    try:
        with trio.move_on_after(math.inf if document.frame.parent_id is None else _LONGEST):
            found = await _ask_tree(document, candidates)
            return [node for node in found if node.role is not None and node.role.value in criteria.roles]
    except RemoteError as error:
        raise document_error(error) from None
    return None


async def _ask_tree(document: SearchedDocument, candidates: Sequence[int]) -> list[AXNodeHead]:
    """Return the nodes of the accessibility tree for the candidates."""
    found: list[AXNodeHead] = []
    with pending_group() as post:
        calls = [
            post(
                document.session.post(
                    "Accessibility.getPartialAXTree", backendNodeId=number, fetchRelatives=False
                )
            )
            for number in candidates
        ]
        for asked in calls:
            found += (await asked.decoded(AXQueryReply)).nodes
    return found


def _node(number: int, named: str) -> AXNodeHead:
    """Return the node of the tree for an element whose role and name are known."""
    role, _, name = named.partition("\n")
    return AXNodeHead(backend_node_id=number, role=AXValue(value=role), name=AXValue(value=name))
