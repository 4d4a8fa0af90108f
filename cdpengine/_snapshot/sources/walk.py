"""Installation of the walk in a frame's isolated world, and the engine's state for it.

Rule: the engine holds the walk by its remote object id. Chrome refuses the id of a document that is gone, so no
answer comes from the wrong document. The walks of a session's latest frames are remembered.

The walk numbers elements. _snapshot/sources/numbers.py maps these numbers to backend node ids.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._javascript import own, script
from cdpengine._page.accessibility import keep_warm
from cdpengine._page.scripts.node_lists import LONGEST_REASON, SERIALIZED, SerializedList, SerializedValue
from cdpengine._page.scripts.page_functions import (
    OBJECT,
    SETTLED_VALUE,
    ExecutionContext,
    Node,
    RemoteHandle,
    expression_command,
    object_group,
    object_of,
    post_resolve,
)
from cdpengine._page.scripts.worlds import WORLD_NAME, post_world
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine._protocol.domains.page import FrameNavigated, IsolatedWorldReply
from cdpengine._protocol.domains.runtime import ExceptionDetails
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._snapshot.node import Document, FrameRequest
from cdpengine._snapshot.sources.columns import Custom, Part, role_bits
from cdpengine.errors import InvalidArgumentError, ProtocolError, RemoteError

GROUP = "cdpengine.walk"
"""Group of the remote objects that live as long as the engine reads a document."""

CALL = own("function (...all) { this.length = 1; return this.walk(...all); }")
"""Call of the walk by the remote object id that its installation returned. Frees the result of the first walk."""

_LONGEST_BARE = 0.5
"""Maximum time to wait for the first layout of a document, in seconds. After that it is shown without layout."""

TRIES = 6
"""Maximum number of attempts while a document is replaced, or gains click listeners, during the walk."""

_MOST_FRAMES = 200
_MOST_NUMBERS = 1_000_000
"""Maximum number of frames per session whose walks are remembered, and of elements per document."""

_LONGEST = 24 * 3600.0
_RESERVED_SHARE = 0.1
"""Fraction of its time that the walk in the page leaves for later steps."""

_AFTER_READING = 4
"""Time to number an element and make its line, relative to the time to read it.

