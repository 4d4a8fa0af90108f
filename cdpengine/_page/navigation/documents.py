"""The engine's own scripts in the documents of a page: called in the isolated world of a frame, on its session.

Rule: what a script answers is plain data, or an object of one group that is released with it. That a
document is gone is raised as DocumentGone, so that its followers take the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import attrs

from cdpengine._javascript import own, script
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import (
    SETTLED_OBJECT,
    SETTLED_VALUE,
    ExecutionContext,
    ObjectGroup,
    RemoteHandle,
    new_group,
    objects_of_nodes,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds, Node, context_gone
from cdpengine._protocol.session import Session
from cdpengine.errors import EvaluationFailedError, RemoteError

T = TypeVar("T")

_ALSO_GONE = ("Promise was collected", "No frame for given id found", "Frame with the given id was not found")


class DocumentGone(Exception):
    """The document that was asked is not there any more; another one is, or will be."""


@cache
def script_with_search(name: str, parameters: str = "request") -> str:
    """Return the source of a function of `parameters` (and `node`): the script `name`, given node_search.js."""
    search = script("_page/navigation/node_search")
    return f"function (request, node) {{ return ({script(name)})({parameters}, ({search})(), node); }}"


@attrs.frozen(eq=False)
class Document:
    """One document of a page, as its isolated world sees it. Let go of it by `release`."""

    frame: Frame
    loader_id: str
    context: ExecutionContext
    group: ObjectGroup

    @property
    def session(self) -> Session:
        """The session of its frame."""
        return self.context.session

    async def call(self, function: str, *arguments: object, kind: type[T]) -> T:
        """Call a function in the document's isolated world; return its JSON value, decoded.

        Raises DocumentGone, EvaluationFailedError when it threw, and what ends the session.
        """
        with _explain_refusal():
            return await self.context.call(
                own(function), *arguments, returns=kind, how=SETTLED_VALUE, group=self.group
            )

    async def make(self, function: str, *arguments: object) -> RemoteHandle:
        """Call a function and return the object that it gives. Raises as `call` does."""
        with _explain_refusal():
            made = await self.context.make(own(function), *arguments, how=SETTLED_OBJECT, group=self.group)
        if made is None:
            raise EvaluationFailedError(text="the script gave no object")
        return made

    async def ask(self, held: RemoteHandle, function: str, *arguments: object, kind: type[T]) -> T:
        """Call a function on an object, wait for its promise, and return the JSON value, decoded."""
        with _explain_refusal():
            return await held.call(
                own(function), *arguments, returns=kind, how=SETTLED_VALUE, group=self.group
            )

    def tell(self, held: RemoteHandle, function: str) -> None:
        """Call a function on an object, and do not wait for it."""
        held.tell(own(function))

    def release(self) -> None:
        """Let go of what the group holds. Not waited for: a document that is gone holds nothing."""
        self.group.release()


async def open_document(page: PageTarget, worlds: IsolatedWorlds, frame: Frame) -> Document:
    """Return the frame's present document. Raises DocumentGone, and what ends the session."""
    session = page.session_of(frame)
    loader_id = frame.loader_id
    try:
        context = await worlds.context(session, frame.id)
    except RemoteError:
        raise DocumentGone(frame.id) from None
    return Document(frame, loader_id, context, new_group("look"))


async def held_node(document: Document, node: Node) -> RemoteHandle | None:
    """Return the node as an argument for scripts of its document; None when Chrome no longer has it."""
    number = node.backend_node_id
    found = await objects_of_nodes(
        document.session, [number], document.group, executionContextId=document.context.id
    )
    return found.get(number)


@contextmanager
def _explain_refusal() -> Iterator[None]:
    try:
        yield
    except RemoteError as error:
        raise gone_or(error) from None


def gone_or(error: RemoteError) -> Exception:
    """Return DocumentGone where that is what Chrome says, else the error itself."""
    if context_gone(error) or error.message.startswith(_ALSO_GONE):
        return DocumentGone(error.message)
    return error
