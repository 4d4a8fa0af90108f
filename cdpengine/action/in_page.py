"""The engine's own JavaScript on nodes: handles in isolated worlds, calls that go out together, and their answers.

Rule: what runs in a page is a function of cdpengine/js, called on a node in the isolated world of its frame; what
it answers is plain JSON, decoded straight into the type that was asked for. What every action needs is a library,
installed once in each world: sending and compiling it again each time would cost more than running it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import attrs
import msgspec

from cdpengine.browser.node import Node
from cdpengine.browser.worlds import IsolatedWorlds, context_gone
from cdpengine.errors import EvaluationFailed, RemoteError, StaleRef
from cdpengine.js import own, script
from cdpengine.session.calls import PendingCall

T = TypeVar("T")

_LONGEST = 300

_LIBRARY_GROUP = "cdpengine-library"
"""Never released: the library lives as long as its document."""


@attrs.frozen
class Handle:
    """A node, its remote object in the isolated world of its frame, and the library in that world."""

    node: Node
    object_id: str
    library_id: str


class _ThrownValue(msgspec.Struct):
    description: str = ""


class _Thrown(msgspec.Struct):
    text: str = ""
    exception: _ThrownValue = msgspec.field(default_factory=_ThrownValue)


class _Value(msgspec.Struct, rename="camel"):
    value: msgspec.Raw = msgspec.Raw(b"null")
    object_id: str = ""


class _Returned(msgspec.Struct, rename="camel"):
    result: _Value
    exception_details: _Thrown | None = None


@cache
def _library() -> str:
    """Return the source of what is installed once in each world, so that it is sent and compiled once."""
    return own(f"""function () {{
      const tools = {script("node_tools")}; const known = {{ marks: false }}; const arms = {script("witness")};
      const witness = (wanted, points, of) => arms(wanted, points, of, known);
      const look = {script("actionability")}; const receipt = {script("receipt")};
      const covering = {script("covering")}; const area = {script("area")};
      return {{
        look: (node, request) => look.call(node, request, tools(node), witness, known),
        drag: (node, dragging) => {{ known.dragged = dragging ? tools(node).element : null; }},
        covering: (node, request) => covering.call(node, request, tools(node)),
        area: (node, request) => area.call(node, request, tools(node)),
        receipt: (node, request) => receipt.call(node, request, tools(node)),
      }};
    }}""")


@cache
def _call_of(name: str) -> str:
    return own(f"function (node, request) {{ return this.{name}(node, request); }}")


async def handle_on(node: Node, worlds: IsolatedWorlds, group: str) -> Handle:
    """Return a handle on the node, to be released with `group`.

    Raises StaleRef when Chrome knows no such frame, or no such node in the document that the frame shows.
    """
    try:
        object_id = await worlds.resolve(node, group)
        library_id = worlds.library(node, object_id)
        if library_id is None:
            installed = await node.session.request(
                "Runtime.callFunctionOn",
                {"objectId": object_id, "functionDeclaration": _library(), "objectGroup": _LIBRARY_GROUP},
                _Returned,
            )
            library_id = installed.result.object_id
            worlds.keep_library(node, library_id)
    except RemoteError as error:
        raise stale(node, "a node of another document", "its document is gone") from error
    if not node.valid():
        # Another document, perhaps of another process, answered for a node of its own with the same number.
        raise stale(node, "a node of another document", "its document was replaced")
    return Handle(node, object_id, library_id)


def post_library_call(handle: Handle, name: str, request: object, *, by_value: bool = True) -> PendingCall:
    """Post a call of the library's function `name` on the node. Promises are awaited in the page."""
    return handle.node.session.post(
        "Runtime.callFunctionOn",
        objectId=handle.library_id,
        functionDeclaration=_call_of(name),
        arguments=[{"objectId": handle.object_id}, {"value": request}],
        returnByValue=by_value,
        awaitPromise=True,
    )


def post_run(handle: Handle, source: str, request: object) -> PendingCall:
    """Post a call of the engine's own function `source` on the node, with one argument.

    Promises are awaited in the page.
    """
    return handle.node.session.post(
        "Runtime.callFunctionOn",
        objectId=handle.object_id,
        functionDeclaration=own(source),
        arguments=[{"value": request}],
        returnByValue=True,
        awaitPromise=True,
    )


async def returned(pending: PendingCall, node: Node, kind: type[T]) -> T:
    """Return what such a call answered. Raises StaleRef, EvaluationFailed, UndecodableReply."""
    return pending.decode((await _value(pending, node)).value, kind)


async def returned_object(pending: PendingCall, node: Node) -> str | None:
    """Return the id of the remote object that a library call without `by_value` gave, None for null."""
    return (await _value(pending, node)).object_id or None


async def run(handle: Handle, source: str, request: object, kind: type[T]) -> T:
    """Post, and return the answer."""
    with together() as post:
        return await returned(post(post_run(handle, source, request)), handle.node, kind)


async def _value(pending: PendingCall, node: Node) -> _Value:
    try:
        answer = await pending.decoded(_Returned)
    except RemoteError as error:
        if context_gone(error):
            raise stale(node, "a node of another document", "its document was replaced") from error
        raise
    if answer.exception_details is not None:
        thrown = answer.exception_details
        text = thrown.exception.description or thrown.text
        raise EvaluationFailed(text=f"in the engine's own function: {text[:_LONGEST]}")
    return answer.result


def stale(node: Node, what: str, reason: str) -> StaleRef:
    """Return the error for a node that is no longer what it was."""
    return StaleRef(ref=node.description, description=what, reason=reason)


@contextmanager
def together() -> Iterator[Callable[[PendingCall], PendingCall]]:
    """Collect calls that are posted together; on leaving, those that nobody awaited are abandoned."""
    pendings: list[PendingCall] = []

    def collect(pending: PendingCall) -> PendingCall:
        pendings.append(pending)
        return pending

    try:
        yield collect
    finally:
        for pending in pendings:
            pending.abandon()


async def unless_refused(pending: PendingCall, kind: type[T]) -> T | None:
    """Return the decoded result, or None where Chrome refuses: a node without a box, or detached.

    The in-page function, asked next, says which of them it is.
    """
    try:
        return await pending.decoded(kind)
    except RemoteError:
        return None
