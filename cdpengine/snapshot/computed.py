"""The source `computed`: one walk in the page that reads Chrome's own roles and names.

Rule: on a page that was looked at before it costs one round trip, and what it says never belongs to another
document than it names. The walk lives in the frame's isolated world and is held by its remote object id: that of a
document that is gone is refused by Chrome, so no answer can come from the wrong one. The walk's numbers of
elements become backend node ids by a second call for those that are new (walk_numbers.py). Parts that say the same
as before are not read again (js/walk_reuse.js): the page names them only where both sides mean the same last walk.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Any, Self
from weakref import WeakKeyDictionary

import attrs
import msgspec

from cdpengine.browser.node import Node
from cdpengine.browser.worlds import context_gone
from cdpengine.errors import InvalidArgument, ProtocolError, RemoteError
from cdpengine.js import own, script
from cdpengine.session.calls import PendingCall
from cdpengine.session.session import Session
from cdpengine.snapshot.ax_cache import keep_warm
from cdpengine.snapshot.axplaces import Place
from cdpengine.snapshot.columns import Walk, decode_walk, nodes_of, role_bits
from cdpengine.snapshot.kept_parts import Part, PartChanged, Parts
from cdpengine.snapshot.listeners import ask_listeners, listening_elements, tell_listeners
from cdpengine.snapshot.node import Document, SharedNodes, Source
from cdpengine.snapshot.request import FrameRequest
from cdpengine.snapshot.walk_numbers import CALL, InstalledWalk, document_number, loader_of, number_elements

_GROUP = "cdpengine.walk"
"""The remote objects that live as long as a document is looked at."""

_TRIES = 6
"""How often a document may be replaced, or begin to listen to clicks, under the walk before it is left at that."""

_FRAMES_KEPT = 200
_FRAMES_WITH_PARTS = 64
_MOST_NUMBERS = 1_000_000
"""How many frames' walks of a session, of how many of these the parts, and how many elements of a document, are
remembered."""

_LONGEST = 24 * 3600.0
_KEPT_BACK = 0.1
"""Of its share the walk in the page leaves this part to what comes after it."""


async def read_computed(request: FrameRequest) -> Document:
    """Return the frame's document as a walk in the page reads it, with Chrome's own roles and names.

    Raises as `Session.call` does; RemoteError also when the frame is gone, or gets new documents all the time.
    Raises InvalidArgument when the browser does not offer roles and names to pages. `Document.loader_id` is the
    document that was read, which may be a newer one than was asked for.
    """
    return await read_walk(request, None, "computed")


async def supported(request: FrameRequest) -> bool:
    """Say whether the browser gives elements their computed role and name. One or two round trips."""
    context = await request.worlds.context(request.session, request.frame_id)
    reply = await request.session.call(
        "Runtime.evaluate", expression=_OFFERED, contextId=context, returnByValue=True
    )
    return reply.get("result", {}).get("value") is True


async def read_walk(request: FrameRequest, kit: str | None, source: Source) -> Document:
    """Return the frame's document as the walk reads it, with roles and names from `kit`.

    `kit` is the source of a function that returns `{ roleOf, nameOf }`, anew for each walk; None for Chrome's own.
    Raises as `read_computed` does.
    """
    started = time.perf_counter()
    for remaining in reversed(range(_TRIES)):
        try:
            installed = await _installed(request, kit)
            kept = installed.kept if kit is None and _may_reuse(request) else None
            async with _Listening(request, installed) as listening:
                walk = await _walked(request, installed, kept)
                if walk is not None:
                    walked = time.perf_counter()
                    if await number_elements(request, installed, walk.last):
                        continue  # closed shadow roots were found: the walk goes through them, too
                    numbered = time.perf_counter()
                    document = _document(request, installed, walk, kept)
                    if document is None:
                        installed.kept = _NOTHING_KEPT
                        continue  # what was to be used once more cannot be: all of it is read
                    if await listening.changed():
                        if remaining:
                            continue  # what began to listen may be in need of a line
                        listening.refusal = "others listened to clicks each time that it was read"
                    break
        except RemoteError as refused:
            if not context_gone(refused) or not remaining:
                raise
        _forget(request.session, request.frame_id, kit)
    else:
        raise RemoteError(
            method="Runtime.callFunctionOn",
            code=0,
            message="the frame got a new document each time it was read",
        )
    document.unknown = listening.refusal
    document.source = source
    document.loader_id = installed.loader_id
    document.session_id = request.session.id
    document.milliseconds = {
        "walk": (walked - started) * 1000,
        "ids": (numbered - walked) * 1000,
        "nodes": (time.perf_counter() - numbered) * 1000,
    }
    if not request.boxes:
        document.viewport = None
    return document


def _may_reuse(request: FrameRequest) -> bool:
    """Say whether the nodes may be those of earlier documents, and be kept for later ones."""
    return not (request.fresh or request.boxes or request.pointer or request.root is not None)


def _document(
    request: FrameRequest, installed: _Installed, walk: Walk, kept: _Kept | None
) -> Document | None:
    """Make the nodes; None when that needs parts that are not known, or are not the same any more."""
    if kept is None:
        return nodes_of(walk, installed.ids, frame_id=request.frame_id)
    if walk.same:
        if kept.document is None:
            return None
        if walk.number != kept.number:
            _keep(request, installed, _Kept(walk.number, kept.parts, kept.document))
        return kept.document.once_more()
    parts = Parts(kept.parts)
    try:
        document = nodes_of(walk, installed.ids, frame_id=request.frame_id, parts=parts)
    except PartChanged:
        return None
    document.parts_reused = parts.reused
    document.shared = SharedNodes()
    _keep(request, installed, _Kept(walk.number, parts.found, document) if walk.number else _NOTHING_KEPT)
    return document


def _keep(request: FrameRequest, installed: _Installed, kept: _Kept) -> None:
    """Keep parts for the next walk, of so many documents of the session as were read last."""
    installed.kept = kept
    keeping = [each for each in _remembered.get(request.session, {}).values() if each.kept.number]
    for each in keeping[:-_FRAMES_WITH_PARTS]:
        each.kept = _NOTHING_KEPT


# --- clickables alone ----------------------------------------------------------------------------------------


async def read_clickables(request: FrameRequest, kit: str) -> Clickables:
    """Return what the frame's page made clickable without saying so; `kit` as for `read_walk`.

    Raises as `read_computed` does.
    """
    for remaining in reversed(range(_TRIES)):
        try:
            installed = await _installed(request, kit)
            async with _Listening(request, installed) as listening:
                await listening.changed()
                text = await _answered(request, installed, {"do": "clickables", "pointer": request.pointer})
                if text is not None:
                    found = _decode_found(text)
                    if not await number_elements(request, installed, found.last):
                        return Clickables(request, installed, found.numbers, listening.refusal)
                    continue  # closed shadow roots were found
        except RemoteError as refused:
            if not context_gone(refused) or not remaining:
                raise
        _forget(request.session, request.frame_id, kit)
    raise RemoteError(
        method="Runtime.callFunctionOn",
        code=0,
        message="the frame got a new document each time its clickables were looked for",
    )


class _Found(msgspec.Struct):
    numbers: tuple[int, ...] = ()
    last: int = 0


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

    `refusal` says what could not be asked, "" when all could.
    """

    def __init__(
        self, request: FrameRequest, installed: _Installed, numbers: tuple[int, ...], refusal: str
    ) -> None:
        self._request = request
        self._installed = installed
        self._numbers = {installed.ids[number]: number for number in numbers if installed.ids[number]}
        self.ids: AbstractSet[int] = self._numbers.keys()
        self.refusal = refusal

    async def places(self, ids: Sequence[int]) -> list[Place]:
        """Return where these of them are in the flat tree. Raises as `Session.call` does."""
        installed = self._installed
        numbers = [self._numbers[each] for each in ids]
        text = await _answered(self._request, installed, {"do": "places", "numbers": numbers})
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


