"""Clickables: what a page made clickable without saying so, whatever source reads the rest of the document.

Rule: the walk that reads documents finds them, too (_snapshot/sources/walk_clickables.js), without names. Each is
known by its backend node id, in the order of the page, and on request by its place in the flat tree. An element
that Chrome's accessibility tree leaves out is put into it by that place alone: what is inside the element goes
below it, and nothing else moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

import attrs
import msgspec

from cdpengine._page.scripts.worlds import context_gone
from cdpengine._protocol.domains.accessibility import AXNode, AXTree, AXValue
from cdpengine._snapshot.sources.computed import role_and_name_source
from cdpengine._snapshot.sources.listeners import Listening
from cdpengine._snapshot.sources.request import FrameRequest
from cdpengine._snapshot.sources.walk import TRIES, Installed, answered, forget_walk, installed_walk
from cdpengine._snapshot.sources.walk_numbers import number_elements
from cdpengine.errors import RemoteError


async def find_clickables(request: FrameRequest) -> Clickables:
    """Return what the frame's page made clickable without saying so.

    Raises as `read_dom` does.
    """
    kit = role_and_name_source()
    for remaining in reversed(range(TRIES)):
        try:
            installed = await installed_walk(request, kit)
            async with Listening(request, installed) as listening:
                await listening.changed()
                text = await answered(request, installed, {"do": "clickables", "pointer": request.pointer})
                if text is not None:
                    found = _decode_found(text)
                    if not await number_elements(request, installed, found.last):
                        return Clickables(
                            request,
                            installed,
                            found.numbers,
                            listening.refusal,
                            skipped=(found.skipped, found.acting),
                        )
                    continue  # closed shadow roots were found
        except RemoteError as refused:
            if not context_gone(refused) or not remaining:
                raise
        forget_walk(request.session, request.frame_id, kit)
    raise RemoteError(
        method="Runtime.callFunctionOn",
        code=0,
        message="the frame got a new document each time its clickables were looked for",
    )


class _Found(msgspec.Struct):
    numbers: tuple[int, ...] = ()
    last: int = 0
    skipped: int = 0
    acting: int = 0


class _Place(msgspec.Struct):
    inside: tuple[int, ...] = ()
    above: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


class _Places(msgspec.Struct):
    places: tuple[_Place, ...] = ()
    last: int = 0


_decode_found = msgspec.json.Decoder(_Found).decode
_decode_places = msgspec.json.Decoder(_Places).decode


class Clickables:
    """What was found clickable in a document: `ids`, backend node ids, in the order of the page.

    `refusal` says what could not be asked, "" when all could. `skipped` counts what `content-visibility:
    auto` skips, so that the accessibility tree does not have it, and how much of that can be acted on.
    """

    def __init__(
        self,
        request: FrameRequest,
        installed: Installed,
        numbers: tuple[int, ...],
        refusal: str,
        *,
        skipped: tuple[int, int] = (0, 0),
    ) -> None:
        self._request = request
        self._installed = installed
        self._numbers = {installed.ids[number]: number for number in numbers if installed.ids[number]}
        self.ids: AbstractSet[int] = self._numbers.keys()
        self.refusal = refusal
        self.skipped = skipped

    async def places(self, ids: Sequence[int]) -> list[Place]:
        """Return where these of them are in the flat tree. Raises as `Session.call` does."""
        installed = self._installed
        numbers = [self._numbers[each] for each in ids]
        text = await answered(self._request, installed, {"do": "places", "numbers": numbers})
        if text is None:
            return []
        found = _decode_places(text)
        await number_elements(self._request, installed, found.last)
        known = installed.ids
        return [
            Place(
                each,
                frozenset(known[number] for number in place.inside),
                tuple(known[number] for number in place.above),
                frozenset(known[number] for number in place.after),
            )
            for each, place in zip(ids, found.places, strict=False)
        ]


@attrs.frozen
class Place:
    """Where an element is in the flat tree, in backend node ids.

    `inside` has what is in it, `above` what it is in, from the inside out, `after` what comes after it.
    """

    backend_node_id: int
    inside: AbstractSet[int]
    above: tuple[int, ...]
    after: AbstractSet[int]


def add_missing(tree: AXTree, places: Iterable[Place]) -> AXTree:
    """Return the tree with a node `generic` for each of these that it has none for; outer ones come first."""
    nodes = [msgspec.structs.replace(node) for node in tree.nodes]
    by_backend: dict[int, AXNode] = {}
    for node in nodes:
        if node.backend_node_id is not None:
            by_backend.setdefault(node.backend_node_id, node)
    backend_of = {node.node_id: node.backend_node_id for node in nodes}
    for place in places:
        number = place.backend_node_id
        holder = next((by_backend[above] for above in place.above if above in by_backend), None)
        if number in by_backend or holder is None:
            continue
        children = holder.child_ids
        taken = tuple(child for child in children if backend_of.get(child) in place.inside)
        behind = taken or tuple(child for child in children if backend_of.get(child) in place.after)
        at = children.index(behind[0]) if behind else len(children)
        new = AXNode(f"element {number}", role=AXValue("generic"), child_ids=taken, backend_node_id=number)
        rest = [child for child in children[at:] if child not in set(taken)]
        holder.child_ids = (*children[:at], new.node_id, *rest)
        nodes.append(new)
        by_backend[number] = new
        backend_of[new.node_id] = number
    return AXTree(tuple(nodes))
