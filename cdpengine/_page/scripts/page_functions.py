"""Page functions: the engine's calls into a page: worlds, execution contexts, nodes and objects in them, groups.

Rule: a call is one command, and each such command is made here. `post` sends it and does not wait, so that several
go out together; `call` waits and decodes the value straight into the type that was asked for; `make` gives the
object that the function returned. A user's script is the same command, sent in its turn. Objects that the page
holds for the engine belong to a group. A group is released once, when its block ends, in every session in which
something was put into it. The release is sent and not waited for, and raises nothing: the reason for which the
block ended is what its caller gets.

A backend node id counts per renderer process, so a node is always (session, backend node id), never the id alone.
Whether the id still means what its owner thinks it means is checked before a Node is made. The engine's functions
run in isolated worlds, out of reach of the page's own script, one for each session and frame. What is known of
them is checked in the round trip that uses it: Chrome numbers execution contexts anew in each renderer process, so
after a navigation that swaps processes an old number may name another context.
"""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Protocol, TypeVar
from weakref import WeakValueDictionary

import attrs
import trio

from cdpengine._protocol.calls import PendingCall, decode_reply, pending_group
from cdpengine._protocol.domains.dom import DescribeNodeReply, ResolveNodeReply
from cdpengine._protocol.domains.page import IsolatedWorldReply
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
"""What is wanted of a call, as parameters of the command."""

VALUE: How = {"returnByValue": True}
"""The function's value is wanted, as JSON."""

SETTLED_VALUE: How = {"returnByValue": True, "awaitPromise": True}
"""The same, and a promise is waited for in the page."""

OBJECT: How = {}
"""The object is wanted that the function gives."""

SETTLED_OBJECT: How = {"returnByValue": False, "awaitPromise": True}

_LONGEST = 300

NO_OBJECT = "0.0.0"
"""An object id that Chrome refuses in every isolate: "Cannot find context with specified id"."""

NOT_OF_THE_DOCUMENT = "Node with given id does not belong to the document"
"""What Chrome says of a node of another document, where it says so at all: see `object_of_node`."""


class Command(NamedTuple):
    """A call into a page that is not sent yet."""

    method: str
    params: dict[str, Any]


