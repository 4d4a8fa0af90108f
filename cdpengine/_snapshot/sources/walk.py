"""The walk of a document, put into the frame's isolated world, and what is known of it here.

Rule: it is held by its remote object id: that of a document that is gone is refused by Chrome, so no answer can
come from the wrong one. The walks of a session's latest frames are remembered.

The walk gives numbers to elements, which stand for backend node ids. An id is asked for once: the page keeps a new
element until it learns that its id is known, so a reply that is lost costs one more question, never a mapping.
"""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import msgspec
import trio

from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import (
    OBJECT,
    SETTLED_VALUE,
    Node,
    ObjectGroup,
    RemoteHandle,
    deep,
    object_group,
    object_of,
    post_resolve,
)
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.dom import ResolveNodeReply
from cdpengine._protocol.domains.runtime import ExceptionDetails
from cdpengine._protocol.session import Session
from cdpengine._snapshot.node import Document, FrameRequest
from cdpengine._snapshot.sources.ax_tree import keep_warm
from cdpengine._snapshot.sources.columns import Part, role_bits
from cdpengine.errors import EvaluationFailedError, InvalidArgumentError, ProtocolError

GROUP = "cdpengine.walk"
"""The remote objects that live as long as a document is looked at."""

CALL = own("function (...all) { return this(...all); }")
"""How the walk, which is a function, is called by its remote object id."""

_DEEP = deep(2)

_TAKEN_AT_ONCE = 10_000
"""Elements whose ids are asked for in one call: Chrome needs some 30 microseconds for each."""

_LONGEST_REASON = 300
"""Characters of where and why a script of the engine's own failed."""

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


@attrs.define(eq=False)
class Installed:
    """The walk of one document: its function in the page, and the backend node ids of its numbers, from 0 on.

    `kept`, `document` (the document as an object of the page's own world) and `listeners` are what is known of it.
    """

    function: RemoteHandle
    loader_id: str
    ids: array[int] = attrs.field(factory=lambda: array("q", [0]))
    kept: Kept = NOTHING_KEPT
    document: RemoteHandle | None = None
    listeners: KnownListeners = NO_LISTENERS


_Key = tuple[str, str | None]
remembered: WeakKeyDictionary[Session, OrderedDict[_Key, Installed]] = WeakKeyDictionary()

_PARTS = ("dom", "elements", "clickables", "columns", "details", "labels", "styles", "steady", "reuse")
"""The functions that walk.js takes after secret_field.js, in this order: the files walk_*.js."""

OFFERED = own("'computedRole' in Element.prototype && 'computedName' in Element.prototype")


@cache
def _installation(kit: str | None) -> str:
    # Sorted: what is sent is to be the same in each run, for those who compare or replay recordings.
    tables = json.dumps({"bits": role_bits()}, sort_keys=True)
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


async def install_walk(request: FrameRequest, kit: str | None) -> Installed:
    """Return the walk of the frame's document, made now when it is not known."""
    session = request.session
    known = remembered.get(session)
    if known is None:
        known = remembered[session] = OrderedDict()
        # The walks hold their session: they would keep it, and the page with it, for ever.
        session.on_end(known.clear)
    key = (request.frame_id, kit)
    installed = known.get(key)
    if installed is not None and len(installed.ids) < _MOST_NUMBERS:
        if installed.loader_id == request.loader_id:
            known.move_to_end(key)
            return installed
        forget_walk(session, request.frame_id, kit)
    if kit is None:
        keep_warm(session)
    context = await request.worlds.context(session, request.frame_id)
    # Chrome makes its tree of the document only when it is asked for a part of it. Without one, each single role
    # and name would make a tree of its own: on a page of 600 elements 3 s in place of 3 ms.
    root = session.post("Accessibility.getRootAXNode", frameId=request.frame_id) if kit is None else None
    try:
        await trio.lowlevel.checkpoint_if_cancelled()
        try:
            call = context.post_expression(_installation(kit), how=OBJECT, group=GROUP)
            function = await object_of(call, session)
        except EvaluationFailedError as threw:
            raise ProtocolError(f"the walk could not be made: {threw.text}") from None
        if function is None and kit is not None:
            raise ProtocolError("the walk could not be made: the page gave no function")
        if function is None:
            raise InvalidArgumentError(
                what="source",
                given='"computed"',
                expected="another one, or a browser launched with computed_accessibility=True: this one does not "
                "tell pages computed roles",
            )
        installed = Installed(function, await loader_of(function))
        if root is not None:
            await root.result()
    finally:
        if root is not None:
            root.abandon()
    known[key] = installed
    while len(known) > _FRAMES_KEPT:
        _release(known.popitem(last=False)[1])
    return installed


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


