"""Targets of actions: their types, the node of a target, and the reason why a ref is stale.

Rule: a ref is checked before use: its frame, its document and its node must be the same. Otherwise the ref is
refused, and no other element receives input. The engine asks Chrome for the fate of a stale ref's node only after
a failure, or for healing. If the page does not respond in time, the error stays unchanged.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

import attrs
import trio

from cdpengine._checks import check_count, invalid, wrong_type
from cdpengine._evaluate.handles import JSHandle
from cdpengine._javascript import own
from cdpengine._page.frames import Frame, renderer_id
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import Node, context_gone, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._page.search.locator import BaseLocator, FoundNode
from cdpengine._snapshot.capture import Capture, Scope, capture
from cdpengine._snapshot.node import Document
from cdpengine._snapshot.node import Node as ElementNode
from cdpengine._snapshot.refs import Ref, RefTable, parse_ref_text
from cdpengine._snapshot.roles import kind_of
from cdpengine.errors import (
    Became,
    ConnectionLostError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
    StaleRefError,
)
from cdpengine.errors.misuse import name_ours
from cdpengine.errors.other_libraries import ELEMENT


@attrs.frozen
class BackendNode:
    """A node by Chrome's `backendDOMNodeId`, in the process of the page's main frame."""

    if not TYPE_CHECKING:
        __getattr__ = name_ours(ELEMENT)

    id: int

    def __attrs_post_init__(self) -> None:
        check_count("BackendNode", self.id, least=1, expected="a backendDOMNodeId, 1 or more")


ElementTarget: TypeAlias = str | Ref | BackendNode | FoundNode | BaseLocator | JSHandle
"""A ref as a string ("e3", "@e3", "ref=e3", "3"), a Ref of a snapshot, a BackendNode, a result of `page.find`, a
handle to an element, or a Locator, which is resolved again for each action."""


def describe_target(target: ElementTarget) -> str:
    """Return a short description of any value for messages, even of an invalid target."""
    if isinstance(target, Ref):
        return target.id
    if isinstance(target, BackendNode):
        return f"backend node {target.id}"
    if isinstance(target, FoundNode):
        return target.description
    if isinstance(target, JSHandle):
        return target.short()
    return str(target)[:80]


async def find_handle_node(page: PageTarget, worlds: IsolatedWorlds, handle: JSHandle) -> FoundNode:
    """Return the node of a handle to an element, a text or a document. It is looked up once for each handle.

    Raises InvalidArgumentError for a handle to any other value, StaleRefError if its document is gone.
    """
    handle.check_usable()
    if isinstance(handle.node, FoundNode):
        return handle.node
    remote, expected = handle.remote, "a handle to an element"
    if remote is None or remote.lost:
        raise (
            invalid("target", handle.description, expected)
            if remote is None
            else handle.stale("the page left its document")
        )
    try:
        number = await remote.backend_node_id()
    except RemoteError as error:
        if context_gone(error):
            raise handle.stale("the page left its document") from None
        raise InvalidArgumentError("target", f"a handle to {handle.short()}", expected) from None
    frames = [frame for frame in page.frames if frame.session.target_id == remote.session.target_id]
    frames.sort(key=lambda frame: handle.frame is None or frame.id != handle.frame.id)
    for frame in frames:
        loader_id = frame.loader_id
        node = Node(frame.session, number, frame.id, handle.short())
        if (await _ask_fate(node, worlds))[0] in ("", "detached"):
            found = FoundNode(number, frame.id, frame.session.id, loader_id, handle.short())
            handle.node = found
            return found
    raise handle.stale("its document is not in the page")


def resolve(page: PageTarget, refs: RefTable, target: ElementTarget) -> Node:
    """Return the node of `target`, in the current session of its frame.

    Raises StaleRefError if the ref's document was replaced or its frame is gone, NodeNotFoundError for a ref of
    another page, and InvalidArgumentError for a value that is not a target.
    """
    if isinstance(target, BackendNode):
        return Node(page.session, target.id, page.frames.main.id, describe_target(target))
    if isinstance(target, FoundNode):
        return _found(page, target)
    ref = look_up_ref(refs, target)
    frame = find_frame_of(page, ref)
    if frame is None:
        raise make_stale_error(page, refs, ref, "frame gone", "its frame is gone")
    if frame.loader_id != ref.loader_id:
        raise make_stale_error(page, refs, ref, "replaced", "its document was replaced by another one")
    return Node(
        frame.session,
        ref.backend_node_id,
        frame.id,
        str(ref),
        valid=lambda: frame.attached and frame.loader_id == ref.loader_id,
    )


def look_up_ref(refs: RefTable, target: object) -> Ref:
    """Return the table's current entry for a ref, which is a string or a Ref. Raises the errors of `resolve`."""
    if isinstance(target, Ref):
        known = refs.lookup(target.id)
        if not refs.knows(target):
            raise StaleRefError(
                ref=target.id,
                description=target.describe(),
                reason="it belongs to another page or document",
                became="foreign",
            )
        return known
    if isinstance(target, str):
        return refs.lookup(target)
    expected = (
        'a ref such as "e3", a Ref, a BackendNode, a handle, or a result of page.find() or page.locate()'
    )
    raise wrong_type("target", target, expected)


