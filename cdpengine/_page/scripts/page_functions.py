"""The engine's calls into a page: execution contexts, nodes, remote objects and groups.

Rule: a call is one command, and every such command is made here. `post` sends it without waiting, so that several
run together. `call` waits and decodes the value into the given type. `make` returns a handle to the returned
object. A user's script is the same command, sent in its turn. Objects that the page holds for the engine belong to
a group. The end of the group's block releases it once, in every session that used it. The release is sent without
waiting and raises nothing, so the caller gets the reason for which the block ended.

A backend node id is unique only within a renderer process, so a node is always a pair of session and backend node
id. The id is checked before a Node is made.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

import attrs
import trio

from cdpengine._protocol.calls import PendingCall, decode_reply
from cdpengine._protocol.domains.dom import DescribeNodeReply, ResolveNodeReply
from cdpengine._protocol.domains.runtime import CallReply, ReturnedObject
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    EvaluationFailedError,
    RemoteError,
    SessionGoneError,
)

T = TypeVar("T")

How = dict[str, Any]
"""The kind of result of a call, as parameters of the command."""

VALUE: How = {"returnByValue": True}
"""The function's value as JSON."""

SETTLED_VALUE: How = {"returnByValue": True, "awaitPromise": True}
"""The same, after the page has awaited a promise."""

OBJECT: How = {}
"""A handle to the object that the function returns."""

SETTLED_OBJECT: How = {"returnByValue": False, "awaitPromise": True}

_LONGEST = 300

NO_OBJECT = "0.0.0"
"""An object id that Chrome refuses in every isolate: "Cannot find context with specified id"."""

NOT_OF_THE_DOCUMENT = "Node with given id does not belong to the document"
"""Chrome's error message for a node of another document. It is not sent in all cases: see `object_of_node`."""


class Command(NamedTuple):
    """A call into a page that has not been sent."""

    method: str
    params: dict[str, Any]


class _Callee:
    """The target of function calls: a context or an object."""

    session: Session

    @property
    def _where(self) -> dict[str, Any]:
        raise NotImplementedError

    def command(
        self, function: str, *arguments: object, how: How = VALUE, group: AnyGroup | None = None
    ) -> Command:
        """Return the command that calls `function`. Takes the arguments of `post`."""
        return Command(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                **self._where,
                **({"arguments": [_argument(each) for each in arguments]} if arguments else {}),
                **how,
                **in_group(group, self.session),
            },
        )

    def post(
        self,
        function: str,
        *arguments: object,
        how: How = VALUE,
        group: AnyGroup | None = None,
        repeats: bool = True,
    ) -> PendingCall:
        """Send a call of `function` without waiting. An argument is JSON, or a RemoteHandle of the same world.

        `function` is sent unchanged; `js.own` marks the engine's functions. A returned object belongs to `group`,
        or by default to the group of the callee. Unless `repeats` is False, the call is safe to run twice
        (`PendingCall.survive_terminations`). Raises the errors of `Session.post`.
        """
        method, params = self.command(function, *arguments, how=how, group=group)
        return self.session.post_own(method, params, repeats=repeats)

    async def call(
        self,
        function: str,
        *arguments: object,
        returns: type[T],
        how: How = VALUE,
        group: AnyGroup | None = None,
    ) -> T:
        """Call `function` and return its value, decoded into `returns`.

        Raises EvaluationFailedError if it threw, and the errors of `Session.request`.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await value_of(self.post(function, *arguments, how=how, group=group), returns)

    async def make(
        self, function: str, *arguments: object, how: How = OBJECT, group: AnyGroup | None = None
    ) -> RemoteHandle | None:
        """Call `function` and return its object, or None for null. Raises the errors of `call`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        return await object_of(self.post(function, *arguments, how=how, group=group), self.session)

    def send(self, function: str) -> None:
        """Send a call of `function` and ignore its answer. Does nothing if the session has ended."""
        with suppress(SessionGoneError, ConnectionLostError):
            self.post(function, how={})