async def document_object(session: Session, installed: Installed) -> RemoteHandle | None:
    """Return the document as an object of the page's own world; None when it is gone.

    Asked for listeners through an object of an isolated world, Chrome compiles handlers that stand in attributes
    with wrappers of the wrong world: scripts then fail with "Illegal invocation", and the renderer crashes.
    """
    number = await document_number(installed.function)
    if number is None:
        return None
    # Without a group: with one, each listener that is reported would be kept alive as a remote object of it.
    object_id = (await post_resolve(session, number, None).decoded(ResolveNodeReply)).object.object_id
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
    milliseconds = min(request.seconds, _LONGEST) * (1 - _KEPT_BACK) * 1000
    arguments: list[object] = [{**what, "milliseconds": milliseconds, "known": len(installed.ids) - 1}]
    if request.root is not None:
        node = Node(request.session, request.root, request.frame_id, "root of the snapshot")
        arguments.append(await request.worlds.resolve(node, GROUP))
    await trio.lowlevel.checkpoint_if_cancelled()
    reply = await installed.function.post(CALL, *arguments).decoded(_TextReply)
    if reply.exception_details is not None:
        raise ProtocolError(
            f"the walk in the page failed: {reply.exception_details.reason[:_LONGEST_REASON]}"
        )
    return reply.result.value


# --- numbers of elements -------------------------------------------------------------------------------------


async def number_elements(request: FrameRequest, installed: Installed, last: int) -> bool:
    """Learn the backend node ids of the walk's numbers up to `last`, as far as they are new.

    True when some of the elements turned out to have closed shadow roots, which the walk now knows.
    """
    if len(installed.ids) > last:
        return False
    with object_group("walk") as group:
        return await _number(request, installed, last, group)


async def _number(request: FrameRequest, installed: Installed, last: int, group: ObjectGroup) -> bool:
    session, ids = request.session, installed.ids
    adopted = False
    while len(ids) <= last:
        first = len(ids)
        nodes = await _take(installed, first, min(last, first + _TAKEN_AT_ONCE - 1), group)
        closed = {
            first + place: root
            for place, node in enumerate(nodes)
            if node is not None and (root := node.find_closed_root()) is not None
        }
        if closed:
            await _adopt(request, installed, closed, group)
            adopted = True
        if len(ids) < first + len(nodes):  # another snapshot may have asked for the same meanwhile
            ids.extend(0 if node is None else node.backend_node_id for node in nodes[len(ids) - first :])
    if session.error() is None:
        installed.function.post(CALL, {"do": "forget", "known": len(ids) - 1})
    return adopted


async def _take(
    installed: Installed, first: int, upto: int, group: ObjectGroup
) -> Sequence[_NodeValue | None]:
    """Ask for the elements with the numbers from `first` to `upto`; None for one that is gone."""
    await trio.lowlevel.checkpoint_if_cancelled()
    request = {"do": "take", "from": first, "to": upto}
    reply = await installed.function.post(CALL, request, how=_DEEP, group=group).decoded(_NodesReply)
    nodes = reply.result.deep_serialized_value.value
    if len(nodes) != upto - first + 1:
        raise ProtocolError(f"{upto - first + 1} elements were asked for, {len(nodes)} came")
    return [node.value for node in nodes]


