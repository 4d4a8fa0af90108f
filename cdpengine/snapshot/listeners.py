"""Listeners: which elements of a document listen to presses, as Chrome knows it.

Rule: Chrome is asked at every snapshot, for nothing tells when a page begins to listen; it answers with the
listeners only (0.7 ms on a page of 9,000 elements without any, some 5 microseconds for each). The walk in the page
is told what is new: by the number that it gave to an element, or by the element itself where it has none.

What a framework hands presses to listens to none itself. Where anything listens, the page's own world is asked
for it (js/handed.js), for it is seen nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Self

import msgspec

from cdpengine.browser.worlds import context_gone
from cdpengine.errors import ProtocolError, RemoteError
from cdpengine.js import own, script
from cdpengine.session.calls import PendingCall
from cdpengine.session.session import Session
from cdpengine.snapshot.request import FrameRequest
from cdpengine.snapshot.walk_installed import Installed, document_object
from cdpengine.snapshot.walk_numbers import CALL, TAKEN_GROUP, InstalledWalk, ask_nodes, node_ids, taking

PRESSES = frozenset(
    {"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"}
)
"""The events by which an element takes a press of the mouse or of a finger."""

_TOLD_AT_ONCE = 5_000

_MOST_HANDED = 2_000
"""Elements that presses are handed to, of one document: each costs Chrome some 30 microseconds."""


class _Listener(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    use_capture: bool = False
    backend_node_id: int = 0


class _Listeners(msgspec.Struct, gc=False):
    listeners: tuple[_Listener, ...] = ()


class _Object(msgspec.Struct, rename="camel"):
    object_id: str | None = None


class _Resolved(msgspec.Struct):
    object: _Object


class _Count(msgspec.Struct):
    value: float | None = None


class _Counted(msgspec.Struct):
    result: _Count


class Listening:
    """What listens to presses, asked for before a walk begins; the walk is told of it afterwards.

    So a page on which nothing changed is walked once, and answers both in one round trip.
    """

    def __init__(self, request: FrameRequest, installed: Installed) -> None:
        self._request = request
        self._installed = installed
        self._call: PendingCall | None = None
        self._handed: PendingCall | None = None
        self._taking = ExitStack()
        self.refusal = ""

    async def __aenter__(self) -> Self:
        if self._request.clickables:
            if self._installed.document_id is None:
                self._installed.document_id = await document_object(self._request.session, self._installed)
            if self._installed.document_id is not None:
                self._call = ask_listeners(self._request.session, self._installed.document_id)
                if self._installed.listening:
                    self._ask_handed(self._installed.document_id)
        return self

    async def __aexit__(self, *_: object) -> None:
        for call in (self._call, self._handed):
            if call is not None:
                call.abandon()
        self._taking.close()

    def _ask_handed(self, document_id: str) -> None:
        self._taking.enter_context(taking(self._request.session))
        self._handed = ask_nodes(
            self._request.session,
            {
                "objectId": document_id,
                "functionDeclaration": own(script("handed")),
                "arguments": [{"value": _MOST_HANDED}],
            },
        )

    async def _listening(self, call: PendingCall, document_id: str) -> dict[int, bool]:
        """Return what listens, and what presses are handed to."""
        now = await listening_elements(call)
        if not now:
            return now
        if self._handed is None:
            self._ask_handed(document_id)
        assert self._handed is not None
        try:
            handed = await node_ids(self._handed)
        except ProtocolError as odd:
            self.refusal = f"what frameworks hand clicks to is not known: {odd}"
            return now
        return dict.fromkeys(handed, False) | now

    async def changed(self) -> bool:
        """Say whether others listen than the walk knew of; from now on it knows."""
        if self._call is None:
            return False
        try:
            document_id = self._installed.document_id
            assert document_id is not None
            now = await self._listening(self._call, document_id)
            known = self._installed.listening
            if now == known:
                return False
            await tell_listeners(self._request, self._installed, document_id, now, known)
        except RemoteError as refused:
            if context_gone(refused):
                raise
            self.refusal = f"what listens to clicks is not known: {refused}"
            return False
        self._installed.listening = now
        return True


def ask_listeners(session: Session, document_id: str) -> PendingCall:
    """Ask for the listeners of a document, shadow trees of any kind and same-process frames in it included.

    `document_id` is a remote object id of the document in the page's own world.
    """
    return session.post("DOMDebugger.getEventListeners", objectId=document_id, depth=-1, pierce=True)


async def listening_elements(call: PendingCall) -> dict[int, bool]:
    """Return, by backend node id, what listens to presses, and whether it does so on their way down too.

    Raises as `Session.call` does.
    """
    found: dict[int, bool] = {}
    for each in (await call.decoded(_Listeners)).listeners:
        if each.type in PRESSES and each.backend_node_id:
            found[each.backend_node_id] = found.get(each.backend_node_id, False) or each.use_capture
    return found


async def tell_listeners(
    request: FrameRequest,
    installed: InstalledWalk,
    document_id: str,
    listening: Mapping[int, bool],
    told: Mapping[int, bool],
) -> None:
    """Tell the walk which elements began to listen to presses and which ended since it was `told`.

    Those of other frames' documents, which the same question gave, are left out. Raises as `Session.call` does.
    """
    gone = [number for number in told if number not in listening]
    new = [number for number, captures in listening.items() if told.get(number) is not captures]
    numbers = {number: place for place, number in enumerate(installed.ids)} if new else {}
    known = [number for number in new if number in numbers]
    await _tell(
        request.session,
        installed,
        numbers=[numbers[number] for number in known],
        ids=known,
        captures=[listening[number] for number in known],
        gone=gone,
    )
    strangers = [number for number in new if number not in numbers]
    if not strangers:
        return
    with taking(request.session):
        if await _has_frames(request.session, installed):
            strangers = await _of_document(request.session, document_id, strangers)
        for start in range(0, len(strangers), _TOLD_AT_ONCE):
            objects = await _resolved(request, strangers[start : start + _TOLD_AT_ONCE])
            ids = list(objects)
            await _tell(
                request.session,
                installed,
                ids=ids,
                captures=[listening[number] for number in ids],
                objects=objects.values(),
            )


async def _resolved(request: FrameRequest, numbers: Sequence[int]) -> dict[int, str]:
    """Return remote object ids, in the frame's isolated world, of those that are there."""
    context = await request.worlds.context(request.session, request.frame_id)
    return await _objects(request.session, numbers, executionContextId=context)