@attrs.frozen
class RemoteHandle(_Callee):
    """A handle to an object in a page.

    Chrome forgets all remote objects of a document that is left. If that document returns, Chrome numbers objects
    from 1 again, so an old id can identify another object. A handle of a left document is sent as NO_OBJECT.
    """

    session: Session = attrs.field(repr=False)
    id: str
    _document_number: int = attrs.field(init=False, repr=False)

    @_document_number.default
    def _count_documents(self) -> int:
        return self.session.documents_shown

    @property
    def lost(self) -> bool:
        """Whether the page has left the object's document."""
        return self._document_number != self.session.documents_shown

    @property
    def reference(self) -> str:
        """The id for a command: `id`, or NO_OBJECT if the handle is lost."""
        return NO_OBJECT if self.lost else self.id

    @property
    def _where(self) -> dict[str, Any]:
        return {"objectId": self.reference}

    @property
    def world(self) -> str:
        """The isolate and execution context of the object: the prefix of its id."""
        return self.id.rpartition(".")[0]

    async def backend_node_id(self) -> int:
        """Return the backend node id of a node. Raises the errors of `Session.request`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        reply = await self.session.post("DOM.describeNode", objectId=self.reference).decoded(
            DescribeNodeReply
        )
        return reply.node.backend_node_id

    def release(self) -> None:
        """Release the object in Chrome without waiting. Raises nothing."""
        if not self.lost:
            with suppress(SessionGoneError, ConnectionLostError):
                self.session.post("Runtime.releaseObject", objectId=self.id)


@attrs.frozen
class ExecutionContext(_Callee):
    """A world of a document, in which functions run. Chrome's `id` is unique in one renderer process."""

    session: Session = attrs.field(repr=False)
    id: int

    @property
    def _where(self) -> dict[str, Any]:
        return {"executionContextId": self.id}

    def post_expression(
        self, expression: str, *, how: How = VALUE, group: AnyGroup | None = None
    ) -> PendingCall:
        """Send an expression to evaluate, without waiting, as `post` does."""
        method, params = expression_command(self.session, expression, self.id, how=how, group=group)
        return self.session.post_own(method, params, repeats=True)

    async def evaluate(self, expression: str, *, returns: type[T], how: How = VALUE) -> T:
        """Evaluate an expression and return its value, decoded into `returns`. Raises the errors of `call`."""
        await trio.lowlevel.checkpoint_if_cancelled()
        return await value_of(self.post_expression(expression, how=how), returns)

    def post_resolve(self, backend_node_id: int, group: AnyGroup) -> PendingCall:
        """Request a node as an object of this context. Pass the result to `object_of_node`."""
        return post_resolve(self.session, backend_node_id, group, executionContextId=self.id)


def expression_command(
    session: Session,
    expression: str,
    context_id: int | None = None,
    *,
    how: How = VALUE,
    group: AnyGroup | None = None,
) -> Command:
    """Return the command that evaluates `expression` in a context. None means the main frame's main world."""
    where = {} if context_id is None else {"contextId": context_id}
    return Command("Runtime.evaluate", {"expression": expression, **where, **how, **in_group(group, session)})


def post_resolve(session: Session, backend_node_id: int, group: AnyGroup | None, **where: int) -> PendingCall:
    """Request a node as an object in its frame's main world, or in `executionContextId`."""
    return session.post("DOM.resolveNode", backendNodeId=backend_node_id, **where, **in_group(group, session))


def in_group(group: AnyGroup | None, session: Session) -> dict[str, str]:
    """Return the parameter of a command of `session` that puts its result into `group`."""
    if group is None:
        return {}
    return {"objectGroup": group.on(session) if isinstance(group, ObjectGroup) else group}


def _argument(value: object) -> dict[str, Any]:
    return {"objectId": value.reference} if isinstance(value, RemoteHandle) else {"value": value}


# --- replies -------------------------------------------------------------------------------------------------


