"""Scripts of the engine in the documents of a page, and their reports (FrameWatches).

Rule: a script runs in the isolated world of a frame, on the frame's session. Its result is plain data, or an
object of a group that is released with it. If the document is gone, DocumentGone is raised, so that callers
continue with the next document. A watched document has one observer that reports changes, so nothing polls. The
observer ends with its document, and the next document gets a new one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from typing import TypeVar

import attrs
import msgspec
import trio

from cdpengine._checks import invalid_selector
from cdpengine._javascript import own, script
from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.node_lists import objects_of_nodes
from cdpengine._page.scripts.page_functions import (
    SETTLED_OBJECT,
    SETTLED_VALUE,
    ExecutionContext,
    Node,
    ObjectGroup,
    RemoteHandle,
    context_gone,
    new_group,
)
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    EvaluationFailedError,
    RemoteError,
    SessionGoneError,
)

T = TypeVar("T")

_ALSO_GONE = ("Promise was collected", "No frame for given id found", "Frame with the given id was not found")


class DocumentGone(Exception):
    """The document is gone. Another one has replaced it, or will."""


@cache
def _watch_of_node() -> str:
    """Return the source of a function that makes the watch of waiting.js with the states of a node."""
    tools, states = script("_page/scripts/node_tools"), script("_page/scripts/node_states")
    search, watch = script("_page/navigation/node_search"), script("_page/navigation/waiting")
    made = f"({states})(node, ({tools})(node, {{}}))"
    return f"function (request, node) {{ return ({watch})(request, ({search})(), {made}); }}"


@cache
def script_with_search(name: str, parameters: str = "request") -> str:
    """Return the source of a function of `parameters` and `node`: the script `name` with node_search.js."""
    search = script("_page/navigation/node_search")
    return f"function (request, node) {{ return ({script(name)})({parameters}, ({search})(), node); }}"


@attrs.frozen(eq=False)
class Document:
    """One document of a page in its isolated world. Call `release` at the end."""

    frame: Frame
    loader_id: str
    context: ExecutionContext
    group: ObjectGroup

    @property
    def session(self) -> Session:
        """The session of its frame."""
        return self.context.session

    async def call(self, function: str, *arguments: object, kind: type[T]) -> T:
        """Call a function in the document's isolated world. Return its JSON value, decoded.

        Raises DocumentGone, EvaluationFailedError if it threw, and the error of an ended session.
        """
        with _explain_refusal():
            return await self.context.call(
                own(function), *arguments, returns=kind, how=SETTLED_VALUE, group=self.group
            )

    async def make(self, function: str, *arguments: object) -> RemoteHandle:
        """Call a function and return the object that it returns. Raises the errors of `call`."""
        with _explain_refusal():
            made = await self.context.make(own(function), *arguments, how=SETTLED_OBJECT, group=self.group)
        if made is None:
            raise EvaluationFailedError(text="the script returned no object")
        return made

    async def ask(self, handle: RemoteHandle, function: str, *arguments: object, kind: type[T]) -> T:
        """Call a function on an object, wait for its promise, and return the JSON value, decoded."""
        with _explain_refusal():
            return await handle.call(
                own(function), *arguments, returns=kind, how=SETTLED_VALUE, group=self.group
            )

    def send(self, handle: RemoteHandle, function: str) -> None:
        """Call a function on an object without waiting."""
        handle.send(own(function))

    def release(self) -> None:
        """Release the objects of the group without waiting. Chrome frees the objects of a gone document itself."""
        self.group.release()


async def open_document(worlds: IsolatedWorlds, frame: Frame) -> Document:
    """Return the frame's current document. Raises DocumentGone, and the error of an ended session."""
    session = frame.session
    loader_id = frame.loader_id
    try:
        context = await worlds.context(session, frame.id)
    except RemoteError:
        raise DocumentGone(frame.id) from None
    return Document(frame, loader_id, context, new_group("look"))


async def node_argument(document: Document, node: Node) -> RemoteHandle | None:
    """Return the node as an argument for scripts of its document, or None if Chrome no longer has it."""
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
        raise document_error(error) from None


def document_error(error: RemoteError) -> Exception:
    """Return DocumentGone if Chrome's error means that the document is gone, else the error itself."""
    if context_gone(error) or error.message.startswith(_ALSO_GONE):
        return DocumentGone(error.message)
    return error


_RETRY_PAUSE = 0.05
"""Pause in seconds before a document that refused is asked again, if no event reports its replacement."""

NEXT = "function (known) { return this.next(known); }"
NOW = "function () { return this.now(); }"
STOP = "function () { this.stop(); }"

Key = tuple[str, str, str | None]
"""Key of one document: frame, loader and session."""


class Report(msgspec.Struct):
    """The report of waiting.js: for each condition, whether it holds, and the observation.

    For a "pattern" condition, `texts` has the visible text, and its owner decides whether it holds. `invalid` is
    the reason why Chrome refused a condition's `selector`.
    """

    key: str
    holds: list[bool]
    observed: list[str]
    texts: list[str]
    invalid: str = ""
    selector: str = ""


