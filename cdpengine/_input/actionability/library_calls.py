"""Calls of the page library on a node, which is a remote object or an element known to a snapshot's walk.

Rule: code that runs in a page is a function of a .js file, called on a node in the isolated world of its frame.
It returns plain JSON, which is decoded into the requested type, or a remote object. Chrome's termination of
scripts hits all scripts of a renderer process, so any call may be repeated. A function that may change the page
gets a number: the library runs it once and returns its result again (see once.js).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import TypeVar
from weakref import WeakKeyDictionary

import attrs

from cdpengine._input.actionability.library_source import library_source
from cdpengine._javascript import own, script
from cdpengine._page.scripts.page_functions import (
    SETTLED_OBJECT,
    SETTLED_VALUE,
    How,
    IsolatedWorlds,
    KnownElement,
    Node,
    ObjectGroup,
    RemoteHandle,
    context_gone,
    value_of,
)
from cdpengine._protocol.calls import NEIGHBOR_STOPPED, PendingCall
from cdpengine._protocol.session import Session
from cdpengine.errors import EvaluationFailedError, EvaluationTerminatedError, RemoteError, StaleRefError

T = TypeVar("T")

_runs: WeakKeyDictionary[Session, Iterator[int]] = WeakKeyDictionary()
"""The next number by session: the same program sends the same numbers, so that its recording can be replayed."""

_CUT_OFF = "cut off by a termination"
"""The message of the error that once.js throws."""


@attrs.frozen
class Handle:
    """A node, its remote object in the isolated world of its frame, and the library in that world."""

    node: Node
    object: RemoteHandle
    library: RemoteHandle


@attrs.frozen
class KnownHandle:
    """A node as the element that a snapshot's walk knows in the node's world, and the library there."""

    node: Node
    element: KnownElement
    library: RemoteHandle


AnyHandle = Handle | KnownHandle


GONE = '{ connected: false, element: "an element that is gone" }'


@cache
def _sources(expression: str, gone: str, once: bool) -> tuple[str, str]:
    """Return two functions that evaluate the expression of `node` and `request`: one for a node, one for a number.

    The second function returns `gone` if the element with its number no longer exists. With `once`, the request is
    numbered, and the expression calls `change` before it changes anything: see once.js.
    """
    known = f"const node = this.element(holder, number); return node ? {expression} : {gone};"
    if not once:
        return (
            own(f"function (node, request) {{ return {expression}; }}"),
            own(f"function (holder, request, number) {{ {known} }}"),
        )
    return (
        own(f"function (node, {{ run, request }}) {{ return this.once(run, (change) => {expression}); }}"),
        own(
            "function (holder, { run, request }, number) {"
            f" return this.once(run, (change) => {{ {known} }}); }}"
        ),
    )


def _post(
    handle: AnyHandle, use: str, request: object, gone: str, how: How = SETTLED_VALUE, *, once: bool = False
) -> PendingCall:
    on_node, on_number = _sources(use, gone, once)
    given: object = request
    if once:
        runs = _runs.setdefault(handle.library.session, itertools.count(1))
        given = {"run": next(runs), "request": request}
    if isinstance(handle, Handle):
        return handle.library.post(on_node, handle.object, given, how=how)
    known = handle.element
    return handle.library.post(on_number, known.holder, given, known.number, how=how)


def known_handle(node: Node, worlds: IsolatedWorlds) -> KnownHandle | None:
    """Return a handle on a node that a snapshot has seen, or None. Takes no round trip.

    If a call on it reports a stale node, use `handle_on`, which finds out the reason.
    """
    known = worlds.known_element(node) if node.valid() else None
    return None if known is None else KnownHandle(node, *known)


async def handle_on(node: Node, worlds: IsolatedWorlds, group: ObjectGroup) -> Handle:
    """Return a handle on the node, in `group`.

    Raises StaleRefError if Chrome does not know the frame, or the frame's document does not contain the node.
    """
    try:
        found = await worlds.resolve(node, group, library_source())
    except RemoteError as error:
        raise stale_ref_error(node, "a node of another document", "its document is gone") from error
    library = worlds.library(node, found)
    if library is None or not node.valid():
        # A node of another document, perhaps of another process, may have the same number.
        raise stale_ref_error(node, "a node of another document", "its document was replaced")
    return Handle(node, found, library)


def post_library_call(handle: AnyHandle, name: str, request: object, *, by_value: bool = True) -> PendingCall:
    """Post a call of the library's function `name` on the node. Promises are awaited in the page."""
    how = SETTLED_VALUE if by_value else SETTLED_OBJECT
    return _post(handle, f"this.{name}(node, request)", request, GONE if name == "probe" else "null", how)


def post_use(handle: AnyHandle, source: str, request: object) -> PendingCall:
    """Post a probe of the node and, if nothing hinders its use, a call of the engine's function on it."""
    when = script("_input/actionability/when_usable")
    use = f"({when}).call(this, node, request, {source}, change)"
    return _post(handle, use, request, f"{{ seen: {GONE}, made: null }}", once=True)


def post_run(handle: AnyHandle, source: str, request: object, *, changes: bool = True) -> PendingCall:
    """Post a call of the engine's function on the node, with one argument and the library's key guards.

    Promises are awaited in the page. With `changes` the function may change the page, so it runs once.
    """
    if not changes:
        return _post(handle, f"({source}).call(node, request, this.keys)", request, "null")
    return _post(
        handle, f"change(() => ({source}).call(node, request, this.keys))", request, "null", once=True
    )


async def decode_result(pending: PendingCall, node: Node, kind: type[T]) -> T:
    """Return the decoded result of a posted call.

    Raises StaleRefError, EvaluationFailedError, UndecodableReplyError, and EvaluationTerminatedError if a
    termination ended a function that may have changed the page.
    """
    try:
        return await value_of(pending, kind)
    except EvaluationFailedError as error:
        if _CUT_OFF in error.text:
            raise EvaluationTerminatedError(reason=NEIGHBOR_STOPPED) from None
        raise
    except RemoteError as error:
        check_not_gone(node, error)
        raise


async def run(handle: Handle, source: str, request: object, kind: type[T]) -> T:
    """Call the engine's function on the node and return its result. Raises the errors of `decode_result`."""
    return await decode_result(post_run(handle, source, request), handle.node, kind)


def check_not_gone(node: Node, error: RemoteError) -> None:
    """Raise StaleRefError if the error means that the node's document was replaced."""
    if context_gone(error):
        raise stale_ref_error(node, "a node of another document", "its document was replaced") from error


def stale_ref_error(node: Node, what: str, reason: str) -> StaleRefError:
    """Return a StaleRefError for the node. `what` describes the node, `reason` why it is stale."""
    return StaleRefError(ref=node.description, description=what, reason=reason)
