"""The walk of a document, put into the frame's isolated world, and what is known of it here.

Rule: it is held by its remote object id: that of a document that is gone is refused by Chrome, so no answer can
come from the wrong one. The walks of a session's latest frames are remembered.

The walk gives numbers to elements, which stand for backend node ids (_snapshot/sources/numbers.py).
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import attrs
import msgspec
import trio

from cdpengine import _json
from cdpengine._javascript import own, script
from cdpengine._page.scripts.node_lists import LONGEST_REASON, SERIALIZED, SerializedList
from cdpengine._page.scripts.page_functions import (
    OBJECT,
    SETTLED_VALUE,
    WORLD_NAME,
    ExecutionContext,
    Node,
    RemoteHandle,
    expression_command,
    object_group,
    object_of,
    post_resolve,
    post_world,
)
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine._protocol.domains.page import FrameNavigated, IsolatedWorldReply
from cdpengine._protocol.domains.runtime import ExceptionDetails
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._snapshot.node import Document, FrameRequest
from cdpengine._snapshot.sources.ax_tree import keep_warm
from cdpengine._snapshot.sources.columns import Custom, Part, role_bits
from cdpengine.errors import InvalidArgumentError, ProtocolError, RemoteError

GROUP = "cdpengine.walk"
"""The remote objects that live as long as a document is looked at."""

CALL = own("function (...all) { return this.walk(...all); }")
"""How the walk is called by the remote object id of what its installation gave."""

_FIRST_CALL = own("""function (...all) {
  const { made } = cdpengineWalk;
  cdpengineWalk.made = null;
  return made.walk(...all);
}""")
"""How a walk is called that is being made by a call before, in a document that came with what makes it."""

_LONGEST_BARE = 0.5
"""Seconds in which a document is laid out that Chrome had no layout of; after that it is shown as it is."""

TRIES = 6
"""How often a document may be replaced, or begin to listen to clicks, while it is walked."""

_FRAMES_KEPT = 200
_MOST_NUMBERS = 1_000_000
"""How many frames' walks of a session, and how many elements of a document, are remembered."""

_LONGEST = 24 * 3600.0
_KEPT_BACK = 0.1
"""The part of its time that the walk in the page leaves to what comes after it."""

_AFTER_READING = 4
"""How many times as long as to read an element it takes to number it, and to make its line.

Measured: 2 to 3.5 on 20,000 and 80,000 elements.
"""


@attrs.frozen(eq=False)
class Kept:
    """The parts of the document's latest walk that was answered, which has the number `number`; 0: none.

    `document` is what was made of that walk.
    """

    number: int
    parts: Mapping[int, Part]
    document: Document | None = None


NOTHING_KEPT = Kept(0, {})


@attrs.frozen(eq=False)
class KnownListeners:
    """What the walk knows of who listens to presses, by backend node id, and whether on their way down, too.

    `reply` is Chrome's answer that `own` was made of: what listens itself. `all` has what a framework hands
    presses to, as well. `framework` says whether there was a sign of one, `still` whether the document said the
    same as before.
    """

    all: Mapping[int, bool]
    own: Mapping[int, bool]
    reply: bytes = b""
    framework: bool = True
    still: bool = False


NO_LISTENERS = KnownListeners({}, {})


@attrs.frozen(eq=False)
class FirstWalk:
    """The first walk of a document, sent right behind its installation; `asked` is what it was asked."""

    asked: Mapping[str, Any]
    call: PendingCall


@attrs.define(eq=False)
class Installed:
    """The walk of one document: its function in the page, and the backend node ids of its numbers, from 0 on.

    `document_id` is the document's own backend node id, 0 where it is not known. `kept`, `document` (the document
    as an object of the page's own world) and `listeners` are what is known of it. `customs` are the custom
    elements that Chrome is asked for, by number, and `around` the numbers of those around them
    (_snapshot/sources/internals.py). `plain` says that its roles and names are plain from the page, as far as
    that is known (_snapshot/sources/walk_plain.js). `first` is there until somebody takes it.
    """

    function: RemoteHandle
    loader_id: str
    document_id: int = 0
    plain: bool = False
    ids: array[int] = attrs.field(factory=lambda: array("q", [0]))
    kept: Kept = NOTHING_KEPT
    document: RemoteHandle | None = None
    listeners: KnownListeners = NO_LISTENERS
    customs: dict[int, Custom] = attrs.field(factory=dict)
    around: set[int] = attrs.field(factory=set)
    looks: int = 0
    first: FirstWalk | None = None

    def take_first(self) -> FirstWalk | None:
        """Return the first walk that is under way, once. Who takes it abandons its call in the end."""
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
    # Sorted: what is sent is to be the same in each run, for those who compare or replay recordings.
    tables = _json.encode({"bits": role_bits()}, sort_keys=True).decode()
    parts = ", ".join(
        [
            tables,
            script("_page/scripts/secret_field"),
            *(script(f"_snapshot/sources/walk_{part}") for part in _PARTS),
        ]
    )
    if kit is None:
        return own(f"{OFFERED} ? {script('_snapshot/sources/walk')}(null, {parts}) : null")
    return own(f"{script('_snapshot/sources/walk')}({kit}, {parts})")


