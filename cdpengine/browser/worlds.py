"""Isolated worlds: where the engine's own JavaScript runs, out of reach of the page's.

Rule: one world for each session and frame. What is remembered is checked in the same round trip that uses it,
because Chrome numbers execution contexts anew in each renderer process: after a navigation that swaps
processes, an old number may name another context.
"""

from __future__ import annotations

from contextlib import suppress

import attrs
import msgspec

from cdpengine.browser.node import Node
from cdpengine.errors import RemoteError
from cdpengine.session.calls import PendingCall
from cdpengine.session.session import Session

WORLD_NAME = "cdpengine"
USERS_WORLD_NAME = "cdpengine.evaluate"
"""The world of `evaluate(world="isolated")`: what a user's script does to its globals harms no script of ours."""

_ELSEWHERE = "Node with given id does not belong to the document"
"""What Chrome says of a node of another document, where it says so at all: see `_object_id`."""

# What Chrome says when an execution context, or an object in it, is gone. Its own words, as of Chromium 156.
_GONE = (
    "Cannot find context with specified id",
    _ELSEWHERE,
    "Execution context was destroyed",
    "Inspected target navigated or closed",
    "Could not find object with given id",
    "Cannot find object with given id",
)


class _Created(msgspec.Struct, rename="camel"):
    execution_context_id: int


class _Object(msgspec.Struct, rename="camel"):
    object_id: str | None = None


class _Resolved(msgspec.Struct):
    object: _Object


def context_gone(error: RemoteError) -> bool:
    """Tell whether Chrome refused because the document that a context or object belonged to is gone."""
    return error.message.startswith(_GONE)


@attrs.define(eq=False)
class IsolatedWorlds:
    """The execution contexts of the engine's worlds, made when first needed."""

    _contexts: dict[tuple[str | None, str], int] = attrs.field(factory=dict, init=False)
    _libraries: dict[tuple[str | None, str], str] = attrs.field(factory=dict, init=False)

    async def context(self, session: Session, frame_id: str) -> int:
        """Return the execution context id of the frame's isolated world now.

        Chrome gives the same world each time it is asked, so this is always true and never leaks; it costs a
        round trip. Raises RemoteError when there is no such frame in this session.
        """
        return await self._created(session, frame_id, self._post_create(session, frame_id))

    async def users_context(self, session: Session, frame_id: str) -> int:
        """Return the execution context id of the world that is for the user's scripts. As `context`."""
        created = await self._post_create(session, frame_id, USERS_WORLD_NAME).decoded(_Created)
        return created.execution_context_id

    async def resolve(self, node: Node, group: str) -> str:
        """Return the remote object id of `node` in its frame's isolated world, to be released with `group`.

        One round trip when the frame's world is known; one call only when a library is kept for it, whose id then
        tells whether it is still that world. Raises RemoteError when Chrome knows no such node in the frame's
        document.
        """
        session, frame_id = node.session, node.frame_id
        known = self._contexts.get((session.id, frame_id))
        if known is not None and (session.id, frame_id) in self._libraries:
            with suppress(RemoteError):
                object_id = await _object_id(self._post_resolve(node, known, group))
                if self.library(node, object_id) is not None:
                    return object_id
        creation = self._post_create(session, frame_id)
        resolution = None if known is None else self._post_resolve(node, known, group)
        try:
            current = await self._created(session, frame_id, creation)
            if resolution is not None and current == known:
                return await _object_id(resolution)
            return await _object_id(self._post_resolve(node, current, group))
        finally:
            creation.abandon()
            if resolution is not None:
                resolution.abandon()

    def library(self, node: Node, object_id: str) -> str | None:
        """Return the library that was kept for the world in which `object_id` is; None when there is none."""
        library_id = self._libraries.get((node.session.id, node.frame_id))
        # Remote object ids begin with the isolate and the context: where these differ, it is another world.
        if library_id is None or library_id.rpartition(".")[0] != object_id.rpartition(".")[0]:
            return None
        return library_id

    def keep_library(self, node: Node, library_id: str) -> None:
        """Remember a remote object that lives as long as the world of the node's frame."""
        self._libraries[node.session.id, node.frame_id] = library_id

    def forget(self, session_id: str | None, frame_id: str | None = None) -> None:
        """Drop what is remembered of a frame, or of a whole session that ended."""
        for key in [key for key in self._contexts if key[0] == session_id and frame_id in (None, key[1])]:
            del self._contexts[key]
            self._libraries.pop(key, None)

    async def _created(self, session: Session, frame_id: str, creation: PendingCall) -> int:
        try:
            context = (await creation.decoded(_Created)).execution_context_id
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

    @staticmethod
    def _post_resolve(node: Node, context: int, group: str) -> PendingCall:
        return node.session.post(
            "DOM.resolveNode",
            backendNodeId=node.backend_node_id,
            executionContextId=context,
            objectGroup=group,
        )


async def _object_id(resolution: PendingCall) -> str:
    object_id = (await resolution.decoded(_Resolved)).object.object_id
    if object_id is None:
        # The world is a new document's and the node is of the document before it, in the same process: Chrome then
        # answers with null in place of the node, and with no error.
        raise RemoteError(method=resolution.call.method, code=-32000, message=_ELSEWHERE)
    return object_id