class _Callee:
    """What a function can be called in, or on."""

    session: Session

    @property
    def _where(self) -> dict[str, Any]:
        raise NotImplementedError

    def command(
        self, function: str, *arguments: object, how: How = VALUE, group: AnyGroup | None = None
    ) -> Command:
        """Return the command that calls `function`. As for `post`."""
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
        """Send a call of `function`, and do not wait. An argument is JSON, or a RemoteHandle of the same world.

        `function` is sent as it is given; the engine's own functions are noted by `js.own`. An object that it
        returns is put into `group`; without one, into that of the object that it is called on. Unless `repeats`
        is False, it is safe to run twice (`PendingCall.survive_terminations`). Raises as `Session.post` does.
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

        Raises EvaluationFailedError when it threw, and as `Session.request` does.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        return await value_of(self.post(function, *arguments, how=how, group=group), returns)

    async def make(
        self, function: str, *arguments: object, how: How = OBJECT, group: AnyGroup | None = None
    ) -> RemoteHandle | None:
        """Call `function` and return the object that it gives; None for null. Raises as `call` does."""
        await trio.lowlevel.checkpoint_if_cancelled()
        return await object_of(self.post(function, *arguments, how=how, group=group), self.session)

    def tell(self, function: str) -> None:
        """Send a call of `function` whose answer nobody needs. Where the session is gone, nothing happens."""
        with suppress(SessionGoneError, ConnectionLostError):
            self.post(function, how={})


@attrs.frozen
class RemoteHandle(_Callee):
    """An object in a page.

    Chrome forgets all remote objects of a document that is left. Where that document comes back, Chrome numbers
    them from 1 again, so an old id can name another object. A handle whose document was left is sent as NO_OBJECT.
    """

    session: Session = attrs.field(repr=False)
    id: str
    _shown: int = attrs.field(init=False, eq=False, repr=False)

    @_shown.default
    def _count_documents(self) -> int:
        return self.session.documents_shown

    @property
    def lost(self) -> bool:
        """Whether the document that it was made in has been left since."""
        return self._shown != self.session.documents_shown

    @property
    def reference(self) -> str:
        """The id for a command: `id`, or NO_OBJECT where the handle is lost."""
        return NO_OBJECT if self.lost else self.id

    @property
    def _where(self) -> dict[str, Any]:
        return {"objectId": self.reference}

    @property
    def world(self) -> str:
        """The isolate and the execution context that the object is in: remote object ids begin with them."""
        return self.id.rpartition(".")[0]

    async def backend_node_id(self) -> int:
        """Return the backend node id of an object that is a node. Raises as `Session.request` does."""
        await trio.lowlevel.checkpoint_if_cancelled()
        reply = await self.session.post("DOM.describeNode", objectId=self.reference).decoded(
            DescribeNodeReply
        )
        return reply.node.backend_node_id

    def release(self) -> None:
        """Let Chrome release it. Sent and not waited for; raises nothing."""
        if not self.lost:
            with suppress(SessionGoneError, ConnectionLostError):
                self.session.post("Runtime.releaseObject", objectId=self.id)


@attrs.frozen
class ExecutionContext(_Callee):
    """A world of a document, in which functions run. Chrome's `id` counts in one renderer process."""

    session: Session = attrs.field(repr=False)
    id: int

    @property
    def _where(self) -> dict[str, Any]:
        return {"executionContextId": self.id}

    def post_expression(
        self, expression: str, *, how: How = VALUE, group: AnyGroup | None = None
    ) -> PendingCall:
        """Send an expression to be evaluated, and do not wait. As `post`."""
        method, params = expression_command(self.session, expression, self.id, how=how, group=group)
        return self.session.post_own(method, params, repeats=True)

    async def evaluate(self, expression: str, *, returns: type[T], how: How = VALUE) -> T:
        """Evaluate an expression and return its value, decoded into `returns`. Raises as `call` does."""
        await trio.lowlevel.checkpoint_if_cancelled()
        return await value_of(self.post_expression(expression, how=how), returns)

    def post_resolve(self, backend_node_id: int, group: AnyGroup) -> PendingCall:
        """Ask for a node as an object of this context. To be awaited by `object_of_node`."""
        return post_resolve(self.session, backend_node_id, group, executionContextId=self.id)


def expression_command(
    session: Session,
    expression: str,
    context_id: int | None = None,
    *,
    how: How = VALUE,
    group: AnyGroup | None = None,
) -> Command:
    """Return the command that evaluates `expression` in a context; None: in the main frame's main world."""
    where = {} if context_id is None else {"contextId": context_id}
    return Command("Runtime.evaluate", {"expression": expression, **where, **how, **in_group(group, session)})


def post_resolve(session: Session, backend_node_id: int, group: AnyGroup | None, **where: int) -> PendingCall:
    """Ask for a node as an object: of its own frame's page, unless `executionContextId` says otherwise."""
    return session.post("DOM.resolveNode", backendNodeId=backend_node_id, **where, **in_group(group, session))


def in_group(group: AnyGroup | None, session: Session) -> dict[str, str]:
    """Return the parameter of a command of `session` that puts what it gives into `group`."""
    if group is None:
        return {}
    return {"objectGroup": group.on(session) if isinstance(group, ObjectGroup) else group}


def _argument(value: object) -> dict[str, Any]:
    return {"objectId": value.reference} if isinstance(value, RemoteHandle) else {"value": value}


# --- what was answered ---------------------------------------------------------------------------------------


async def value_of(pending: PendingCall, kind: type[T]) -> T:
    """Return the value of a call, decoded into `kind`.

    Raises EvaluationFailedError, and as `PendingCall.decoded`.
    """
    return decode_reply(pending.call.method, (await returned(pending)).value, kind)


async def object_of(pending: PendingCall, session: Session) -> RemoteHandle | None:
    """Return the object that a call gave, None for null. Raises as `value_of` does."""
    object_id = (await returned(pending)).object_id
    return None if object_id is None else RemoteHandle(session, object_id)


async def returned(pending: PendingCall) -> ReturnedObject:
    """Return what a function of the engine's own gave. Raises EvaluationFailedError when it threw."""
    reply = await pending.decoded(CallReply)
    if reply.exception_details is not None:
        raise EvaluationFailedError(
            text=f"in the engine's own function: {reply.exception_details.reason[:_LONGEST]}"
        )
    return reply.result


