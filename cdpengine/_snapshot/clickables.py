"""Clickables alone: what a page made clickable without saying so, whatever reads the rest of the document.

Rule: the walk that reads documents finds them, too (js/walk_clickables.js), without names. Each is known by its
backend node id, in the order of the page, and on request by its place in the flat tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import msgspec

from cdpengine._page.scripts.worlds import context_gone
from cdpengine._snapshot.axplaces import Place
from cdpengine._snapshot.dom_kit import role_and_name_source
from cdpengine._snapshot.listeners import Listening
from cdpengine._snapshot.request import FrameRequest
from cdpengine._snapshot.walk_installed import TRIES, Installed, answered, forget_walk, installed_walk
from cdpengine._snapshot.walk_numbers import number_elements
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