Measured: 2 to 3.5 on 20,000 and 80,000 elements.
"""


@attrs.frozen(eq=False)
class PreviousWalk:
    """The parts of the document's latest answered walk, whose number is `number`, 0 if none exists.

    `document` is the document made from that walk.
    """

    number: int
    parts: Mapping[int, Part]
    document: Document | None = None


NO_WALK = PreviousWalk(0, {})


@attrs.frozen(eq=False)
class KnownListeners:
    """The walk's listeners to presses: backend node id -> whether it also listens in the capture phase.

    `reply` is Chrome's answer from which `own` was made: the elements that listen. `all` also has those to which a
    framework dispatches presses. `framework` is whether there was a sign of one, `still` whether the document's
    result was unchanged.
    """

    all: Mapping[int, bool]
    own: Mapping[int, bool]
    reply: bytes = b""
    framework: bool = True
    still: bool = False


NO_LISTENERS = KnownListeners({}, {})


@attrs.frozen(eq=False)
class FirstWalk:
    """The first walk of a document, which its installation ran. `request` is its request, `text` its answer.

    `hosts` alternates the numbers of elements that may have a closed shadow root and the elements. `listeners` is
    the query for listeners that followed, None if the document's object was not known yet.
    """

    request: Mapping[str, Any]
    text: str
    hosts: Sequence[SerializedValue] = ()
    listeners: PendingCall | None = None

    def abandon(self) -> None:
        """Drop the query."""
        if self.listeners is not None:
            self.listeners.abandon()


@attrs.define(eq=False)
class Installed:
    """The walk of one document: its function in the page, and the backend node ids of its numbers, from 0 on.

    `document_id` is the document's own backend node id, 0 if unknown. `previous`, `document` (the document as an
    object of the page's own world) and `listeners` are the engine's knowledge about it. `customs` are the custom
    elements to query, by number, and `around` the numbers of those around them (_snapshot/sources/internals.py).
    `plain` is whether the document is believed to be plain (_snapshot/sources/walk_plain.js). `first` is the
    first walk until `take_first` is called.
    """

    function: RemoteHandle
    loader_id: str
    document_id: int = 0
    plain: bool = False
    ids: array[int] = attrs.field(factory=lambda: array("q", [0]))
    previous: PreviousWalk = NO_WALK
    document: RemoteHandle | None = None
    listeners: KnownListeners = NO_LISTENERS
    customs: dict[int, Custom] = attrs.field(factory=dict)
    around: set[int] = attrs.field(factory=set)
    looks: int = 0
    first: FirstWalk | None = None

    def take_first(self) -> FirstWalk | None:
        """Return the first walk, once. The caller must abandon its query in the end."""
        first, self.first = self.first, None
        return first


_Key = tuple[str, str | None]
remembered: WeakKeyDictionary[Session, OrderedDict[_Key, Installed]] = WeakKeyDictionary()

_PARTS = (
    "dom",
    "elements",
    "clickables",
    "columns",
    "details",
    "labels",
    "styles",
    "steady",
    "reuse",
    "marks",
    "plain",
    "beyond",
    "internals",
    "owners",
)
"""The functions that walk.js takes after secret_field.js, in this order: the files walk_*.js."""

_DOCUMENT = own("document")

OFFERED = own("'computedRole' in Element.prototype && 'computedName' in Element.prototype")


@cache
def _installation(kit: str | None) -> str:
    # Sorted, so that each run sends the same text and recordings can be compared and replayed.
    tables = _json.encode({"bits": role_bits()}, sort_keys=True).decode()
    parts = ", ".join(
        [
            tables,
            script("_page/scripts/secret_field"),
            *(script(f"_snapshot/sources/walk_{part}") for part in _PARTS),
        ]
    )
    if kit is None:
        return f"({OFFERED} ? {script('_snapshot/sources/walk')}(null, {parts}) : null)"
    return f"{script('_snapshot/sources/walk')}({kit}, {parts})"


_PREPARED = "globalThis.cdpengineWalk ? cdpengineWalk() : undefined"


@cache
def _preparation() -> str:
    return own(f"globalThis.cdpengineWalk = () => {_installation(None)};")


@cache
def _first_call(making: str) -> str:
    """Return the function that makes the walk, runs it with the given request, and lists the possible hosts."""
    return own(f"""function (request) {{
  const made = {making};
  if (made && request) made.push(made.walk(request), ...made.walk({{ do: "hosts" }}));
  return made;
}}""")


_prepared: WeakSet[Session] = WeakSet()
"""Sessions whose new documents get the walk's maker at their start, in the engine's world."""


@attrs.frozen(eq=False)
class _NewDocument:
    """The pending queries about the newest document of a prepared session's own frame.

    They are for the engine's world, and for the document as an object of the page's own world.
    """

    world: PendingCall
    document: PendingCall


_new_documents: WeakKeyDictionary[Session, _NewDocument] = WeakKeyDictionary()


def _prepare_next(session: Session) -> None:
    """Add the walk's maker to all future documents of the session."""
    _prepared.add(session)
    session.post("Page.addScriptToEvaluateOnNewDocument", source=_preparation(), worldName=WORLD_NAME)

    def ask_for_world(navigated: Event) -> None:
        frame = navigated.decode(FrameNavigated).frame
        if frame.id == session.frame_id and session.error() is None:
            world = post_world(session, frame.id)
            _new_documents[session] = _NewDocument(world, _post_main_document(session))

    session.on_event("Page.frameNavigated", ask_for_world)
    session.on_end(lambda: _forget_new_document(session))


def _forget_new_document(session: Session) -> None:
    _new_documents.pop(session, None)


async def _take_new_document(request: FrameRequest) -> tuple[ExecutionContext, RemoteHandle | None] | None:
    """Return the world that was requested when the frame's document arrived, and the document; once.

    They may belong to an earlier document. Chrome then refuses calls in it (`context_gone`).
    """
    session = request.session
    pending = _new_documents.pop(session, None) if request.frame_id == session.frame_id else None
    if pending is None:
        return None
    try:
        world = (await pending.world.decoded(IsolatedWorldReply)).execution_context_id
        return ExecutionContext(session, world), await object_of(pending.document, session)
    except RemoteError:
        return None


FirstRequest = Callable[[bool], dict[str, Any]]
"""Returns the first walk's request. Argument: whether the document is believed plain."""


