"""A quick search for one element by role and name: a script selects candidates, and Chrome's tree confirms each.

Rule: `Accessibility.queryAXTree` waits for the next frame, 16 ms. `computedRole` and `computedName` of elements
answer immediately, but also for elements that the tree ignores. So the search asks the tree for the node of each
candidate. The result is incomplete if the page has closed shadow roots, so it is used only if it has a match.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import trio

from cdpengine._page.accessibility import keep_warm
from cdpengine._page.navigation.documents import document_error
from cdpengine._page.patterns import collapse_space
from cdpengine._page.scripts.node_lists import SERIALIZED, text_and_nodes
from cdpengine._page.search.criteria import Criteria
from cdpengine._page.search.in_page import SearchedDocument
from cdpengine._protocol.calls import pending_group
from cdpengine._protocol.domains.accessibility import AXNodeHead, AXQueryReply
from cdpengine.errors import RemoteError

_MOST = 10
"""Maximum number of candidates. Each takes 0.1 to 0.4 ms."""

_LONGEST = 0.25
"""Time in seconds for the answers of a child frame. One that was never drawn may not answer."""


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
    request = {
        "roles": [role for role in criteria.roles if role.islower()],
        "internal": ", ".join(filter(None, internal)) or None,
        "name": collapse_space(name).lower(),
        "most": _MOST,
    }
    keep_warm(document.session)
    try:
        with trio.move_on_after(math.inf if document.frame.parent_id is None else _LONGEST):
            return await _confirmed(document, criteria, request)
    except RemoteError as error:
        raise document_error(error) from None
    return None


async def _confirmed(
    document: SearchedDocument, criteria: Criteria, request: Mapping[str, object]
) -> list[AXNodeHead] | None:
    await trio.lowlevel.checkpoint_if_cancelled()
    call = document.post("computed_names", request, how=SERIALIZED)
    complete, candidates = await text_and_nodes(call, bool)
    if not complete:
        return None
    found: list[AXNodeHead] = []
    with pending_group() as post:
        calls = [
            post(
                document.session.post(
                    "Accessibility.getPartialAXTree",
                    backendNodeId=each.backend_node_id,
                    fetchRelatives=False,
                )
            )
            for each in candidates
            if each is not None
        ]
        for asked in calls:
            found += (await asked.decoded(AXQueryReply)).nodes
    return [node for node in found if node.role is not None and node.role.value in criteria.roles]