async def _adopt(
    request: FrameRequest, installed: Installed, closed: Mapping[int, int], group: ObjectGroup
) -> None:
    """Give the walk closed shadow roots: number of the host -> backend node id of the root."""
    roots = []
    for backend_node_id in closed.values():
        node = Node(request.session, backend_node_id, request.frame_id, "a closed shadow root")
        roots.append(await request.worlds.resolve(node, group))
    await installed.function.post(CALL, {"do": "adopt", "hosts": list(closed)}, *roots).raw()


def ask_nodes(callee: RemoteHandle, function: str, request: object, group: ObjectGroup) -> PendingCall:
    """Post a call of a function that returns nodes. To be awaited by `node_ids`."""
    return callee.post(function, request, how=_DEEP, group=group)


async def node_ids(call: PendingCall) -> list[int]:
    """Return the backend node ids of the nodes.

    Raises as `Session.call` does, and ProtocolError when the function threw.
    """
    reply = await call.decoded(_NodesReply)
    if reply.exception_details is not None:
        raise ProtocolError(
            f"a function in the page threw: {reply.exception_details.reason[:_LONGEST_REASON]}"
        )
    return [
        node.value.backend_node_id
        for node in reply.result.deep_serialized_value.value
        if node.value is not None
    ]


async def loader_of(function: RemoteHandle) -> str:
    """Return the loader id of the document that the walk `function` was made for."""
    document = await _document(function)
    return "" if document is None else document.loader_id


async def document_number(function: RemoteHandle) -> int | None:
    """Return the backend node id of the document that the walk `function` was made for; None when it is gone."""
    document = await _document(function)
    return None if document is None else document.backend_node_id


async def _document(function: RemoteHandle) -> _NodeValue | None:
    await trio.lowlevel.checkpoint_if_cancelled()
    with object_group("walk") as group:
        reply = await function.post(CALL, {"do": "document"}, how=_DEEP, group=group).decoded(_NodeReply)
    return reply.result.deep_serialized_value.value


# --- replies -------------------------------------------------------------------------------------------------

_HOSTS = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "main", "nav", "p", "section", "span",
    }
)  # fmt: skip
"""The elements of HTML's own that a page can attach a shadow root to (DOM standard, `attachShadow`)."""


class _ShadowValue(msgspec.Struct, rename="camel", gc=False):
    backend_node_id: int = 0
    mode: str = ""


class _ShadowRoot(msgspec.Struct, gc=False):
    value: _ShadowValue | None = None


class _NodeValue(msgspec.Struct, rename="camel", gc=False):
    backend_node_id: int = 0
    loader_id: str = ""
    local_name: str = ""
    shadow_root: _ShadowRoot | None = None

    def find_closed_root(self) -> int | None:
        """Return the backend node id of the closed shadow root that a page attached.

        What the browser itself attaches, to a `select` for example, is called closed too.
        """
        root = None if self.shadow_root is None else self.shadow_root.value
        if root is None or root.mode != "closed":
            return None
        return root.backend_node_id if "-" in self.local_name or self.local_name in _HOSTS else None


class _DeepNode(msgspec.Struct, gc=False):
    value: _NodeValue | None = None


class _DeepNodes(msgspec.Struct):
    value: tuple[_DeepNode, ...] = ()


class _NodesResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _DeepNodes = msgspec.field(default_factory=_DeepNodes)


class _NodesReply(msgspec.Struct, rename="camel"):
    result: _NodesResult
    exception_details: ExceptionDetails | None = None


class _NodeResult(msgspec.Struct, rename="camel"):
    deep_serialized_value: _DeepNode = msgspec.field(default_factory=_DeepNode)


class _NodeReply(msgspec.Struct):
    result: _NodeResult


class _Text(msgspec.Struct):
    value: str | None = None


class _TextReply(msgspec.Struct, rename="camel"):
    result: _Text
    exception_details: ExceptionDetails | None = None
