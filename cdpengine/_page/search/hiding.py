"""Elements that hide visible content from Chrome's accessibility tree.

Rule: no script can read the `ariaHidden` of a custom element's internals, but Chrome's tree names it as the reason
why the element is ignored. So Chrome is asked for the node of each drawn custom element. A search that waits asks
again for only a few of them each time, as their internals rarely change.
"""

from __future__ import annotations

from itertools import islice

import attrs
import msgspec

from cdpengine import _json
from cdpengine._javascript import own
from cdpengine._page.navigation.documents import Document, script_with_search
from cdpengine._page.scripts.node_lists import SERIALIZED, text_and_nodes
from cdpengine._protocol.calls import pending_group
from cdpengine._protocol.domains.accessibility import AXNode, AXProperty, AXTree
from cdpengine.errors import RemoteError

MOST_CUSTOM = 200
"""Maximum number of custom elements of one document that are queried. Each takes 0.1 ms."""

_MOST_AGAIN = 20
"""Maximum number of known custom elements that are queried again by a repeated search, least recent first."""

_decode_reasons = _json.Decoder(list[AXProperty]).decode


class _Head(msgspec.Struct):
    attribute: bool = False


@attrs.frozen
class Hiding:
    """What hides content: whether any `aria-hidden` does, and which custom elements, by position, do."""

    attribute: bool
    customs: list[int]

    @property
    def any(self) -> bool:
        """Whether any content may be hidden."""
        return self.attribute or bool(self.customs)


async def find_hiding(document: Document, known: dict[int, bool]) -> Hiding:
    """Return what hides content of the document. Raises the errors of `Session.call`.

    `known` has Chrome's answers in earlier searches of the document by backend node id, least recent first. It is
    updated.
    """
    source = own(script_with_search("_page/search/hiding"))
    call = document.context.post(source, {"most": MOST_CUSTOM}, how=SERIALIZED, group=document.group)
    head, nodes = await text_and_nodes(call, _Head)
    numbers = [0 if node is None else node.backend_node_id for node in nodes]
    drawn = set(numbers)
    again = set(islice((number for number in known if number in drawn), _MOST_AGAIN))
    with pending_group() as post:
        calls = {
            number: post(
                document.session.post(
                    "Accessibility.getPartialAXTree", backendNodeId=number, fetchRelatives=False
                )
            )
            for number in numbers
            if number and (number in again or number not in known)
        }
        for number, asked in calls.items():
            known.pop(number, None)
            try:
                tree = (await asked.decoded(AXTree)).nodes
            except RemoteError:
                continue  # the element is gone
            known[number] = bool(tree) and _hides(tree[0])
    return Hiding(head.attribute, [place for place, number in enumerate(numbers) if known.get(number)])


def _hides(ax: AXNode) -> bool:
    raw = bytes(ax.ignored_reasons)
    return (
        ax.ignored
        and bool(raw)
        and any(reason.name == "ariaHiddenElement" for reason in _decode_reasons(raw))
    )