async def install_walk(
    request: FrameRequest, kit: str | None, first: FirstRequest | None = None
) -> Installed:
    """Return the walk of the frame's document. Install it if it is not known.

    The installation runs the walk with the request of `first`: see `Installed.take_first`.
    """
    session = request.session
    known = remembered.get(session)
    if known is None:
        known = remembered[session] = OrderedDict()
        # The walks refer to their session and would keep it, and the page with it, alive forever.
        session.on_end(known.clear)
    key = (request.frame_id, kit)
    prepared = kit is None and session in _prepared
    installed = known.get(key)
    if installed is not None and len(installed.ids) < _MOST_NUMBERS:
        if installed.loader_id == request.loader_id and not installed.function.lost:
            known.move_to_end(key)
            return installed
        forget_walk(session, request.frame_id, kit)
        if kit is None and not prepared:
            _prepare_next(session)  # the session goes from document to document
    known_world = await _take_new_document(request) if prepared else None
    context, document = known_world or (await request.worlds.context(session, request.frame_id), None)
    await trio.lowlevel.checkpoint_if_cancelled()
    with pending_group() as post, ExitStack() as unless_used:
        with_tree = kit is None and _is_like_one_with_tree(request)
        root = post(post_tree(request)) if with_tree else None
        # In another frame, the page's own world can be reached only by the document's number: see
        # `post_document`.
        own_world = request.clickables and request.frame_id == session.frame_id
        what = first(not with_tree) if first is not None and request.root is None else None
        arguments = [] if what is None else [_within_time(request, what, 0)]

        def post_making(making: str) -> PendingCall:
            return post(context.post(_first_call(making), *arguments, how=SERIALIZED, group=GROUP))

        call = post_making(_PREPARED if prepared else _installation(kit))
        asked = post(_post_main_document(session)) if own_world and document is None else None
        listeners = None
        if own_world and document is not None and what is not None:
            listeners = ask_listeners(document)
            unless_used.callback(listeners.abandon)
        reply = await call.decoded(_InstalledReply)
        if prepared and reply.result.type == "undefined":
            # A document from before the preparation, or one without scripts.
            call = post_making(_installation(kit))
            reply = await call.decoded(_InstalledReply)
        installed = _installed(session, reply)
        if installed is None and kit is not None:
            raise ProtocolError("cannot install the walk: the page returned no function")
        if installed is None:
            raise InvalidArgumentError(
                what="source",
                given='"computed"',
                expected="another one, or a browser launched with computed_accessibility=True: this one does not "
                "offer computed roles to pages",
            )
        installed.plain = kit is None and not with_tree
        if own_world:
            installed.document = document if asked is None else await object_of(asked, session)
        if root is not None:
            await root.result()
        if what is not None:
            answers = [each.value for each in reply.result.deep_serialized_value.value[1:]]
            if not answers or not isinstance(answers[0], str):
                raise ProtocolError("the first walk in the page returned no string")
            installed.first = FirstWalk(what, answers[0], answers[1:], listeners)
            unless_used.pop_all()
    known[key] = installed
    if kit is None:
        request.worlds.keep_numbers(session, request.frame_id, installed)
    while len(known) > _MOST_FRAMES:
        _release(known.popitem(last=False)[1])
    return installed


_with_trees: WeakSet[Session] = WeakSet()
"""Sessions that had a document that is not plain. Their next documents are expected not to be plain either."""


def _is_like_one_with_tree(request: FrameRequest) -> bool:
    """Return whether a new document is expected not to be plain.

    False in a child frame: its document need not resemble the page around it, and each additional tree makes every
    role query slower, in all frames (200 frames: 7.1 s instead of 1.9 s).
    """
    return request.session in _with_trees and request.frame_id == request.session.frame_id


def post_tree(request: FrameRequest) -> PendingCall:
    """Make Chrome build its tree of the frame's document, and keep the session's trees from now on.

    Chrome builds the tree only when a part of it is requested. Otherwise each query of a role or name would build
    a separate tree: on a page of 600 elements 3 s instead of 3 ms.
    """
    _with_trees.add(request.session)
    keep_warm(request.session)
    return request.session.post("Accessibility.getRootAXNode", frameId=request.frame_id)


def _post_main_document(session: Session) -> PendingCall:
    method, params = expression_command(session, _DOCUMENT, how=OBJECT)
    return session.post(method, **params)


def list_walks(session: Session) -> list[Installed]:
    """Return the walks of the session's frames, most recently read last."""
    return list(remembered.get(session, {}).values())


def forget_walk(session: Session, frame_id: str, kit: str | None) -> None:
    """Forget the walk of a frame whose document was replaced."""
    known = remembered.get(session)
    installed = None if known is None else known.pop((frame_id, kit), None)
    if installed is not None:
        _release(installed)


def forget_frames_but(session: Session, there: Callable[[str], object | None]) -> None:
    """Forget the walks of frames that are gone: those for whose id `there` returns None."""
    for frame_id, kit in list(remembered.get(session, ())):
        if there(frame_id) is None:
            forget_walk(session, frame_id, kit)


def _release(installed: Installed) -> None:
    """Release the walk in the page. If its document is gone, Chrome has released it already."""
    installed.function.release()
    if installed.document is not None:
        installed.document.release()