async def value_of(pending: PendingCall, kind: type[T]) -> T:
    """Return the value of a call, decoded into `kind`.

    Raises EvaluationFailedError, and the errors of `PendingCall.decoded`.
    """
    return decode_reply(pending.call.method, (await returned(pending)).value, kind)


async def object_of(pending: PendingCall, session: Session) -> RemoteHandle | None:
    """Return the object that a call returned, or None for null. Raises the errors of `value_of`."""
    object_id = (await returned(pending)).object_id
    return None if object_id is None else RemoteHandle(session, object_id)


async def returned(pending: PendingCall) -> ReturnedObject:
    """Return the result of one of the engine's functions. Raises EvaluationFailedError if it threw."""
    reply = await pending.decoded(CallReply)
    if reply.exception_details is not None:
        raise EvaluationFailedError(
            text=f"in the engine's own function: {reply.exception_details.reason[:_LONGEST]}"
        )
    return reply.result


async def object_of_node(pending: PendingCall, session: Session) -> RemoteHandle:
    """Return the object of a node requested by `post_resolve`. Raises RemoteError for a missing node."""
    object_id = (await pending.decoded(ResolveNodeReply)).object.object_id
    if object_id is None:
        # The world belongs to a new document and the node to the previous one, in the same process. Chrome then
        # answers with null for the node, without an error.
        raise RemoteError(method=pending.call.method, code=-32000, message=NOT_OF_THE_DOCUMENT)
    return RemoteHandle(session, object_id)


_numbers = itertools.count(1)


@attrs.frozen(eq=False)
class ObjectGroup:
    """Remote objects under one name, in any number of sessions."""

    name: str
    _sessions: dict[Session, None] = attrs.field(factory=dict, init=False, repr=False)

    def on(self, session: Session) -> str:
        """Return the group's name, for a command of `session` that puts an object into it."""
        self._sessions[session] = None
        return self.name

    def release(self) -> None:
        """Release the group's objects in Chrome without waiting. Raises nothing."""
        while self._sessions:
            session, _ = self._sessions.popitem()
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Runtime.releaseObjectGroup", objectGroup=self.name)

    def forget(self) -> None:
        """Note that Chrome put nothing into the group, so no release is needed."""
        self._sessions.clear()


AnyGroup = ObjectGroup | str
"""A group, or the name of one that is never released: its objects live as long as their document."""


def new_group(purpose: str) -> ObjectGroup:
    """Return a group with a unique name. The caller releases it; see also `object_group`."""
    return ObjectGroup(f"cdpengine-{purpose}-{next(_numbers)}")


@contextmanager
def object_group(purpose: str) -> Iterator[ObjectGroup]:
    """Yield a group with a unique name, and release it at the end of the block in any case."""
    group = new_group(purpose)
    try:
        yield group
    finally:
        group.release()


def _always() -> bool:
    return True


@attrs.frozen
class Node:
    """A DOM node and the session that reaches it.

    `frame_id` is the frame of the node's document; it may be a same-process child frame of the session's target.
    `description` names the node in error messages, such as 'e7 button "Log in"'. `valid` returns whether the frame
    still shows the node's document, as reported by Chrome. Call it after Chrome's answer, because another document
    may have answered.
    """

    session: Session
    backend_node_id: int
    frame_id: str
    description: str
    valid: Callable[[], bool] = attrs.field(default=_always, eq=False, repr=False)


LIBRARY_GROUP = "cdpengine-library"
"""Group that is never released: a library lives as long as its document."""

# Chrome's error messages for a missing execution context or object, as of Chromium 156.
_GONE = (
    "Cannot find context with specified id",
    NOT_OF_THE_DOCUMENT,
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Could not find object with given id",
    "Cannot find object with given id",
    "Argument should belong to the same JavaScript world as target object",
    "Promise was collected",
)


def context_gone(error: RemoteError) -> bool:
    """Return whether Chrome refused because the document of a context or object is gone."""
    return error.message.startswith(_GONE)
