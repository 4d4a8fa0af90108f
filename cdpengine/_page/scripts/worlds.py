"""The engine's isolated worlds in the documents of a page, and the objects that are kept in them.

Rule: the engine's functions run in isolated worlds, hidden from the page's scripts, one for each session and
frame. Cached world ids are checked in the round trip that uses them. Chrome numbers execution contexts separately
in each renderer process, so after a navigation to another process an old number may identify another context.
"""

from __future__ import annotations

from array import array
from contextlib import suppress
from typing import Protocol
from weakref import WeakValueDictionary

import attrs

from cdpengine._page.scripts.page_functions import (
    LIBRARY_GROUP,
    OBJECT,
    AnyGroup,
    ExecutionContext,
    Node,
    RemoteHandle,
    object_of,
    object_of_node,
)
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.domains.page import IsolatedWorldReply
from cdpengine._protocol.session import Session
from cdpengine.errors import EvaluationFailedError, RemoteError

WORLD_NAME = "cdpengine"
USERS_WORLD_NAME = "cdpengine.evaluate"
"""World of `evaluate(world="isolated")`. Separate, so that user scripts cannot change the engine's globals."""


@attrs.frozen
class KnownElement:
    """An element with a number in its world. `holder` has a function `element` that returns it.

    The function returns undefined for an element that is gone.
    """

    holder: RemoteHandle
    number: int


@attrs.frozen
class Finder:
    """The object that searches a document (finder.js), in the context `number`."""

    handle: RemoteHandle
    number: int


@attrs.frozen
class FoundElements:
    """The elements of the last search in a document, which the page numbers from `first` on."""

    holder: RemoteHandle
    ids: list[int]
    first: int


class Numbered(Protocol):
    """Numbered elements of a document: a number is an index into `ids`."""

    function: RemoteHandle
    ids: array[int]


def post_world(session: Session, frame_id: str, name: str = WORLD_NAME) -> PendingCall:
    """Request a world of a frame's document: an IsolatedWorldReply. Chrome creates a missing one."""
    # "grantUniveralAccess": Chrome's spelling.
    params = {"frameId": frame_id, "worldName": name, "grantUniveralAccess": False}
    return session.post("Page.createIsolatedWorld", **params)