def find_frame_of(page: PageTarget, ref: Ref) -> Frame | None:
    """Return the frame of the ref's node, or None if it is no longer in the page."""
    main = page.frames.main
    return main if ref.frame_id in (None, main.id) else page.frames.get(ref.frame_id)


def make_stale_error(
    page: PageTarget, refs: RefTable, ref: Ref, became: Became, reason: str
) -> StaleRefError:
    """Return a StaleRefError with the page's refs of the same role and name."""
    return StaleRefError(
        ref=ref.id,
        description=ref.describe(),
        reason=reason,
        became=became,
        alternatives=refs.alternatives(ref, {frame.loader_id for frame in page.frames}),
    )


def _found(page: PageTarget, target: FoundNode) -> Node:
    session = page.frame_sessions.get(target.session_id)
    frame = page.frames.get(target.frame_id)
    if session is None or frame is None or frame.loader_id != target.loader_id:
        raise StaleRefError(
            ref="the node from page.find()",
            description=target.description,
            reason="its document was replaced, or belongs to another page",
        )
    return Node(
        session,
        target.backend_node_id,
        frame.id,
        target.description,
        valid=lambda: frame.attached and frame.loader_id == target.loader_id,
    )


_FATE_TIMEOUT = 1.0
"""Time in seconds in which Chrome must report a node's fate, so that the error is not delayed further."""

_WHERE = own("""function () {
  return !DOM.isConnected(this) ? "detached" : (DOM.ownerDocument(this) || this) !== document ? "moved" : "";
}""")

_REASONS: dict[Became, str] = {
    "removed": "it was removed from the document, and is gone",
    "detached": "it was detached from the document; the page may still have it",
    "moved": "it was moved to another frame's document",
}


async def explain_stale(
    page: PageTarget, refs: RefTable, worlds: IsolatedWorlds, error: StaleRefError, caller: object
) -> StaleRefError:
    """Return the error with the fate of the node and with possible replacements."""
    ref_id = parse_ref_text(error.ref.partition(" ")[0])
    if ref_id is None or error.candidates or error.became in ("dropped", "foreign", "renamed"):
        return error
    try:
        ref = refs.lookup(ref_id)
    except StaleRefError:
        return error  # removed from the table meanwhile
    explained: StaleRefError | None = None
    with trio.move_on_after(_FATE_TIMEOUT), suppress(SessionGoneError, ConnectionLostError, RemoteError):
        explained = await find_staleness(page, refs, worlds, ref)
        if explained is not None and explained.became in ("removed", "detached"):
            explained = await _look_for_alternatives(page, refs, worlds, ref, explained)
    explained = explained or make_stale_error(page, refs, ref, error.became, error.reason)
    refs.give({each.id: each for each in explained.alternatives}, caller)
    return explained


async def _look_for_alternatives(
    page: PageTarget, refs: RefTable, worlds: IsolatedWorlds, ref: Ref, error: StaleRefError
) -> StaleRefError:
    """Return the error with the refs that replaced the node or resemble it in its frame."""
    captured = await look_again(page, worlds, ref, error, _FATE_TIMEOUT)
    frame = find_frame_of(page, ref)
    if captured is None or frame is None:
        return error
    refs.assign(captured.documents)
    placed = refs.successor(ref, frame.loader_id)
    others = refs.alternatives(ref, {frame.loader_id for frame in page.frames})
    if placed is not None:
        others = (placed, *(each for each in others if each.id != placed.id))
    return attrs.evolve(error, alternatives=others)