async def object_of_node(pending: PendingCall, session: Session) -> RemoteHandle:
    """Return the object of a node that was asked for by `post_resolve`. Raises RemoteError for none."""
    object_id = (await pending.decoded(ResolveNodeReply)).object.object_id
    if object_id is None:
        # The world is a new document's and the node is of the document before it, in the same process: Chrome then
        # answers with null in place of the node, and with no error.
        raise RemoteError(method=pending.call.method, code=-32000, message=NOT_OF_THE_DOCUMENT)
    return RemoteHandle(session, object_id)


_numbers = itertools.count(1)


@attrs.frozen(eq=False)
class ObjectGroup:
    """Remote objects under one name, in any number of sessions."""

    name: str
    _sessions: dict[Session, None] = attrs.field(factory=dict, init=False, repr=False)

    def on(self, session: Session) -> str:
        """Return the name, for a command of `session` that puts something into the group."""
        self._sessions[session] = None
        return self.name

    def release(self) -> None:
        """Let Chrome release what is in the group. Sent and not waited for; raises nothing."""
        while self._sessions:
            session, _ = self._sessions.popitem()
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Runtime.releaseObjectGroup", objectGroup=self.name)

    def forget(self) -> None:
        """Note that Chrome put nothing into the group: there is nothing to release."""
        self._sessions.clear()


AnyGroup = ObjectGroup | str
"""A group, or the name of one that is never released: what is in it lives as long as its document."""


def new_group(purpose: str) -> ObjectGroup:
    """Return a group with a name of its own. Without `object_group`, the caller releases it."""
    return ObjectGroup(f"cdpengine-{purpose}-{next(_numbers)}")


@contextmanager
def object_group(purpose: str) -> Iterator[ObjectGroup]:
    """Give a group with a name of its own, and release it when the block ends, however it ends."""
    group = new_group(purpose)
    try:
        yield group
    finally:
        group.release()


def _always() -> bool:
    return True


@attrs.frozen
class Node:
    """A DOM node and the session that it can be reached through.

    `frame_id` is the frame whose document holds the node; it may be a same-process child frame of the session's
    target. `description` is for people, such as 'e7 button "Log in"': error messages name the node by it. `valid`
    tells whether the frame still shows the document that the id was given for, as far as Chrome has reported: to
    be asked after Chrome's answer, for another document may have answered.
    """

    session: Session
    backend_node_id: int
    frame_id: str
    description: str
    valid: Callable[[], bool] = attrs.field(default=_always, eq=False, repr=False)


@attrs.frozen
class KnownElement:
    """An element that is known in its world by a number: `holder` has a function `element`, which gives it.

    That gives undefined for one that is gone.
    """

    holder: RemoteHandle
    number: int


class Numbered(Protocol):
    """What knows elements of a document by numbers, which are the places of their ids in `ids`."""

    function: RemoteHandle
    ids: array[int]


_LIBRARY_GROUP = "cdpengine-library"
"""Never released: a library lives as long as its document."""

WORLD_NAME = "cdpengine"
USERS_WORLD_NAME = "cdpengine.evaluate"
"""The world of `evaluate(world="isolated")`: what a user's script does to its globals harms no script of ours."""

# What Chrome says when an execution context, or an object in it, is gone. Its own words, as of Chromium 156.
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
    """Tell whether Chrome refused because the document that a context or object belonged to is gone."""
    return error.message.startswith(_GONE)


def post_world(session: Session, frame_id: str, name: str = WORLD_NAME) -> PendingCall:
    """Ask for a world of a frame's document, which Chrome makes where there is none: an IsolatedWorldReply."""
    # "grantUniveralAccess": Chrome's spelling.
    params = {"frameId": frame_id, "worldName": name, "grantUniveralAccess": False}
    return session.post("Page.createIsolatedWorld", **params)