def post_document(session: Session, installed: Installed) -> PendingCall | None:
    """Query the document as an object of the page's own world. Await the answer with `document_of`.

    The object has no group: otherwise each reported listener would stay alive as a remote object of the group. If
    listeners are queried through an object of an isolated world, Chrome compiles handler attributes with wrappers
    of the wrong world: scripts then fail with "Illegal invocation", and the renderer crashes.
    """
    return post_resolve(session, installed.document_id, None) if installed.document_id else None


async def document_of(call: PendingCall, session: Session) -> RemoteHandle | None:
    """Return the document; None if it is gone."""
    object_id = (await call.decoded(ResolveNodeReply)).object.object_id
    return None if object_id is None else RemoteHandle(session, object_id)


def ask_listeners(document: RemoteHandle) -> PendingCall:
    """Query the listeners of a document, including all shadow trees and same-process frames in it.

    `document` is the document as an object of the page's own world.
    """
    return document.session.post(
        "DOMDebugger.getEventListeners", objectId=document.reference, depth=-1, pierce=True
    )


async def send_names(request: FrameRequest, installed: Installed, kit: str) -> None:
    """Give the walk roles and names of content that `content-visibility: auto` skips."""
    session = request.session
    context = await request.worlds.context(session, request.frame_id)
    with object_group("kit") as group:
        function = await object_of(context.post_expression(own(f"({kit})"), how=OBJECT, group=group), session)
        if function is None:
            raise ProtocolError("cannot compute roles and names: the page returned no function")
        await installed.function.post(CALL, {"do": "help"}, function).raw()


async def wait_laid_out(request: FrameRequest, installed: Installed) -> None:
    """Wait briefly until Chrome has laid out the document."""
    milliseconds = min(request.seconds / 4, _LONGEST_BARE) * 1000
    await trio.lowlevel.checkpoint_if_cancelled()
    await installed.function.post(CALL, {"do": "wait", "milliseconds": milliseconds}, how=SETTLED_VALUE).raw()


async def ask_walk(request: FrameRequest, installed: Installed, what: dict[str, Any]) -> str | None:
    """Call the walk and return the string that it answers, or None if its world has another document by now."""
    return await read_answer(await post_walk(request, installed, what))


async def post_walk(request: FrameRequest, installed: Installed, what: Mapping[str, Any]) -> PendingCall:
    """Call the walk. Await the answer with `read_answer`."""
    arguments: list[object] = [_within_time(request, what, len(installed.ids) - 1)]
    if request.root is not None:
        node = Node(request.session, request.root, request.frame_id, "root of the snapshot")
        arguments.append(await request.worlds.resolve(node, GROUP))
    await trio.lowlevel.checkpoint_if_cancelled()
    return installed.function.post(CALL, *arguments)


def _within_time(request: FrameRequest, what: Mapping[str, Any], known: int) -> dict[str, Any]:
    milliseconds = min(request.seconds, _LONGEST) * (1 - _RESERVED_SHARE) * 1000
    return {**what, "milliseconds": milliseconds, "after": _AFTER_READING, "known": known}


async def read_answer(call: PendingCall) -> str | None:
    """Return the string that the walk answered, or None if its world has another document by now."""
    reply = await call.decoded(_TextReply)
    if reply.exception_details is not None:
        raise ProtocolError(f"the walk in the page failed: {reply.exception_details.reason[:LONGEST_REASON]}")
    return reply.result.value


def _installed(session: Session, reply: _InstalledReply) -> Installed | None:
    """Return the result of the installation; None if the browser does not offer computed roles."""
    if reply.exception_details is not None:
        raise ProtocolError(f"cannot install the walk: {reply.exception_details.reason[:LONGEST_REASON]}")
    if reply.result.object_id is None:
        return None
    function = RemoteHandle(session, reply.result.object_id)
    document = next(iter(reply.result.deep_serialized_value.nodes()), None)
    if document is None:
        return Installed(function, "")
    return Installed(function, document.loader_id, document.backend_node_id)


# --- replies -------------------------------------------------------------------------------------------------


class _InstalledResult(msgspec.Struct, rename="camel"):
    type: str = ""
    object_id: str | None = None
    deep_serialized_value: SerializedList = msgspec.field(default_factory=SerializedList)


class _InstalledReply(msgspec.Struct, rename="camel"):
    result: _InstalledResult
    exception_details: ExceptionDetails | None = None


class _Text(msgspec.Struct):
    value: str | None = None


class _TextReply(msgspec.Struct, rename="camel"):
    result: _Text
    exception_details: ExceptionDetails | None = None