async def find_staleness(
    page: PageTarget, refs: RefTable, worlds: IsolatedWorlds, ref: Ref
) -> StaleRefError | None:
    """Return the error with the reason why a ref is stale, or None if the node still is in its document.

    Raises SessionGoneError and ConnectionLostError.
    """
    frame = find_frame_of(page, ref)
    if frame is None:
        return make_stale_error(page, refs, ref, "frame gone", "its frame is gone")
    session = frame.session
    if frame.loader_id != ref.loader_id:
        before, now = refs.renderer_of(ref), await renderer_id(session)
        if before is not None and now is not None and before != now:
            return make_stale_error(
                page, refs, ref, "swapped", "its document was replaced by one in another process"
            )
        return make_stale_error(page, refs, ref, "replaced", "its document was replaced by another one")
    became, reason = await _ask_fate(resolve(page, refs, ref), worlds)
    if find_frame_of(page, ref) is not frame or frame.loader_id != ref.loader_id:
        return await find_staleness(page, refs, worlds, ref)  # the answer is about a replaced document
    return make_stale_error(page, refs, ref, became, reason) if became else None


async def _ask_fate(node: Node, worlds: IsolatedWorlds) -> tuple[Became, str]:
    with object_group("fate") as group:
        try:
            found = await worlds.resolve(node, group)
            return _describe_fate(await found.call(_WHERE, returns=Became))  # type: ignore[arg-type]
        except RemoteError as error:
            moved = "does not belong to the document" in error.message
            return _describe_fate("moved" if moved else "removed")


def _describe_fate(became: Became) -> tuple[Became, str]:
    return became, _REASONS.get(became, "")


async def look_again(
    page: PageTarget, worlds: IsolatedWorlds, ref: Ref, error: StaleRefError, seconds: float
) -> Capture | None:
    """Capture the frame of a stale ref again within `seconds`. Return None if its document is replaced meanwhile.

    Raises `error` if the frame is gone, and the errors of `Session.call`.
    """
    frame = find_frame_of(page, ref)
    if frame is None:
        raise error
    return await capture(page, worlds, Scope(frame=frame), seconds)


def find_successor(page: PageTarget, refs: RefTable, ref: Ref, error: StaleRefError) -> Ref:
    """Return the ref that replaced `ref`. Call it right after refs were assigned in the frame of `ref`.

    Raises `error`, with the frame's refs of the same role and name, if the replacement is ambiguous.
    """
    frame = find_frame_of(page, ref)
    healed = None if frame is None else refs.successor(ref, frame.loader_id)
    if frame is None or healed is None:
        here = () if frame is None else refs.alternatives(ref, {frame.loader_id})
        raise attrs.evolve(error, alternatives=here, candidates=True)
    return healed


async def assign_ref(
    page: PageTarget,
    refs: RefTable,
    worlds: IsolatedWorlds,
    node: int,
    session_id: str | None,
    seconds: float,
    *,
    every: bool = False,
    frame_id: str | None = None,
) -> Ref | None:
    """Assign a ref to a backend node in the session's frames, or in one. Return it, or None after `seconds`.

    With `every`, any element gets one, even an element without a line in snapshots.
    """
    frames = [
        frame for frame in page.frames if frame.session.id == session_id and frame_id in (None, frame.id)
    ]
    with trio.move_on_after(seconds), suppress(SessionGoneError, ConnectionLostError):
        for frame in frames:
            if (await _ask_fate(Node(frame.session, node, frame.id, ""), worlds))[0]:
                continue  # the node is in another frame
            with suppress(RemoteError):
                captured = await capture(page, worlds, Scope(frame=frame, root=node), seconds)
                if captured is None:
                    continue
                refs.assign(captured.documents, partial=True, every=every)
                if every and refs.known(frame.loader_id, node) is None:
                    # The element has no line of its own: it is hidden, or only gives structure.
                    loose = ElementNode("generic", "structural", backend_node_id=node, frame_id=frame.id)
                    captured.document.loose = [loose]
                    refs.assign(captured.documents, partial=True, every=True)
                if (ref := refs.known(frame.loader_id, node)) is not None:
                    return ref
    return None


def assign_found(refs: RefTable, found: FoundNode, role: str, name: str, renderer: str | None) -> Ref:
    """Return the ref of a found node with a known role and name: its current ref, or a new one.

    `renderer` is the renderer id of its document. Unlike `assign_ref`, this reads nothing from the page.
    """
    node = ElementNode(role, kind_of(role), name, backend_node_id=found.backend_node_id)
    document = Document(
        [node],
        frame_id=found.frame_id,
        loader_id=found.loader_id,
        session_id=found.session_id,
        renderer_id=renderer,
    )
    return refs.assign([document], partial=True, every=True)[node]
