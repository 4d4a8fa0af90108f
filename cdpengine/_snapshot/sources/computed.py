"""The sources `computed` and `dom`: one walk in the page, with roles and names of Chrome or of the DOM alone.

Rule: on a page that was read before it costs one round trip, and its result never belongs to another document than
it names (walk.py). The walk's numbers of elements become backend node ids by a second call for those that are new.
Parts that say the same as before are not read again (_snapshot/sources/walk_reuse.js): the page names them only
where both sides mean the same last walk.

`dom` asks nothing of Chrome's accessibility engine, so it works where that fails, is missing, or would take too
long: the same walk, with roles and names worked out in the page by ARIA's and HTML's rules. docs/snapshots.md says
where it differs from the accessibility tree.

Who listens to presses Chrome is asked at every snapshot, because no event says when a page begins to listen. It
answers with the listeners only (0.7 ms on a page of 9,000 elements without any, some 5 microseconds for each). An
answer that is the same, byte for byte, is not read again. The walk in the page gets what is new: by the number
that it gave to an element, or by the element itself where it has none. It presumes that an element with an
attribute such as `onclick` listens, so that it need not go through the document again where Chrome says so, too.

An element to which a framework hands presses listens to none itself. Where anything listens, the page's own world
is asked for such elements (_snapshot/sources/handed.js): nothing else shows them. On a page without a sign of a
framework that is left out as long as neither the listeners nor the document change: a framework begins with
listeners of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self

import attrs
import msgspec

from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import (
    ObjectGroup,
    RemoteHandle,
    context_gone,
    new_group,
    object_group,
    objects_of_nodes,
)
from cdpengine._protocol.calls import PendingCall
from cdpengine._snapshot.node import Document, FrameRequest, SharedNodes, Source
from cdpengine._snapshot.sources.columns import PartChanged, Parts, Walk, decode_walk, nodes_of
from cdpengine._snapshot.sources.walk import (
    CALL,
    NOTHING_KEPT,
    OFFERED,
    TRIES,
    Installed,
    Kept,
    KnownListeners,
    ask_nodes,
    ask_walk,
    document_object,
    forget_walk,
    give_names,
    install_walk,
    list_walks,
    node_ids,
    number_elements,
    wait_laid_out,
)
from cdpengine.errors import ProtocolError, RemoteError

_FRAMES_WITH_PARTS = 64
"""Frames of a session whose parts are remembered."""


async def read_computed(request: FrameRequest) -> Document:
    """Return the frame's document as a walk in the page reads it, with Chrome's own roles and names.

    Raises as `Session.call` does; RemoteError also when the frame is gone, or gets new documents all the time.
    Raises InvalidArgumentError when the browser does not offer roles and names to pages. `Document.loader_id` is
    the document that was read, which may be a newer one than was asked for.
    """
    return await read_walk(request, None, "computed")


async def is_supported(request: FrameRequest) -> bool:
    """Say whether the browser gives elements their computed role and name. One or two round trips."""
    context = await request.worlds.context(request.session, request.frame_id)
    return await context.evaluate(OFFERED, returns=object) is True


async def read_walk(request: FrameRequest, kit: str | None, source: Source) -> Document:
    """Return the frame's document as the walk reads it, with roles and names from `kit`.

    `kit` is the source of a function that returns `{ roleOf, nameOf }`, anew for each walk; None for Chrome's own.
    Raises as `read_computed` does.
    """
    started = time.perf_counter()
    waited = False
    for remaining in reversed(range(TRIES)):
        try:
            installed = await install_walk(request, kit)
            kept = installed.kept if kit is None and _may_reuse(request) else None
            async with Listening(request, installed) as listening:
                walk = await _run_walk(request, installed, kept, waited=waited)
                if walk is not None:
                    walked = time.perf_counter()
                    if walk.bare:
                        await wait_laid_out(request, installed)
                        waited = True
                        continue
                    if walk.lacking:
                        await give_names(request, installed, role_and_name_source())
                        continue
                    if await number_elements(request, installed, walk.last):
                        continue  # closed shadow roots were found: the walk goes through them, too
                    numbered = time.perf_counter()
                    document = _document(request, installed, walk, kept)
                    if document is None:
                        installed.kept = NOTHING_KEPT
                        continue  # what was to be used once more cannot be: all of it is read
                    if await listening.has_changed(walk.presumed, still=walk.same):
                        if remaining:
                            continue  # what began to listen may be in need of a line
                        listening.refusal = "others listened to clicks each time that it was read"
                    break
        except RemoteError as refused:
            if not context_gone(refused) or not remaining:
                raise
        forget_walk(request.session, request.frame_id, kit)
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


async def read_dom(request: FrameRequest) -> Document:
    """Return the frame's document as the DOM has it, without the accessibility engine.

    Linear in the size of the document. Closed shadow roots are not in it. Raises as `Session.call` does;
    RemoteError also when the frame is gone, or gets new documents all the time.
    """
    return await read_walk(request, role_and_name_source(), "dom")


@cache
def role_and_name_source() -> str:
    """Return the source of a function that returns `{ roleOf, nameOf }`, anew at each call."""
    given = ("_snapshot/sources/dom_roles", "_snapshot/sources/dom_text", "_page/scripts/secret_field")
    parts = ", ".join(f"{script(path)}()" for path in given)
    return f"() => {script('_snapshot/sources/dom_names')}({parts})"


def _may_reuse(request: FrameRequest) -> bool:
    """Say whether the nodes may be those of earlier documents, and be kept for later ones."""
    return not (request.fresh or request.boxes or request.pointer or request.root is not None)


def _document(request: FrameRequest, installed: Installed, walk: Walk, kept: Kept | None) -> Document | None:
    """Make the nodes; None when that needs parts that are not known, or are not the same any more."""
    if kept is None:
        return nodes_of(walk, installed.ids, frame_id=request.frame_id)
    if walk.same:
        if kept.document is None:
            return None
        if walk.number != kept.number:
            _keep(request, installed, Kept(walk.number, kept.parts, kept.document))
        return kept.document.once_more()
    parts = Parts(kept.parts)
    try:
        document = nodes_of(walk, installed.ids, frame_id=request.frame_id, parts=parts)
    except PartChanged:
        return None
    document.parts_reused = parts.reused
    document.shared = SharedNodes()
    _keep(request, installed, Kept(walk.number, parts.found, document) if walk.number else NOTHING_KEPT)
    return document


def _keep(request: FrameRequest, installed: Installed, kept: Kept) -> None:
    """Keep parts for the next walk. Only the documents of the session that were read last keep theirs."""
    installed.kept = kept
    keeping = [each for each in list_walks(request.session) if each.kept.number]
    for each in keeping[:-_FRAMES_WITH_PARTS]:
        each.kept = NOTHING_KEPT


async def _run_walk(
    request: FrameRequest, installed: Installed, kept: Kept | None, *, waited: bool
) -> Walk | None:
    """Run the walk once. None when its world has another document by now."""
    text = await ask_walk(
        request,
        installed,
        {
            "do": "walk",
            "boxes": request.boxes,
            "clickables": request.clickables,
            "pointer": request.pointer,
            "held": None if kept is None else kept.number,
            "waited": waited,
        },
    )
    return None if text is None else decode_walk(text)


# --- listeners -----------------------------------------------------------------------------------------------

PRESSES = frozenset(
    {"click", "dblclick", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend"}
)
"""The events by which an element takes a press of the mouse or of a finger."""

_TOLD_AT_ONCE = 5_000

_LONGEST_REPLY = 2_000_000
"""Bytes of an answer of Chrome's that are kept, to be compared with the next one."""