# --- the walk in the page ------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Kept:
    """The parts of the walk `number`, the last one of the document of which the answer came; 0: none.

    `document` is what was made of that walk.
    """

    number: int
    parts: Mapping[int, Part]
    document: Document | None = None


_NOTHING_KEPT = _Kept(0, {})


@attrs.define(eq=False)
class _Installed(InstalledWalk):
    """The walk of one document, and what of it is known here."""

    kept: _Kept = _NOTHING_KEPT
    document_id: str | None = None
    listening: Mapping[int, bool] = attrs.field(factory=dict)


class _Listening:
    """What listens to presses, asked for before a walk begins; the walk is told of it afterwards.

    So a page on which nothing changed is walked once, and answers both in one round trip.
    """

    def __init__(self, request: FrameRequest, installed: _Installed) -> None:
        self._request = request
        self._installed = installed
        self._call: PendingCall | None = None
        self.refusal = ""

    async def __aenter__(self) -> Self:
        if self._request.clickables:
            if self._installed.document_id is None:
                self._installed.document_id = await _document_object(self._request.session, self._installed)
            if self._installed.document_id is not None:
                self._call = ask_listeners(self._request.session, self._installed.document_id)
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._call is not None:
            self._call.abandon()

    async def changed(self) -> bool:
        """Say whether others listen than the walk knew of; from now on it knows."""
        if self._call is None:
            return False
        try:
            now = await listening_elements(self._call)
            known = self._installed.listening
            if now == known:
                return False
            document_id = self._installed.document_id
            assert document_id is not None
            await tell_listeners(self._request, self._installed, document_id, now, known)
        except RemoteError as refused:
            if context_gone(refused):
                raise
            self.refusal = f"what listens to clicks is not known: {refused}"
            return False
        self._installed.listening = now
        return True


