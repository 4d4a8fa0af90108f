"""Elements that hide visible content from Chrome's accessibility tree.

Rule: no script can read the `ariaHidden` of a custom element's internals, but Chrome's tree names it as the reason
why the element is ignored. So Chrome is asked for the node of each drawn custom element.
"""

from __future__ import annotations

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


async def find_hiding(document: Document) -> Hiding:
    """Return what hides content of the document. Raises the errors of `Session.call`."""
    source = own(script_with_search("_page/search/hiding"))
    call = document.context.post(source, {"most": MOST_CUSTOM}, how=SERIALIZED, group=document.group)
    head, nodes = await text_and_nodes(call, _Head)
    found = []
    with pending_group() as post:
        calls = [
            post(
                document.session.post(
                    "Accessibility.getPartialAXTree", backendNodeId=node.backend_node_id, fetchRelatives=False
                )
            )
            for node in nodes
            if node is not None
        ]
        for position, asked in enumerate(calls):
            try:
                tree = (await asked.decoded(AXTree)).nodes
            except RemoteError:
                continue  # the element is gone
            if tree and _hides(tree[0]):
                found.append(position)
    return Hiding(head.attribute, found)


def _hides(ax: AXNode) -> bool:
    raw = bytes(ax.ignored_reasons)
    return (
        ax.ignored
        and bool(raw)
        and any(reason.name == "ariaHiddenElement" for reason in _decode_reasons(raw))
    )