_PREPARED = own("globalThis.cdpengineWalk ? cdpengineWalk() : undefined")


@cache
def _preparation() -> str:
    return own(f"globalThis.cdpengineWalk = () => (cdpengineWalk.made = {_installation(None)});")


_prepared: WeakSet[Session] = WeakSet()
"""Sessions whose new documents have what makes the walk from their start, in the engine's world."""

_worlds: WeakKeyDictionary[Session, PendingCall] = WeakKeyDictionary()
"""The world in the newest document of a prepared session's own frame, asked for when that document came."""


def _prepare_next(session: Session) -> None:
    """Have the documents to come hold what makes the walk, as long as the session lasts."""
    _prepared.add(session)
    session.post("Page.addScriptToEvaluateOnNewDocument", source=_preparation(), worldName=WORLD_NAME)

    def ask_for_world(navigated: Event) -> None:
        frame = navigated.decode(FrameNavigated).frame
        if frame.id == session.frame_id and session.error() is None:
            _worlds[session] = post_world(session, frame.id)

    session.on_event("Page.frameNavigated", ask_for_world)
    session.on_end(lambda: _forget_world(session))


def _forget_world(session: Session) -> None:
    _worlds.pop(session, None)


async def _take_world(request: FrameRequest) -> ExecutionContext | None:
    """Return the world that was asked for when the frame's document came, once; None where there is none.

    It may be that of a document before: what is asked in it then is refused (`context_gone`).
    """
    session = request.session
    asked = _worlds.pop(session, None) if request.frame_id == session.frame_id else None
    if asked is None:
        return None
    try:
        return ExecutionContext(session, (await asked.decoded(IsolatedWorldReply)).execution_context_id)
    except RemoteError:
        return None


FirstRequest = Callable[[bool, bool], dict[str, Any]]
"""What the first walk is asked: of whether the document is taken for plain, and elements are to be marked."""


async def install_walk(
    request: FrameRequest, kit: str | None, first: FirstRequest | None = None
) -> Installed:
    """Return the walk of the frame's document, made now when it is not known.

    Where that is possible, what `first` says is asked of it in the same go: see `Installed.take_first`.
    """
    session = request.session
    known = remembered.get(session)
    if known is None:
        known = remembered[session] = OrderedDict()
        # The walks hold their session: they would keep it, and the page with it, for ever.
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
            _prepare_next(session)  # it is one that goes from document to document
    context = await _take_world(request) if prepared else None
    if context is None:
        context = await request.worlds.context(session, request.frame_id)
    await trio.lowlevel.checkpoint_if_cancelled()
    with pending_group() as post, ExitStack() as unless_kept:
        with_tree = kit is None and _is_like_one_with_tree(request)
        root = post(post_tree(request)) if with_tree else None
        expression = _PREPARED if prepared else _installation(kit)
        call = post(context.post_expression(expression, how=SERIALIZED, group=GROUP))
        # The page's own world of another frame is reached by its document's number only: see `post_document`.
        own_world = request.clickables and request.frame_id == session.frame_id
        document = post(_post_main_document(session)) if own_world else None
        asked = None
        if first is not None and prepared and request.root is None:
            asked = _post_first(request, context, first(not with_tree, own_world))
            unless_kept.callback(asked.call.abandon)
        reply = await call.decoded(_InstalledReply)
        if prepared and reply.result.type == "undefined":
            # A document from before, or one that got no scripts.
            asked = None
            call = post(context.post_expression(_installation(kit), how=SERIALIZED, group=GROUP))
            reply = await call.decoded(_InstalledReply)
        installed = _installed(session, reply)
        if installed is None and kit is not None:
            raise ProtocolError("the walk could not be made: the page gave no function")
        if installed is None:
            raise InvalidArgumentError(
                what="source",
                given='"computed"',
                expected="another one, or a browser launched with computed_accessibility=True: this one does not "
                "tell pages computed roles",
            )
        installed.plain = kit is None and not with_tree
        if document is not None:
            installed.document = await object_of(document, session)
        if root is not None:
            await root.result()
        if asked is not None:
            unless_kept.pop_all()
            installed.first = asked
    known[key] = installed
    if kit is None:
        request.worlds.keep_numbers(session, request.frame_id, installed)
    while len(known) > _FRAMES_KEPT:
        _release(known.popitem(last=False)[1])
    return installed


_with_trees: WeakSet[Session] = WeakSet()
"""Sessions that had a document of which roles and names have to be asked for: the next ones will be like it."""


def _is_like_one_with_tree(request: FrameRequest) -> bool:
    """Say whether a new document is taken for one of which roles and names have to be asked for.

    Not in a child frame: its document need not be like that of the page around it, and each tree more makes each
    role that is asked for dearer, in all frames (200 frames: 7.1 s in place of 1.9).
    """
    return request.session in _with_trees and request.frame_id == request.session.frame_id


