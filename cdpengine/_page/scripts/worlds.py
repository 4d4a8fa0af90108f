"""Nodes, and the isolated worlds in which the engine's own JavaScript has them, out of reach of the page's.

Rule: a backend node id counts per renderer process, so a node is always (session, backend node id), never the
id alone. Whether the id still means what its owner thinks it means is checked before a Node is made.

There is one world for each session and frame. What is remembered is checked in the same round trip that uses it,
because Chrome numbers execution contexts anew in each renderer process: after a navigation that swaps
processes, an old number may name another context.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import attrs
import msgspec

from cdpengine._page.scripts.page_functions import (
    NOT_OF_THE_DOCUMENT,
    AnyGroup,
    ExecutionContext,
    RemoteHandle,
    object_of_node,
)
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.page import IsolatedWorldReply
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError


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
)


def context_gone(error: RemoteError) -> bool:
    """Tell whether Chrome refused because the document that a context or object belonged to is gone."""
    return error.message.startswith(_GONE)


@attrs.define(eq=False)
class IsolatedWorlds:
    """The execution contexts of the engine's worlds, made when first needed."""

    _contexts: dict[tuple[str | None, str], int] = attrs.field(factory=dict, init=False)
    _libraries: dict[tuple[str | None, str], RemoteHandle] = attrs.field(factory=dict, init=False)

    async def context(self, session: Session, frame_id: str) -> ExecutionContext:
        """Return the execution context of the frame's isolated world now.

        Chrome gives the same world each time it is asked, so this is always true and never leaks; it costs a
        round trip. Raises RemoteError when there is no such frame in this session.
        """
        number = await self._wait_for_world(session, frame_id, self._post_create(session, frame_id))
        return ExecutionContext(session, number)

    async def users_context(self, session: Session, frame_id: str) -> ExecutionContext:
        """Return the execution context of the world that is for the user's scripts. As `context`."""
        created = await self._post_create(session, frame_id, USERS_WORLD_NAME).decoded(IsolatedWorldReply)
        return ExecutionContext(session, created.execution_context_id)

    async def resolve(self, node: Node, group: AnyGroup) -> RemoteHandle:
        """Return the remote object of `node` in its frame's isolated world, in `group`.

        One round trip when the frame's world is known; one call only when a library is kept for it, whose id then
        tells whether it is still that world. Raises RemoteError when Chrome knows no such node in the frame's
        document.
        """
        session, frame_id = node.session, node.frame_id
        known = self._contexts.get((session.id, frame_id))
        if known is not None and (session.id, frame_id) in self._libraries:
            with suppress(RemoteError):
                found = await object_of_node(_post_resolve(node, known, group), session)
                if self.library(node, found) is not None:
                    return found
        with pending_group() as post:
            creation = post(self._post_create(session, frame_id))
            resolution = None if known is None else post(_post_resolve(node, known, group))
            current = await self._wait_for_world(session, frame_id, creation)
            if resolution is None or current != known:
                resolution = _post_resolve(node, current, group)
            return await object_of_node(resolution, session)

    def library(self, node: Node, found: RemoteHandle) -> RemoteHandle | None:
        """Return the library that was kept for the world in which `found` is; None when there is none."""
        library = self._libraries.get((node.session.id, node.frame_id))
        return library if library is not None and library.world == found.world else None

    def keep_library(self, node: Node, library: RemoteHandle) -> None:
        """Remember a remote object that lives as long as the world of the node's frame."""
        self._libraries[node.session.id, node.frame_id] = library

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

    @staticmethod
    def _post_create(session: Session, frame_id: str, name: str = WORLD_NAME) -> PendingCall:
        # "grantUniveralAccess": Chrome's spelling.
        return session.post(
            "Page.createIsolatedWorld", frameId=frame_id, worldName=name, grantUniveralAccess=False
        )


def _post_resolve(node: Node, context: int, group: AnyGroup) -> PendingCall:
    return ExecutionContext(node.session, context).post_resolve(node.backend_node_id, group)


# --- the page's own world ------------------------------------------------------------------------------------


class _AuxData(msgspec.Struct, rename="camel"):
    frame_id: str = ""
    is_default: bool = False


class _Context(msgspec.Struct, rename="camel"):
    id: int
    aux_data: _AuxData = msgspec.field(default_factory=_AuxData)


class _ContextCreated(msgspec.Struct):
    context: _Context


_CREATED = "Runtime.executionContextCreated"


async def find_main_context(asked: Session, session: Session, frame_id: str) -> ExecutionContext | None:
    """Return the context of the page's own world in a frame inside of `session`'s; None where there is none.

    Chrome is asked each time: the numbers of contexts start anew with every renderer process, so a remembered one
    could name another frame's. It is asked on `asked`, the target's evaluation session, where nothing else uses
    `Runtime`: contexts are reported only when that is enabled anew. The numbers are the same on all sessions of a
    process. Raises as `Session.subscribe` and `Session.enabled` do.
    """
    # Enabling reports all contexts that there are, before it is answered.
    async with asked.subscribe(_CREATED, enable=False) as events, asked.enabled("Runtime"):
        found = None
        while events.statistics().waiting:
            context = (await events.receive()).decode(_ContextCreated).context
            if context.aux_data.is_default and context.aux_data.frame_id == frame_id:
                found = ExecutionContext(session, context.id)
    return found