async def _document_object(session: Session, installed: _Installed) -> str | None:
    """Return the remote object id of the document in the page's own world; None when it is gone.

    Asked for listeners through an object of an isolated world, Chrome compiles handlers that stand in attributes
    with wrappers of the wrong world: scripts then fail with "Illegal invocation", and the renderer crashes.
    """
    number = await document_number(session, installed.object_id)
    if number is None:
        return None
    # Without a group: with one, each listener that is told of would be kept alive as a remote object of it.
    page = await session.request("DOM.resolveNode", {"backendNodeId": number}, _Resolved)
    return page.object.object_id


_Key = tuple[str, str | None]
_remembered: WeakKeyDictionary[Session, OrderedDict[_Key, _Installed]] = WeakKeyDictionary()

_PARTS = ("dom", "elements", "clickables", "columns", "details", "labels", "styles", "steady", "reuse")
"""The functions that walk.js takes after secret_field.js, in this order: the files walk_*.js."""

_OFFERED = own("'computedRole' in Element.prototype && 'computedName' in Element.prototype")


@cache
def _installation(kit: str | None) -> str:
    # Sorted: what is sent is to be the same in each run, for those who compare or replay recordings.
    tables = json.dumps({"bits": role_bits()}, sort_keys=True)
    parts = ", ".join([tables, script("secret_field"), *(script(f"walk_{part}") for part in _PARTS)])
    if kit is None:
        return own(f"{_OFFERED} ? {script('walk')}(null, {parts}) : null")
    return own(f"{script('walk')}({kit}, {parts})")