def post_tree(request: FrameRequest) -> PendingCall:
    """Have Chrome make its tree of the frame's document, and keep those of the session from now on.

    Chrome makes it only when it is asked for a part of it. Without one, each single role and name would make a
    tree of its own: on a page of 600 elements 3 s in place of 3 ms.
    """
    _with_trees.add(request.session)
    keep_warm(request.session)
    return request.session.post("Accessibility.getRootAXNode", frameId=request.frame_id)


def _post_main_document(session: Session) -> PendingCall:
    method, params = expression_command(session, _DOCUMENT, how=OBJECT)
    return session.post(method, **params)


def list_walks(session: Session) -> list[Installed]:
    """Return the walks of the session's frames, those read last at the end."""
    return list(remembered.get(session, {}).values())


def forget_walk(session: Session, frame_id: str, kit: str | None) -> None:
    """Forget the walk of a frame, whose document is another one now."""
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
    """Let the page's memory of the walk go; where its document is gone, it has gone with it."""
    installed.function.release()
    if installed.document is not None:
        installed.document.release()


def post_document(session: Session, installed: Installed) -> PendingCall | None:
    """Ask for the document as an object of the page's own world. To be awaited by `document_of`.

    It is in no group: with one, each listener that is reported would be kept alive as a remote object of it. Asked
    for listeners through an object of an isolated world, Chrome compiles handlers that stand in attributes
    with wrappers of the wrong world: scripts then fail with "Illegal invocation", and the renderer crashes.
    """
    return post_resolve(session, installed.document_id, None) if installed.document_id else None


async def document_of(call: PendingCall, session: Session) -> RemoteHandle | None:
    """Return the document; None when it is gone."""
    object_id = (await call.decoded(ResolveNodeReply)).object.object_id
    return None if object_id is None else RemoteHandle(session, object_id)


async def give_names(request: FrameRequest, installed: Installed, kit: str) -> None:
    """Give the walk roles and names of what `content-visibility: auto` skips, of which Chrome has none."""
    session = request.session
    context = await request.worlds.context(session, request.frame_id)
    with object_group("kit") as group:
        function = await object_of(context.post_expression(own(f"({kit})"), how=OBJECT, group=group), session)
        if function is None:
            raise ProtocolError("roles and names could not be made: the page gave no function")
        await installed.function.post(CALL, {"do": "help"}, function).raw()


async def wait_laid_out(request: FrameRequest, installed: Installed) -> None:
    """Wait until Chrome has laid the document out, no longer than a moment."""
    milliseconds = min(request.seconds / 4, _LONGEST_BARE) * 1000
    await trio.lowlevel.checkpoint_if_cancelled()
    await installed.function.post(CALL, {"do": "wait", "milliseconds": milliseconds}, how=SETTLED_VALUE).raw()


async def ask_walk(request: FrameRequest, installed: Installed, what: dict[str, Any]) -> str | None:
    """Ask the walk for something that it answers with a text. None when its world has another document by now."""
    return await walk_said(await post_walk(request, installed, what))


async def post_walk(request: FrameRequest, installed: Installed, what: Mapping[str, Any]) -> PendingCall:
    """Ask the walk for something. To be awaited by `walk_said`."""
    arguments: list[object] = [_within_time(request, what, len(installed.ids) - 1)]
    if request.root is not None:
        node = Node(request.session, request.root, request.frame_id, "root of the snapshot")
        arguments.append(await request.worlds.resolve(node, GROUP))
    await trio.lowlevel.checkpoint_if_cancelled()
    return installed.function.post(CALL, *arguments)


def _post_first(request: FrameRequest, context: ExecutionContext, what: Mapping[str, Any]) -> FirstWalk:
    """Ask a walk for something whose installation was sent before, in a document that came with what makes it."""
    return FirstWalk(what, context.post(_FIRST_CALL, _within_time(request, what, 0)))


def _within_time(request: FrameRequest, what: Mapping[str, Any], known: int) -> dict[str, Any]:
    milliseconds = min(request.seconds, _LONGEST) * (1 - _KEPT_BACK) * 1000
    return {**what, "milliseconds": milliseconds, "after": _AFTER_READING, "known": known}


async def walk_said(call: PendingCall) -> str | None:
    """Return the text that the walk answered with; None when its world has another document by now."""
    reply = await call.decoded(_TextReply)
    if reply.exception_details is not None:
        raise ProtocolError(f"the walk in the page failed: {reply.exception_details.reason[:LONGEST_REASON]}")
    return reply.result.value


def _installed(session: Session, reply: _InstalledReply) -> Installed | None:
    """Return what the installation gave; None where the browser does not offer what it needs."""
    if reply.exception_details is not None:
        raise ProtocolError(f"the walk could not be made: {reply.exception_details.reason[:LONGEST_REASON]}")
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