@attrs.define(eq=False)
class _Watched:
    document: Document | None = None
    handle: RemoteHandle | None = None
    report: Report | None = None
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)


class FrameWatches:
    """Watches of `conditions` (in the form of waiting.js) in all or some frames of a page.

    `run` follows the documents. `page.changes` is notified of every report. A "node" condition applies to `node`,
    and only in its frame. With `changes`, every change causes a report, and so does a pause of 0.25 s. With
    `surroundings`, changes without mutations and events are noticed in the page, and a pause causes no report.
    `source` makes the watch of a document, instead of waiting.js alone.
    """

    def __init__(
        self,
        page: PageTarget,
        worlds: IsolatedWorlds,
        conditions: Sequence[Mapping[str, str]],
        *,
        node: Node | None = None,
        frames: Callable[[], Sequence[Frame]] | None = None,
        changes: bool = False,
        surroundings: bool = False,
        source: str | None = None,
    ) -> None:
        self._page = page
        self._worlds = worlds
        self._conditions = list(conditions)
        self._node = node
        self._frames = frames or (lambda: list(page.frames))
        self._changes = changes
        self._surroundings = surroundings
        self._source = source
        self._watched: dict[Key, _Watched] = {}
        self._failure: EngineError | None = None
        self.rounds = 0
        self.node_gone = False

    def reports(self) -> list[Report] | None:
        """Return the documents' reports, or None while one of them is missing.

        Raises the error that prevents watching a document: InvalidArgumentError for an invalid selector.
        """
        if self._failure is not None:
            raise copy.copy(self._failure)
        keys = {_key(frame) for frame in self._frames()}
        self.node_gone = self.node_gone or (self._node is not None and not keys)
        found = [watched.report for key in keys if (watched := self._watched.get(key)) is not None]
        reports = [report for report in found if report is not None]
        return reports if len(reports) == len(keys) else None

    def watched(self, frame: Frame) -> tuple[Document, RemoteHandle] | None:
        """Return the frame's document and the watch in it, or None if there is none yet."""
        watched = self._watched.get(_key(frame))
        if watched is None or watched.document is None or watched.handle is None or watched.handle.lost:
            return None
        return watched.document, watched.handle

    async def run(self) -> None:
        """Follow the documents until cancelled, or until the page ends. Raises nothing: see `reports`."""
        async with open_body_nursery() as nursery:
            while True:
                frames = {_key(frame): frame for frame in self._frames()}
                for key in [key for key in self._watched if key not in frames]:
                    self._watched.pop(key).scope.cancel()
                for key, frame in frames.items():
                    if key not in self._watched:
                        watched = self._watched[key] = _Watched()
                        nursery.start_soon(self._follow, key, frame, watched, name="watch a document")
                known = set(self._watched)
                await self._page.changes.wait_for(lambda: {_key(frame) for frame in self._frames()} != known)  # noqa: B023

    async def refresh(self) -> None:
        """Ask every document for its current report."""
        for watched in list(self._watched.values()):
            with suppress(DocumentGone, SessionGoneError):
                if watched.document is not None and watched.handle is not None:
                    watched.report = await watched.document.ask(watched.handle, NOW, kind=Report)

    async def _follow(self, key: Key, frame: Frame, watched: _Watched) -> None:
        with watched.scope:
            while self._watched.get(key) is watched:
                try:
                    await self._follow_document(frame, watched)
                except DocumentGone:
                    await trio.sleep(_RETRY_PAUSE)
                except (SessionGoneError, ConnectionLostError):
                    # Either the page ended, and its waiting tasks get the reason, or the frame moves and gets
                    # another key.
                    return
                except EngineError as error:
                    self._failure = error
                    self._page.changes.notify()
                    return

    async def _follow_document(self, frame: Frame, watched: _Watched) -> None:
        document = watched.document = await open_document(self._worlds, frame)
        try:
            request = {
                "conditions": self._conditions,
                "changes": self._changes,
                "surroundings": self._surroundings,
                "quiet": False,
            }
            arguments: list[object] = [request]
            if self._node is not None:
                node = await node_argument(document, self._node)
                if node is None:
                    self.node_gone = True
                    self._page.changes.notify()
                    await trio.sleep_forever()
                arguments.append(node)
            source = self._source or (
                script_with_search("_page/navigation/waiting") if self._node is None else _watch_of_node()
            )
            watched.handle = await document.make(source, *arguments)
            known: str | None = None
            while True:
                report = await document.ask(watched.handle, NEXT, known, kind=Report)
                if report.invalid:
                    raise invalid_selector(report.selector, report.invalid)
                known = report.key
                watched.report = report
                self.rounds += 1
                self._page.changes.notify()
        finally:
            if watched.handle is not None:
                document.send(watched.handle, STOP)
                watched.handle = None
            document.release()


def _key(frame: Frame) -> Key:
    return frame.id, frame.loader_id, frame.session_id