@attrs.define(eq=False)
class IsolatedWorlds:
    """The execution contexts of the engine's worlds, made when first needed."""

    _contexts: dict[tuple[str | None, str], int] = attrs.field(factory=dict, init=False)
    _libraries: dict[tuple[str | None, str], RemoteHandle] = attrs.field(factory=dict, init=False)
    _numbered: WeakValueDictionary[tuple[str | None, str], Numbered] = attrs.field(
        factory=WeakValueDictionary, init=False
    )

    async def context(self, session: Session, frame_id: str) -> ExecutionContext:
        """Return the execution context of the frame's isolated world now.

        Chrome gives the same world each time it is asked, so this is always true and never leaks; it costs a
        round trip. Raises RemoteError when there is no such frame in this session.
        """
        number = await self._wait_for_world(session, frame_id, post_world(session, frame_id))
        return ExecutionContext(session, number)

    async def users_context(self, session: Session, frame_id: str) -> ExecutionContext:
        """Return the execution context of the world that is for the user's scripts. As `context`."""
        created = await post_world(session, frame_id, USERS_WORLD_NAME).decoded(IsolatedWorldReply)
        return ExecutionContext(session, created.execution_context_id)

    async def resolve(self, node: Node, group: AnyGroup, library: str | None = None) -> RemoteHandle:
        """Return the remote object of `node` in its frame's isolated world, in `group`.

        One round trip when the frame's world is known; one call only when a library is kept for it, whose id then
        tells whether it is still that world. With `library`, the source of a function that makes one, it is made
        in the same round trip where the world has none, and kept. Raises RemoteError when Chrome knows no such
        node in the frame's document, EvaluationFailedError when the library cannot be made.
        """
        session, frame_id = node.session, node.frame_id
        known = self._contexts.get((session.id, frame_id))
        kept = self._libraries.get((session.id, frame_id))
        if known is not None and kept is not None and not kept.lost:
            with suppress(RemoteError):
                context = ExecutionContext(session, known)
                found = await object_of_node(context.post_resolve(node.backend_node_id, group), session)
                if self.library(node, found) is not None:
                    return found
        with pending_group() as post:

            def ask(number: int) -> tuple[PendingCall | None, PendingCall]:
                context = ExecutionContext(session, number)
                making = (
                    None if library is None else post(context.post(library, how=OBJECT, group=_LIBRARY_GROUP))
                )
                return making, post(context.post_resolve(node.backend_node_id, group))

            creation = post(post_world(session, frame_id))
            asked = None if known is None else ask(known)
            current = await self._wait_for_world(session, frame_id, creation)
            making, resolution = ask(current) if asked is None or current != known else asked
            if making is not None:
                made = await object_of(making, session)
                if made is None:
                    raise EvaluationFailedError(text="the engine's functions gave no object")
                self._libraries[session.id, frame_id] = made
            return await object_of_node(resolution, session)

    def library(self, node: Node, found: RemoteHandle) -> RemoteHandle | None:
        """Return the library that was kept for the world in which `found` is; None when there is none."""
        library = self._libraries.get((node.session.id, node.frame_id))
        same = library is not None and library.world == found.world and not library.lost
        return library if same else None

    def keep_numbers(self, session: Session, frame_id: str, numbered: Numbered) -> None:
        """Note what knows elements of the frame's document by numbers, for as long as it lives."""
        self._numbered[session.id, frame_id] = numbered

    def known_element(self, node: Node) -> tuple[KnownElement, RemoteHandle] | None:
        """Return the node as it is known in its world, and the library that was kept there; no round trip.

        None where either is missing. What is asked of them is refused where the document is another one by now.
        """
        numbered = self._numbered.get((node.session.id, node.frame_id))
        if numbered is None or numbered.function.lost or node.backend_node_id not in numbered.ids:
            return None
        library = self.library(node, numbered.function)
        if library is None:
            return None
        return KnownElement(numbered.function, numbered.ids.index(node.backend_node_id)), library

    def forget(self, session_id: str | None, frame_id: str | None = None) -> None:
        """Drop what is remembered of a frame, or of a whole session that ended."""
        for key in [key for key in self._contexts if key[0] == session_id and frame_id in (None, key[1])]:
            del self._contexts[key]
            self._libraries.pop(key, None)

    async def _wait_for_world(self, session: Session, frame_id: str, creation: PendingCall) -> int:
        try:
            context = (await creation.decoded(IsolatedWorldReply)).execution_context_id
        except RemoteError:
            self.forget(session.id, frame_id)
            raise
        self._contexts[session.id, frame_id] = context
        return context
