"""Listeners: the elements of a document that listen to presses, queried after a walk and passed to the next one.

Rule: every snapshot asks Chrome for listeners to presses, because no event reports new listeners. The answer
contains only listeners: it takes 0.7 ms on a page of 9,000 elements without any, and about 5 microseconds for
each. An answer that is identical to the last one is not parsed again. The walk in the page receives the changes:
as the numbers that it gave to elements, or as the elements themselves if they have none. The walk presumes that an
element with an attribute such as `onclick` listens, and is not repeated if Chrome confirms this.

An element to which a framework dispatches presses has no listener. If a page has any listeners, a script in the
page's own world looks for such elements (_snapshot/sources/delegated_presses.js), as nothing else reveals them. On
a page without a sign of a framework, this is skipped until the listeners or the document change: a framework
starts by adding listeners.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import attrs
import msgspec

from cdpengine._javascript import own, script
from cdpengine._page.scripts.node_lists import SerializedNode, ask_nodes, node_ids, objects_of_nodes
from cdpengine._page.scripts.page_functions import (
    ObjectGroup,
    RemoteHandle,
    context_gone,
    new_group,
    object_group,
)
from cdpengine._protocol.calls import PendingCall
from cdpengine._snapshot.node import FrameRequest
from cdpengine._snapshot.sources.numbers import NO_IDS, KnownIds, by_number
from cdpengine._snapshot.sources.walk import (
    CALL,
    FirstWalk,
    Installed,
    KnownListeners,
    ask_listeners,
    document_of,
    post_document,
)
from cdpengine.errors import ProtocolError, RemoteError

PRESSES = frozenset(
    {"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"}
)
"""The events by which an element takes a press of the mouse or of a finger."""

_MOST_SENT = 5_000

_LONGEST_REPLY = 2_000_000
"""Maximum size of an answer that is kept for comparison with the next one, in bytes."""

_MOST_DELEGATED = 2_000
"""Maximum number of elements per document to which frameworks dispatch presses. Each costs Chrome about 30
microseconds.
"""


class _Listener(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    use_capture: bool = False
    backend_node_id: int = 0


class _Listeners(msgspec.Struct, gc=False):
    listeners: tuple[_Listener, ...] = ()


class Listening:
    """The query for listeners to presses, sent after a walk; the walk receives the changes afterwards.

    So an unchanged page is walked once and answers both in one round trip. The answer also has the backend node
    ids of elements that the walk marked.
    """

    def __init__(self, request: FrameRequest, installed: Installed) -> None:
        self._request = request
        self._installed = installed
        self._document: PendingCall | None = None
        self._call: PendingCall | None = None
        self._delegated: PendingCall | None = None
        self._hosts: Mapping[int, SerializedNode | None] = {}
        self._found: _Found | RemoteError | None = None
        self._group = new_group("delegated")
        self.refusal = ""

    async def __aenter__(self) -> Self:
        if self._request.clickables and self._installed.document is None:
            self._document = post_document(self._request.session, self._installed)
        return self

    async def __aexit__(self, *_: object) -> None:
        for call in (self._document, self._call, self._delegated):
            if call is not None:
                call.abandon()
        self._group.release()

    @property
    def can_ask(self) -> bool:
        """Whether listeners are requested, and the document is known or its query is pending."""
        known = self._installed.document is not None or self._document is not None
        return self._request.clickables and known

    def take_first(self, first: FirstWalk) -> None:
        """Take over the query that was sent with the document's first walk, and its possible hosts."""
        self._call, self._hosts = first.listeners, by_number(first.hosts)

    async def ask(self) -> None:
        """Send the query, once."""
        installed = self._installed
        if not self.can_ask or self._call is not None:
            return
        if installed.document is None and self._document is not None:
            installed.document = await document_of(self._document, self._request.session)
        if installed.document is None:
            return
        self._call = ask_listeners(installed.document)
        known = installed.listeners
        if known.own and (known.framework or not known.still):
            self._ask_delegated(installed.document)

    async def read_marks(self, prefix: str) -> KnownIds:
        """Return the ids of elements marked with types of this prefix, and the serialized possible hosts."""
        if self._call is None or not prefix:
            return NO_IDS
        try:
            return KnownIds((await self._read(self._call, prefix)).marked, self._hosts)
        except RemoteError as refused:
            if context_gone(refused):
                raise
            return NO_IDS  # `has_changed` reports the reason

    async def _read(self, call: PendingCall, prefix: str = "") -> _Found:
        if self._found is None:
            known = self._installed.listeners
            try:
                # Chrome answers in order, so this answer may have arrived with the walk's.
                reply = bytes(call.raw_nowait() if call.done else await call.raw())
            except RemoteError as refused:
                self._found = refused
                raise
            if reply == known.reply:
                self._found = _Found(reply, known.own)
            else:
                self._found = _sort_listeners(reply, call.decode(reply, _Listeners), prefix)
        if isinstance(self._found, RemoteError):
            raise self._found
        return self._found

    def _ask_delegated(self, document: RemoteHandle) -> None:
        self._delegated = ask_nodes(
            document, own(script("_snapshot/sources/delegated_presses")), _MOST_DELEGATED, self._group
        )

    async def _listeners(self, call: PendingCall, document: RemoteHandle, *, still: bool) -> KnownListeners:
        """Return the elements that listen and those to which frameworks dispatch presses."""
        known = self._installed.listeners
        found = await self._read(call)
        own, reply = found.own, found.reply
        same = own is known.own and bool(reply)
        if not own:
            return KnownListeners(own, own, reply, still=still)
        if self._delegated is None:
            if same and still and not known.framework:
                return known if known.still else attrs.evolve(known, still=True)
            self._ask_delegated(document)
        assert self._delegated is not None
        try:
            delegated = await node_ids(self._delegated)
        except ProtocolError as odd:
            self.refusal = f"click targets of frameworks are unknown: {odd}"
            return KnownListeners(own, own, still=still)
        if not delegated:
            return KnownListeners(own, own, reply, framework=False, still=still)
        return KnownListeners({**dict.fromkeys(delegated[1:], False), **own}, own, reply, still=still)

    async def has_changed(self, presumed: Sequence[int] = (), *, still: bool = False) -> bool:
        """Return whether the walk was wrong about listeners, and pass it the changes.

        `presumed` are the numbers of elements that it only presumed to listen. `still`: the document's result has
        not changed since the last walk.
        """
        await self.ask()
        if self._call is None:
            return False
        installed = self._installed
        try:
            document = installed.document
            assert document is not None
            known = installed.listeners
            now = await self._listeners(self._call, document, still=still)
            others = False
            if presumed or now.all != known.all:
                others = await send_listeners(
                    self._request, installed, document, now.all, known.all, presumed
                )
        except RemoteError as refused:
            if context_gone(refused):
                raise
            self.refusal = f"click listeners are unknown: {refused}"
            return False
        installed.listeners = now
        return others