async def _has_frames(session: Session, installed: InstalledWalk) -> bool:
    params = {
        "objectId": installed.object_id,
        "functionDeclaration": CALL,
        "arguments": [{"value": {"do": "frames"}}],
        "returnByValue": True,
    }
    reply = await session.request("Runtime.callFunctionOn", params, _Counted)
    return reply.result.value != 0


async def _of_document(session: Session, document_id: str, numbers: Sequence[int]) -> list[int]:
    """Return those of the nodes that are of this document.

    A node of a frame's document must never be resolved into the world of another one: from then on scripts of its
    own world could not read it. By itself it is resolved into its own frame's page, which its object id names.
    """
    world = document_id.rpartition(".")[0]
    objects = await _objects(session, numbers)
    return [number for number, each in objects.items() if each.rpartition(".")[0] == world]


async def _objects(session: Session, numbers: Sequence[int], **where: int) -> dict[int, str]:
    calls = {
        number: session.post("DOM.resolveNode", backendNodeId=number, objectGroup=TAKEN_GROUP, **where)
        for number in numbers
    }
    found: dict[int, str] = {}
    try:
        for number, call in calls.items():
            try:
                object_id = (await call.decoded(_Resolved)).object.object_id
            except RemoteError:
                continue  # gone meanwhile
            if object_id is not None:
                found[number] = object_id
    finally:
        for call in calls.values():
            call.abandon()
    return found


async def _tell(
    session: Session,
    installed: InstalledWalk,
    *,
    ids: Sequence[int],
    captures: Sequence[bool],
    numbers: Sequence[int] = (),
    gone: Sequence[int] = (),
    objects: Iterable[str] = (),
) -> None:
    if not ids and not gone:
        return
    what: dict[str, Any] = {"do": "hear", "numbers": numbers, "ids": ids, "captures": captures, "gone": gone}
    await session.call(
        "Runtime.callFunctionOn",
        objectId=installed.object_id,
        functionDeclaration=CALL,
        arguments=[{"value": what}, *({"objectId": each} for each in objects)],
        returnByValue=True,
    )