@attrs.define(eq=False)
class IsolatedWorlds:
    """The execution contexts of the engine's worlds, created when first needed."""

    _contexts: dict[tuple[str | None, str], int] = attrs.field(factory=dict, init=False)
    _libraries: dict[tuple[str | None, str], RemoteHandle] = attrs.field(factory=dict, init=False)
    _finders: dict[tuple[str | None, str], Finder] = attrs.field(factory=dict, init=False)
    _found: dict[tuple[str | None, str], FoundElements] = attrs.field(factory=dict, init=False)
    _numbered: WeakValueDictionary[tuple[str | None, str], Numbered] = attrs.field(
        factory=WeakValueDictionary, init=False
    )

    async def context(self, session: Session, frame_id: str) -> ExecutionContext:
        """Return the execution context of the frame's current isolated world.

        Chrome returns the same world for each request, so the result is always current and nothing leaks. It costs
        a round trip. Raises RemoteError if the session has no such frame.
        """
        number = await self._wait_for_world(session, frame_id, post_world(session, frame_id))
        return ExecutionContext(session, number)

    async def users_context(self, session: Session, frame_id: str) -> ExecutionContext:
        """Return the execution context of the world for the user's scripts, as `context` does."""
        created = await post_world(session, frame_id, USERS_WORLD_NAME).decoded(IsolatedWorldReply)
        return ExecutionContext(session, created.execution_context_id)

    async def resolve(self, node: Node, group: AnyGroup, library: str | None = None) -> RemoteHandle:
        """Return the remote object of `node` in its frame's isolated world, in `group`.

        It takes one round trip if the frame's world is known. With a cached library it takes one call, because the
        library's id also proves that the world is current. `library` is the source of a function that makes a
        library. If the world has none, the same round trip makes it, and it is cached. Raises RemoteError if
        Chrome knows no such node in the frame's document, EvaluationFailedError if the library cannot be made.
        """
        session, frame_id = node.session, node.frame_id
        known = self._contexts.get((session.id, frame_id))
        cached = self._libraries.get((session.id, frame_id))
        if known is not None and cached is not None and not cached.lost:
            with suppress(RemoteError):
                context = ExecutionContext(session, known)
                found = await object_of_node(context.post_resolve(node.backend_node_id, group), session)
                if self.library(node, found) is not None:
                    return found
        with pending_group() as post:

            def ask(number: int) -> tuple[PendingCall | None, PendingCall]:
                context = ExecutionContext(session, number)
                making = (
                    None if library is None else post(context.post(library, how=OBJECT, group=LIBRARY_GROUP))
                )
                return making, post(context.post_resolve(node.backend_node_id, group))

            creation = post(post_world(session, frame_id))
            queried = None if known is None else ask(known)
            current = await self._wait_for_world(session, frame_id, creation)
            making, resolution = ask(current) if queried is None or current != known else queried
            if making is not None:
                made = await object_of(making, session)
                if made is None:
                    raise EvaluationFailedError(text="the engine's functions returned no object")
                self._libraries[session.id, frame_id] = made
            return await object_of_node(resolution, session)

    def library(self, node: Node, found: RemoteHandle) -> RemoteHandle | None:
        """Return the cached library of the world of `found`, or None."""
        library = self._libraries.get((node.session.id, node.frame_id))
        same = library is not None and library.world == found.world and not library.lost
        return library if same else None

    def keep_numbers(self, session: Session, frame_id: str, numbered: Numbered) -> None:
        """Keep the numbered elements of the frame's document for as long as it lives."""
        self._numbered[session.id, frame_id] = numbered

    def finder(self, session: Session, frame_id: str) -> Finder | None:
        """Return the kept finder of the frame, or None. If the document was replaced, Chrome refuses its calls."""
        finder = self._finders.get((session.id, frame_id))
        return None if finder is None or finder.handle.lost else finder

    def keep_finder(self, session: Session, frame_id: str, finder: Finder | None) -> None:
        """Keep the finder of the frame's document, or forget it."""
        self._found.pop((session.id, frame_id), None)
        if finder is None:
            self._finders.pop((session.id, frame_id), None)
        else:
            self._finders[session.id, frame_id] = finder

    def keep_found(self, session: Session, frame_id: str, found: FoundElements) -> None:
        """Keep the elements of the last search, so that actions on them need no round trip to resolve them."""
        self._found[session.id, frame_id] = found

    def known_element(self, node: Node) -> tuple[KnownElement, RemoteHandle] | None:
        """Return the node as a known element and its world's library, or None. Makes no round trip.

        If the document was replaced meanwhile, Chrome refuses calls that use them.
        """
        key = node.session.id, node.frame_id
        numbered, found, number = self._numbered.get(key), self._found.get(key), node.backend_node_id
        if numbered is not None and not numbered.function.lost and number in numbered.ids:
            element = KnownElement(numbered.function, numbered.ids.index(number))
        elif found is not None and not found.holder.lost and number in found.ids:
            element = KnownElement(found.holder, found.first + found.ids.index(number))
        else:
            return None
        library = self.library(node, element.holder)
        return None if library is None else (element, library)

    def forget(self, session_id: str | None, frame_id: str | None = None) -> None:
        """Drop the cache of a frame, or of a whole session that ended."""
        for key in [key for key in self._contexts if key[0] == session_id and frame_id in (None, key[1])]:
            del self._contexts[key]
            self._libraries.pop(key, None)
            self._finders.pop(key, None)
            self._found.pop(key, None)

    async def _wait_for_world(self, session: Session, frame_id: str, creation: PendingCall) -> int:
        try:
            context = (await creation.decoded(IsolatedWorldReply)).execution_context_id
        except RemoteError:
            self.forget(session.id, frame_id)
            raise
        self._contexts[session.id, frame_id] = context
        return context