async def _installed(request: FrameRequest, kit: str | None) -> _Installed:
    """Return the walk of the frame's document, made now when it is not known."""
    session = request.session
    known = _remembered.setdefault(session, OrderedDict())
    key = (request.frame_id, kit)
    installed = known.get(key)
    if installed is not None and len(installed.ids) < _MOST_NUMBERS:
        if installed.loader_id == request.loader_id:
            known.move_to_end(key)
            return installed
        _forget(session, request.frame_id, kit)
    if kit is None:
        keep_warm(session)
    context = await request.worlds.context(session, request.frame_id)
    # Chrome makes its tree of the document only when it is asked for a part of it. Without one, each single role
    # and name would make a tree of its own: on a page of 600 elements 3 s in place of 3 ms.
    root = session.post("Accessibility.getRootAXNode", frameId=request.frame_id) if kit is None else None
    try:
        params = {"expression": _installation(kit), "contextId": context, "objectGroup": _GROUP}
        reply = await session.request("Runtime.evaluate", params, _ObjectReply)
        if reply.exception_details is not None:
            raise ProtocolError(f"the walk could not be made: {_reason(reply.exception_details)}")
        object_id = reply.result.object_id
        if object_id is None and kit is not None:
            raise ProtocolError("the walk could not be made: the page gave no function")
        if object_id is None:
            raise InvalidArgument(
                what="source",
                given='"computed"',
                expected="another one, or a browser launched with computed_accessibility=True: this one does not "
                "tell pages computed roles",
            )
        installed = _Installed(object_id, await loader_of(session, object_id))
        if root is not None:
            await root.result()
    finally:
        if root is not None:
            root.abandon()
    known[key] = installed
    while len(known) > _FRAMES_KEPT:
        _release(session, known.popitem(last=False)[1])
    return installed


def _forget(session: Session, frame_id: str, kit: str | None) -> None:
    known = _remembered.get(session)
    installed = None if known is None else known.pop((frame_id, kit), None)
    if installed is not None:
        _release(session, installed)


def _release(session: Session, installed: _Installed) -> None:
    """Let the page's memory of the walk go; where its document is gone, it has gone with it."""
    if session.error() is None:
        session.post("Runtime.releaseObject", objectId=installed.object_id)
        if installed.document_id is not None:
            session.post("Runtime.releaseObject", objectId=installed.document_id)


async def _walked(request: FrameRequest, installed: _Installed, kept: _Kept | None) -> Walk | None:
    """Let the walk go, once. None when its world has another document by now."""
    text = await _answered(
        request,
        installed,
        {
            "do": "walk",
            "boxes": request.boxes,
            "clickables": request.clickables,
            "pointer": request.pointer,
            "held": None if kept is None else kept.number,
        },
    )
    return None if text is None else decode_walk(text)


async def _answered(request: FrameRequest, installed: _Installed, what: dict[str, Any]) -> str | None:
    """Ask the walk for something that it answers with a text. None when its world has another document by now."""
    milliseconds = min(request.seconds, _LONGEST) * (1 - _KEPT_BACK) * 1000
    arguments: list[dict[str, Any]] = [
        {"value": {**what, "milliseconds": milliseconds, "known": len(installed.ids) - 1}}
    ]
    if request.root is not None:
        node = Node(request.session, request.root, request.frame_id, "root of the snapshot")
        arguments.append({"objectId": await request.worlds.resolve(node, _GROUP)})
    reply = await request.session.request(
        "Runtime.callFunctionOn",
        {
            "objectId": installed.object_id,
            "functionDeclaration": CALL,
            "arguments": arguments,
            "returnByValue": True,
        },
        _TextReply,
    )
    if reply.exception_details is not None:
        raise ProtocolError(f"the walk in the page failed: {_reason(reply.exception_details)}")
    return reply.result.value


def _reason(details: Any) -> str:
    """Return where and why a script of the engine's own failed."""
    exception = details.get("exception", {}) if isinstance(details, dict) else {}
    return str(exception.get("description") or details.get("text"))[:300]


# --- replies -------------------------------------------------------------------------------------------------


class _Text(msgspec.Struct):
    value: str | None = None


class _Object(msgspec.Struct, rename="camel"):
    object_id: str | None = None


class _Resolved(msgspec.Struct):
    object: _Object


class _ObjectReply(msgspec.Struct, rename="camel"):
    result: _Object
    exception_details: Any = None


class _TextReply(msgspec.Struct, rename="camel"):
    result: _Text
    exception_details: Any = None