_MOST_HANDED = 2_000
"""Elements that presses are handed to, of one document: each costs Chrome some 30 microseconds."""


class _Listener(msgspec.Struct, rename="camel", gc=False):
    type: str = ""
    use_capture: bool = False
    backend_node_id: int = 0


class _Listeners(msgspec.Struct, gc=False):
    listeners: tuple[_Listener, ...] = ()


class Listening:
    """What listens to presses, asked for before a walk begins; the walk gets it afterwards.

    So a page on which nothing changed is walked once, and answers both in one round trip.
    """

    def __init__(self, request: FrameRequest, installed: Installed) -> None:
        self._request = request
        self._installed = installed
        self._call: PendingCall | None = None
        self._handed: PendingCall | None = None
        self._group = new_group("handed")
        self.refusal = ""

    async def __aenter__(self) -> Self:
        if self._request.clickables:
            if self._installed.document is None:
                self._installed.document = await document_object(self._request.session, self._installed)
            if self._installed.document is not None:
                self._call = ask_listeners(self._installed.document)
                known = self._installed.listeners
                if known.own and (known.framework or not known.still):
                    self._ask_handed(self._installed.document)
        return self

    async def __aexit__(self, *_: object) -> None:
        for call in (self._call, self._handed):
            if call is not None:
                call.abandon()
        self._group.release()

    def _ask_handed(self, document: RemoteHandle) -> None:
        self._handed = ask_nodes(document, own(script("_snapshot/sources/handed")), _MOST_HANDED, self._group)

    async def _listeners(self, call: PendingCall, document: RemoteHandle, *, still: bool) -> KnownListeners:
        """Return what listens, and what presses are handed to."""
        known = self._installed.listeners
        # Chrome answers in order: after a walk this is here, and others had their turns.
        reply = bytes(call.raw_nowait() if call.done else await call.raw())
        same = reply == known.reply
        own = known.own if same else _own_listeners(call.decode(reply, _Listeners))
        kept = reply if len(reply) <= _LONGEST_REPLY else b""
        if not own:
            return KnownListeners(own, own, kept, still=still)
        if self._handed is None:
            if same and still and not known.framework:
                return known if known.still else attrs.evolve(known, still=True)
            self._ask_handed(document)
        assert self._handed is not None
        try:
            handed = await node_ids(self._handed)
        except ProtocolError as odd:
            self.refusal = f"what frameworks hand clicks to is not known: {odd}"
            return KnownListeners(own, own, still=still)
        if not handed:
            return KnownListeners(own, own, kept, framework=False, still=still)
        return KnownListeners({**dict.fromkeys(handed[1:], False), **own}, own, kept, still=still)

    async def has_changed(self, presumed: Sequence[int] = (), *, still: bool = False) -> bool:
        """Say whether others listen than the walk took for listening; from now on it knows.

        `presumed` are the numbers of elements that it only presumed to listen. `still` says that the document said
        the same as when it was last walked.
        """
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
                others = await tell_listeners(
                    self._request, installed, document, now.all, known.all, presumed
                )
        except RemoteError as refused:
            if context_gone(refused):
                raise
            self.refusal = f"what listens to clicks is not known: {refused}"
            return False
        installed.listeners = now
        return others