@attrs.frozen
class _Found:
    """Chrome's answer: `own` as in KnownListeners; `marked` maps number -> backend node id.

    `reply` is the raw answer, kept for comparison with the next one; b"" if it is not kept.
    """

    reply: bytes
    own: Mapping[int, bool]
    marked: Mapping[int, int] = attrs.field(factory=dict)


def _sort_listeners(reply: bytes, found: _Listeners, prefix: str) -> _Found:
    """Separate listeners to presses, with whether they also listen in the capture phase, from marks."""
    own: dict[int, bool] = {}
    marked: dict[int, int] = {}
    start = len(prefix)
    for each in found.listeners:
        number = each.backend_node_id
        if not number:
            continue
        if each.type in PRESSES:
            own[number] = own.get(number, False) or each.use_capture
        elif prefix and each.type.startswith(prefix):
            marked[int(each.type[start:])] = number
    return _Found(b"" if marked or len(reply) > _LONGEST_REPLY else reply, own, marked)


async def send_listeners(
    request: FrameRequest,
    installed: Installed,
    document: RemoteHandle,
    listening: Mapping[int, bool],
    sent: Mapping[int, bool],
    presumed: Sequence[int] = (),
) -> bool:
    """Pass to the walk the elements that began or ceased to listen to presses since `sent`.

    `presumed` are the numbers of elements that the walk presumed to listen; it receives those that do not. Returns
    whether the walk was wrong about any element. Chrome's answer includes elements of other frames' documents;
    these are left out. Raises the errors of `Session.call`.
    """
    gone = [number for number in sent if number not in listening]
    new = [number for number, captures in listening.items() if sent.get(number) is not captures]
    numbers = {number: place for place, number in enumerate(installed.ids)} if new else {}
    known = [number for number in new if number in numbers]
    others = await _send(
        installed,
        numbers=[numbers[number] for number in known],
        ids=known,
        captures=[listening[number] for number in known],
        gone=gone,
        refuted=[number for number in presumed if installed.ids[number] not in listening],
    )
    strangers = [number for number in new if number not in numbers]
    if not strangers:
        return others
    with object_group("listeners") as group:
        if await installed.function.call(CALL, {"do": "frames"}, returns=float):
            strangers = await _of_document(document, strangers, group)
        for start in range(0, len(strangers), _MOST_SENT):
            objects = await _resolve(request, strangers[start : start + _MOST_SENT], group)
            ids = list(objects)
            captures = [listening[number] for number in ids]
            others |= await _send(installed, ids=ids, captures=captures, objects=objects.values())
    return others


async def _resolve(
    request: FrameRequest, numbers: Sequence[int], group: ObjectGroup
) -> dict[int, RemoteHandle]:
    """Return the existing nodes as objects of the frame's isolated world."""
    context = await request.worlds.context(request.session, request.frame_id)
    return await objects_of_nodes(request.session, numbers, group, executionContextId=context.id)


async def _of_document(document: RemoteHandle, numbers: Sequence[int], group: ObjectGroup) -> list[int]:
    """Return the nodes that belong to this document.

    A node of a frame's document must never be resolved into the world of another frame: from then on, scripts of
    its own world could not read it. Without an explicit context, it is resolved into its own frame's page, which
    its object id names.
    """
    objects = await objects_of_nodes(document.session, numbers, group)
    return [number for number, each in objects.items() if each.world == document.world]


async def _send(
    installed: Installed,
    *,
    ids: Sequence[int],
    captures: Sequence[bool],
    numbers: Sequence[int] = (),
    gone: Sequence[int] = (),
    refuted: Sequence[int] = (),
    objects: Iterable[RemoteHandle] = (),
) -> bool:
    """Pass the changed listeners to the walk. Return whether the walk had expected others for any element."""
    if not ids and not gone and not refuted:
        return False
    what: dict[str, Any] = {
        "do": "hear",
        "numbers": numbers,
        "ids": ids,
        "captures": captures,
        "gone": gone,
        "refuted": refuted,
    }
    return bool(await installed.function.call(CALL, what, *objects, returns=object))
