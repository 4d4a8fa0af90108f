"""The engine's own scripts in the documents of a page: called in the isolated world of a frame, on its session.

Rule: what a script answers is plain data, or an object that is held under one group and let go of with it. That a
document is gone is told as DocumentGone, so that whoever follows it takes the next one.
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

import attrs
import msgspec

from cdpengine.browser.frames import Frame
from cdpengine.browser.node import Node
from cdpengine.browser.page_target import PageTarget
from cdpengine.browser.worlds import IsolatedWorlds, context_gone
from cdpengine.errors import ConnectionLost, EvaluationFailed, RemoteError, SessionGone
from cdpengine.js import own, script
from cdpengine.session.calls import decode_reply
from cdpengine.session.session import Session

T = TypeVar("T")

_groups = itertools.count(1)

_CALL = "Runtime.callFunctionOn"

_ALSO_GONE = ("Promise was collected", "No frame for given id found", "Frame with the given id was not found")


class DocumentGone(Exception):
    """The document that was asked is not there any more; another one is, or will be."""


class _Object(msgspec.Struct, rename="camel"):
    object_id: str | None = None
    value: msgspec.Raw = msgspec.Raw(b"null")


class _Resolved(msgspec.Struct):
    object: _Object


class _Exception(msgspec.Struct):
    description: str = ""


class _Thrown(msgspec.Struct):
    text: str = ""
    exception: _Exception = msgspec.field(default_factory=_Exception)


class _Returned(msgspec.Struct, rename="camel"):
    result: _Object
    exception_details: _Thrown | None = None


@cache
def with_looking(name: str, parameters: str = "request") -> str:
    """Return the source of a function of `parameters` (and `node`): the script `name`, given looking.js."""
    return f"function (request, node) {{ return ({script(name)})({parameters}, ({script('looking')})(), node); }}"


@attrs.frozen(eq=False)
class Document:
    """One document of a page, as its isolated world sees it. Let go of it by `release`."""

    session: Session
    frame: Frame
    loader_id: str
    context: int
    group: str

    async def call(self, function: str, *arguments: object, kind: type[T]) -> T:
        """Call a function in the document's isolated world; return its JSON value, decoded.

        Raises DocumentGone, EvaluationFailed when it threw, and what ends the session.
        """
        reply = await self._called(function, arguments, by_value=True)
        return decode_reply(_CALL, reply.result.value, kind)

    async def make(self, function: str, *arguments: object) -> str:
        """Call a function and return the remote id of the object that it gives. Raises as `call` does."""
        reply = await self._called(function, arguments, by_value=False)
        if reply.result.object_id is None:
            raise EvaluationFailed(text="the script gave no object")
        return reply.result.object_id

    async def ask(self, object_id: str, function: str, *arguments: object, kind: type[T]) -> T:
        """Call a function on an object, wait for its promise, and return the JSON value, decoded."""
        reply = await self._called(function, arguments, by_value=True, object_id=object_id)
        return decode_reply(_CALL, reply.result.value, kind)

    def tell(self, object_id: str, function: str) -> None:
        """Call a function on an object, and do not wait for it."""
        with suppress(SessionGone, ConnectionLost):
            self.session.post("Runtime.callFunctionOn", objectId=object_id, functionDeclaration=own(function))

    def release(self) -> None:
        """Let go of what the group holds. Not waited for: a document that is gone holds nothing."""
        with suppress(SessionGone, ConnectionLost):
            self.session.post("Runtime.releaseObjectGroup", objectGroup=self.group)

    async def _called(
        self, function: str, arguments: tuple[object, ...], *, by_value: bool, object_id: str | None = None
    ) -> _Returned:
        where: dict[str, Any] = (
            {"executionContextId": self.context} if object_id is None else {"objectId": object_id}
        )
        params = {
            "functionDeclaration": own(function),
            "arguments": [
                {"objectId": argument.object_id} if isinstance(argument, Held) else {"value": argument}
                for argument in arguments
            ],
            "returnByValue": by_value,
            "awaitPromise": True,
            "objectGroup": self.group,
            **where,
        }
        try:
            reply = await self.session.request(_CALL, params, _Returned)
        except RemoteError as error:
            raise gone_or(error) from None
        if (thrown := reply.exception_details) is not None:
            raise EvaluationFailed(text=thrown.exception.description or thrown.text)
        return reply


@attrs.frozen
class Held:
    """A remote object as an argument."""

    object_id: str


async def open_document(page: PageTarget, worlds: IsolatedWorlds, frame: Frame) -> Document:
    """Return the frame's present document. Raises DocumentGone, and what ends the session."""
    session = page.session_of(frame)
    loader_id = frame.loader_id
    try:
        context = await worlds.context(session, frame.id)
    except RemoteError:
        raise DocumentGone(frame.id) from None
    return Document(session, frame, loader_id, context, f"cdpengine-look-{next(_groups)}")


async def held_node(document: Document, node: Node) -> Held | None:
    """Return the node as an argument for scripts of its document; None when Chrome no longer has it."""
    params = {
        "backendNodeId": node.backend_node_id,
        "executionContextId": document.context,
        "objectGroup": document.group,
    }
    try:
        resolved = await document.session.request("DOM.resolveNode", params, _Resolved)
    except RemoteError:
        return None
    return None if resolved.object.object_id is None else Held(resolved.object.object_id)


def gone_or(error: RemoteError) -> Exception:
    """Return DocumentGone where that is what Chrome says, else the error itself."""
    if context_gone(error) or error.message.startswith(_ALSO_GONE):
        return DocumentGone(error.message)
    return error