def ask_listeners(document: RemoteHandle) -> PendingCall:
    """Ask for the listeners of a document, shadow trees of any kind and same-process frames in it included.

    `document` is the document as an object of the page's own world.
    """
    return document.session.post("DOMDebugger.getEventListeners", objectId=document.id, depth=-1, pierce=True)


def _own_listeners(found: _Listeners) -> dict[int, bool]:
    """Return, by backend node id, what listens to presses, and whether it does so on their way down too."""
    own: dict[int, bool] = {}
    for each in found.listeners:
        if each.type in PRESSES and each.backend_node_id:
            own[each.backend_node_id] = own.get(each.backend_node_id, False) or each.use_capture
    return own


async def tell_listeners(
    request: FrameRequest,
    installed: Installed,
    document: RemoteHandle,
    listening: Mapping[int, bool],
    told: Mapping[int, bool],
    presumed: Sequence[int] = (),
) -> bool:
    """Tell the walk which elements began to listen to presses and which ended since it was `told`.

    `presumed` are the numbers of those that it took for listening: of these it gets those that do not. Returns
    whether the walk was wrong about any element. Elements of other frames' documents, which Chrome's answer has
    too, are left out. Raises as `Session.call` does.
    """
    gone = [number for number in told if number not in listening]
    new = [number for number, captures in listening.items() if told.get(number) is not captures]
    numbers = {number: place for place, number in enumerate(installed.ids)} if new else {}
    known = [number for number in new if number in numbers]
    others = await _tell(
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
        for start in range(0, len(strangers), _TOLD_AT_ONCE):
            objects = await _resolve(request, strangers[start : start + _TOLD_AT_ONCE], group)
            ids = list(objects)
            captures = [listening[number] for number in ids]
            others |= await _tell(installed, ids=ids, captures=captures, objects=objects.values())
    return others


async def _resolve(
    request: FrameRequest, numbers: Sequence[int], group: ObjectGroup
) -> dict[int, RemoteHandle]:
    """Return those that are there as objects of the frame's isolated world."""
    context = await request.worlds.context(request.session, request.frame_id)
    return await objects_of_nodes(request.session, numbers, group, executionContextId=context.id)


async def _of_document(document: RemoteHandle, numbers: Sequence[int], group: ObjectGroup) -> list[int]:
    """Return those of the nodes that are of this document.

    A node of a frame's document must never be resolved into the world of another one: from then on scripts of its
    own world could not read it. By itself it is resolved into its own frame's page, which its object id names.
    """
    objects = await objects_of_nodes(document.session, numbers, group)
    return [number for number, each in objects.items() if each.world == document.world]


async def _tell(
    installed: Installed,
    *,
    ids: Sequence[int],
    captures: Sequence[bool],
    numbers: Sequence[int] = (),
    gone: Sequence[int] = (),
    refuted: Sequence[int] = (),
    objects: Iterable[RemoteHandle] = (),
) -> bool:
    """Tell the walk; return whether it was wrong about any of these."""
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
